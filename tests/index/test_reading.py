from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.support import ROOT, page
from pinctl.index import reading
from pinctl.index.reading import Link, Page
from pinctl.upstream import simple

WHEEL = "tinyk-1.0+cu129-py3-none-any.whl"


def test_all_that_stands_beside_a_link() -> None:
    read = page(
        f'<!DOCTYPE html>\n<h1>x</h1>\n<a href="../../files/{WHEEL}#sha256=AB" data-requires-python="&gt;=3.10" '
        f'data-core-metadata="sha256=cd" data-dist-info-metadata="true" data-yanked="a\n b">{WHEEL}</a>\n'
        f'<a href="https://h.example/x/{WHEEL.replace("+", "%2B")}#md5=ab">a&amp;b</a>'
    )
    assert read == Page(
        "cu129/tinyk",
        (
            Link(f"{ROOT}files/{WHEEL}", f"../../files/{WHEEL}#sha256=AB", WHEEL, WHEEL, f"files/{WHEEL}", "AB", False,
                 ">=3.10", "cd", "", "a b", line=3),
            Link(f"https://h.example/x/{WHEEL.replace('+', '%2B')}",
                 f"https://h.example/x/{WHEEL.replace('+', '%2B')}#md5=ab", WHEEL, "a&b", other=True, line=5),
        ),
        top="",
    )  # fmt: skip
    assert (read.project, read.variant, read.channel) == ("tinyk", "cu129", "")


def test_where_a_page_lies() -> None:
    assert (page("", "pr/7/cu129/k").channel, page("", "pr/7/cu129/k").variant) == ("pr-7", "cu129")
    alone = reading.read(b"", "text/html", "tinyk", "https://h.example/whl/cu129/")
    assert (alone.project, alone.variant, alone.channel) == ("tinyk", "cu129", "")


def test_folders_lie_below_the_page() -> None:
    read = page(
        '<a href="tinyk/">x</a><a href="../up/">x</a><a href="/">x</a><a href="https://evil.example/k/">x</a>'
        '<a href="b/index.html">x</a><a href="c%2F..%2F../">x</a><a href="?C=N;O=D">x</a><a href="d/?x/">x</a>'
        '<a href="./">x</a><a>x</a><a href="tinyk/">twice</a>',
        "cu129",
    )
    assert read.folders == ("cu129/tinyk", "cu129/b")
    assert read.links == ()


def test_what_no_file_is() -> None:
    read = page('<a href="readme.txt">x</a><a href="javascript:x.whl">x</a><a href="file:///etc/x.whl">x</a>'
                '<a name="x.whl">x</a><!-- <a href="x.whl"> --><a href="mailto:x.whl">x</a>')  # fmt: skip
    assert read == Page("cu129/tinyk")


@pytest.mark.parametrize(
    ("body", "kind", "clause"),
    [
        (b'<base href="//evil.example/"><a href="x-1-py3-none-any.whl">x</a>', "text/html", "`<base>`"),
        (b'<base href="/elsewhere/"><a href="x-1-py3-none-any.whl">x</a>', "text/html", "`<base>`"),
        (b"+ADw-a href=x.whl+AD4-", "text/html; charset=utf-7", "UTF-8"),
        (b'<meta charset="utf-16"><a>', "text/html", "it says that it is utf-16"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">', "text/html", "shift_jis"),
        (b'<a href="x.whl">\xff</a>', "text/html", "not UTF-8 (byte 16)"),
        (b"PK\x03\x04", "application/zip", "application/zip"),
        (b"{", simple.JSON, "is not"),
        (b'{"meta": {}}', simple.JSON, "`files`"),
        (b'{"meta": {"api-version": "2.0"}, "files": []}', simple.JSON, "another version"),
        (b"<![CDATA[ <a href=x.whl> ]]><![ if", "text/html; charset=x-user-defined", "x-user-defined"),
    ],
)
def test_a_page_that_cannot_be_trusted(body: bytes, kind: str, clause: str) -> None:
    read = reading.read(body, kind, "k", ROOT)
    assert any(clause in one for one in read.odd)


@pytest.mark.parametrize("kind", ["text/html; charset=UTF-8", "text/html", "application/vnd.pypi.simple.v1+html", ""])
def test_pages_as_servers_send_them(kind: str) -> None:
    body = b'<meta charset="utf-8"><base href=""><a href="x-1-py3-none-any.whl">x</a>'
    assert reading.read(body, kind, "k", ROOT).odd == ()
    assert len(reading.read(body, kind, "k", ROOT).links) == 1


@pytest.mark.parametrize(
    ("href", "url", "name", "inside"),
    [
        (
            "//evil.example/x-1-py3-none-any.whl",
            "https://evil.example/x-1-py3-none-any.whl",
            "x-1-py3-none-any.whl",
            None,
        ),
        ("%2Fetc%2Fx.whl", f"{ROOT}k/%2Fetc%2Fx.whl", "/etc/x.whl", "k//etc/x.whl"),
        ("%2e%2e/%2e%2e/x.whl", f"{ROOT}k/%2e%2e/%2e%2e/x.whl", "x.whl", None),
        ("../../../../x.whl", f"{ROOT}x.whl", "x.whl", "x.whl"),
        ("x.whl?token=1", f"{ROOT}k/x.whl?token=1", "x.whl", None),
    ],
)
def test_where_a_hostile_link_leads(href: str, url: str, name: str, inside: str | None) -> None:
    (link,) = page(f'<a href="{href}">x</a>', "k").links
    assert (link.url, link.filename, link.inside) == (url, name, inside)


def test_json() -> None:
    entries = [
        {"filename": WHEEL, "url": f"../../files/{WHEEL}", "hashes": {"sha256": "ab"}, "requires-python": ">=3.8",
         "core-metadata": {"sha256": "cd"}, "dist-info-metadata": True, "yanked": "why", "size": 3,
         "upload-time": "2026-01-01T00:00:00Z"},
        {"filename": "b", "url": "b.whl", "hashes": {"md5": "x"}, "yanked": True, "size": True, "core-metadata": False},
        {"filename": 1, "url": "c.whl"}, {"filename": "d", "url": "javascript:d"}, "e",
    ]  # fmt: skip
    body = json.dumps({"meta": {"api-version": "1.1"}, "files": entries}).encode()
    read = reading.read(body, simple.JSON, "cu129/tinyk", ROOT)
    assert read.links == (
        Link(f"{ROOT}files/{WHEEL}", f"../../files/{WHEEL}", WHEEL, WHEEL, f"files/{WHEEL}", "ab", False, ">=3.8", "cd",
             "", "why", 3, "2026-01-01T00:00:00Z"),
        Link(f"{ROOT}cu129/tinyk/b.whl", "b.whl", "b.whl", "b", "cu129/tinyk/b.whl", other=True, yanked=""),
    )  # fmt: skip
    listing = {"meta": {"api-version": "1.0"}, "projects": [{"name": "tinyk"}, {"name": "../x"}, {}, 3, {"name": "A"}]}
    assert reading.read(json.dumps(listing).encode(), simple.JSON, "cu129", ROOT).folders == ("cu129/tinyk",)
    assert reading.read(json.dumps(listing).encode(), simple.JSON, "", ROOT).folders == ("tinyk",)


@pytest.mark.parametrize(
    "piece", ["<a ", '<a href="x.whl">', "<!--", '<a href="', "<![", "<a href=x.whl>y", "\n<a href=x/>"]
)
def test_a_page_of_16_mib_takes_seconds(piece: str) -> None:
    body = (piece * (16 * 1024 * 1024 // len(piece))).encode()
    begun = time.process_time()
    read = reading.read(body, "text/html", "k", ROOT)
    assert time.process_time() - begun < 10
    assert len(read.links) <= reading.MOST


def test_too_many_links_are_told() -> None:
    read = page("<a href=x.whl>" * (reading.MOST + 1))
    assert (len(read.links), read.odd) == (reading.MOST, (f"it has more than {reading.MOST} links",))


@given(st.binary(), st.sampled_from(["text/html", simple.JSON, "text/html; charset=utf-7"]))
def test_no_bytes_crash_the_reader(body: bytes, kind: str) -> None:
    reading.read(body, kind, "a/b/c", ROOT)


@given(st.text(), st.text())
def test_no_link_crashes_the_reader(href: str, text: str) -> None:
    page(f'<a href="{href}" data-yanked="{text}">{text}</a>')
