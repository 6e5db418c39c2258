"""`name;url;digest` lists: real shapes, re-written by hand; what is written is read back as CMake splits it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.sites import language_of
from pinctl.sites.base import BadSelector, Unwritable, Value, write
from pinctl.sites.deps_list import COMMENT, NAME, parse
from sites.support import named, one, written

SHA1, SHA256 = "da39a3ee5e6b4b0d3255bfef95601890afd80709", "ab" * 32
LIST = f"""\
# name;url;sha1, read by external/helper.cmake
abseil_cpp;https://github.com/abseil/abseil-cpp/archive/refs/tags/20240722.0.zip;{SHA1}
date ; https://github.com/HowardHinnant/date/archive/v3.0.1.zip ; {SHA1.upper()}\r
cutlass;https://github.com/NVIDIA/cutlass/archive/v3.5.1.zip;{SHA256}

two;columns
odd;https://example.com/x.zip;{SHA1}a
extra;https://example.com/x.zip;{SHA1};x
"""


def test_the_files() -> None:
    assert language_of("cmake/deps.txt") == language_of("ort/cmake/deps.txt") == NAME == "deps_list"
    assert language_of("deps.txt") == language_of("cmake/other.txt") == "text"
    assert COMMENT == ("# ", "")


def test_columns() -> None:
    assert {key: value for key, value in named("deps_list", LIST.encode()).items() if "." in key} == {
        "abseil_cpp.url": "https://github.com/abseil/abseil-cpp/archive/refs/tags/20240722.0.zip",
        "abseil_cpp.sha1": SHA1,
        "date.url": "https://github.com/HowardHinnant/date/archive/v3.0.1.zip",
        "date.sha1": SHA1.upper(),
        "cutlass.url": "https://github.com/NVIDIA/cutlass/archive/v3.5.1.zip",
        "cutlass.sha256": SHA256,
    }


def test_a_line_as_a_whole() -> None:
    ((url, digest),) = parse(LIST.encode()).find("date")
    assert (url.part, digest.part, digest.value) == ("url", "hash", f"SHA1={SHA1}")


@pytest.mark.parametrize("selector", ["", "a b", "a;b", "x\n"])
def test_what_is_no_selector(selector: str) -> None:
    with pytest.raises(BadSelector, match=r"NAME\.url"):
        parse(LIST.encode()).find(selector)


@pytest.mark.parametrize(
    ("selector", "old", "new"),
    [
        ("abseil_cpp.url", "abseil/abseil-cpp/archive/refs/tags/20240722.0.zip", "x/y/archive/1.zip"),
        ("date.sha1", SHA1.upper(), "1" * 40),
        ("cutlass.sha256", SHA256, "1" * 64),
    ],
)
def test_writing(selector: str, old: str, new: str) -> None:
    value = f"https://github.com/{new}" if selector.endswith("url") else new
    assert written("deps_list", LIST.encode(), selector, value).decode() == LIST.replace(old, new)


def test_the_digest_of_a_line_is_written_in_hex() -> None:
    document = parse(LIST.encode())
    ((_, digest),) = document.find("cutlass")
    assert write(document, digest, f"SHA256={'1' * 64}").decode() == LIST.replace(SHA256, "1" * 64)
    with pytest.raises(Unwritable, match="sha256"):
        write(document, digest, f"SHA1={SHA1}")


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("cutlass.url", "https://x/y;z"),
        ("cutlass.url", "https://x/y\nevil;https://z"),
        ("cutlass.url", "https://x/y\0"),
        ("cutlass.url", "https://x/y z"),
        ("cutlass.url", "https://x/${y}"),
        ("cutlass.url", ""),
        ("cutlass.sha256", SHA1),
        ("cutlass.sha256", f"{SHA256};x"),
        ("abseil_cpp.sha1", "x" * 40),
        ("abseil_cpp.sha1", f"SHA1={SHA1}"),
    ],
)
def test_values_that_cannot_stand_there(selector: str, value: str) -> None:
    document = parse(LIST.encode())
    with pytest.raises(Unwritable):
        write(document, one(document, selector), value)


def columns(source: bytes, name: str) -> list[str]:
    """The columns of the line `name`, as CMake's file(STRINGS) and its lists split them."""
    lines = (line.strip() for line in source.decode("utf-8", "surrogateescape").split("\n"))
    (found,) = (line for line in lines if line.split(";")[0].strip() == name)
    return [column.strip() for column in found.split(";")]


texts = st.text(st.sampled_from("ab/;#$\\\"'\n\r\0 é=") | st.characters(), max_size=10)


@settings(max_examples=100)
@given(
    st.sampled_from(["url", "sha256"]), st.text(st.sampled_from("ab/;#$\\\"'\n\r\0 é=") | st.characters(), max_size=10)
)
def test_what_is_written_is_read_back_and_nothing_else_moves(column: str, text: str) -> None:
    source = LIST.encode()
    document = parse(source)
    slot = one(document, f"cutlass.{column}")
    value: Value = f"https://{text}" if column == "url" else text
    try:
        after = write(document, slot, value)
    except Unwritable:
        return
    assert (after[: slot.start], after[len(after) - len(source) + slot.end :]) == (
        source[: slot.start],
        source[slot.end :],
    )
    assert columns(after, "cutlass")[1 if column == "url" else 2] == value
    assert one(parse(after), f"cutlass.{column}").value == value


@given(st.binary(max_size=40), st.integers(0, len(LIST)))
def test_no_input_crashes_the_reader(junk: bytes, at: int) -> None:
    for source in (junk, LIST.encode()[:at] + junk + LIST.encode()[at:], b"a;" * 50_000, b"a" * 100_000):
        list(parse(source).slots())
