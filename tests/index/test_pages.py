from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from index.support import ROOT, record, sha
from pinctl.index import pages, reading
from pinctl.index.layout import Layout
from pinctl.index.pages import build
from pinctl.index.records import Record
from pinctl.upstream import simple

WHEEL = "tinyk-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl"


def test_a_page_set_to_the_byte() -> None:
    one = record(
        WHEEL, sha256="ab" * 32, metadata="cd" * 32, requires_python=">=3.10,<4", yanked='wrong "nvcc"', size=7,
        uploaded="2026-07-01T12:00:00Z", attestations="https://files.example/a.json",
    )  # fmt: skip
    made = build([one], Layout())
    assert list(made) == [
        "release/cu129/index.html", "release/cu129/index.v1_json",
        "release/cu129/tinyk/index.html", "release/cu129/tinyk/index.v1_json",
    ]  # fmt: skip
    assert '<a href="tinyk/">tinyk</a><br>' in made["release/cu129/index.html"].decode()
    assert made["release/cu129/tinyk/index.html"].decode() == (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="pypi:repository-version" content="1.4">\n<title>Links for tinyk</title>\n</head>\n<body>\n'
        "<h1>Links for tinyk</h1>\n"
        '<a href="https://files.example/v1/tinyk-1.0%2Bcu129-cp310-abi3-manylinux_2_28_x86_64.whl'
        f'#sha256={"ab" * 32}" data-requires-python="&gt;=3.10,&lt;4" data-core-metadata="sha256={"cd" * 32}" '
        f'data-dist-info-metadata="sha256={"cd" * 32}" data-yanked="wrong &#34;nvcc&#34;" '
        f'data-provenance="https://files.example/a.json">{WHEEL}</a><br>\n</body>\n</html>\n'
    )
    assert json.loads(made["release/cu129/index.v1_json"]) == {
        "meta": {"api-version": "1.4"}, "projects": [{"name": "tinyk"}],
    }  # fmt: skip
    assert json.loads(made["release/cu129/tinyk/index.v1_json"]) == {
        "meta": {"api-version": "1.4"},
        "name": "tinyk",
        "versions": ["1.0+cu129"],
        "files": [
            {
                "filename": WHEEL,
                "url": "https://files.example/v1/tinyk-1.0%2Bcu129-cp310-abi3-manylinux_2_28_x86_64.whl",
                "hashes": {"sha256": "ab" * 32},
                "size": 7,
                "upload-time": "2026-07-01T12:00:00Z",
                "requires-python": ">=3.10,<4",
                "core-metadata": {"sha256": "cd" * 32},
                "dist-info-metadata": {"sha256": "cd" * 32},
                "yanked": 'wrong "nvcc"',
                "provenance": "https://files.example/a.json",
            }
        ],
    }


def test_a_page_set_a_variant_in_the_order_of_versions() -> None:
    found = [
        record(f"tinyk-{version}+{variant}-py3-none-any.whl", variant=variant, channel=channel)
        for channel, variant in (("release", "cu129"), ("release", "cu130"), ("nightly", "cu129"))
        for version in ("1.10", "1.9", "1.9.post1")
    ]
    found.append(record("tinyk-2.0+cu129-py3-none-any.whl", withdrawn="gone"))
    layout = Layout(folders={"release": "{variant}/", "*": "{channel}/{variant}"})
    made = build(found, layout)
    assert sorted({path.rpartition("/")[0] for path in made}) == [
        "cu129", "cu129/tinyk", "cu130", "cu130/tinyk", "nightly/cu129", "nightly/cu129/tinyk",
    ]  # fmt: skip
    page = json.loads(made["cu129/tinyk/index.v1_json"])
    assert page["versions"] == ["1.9+cu129", "1.9.post1+cu129", "1.10+cu129"]
    assert build(reversed(found), layout) == made


def test_a_file_of_the_index_itself_is_linked_relatively() -> None:
    one = record(WHEEL, url=f"files/{WHEEL}")
    assert pages.href(one, 3) == "../../../files/tinyk-1.0%2Bcu129-cp310-abi3-manylinux_2_28_x86_64.whl"
    made = build([one], Layout(url="https://whl.example"))
    read = reading.read(made["release/cu129/tinyk/index.html"], "text/html", "release/cu129/tinyk", ROOT)
    assert read.links[0].inside == f"files/{WHEEL}"
    assert read.links[0].url == f"{ROOT}files/tinyk-1.0%2Bcu129-cp310-abi3-manylinux_2_28_x86_64.whl"


class Anchors(HTMLParser):
    """The anchors as Python's own parser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.texts: list[str] = []
        self.other: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        (self.found.append(dict(attrs)) if tag == "a" else self.other.append(tag))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


_reason = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), max_size=60)
_records = st.builds(
    lambda version, label, reason, python, metadata, hosted, size: record(
        filename := f"k-{version}{f'+{label}' if label else ''}-py3-none-any.whl",
        sha256=sha(filename), yanked=reason, requires_python=python, metadata=metadata, size=size,
        **({"url": f"files/{filename}"} if hosted else {}),
    ),
    st.integers(0, 3), st.sampled_from(["", "cu129", "g1.cu129"]), st.none() | _reason,
    st.none() | _reason.filter(str.strip), st.none() | st.just("cd" * 32), st.booleans(), st.none() | st.integers(0, 9),
)  # fmt: skip


@given(st.lists(_records, min_size=1, max_size=5, unique_by=lambda one: one.filename))
def test_three_readers_read_back_what_is_written(found: list[Record]) -> None:
    made = build(found, Layout())
    at = "release/cu129/k"
    by_name = {one.filename: one for one in found}
    html, data = made[f"{at}/index.html"], made[f"{at}/index.v1_json"]

    anchors = Anchors(html.decode())
    assert not {"script", "base", "img"} & set(anchors.other)
    assert len(anchors.found) == len(found)
    for said in anchors.found:
        link, _, digest = str(said["href"]).partition("#")
        one = by_name[unquote(link).rpartition("/")[2]]
        assert digest == f"sha256={one.sha256}"
        assert said.get("data-yanked") == one.yanked
        assert said.get("data-requires-python") == one.requires_python

    read = reading.read(html, "text/html", at, ROOT)
    also = reading.read(data, simple.JSON, at, ROOT)
    for page in (read, also):
        assert not page.odd
        for link in page.links:
            one = by_name[link.filename]
            assert (link.text, link.sha256, link.metadata, link.old) == (
                one.filename,
                one.sha256,
                one.metadata,
                one.metadata,
            )
            assert link.yanked == (None if one.yanked is None else " ".join(one.yanked.split()))
            assert "+" not in link.href
    files = {file.name: file for file in simple.read(html, "text/html", f"{ROOT}{at}/")}
    assert {name: file.sha256 for name, file in files.items()} == {one.filename: one.sha256 for one in found}
