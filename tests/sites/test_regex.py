"""The regex fallback, over documents of other languages."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.plan import apply
from pinctl.sites import find, text, toml
from pinctl.sites.base import BadSelector, Unwritable, write
from pinctl.sites.regex import find_regex

SOURCE = 'é = "x"  # pinned to 9af0e0d (ü) for v1.2.1\r\nother = "9af0e0d"\r\n'.encode()


def values(source: bytes, pattern: str) -> list[object]:
    return [slot.value for (slot,) in find_regex(text.parse(source), pattern)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"pinned to (?P<value>[0-9a-f]+)", ["9af0e0d"]),
        (r"(?P<value>[0-9a-f]{7})", ["9af0e0d", "9af0e0d"]),
        (r"\((?P<value>.)\)", ["ü"]),
        (r"(?m)^other = (?P<value>.*)$", ['"9af0e0d"\r']),
        (r"v(?P<value>1(?:\.\d)*)", ["1.2.1"]),
        (r"nothing (?P<value>x)", []),
        (r"x(?:y(?P<value>z))?", []),
        (r"for(?P<value>y*)", [""]),
    ],
)
def test_find(pattern: str, expected: list[str]) -> None:
    assert values(SOURCE, pattern) == expected


def test_spans_are_bytes_and_names_the_selector() -> None:
    pattern = r"\((?P<value>.)\)"
    ((slot,),) = find(toml.parse(SOURCE), f"regex:{pattern}")
    assert SOURCE[slot.start : slot.end] == "ü".encode()
    assert slot.names == (f"regex:{pattern}",)
    assert slot.style == "raw"


@pytest.mark.parametrize(
    "pattern",
    [
        "(?P<value>",
        "x",
        "(x)",
        "(?P<other>x)",
        "(?P<value>x)(?P<other>y)",
        "(?P<value>a)|(?P<value>b)",
        "(?=a)(?P<value>b)",
        r"(?P<value>a)\1",
        "(?P<value>x)" + "y" * 200,
        "\ud800(?P<value>x)",
        "é(",
    ],
)
def test_bad_patterns(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadSelector):
        find_regex(text.parse(b"a"), pattern)
    assert capfd.readouterr() == ("", "")


def test_empty_matches_never_split_a_character() -> None:
    slots = [slot for (slot,) in find_regex(text.parse("aé".encode()), "(?P<value>)")]
    assert [slot.start for slot in slots] == [0, 1, 3]


@pytest.mark.parametrize("pattern", [r"(?:a+)+$(?P<value>x)", r".*.*.*=(?P<value>x)", r"(?s)(?P<value>a)(?:.*b)?"])
def test_hostile_patterns_take_linear_time(pattern: str) -> None:
    start = time.perf_counter()
    assert len(find_regex(text.parse(b"a" * 200_000), pattern)) <= 100
    assert time.perf_counter() - start < 5


def test_write_in_a_document_of_any_language() -> None:
    document = toml.parse(SOURCE)
    (slot,) = find(document, r"regex:pinned to (?P<value>[0-9a-f]+)")[0]
    assert write(document, slot, "0123abc") == SOURCE.replace(b"9af0e0d (", b"0123abc (")
    assert document.edits(slot, "9af0e0d") == []


@pytest.mark.parametrize("value", ["XYZ", "", "0123abc\n", "\x1b[31m", "0 1", "\ud800", "\u2028"])
def test_the_pattern_must_find_what_was_written(value: str) -> None:
    document = toml.parse(SOURCE)
    (slot,) = find(document, r"regex:pinned to (?P<value>[0-9a-f]+)")[0]
    with pytest.raises(Unwritable):
        write(document, slot, value)


@given(st.text(), st.text("ab é\n", max_size=8), st.text("ab é\n", max_size=8), st.text("ab é\n", max_size=8))
def test_written_values_read_back(new: str, before: str, old: str, after: str) -> None:
    source = f"{before}<{old}>{after}".encode()
    document = text.parse(source)
    (slot,) = find_regex(document, r"<(?P<value>[^<>]*)>")[0]
    assert slot.value == old
    try:
        edits = document.edits(slot, new)
    except Unwritable:
        assert not new.isprintable() or "<" in new or ">" in new
        return
    assert apply(source, edits) == f"{before}<{new}>{after}".encode()


@given(st.binary(max_size=40), st.text(max_size=20))
def test_no_input_crashes(source: bytes, pattern: str) -> None:
    for candidate in (pattern, f"(?P<value>{pattern})"):
        try:
            find_regex(text.parse(source), candidate)
        except BadSelector:
            continue
