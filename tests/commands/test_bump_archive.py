"""`pinctl bump` of a git pin that also says where the archive of its commit is."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

import pytest
from integration.indexes import Reply, Site, site

from commands.bumping import DG, World
from pinctl.external import web


def _packed(world: World, commit: str, prefix: str) -> bytes:
    """What a forge gives as the archive of a commit."""
    argv = ["git", "archive", f"--prefix={prefix}/", commit]
    return gzip.compress(subprocess.check_output(argv, cwd=world.up.path), mtime=0)


def _engine(world: World) -> str:
    """An engine with an archive tuple in a JSON file; the digest of the archive of 2.6."""
    data = _packed(world, world.first, f"DeepGEMM-{world.first}")
    digest = hashlib.sha256(data).hexdigest()
    sri = "sha256-" + base64.b64encode(bytes.fromhex(digest)).decode()
    url = f"https://files.example/{world.first}.tar.gz"
    pins = f"""schema = 1
[pins.dg]
repo = "{DG}"
commit = "{world.first}"
archive = {{ url = "{url}", prefix = "DeepGEMM-{world.first}/", sha256 = "{digest}" }}
submodules = []
sites."deps.json"."/url" = "{{archive_url}}"
sites."deps.json"."/strip" = "{{archive_prefix}}"
sites."deps.json"."/integrity" = "{{archive_sha256:sri}}"
"""
    deps = f'{{"url": "{url}", "strip": "DeepGEMM-{world.first}/", "integrity": "{sri}"}}\n'
    world.engine.commit("an engine", {"pins.toml": pins, "deps.json": deps})
    assert world.run("check").code == 0
    return digest


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """A web server, and a policy that has it in the place of files.example."""
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    with site() as (server, address):
        path = tmp_path / "policy.toml"
        path.write_text(f'schema = 1\n[mirrors.archive]\n"https://files.example/" = "{address}"\n')
        yield server, str(path)


def test_the_whole_tuple_follows(world: World, policy: tuple[Site, str]) -> None:
    _engine(world)
    server, path = policy
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    data = _packed(world, last, f"DeepGEMM-{last}")
    server.pages[f"/{last}.tar.gz"] = Reply(data)
    run = world.bump("dg", "--policy", path)
    assert (run.code, run.told) == (0, []), run.out
    digest = hashlib.sha256(data)
    sri = "sha256-" + base64.b64encode(digest.digest()).decode()
    assert world.text("deps.json") == (
        f'{{"url": "https://files.example/{last}.tar.gz", "strip": "DeepGEMM-{last}/", "integrity": "{sri}"}}\n'
    )
    assert f'sha256 = "{digest.hexdigest()}"' in world.text("pins.toml")
    assert world.run("check").code == 0


def test_an_archive_of_another_commit_is_refused(world: World, policy: tuple[Site, str]) -> None:
    _engine(world)
    server, path = policy
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    server.pages[f"/{last}.tar.gz"] = Reply(_packed(world, world.first, f"DeepGEMM-{last}"))
    run = world.bump("dg", "--policy", path)
    assert (run.code, run.told) == (1, [("PIN331", "error")])
    assert world.status == [""]


def test_an_archive_that_says_it_is_the_commit_and_is_not_is_refused(world: World, policy: tuple[Site, str]) -> None:
    _engine(world)
    server, path = policy
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    server.pages[f"/{last}.tar.gz"] = Reply(_forged(_packed(world, last, f"DeepGEMM-{last}")))
    run = world.bump("dg", "--policy", path)
    assert (run.code, run.told) == (1, [("PIN340", "error")])
    assert "holds other files: deep_gemm/__init__.py" in run.out
    assert world.status == [""]


def _forged(packed: bytes) -> bytes:
    """The same archive in another form of tar, and with one line more in one file."""
    target = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(packed)) as old:
        headers = old.pax_headers
        with tarfile.open(fileobj=target, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=headers) as new:
            for member in old:
                data = old.extractfile(member).read() if member.isreg() else b""  # type: ignore[union-attr]
                data += b"evil()\n" if member.name.endswith("/deep_gemm/__init__.py") else b""
                member.size, member.pax_headers = len(data), {}
                new.addfile(member, io.BytesIO(data))
    return target.getvalue()


def test_an_archive_that_is_not_to_be_had_is_made_of_the_commit(world: World, policy: tuple[Site, str]) -> None:
    _engine(world)
    server, path = policy
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    server.pages[f"/{last}.tar.gz"] = Reply(status=503)
    run = world.bump("dg", "--policy", path)
    assert (run.code, run.told) == (0, [("PIN341", "warning")]), run.out
    tar = subprocess.check_output(["git", "archive", f"--prefix=DeepGEMM-{last}/", last], cwd=world.up.path)
    digest = hashlib.sha256(subprocess.check_output(["gzip", "-cn"], input=tar)).hexdigest()
    assert f'sha256 = "{digest}"' in world.text("pins.toml")
    assert f'prefix = "DeepGEMM-{last}/"' in world.text("pins.toml")
    assert world.run("check").code == 0


def test_an_archive_that_is_no_longer_there_is_refused(world: World, policy: tuple[Site, str]) -> None:
    _engine(world)
    world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    run = world.bump("dg", "--policy", policy[1])
    assert (run.code, run.told) == (1, [("PIN329", "error")])
    assert world.status == [""]


def test_what_is_packed_in_another_way_is_not_made_up(world: World, policy: tuple[Site, str]) -> None:
    _engine(world)
    server, path = policy
    for name in ("pins.toml", "deps.json"):
        (world.engine.path / name).write_text(world.text(name).replace(".tar.gz", ".zip"))
    world.engine.commit("zip")
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    server.pages[f"/{last}.zip"] = Reply(status=503)
    run = world.bump("dg", "--policy", path)
    assert (run.code, run.told) == (4, [("PIN320", "error")])
    assert world.status == [""]
