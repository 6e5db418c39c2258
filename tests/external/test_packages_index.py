from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.indexes import Reply, Site, pypi, site, wheel
from integration.servers import HOST

from pinctl.external import packages_index, web
from pinctl.external.gitcli import TRUSTED, UNTRUSTED, Profile
from pinctl.external.packages_index import ask, settings
from pinctl.external.pip_config import PYPI, Place, Settings
from pinctl.external.policy import applied
from pinctl.external.web import Access, Web
from pinctl.policy import Policy
from pinctl.upstream.availability import Offer
from pinctl.upstream.simple import JSON

SECRET = "hunter2"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    wheel(folder, "tile_lang", "0.1.5", "cp38-abi3-manylinux_2_28_x86_64")
    wheel(folder, "tile_lang", "0.1.5.post2")
    wheel(folder, "other", "1.0")
    return folder


@pytest.fixture
def served() -> Iterator[tuple[Site, str]]:
    with site() as pair:
        yield pair


def names(offer: Offer) -> list[str]:
    assert offer.failure is None
    return sorted(file.name for file in offer.files)


TWO = ["tile_lang-0.1.5-cp38-abi3-manylinux_2_28_x86_64.whl", "tile_lang-0.1.5.post2-py3-none-any.whl"]


def test_pypiserver(folder: Path) -> None:
    with pypi(folder) as url:
        offer = ask(Place(url), "Tile_Lang", Web(TRUSTED))
        assert (names(offer), offer.place) == (TWO, url.split("/")[2])
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in offer.files)
        assert ask(Place(url.rstrip("/")), "tile.lang", Web(TRUSTED)).files == offer.files
        assert names(ask(Place(url), "nothing-like-it", Web(TRUSTED))) == []


def test_pypiserver_with_a_login(folder: Path) -> None:
    with pypi(folder, ("u", SECRET)) as url:
        refused = ask(Place(url), "tile-lang", Web(TRUSTED))
        assert refused.failure == f"{url.split('/')[2]} answers with status 401"
        assert refused.hint == "the server wants a login: .netrc may hold it"
        allowed = ask(Place(url.replace("//", f"//u:{SECRET}@")), "tile-lang", Web(TRUSTED))
        assert names(allowed) == TWO
        wrong = ask(Place(url.replace("//", f"//u:no{SECRET}@")), "tile-lang", Web(TRUSTED))
        assert wrong.failure
        assert SECRET not in repr((refused, allowed, wrong))


def test_an_index_that_speaks_json(served: tuple[Site, str]) -> None:
    server, url = served
    page = {"meta": {"api-version": "1.0"}, "files": [{"filename": "a-1.zip", "url": "../f/a-1.zip", "yanked": "bad"}]}
    server.pages["/simple/a/"] = Reply(json.dumps(page).encode(), JSON)
    offer = ask(Place(f"{url}simple"), "A", Web(TRUSTED))
    assert [(file.url, file.yanked) for file in offer.files] == [(f"{url}simple/f/a-1.zip", "bad")]


def test_an_index_in_a_folder_and_files_in_one(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "simple/tile-lang/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("".join(f'<a href="../../{name}">' for name in TWO))
    index = Place((tmp_path / "simple").as_uri())
    assert names(ask(index, "tile_lang", Web(TRUSTED))) == TWO
    assert ask(index, "other", Web(TRUSTED)) == Offer("other", str(tmp_path / "simple"))
    links = Place(folder.as_uri(), is_index=False)
    assert names(ask(links, "tile_lang", Web(TRUSTED))) == ["other-1.0-py3-none-any.whl", *TWO]
    assert ask(links, "tile_lang", Web(TRUSTED)).is_index is False
    assert names(ask(Place(page.as_uri(), is_index=False), "x", Web(TRUSTED))) == TWO
    assert names(ask(Place((tmp_path / "missing").as_uri(), is_index=False), "x", Web(TRUSTED))) == []


def test_a_page_of_links(served: tuple[Site, str]) -> None:
    server, url = served
    server.pages["/wheels.html"] = Reply(b'<a href="a-1.zip">')
    assert names(ask(Place(f"{url}wheels.html", is_index=False), "a", Web(TRUSTED))) == ["a-1.zip"]


@pytest.mark.parametrize(
    ("url", "access", "profile", "reason"),
    [
        ("http://i.example/simple/", Access(), TRUSTED, "http is not safe"),
        ("http://i.example:8/simple/", Access(insecure=("i.example:9",)), TRUSTED, "http is not safe"),
        (f"http://u:{SECRET}@{HOST}:9/simple/", Access(insecure=(HOST,)), UNTRUSTED, "http is not safe"),
        ("ftp://i.example/", Access(), TRUSTED, "it is neither an https URL nor a path"),
        (
            "https://i.example/",
            Access(),
            applied(TRUSTED, Policy(hosts=("pypi.org",))),
            "does not allow the host i.example",
        ),
        (PYPI, Access(), applied(UNTRUSTED, Policy()), "does not allow the host pypi.org"),
    ],
)
def test_places_that_are_not_asked(url: str, access: Access, profile: Profile, reason: str) -> None:
    offer = ask(Place(url), "a", Web(profile, access))
    assert offer.failure
    assert reason in offer.failure
    assert SECRET not in repr(offer)


def test_http_where_pip_would_take_it(served: tuple[Site, str], monkeypatch: pytest.MonkeyPatch) -> None:
    server, url = served
    monkeypatch.setattr(packages_index, "_is_loopback", lambda _: False)
    assert ask(Place(url), "a", Web(TRUSTED)).hint == f"pip's --trusted-host {HOST} allows it"
    for named in (HOST, server.host):
        assert names(ask(Place(url), "a", Web(TRUSTED, Access(insecure=(named,))))) == []


@pytest.mark.parametrize("url", ["http://[::1/", "https://i.example:port/", "http://[::1]:99999/"])
def test_a_malformed_url_is_told_and_not_repeated(url: str) -> None:
    offer = ask(Place(url), "a", Web(TRUSTED))
    assert offer.failure == "an index of pip's configuration has a malformed URL"


def test_settings_by_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"https://u:{SECRET}@i.example/")
    assert settings(TRUSTED).places[-1].url == f"https://u:{SECRET}@i.example/"
    assert settings(applied(UNTRUSTED, Policy(hosts=()))) == Settings((Place(PYPI),))


def test_the_policys_mirror_serves_a_stranger(folder: Path, tmp_path: Path) -> None:
    with pypi(folder) as url:
        for mirror in (url, f"{tmp_path}/"):
            rules = Policy(hosts=("pypi.org",), mirrors={"index": {PYPI: mirror}})
            offer = ask(Place(PYPI), "tile-lang", Web(applied(UNTRUSTED, rules)))
            assert (names(offer), offer.place, offer.barred) == (TWO if mirror == url else [], "pypi.org", ())


def test_files_on_a_host_that_the_policy_does_not_allow(served: tuple[Site, str]) -> None:
    server, url = served
    page = b'<a href="a-1.zip"><a href="https://files.example/a-2.zip"><a href="//evil.example/a-3.zip">'
    server.pages["/a/"] = Reply(page)
    for hosts, files, barred in (
        (("files.example", server.host), ["a-1.zip", "a-2.zip"], ("evil.example",)),
        (None, ["a-1.zip", "a-2.zip", "a-3.zip"], ()),
    ):
        offer = ask(Place(url), "a", Web(applied(TRUSTED, Policy(hosts=hosts))))
        assert (names(offer), offer.barred) == (files, barred)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(b"x" * (16 * 1024 * 1024 + 1)), "sends more than 16 MiB"),
        (Reply(b"{", JSON), "it says that it is JSON, and is not"),
        (Reply(b"x", "application/zip"), "it is application/zip"),
        (Reply(b"x", "text/\x1b]0;evil\x07"), "it is text/"),
        (Reply(status=302, headers={"Location": "http://169.254.169.254/"}), "redirects to http://169.254.169.254/"),
        (Reply(status=302, headers={"Location": "file:///etc/passwd"}), "which is refused"),
    ],
)
def test_hostile_pages(served: tuple[Site, str], reply: Reply, reason: str) -> None:
    server, url = served
    server.pages["/a/"] = reply
    offer = ask(Place(url), "a", Web(TRUSTED))
    assert offer.refused
    assert offer.failure
    assert reason in offer.failure
    assert (offer.files, len(server.seen)) == ((), 1)
