"""JSON: pointers, names of array elements, literals of each type, lists, and what is no JSON."""

import json
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.sites import find
from pinctl.sites.base import BadSelector, Unparsable, Unwritable, write
from pinctl.sites.json import parse

from . import support
from .support import one

MANIFEST = b"""\
{
  "_comment": "made from the Dockerfile",
  "variable": {
    "TORCH_VERSION": { "default": "2.13.0" },
    "MAX_JOBS": { "default": 16 },
    "USE_CACHE": { "default": true },
    "NOTHING": { "default": null }
  },
  "dependencies": [
    { "name": "fmt", "repo": "https://example.org/fmt", "tag": "11.0.2" },
    { "name": "json", "tag": "v3.11", "files": ["a.h", "b.h"] }
  ]
}
"""


named = partial(support.named, "json")
written = partial(support.written, "json")


def test_slots_of_a_manifest() -> None:
    assert named(MANIFEST) == {
        "/_comment": "made from the Dockerfile",
        "/variable/TORCH_VERSION/default": "2.13.0",
        "/variable/MAX_JOBS/default": "16",
        "/variable/USE_CACHE/default": "true",
        "/dependencies/0/name": "fmt",
        "/dependencies/0/repo": "https://example.org/fmt",
        "/dependencies/0/tag": "11.0.2",
        "/dependencies/1/name": "json",
        "/dependencies/1/tag": "v3.11",
        "/dependencies/1/files": ("a.h", "b.h"),
    }
    assert parse(MANIFEST).errors == ()


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("/variable/TORCH_VERSION/default", "2.13.0"),
        ("/dependencies/0/tag", "11.0.2"),
        ("/dependencies[0]/tag", "11.0.2"),
        ("/dependencies[name=fmt]/tag", "11.0.2"),
        ('/dependencies["name"="fmt"]/tag', "11.0.2"),
        ("/dependencies[repo=https://example.org/fmt]/tag", "11.0.2"),
        ("/dependencies[tag=v3.11]/name", "json"),
        ("/dependencies[name=json]/files", ("a.h", "b.h")),
        ("/dependencies[name=json]/files/1", "b.h"),
        ("/dependencies/1/files[0]", "a.h"),
    ],
)
def test_selectors(selector: str, value: object) -> None:
    assert one(parse(MANIFEST), selector).value == value


@pytest.mark.parametrize(
    "selector",
    ["/no", "/dependencies/2/tag", "/dependencies[name=nobody]/tag", "/variable/NOTHING/default", "/variable",
     "/dependencies/1/files/2", "/dependencies[name=fmt", "/_comment/0", ""],
)  # fmt: skip
def test_selectors_that_find_nothing(selector: str) -> None:
    assert find(parse(MANIFEST), selector) == []


@pytest.mark.parametrize("selector", ["variable.X", "ARG X", "x/y", "/" + "a" * 400])
def test_selectors_that_are_no_pointers(selector: str) -> None:
    with pytest.raises(BadSelector, match="JSON pointer"):
        find(parse(MANIFEST), selector)


def test_escapes_in_pointers_and_keys() -> None:
    source = b'{"a/b": {"c~d": "1", "": "2", "\\u0065": "3", "x[0]": "4", "[n=1]": "5"}}'
    assert named(source) == {
        "/a~1b/c~0d": "1", "/a~1b/": "2", "/a~1b/e": "3", "/a~1b/x[0]": "4", "/a~1b/[n=1]": "5",
    }  # fmt: skip
    for name, value in named(source).items():
        assert one(parse(source), name).value == value


def test_elements_are_called_by_name_where_only_one_has_it() -> None:
    source = b'[{"name": "a", "v": 1}, {"name": "b", "v": 2}, {"name": "b", "v": 3}, {"id": "c]", "v": 4}]'
    names = [slot.names for slot in parse(source).slots() if slot.selector.endswith("/v")]
    assert names == [("/0/v", "[name=a]/v"), ("/1/v",), ("/2/v",), ("/3/v", '[id="c]"]/v')]
    assert one(parse(source), "[name=a]/v").value == "1"
    assert one(parse(source), '[id="c]"]/v').value == "4"
    assert [hit[0].value for hit in find(parse(source), "[name=b]/v")] == ["2", "3"]


def test_a_key_that_stands_twice_is_ambiguous() -> None:
    document = parse(b'{"a": "1", "b": {"a": "3"}, "a": "2"}')
    assert [hit[0].value for hit in find(document, "/a")] == ["1", "2"]
    assert one(document, "/a#2").value == "2"


def test_comments_last_commas_and_bom() -> None:
    source = b'\xef\xbb\xbf{ // what\r\n  "a": "1", /* it, "b": "0" is */\r\n  "b": ["x", "y",],\r\n}\r\n'
    assert named(source) == {"/a": "1", "/b": ("x", "y")}
    assert parse(source).errors == ()
    assert written(source, "/a", "2") == source.replace(b'"1"', b'"2"')


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b'{"a": "1" "b": "2", "c": "3"}', {"/c": "3"}),  # a comma is missing: what stands beside it is unsure
        (b'{"a": "un, "b": 2, "c": "3"}', {"/c": "3"}),
        (b'{"a": {"x": 1, "b": 2}', {}),  # a brace is missing, and nobody knows whose
        (b'{"a": {"b" 1}, "c": "2"}', {"/c": "2"}),
        (b'{"x": [1, @@, "x"], "c": "2"}', {"/c": "2"}),  # the third or the second?
        (b'{"a": "x\\qy", "b": "z"}', {"/b": "z"}),
        (b'{"a": "\\ud800", "b": "\\u12", "c": "2"}', {"/c": "2"}),
        (b'{"a": 01, "b": "z"}', {"/b": "z"}),
        (b"{'a': 1}", {}),
        (b"", {}),
    ],
)
def test_what_cannot_be_parsed(source: bytes, expected: dict[str, object]) -> None:
    assert named(source) == expected


@pytest.mark.parametrize(
    ("source", "value", "expected"),
    [
        (b'{"a": "1"}', "2.0", b'{"a": "2.0"}'),
        (b'{"a": 1}', "2.50e3", b'{"a": 2.50e3}'),
        (b'{"a": 1e+5}', "2E+5", b'{"a": 2E+5}'),
        (b'{"a": true}', "false", b'{"a": false}'),
        (b'{"a": "1"}', "\N{SNOWMAN}", '{"a": "\N{SNOWMAN}"}'.encode()),
        (b'{"a": "\\u2603"}', "\xe9", b'{"a": "\\u00e9"}'),  # escaped as the old one was
        (b'{"a": "1"}', 'x", "b": "y\\', b'{"a": "x\\", \\"b\\": \\"y\\\\"}'),
        (b'\t{\r\n"k":"\xe2\x98\x83" ,"a"\t:"1"}', "2", b'\t{\r\n"k":"\xe2\x98\x83" ,"a"\t:"2"}'),
    ],
)
def test_write(source: bytes, value: str, expected: bytes) -> None:
    assert written(source, "/a", value) == expected


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (b'{"a": 1}', "1.2.3"), (b'{"a": 1}', "NaN"), (b'{"a": 1}', " 2"), (b'{"a": 1}', "\u0661"), (b'{"a": 1}', ""),
        (b'{"a": true}', "True"), (b'{"a": true}', "1"), (b'{"a": "1"}', "a\nb"), (b'{"a": "1"}', "\x1b[0m"),
        (b'{"a": "1"}', "\ud800"), (b'{"a": [1, 2]}', "x"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(source: bytes, value: str) -> None:
    with pytest.raises(Unwritable):
        written(source, "/a", value)


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ("[]", "ab", '["a", "b"]'),
        ("[ ]", "a", '["a"]'),
        ('["a"]', "ab", '["a", "b"]'),
        ('["a"]', "ba", '["b", "a"]'),
        ('["a","b"]', "abc", '["a","b","c"]'),
        ('[ "a", "b" ]', "b", '[ "b" ]'),
        ('[ "a", "b" ]', "a", '[ "a" ]'),
        ('["a", "b", "c"]', "ac", '["a", "c"]'),
        ('["a", "b", "c"]', "", "[]"),
        ('[\n  "a",\n  "b"\n]', "abc", '[\n  "a",\n  "b",\n  "c"\n]'),
        ('[\n  "a"\n]', "ab", '[\n  "a",\n  "b"\n]'),
        ('[\r\n  "b",\r\n  "c"\r\n]', "abc", '[\r\n  "a",\r\n  "b",\r\n  "c"\r\n]'),
        ('[\n  "a",\n  "b"\n]', "a", '[\n  "a"\n]'),
        ('[\n  "a",\n  "b"\n]', "b", '[\n  "b"\n]'),
        ('[\n  "a", "b",\n  "c", "d"\n]', "d", '[\n  "d"\n]'),
        ('[\n  "a", "b",\n  "c", "d"\n]', "ad", '[\n  "a", "d"\n]'),
        ('[\n  "a", // first\n  // on b\n  "b" // last\n]', "abc",
         '[\n  "a", // first\n  // on b\n  "b", // last\n  "c"\n]'),
        ('[\n  "a", // first\n  // on b\n  "b" // last\n]', "a", '[\n  "a" // first\n  // on b\n]'),
        ('[\n  "a", // first\n  // on b\n  "b" // last\n]', "b", '[\n  // on b\n  "b" // last\n]'),
        ('[\r\n  "a", // first\r\n  "b"\r\n]', "acb", '[\r\n  "a", // first\r\n  "c",\r\n  "b"\r\n]'),
        ('["a" // first\n]', "ab", '["a", // first\n               "b"\n]'),
        ('["a", /* x */ "b"]', "abc", '["a", /* x */ "b", "c"]'),
        ('["a", /* x */ "b"]', "b", '[/* x */ "b"]'),
        ('[\n  // none yet\n]', "a", '["a"\n  // none yet\n]'),
        ('["a", /* x */ "b"]', "", "[/* x */]"),
    ],
)  # fmt: skip
def test_lists(before: str, values: str, after: str) -> None:
    head, tail = b'{"n": 1, "a": ', b', "z": ["q"]}\n'
    assert written(head + before.encode() + tail, "/a", tuple(values)) == head + after.encode() + tail


def test_a_list_of_numbers_stays_one() -> None:
    assert written(b'{"a": [1, 2]}', "/a", ("1", "2", "3")) == b'{"a": [1, 2, 3]}'
    assert written(b'{"a": [true]}', "/a", ("false",)) == b'{"a": [false]}'


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
writable = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=8)
scalars = st.one_of(text, st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every slot that a value must have, with its pointer."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and any(isinstance(inner, list | dict) for inner in value):
        for n, inner in enumerate(value):
            yield from leaves(inner, f"{path}/{n}")
    elif isinstance(value, list):
        yield path, tuple(inner if isinstance(inner, str) else json.dumps(inner) for inner in value)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)


@given(values, st.sampled_from([None, 0, 1, "\t"]), st.booleans())
def test_every_literal_is_a_slot(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert [(slot.selector, slot.value) for slot in parse(source.encode()).slots()] == list(leaves(value))


@given(st.data(), values, st.sampled_from([None, 2, "\t"]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_write_reads_back_and_moves_nothing_else(
    data: st.DataObject, value: Any, indent: int | str | None, ascii_only: bool, newline: str
) -> None:
    rendered = json.dumps({"x": value, "y": "z"}, indent=indent, ensure_ascii=ascii_only)
    source = rendered.replace("\n", newline).encode()
    document = parse(source)
    slots = list(document.slots())
    at = data.draw(st.integers(0, len(slots) - 1))
    slot = slots[at]
    plain = {"number": "7", "boolean": "true"}
    if {token.style for token in slot.tokens} & plain.keys():
        new: Any = () if slot.many else plain[slot.tokens[0].style]
    else:
        new = data.draw(st.lists(writable, max_size=4).map(tuple) if slot.many else writable)
    after = write(document, slot, new)
    assert after.startswith(source[: slot.start])
    assert after.endswith(source[slot.end :])
    json.loads(after)
    expected = [(s.selector, new if n == at else s.value) for n, s in enumerate(slots)]
    assert [(s.selector, s.value) for s in parse(after).slots()] == expected


gaps = st.sampled_from(["", " ", "\n", "\n  ", "// own\n", "\n// own\n  ", " /* in */ ", "/* two\n lines */", "\r\n\t"])


@given(st.lists(st.tuples(gaps, st.sampled_from("abc"), gaps), max_size=4), gaps, st.lists(st.sampled_from("abcd")))
def test_lists_between_comments(elements: list[tuple[str, str, str]], last: str, new: list[str]) -> None:
    inner = ",".join(f'{before}"{word}"{behind}' for before, word, behind in elements) + last
    source = f'{{"a": [{inner}], "z": "q"}}'.encode()
    after = written(source, "/a", tuple(new))
    document = parse(after)
    assert (named(after), document.errors) == ({"/a": tuple(new), "/z": "q"}, ())
    assert after.endswith(b'], "z": "q"}')


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_crash_the_reader(source: bytes) -> None:
    for slot in parse(source).slots():
        assert source[slot.start : slot.end]


@given(st.data(), st.integers(0, len(MANIFEST) - 1), st.integers(0, 9))
def test_no_damage_crashes_the_reader(data: st.DataObject, at: int, cut: int) -> None:
    patch = data.draw(st.sampled_from([b"", b'"', b"{", b"}", b"[", b",", b"\\", b"/*", b"\xff", b"null"]))
    source = MANIFEST[:at] + patch + MANIFEST[at + cut :]
    document = parse(source)
    for slot in document.slots():
        for token in slot.tokens:
            assert not any(a < token.end and token.start < b for a, b in document.errors)
            raw = source[token.start : token.end].decode("utf-8")
            assert json.loads(raw) == (token.value if token.style == "string" else json.loads(token.value))


@pytest.mark.parametrize(
    "source", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b"{" * 100_000]
)
def test_deep_nesting_is_read_in_good_time(source: bytes) -> None:
    start = time.process_time()
    assert list(parse(source).slots()) == []
    assert time.process_time() - start < 10


def test_too_many_values_are_refused() -> None:
    with pytest.raises(Unparsable, match="200000"):
        list(parse(b"[" + b"1," * 250_000 + b"1]").slots())
    with pytest.raises(Unparsable, match="200000"):
        list(parse(b"[" + b'[["a"]],' * 110_000 + b'["a"]]').slots())
