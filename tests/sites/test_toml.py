"""TOML: tomllib, and tomlkit as a writer, say what the right answer is."""

import datetime
import random
import time
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pinctl.plan import apply
from pinctl.sites import find, toml
from pinctl.sites.base import BadSelector, Unparsable, Unwritable, write
from pinctl.sites.toml_edit import key_removal
from pinctl.sites.toml_reader import key_text

PYPROJECT = b"""\
# the engine
[build-system]
requires = [
    "setuptools>=77.0.3,<81",
    "torch == 2.13.0", # keep in step with CMake
    'wheel',
]

[project]
name = "engine"
dependencies = ["Flash_Infer.python[cu13]==0.6.16 ; python_version > '3.9'", "tilelang~=0.1.11",
  "apache-tvm-ffi @ https://h.example/a-0.1.11-py3-none-any.whl ; sys_platform == 'linux'", "numpy"]

[project.optional-dependencies]
"odd.group" = ["torch===2.13.0+cu130"]

[dependency-groups]
dev = ["pytest==9.0", { include-group = "lint" }]
lint = ["ruff==0.11.*", "not a requirement", "x==\\u0031.0"]

[tool.uv]
override-dependencies = ["numpy==2.1"]
sources.torch.index = "pytorch"
[[tool.uv.index]]
name = "pytorch"
url = 'https://download.pytorch.org/whl/cu130'
explicit = true
[[tool.uv.index]]
name = "own index"
priority = 10
[tool.x."a b".'c"d']
archs = [ 9.0, 10.0 ]
none = []
mixed = [1, ["x"], {y = "z"}]
"""

MANIFEST = b"""\
schema = 1

[pins.deepgemm]
repo = "https://h.example/x.git"
submodules = ["third-party/cutlass", "third-party/deep_jit"]   # two
facts.min_cuda = "12.8"
upstream = { repo = "https://h.example/y.git", track = "main" }
[pins.deepgemm.sites."cmake/x.cmake"]
"FetchContent(x)" = "{git}"
[pins.deepgemm.sites."docker/Dockerfile"]
"ARG REF" = "{commit:.10}"
[[pins.deepgemm.patches]]
file = "a.patch"
[[pins.deepgemm.patches]]
file = "b.patch"
  [pins.deepgemm.patches.opts]
  level = 1

[pins.cutlass]
sites."CMakeLists.txt"."FetchContent(cutlass)" = "{git:tag}"
"""


def read(source: bytes, selector: str) -> object:
    """The one value that `selector` finds."""
    (hit,) = find(toml.parse(source), selector)
    (slot,) = hit
    return slot.value


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("project.name", "engine"),
        ('project."name"', "engine"),
        ("build-system.requires", ("setuptools>=77.0.3,<81", "torch == 2.13.0", "wheel")),
        ("build-system.requires.2", "wheel"),
        ("build-system.requires:requirement torch", "2.13.0"),
        ("specifier setuptools", ">=77.0.3,<81"),
        ("requirement flash-infer-python", "0.6.16"),
        ("requirement Flash_Infer.Python", "0.6.16"),
        ("project.dependencies:requirement flash.infer_python", "0.6.16"),
        ("specifier tilelang", "~=0.1.11"),
        ("url apache-tvm-ffi", "https://h.example/a-0.1.11-py3-none-any.whl"),
        ('project.optional-dependencies."odd.group":requirement torch', "2.13.0+cu130"),
        ("requirement pytest", "9.0"),
        ("specifier ruff", "==0.11.*"),
        ("tool.uv.override-dependencies:requirement numpy", "2.1"),
        ("tool.uv.sources.torch.index", "pytorch"),
        ("tool.uv.index.0.url", "https://download.pytorch.org/whl/cu130"),
        ("tool.uv.index[name=pytorch].url", "https://download.pytorch.org/whl/cu130"),
        ('tool.uv.index[name="own index"].priority', "10"),
        ("tool.uv.index[priority=10].name", "own index"),
        ("tool.uv.index.0.explicit", "true"),
        ('tool.x."a b".\'c"d\'.archs', ("9.0", "10.0")),
        ('tool.x."a b"."c\\"d".archs.1', "10.0"),
        ('tool.x."a b"."c\\"d".none', ()),
        ('tool.x."a b"."c\\"d".mixed.1', ("x",)),
        ('tool.x."a b"."c\\"d".mixed.2.y', "z"),
    ],
)
def test_selectors(selector: str, value: object) -> None:
    assert read(PYPROJECT, selector) == value


def test_several_and_none() -> None:
    document = toml.parse(PYPROJECT)
    assert [hit[0].value for hit in find(document, "requirement torch")] == ["2.13.0", "2.13.0+cu130"]
    assert find(document, "requirement torch#2")[0][0].value == "2.13.0+cu130"
    nothing = ["requirement x", "requirement numpy2", "project.none", "tool.uv.index[name=x].url", "tool.uv.index.7"]
    assert [find(document, selector) for selector in nothing] == [[]] * 5
    assert document.errors == ()


@pytest.mark.parametrize(
    "selector",
    ["ARG X", "a..b", "", ".", "a.", "/project/name", "a[b].c", "requirement torch==1", "requirement a b", "x é"],
)
def test_no_selector_of_toml(selector: str) -> None:
    with pytest.raises(BadSelector):
        toml.parse(PYPROJECT).find(selector)


def test_canonical_names_and_aliases() -> None:
    names = {slot.names for slot in toml.parse(PYPROJECT).slots()}
    assert ("tool.uv.index.0.url", "tool.uv.index[name=pytorch].url") in names
    assert ('tool.x."a b"."c\\"d".archs',) in names
    assert ("requirement torch", "build-system.requires:requirement torch") in names


@pytest.mark.parametrize(
    ("selector", "value", "old", "new"),
    [
        ("project.name", 'a "b" \\', b'"engine"', b'"a \\"b\\" \\\\"'),
        ("tool.uv.index.0.url", "https://x", b"'https://download.pytorch.org/whl/cu130'", b"'https://x'"),
        ("tool.uv.index.0.url", "it's", b"'https://download.pytorch.org/whl/cu130'", b'"it\'s"'),
        ("requirement flash-infer-python", "0.7.0rc1", b"==0.6.16 ;", b"==0.7.0rc1 ;"),
        ("build-system.requires:requirement torch", "2.14", b"== 2.13.0", b"== 2.14"),
        ("specifier setuptools", ">=80", b">=77.0.3,<81", b">=80"),
        (
            "url apache-tvm-ffi",
            "https://h/b%2B1.whl",
            b"https://h.example/a-0.1.11-py3-none-any.whl",
            b"https://h/b%2B1.whl",
        ),
        ("tool.uv.index[name=pytorch].explicit", "false", b"explicit = true", b"explicit = false"),
        ("tool.uv.index.1.priority", "0x1f", b"priority = 10", b"priority = 0x1f"),
        ("build-system.requires.2", "wheel==1", b"'wheel'", b"'wheel==1'"),
    ],
)
def test_write(selector: str, value: str, old: bytes, new: bytes) -> None:
    document = toml.parse(PYPROJECT)
    (slot,) = find(document, selector)[0]
    after = write(document, slot, value)
    assert after == PYPROJECT.replace(old, new)
    assert after != PYPROJECT
    assert read(after, selector) == value


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("project.name", "a\nb"),
        ("project.name", "\ud800"),
        ("tool.uv.index.0.explicit", "1"),
        ("tool.uv.index.0.explicit", "no"),
        ("tool.uv.index.1.priority", "true"),
        ("tool.uv.index.1.priority", "1 # x"),
        ("tool.uv.index.1.priority", "1\ny = 2"),
        ("build-system.requires:requirement torch", "2.13.*"),
        ("build-system.requires:requirement torch", '1"'),
        ("build-system.requires:requirement torch", "1,<2"),
        ("build-system.requires:requirement torch", "1;x"),
        ("specifier setuptools", "==1.0"),
        ("specifier setuptools", "nonsense"),
        ("url apache-tvm-ffi", "https://h/x y"),
        ("url apache-tvm-ffi", 'https://h/"'),
        ("url apache-tvm-ffi", "https://${TOKEN}@h/x"),
    ],
)
def test_unwritable(selector: str, value: str) -> None:
    document = toml.parse(PYPROJECT)
    with pytest.raises(Unwritable):
        write(document, find(document, selector)[0][0], value)


@pytest.mark.parametrize(
    ("source", "values", "after"),
    [
        (b'l = ["a"]', "ab", b'l = ["a", "b"]'),
        (b'l = ["a"]', "ba", b'l = ["b", "a"]'),
        (b"l = [ 'a', 'b' ]", "abc", b"l = [ 'a', 'b', 'c' ]"),
        (b"l = ['a','b']", "xab", b"l = ['x','a','b']"),
        (b'l = ["a", "b", "c"]', "ac", b'l = ["a", "c"]'),
        (b'l = ["a", "b", "c"]', "c", b'l = ["c"]'),
        (b'l = [ "a", "b", "c" ]', "c", b'l = [ "c" ]'),
        (b'l = ["a", "b", "c"]', "a", b'l = ["a"]'),
        (b'l = ["a", "b",]', "a", b'l = ["a",]'),
        (b'l = ["a", "b"]', "xb", b'l = ["x", "b"]'),
        (b'l = ["a", "b"]', "", b"l = []"),
        (b'l = [\n  "a",\n]', "", b"l = []"),
        (b"l = []", "ab", b'l = ["a", "b"]'),
        (b"l = [\n  # none\n]", "ab", b'l = ["a","b",\n  # none\n]'),
        (b'l = [\n  # own\n  "a", # a\n]', "", b"l = [\n  # own\n]"),
        (b'l = [\n  "a", # a\n  "b", # b\n]\n', "abc", b'l = [\n  "a", # a\n  "b", # b\n  "c",\n]\n'),
        (b'l = [\n  "a", # a\n  "b" # b\n]\n', "abc", b'l = [\n  "a", # a\n  "b", # b\n  "c"\n]\n'),
        (b'l = [\n  "a", # a\n  "b" # b\n]\n', "axb", b'l = [\n  "a", # a\n  "x",\n  "b" # b\n]\n'),
        (b'l = [\n  "a", # a\n  "b" # b\n]\n', "a", b'l = [\n  "a" # a\n]\n'),
        (b'l = [\n  "a", # a\n  # of b\n  "b", # b\n  "c",\n]\n', "ac", b'l = [\n  "a", # a\n  # of b\n  "c",\n]\n'),
        (b'l = [\n  "a", # a\n  "b", # b\n]\n', "b", b'l = [\n  "b", # b\n]\n'),
        (b'l = [\r\n  "a",\r\n  "b",\r\n]\r\n', "axb", b'l = [\r\n  "a",\r\n  "x",\r\n  "b",\r\n]\r\n'),
        (b'l = [\r\n  "a",\r\n  "b",\r\n]\r\n', "a", b'l = [\r\n  "a",\r\n]\r\n'),
        (b'l = [\n  "a", "b",\n  "c", "d",\n]\n', "abd", b'l = [\n  "a", "b",\n  "d",\n]\n'),
        (b'l = [\n  "a", "b",\n  "c", "d",\n]\n', "acd", b'l = [\n  "a",\n  "c", "d",\n]\n'),
        (b'l = ["a" # a\n]', "ab", b'l = ["a", # a\n"b"\n]'),
        (b'l = [\n  "a" # a\n  ,\n  "b"]', "b", b'l = [ # a\n  \n  "b"]'),
        (b"l = [1, 2]", "123", b"l = [1, 2, 3]"),
        (b"l = [1, 2]", "23", b"l = [2, 3]"),
        (b'l = ["""a""", "b"]', "xb", b'l = ["x", "b"]'),
    ],
)
def test_lists(source: bytes, values: str, after: bytes) -> None:
    document = toml.parse(source)
    ((slot,),) = document.find("l")
    assert slot.many
    assert slot.ordered
    assert write(document, slot, tuple(values)) == after
    assert [str(x) for x in tomllib.loads(after.decode())["l"]] == list(values)


# Places and new keys, for pins.toml


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        (("pins", "deepgemm", "repo"), b"repo", 4),
        (("pins", "deepgemm", "submodules", 1), b'"third-party/deep_jit"', 5),
        (("pins", "deepgemm", "submodules", 9), b"submodules", 5),
        (("pins", "deepgemm", "facts", "min_cuda"), b"min_cuda", 6),
        (("pins", "deepgemm", "upstream", "track"), b"track", 7),
        (("pins", "deepgemm"), b"deepgemm", 3),
        (("pins", "deepgemm", "sites", "docker/Dockerfile", "ARG REF"), b'"ARG REF"', 11),
        (("pins", "deepgemm", "sites", "docker/Dockerfile"), b'"docker/Dockerfile"', 10),
        (("pins", "deepgemm", "patches", 1), b"patches", 14),
        (("pins", "deepgemm", "patches", 1, "file"), b"file", 15),
        (("pins", "deepgemm", "patches", 1, "opts", "level"), b"level", 17),
        (("pins", "deepgemm", "patches", 5, "file"), b"patches", 12),
        (("pins", "cutlass", "sites", "CMakeLists.txt", "FetchContent(cutlass)"), b'"FetchContent(cutlass)"', 20),
        (("pins", "none", "x"), b"pins", 3),
        (("nowhere",), b"", 1),
        ((), b"", 1),
    ],
)
def test_locate(path: Any, text: bytes, line: int) -> None:
    start, end = toml.parse(MANIFEST).locate(path)
    assert MANIFEST[start:end] == text
    assert MANIFEST.count(b"\n", 0, start) + 1 == line


def test_slot_at() -> None:
    document = toml.parse(MANIFEST)
    slot = document.slot_at(("pins", "deepgemm", "patches", 1, "file"))
    assert slot is not None
    assert slot.value == "b.patch"
    assert document.slot_at(("pins", "deepgemm")) is None
    assert document.slot_at(("pins", "none")) is None
    listed = document.slot_at(("pins", "deepgemm", "submodules", 0))
    assert listed is not None
    assert b'["x", "third-party/deep_jit"]' in write(document, listed, "x")


@pytest.mark.parametrize(
    ("table", "key", "value", "line", "text"),
    [
        ((), "extra", True, 2, b"extra = true"),
        (("pins", "deepgemm"), "version", "2.8", 8, b'version = "2.8"'),
        (("pins", "deepgemm", "facts"), "a b", ("x", "y"), 7, b'facts."a b" = ["x", "y"]'),
        (("pins", "deepgemm", "sites", "docker/Dockerfile"), "text", "{version}", 12, b'text = "{version}"'),
        (("pins", "deepgemm", "patches", 0), "retire", "upstream", 14, b'retire = "upstream"'),
        (("pins", "deepgemm", "patches", 1, "opts"), "n", 3, 18, b"  n = 3"),
        (
            ("pins", "cutlass", "sites", "CMakeLists.txt"),
            "x",
            {"contains": "{a}"},
            21,
            b'sites."CMakeLists.txt".x = { contains = "{a}" }',
        ),
        (("pins",), "deep\tjit", {}, 3, b'[pins]\n"deep\\u0009jit" = {}\n'),
    ],
)
def test_insert(table: Any, key: str, value: object, line: int, text: bytes) -> None:
    edit = toml.parse(MANIFEST).insert(table, key, value)
    lines = MANIFEST.split(b"\n")
    assert apply(MANIFEST, [edit]) == b"\n".join([*lines[: line - 1], *text.split(b"\n"), *lines[line - 1 :]])


@pytest.mark.parametrize(
    ("source", "table", "after"),
    [
        (b"", (), b"k = 1\n"),
        (b"[a]", ("a",), b"[a]\nk = 1"),
        (b"  [a] # c\r\n\r\n# d\r\n[b]\r\n", ("a",), b"  [a] # c\r\n  k = 1\r\n\r\n# d\r\n[b]\r\n"),
        (b"a = {}", ("a",), b"a = { k = 1 }"),
        (b"a = {b = 2 }", ("a",), b"a = {b = 2, k = 1 }"),
        (b"a = [{}, {}]", ("a", 1), b"a = [{}, { k = 1 }]"),
        (b"\xef\xbb\xbf# c\n[a]\n", (), b"\xef\xbb\xbfk = 1\n# c\n[a]\n"),
        (b'[a]\nb = """\n[x]\n"""', ("a",), b'[a]\nb = """\n[x]\n"""\nk = 1'),
    ],
)
def test_insert_shapes(source: bytes, table: Any, after: bytes) -> None:
    assert apply(source, [toml.parse(source).insert(table, "k", 1)]) == after


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        (("pins", "deepgemm"), "repo", "x"),
        (("pins", "deepgemm"), "facts", {}),
        (("none",), "x", "x"),
        (("pins", "deepgemm", "submodules"), "x", "x"),
        (("pins", "deepgemm"), "x", "a\x00b"),
        (("pins", "deepgemm"), "x", object()),
        (("pins", "deepgemm"), "x", float("nan")),
    ],
)
def test_not_inserted(table: Any, key: str, value: object) -> None:
    with pytest.raises(Unwritable):
        toml.parse(MANIFEST).insert(table, key, value)


REMOVALS = b"""\
top = 1  # c
# of x
[x]
a = "1"  # of a
# of b
b = [
  1,  # one
]
t = { p = 1, q.r = 2, q.s = [1, 2], z = 3 }
d.e = 1  # of d.e
d.f = 2

# of y
[x.y]
g = 1
# inside
h = 2  # of h

# of z
[[z]]
k = { }
[[z]]
k = {m = 1}

"""


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        (("top",), b"top = 1  # c\n", b""),
        (("x", "a"), b'a = "1"  # of a\n', b""),
        (("x", "b"), b"b = [\n  1,  # one\n]\n", b""),
        (("x", "t", "p"), b"{ p = 1, q.r", b"{ q.r"),
        (("x", "t", "q", "r"), b"p = 1, q.r = 2, q.s", b"p = 1, q.s"),
        (("x", "t", "q"), b"p = 1, q.r = 2, q.s = [1, 2], z", b"p = 1, z"),
        (("x", "t", "z"), b"[1, 2], z = 3 }", b"[1, 2] }"),
        (("x", "t"), b"t = { p = 1, q.r = 2, q.s = [1, 2], z = 3 }\n", b""),
        (("x", "d", "e"), b"d.e = 1  # of d.e\n", b""),
        (("x", "d"), b"d.e = 1  # of d.e\nd.f = 2\n", b""),
        (("x", "y"), b"[x.y]\ng = 1\n# inside\nh = 2  # of h\n", b""),
        (("z",), b"[[z]]\nk = { }\n[[z]]\nk = {m = 1}\n\n", b""),
        (("z", 1, "k", "m"), b"{m = 1}", b"{}"),
        (("none",), b"", b""),
        (("x", "t", "q", "none"), b"", b""),
    ],
)
def test_key_removal(key: Any, before: bytes, after: bytes) -> None:
    edits = key_removal(toml.parse(REMOVALS).reading, REMOVALS, key)
    assert apply(REMOVALS, edits) == (REMOVALS.replace(before, after) if before else REMOVALS)


@pytest.mark.parametrize(
    ("source", "after"),
    [
        (b"[a]\nx = 1\n\n[k]\ny = 1\n\n[b]\n", b"[a]\nx = 1\n\n[b]\n"),
        (b"[a]\r\nx = 1\r\n\r\n[k]\r\ny = 1\r\n\r\n  [b]\r\n", b"[a]\r\nx = 1\r\n\r\n  [b]\r\n"),
        (b"[a]\n[k]\n\n[b]\n", b"[a]\n\n[b]\n"),
        (b"[a]\n\n[k]\ny = 1\n\n", b"[a]\n"),
        (b"[k]\ny = 1\n\n[b]\n", b"[b]\n"),
        (b"\xef\xbb\xbfk = 1\r\nb = 1", b"\xef\xbb\xbfb = 1"),
        (b"\xef\xbb\xbf[k]\n\ny = 1\n", b"\xef\xbb\xbf"),
        (b"[b]\n\n[k]\n\n[k.m]\ny = 1\n\n", b"[b]\n\n"),
        (b"b = 1\nk = 1", b"b = 1\n"),
        (b'k = """\n# x\n"""  # c\nb = 1', b"b = 1"),
        (b"[k.m]\n[a]\n[k]\nx = 1\n[k.n]\n[b]", b"[a]\n[b]"),
    ],
)
def test_key_removal_shapes(source: bytes, after: bytes) -> None:
    assert apply(source, key_removal(toml.parse(source).reading, source, ("k",))) == after


# Broken files


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"a = 1\n[b\nc = 2\n[d]\ne = 3\n", {"a": "1"}),
        (b"a = [1,\n[b]\nc = 2\n[d]\ne = 3\n[f]\ng = 4\n", {"f.g": "4"}),
        (b"[[a]]\nx=1\n[[a\ny=1\n[[a]]\nz=1\n[b]\nw=1\n", {"a.0.x": "1", "b.w": "1"}),
        (b"[t]\na = \nb = 2\n[u]\nc = 3\n", {"u.c": "3"}),
        (b"<<<<<<< HEAD\na=1\n=======\na=2\n>>>>>>> x\n", {}),
        (b'[t]\na = "\\q"\nb = 2', {}),
        (b'a = 1\nb = "x\nc = 3\n[d]\ne = 4', {"a": "1", "d.e": "4"}),
    ],
)
def test_errors(source: bytes, expected: dict[str, str]) -> None:
    document = toml.parse(source)
    assert {slot.selector: slot.value for slot in document.slots()} == expected
    assert document.errors


@pytest.mark.parametrize(
    "source",
    [
        b"a = " + b"[" * 100_000,
        b"a = " + b"[" * 50_000 + b"]" * 50_000,
        b"a=" + b"{a=" * 100_000,
        b"{" * 100_000,
        b"a." * 100_000 + b"a=1",
        b"[" + b"a." * 100_000 + b"a]\nb=1",
        b'"' * 100_000,
        b"\n" * 100_000,
        b"[" + b"x" * 100_000 + b"]\n" + b"a=1\n" * 10_000,
    ],
)
def test_hostile(source: bytes) -> None:
    start = time.perf_counter()
    assert all(len(slot.selector) < 400 for slot in toml.parse(source).slots())
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("source", [b"a=1\n" * 130_000, b"#" * (2 << 20) + b"#"])
def test_out_of_bounds(source: bytes) -> None:
    with pytest.raises(Unparsable):
        toml.parse(source)


# Properties

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_keys = st.one_of(st.sampled_from(["a", "b-c", "1", "name", "a.b", 'q"', "é", "", "x y"]), _text)
_datetimes = st.datetimes().map(lambda d: d.replace(microsecond=0))
_numbers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.booleans(), st.floats(allow_nan=False))
_scalars = st.one_of(_text, _numbers, st.dates(), _datetimes, _datetimes.map(datetime.datetime.time))
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4), max_leaves=12
)
tables = st.dictionaries(_keys, _values, max_size=5)


class Writer:
    """Writes data as TOML in as many ways as TOML has, by the dice."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.newline = dice.choice(["\n", "\r\n"])

    def file(self, data: dict[str, Any]) -> bytes:
        return "".join([self.dice.choice(["", "\ufeff"]), *self.table("", data)]).encode()

    def table(self, prefix: str, data: dict[str, Any]) -> Iterator[str]:
        later = []
        for key, value in data.items():
            tables = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
            if tables and all(isinstance(t, dict) for t in tables) and self.dice.random() < 0.5:
                later.append((key, value))
            elif isinstance(value, dict) and value and self.dice.random() < 0.5:
                dot = self.dice.choice([".", " . "])
                for inner, v in value.items():
                    yield self.line(f"{self.key(key)}{dot}{self.key(inner)} = {self.value(v)}")
            else:
                yield self.line(f"{self.key(key)}{self.dice.choice(['=', ' = '])}{self.value(value)}")
        for key, value in later:
            for table in [value] if isinstance(value, dict) else value:
                path = f"{prefix}{self.key(key)}"
                yield self.line(f"[{path}]" if isinstance(value, dict) else f"[[ {path} ]]")
                yield from self.table(f"{path}.", table)

    def line(self, text: str) -> str:
        return "".join(
            [
                self.dice.choice(["", "", "  ", "\t"]),
                text,
                self.dice.choice(["", "", " # é [x]"]),
                self.newline,
                self.dice.choice(["", "", self.newline, f"# a = 1{self.newline}"]),
            ]
        )

    def key(self, key: str) -> str:
        if key and "'" not in key and key.isprintable() and self.dice.random() < 0.3:
            return f"'{key}'"
        return key_text(key) if self.dice.random() < 0.7 else self.basic(key)

    def basic(self, text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or c == "\x7f" else c for c in escaped) + '"'

    def string(self, text: str) -> str:
        simple = text.replace("\n", "").replace("\t", "").isprintable()
        kind = self.dice.choice(['"', "'", '"""', "'''"])
        if kind == "'" and text.isprintable() and "'" not in text:
            return f"'{text}'"
        if kind == "'''" and simple and "'" not in text and self.newline == "\n":
            return f"'''\n{text}'''"
        if kind == '"""' and simple and self.newline == "\n":
            return '"""\n' + self.basic(text.replace("\n", "\0"))[1:-1].replace("\\u0000", "\n") + '"""'
        return self.basic(text)

    def value(self, value: Any) -> str:
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, list):
            gap = self.dice.choice(["", " ", self.newline, f" # ] ,{self.newline}  "])
            inner = f",{gap}".join(self.value(v) for v in value)
            return f"[{gap}{inner}{self.dice.choice(['', gap and ',' + gap]) if value else ''}]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.key(k)} = {self.value(v)}" for k, v in value.items()) + "}"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int | float):
            return repr(value)
        return str(value.isoformat())


def leaves(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    if not isinstance(data, dict | list):
        yield path, data
    for step, value in steps:
        yield from leaves(value, (*path, step))


def meaning(value: object, like: object) -> object:
    """A slot's value as tomllib reads it, given what kind of value it should be."""
    return value if isinstance(like, str) else tomllib.loads(f"x={value}")["x"]


@given(tables, st.randoms(use_true_random=False))
@example({"a": [{"name": "x", "b": [{"c": 1}, {"c": "é"}]}]}, random.Random(1))  # noqa: S311
@example({"a": {"b": {"c": datetime.time(1, 2, 3)}}}, random.Random(2))  # noqa: S311
def test_every_leaf_is_located_and_reads_equal(data: dict[str, Any], dice: random.Random) -> None:
    source = Writer(dice).file(data)
    data = tomllib.loads(source.decode("utf-8-sig"))
    document = toml.parse(source)
    assert document.errors == ()
    for path, value in leaves(data):
        slot = document.slot_at(path)
        assert slot is not None
        assert meaning(slot.value, value) == value
        start, end = document.locate(path)
        place = source[start:end].decode()
        key = path[-1]
        if isinstance(key, str):
            assert tomllib.loads(f"{place} = 0") == {key: 0}
        else:
            assert tomllib.loads(f"x = {place}")["x"] == value
    for slot in document.slots():
        assert slot.start in [hit[0].start for hit in document.find(slot.selector)]


@given(tables)
def test_tomlkit_files(data: dict[str, Any]) -> None:
    source = tomlkit.dumps(data).encode()
    document = toml.parse(source)
    for path, value in leaves(tomllib.loads(source.decode())):
        slot = document.slot_at(path)
        assert slot is not None
        assert meaning(slot.value, value) == value


@given(tables, st.randoms(use_true_random=False), _text, st.data())
def test_written_values_read_back_and_nothing_else_moves(
    data: dict[str, Any], dice: random.Random, new: str, draw: st.DataObject
) -> None:
    source = Writer(dice).file(data)
    strings = [path for path, value in leaves(tomllib.loads(source.decode("utf-8-sig"))) if isinstance(value, str)]
    assume(strings)
    path = draw.draw(st.sampled_from(strings))
    document = toml.parse(source)
    slot = document.slot_at(path)
    assert slot is not None
    try:
        after = write(document, slot, new)
    except Unwritable:
        assert not new.isprintable()
        return
    assert after[: slot.start] == source[: slot.start]
    assert after.endswith(source[slot.end :])
    before = dict(leaves(tomllib.loads(source.decode("utf-8-sig"))))
    assert dict(leaves(tomllib.loads(after.decode("utf-8-sig")))) == {**before, path: new}


_lists = st.lists(st.text("abcdé ,#]'\"\\", max_size=3), max_size=5)


@given(_lists, _lists, st.randoms(use_true_random=False))
def test_written_lists_read_back(old: list[str], new: list[str], dice: random.Random) -> None:
    source = Writer(dice).file({"é": 1, "t": {"l": old, "m": ["x"]}, "z": "é"})
    document = toml.parse(source)
    ((slot,),) = document.find("t.l")
    after = write(document, slot, tuple(new))
    assert tomllib.loads(after.decode("utf-8-sig")) == {"é": 1, "t": {"l": new, "m": ["x"]}, "z": "é"}
    assert after[: slot.start] == source[: slot.start]
    assert after.endswith(source[slot.end :])
    ((again,),) = toml.parse(after).find("t.l")
    assert again.value == tuple(new)


@given(tables, st.randoms(use_true_random=False), _text, _text)
def test_inserted_keys_read_back(data: dict[str, Any], dice: random.Random, key: str, value: str) -> None:
    source = Writer(dice).file(data)
    document = toml.parse(source)
    for section in document.reading.sections:
        try:
            after = apply(source, [document.insert(section.path, key, value)])
        except Unwritable:
            assert (*section.path, key) in document.reading.spans or not value.isprintable()
            continue
        expected = tomllib.loads(source.decode("utf-8-sig"))
        table: Any = expected
        for step in section.path:
            table = table[step]
        table[key] = value
        assert tomllib.loads(after.decode("utf-8-sig")) == expected


@given(tables, st.randoms(use_true_random=False), st.data())
def test_a_key_is_taken_out_and_nothing_else_moves(
    data: dict[str, Any], dice: random.Random, draw: st.DataObject
) -> None:
    source = Writer(dice).file(data)
    before = list(leaves(tomllib.loads(source.decode("utf-8-sig"))))
    paths = [path[: n + 1] for path, _ in before for n, step in enumerate(path) if isinstance(step, str)]
    assume(paths)
    key = draw.draw(st.sampled_from(paths))
    edits = key_removal(toml.parse(source).reading, source, key)
    after = apply(source, edits)
    assert list(leaves(tomllib.loads(after.decode("utf-8-sig")))) == [
        (path, value) for path, value in before if path[: len(key)] != key
    ]
    assert key_removal(toml.parse(after).reading, after, key) == []
    assert all(edit.new == b"" for edit in edits)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_no_input_crashes_the_reader(source: bytes) -> None:
    assert list(toml.parse(source).slots()) is not None


@given(st.integers(0, len(PYPROJECT)), st.integers(0, 12), st.binary(max_size=6))
def test_mutations_of_a_real_file(at: int, drop: int, put: bytes) -> None:
    source = PYPROJECT[:at] + put + PYPROJECT[at + drop :]
    document = toml.parse(source)
    try:
        data: Any = tomllib.loads(source.decode())
    except ValueError:
        data = None
    for slot in document.slots():
        assert all(source[t.start : t.end] for t in slot.tokens)
    if data is not None and not document.errors:
        for path, value in leaves(data):
            slot_ = document.slot_at(path)
            assert slot_ is not None
            assert meaning(slot_.value, value) == value
