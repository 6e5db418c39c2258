from __future__ import annotations

import gzip
import hashlib
import subprocess
from pathlib import Path

import pytest
from integration.servers import serve
from repositories import MakeRepository

from pinctl.external.gitcli import TRUSTED
from pinctl.external.repack import repack
from pinctl.external.store import Store
from pinctl.upstream.archives import Archive


@pytest.fixture
def packed(make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """What is packed of a commit with files that git's attributes change and leave out; and by git itself."""
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{tmp_path}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://h/")
    up = make_repository("o/up")
    attributes = "secret export-ignore\nversion export-subst\n"
    commit = up.commit("one", {".gitattributes": attributes, "secret": "s", "version": "$Format:%H$\n", "a b/c": "c\n"})
    serve(up.path)
    tar = subprocess.check_output(["git", "archive", "--prefix=up-1/", commit], cwd=up.path)

    def pack(packing: str | None) -> Archive:
        with Store.open("https://h/o/up", profile=TRUSTED) as store:
            store.fetch(commit, depth=1)
            return repack(store, commit, "up-1", packing, ("sha256", "sha1"))

    return pack, tar, commit


def test_it_is_what_a_forge_packs(packed) -> None:  # type: ignore[no-untyped-def]
    pack, tar, commit = packed
    whole = subprocess.check_output(["gzip", "-cn"], input=tar)
    made = pack("gzip")
    assert made.digests == {name: hashlib.new(name, whole).hexdigest() for name in ("sha256", "sha1")}
    assert made.size == len(whole)
    assert (made.contents.commit, made.contents.folder) == (commit, "up-1")
    assert sorted(made.contents.files) == [".gitattributes", "a b/c", "version"]
    assert commit.encode() in gzip.decompress(whole)


def test_plain_tar_and_what_is_packed_otherwise(packed) -> None:  # type: ignore[no-untyped-def]
    pack, tar, commit = packed
    assert pack("").digests["sha256"] == hashlib.sha256(tar).hexdigest()
    assert (pack(None).digests, pack(None).contents.commit) == ({}, commit)
