from __future__ import annotations

import json
import time
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.upstream.simple import JSON, File, PageError, read, releases

URL = "https://index.example/simple/tilelang/"
WHEEL = "tilelang-0.1.5-cp38-abi3-manylinux_2_28_x86_64.whl"


def html(text: str, url: str = URL) -> list[File]:
    return read(text.encode(), "text/html; charset=utf-8", url)


def test_an_anchor_of_pep_503() -> None:
    page = f"""<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.0"></head><body>
    <a href="../../files/{WHEEL}#sha256=ab12" data-requires-python="&gt;=3.8">{WHEEL}</a><br/>
    <A HREF='/f/tilelang-0.1.4.tar.gz' data-yanked="broken
       on   arm">x</A>
    <a data-yanked href=/f/tilelang-0.1.3%2Bcu129-py3-none-any.whl>y</a>"""
    assert html(page) == [
        File(WHEEL, f"https://index.example/files/{WHEEL}", "ab12", None, ">=3.8"),
        File("tilelang-0.1.4.tar.gz", "https://index.example/f/tilelang-0.1.4.tar.gz", yanked="broken on arm"),
        File("tilelang-0.1.3+cu129-py3-none-any.whl",
             "https://index.example/f/tilelang-0.1.3%2Bcu129-py3-none-any.whl", yanked=""),
    ]  # fmt: skip


def test_what_no_file_is() -> None:
    page = """<!-- <a href="a.whl"> --><abbr href="b.whl"><a name="c.whl"><a href="javascript:d.whl">
    <a href="file:///etc/e.whl"><a href="mailto:f.whl"><a href="http://[::1/g.whl"><a href="dir/">
    <!-- <a href="h.whl">"""
    assert html(page) == []


def test_a_local_page_leads_to_local_files() -> None:
    assert [file.url for file in html('<a href="x.whl">', "file:///srv/")] == ["file:///srv/x.whl"]


@pytest.mark.parametrize("base", ["//evil.example/", "https://evil.example/"])
def test_a_base_is_followed_and_so_are_links_to_other_hosts(base: str) -> None:
    page = f'<base href="{base}"><base href="/no/"><a href="x.whl"><a href="//other.example/y.whl">'
    assert [file.url for file in html(page)] == ["https://evil.example/x.whl", "https://other.example/y.whl"]


def test_a_page_of_pep_691() -> None:
    page = {
        "meta": {"api-version": "1.1"},
        "files": [
            {"filename": WHEEL, "url": f"/f/{WHEEL}", "hashes": {"sha256": "ab"}, "requires-python": ">=3.8"},
            {"filename": "a.whl", "url": "a.whl", "yanked": True},
            {"filename": "b.whl", "url": "b.whl", "yanked": "why\n::error::not"},
            {"filename": "c.whl", "url": "javascript:c"},
            {"filename": 3, "url": "d.whl"},
            "e.whl",
            {"filename": "f.whl", "url": "f.whl", "yanked": False, "hashes": [], "requires-python": 3},
        ],
    }
    assert read(json.dumps(page).encode(), JSON, URL) == [
        File(WHEEL, f"https://index.example/f/{WHEEL}", "ab", None, ">=3.8"),
        File("a.whl", f"{URL}a.whl", yanked=""),
        File("b.whl", f"{URL}b.whl", yanked="why ::error::not"),
        File("f.whl", f"{URL}f.whl"),
    ]


@pytest.mark.parametrize(
    ("body", "kind", "clause"),
    [
        (b"{", JSON, "is not"),
        (b"[" * 100_000, JSON, "is not"),
        (b"[]", JSON, "PEP 691"),
        (b'{"meta": {}, "files": {}}', JSON, "PEP 691"),
        (b'{"meta": {"api-version": "2.0"}, "files": []}', JSON, "another version"),
        (b"\x00", "application/octet-stream", "application/octet-stream"),
        (b"<a href=x>" * 100_001, "text/html", "more than 100000 files"),
        (b"", "", "no type"),
    ],
)
def test_what_is_no_page(body: bytes, kind: str, clause: str) -> None:
    with pytest.raises(PageError, match=clause):
        read(body, kind, URL)


@pytest.mark.parametrize("piece", ["<a ", "<!--", "<a '", '<a href="', "<b>", "<![", "<base\n", "<a href=x ", "a=b "])
def test_a_hostile_page_takes_no_time_that_grows_with_its_square(piece: str) -> None:
    page = "<a " + piece * (2 * 1024 * 1024 // len(piece))
    begun = time.process_time()
    html(page)
    html(f"{page}>")
    assert time.process_time() - begun < 5


@given(st.text(), st.text(st.characters(codec="utf-8", exclude_characters="\r")))
def test_no_page_crashes_the_reader_and_attributes_come_back(noise: str, reason: str) -> None:
    html(noise)
    page = f'<a data-yanked="{escape(reason)}" href="{WHEEL}">'
    (file,) = html(page)
    assert file.yanked == " ".join(reason.split())[:200]


@given(st.binary())
def test_no_bytes_crash_the_reader(body: bytes) -> None:
    read(body, "text/html", URL)


def test_the_files_of_a_package_by_their_names() -> None:
    names = [WHEEL, "TileLang-0.1.5.tar.gz", "tilelang-0.1.5.post2.zip", "tilelang_x-0.1.5.tar.gz",
             "tilelang-0.1.5.exe", "tilelang-a.b.c.tar.gz", "tilelang-1-py3.whl", "../tilelang-1-py3-none-any.whl",
             "x"]  # fmt: skip
    found = releases([File(name, URL + name) for name in names], "TileLang")
    assert [(one.file.name, str(one.version), len(one.tags)) for one in found] == [
        (WHEEL, "0.1.5", 1), ("TileLang-0.1.5.tar.gz", "0.1.5", 0), ("tilelang-0.1.5.post2.zip", "0.1.5.post2", 0),
    ]  # fmt: skip
