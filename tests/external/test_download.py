from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.indexes import Reply, Site, site
from repositories import GitRepository

from pinctl.errors import ExternalError
from pinctl.external import download as module
from pinctl.external import web
from pinctl.external.download import download
from pinctl.external.gitcli import TRUSTED, UNTRUSTED, Profile
from pinctl.external.policy import applied
from pinctl.external.remote import Hostile, Unreachable
from pinctl.policy import Policy
from pinctl.upstream.archives import Archive
from pinctl.upstream.tarball import Contents

URL = "https://files.example/"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))


@pytest.fixture
def served() -> Iterator[tuple[Site, Profile]]:
    """A server, and a profile whose policy has it in the place of files.example."""
    with site() as (server, address):
        rules = Policy(hosts=("files.example",), mirrors={"archive": {URL: address}})
        yield server, applied(UNTRUSTED, rules)


def test_an_archive_of_git(served: tuple[Site, Profile], repository: GitRepository) -> None:
    server, profile = served
    commit = repository.commit("start", {"a.txt": "a\n" * 50_000})
    repository.git("archive", "--prefix=up/", "-o", "up.tar", "HEAD")
    data = gzip.compress((repository.path / "up.tar").read_bytes())
    server.pages["/up.tar.gz"] = Reply(data, "application/x-gzip")
    digests = {name: hashlib.new(name, data).hexdigest() for name in ("md5", "sha256")}
    steps: list[int] = []
    got = download(f"{URL}up.tar.gz", profile, hashes=("md5", "sha256"), look=True, step=steps.append)
    assert got.contents is not None
    assert list(got.contents.files) == ["a.txt"]
    assert got == Archive(len(data), digests, Contents(commit, "up", got.contents.files))
    assert sum(steps) == len(data)
    assert download(f"{URL}up.tar.gz", profile).contents is None


def test_a_second_try_begins_anew(served: tuple[Site, Profile]) -> None:
    server, profile = served
    replies = [Reply(b"wor", headers={"Content-Length": "5"}), Reply(b"words")]
    server.pages["/x"] = lambda _: replies.pop(0)
    assert download(f"{URL}x", profile).digests["sha256"] == hashlib.sha256(b"words").hexdigest()


def test_what_is_not_there_or_too_large(served: tuple[Site, Profile], monkeypatch: pytest.MonkeyPatch) -> None:
    server, profile = served
    assert download(f"{URL}x", profile) == Archive(gone=True)
    server.pages["/x"] = Reply(b"words")
    monkeypatch.setattr(module, "LARGEST", 4)
    with pytest.raises(Hostile):
        download(f"{URL}x", profile)
    server.pages["/x"] = Reply(status=403)
    with pytest.raises(Unreachable):
        download(f"{URL}x", profile)


def test_what_may_not_be_asked(served: tuple[Site, Profile]) -> None:
    server, profile = served
    for url in ("https://evil.example/x", "http://files.example/x", f"{URL}../x"):
        with pytest.raises(ExternalError, match="refused to use the URL"):
            download(url, profile)
    assert server.seen == []


def test_a_mirror_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(b"words")
    profile = applied(TRUSTED, Policy(mirrors={"archive": {URL: f"{tmp_path}/"}}))
    assert download(f"{URL}x.tgz", profile).size == 5
    assert download(f"{URL}y.tgz", profile).gone
