from __future__ import annotations

import json
from pathlib import Path

import pytest
from index.support import anchor
from integration.indexes import Reply, site

from pinctl import policy
from pinctl.errors import ExternalError, UsageError
from pinctl.external.gitcli import TRUSTED, UNTRUSTED
from pinctl.external.index_pages import admit, of_folder, of_server
from pinctl.external.policy import applied
from pinctl.external.web import Web
from pinctl.upstream.simple import JSON

WHEEL = "tinyk-1.0+cu129-py3-none-any.whl"
WEB = Web(TRUSTED)


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_the_pages_of_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "index.html", '<a href="cu129/">x</a>')
    put(tmp_path, "cu129/tinyk/index.html", f'{anchor(WHEEL)}<a href="../../files/{WHEEL}">x</a>')
    put(tmp_path, "cu129/tinyk/index.v1_json", '{"meta": {}, "files": []}')
    put(tmp_path, "cu129/tinyk/index.json", "{")
    put(tmp_path, "cu129/readme.html", "no page")
    put(tmp_path, ".git/index.html", "no page")
    (tmp_path / "link").symlink_to(tmp_path / "cu129")
    found = of_folder(str(tmp_path), also="https://files.example/")
    assert [(page.path, page.form, len(page.links)) for page in found] == [
        ("", "html", 0), ("cu129/tinyk", "html", 2), ("cu129/tinyk", "json", 0),
    ]  # fmt: skip
    assert [link.inside for link in found[1].links] == [f"v1/{WHEEL}", f"files/{WHEEL}"]
    assert found[1].links[1].url.startswith("file://")


def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        of_folder(str(tmp_path / "x"))
    (tmp_path / "k").mkdir()
    (tmp_path / "k/index.html").write_bytes(b" " * (16 * 1024 * 1024 + 1))
    assert "larger than" in of_folder(str(tmp_path))[0].odd[0]


def test_the_pages_of_a_server_from_its_root_down() -> None:
    with site() as (server, url):
        server.pages["/whl/"] = Reply(
            b'<a href="cu129/">x</a><a href="/other/">x</a><a href="https://evil.example/">x</a>'
        )
        server.pages["/whl/cu129/"] = Reply(
            json.dumps({"meta": {}, "projects": [{"name": "tinyk"}, {"name": "gone"}]}).encode(), JSON
        )
        server.pages["/whl/cu129/tinyk/"] = Reply(anchor(WHEEL).encode())
        found = of_server(f"{url}whl", WEB)
        assert of_server(f"{url}whl/index.html", WEB) == found
        assert {request.path for request in server.seen} == {
            "/whl/",
            "/whl/cu129/",
            "/whl/cu129/tinyk/",
            "/whl/cu129/gone/",
        }
    assert [(page.path, len(page.links), page.odd) for page in found] == [
        ("", 0, ()), ("cu129", 0, ()), ("cu129/gone", 0, ("a page leads to it, and it is not there",)),
        ("cu129/tinyk", 1, ()),
    ]  # fmt: skip


def test_a_maze_has_an_end() -> None:
    with site() as (server, url):
        server.pages["/"] = Reply(b"".join(b'<a href="%d/">x</a>' % n for n in range(6000)))
        with pytest.raises(ExternalError, match="more than 5000 pages"):
            of_server(url, WEB)
        server.pages["/"] = Reply(b'<a href="a/">x</a>')
        for depth in range(1, 9):
            server.pages[f"/{'a/' * depth}"] = Reply(b'<a href="a/">x</a>')
        with pytest.raises(ExternalError, match="more than 6 folders"):
            of_server(url, WEB)


def test_no_index() -> None:
    with site() as (server, url):
        with pytest.raises(ExternalError, match="there is no index"):
            of_server(url, WEB)
        server.pages["/"] = Reply(status=403)
        with pytest.raises(ExternalError, match="403"):
            of_server(url, WEB)


@pytest.mark.parametrize(
    ("url", "clause"),
    [
        ("http://whl.example/", "http is not safe"),
        ("https://user:secret@whl.example/", "user name"),
        ("https://whl.example/?x=1", "query"),
        ("https://whl.example/../x", "`..`"),
        ("ftp://whl.example/", "transport"),
        ("https://g\u0456thub.com/", "ASCII"),
    ],
)
def test_what_is_not_asked(url: str, clause: str) -> None:
    with pytest.raises(ExternalError, match=clause) as caught:
        admit(url, WEB)
    assert "secret" not in str(caught.value)


def test_the_policy_and_the_transports_count() -> None:
    assert admit("http://whl.example/w", Web(TRUSTED._replace(transports=("http",)))) == "http://whl.example/w/"
    with pytest.raises(ExternalError, match="policy"):
        admit("https://whl.example/", Web(applied(UNTRUSTED, policy.Policy(hosts=("other.example",)))))
