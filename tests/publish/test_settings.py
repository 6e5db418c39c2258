from __future__ import annotations

from typing import Any

import pytest

from pinctl.errors import UsageError
from pinctl.publish import settings
from pinctl.publish.settings import Said


def test_pypi_is_the_usual_one() -> None:
    found = settings.pypi({})
    assert (found.repository, found.url, found.largest, found.wait) == (
        "https://upload.pypi.org/legacy/", "https://pypi.org/simple/", 100 * 2**20, 300,
    )  # fmt: skip
    assert settings.pypi({}, Said("https://test.pypi.org/legacy/")).url == "https://test.pypi.org/simple/"


def test_the_command_line_stands_before_the_policy() -> None:
    policy = {"pypi": {"repository": "https://a.example/", "url": "https://a.example/simple", "largest": 300}}
    assert settings.pypi(policy)[:3] == ("https://a.example/", "https://a.example/simple/", 300 * 2**20)
    other = settings.pypi(policy, Said("https://b.example/legacy/"))
    assert (other.url, other.largest) == (None, 300 * 2**20)  # another server fills another index
    assert settings.pypi(policy, Said(url="https://c.example/simple/")).url == "https://c.example/simple/"


def test_where_an_index_lies() -> None:
    assert settings.index({}, Said("site")).folder == "site"
    found = settings.index({}, Said("https://github.com/o/whl.git#pages/v1"), known="https://whl.example")
    assert (found.repository, found.branch, found.url) == (
        "https://github.com/o/whl.git", "pages/v1", "https://whl.example/",
    )  # fmt: skip
    assert settings.index({}, Said("git@github.com:o/whl.git")).repository == "git@github.com:o/whl.git"
    table = {"index": {"command": ["cp", "{file}", "s/{key}"], "files": "github", "url": "https://x.example/"}}
    assert settings.index(table).in_releases
    replaced = settings.index(table, Said("site"))
    assert (replaced.folder, replaced.command, replaced.url) == ("site", (), "https://x.example/")


def test_whose_releases() -> None:
    assert settings.github({}, Said("https://github.com/o/whl/")).repository == "o/whl"
    found = settings.github({"github": {"repository": "o/whl", "api": "https://ghe.example/api/v3/"}})
    assert (found.api, found.web) == ("https://ghe.example/api/v3", "https://github.com")


@pytest.mark.parametrize(
    ("name", "table", "match"),
    [
        ("pypi", {"pypy": {}}, "publish.pypy"),
        ("pypi", {"pypi": 1}, "must be a table"),
        ("pypi", {"pypi": {"token": "x"}}, r"publish\.pypi\.token"),
        ("pypi", {"pypi": {"repository": 1}}, "no text"),
        ("pypi", {"pypi": {"repository": "http://pypi.example/"}}, "shows the login"),
        ("pypi", {"pypi": {"repository": "http://127.0.0.1.evil.example/"}}, "shows the login"),
        ("pypi", {"pypi": {"largest": True}}, "must be a number"),
        ("index", {}, "nothing says where"),
        ("index", {"index": {"folder": "a", "repository": "https://x.example/y.git"}}, "folder and repository"),
        ("index", {"index": {"folder": ""}}, "one line of text"),
        ("index", {"index": {"folder": "site"}}, "absolute path"),
        ("index", {"index": {"folder": "/a", "files": "s3"}}, "files"),
        ("index", {"index": {"repository": "https://x.example/y.git", "branch": "-f"}}, "no name of a branch"),
        ("index", {"index": {"repository": "https://x.example/y.git", "branch": "a..b"}}, "no name of a branch"),
        ("index", {"index": {"command": "cp {file} {key}"}}, "list of words"),
        ("index", {"index": {"command": ["cp", "{file}"]}}, r"must hold \{file\} and \{key\}"),
        ("index", {"index": {"folder": "/a", "url": "ftp://x.example"}}, "cannot be read from"),
        ("github", {}, "whose releases"),
        ("github", {"github": {"repository": "o"}}, "OWNER/NAME"),
        ("github", {"github": {"repository": "o/w", "api": "http://api.github.com"}}, "shows the login"),
    ],
)
def test_what_cannot_be_used(name: str, table: dict[str, Any], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        getattr(settings, name)(table)
