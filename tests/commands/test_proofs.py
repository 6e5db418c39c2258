from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from consumer import Run, environment, pinctl
from integration.indexes import Reply, Site, pypi, site, wheel
from integration.servers import git_daemon, instead_of, serve
from repositories import MakeRepository

from pinctl.external import web
from pinctl.upstream.simple import JSON

SECRET = "hunter2"
D = f"sha256:{'d' * 64}"
PACKAGES = """\
[pins.tl]
packages = ["tilelang"]
version = "0.1.5"
unused = true
"""


@dataclass
class World:
    """An engine, a web server, and a policy that has it in the place of files.example and of Docker Hub."""

    engine: Path
    server: Site
    policy: Path

    def pins(self, *parts: str) -> None:
        self.engine.mkdir(exist_ok=True)
        (self.engine / "pins.toml").write_text("\n".join(("schema = 1", *parts)))

    def verify(self, *words: str, form: str = "json") -> Run:
        return pinctl("verify", "--policy", str(self.policy), "--format", form, *words, cwd=self.engine)

    def row(self, run: Run) -> Any:
        return run.document["result"]["pins"][0]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    policy = tmp_path / "policy.toml"
    with site() as (server, address):
        policy.write_text(
            f'schema = 1\n[mirrors.archive]\n"https://files.example/" = "{address}"\n'
            f'[mirrors.image]\n"https://registry-1.docker.io/" = "{address}"\n'
        )
        yield World(tmp_path / "engine", server, policy)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    wheel(tmp_path / "packages", "tilelang", "0.1.5", "cp38-abi3-manylinux_2_28_x86_64")
    wheel(tmp_path / "packages", "tilelang", "0.1.5.post2")
    return tmp_path / "packages"


# --- packages -----------------------------------------------------------------------------------------------------


def test_a_package_that_the_configured_index_has(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pins(PACKAGES, '[variants.a]\nplatforms = ["linux/amd64"]\npython = ["3.12"]')
    with pypi(folder) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        run = world.verify()
        row = world.row(run)
        assert (run.code, run.told) == (0, [])
        assert (row["name"], row["version"], row["yanked"], row["platforms"]) == ("tl", "0.1.5", False, ["linux/amd64"])
        assert [file["name"] for file in row["files"]] == ["tilelang-0.1.5-cp38-abi3-manylinux_2_28_x86_64.whl"]
        assert world.verify(form="text").out == (
            f"pin  version  from             found\ntl   0.1.5    {url.split('/')[2]}  linux/amd64\n1 pin verified\n"
        )
        world.pins(PACKAGES.replace("0.1.5", "0.1.4"), '[variants.a]\nplatforms = ["linux/arm64"]')
        run = world.verify()
        assert (run.code, run.told) == (1, [("PIN325", "error")])
        assert run.document["findings"][0]["line"] == 4
        world.pins(PACKAGES, '[variants.a]\nplatforms = ["linux/arm64"]')
        run = world.verify()
        assert (run.code, run.told) == (0, [("PIN327", "warning")])


def test_a_package_that_was_yanked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"filename": "tilelang-0.1.5-py3-none-any.whl", "url": "x.whl", "yanked": "broken"}
    page = json.dumps({"meta": {"api-version": "1.0"}, "files": [entry]}).encode()
    world.server.pages["/simple/tilelang/"] = Reply(page, JSON)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://{world.server.host}/simple")
    world.pins(PACKAGES)
    run = world.verify()
    assert (run.code, run.told, world.row(run)["yanked"]) == (1, [("PIN326", "error")], True)


def test_no_secret_of_pips_is_shown(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pins(PACKAGES)
    login = f"http://{SECRET}:{SECRET}@{world.server.host}/{SECRET}/simple"
    monkeypatch.setenv("PIP_INDEX_URL", login)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"https://{SECRET}@[{SECRET}/ http://{SECRET}@i.example/{SECRET}")
    for reply in (
        Reply(status=404), Reply(status=403), Reply(status=500), Reply(b"", "text/plain"), Reply(b"{", JSON),
        Reply(status=302, headers={"Location": f"http://{SECRET}@10.0.0.1/"}),
    ):  # fmt: skip
        world.server.pages[f"/{SECRET}/simple/tilelang/"] = reply
        for form in ("text", "json", "github", "sarif", "markdown"):
            run = world.verify(form=form)
            assert run.code in (1, 4)
            assert SECRET not in run.out + run.err
    assert all(request.authorization for request in world.server.seen)


def test_a_stranger_has_nothing_of_the_users(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pins(PACKAGES)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://{world.server.host}/simple")
    with world.policy.open("a") as policy:
        policy.write(f'[mirrors.index]\n"https://pypi.org/simple/" = "http://{world.server.host}/theirs/"\n')
    run = world.verify("--untrusted")
    assert (run.code, run.told) == (4, [("PIN320", "error")])
    assert run.document["findings"][0]["message"].endswith("the policy does not allow the host pypi.org")
    assert world.server.seen == []


def test_the_policys_mirror_for_a_stranger(world: World, folder: Path) -> None:
    world.pins(PACKAGES)
    with pypi(folder) as url:
        world.policy.write_text(
            f'schema = 1\nhosts = ["pypi.org"]\n[mirrors.index]\n"https://pypi.org/simple/" = "{url}"\n'
        )
        assert world.verify("--untrusted").told == []


# --- archives -----------------------------------------------------------------------------------------------------


def of_archive(data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    url = "https://files.example/fmt-{version}.zip"
    return f'[pins.fmt]\nurl = "{url}"\nversion = "1"\nsha256 = "{digest}"\nunused = true'


def test_an_archive_pin(world: World) -> None:
    world.pins(of_archive(b"as it was"))
    world.server.pages["/fmt-1.zip"] = Reply(b"as it was")
    run = world.verify()
    assert (run.code, run.told) == (0, [])
    assert world.row(run)["archive"] == {
        "url": "https://files.example/fmt-1.zip", "size": 9,
        "sha256": hashlib.sha256(b"as it was").hexdigest(), "commit": None, "prefix": None,
    }  # fmt: skip
    world.server.pages["/fmt-1.zip"] = Reply(b"replaced")
    run = world.verify()
    assert (run.code, run.told, run.document["findings"][0]["line"]) == (1, [("PIN330", "error")], 5)
    del world.server.pages["/fmt-1.zip"]
    assert world.verify().told == [("PIN329", "error")]
    world.server.pages["/fmt-1.zip"] = Reply(status=500)
    assert (world.verify().code, world.verify().told) == (4, [("PIN320", "error")])


def test_the_archive_of_a_git_pin(
    world: World, make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = make_repository("srv/up")
    commit = up.commit("start", {"a.txt": "a\n"})
    serve(up.path)
    data = gzip.compress(subprocess.check_output(["git", "archive", "--prefix=up-1/", commit], cwd=up.path))
    world.server.pages["/up.tgz"] = Reply(data)
    git = f'[pins.up]\nrepo = "https://git.example/up"\ncommit = "{commit}"\nunused = true\n'
    archive = f"""archive.url = "https://files.example/up.tgz"\narchive.prefix = "up-1"
archive.sha256 = "{hashlib.sha256(data).hexdigest()}"\narchive.sha512 = "{hashlib.sha512(data).hexdigest()}"\n"""
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        world.pins(git, archive)
        run = world.verify()
        assert (run.code, run.told) == (0, [])
        row = world.row(run)
        assert (row["reachable"], row["archive"]["commit"], row["archive"]["prefix"]) == ("branch", commit, "up-1")
        world.pins(git.replace(commit, up.commit("more", {"b.txt": "b"})), archive.replace("up-1", "up-2"))
        run = world.verify()
        assert run.told == [("PIN331", "error"), ("PIN331", "error")]
        assert [found["line"] for found in run.document["findings"]] == [7, 8]
        away = world.verify("--offline", form="text")
        assert "offline: the servers were asked" in away.out
        assert "; offline, not all was asked about up\n" in away.out


# --- images, and what is not asked --------------------------------------------------------------------------------

IMAGE = f'[pins.os]\nimage = "os:1"\ndigest = "{D}"\nunused = true'


def test_images_are_asked_about_where_that_is_asked_for(world: World) -> None:
    world.pins(IMAGE)
    run = world.verify(form="text")
    assert (run.out, world.server.seen) == ("0 pins verified; without --images, not all was asked about os\n", [])
    world.server.pages["/v2/library/os/manifests/1"] = Reply(headers={"Docker-Content-Digest": D})
    run = world.verify("--images")
    assert (run.told, world.row(run)) == ([], {"name": "os", "image": "os:1", "tagged": D, "held": True})
    other = D.replace("d", "e").replace("sha", "sha")
    world.server.pages["/v2/library/os/manifests/1"] = Reply(headers={"Docker-Content-Digest": other})
    assert world.verify("--images").told == [("PIN332", "error")]
    world.server.pages[f"/v2/library/os/manifests/{D}"] = Reply(headers={"Docker-Content-Digest": D})
    run = world.verify("--images")
    assert (run.code, run.told) == (1, [("PIN333", "error")])


def test_offline_nobody_is_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"http://{world.server.host}/simple")
    world.pins(PACKAGES, of_archive(b""), IMAGE)
    run = world.verify("--offline", "--images", form="text")
    assert (run.code, run.out) == (0, "0 pins verified; offline, not all was asked about tl, fmt, os\n")
    assert world.server.seen == []


def test_a_pip_configuration_that_cannot_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pins(PACKAGES)
    monkeypatch.setenv("PIP_NO_INDEX", "perhaps")
    run = world.verify(form="text")
    assert (run.code, run.err.splitlines()[0]) == (2, "error: pip's setting `no-index` is neither yes nor no")


@pytest.mark.parametrize("verb", ["check", "verify"])
def test_what_asks_servers_is_loaded_where_it_is_needed(world: World, verb: str) -> None:
    world.pins('[pins.x]\nversion = "1"\nunresolved = true\nunused = true')
    loaded = "sorted({'requests', 'urllib3', 'packaging'} & set(sys.modules))"
    code = f"import sys\nfrom pinctl.cli import main\nmain(sys.argv[1:])\nprint({loaded})"
    argv = [sys.executable, "-c", code, verb]
    done = subprocess.run(argv, cwd=world.engine, env=environment(), text=True, capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
