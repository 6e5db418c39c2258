"""An engine that pins packages, archives and images, and one web server that is index, file server and registry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from consumer import Run, pinctl
from integration.indexes import Reply, Site, site
from repositories import GitRepository, MakeRepository

from pinctl.external import web
from pinctl.upstream.simple import JSON

FILES = "https://files.example/"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(slots=True)
class Shop:
    """The server, the engine, and a policy that has the server in the place of files.example and of Docker Hub."""

    server: Site
    engine: GitRepository
    policy: Path

    def project(self, name: str, *versions: str, tags: str = "py3-none-any", **more: Mapping[str, Any]) -> None:
        """Offer `versions` of a package, each as one wheel; `more` are other keys of a file, by its version with `_`
        in the place of dots."""
        entries = []
        for version in versions:
            for tag in tags.split():
                file = f"{name.replace('-', '_')}-{version}-{tag}.whl"
                entry = {"filename": file, "url": f"/files/{file}", "hashes": {"sha256": sha256(file.encode())}}
                entries.append({**entry, **more.get("v" + version.replace(".", "_").replace("+", "__"), {})})
        self.page(name, entries)

    def page(self, name: str, entries: list[dict[str, Any]]) -> None:
        body = json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": entries}).encode()
        self.server.pages[f"/simple/{name}/"] = Reply(body, JSON)

    def file(self, path: str, data: bytes) -> str:
        """Serve `data` as https://files.example/PATH: its sha256."""
        self.server.pages[f"/{path}"] = Reply(data)
        return sha256(data)

    def image(self, name: str, tag: str, *platforms: str, note: str = "") -> str:
        """Serve an image of Docker Hub for `platforms`: the digest of its index."""
        named = [dict(zip(("os", "architecture"), one.split("/"), strict=True)) for one in platforms]
        index = json.dumps(
            {"schemaVersion": 2, "note": note, "manifests": [{"platform": one} for one in named]}
        ).encode()
        digest = f"sha256:{sha256(index)}"
        for reference in (tag, digest):
            reply = Reply(index, headers={"Docker-Content-Digest": digest})
            self.server.pages[f"/v2/{name}/manifests/{reference}"] = reply
        return digest

    def consume(self, pins: str, files: Mapping[str, str] | None = None) -> None:
        """Commit an engine with that pins.toml, in which every site agrees."""
        self.engine.commit("an engine", {"pins.toml": f"schema = 1\n{pins}", **(files or {})})
        assert self.run("check").code == 0, self.run("check").out

    def run(self, *words: str) -> Run:
        return pinctl(*words, cwd=self.engine.path)

    def bump(self, *words: str) -> Run:
        """`pinctl bump --format json WORDS` under the policy."""
        return self.run("bump", "--policy", str(self.policy), "--format", "json", *words)

    def text(self, file: str) -> str:
        return (self.engine.path / file).read_bytes().decode()

    @property
    def status(self) -> str:
        """What `git status --short` says of the engine; "" where nothing was written."""
        return self.engine.git("status", "--short", "-uall")


@contextmanager
def opened(make_repository: MakeRepository, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A shop whose index pip's configuration names."""
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    policy = folder / "policy.toml"
    with site() as (server, address):
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}simple/")
        policy.write_text(
            f'schema = 1\n[mirrors.archive]\n"{FILES}" = "{address}"\n'
            f'[mirrors.image]\n"https://registry-1.docker.io/" = "{address}"\n'
        )
        yield Shop(server, make_repository("my engine"), policy)
