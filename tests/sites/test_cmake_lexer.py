"""The lexer against hand-written shapes, the manual's rules, real CMake and tree-sitter's grammar."""

import itertools
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.sites.base import Unwritable
from pinctl.sites.cmake_lexer import BARE, BRACKET, PAREN, QUOTED, Arg, check, lex, pieces, quote, text, variable

needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def raws(source: bytes) -> list[tuple[str, list[bytes]]]:
    calls, errors = lex(source)
    assert errors == []
    return [(call.name, [source[arg.start : arg.end] for arg in call.args]) for call in calls]


def kinds(source: bytes) -> list[str]:
    return [arg.kind for arg in lex(source)[0][0].args]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b" a\n\tb \r\n c ", [b"a", b"b", b"c"]),
        (b'"a b" [[c d]] [=[ ]] ]=]', [b'"a b"', b"[[c d]]", b"[=[ ]] ]=]"]),
        (b'"a\\"b" "\\\\" "l1\\\nl2"', [b'"a\\"b"', b'"\\\\"', b'"l1\\\nl2"']),
        (b'a # comment ) "\n b', [b"a", b"b"]),
        (b"a #[[ bracket ) \n comment ]] b", [b"a", b"b"]),
        (b"a#c\nb", [b"a", b"b"]),
        (b"a\\#c\\ d\\(", [b"a\\#c\\ d\\("]),
        (b"NOT (A OR (B))", [b"NOT", b"(", b"A", b"OR", b"(", b"B", b")", b")"]),
        (b'-Da="b c" a" "b"c"d $(MAKE) x$(Y)z', [b'-Da="b c"', b'a" "b"c"d', b"$(MAKE)", b"x$(Y)z"]),
        (b'a"b c\nd"', [b"a", b'"b c\nd"']),
        (b'"a""b"c', [b'"a"', b'"b"', b"c"]),
        (b"[ [= [a] a[0] x=[y] =", [b"[", b"[", b"=", b"[a]", b"a[0]", b"x=[y]", b"="]),
        (b"a;b ${X}/y $ENV{Z} $<C:d>", [b"a;b", b"${X}/y", b"$ENV{Z}", b"$<C:d>"]),
        ("é \U0001f600".encode(), ["é".encode(), "\U0001f600".encode()]),
    ],
)
def test_arguments(arguments: bytes, expected: list[bytes]) -> None:
    assert raws(b"f(" + arguments + b")") == [("f", expected)]


def test_kinds_of_arguments() -> None:
    assert kinds(b'f(a "b" [[c]] (d) [)') == [BARE, QUOTED, BRACKET, PAREN, BARE, PAREN, BARE]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_commands_of_a_file(end: bytes, bom: bytes) -> None:
    lines = [b"# comment", b"SET (X a)  # why", b"", b"#[=[ many", b"lines ]=]", b"\tfoo_1(", b"  b", b")"]
    assert raws(bom + end.join(lines)) == [("set", [b"X", b"a"]), ("foo_1", [b"b"])]


@pytest.mark.parametrize(
    ("source", "errors", "names"),
    [
        (b"<<<<<<< HEAD\nset(X a)\n", [b"<<<<<<< HEAD\n"], ["set"]),
        (b"@PACKAGE_INIT@\nset(X a)", [b"@PACKAGE_INIT@\n"], ["set"]),
        (b"set(X a) garbage\nset(Y b)\n", [b"garbage\n"], ["set", "set"]),
        (b"set(X a) set(Y b)\nset(Z c)\n", [b"set(Y b)\n"], ["set", "set"]),
        (b"set\n(X a)\n", [b"set\n", b"(X a)\n"], []),
        (b"set(X a)\nset(Y b\nset(Z c)\n", [b"set(Y b\nset(Z c)\n"], ["set"]),
        (b'set(X "a)\nset(Y b)', [b'set(X "a)\nset(Y b)'], []),
        (b"set(X [[a)\nset(Y b)", [b"set(X [[a)\nset(Y b)"], []),
        (b"#[[ open\nset(Y b)", [b"#[[ open\nset(Y b)"], []),
        (b"set(X a\0b)\nset(Y b)", [b"set(X a\0b)\nset(Y b)"], []),
    ],
)
def test_what_is_no_cmake_is_told_and_the_rest_read(source: bytes, errors: list[bytes], names: list[str]) -> None:
    calls, spans = lex(source)
    assert [source[a:b] for a, b in spans] == errors
    assert [call.name for call in calls] == names


@pytest.mark.parametrize(
    ("raw", "value", "literal"),
    [
        (b"a", "a", True),
        (b'"a\\"b\\\\c\\$\\{d"', 'a"b\\c${d', True),
        (b'"a\\tb\\nc"', "a\tb\nc", True),
        (b'"one \\\ntwo"', "one two", True),
        (b'"one \\\r\ntwo\r\nthree"', "one two\nthree", True),
        (b'"a\\;b"', "a\\;b", True),
        (b"[[\na ${b} \\n]]", "a ${b} \\n", True),
        (b"[==[]]]==]", "]]", True),
        (b'"${X}/y"', "${X}/y", False),
        (b"$ENV{X}", "$ENV{X}", False),
        (b"$CACHE{X}", "$CACHE{X}", False),
        (b"@X@", "@X@", False),
        (b"git@host", "git@host", True),
        (b"$<TARGET:x>", "$<TARGET:x>", False),
        (b'"\\$<x>"', "$<x>", False),
        (b'"\\q"', "q", False),
        (b"$ $x $(y)", "$", True),
    ],
)
def test_text(raw: bytes, value: str, literal: bool) -> None:
    source = b"f(" + raw + b")"
    assert text(source, lex(source)[0][0].args[0]) == (value, literal)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"a;b", [b"a", b"b"]),
        (b'"a;b"', [b"a", b"b"]),
        (b'"a;;b;"', [b"a", b"b"]),
        (b'"a\\;b"', [b'"a\\;b"']),
        (b"${a;b}x", [b"${a;b}x"]),
        (b"x[a;b]", [b"x[a;b]"]),
        (b"[[a;b]]", [b"[[a;b]]"]),
        (b'"${A};${B}/c"', [b"${A}", b"${B}/c"]),
    ],
)
def test_pieces_of_a_list(raw: bytes, expected: list[bytes]) -> None:
    source = b"f(" + raw + b")"
    assert [source[a:b] for a, b in pieces(source, lex(source)[0][0].args[0])] == expected


@pytest.mark.parametrize(
    ("raw", "name"), [(b"${X}", "X"), (b'"${X_1}"', "X_1"), (b"${X}a", None), (b"$ENV{X}", None), (b"[[${X}]]", None)]
)
def test_variable(raw: bytes, name: str | None) -> None:
    source = b"f(" + raw + b")"
    assert variable(source, lex(source)[0][0].args[0]) == name


# --- against CMake itself ----------------------------------------------------------------------------------------

SHOW = """
function(show)
  math(EXPR last "${ARGC} - 1")
  set(line "=")
  if(ARGC GREATER 0)
    foreach(i RANGE ${last})
      string(HEX "${ARGV${i}}" hex)
      string(APPEND line " ${hex}")
    endforeach()
  endif()
  message(STATUS "${line}")
endfunction()
"""


def cmake(tmp_path: Path, script: str | bytes) -> list[list[str]]:
    """What each `show(...)` of a script was given, by `cmake -P`."""
    file = tmp_path / "script.cmake"
    head = "cmake_minimum_required(VERSION 3.16)\n" + SHOW
    file.write_bytes(head.encode() + (script.encode() if isinstance(script, str) else script))
    run = subprocess.run(["cmake", "-P", str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stdout.splitlines() if line.startswith("-- =")]
    return [[bytes.fromhex(word).decode() for word in line[4:].split(" ")[1:]] for line in lines]


def arguments(source: bytes) -> list[list[str]]:
    """What we think that the commands of a file without references are given."""
    calls, errors = lex(source)
    assert errors == []
    return [[value for arg in call.args for value in _given(source, arg)] for call in calls]


def _given(source: bytes, arg: Arg) -> list[str]:
    spans = pieces(source, arg) if arg.kind == BARE else [(arg.start, arg.end)]
    return [text(source, Arg(start, end, arg.kind)).value for start, end in spans if start < end]


words = st.text("ab1é/.-_=:'[]{}<>+", min_size=1, max_size=6)
inside = st.text(st.sampled_from("ab é;#()'[]={}\n"), max_size=8)
escapes = st.sampled_from(['\\"', "\\\\", "\\$", "\\t", "\\n", "\\\n", "\\ ", "\\(", "\\#"])
quoted = st.lists(inside | escapes, max_size=3).map(lambda parts: '"' + "".join(parts) + '"')
bare = st.lists(words | st.sampled_from(["\\ ", "\\(", "\\#", '\\"', "\\$", "$(M)", '"c d"']), min_size=1, max_size=4)
bracket = (
    st.tuples(st.sampled_from(["", "=", "=="]), inside)
    .filter(lambda pair: f"]{pair[0]}]" not in f"{pair[1]}]{pair[0]}")
    .map(lambda pair: f"[{pair[0]}[{pair[1]}]{pair[0]}]")
)
gaps = st.sampled_from([" ", "\n", "\t ", ' # a ( " comment\n', " #[=[ ]] ) ]=] ", "\r\n"])
argument = quoted | bare.map("".join) | bracket | st.just("(x (y))")


@st.composite
def shows(draw: st.DrawFn) -> str:
    """A `show(...)` with arguments of every kind, without references."""
    parts = draw(st.lists(st.tuples(gaps, argument), max_size=5))
    return "show(" + "".join(gap + word for gap, word in parts) + draw(gaps) + ")" + draw(st.sampled_from(["", " # x"]))


def _sound(show: str) -> bool:
    """Whether it is one whole command for our lexer, and no list whose square brackets CMake would count."""
    calls, errors = lex(show.encode())
    source = show.encode()
    lists = (source[a.start : a.end] for call in calls for a in call.args if a.kind == BARE)
    return len(calls) == 1 and not errors and not any(b";" in raw and b"[" in raw for raw in lists)


@needs_cmake
@settings(max_examples=12, deadline=None)
@given(st.lists(shows().filter(_sound), min_size=12, max_size=30))
def test_cmake_is_given_the_same_arguments(tmp_path_factory: pytest.TempPathFactory, calls: list[str]) -> None:
    source = "\n".join(calls)
    assert cmake(tmp_path_factory.mktemp("c"), source) == arguments(source.encode())


@settings(max_examples=60)
@given(st.lists(shows().filter(_sound), max_size=6))
def test_tree_sitter_sees_the_same_commands(calls: list[str]) -> None:
    """Where it can: it misreads brackets and does not know every legacy argument."""
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip("tree_sitter_cmake")
    source = "\n".join(call for call in calls if "[" not in call).encode() + b"\n"
    root = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(source).root_node
    if not root.has_error:
        commands = [node.start_byte for node in root.children if node.type == "normal_command"]
        assert commands == [call.start for call in lex(source)[0]]


# --- any input ------------------------------------------------------------------------------------------------------

SHAPES = b'set(X "a;b" CACHE STRING "d")\nf(a [=[b]=] ${c} $ENV{D} # e\n (g)) #[[ h ]]\r\n@i@\n'


@settings(max_examples=200)
@given(st.binary(max_size=60), st.integers(0, len(SHAPES)), st.integers(0, 8))
def test_no_input_crashes_the_lexer(junk: bytes, at: int, drop: int) -> None:
    for source in (junk, SHAPES[:at] + junk + SHAPES[at + drop :]):
        calls, errors = lex(source)
        edges = sorted([(call.start, call.end) for call in calls] + errors)
        assert all(0 <= a < b <= len(source) for a, b in edges)
        assert all(left[1] <= right[0] for left, right in itertools.pairwise(edges))
        for arg in (arg for call in calls for arg in call.args):
            assert text(source, arg).value is not None
            assert all(arg.start <= a < b <= arg.end for a, b in pieces(source, arg))


@pytest.mark.parametrize(
    "source",
    [
        b"f(" * 50_000, b"f(" + b"(" * 100_000 + b")" * 100_000 + b")", b"{" * 100_000, b"#[[\n" * 50_000,
        b"f([=[" * 30_000, b'f(a"' * 50_000, b"f()" * 50_000, b"f(" + b"[=" * 50_000, b"[[" * 50_000,
        b"f(" + b'a"b"' * 40_000 + b")", b"f(" + b"\\" * 100_001 + b")", b"f(\n" * 40_000,
    ],
    ids=range(12),
)  # fmt: skip
def test_hostile_nesting_takes_no_time(source: bytes) -> None:
    began = time.process_time()
    calls, _ = lex(source)
    for call in calls:
        for arg in call.args[:10]:
            text(source, arg)
            pieces(source, arg)
    assert time.process_time() - began < 2


# --- writing --------------------------------------------------------------------------------------------------------

hostile = st.text(st.sampled_from("ab/\\\"$(){}[]=;#@ '`é<>ENV\n\t.") | st.characters(codec="utf-8"), max_size=12)


def _accepted(value: str) -> bool:
    try:
        check(value, ())
    except Unwritable:
        return False
    return True


@settings(max_examples=200)
@given(hostile.filter(_accepted), st.sampled_from([BARE, QUOTED, BRACKET]))
def test_what_is_quoted_is_read_back(value: str, kind: str) -> None:
    source = b"f(" + quote(value, kind) + b")"
    (call,), errors = lex(source)
    assert errors == []
    assert text(source, call.args[0]) == (value, True)
    assert len(call.args) == 1


@needs_cmake
@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(hostile, st.sampled_from([BARE, QUOTED, BRACKET])), min_size=20, max_size=60))
def test_cmake_reads_back_what_is_quoted(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[str, str]]
) -> None:
    accepted = [(value, kind) for value, kind in values if _accepted(value)]
    lines = [b"set(X " + quote(value, kind) + b' end)\nset(X "${X}")\nshow(${X})\n' for value, kind in accepted]
    expected = [[value, "end"] if value else ["end"] for value, _ in accepted]
    assert cmake(tmp_path_factory.mktemp("c"), b"".join(lines)) == expected


@pytest.mark.parametrize(
    "value",
    ["a\nb", "a\tb", "\0", "\x7f", "\x85", "\ud800", "a;b", "$<X>", "@X@", "a\\", "[", "]", "a[b", "[]]", "[]=", "KEY"],
)
def test_values_that_cmake_would_change_are_refused(value: str) -> None:
    with pytest.raises(Unwritable):
        check(value, {"KEY"})


@pytest.mark.parametrize(
    ("value", "kind", "references", "expected"),
    [
        ("v1.2", BARE, (), b"v1.2"),
        ("a b", BARE, (), b'"a b"'),
        ("", BARE, (), b'""'),
        ("RELEASE", BARE, (), b'"RELEASE"'),
        ("OFF", BARE, (), b"OFF"),
        ("a$b", QUOTED, (), b'"a\\$b"'),
        ("*.[ch]", BRACKET, (), b"[=[*.[ch]]=]"),
        ("${A}/x", QUOTED, ("${A}",), b'"${A}/x"'),
        ("${A}/x", BARE, ("${A}",), b"${A}/x"),
        ("${A}/${B}", BARE, ("${A}",), b'"${A}/\\${B}"'),
        ("${A}/x", BRACKET, ("${A}",), b'"${A}/x"'),
    ],
)
def test_quoting(value: str, kind: str, references: tuple[str, ...], expected: bytes) -> None:
    assert quote(value, kind, references) == expected
