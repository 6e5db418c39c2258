"""`pinctl bump` of a pin that stands in Bazel's files and in a `name;url;sha1` list: all of its parts follow."""

from __future__ import annotations

import base64
import gzip
import hashlib
import subprocess
from pathlib import Path

import pytest
from integration.indexes import Reply, site

from commands.bumping import DG, World
from pinctl.external import web

URL = "https://files.example/v{version}.tar.gz"
MODULE = """\
archive_override(
    module_name = "dg",
    integrity = "{sri}",
    strip_prefix = "DeepGEMM-{version}",
    urls = ["https://files.example/v{version}.tar.gz"],
)
"""
REVISION = 'DG_COMMIT = "{commit}"\nDG_SHA256 = "{sha256}"\nPREFIX = "dg-%s" % DG_COMMIT\n'
DEPS = "# name;url;sha1\ndg;https://files.example/v{version}.tar.gz;{sha1}\n"
PINS = """\
schema = 1
[pins.dg]
repo = "{repo}"
commit = "{commit}"
tag = "v{version}"
version = "{version}"
archive = {{ url = "{url}", sha256 = "{sha256}", sha1 = "{sha1}" }}
submodules = []
[pins.dg.sites."MODULE.bazel"]
'archive_override(module_name = "dg")' = "{{archive}}"
'archive_override("dg").strip_prefix' = "DeepGEMM-{{version}}"
[pins.dg.sites."dg/revision.bzl"]
DG_COMMIT = "{{commit}}"
DG_SHA256 = "{{archive_sha256}}"
[pins.dg.sites."cmake/deps.txt"]
dg = "{{archive:sha1}}"
"""


def release(world: World, version: str) -> tuple[dict[str, str], bytes]:
    """The texts of the engine's files at a release, and its archive."""
    commit = world.release(version, ("cutlass", "fmt"), f"int v{version[-1]};\n")
    world.up.git("tag", f"v{version}")
    argv = ["git", "archive", f"--prefix=DeepGEMM-{version}/", f"v{version}"]
    data = gzip.compress(subprocess.check_output(argv, cwd=world.up.path), mtime=0)
    digest = hashlib.sha256(data)
    sri = "sha256-" + base64.b64encode(digest.digest()).decode()
    values = {"commit": commit, "version": version, "repo": DG, "url": URL, "sri": sri,
              "sha256": digest.hexdigest(), "sha1": hashlib.sha1(data, usedforsecurity=False).hexdigest()}  # fmt: skip
    texts = {"pins.toml": PINS, "MODULE.bazel": MODULE, "dg/revision.bzl": REVISION, "cmake/deps.txt": DEPS}
    return {file: text.format(**values) for file, text in texts.items()}, data


def test_every_part_of_an_archive_follows(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    before, _ = release(world, "2.6")
    world.engine.commit("an engine", before)
    assert world.run("check").code == 0
    after, data = release(world, "2.7")
    with site() as (server, address):
        server.pages["/v2.7.tar.gz"] = Reply(data)
        policy = tmp_path / "policy.toml"
        policy.write_text(f'schema = 1\n[mirrors.archive]\n"https://files.example/" = "{address}"\n')
        run = world.bump("dg", "--policy", str(policy))
    assert (run.code, run.told) == (0, []), run.out
    assert {file: world.text(file) for file in after} == after
    assert world.run("check").code == 0
