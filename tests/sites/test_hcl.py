"""HCL: paths of blocks and objects, literals of each type, tuples, and what is no literal."""

import json
import re
import time
from functools import partial
from typing import Any
from unicodedata import is_normalized

import hcl2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.sites import find
from pinctl.sites.base import BadSelector, Unwritable, write
from pinctl.sites.hcl import parse

from . import support
from .support import one

BAKE = rb"""# what is built
variable "TORCH_VERSION" {
  default = "2.13.0"   # release
}
variable "MAX_JOBS" { default = 16 }
variable "DEBUG" {
  default     = false
  description = null
}
target "_common" {
  dockerfile = "docker/Dockerfile"
  args = {
    TORCH   = TORCH_VERSION
    CUDA    = "13.0.2"
    "a.b"   : "c",
    (TORCH) = "no"
  }
  labels = { "org.image.source" = "https://example.org/x" }
}
target "wheel-cu13" {
  inherits = ["_common"]
  tags     = ["x:latest", "x:${TORCH_VERSION}"]
  platforms = [
    "linux/amd64", # first
    "linux/arm64",
  ]
  output = [{ type = "local", dest = "out" }, { name = "tar", dest = "x.tar" }]
  text = <<EOT
default = "${TORCH_VERSION}"
EOT
  a = "$${literal} 100%%{x} \"q\" \\ \u00e9"
  b = upper("x")
  c = DEBUG ? "yes" : "no"
  d = ["x", ["y"]]
}
terraform {
  required_providers { aws = { version = "5.1" } }
}
"""


named = partial(support.named, "hcl")
written = partial(support.written, "hcl")


def test_slots_of_a_bake_file() -> None:
    assert named(BAKE) == {
        "variable.TORCH_VERSION.default": "2.13.0",
        "variable.MAX_JOBS.default": "16",
        "variable.DEBUG.default": "false",
        "target._common.dockerfile": "docker/Dockerfile",
        "target._common.args.CUDA": "13.0.2",
        'target._common.args."a.b"': "c",
        'target._common.labels."org.image.source"': "https://example.org/x",
        "target.wheel-cu13.inherits": ("_common",),
        "target.wheel-cu13.tags.0": "x:latest",
        "target.wheel-cu13.platforms": ("linux/amd64", "linux/arm64"),
        "target.wheel-cu13.output.0.type": "local",
        "target.wheel-cu13.output.0.dest": "out",
        "target.wheel-cu13.output.1.name": "tar",
        "target.wheel-cu13.output.1.dest": "x.tar",
        "target.wheel-cu13.a": '${literal} 100%{x} "q" \\ \xe9',
        "target.wheel-cu13.d.0": "x",
        "target.wheel-cu13.d.1": ("y",),
        "terraform.required_providers.aws.version": "5.1",
    }
    assert parse(BAKE).errors == ()


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ('"variable".TORCH_VERSION."default"', "2.13.0"),
        ("target.wheel-cu13.platforms.1", "linux/arm64"),
        ("target.wheel-cu13.platforms[0]", "linux/amd64"),
        ("target.wheel-cu13.output[name=tar].dest", "x.tar"),
        ("target.wheel-cu13.output[type=local].dest", "out"),
        ("target.wheel-cu13.output[0].dest", "out"),
    ],
)
def test_selectors(selector: str, value: object) -> None:
    assert one(parse(BAKE), selector).value == value


@pytest.mark.parametrize("selector", ["variable.X.default", "target", "target.wheel-cu13.platforms.2", "a b.c"])
def test_selectors_that_find_nothing(selector: str) -> None:
    assert find(parse(BAKE), selector) == []


@pytest.mark.parametrize("selector", ["", ".a", "a.", "a..b", 'a."b', "a[b", "a[x=y]b", "a." * 200 + "b"])
def test_selectors_that_are_no_paths(selector: str) -> None:
    with pytest.raises(BadSelector, match="path of keys"):
        find(parse(BAKE), selector)


def test_blocks_of_one_name_are_ambiguous() -> None:
    document = parse(b'variable "A" { default = "1" }\nvariable A {\n  default = "2"\n}\n')
    assert [hit[0].value for hit in find(document, "variable.A.default")] == ["1", "2"]
    assert one(document, "variable.A.default#2").value == "2"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b'a = "1"\nb "c" {\n  d = "2"\n', {"a": "1"}),  # whose brace is missing?
        (b'a = "1"\n"k" = "v"\nc = "2"\n', {"c": "2"}),  # not a = "v"
        (b'a = "un\nb = "2"\n}\n', {}),
        (b'a = "x\\qy"\n', {}),
        (b"a = 1e+5\nb = 2\n", {}),
        (b'a = "$$${x}"\nb = "$$$${x}"\nc = "%%%%{if}"\nd = "2"\n', {"d": "2"}),
        (b'a = "\\ud800"\nb = "\\U00110000"\nc = "2"\n', {"c": "2"}),
        (b"a = -5\nb = (\"x\")\nc = \"x\".y\nd = [for x in y : \"z\"]\ne = {for x in y : x => \"z\"}\n", {}),
        (b'a = "%{if x}y%{endif}"\nb = ["${x}"]\n', {}),
        (b'"a" {}\n', {}),
        (b"", {}),
    ],
)  # fmt: skip
def test_what_is_no_literal(source: bytes, expected: dict[str, object]) -> None:
    assert named(source) == expected


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        (b'a = "1"', "2", b'a = "2"'),
        (b"a   =   16 # jobs\r\n", "8.5", b"a   =   8.5 # jobs\r\n"),
        (b"a = true", "false", b"a = false"),
        (b'a = "1"', '${X} %{if} "\\', b'a = "$${X} %%{if} \\"\\\\"'),
        (b'\xef\xbb\xbf# \xe2\x98\x83\r\n\ta = "\\u2603"', "\xe9", b'\xef\xbb\xbf# \xe2\x98\x83\r\n\ta = "\xc3\xa9"'),
        (b"a = []", ("x", "y"), b'a = ["x", "y"]'),
        (b"a = [1, 2]", ("1", "2", "3"), b"a = [1, 2, 3]"),
        (b'a = [\n  "x", # on x\n  # on y\n  "y",\n]', ("x", "z"), b'a = [\n  "x", # on x\n  # on y\n  "z",\n]'),
        (b'a = [\n  "x", # on x\n  # on y\n  "y",\n]', ("x",), b'a = [\n  "x", # on x\n  # on y\n]'),
        (b'a = [\n  "x", // on x\n  "y",\n]', ("x", "n", "y"), b'a = [\n  "x", // on x\n  "n",\n  "y",\n]'),
        (b'a = [\n  "x", # on x\n  "y", # on y\n]', ("x", "y", "n"), b'a = [\n  "x", # on x\n  "y", # on y\n  "n",\n]'),
        (b'a = [\r\n  "x",\r\n  "y"\r\n]', ("y",), b'a = [\r\n  "y"\r\n]'),
        (b'a = ["x", "y"]', (), b"a = []"),
    ],
)
def test_write(before: bytes, value: str | tuple[str, ...], after: bytes) -> None:
    assert written(before, "a", value) == after


@pytest.mark.parametrize(
    ("before", "value"),
    [
        (b"a = 16", "x"), (b"a = 16", "1e3"), (b"a = 16", "-1"), (b"a = 16", "016"), (b"a = true", "yes"),
        (b'a = "1"', "x\ny"), (b'a = "1"', "\x07"), (b'a = "1"', "$${x}"), (b'a = "1"', "%%{x}"),
        (b'a = "1"', "e\u0301"), (b'a = "1"', "\ud800"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(before: bytes, value: str) -> None:
    with pytest.raises(Unwritable):
        written(before, "a", value)


def meant(literal: str) -> str:
    """What python-hcl2 gives back, a quoted template as it stands, without its escapes."""
    return str(json.loads(literal.replace("$${", "${").replace("%%{", "%{")))


def test_python_hcl2_reads_back_what_was_written() -> None:
    source = b'target "t" {\n  args = { V = "1" }\n  tags = ["a", "b"]\n}\n'
    for value in ("2.0", '"', "\\", "${X}", "%{if true}", "$(c)", "`c`", "\N{SNOWMAN}", "a b", "$", "%", "$$", "{"):
        after = write(document := parse(source), one(document, "target.t.args.V"), value)
        after = write(document := parse(after), one(document, "target.t.tags"), ("a", value))
        read: Any = hcl2.loads(after.decode())["target"][0]['"t"']
        assert meant(read["args"]["V"]) == value
        assert [meant(tag) for tag in read["tags"]] == ["a", value]


characters = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.sampled_from('${}%"\\')
plain = st.text(characters).filter(lambda value: not re.search(r"\$\$+\{|%%+\{", value) and is_normalized("NFC", value))
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,5}", fullmatch=True).filter(
    lambda key: key not in ("true", "false", "null", "for", "if", "in", "endif", "else", "endfor")
)


def quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


@given(st.data(), st.lists(st.tuples(keys, plain | st.lists(plain, max_size=3)), min_size=1, max_size=4), keys)
def test_write_reads_back_and_moves_nothing_else(
    data: st.DataObject, pairs: list[tuple[str, str | list[str]]], label: str
) -> None:
    newline, remark = data.draw(st.sampled_from(["\n", "\r\n"])), data.draw(st.sampled_from(["", " # one", " // two"]))
    lines = [
        f"  {key} = {quoted(v) if isinstance(v, str) else '[' + ', '.join(map(quoted, v)) + ']'}{remark}"
        for key, v in pairs
    ]
    source = newline.join([f'target "{label}" {{', *lines, "}", 'last = "z"', ""]).encode()
    document = parse(source)
    slots = list(document.slots())
    assert [(s.selector, s.value) for s in slots] == [
        *((f"target.{label}.{key}", v if isinstance(v, str) else tuple(v)) for key, v in pairs), ("last", "z"),
    ]  # fmt: skip
    at = data.draw(st.integers(0, len(slots) - 1))
    new: Any = data.draw(st.lists(plain, max_size=3).map(tuple) if slots[at].many else plain)
    after = write(document, slots[at], new)
    assert after.startswith(source[: slots[at].start])
    assert after.endswith(source[slots[at].end :])
    expected = [(s.selector, new if n == at else s.value) for n, s in enumerate(slots)]
    assert [(s.selector, s.value) for s in parse(after).slots()] == expected


gaps = st.sampled_from(["", " ", "\n", "\n  ", " # own\n", "\n  // own\n  ", " /* in */ ", "/* two\n */", "\r\n\t"])
spaced = st.lists(st.tuples(gaps, st.sampled_from("abc"), gaps), max_size=4)


@given(spaced, st.booleans(), gaps, st.lists(st.sampled_from("abcd")))
def test_lists_between_comments(elements: list[tuple[str, str, str]], comma: bool, last: str, new: list[str]) -> None:
    inner = ",".join(f'{before}"{word}"{behind}' for before, word, behind in elements)
    source = f'a = [{inner}{"," if comma and elements else ""}{last}]\nz = "q"'.encode()
    after = written(source, "a", tuple(new))
    assert (named(after), parse(after).errors) == ({"a": tuple(new), "z": "q"}, ())
    assert after.endswith(b']\nz = "q"')


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_crash_the_reader(source: bytes) -> None:
    for slot in parse(source).slots():
        assert source[slot.start : slot.end]


@given(st.data(), st.integers(0, len(BAKE) - 1), st.integers(0, 9))
def test_no_damage_crashes_the_reader(data: st.DataObject, at: int, cut: int) -> None:
    patch = data.draw(st.sampled_from([b"", b'"', b"{", b"}", b"[", b"${", b"\\", b"/*", b"\xff", b"<<E\n", b"\n"]))
    source = BAKE[:at] + patch + BAKE[at + cut :]
    document = parse(source)
    for slot in document.slots():
        for token in slot.tokens:
            assert not any(a < token.end and token.start < b for a, b in document.errors)
            raw = source[token.start : token.end].decode("utf-8")
            assert (meant(raw) if token.style == "string" else raw) == token.value


@pytest.mark.parametrize(
    "source",
    [b"{" * 100_000, b"a {\n" * 50_000, b"a = " + b"[" * 100_000 + b"]" * 100_000, b'a = "' + b"${" * 20_000],
)
def test_deep_nesting_is_read_in_good_time(source: bytes) -> None:
    start = time.process_time()
    assert list(parse(source).slots()) == []
    assert time.process_time() - start < 10
