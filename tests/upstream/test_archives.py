from __future__ import annotations

from typing import Any

import pytest

from pinctl import manifest
from pinctl.finding import Finding
from pinctl.model import Manifest
from pinctl.upstream.archives import Archive, Declared, declared, folder, forge, is_fixed, judge, packing, row, wanted
from pinctl.upstream.tarball import Contents
from pinctl.upstream.telling import Telling

COMMIT, OTHER = "c0" * 20, "0c" * 20
A, B = "a" * 64, "b" * 64
OF_GIT = f"""\
schema = 1
[pins.up]
repo = "https://github.com/o/up.git"
commit = "{COMMIT}"
unused = true
[pins.up.archive]
url = "https://github.com/o/up/archive/{{commit}}.tar.gz"
prefix = "up-{COMMIT}"
sha256 = "{A}"
sha512 = "{"5" * 128}"
"""
OWN = f"""\
schema = 1
[pins.up]
url = "https://files.example/up-{{version}}.tar.gz"
version = "1.2"
unused = true
sha256 = "{A}"
"""


def parsed(text: str) -> tuple[Manifest, Declared]:
    made = manifest.parse(text, path="pins.toml")
    want = declared(made.pins["up"])
    assert want is not None
    return made, want


def found(text: str, archive: Archive) -> list[Finding]:
    made, want = parsed(text)
    return list(judge(Telling(made.pins["up"], made), want, archive))


def told(text: str, archive: Archive) -> list[tuple[str, int | None, str | None, str | None]]:
    return [(f.code, f.span.line if f.span else None, f.expected, f.found) for f in found(text, archive)]


def got(sha256: str = A, contents: Contents | None = None) -> Archive:
    return Archive(3, {"sha256": sha256, "sha512": "5" * 128}, contents)


def test_what_a_pin_declares() -> None:
    assert parsed(OF_GIT)[1] == Declared(
        f"https://github.com/o/up/archive/{COMMIT}.tar.gz", ("archive",), {"sha256": (A,), "sha512": ("5" * 128,)},
        COMMIT, f"up-{COMMIT}",
    )  # fmt: skip
    assert parsed(OWN)[1] == Declared("https://files.example/up-1.2.tar.gz", (), {"sha256": (A,)})
    table = OWN.replace(f'sha256 = "{A}"', f'sha256 = {{ "linux/amd64" = "{A}", "linux/arm64" = "{B}" }}')
    assert parsed(table)[1].digests == {"sha256": (A, B)}
    assert told(table, got(B)) == []
    assert told(table, got("c" * 64)) == [("PIN330", 6, f"{A}, {B}", "c" * 64)]


def test_pins_without_an_archive_to_prove() -> None:
    for text in (
        OWN.replace(f'sha256 = "{A}"', "unresolved = true"),
        OF_GIT.partition("[pins.up.archive]")[0],
        OF_GIT.partition("prefix")[0],
    ):
        assert declared(manifest.parse(text, path="pins.toml").pins["up"]) is None


def test_an_archive_that_is_as_pinned() -> None:
    assert told(OF_GIT, got(contents=Contents(COMMIT, f"up-{COMMIT}"))) == []
    assert told(OF_GIT, got()) == []
    assert told(OWN, got(contents=Contents(OTHER, None))) == []


def test_other_bytes_behind_the_same_url() -> None:
    (one,) = found(OWN, got(B))
    assert (one.code, one.span and one.span.line, one.expected, one.found) == ("PIN330", 6, A, B)
    assert (
        one.message
        == "https://files.example/up-1.2.tar.gz gives other bytes than the pinned ones: same URL, another sha256"
    )
    assert one.hint
    assert one.hint.startswith("do not build it")
    (again,) = found(OF_GIT, got(B, Contents(COMMIT, f"up-{COMMIT}")))
    assert again.span
    assert again.span.line == 9
    assert again.hint
    assert again.hint.startswith("it holds the pinned commit")


def test_another_commit_and_another_folder() -> None:
    assert told(OF_GIT, got(contents=Contents(OTHER, "up-main"))) == [
        ("PIN331", 7, COMMIT, OTHER),
        ("PIN331", 8, f"up-{COMMIT}", "up-main"),
    ]
    assert told(OF_GIT, got(contents=Contents(COMMIT, None))) == [("PIN331", 8, f"up-{COMMIT}", "no one folder")]
    assert told(OF_GIT.replace('prefix = "', 'prefix = "/'), got(contents=Contents(None, f"up-{COMMIT}"))) == []


def test_an_archive_that_could_not_be_had() -> None:
    assert told(OF_GIT, Archive(gone=True)) == [("PIN329", 7, None, None)]
    assert told(OWN, Archive(failure="cannot reach files.example")) == [("PIN320", 3, None, None)]
    assert told(OWN, Archive(failure="a bomb", refused=True)) == [("PIN321", 3, None, None)]
    assert row(parsed(OWN)[1], Archive(gone=True)) == {}


def test_a_row() -> None:
    said: Any = row(parsed(OWN)[1], got(contents=Contents(COMMIT, "up")))["archive"]
    url = "https://files.example/up-1.2.tar.gz"
    assert said == {"url": url, "size": 3, "sha256": A, "sha512": "5" * 128, "commit": COMMIT, "prefix": "up"}


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://github.com/o/up/archive/0a1b.tar.gz", "up-0a1b"),
        ("https://github.com/o/up/archive/refs/tags/v1.2.tar.gz", "up-1.2"),
        ("https://github.com/o/up.git/archive/refs/heads/feature/x.tar.gz", "up-feature-x"),
        ("https://github.com/o/up/archive/vast.tar.gz", "up-vast"),
        ("https://gitlab.com/o/up/-/archive/v1.2/up-v1.2.tar.gz", None),
        ("https://github.com/o/up/releases/download/v1/up.tar.gz", None),
    ],
)
def test_the_folder_of_a_forge(url: str, where: str | None) -> None:
    assert folder(url) == where


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("https://h/a.tar.gz", "gzip"),
        ("https://h/a.TGZ?x=1", "gzip"),
        ("https://h/a.tar", ""),
        ("https://h/a.zip", None),
    ],
)
def test_how_an_archive_is_packed(url: str, how: str | None) -> None:
    assert packing(url) == how


def test_an_archive_for_each_platform() -> None:
    text = OWN.replace("{version}", "{version}-{platform}").replace(f'"{A}"', f'{{ x86_64 = "{A}", aarch64 = "{B}" }}')
    made = manifest.parse(text)
    x86, arm = wanted(made.pins["up"])
    assert (x86.url, x86.digests, x86.platform) == (
        "https://files.example/up-1.2-x86_64.tar.gz",
        {"sha256": (A,)},
        "x86_64",
    )
    assert arm.url == "https://files.example/up-1.2-aarch64.tar.gz"
    (found_,) = judge(Telling(made.pins["up"], made), arm, got(A))
    assert (found_.code, found_.expected, found_.span and found_.span.line) == ("PIN330", B, 6)
    one = manifest.parse(OWN).pins["up"]
    assert wanted(one) == [declared(one)]
    assert wanted(one._replace(url=None, sha256=None)) == []


@pytest.mark.parametrize(
    ("url", "repo", "tag"),
    [
        (
            "https://github.com/o/n/releases/download/v{version}/n-{version}.whl",
            "https://github.com/o/n.git",
            "v{version}",
        ),
        ("https://github.com/o/n/archive/refs/tags/v{version}.tar.gz", "https://github.com/o/n.git", "v{version}"),
        ("https://github.com/o/n/archive/{version}.zip", "https://github.com/o/n.git", "{version}"),
        ("https://codeberg.org/o/n/releases/download/{tag}/x", "https://codeberg.org/o/n.git", "{tag}"),
        ("https://github.com/o/n/releases/download/v1/n-{version}.whl", None, ""),
        ("https://github.com/o/n/archive/{commit}.tar.gz", None, ""),
        ("https://files.example/o/n/releases/download/v{version}/x", None, ""),
        ("https://github.com/o/n/raw/v{version}/x", None, ""),
    ],
)
def test_the_releases_that_a_url_is_of(url: str, repo: str | None, tag: str) -> None:
    found_ = forge(url)
    assert (found_ and found_.repo, found_.tag if found_ else "") == (repo, tag)
    if found_:
        assert found_.page("v1+a)b") == f"{found_.repo.removesuffix('.git')}/releases/tag/v1%2Ba%29b"


def test_a_url_that_leads_to_one_archive() -> None:
    names = ("x", "{version}", "{tag}", "{commit}", "{platform}")
    assert [is_fixed(f"https://h.example/{name}") for name in names] == [True, False, False, False, True]
