"""Plain text files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.sites import find, text
from pinctl.sites.base import BadSelector, Unwritable, write


def values(source: bytes, selector: str) -> list[object]:
    return [slot.value for (slot,) in find(text.parse(source), selector)]


@pytest.mark.parametrize(
    ("source", "selector", "expected"),
    [
        (b"9af0e0d\n", "text", ["9af0e0d"]),
        (b"9af0e0d", "text", ["9af0e0d"]),
        (b"\xef\xbb\xbf\n  v1.2 \r\n\r\n", "text", ["v1.2"]),
        ("é\n".encode(), "text", ["é"]),
        (b"a b\n", "text", []),
        (b"", "text", []),
        (b" \n", "text", []),
        (b"a b\n c \n\nd", "text:1", ["a b"]),
        (b"a b\n c \n\nd", "text:2", ["c"]),
        (b"a b\n c \n\nd", "text:3", []),
        (b"a b\n c \n\nd", "text:4", ["d"]),
        (b"a b\n c \n\nd", "text:5", []),
        (b"\xef\xbb\xbfa\r\nb\r\n", "text:1", ["a"]),
        (b"\xef\xbb\xbfa\r\nb\r\n", "text:2", ["b"]),
        # Only a line feed ends a line.
        ("a\x0bb\x85c\u2028d\ne".encode(), "text:2", ["e"]),
    ],
)
def test_find(source: bytes, selector: str, expected: list[str]) -> None:
    assert values(source, selector) == expected


@pytest.mark.parametrize("selector", ["text:0", "text:", "text:x", "TEXT", "", "text:99999999", "ARG X"])
def test_bad_selectors(selector: str) -> None:
    with pytest.raises(BadSelector):
        text.parse(b"x").find(selector)


@pytest.mark.parametrize(
    ("source", "selector", "value", "after"),
    [
        (b"old\n", "text", "new", b"new\n"),
        (b"old", "text", "new", b"new"),
        (b"\xef\xbb\xbf old \r\n", "text", "new", b"\xef\xbb\xbf new \r\n"),
        (b"a a\r\n\ta a \r\n", "text:2", "b c", b"a a\r\n\tb c \r\n"),
    ],
)
def test_write(source: bytes, selector: str, value: str, after: bytes) -> None:
    document = text.parse(source)
    assert write(document, find(document, selector)[0][0], value) == after


@pytest.mark.parametrize(
    ("selector", "value"), [("text", "a b"), ("text", ""), ("text:1", " a"), ("text:1", "a\nb"), ("text", "\0")]
)
def test_unwritable(selector: str, value: str) -> None:
    document = text.parse(b"old\n")
    with pytest.raises(Unwritable):
        write(document, find(document, selector)[0][0], value)


_words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1)


@given(_words, _words, st.text(" \t\r\n"), st.text(" \t\r\n"), st.sampled_from(["", "\ufeff"]))
def test_a_word_reads_back(old: str, new: str, before: str, after: str, bom: str) -> None:
    source = f"{bom}{before}{old}{after}".encode()
    document = text.parse(source)
    if not bom and old.startswith("\ufeff"):
        return
    ((slot,),) = find(document, "text")
    assert slot.value == old
    assert write(document, slot, new) == f"{bom}{before}{new}{after}".encode()


@given(st.binary(max_size=60), st.integers(1, 9), st.text())
def test_lines_read_back(source: bytes, number: int, new: str) -> None:
    document = text.parse(source)
    for (slot,) in find(document, f"text:{number}"):
        line = source.split(b"\n")[number - 1]
        assert line.removeprefix(b"\xef\xbb\xbf").strip() == source[slot.start : slot.end]
        try:
            after = write(document, slot, new)
        except Unwritable:
            continue
        assert values(after, f"text:{number}") == [new]
        assert after == source[: slot.start] + new.encode() + source[slot.end :]
