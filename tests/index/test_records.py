from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.support import record, sha
from pinctl.index import records
from pinctl.index.records import Record, dump, load

LINE = (
    '{"filename": "tinyk-1.0+cu129-py3-none-any.whl", "channel": "release", "variant": "cu129", '
    f'"sha256": "{"ab" * 32}", "url": "https://h.example/tinyk-1.0%2Bcu129-py3-none-any.whl", "size": 7, '
    f'"requires-python": ">=3.10", "metadata": "{"cd" * 32}", "uploaded": "2026-07-01T12:00:00Z", "yanked": "", '
    '"withdrawn": "pruned", "attestations": "https://h.example/a.json", '
    '"provenance": {"commit": "c", "pin": "p"}, "notes": ["é"]}\n'
)


def test_a_line_is_what_a_record_says() -> None:
    (read,), broken = load(LINE)
    assert not broken
    assert read == Record(
        "tinyk-1.0+cu129-py3-none-any.whl", "release", "cu129", "ab" * 32,
        "https://h.example/tinyk-1.0%2Bcu129-py3-none-any.whl", 7, ">=3.10", "cd" * 32, "2026-07-01T12:00:00Z", "",
        "pruned", "https://h.example/a.json", {"pin": "p", "commit": "c"}, ("é",),
    )  # fmt: skip
    assert dump([read]) == LINE
    assert (read.place, read.name.label, read.hosted) == (("release", "cu129"), "cu129", False)
    assert record(url="files/x.whl").hosted


def test_lines_are_sorted_and_stand_once() -> None:
    found = [record("b-1-py3-none-any.whl"), record("a-2-py3-none-any.whl"), record("b-1-py3-none-any.whl")]
    text = dump(found)
    assert [json.loads(line)["filename"] for line in text.splitlines()] == [
        "a-2-py3-none-any.whl",
        "b-1-py3-none-any.whl",
    ]
    assert dump(reversed(load(text)[0])) == text
    assert load("") == load("\n \n") == ([], [])


def test_lines_that_a_merge_left_twice_are_one() -> None:
    (read,), broken = load(f"{LINE}{LINE.rstrip()}\r\n")
    assert (dump([read]), broken) == (LINE, [])


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        ({"filename": "../x.whl"}, "names no wheel"),
        ({"filename": 3}, "names no wheel"),
        ({"channel": "../x"}, "'channel' that cannot be used"),
        ({"variant": "A"}, "'variant' that cannot be used"),
        ({"sha256": "AB" * 32}, "64 hex digits"),
        ({"sha256": f"{'ab' * 32}\n"}, "64 hex digits"),
        ({"url": "javascript:alert(1)"}, "'url' that cannot be used"),
        ({"url": "javascript://x/%0aalert(1)"}, "its transport"),
        ({"url": "https://u:p@h.example/x.whl"}, "user name"),
        ({"url": "../x.whl"}, "leaves the folder"),
        ({"url": "/x.whl"}, "absolute"),
        ({"url": "files/%2e%2e/x.whl"}, "plain ASCII"),
        ({"url": "files/x y.whl"}, "plain ASCII"),
        ({"url": 1}, "no text"),
        ({"size": -1}, "number of bytes"),
        ({"size": True}, "number of bytes"),
        ({"yanked": "a\nb"}, "one line"),
        ({"yanked": "\x1b]8;;x\x07"}, "one line"),
        ({"requires-python": "x" * 1001}, "1000 characters"),
        ({"uploaded": "yesterday"}, "a time as"),
        ({"uploaded": "2026-13-01T00:00:00Z"}, "a time as"),
        ({"attestations": "http://h.example/a"}, "its transport"),
        ({"provenance": []}, "an object"),
        ({"notes": [1]}, "array"),
        ({"chanel": "release"}, "unknown key 'chanel'"),
    ],
)
def test_what_is_no_record(change: dict[str, object], clause: str) -> None:
    good = json.loads(LINE)
    found, broken = load(f"{LINE}{json.dumps(good | change)}\n")
    assert len(found) == 1
    assert broken[0].line == 2
    assert clause in broken[0].clause


@pytest.mark.parametrize("line", ["[]", "{", '{"filename": "a", "filename": "b"}', "{}", "[" * 100_000, "\x00", "NaN"])
def test_lines_that_are_no_objects(line: str) -> None:
    found, broken = load(f"{line}\n")
    assert not found
    assert len(broken) == 1


def test_a_merge_conflict_is_told_and_only_so_many_problems() -> None:
    _, broken = load(f"<<<<<<< ours\n{LINE}=======\n")
    assert [one.line for one in broken] == [1, 3]
    assert len(load("x\n" * 1000)[1]) == 200


_text = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=40)
_some = st.none() | _text
_digest = st.none() | st.builds(sha, st.text(max_size=3))
_records = st.builds(
    Record,
    filename=st.builds(
        "k-{}.{}+{}-py3-none-any.whl".format, st.integers(0, 9), st.integers(0, 9), st.sampled_from(["a", "b.c"])
    ),
    channel=st.sampled_from(["release", "pr-1"]),
    variant=st.sampled_from(["cu129", "rocm7.0"]),
    sha256=_digest,
    url=st.sampled_from(["https://h.example/a%2Bb/x.whl", "files/a+b.whl"]),
    size=st.none() | st.integers(0, 2**40),
    requires_python=_some,
    metadata=_digest,
    uploaded=st.none() | st.just("2026-01-01T00:00:00.5Z"),
    yanked=_some,
    withdrawn=_some,
    attestations=st.none() | st.just("https://h.example/a"),
    provenance=st.dictionaries(_text, _text, max_size=2),
    notes=st.lists(_text, max_size=2).map(tuple),
)


@given(st.lists(_records, max_size=6))
def test_what_is_written_is_read_back(found: list[Record]) -> None:
    text = dump(found)
    back, broken = load(text)
    assert not broken
    assert {records.line(one) for one in back} == {records.line(one) for one in found}
    assert all(one in found for one in back)
    assert dump(back) == text


@given(st.text())
def test_no_text_crashes_the_reader(text: str) -> None:
    load(text)
