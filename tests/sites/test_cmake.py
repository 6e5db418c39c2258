"""CMake sites: real shapes, re-written by hand and reduced; what is written is read back by CMake."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.plan import apply
from pinctl.sites import find
from pinctl.sites.base import BadSelector, Hit, Slot, Unwritable, Value, write
from pinctl.sites.cmake import COMMENT, NAME, parse

needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")

OLD, NEW = "8b1392b978f5a03c828dd1711090d7fb50958b8a", "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
GEMM = f"""\
include(FetchContent)
if(LOCAL_DIR)
  FetchContent_Declare(gemm SOURCE_DIR ${{LOCAL_DIR}})
else()
  # Keep in sync with tools/install.sh
  set(_REPO "https://github.com/example/Gemm.git")
  set(_TAG "{OLD}")  # tip of dev
  FetchContent_Populate(
    gemm
    SUBBUILD_DIR "${{_root}}/gemm-subbuild"
    GIT_REPOSITORY "${{_REPO}}"
    # what we build
    GIT_TAG "${{_TAG}}"
    GIT_SUBMODULES "third-party/cutlass" "third-party/fmt"
    GIT_PROGRESS TRUE
  )
endif()
file(GLOB_RECURSE _headers
  "${{gemm_SOURCE_DIR}}/csrc/*.h"
  "${{gemm_SOURCE_DIR}}/include/*.hpp"
  "${{gemm_SOURCE_DIR}}/include/*.cuh")
"""


def values(text: str | bytes, selector: str) -> list[Value | dict[str, list[Value]]]:
    """What a selector finds: for each hit its value, or the values of its parts."""
    document = parse(text.encode() if isinstance(text, str) else text)
    assert document.errors == ()
    return [_shape(hit) for hit in document.find(selector)]


def _shape(hit: Hit) -> Value | dict[str, list[Value]]:
    if not hit[0].part:
        assert len(hit) == 1
        return hit[0].value
    return {part: [slot.value for slot in hit if slot.part == part] for part in dict.fromkeys(s.part for s in hit)}


def written(text: str, selector: str, value: Value, part: str = "") -> str:
    document = parse(text.encode())
    (hit,) = document.find(selector)
    (slot,) = (slot for slot in hit if slot.part == part)
    after = write(document, slot, value)
    expected = (value,) if slot.many and isinstance(value, str) else value
    if not selector.endswith("]") and slot.many and len(expected) < 2 and not slot.part:
        selector += "[]"
    assert expected in [s.value for hit in parse(after).find(selector) for s in hit if s.part == part]
    return after.decode()


def changed(text: str, selector: str, value: Value, part: str = "") -> list[str]:
    """The lines that a write takes out (-) and puts in (+)."""
    import difflib

    lines = difflib.ndiff(text.splitlines(), written(text, selector, value, part).splitlines())
    return [line[0] + line[2:] for line in lines if line[0] in "+-"]


# --- reading -----------------------------------------------------------------------------------------------------


def test_a_call_through_its_variables() -> None:
    assert values(GEMM, "FetchContent(gemm)") == [
        {
            "repo": ["https://github.com/example/Gemm.git"],
            "ref": [OLD],
            "submodules": [("third-party/cutlass", "third-party/fmt")],
        }
    ]
    assert values(GEMM, "set(_TAG)") == [OLD]
    assert values(GEMM, "GIT_TAG") == values(GEMM, "FetchContent_Populate(gemm).GIT_TAG") == [OLD]


def test_names_are_canonical_and_parts_come_first() -> None:
    slots = list(parse(GEMM.encode()).slots())
    assert [(slot.selector, slot.part) for slot in slots if OLD in slot.value] == [
        ("FetchContent(gemm)", "ref"),
        ("set(_TAG)", ""),
        ("FetchContent_Populate(gemm).GIT_TAG", ""),
    ]
    assert (NAME, COMMENT) == ("cmake", ("# ", ""))


@pytest.mark.parametrize(
    ("text", "selector", "expected"),
    [
        ('set(X "v")', "set(X)", ["v"]),
        ("SET (X v)", "set(X)", ["v"]),
        ("set(X v)", "SET(X)", ["v"]),
        ('set(X "v" CACHE STRING "doc")', "set(X)", ["v"]),
        ('set(X "v" CACHE STRING "doc" FORCE)', "set(X)", ["v"]),
        ("set(X v PARENT_SCOPE)", "set(X)", ["v"]),
        ("set(ENV{X} v)", "set(ENV{X})", ["v"]),
        ("set(X [=[v]=])", "set(X)", ["v"]),
        ('set(X "a\\\nb")', "set(X)", ["ab"]),
        ("set(X a b c)", "set(X)", [("a", "b", "c")]),
        ('set(X "a;b")', "set(X)", [("a", "b")]),
        ("set(X a b CACHE STRING doc)", "set(X)", [("a", "b")]),
        ("set(X a # one\n b)", "set(X)", [("a", "b")]),
        ("set(X v)", "set(X)[]", [("v",)]),
        ('set(X "")', "set(X)[]", [()]),
        ('set(X "")', "set(X)", [""]),
        ("set(X)", "set(X)", []),
        ("set(X ${Y})", "set(X)", []),
        ("set(X ${Y}/z)", "set(X)", []),
        ("set(X $ENV{Y})", "set(X)", []),
        ("set(X ${A}/b ${A}/c)", "set(X)", [("${A}/b", "${A}/c")]),
        ("set(X a)\nset(X b)", "set(X)", ["a", "b"]),
        ('option(X "doc" ON)', "option(X)", ["ON"]),
        ("list(APPEND X a ${b})\nlist(LENGTH X n)", "list(X)", [("a", "${b}")]),
        ("list(APPEND X a)\nlist(PREPEND X b)", "list(X)", [("a",), ("b",)]),
        ("file(GLOB X CONFIGURE_DEPENDS a/*.h)", "file(X)", [("a/*.h",)]),
        ('file(GLOB_RECURSE X RELATIVE ${d} "b/*.h" c)', "file(X)", [("b/*.h", "c")]),
        ("file(GLOB X LIST_DIRECTORIES false a)", "file(X)", [("a",)]),
        ("file(DOWNLOAD u f EXPECTED_HASH SHA256=ab)", "file(DOWNLOAD).EXPECTED_HASH", ["SHA256=ab"]),
        ("include_directories(SYSTEM a ${b}/c)", "include_directories", [("a", "${b}/c")]),
        ("target_include_directories(t PRIVATE a PUBLIC b c)", "target_include_directories(t)", [("a", "b", "c")]),
        ("target_include_directories(t PRIVATE a PUBLIC b c)", "target_include_directories(t).PUBLIC", [("b", "c")]),
        ("project(p VERSION 1.2 LANGUAGES CXX)", "project(p).VERSION", ["1.2"]),
        ("vcpkg_from_github(OUT_SOURCE_PATH S REPO o/r REF 1 SHA512 ab)", "vcpkg_from_github(r).REF", ["1"]),
        ("vcpkg_from_github(OUT_SOURCE_PATH S REPO o/r REF 1 SHA512 ab)", "vcpkg_from_github(o/r).SHA512", ["ab"]),
        ("vcpkg_from_github(OUT_SOURCE_PATH S REPO o/r REF 1\nPATCHES a.patch)", "PATCHES", [("a.patch",)]),
        ("f(x REF V12)", "f(x).REF", ["V12"]),
        ("f(x QUIET REF 1)", "f(x).REF", ["1"]),
        ("f(x DEPS a b)", "f(x).DEPS", [("a", "b")]),
        ("set(R 2)\nf(x REF ${R})", "f(x).REF", ["2"]),
        ("set(S 3)\nset(R ${S})\nf(x REF ${R})", "f(x).REF", ["3"]),
        ("set(S ${R})\nset(R ${S})\nf(x REF ${R})", "f(x).REF", []),
        ("set(R 2)\nf(x REF v${R})", "f(x).REF", []),
        ("if(${V} VERSION_LESS 12.3)\nendif()", "if(${V}).VERSION_LESS", ["12.3"]),
        ("f(x REF (a))", "f(x).REF", []),
    ],
)  # fmt: skip
def test_values(text: str, selector: str, expected: list[Value]) -> None:
    assert values(text, selector) == expected


URL = "URL https://h/x-1.2.tar.gz URL_HASH SHA256=ab"


@pytest.mark.parametrize(
    ("text", "selector", "expected"),
    [
        ("FETCHCONTENT_DECLARE(x GIT_REPOSITORY r GIT_TAG t)", "fetchcontent(x)", [{"repo": ["r"], "ref": ["t"]}]),
        ("FetchContent_Declare(x GIT_REPOSITORY r GIT_TAG t)", "FetchContent(X)", []),
        (f"FetchContent_Declare(x {URL})", "FetchContent(x)",
         [{"url": ["https://h/x-1.2.tar.gz"], "hash": ["SHA256=ab"]}]),
        ("FetchContent_Declare(x URL a b)", "FetchContent(x)", [{"url": [("a", "b")]}]),
        ("FetchContent_Declare(x GIT_TAG t)\nFetchContent_Populate(x)", "FetchContent(x)", [{"ref": ["t"]}]),
        ("FetchContent_Declare(x SOURCE_DIR d)", "FetchContent(x)", []),
        ("FetchContent_Declare(x GIT_TAG a)\nFetchContent_Declare(x GIT_TAG b)", "FetchContent(x)",
         [{"ref": ["a"]}, {"ref": ["b"]}]),
        ("ExternalProject_Add(x GIT_REPOSITORY r)", "ExternalProject(x)", [{"repo": ["r"]}]),
        ("CPMAddPackage(NAME x GITHUB_REPOSITORY o/x GIT_TAG 1)", "CPMAddPackage(x)",
         [{"repo": ["https://github.com/o/x"], "ref": ["1"]}]),
        ('CPMAddPackage("gh:o/r#v1")', "CPMAddPackage(o/r)", [{"repo": ["https://github.com/o/r"], "ref": ["v1"]}]),
        ('CPMAddPackage("gl:o/r@1.2#v1")', "CPMAddPackage(r)", [{"repo": ["https://gitlab.com/o/r"], "ref": ["v1"]}]),
        ("CPMAddPackage(bb:o/r@1.2)", "CPMAddPackage(o/r)",
         [{"repo": ["https://bitbucket.org/o/r"], "ref": ["v1.2"]}]),
        ('CPMAddPackage(URI "https://h/o/r.git@1.2" OPTIONS "A ON")', "CPMAddPackage(o/r)",
         [{"repo": ["https://h/o/r"], "ref": ["v1.2"]}]),
        ('CPMAddPackage("gh:o/r@${V}")', "CPMAddPackage(o/r)", []),
        ("FetchContent_Declare(x GIT_TAG t GIT_SUBMODULES a b)", "FetchContent(x)",
         [{"ref": ["t"], "submodules": [("a", "b")]}]),
        ('FetchContent_Declare(x GIT_SUBMODULES "a;b")', "FetchContent(x)", [{"submodules": [("a", "b")]}]),
        ('FetchContent_Declare(x GIT_SUBMODULES "" GIT_TAG t)', "FetchContent(x)",
         [{"submodules": [()], "ref": ["t"]}]),
        ("FetchContent_Declare(x GIT_SUBMODULES GIT_TAG t)", "FetchContent(x)", [{"ref": ["t"]}]),
        ("set(S a b)\nFetchContent_Declare(x GIT_SUBMODULES ${S})", "FetchContent(x)", [{"submodules": [("a", "b")]}]),
        ("FetchContent_Declare(x GIT_SUBMODULES ${S} c)", "FetchContent(x)", []),
    ],
)  # fmt: skip
def test_compound_values(text: str, selector: str, expected: list[dict[str, list[Value]]]) -> None:
    assert values(text, selector) == expected


def test_a_variable_set_twice_is_two_candidates_of_one_part() -> None:
    text = """\
if(ROCM)
  set(GIT "https://github.com/a/t.git")
  set(TAG "0f380657dbf3ee86eb57558ff71df24f03b5d4e7")
else()
  set(GIT "https://github.com/b/t.git")
  set(TAG "v3.5.1")
endif()
FetchContent_Declare(
        kernels
        # TODO: fetch one directory
        GIT_REPOSITORY ${GIT}
        GIT_TAG ${TAG}
)
"""
    (hit,) = values(text, "FetchContent(kernels)")
    assert hit == {
        "repo": ["https://github.com/a/t.git", "https://github.com/b/t.git"],
        "ref": ["0f380657dbf3ee86eb57558ff71df24f03b5d4e7", "v3.5.1"],
    }
    assert [hit[0].value for hit in find(parse(text.encode()), "set(TAG)#2")] == ["v3.5.1"]


@pytest.mark.parametrize(
    "other",
    [
        "string(APPEND V x)", "set(V ${V}b)", "string(REPLACE a b V ${V})", "string(TOUPPER ${V} V)",
        "math(EXPR V 1+1)", "list(APPEND V b)", 'list(APPEND "V" b)', "list(TRANSFORM V APPEND b)", "file(READ x V)",
        "unset(V)", "execute_process(COMMAND id OUTPUT_VARIABLE V)", "set(V b PARENT_SCOPE)", "option(V doc ON)",
        "mine(V)",
        "function(f V)\nendfunction()", "macro(m V)\nendmacro()", "foreach(V a b)\nendforeach()", "set(V)",
        "set(V $ENV{V})", "set(V ${UNKNOWN})", "function(f)\n  set(V b)\nendfunction()",
        "block()\n  set(V b)\nendblock()",
    ],
)  # fmt: skip
def test_a_variable_that_something_else_writes_is_not_followed(other: str) -> None:
    call = "FetchContent_Declare(x URL u GIT_TAG ${V} GIT_SUBMODULES ${V})\n"
    plain = {"url": ["u"], "ref": ["a"], "submodules": [("a",)]}
    assert values("set(V a)\n" + call, "FetchContent(x)") == [plain]
    for text in (f"set(V a)\n{other}\n{call}", f"set(V a)\n{call}{other}\n"):
        assert values(text, "FetchContent(x)") == [{"url": ["u"]}]
        assert values(text, "set(V)")[0] == "a"


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ('set(V a)\nif(V STREQUAL "x")\n  message(STATUS V)\nendif()\nf(x REF ${V})', True),
        ("if(A)\nelse()\n  set(V a)\n  f(x REF ${V})\nendif()", True),
        ("set(V a CACHE STRING doc)\nmark_as_advanced(V)\nf(x REF ${V})", True),
        ("set(GIT_TAG a)\nFetchContent_Declare(k GIT_TAG ${GIT_TAG})\nf(x REF ${GIT_TAG})", True),
        ("function(g)\n  set(V a)\n  f(x REF ${V})\nendfunction()", True),
        ("set(V a)\nfunction(g)\n  f(x REF ${V})\nendfunction()", True),
        ("f(x REF ${V})\nset(V a)", False),
        ("function(g)\n  set(V a)\nendfunction()\nf(x REF ${V})", False),
        ("function(g)\n  set(V a)\nendfunction()\nfunction(h)\n  f(x REF ${V})\nendfunction()", False),
        ('set(ARG_V a)\ncmake_parse_arguments(ARG "" V "" ${ARGN})\nf(x REF ${ARG_V})', False),
    ],
)
def test_a_variable_is_followed_to_what_is_in_force(text: str, followed: bool) -> None:
    assert values(text, "f(x).REF") == (["a"] if followed else [])


@pytest.mark.parametrize("selector", ["set", "fetch", "a b", "set(X", "set(X).lower", "/x", "x[]", ""])
def test_what_is_no_selector(selector: str) -> None:
    with pytest.raises(BadSelector, match="set\\(NAME\\)"):
        parse(b"set(X v)").find(selector)


def test_errors_leave_the_rest_exact() -> None:
    document = parse(b"set(X a)\n=======\nset(Y b)\nset(Z c")
    assert [slot.value for slot in document.slots()] == ["a", "b"]
    assert document.errors == ((9, 17), (26, 33))


# --- writing -----------------------------------------------------------------------------------------------------


def test_a_bump_changes_what_a_careful_person_would() -> None:
    assert changed(GEMM, "FetchContent(gemm)", NEW, "ref") == [
        f'-  set(_TAG "{OLD}")  # tip of dev',
        f'+  set(_TAG "{NEW}")  # tip of dev',
    ]
    assert changed(GEMM, "FetchContent(gemm)", ("third-party/cutlass", "third-party/deep_jit"), "submodules") == [
        '-    GIT_SUBMODULES "third-party/cutlass" "third-party/fmt"',
        '+    GIT_SUBMODULES "third-party/cutlass" "third-party/deep_jit"',
    ]
    globs = ("${gemm_SOURCE_DIR}/csrc/*.h", "${gemm_SOURCE_DIR}/jit/*.hpp", "${gemm_SOURCE_DIR}/include/*.hpp")
    assert changed(GEMM, "file(_headers)", globs) == [
        '+  "${gemm_SOURCE_DIR}/jit/*.hpp"',
        '-  "${gemm_SOURCE_DIR}/include/*.hpp"',
        '+  "${gemm_SOURCE_DIR}/include/*.hpp")',
        '-  "${gemm_SOURCE_DIR}/include/*.cuh")',
    ]


@pytest.mark.parametrize(
    ("text", "selector", "value", "expected"),
    [
        ('set(X "v")', "set(X)", "w", 'set(X "w")'),
        ("set(X v)", "set(X)", "w", "set(X w)"),
        ("set(X v)", "set(X)", "a b", 'set(X "a b")'),
        ("set(X [=[v]=])", "set(X)", "*.[ch]", "set(X [=[*.[ch]]=])"),
        ("option(X d ON)", "option(X)", "OFF", "option(X d OFF)"),
        ("set(X a\n  b\n  c)", "set(X)", ("a", "c"), "set(X a\n  c)"),
        ("set(X a b)", "set(X)", ("a",), "set(X a)"),
        ("set(X a b)", "set(X)", ("a", "b", "c d"), 'set(X a b "c d")'),
        ('set(X "a" "b")', "set(X)", ("z", "a", "b"), 'set(X "z" "a" "b")'),
        ('set(X "a;b")', "set(X)", ("a", "b", "c"), 'set(X "a;b;c")'),
        ('set(X "a;b;c")', "set(X)", ("b",), 'set(X "b")'),
        ("set(X a;b)", "set(X)", ("c", "b"), "set(X c;b)"),
        ('set(X "a;b")', "set(X)", (), 'set(X "")'),
        ('set(X "")', "set(X)[]", ("a", "b"), 'set(X "a" "b")'),
        ('set(X "a")', "set(X)[]", ("a", "b"), 'set(X "a" "b")'),
        ("set(X a\r\n  b\r\n)", "set(X)", ("a", "b", "c"), "set(X a\r\n  b\r\n  c\r\n)"),
        ("set(X\r\n  a\r\n)", "set(X)[]", ("a", "b"), "set(X\r\n  a\r\n  b\r\n)"),
        ("set(X a\n\n  b)", "set(X)", ("a", "b", "c"), "set(X a\n\n  b\n  c)"),
        ("file(GLOB X\n  a # one\n  # two\n  b)", "file(X)", ("a", "c"), "file(GLOB X\n  a # one\n  # two\n  c)"),
        ("file(GLOB X\n  a # one\n  # two\n  b)", "file(X)", ("b",), "file(GLOB X\n  # two\n  b)"),
        ("file(GLOB X\n  a # one\n  # two\n  b)", "file(X)", ("a",), "file(GLOB X\n  a # one\n  # two\n  )"),
        ("file(GLOB X\n  a # one\n  b)", "file(X)", ("a", "n", "b"), "file(GLOB X\n  a # one\n  n\n  b)"),
        ("file(GLOB X\n  a\n  b # last\n)", "file(X)", ("a", "b", "c"), "file(GLOB X\n  a\n  b # last\n  c\n)"),
        ("file(GLOB X\n  a\n  b # last\n)", "file(X)", ("a",), "file(GLOB X\n  a\n)"),
        ("file(GLOB X\n  a b # ab\n  c d # cd\n)", "file(X)", ("d",), "file(GLOB X\n  d # cd\n)"),
        ("file(GLOB X a #[[c]] b)", "file(X)", ("a",), "file(GLOB X a #[[c]])"),
        ("f(x PRIVATE a PUBLIC b)", "f(x).PRIVATE", (), 'f(x PRIVATE "" PUBLIC b)'),
        ("include_directories(a # x\n b\n c)", "include_directories", (), 'include_directories("" # x\n )'),
        ('list(APPEND X "a")', "list(X)", ("a", "b"), 'list(APPEND X "a" "b")'),
    ],
)  # fmt: skip
def test_writing(text: str, selector: str, value: Value, expected: str) -> None:
    document = parse(text.encode())
    ((slot,),) = document.find(selector)
    after = write(document, slot, value).decode()
    assert after == expected


@pytest.mark.parametrize(
    ("text", "selector", "value", "expected"),
    [
        ("set(X a)", "set(X)", ("a", "b"), "set(X a b)"),
        ('set(X "")', "set(X)", ("a", "b"), 'set(X "a" "b")'),
        ("set(X a CACHE STRING doc)", "set(X)", (), 'set(X "" CACHE STRING doc)'),
        ("f(x DEPS a QUIET)", "f(x).DEPS", ("b", "a"), "f(x DEPS b a QUIET)"),
        ("set(D a)\nf(x DEPS ${D})", "f(x).DEPS", ("a", "b"), "set(D a b)\nf(x DEPS ${D})"),
        ("option(X d ON)", "option(X)", ("ON", "b"), None),
        ("f(x REF a)", "f(x).REF", ("a", "b"), None),
        ('CPMAddPackage("gh:o/r#v1")', "CPMAddPackage(r)", ("a", "b"), None),
    ],
)
def test_one_value_grows_to_a_list_where_it_may(
    text: str, selector: str, value: tuple[str, ...], expected: str | None
) -> None:
    document = parse(text.encode())
    ((*_, slot),) = document.find(selector)
    assert document.as_list(slot).many == (expected is not None)
    if expected is not None:
        assert write(document, document.as_list(slot), value).decode() == expected


@pytest.mark.parametrize(
    ("text", "part", "value", "expected"),
    [
        ("GIT_SUBMODULES cutlass", "submodules", ("cutlass", "fmt"), "GIT_SUBMODULES cutlass fmt"),
        ("GIT_SUBMODULES cutlass", "submodules", (), 'GIT_SUBMODULES ""'),
        ('GIT_SUBMODULES ""', "submodules", ("a", "b"), 'GIT_SUBMODULES "a" "b"'),
        ('GIT_SUBMODULES "a;b"', "submodules", ("b", "c"), 'GIT_SUBMODULES "b;c"'),
        ('GIT_SUBMODULES "a;b"', "submodules", (), 'GIT_SUBMODULES ""'),
        ("GIT_TAG v1", "ref", "v2", "GIT_TAG v2"),
        ("GITHUB_REPOSITORY o/x", "repo", "https://github.com/p/x.git", "GITHUB_REPOSITORY p/x"),
    ],
)
def test_writing_parts(text: str, part: str, value: Value, expected: str) -> None:
    document = parse(f"FetchContent_Declare(x {text})".encode())
    ((slot,),) = document.find("FetchContent(x)")
    assert slot.part == part
    assert write(document, slot, value).decode() == f"FetchContent_Declare(x {expected})"


def test_short_form_of_cpm() -> None:
    assert written('CPMAddPackage("gh:o/r@1.2")', "CPMAddPackage(r)", "v1.3", "ref") == 'CPMAddPackage("gh:o/r@1.3")'
    moved = written('CPMAddPackage("gh:o/r.git#v1")', "CPMAddPackage(r)", "https://github.com/p/r", "repo")
    assert moved == 'CPMAddPackage("gh:p/r.git#v1")'
    assert written('CPMAddPackage("gh:o/r#v1")', "CPMAddPackage(r)", "v2", "ref") == 'CPMAddPackage("gh:o/r#v2")'


@pytest.mark.parametrize(
    ("text", "selector", "value"),
    [
        ("set(X v)", "set(X)", "a;b"),
        ("set(X v)", "set(X)", "${Y}"),
        ("set(X v)", "set(X)", "$ENV{Y}"),
        ("set(X v)", "set(X)", 'v")\nexecute_process(COMMAND id)'),
        ("set(X v)", "set(X)", "PARENT_SCOPE"),
        ("set(X v)", "set(X)", ("a", "b")),
        ("set(X a b)", "set(X)", ("a", "")),
        ("set(X a b)", "set(X)", ("a", "${Y}/b")),
        ("set(X ${Y}/a b)", "set(X)", ("${Z}/a", "b")),
        ('set(X "\\${Y}/a" b)', "set(X)", ("${Y}/a", "${Y}/b")),
        ("set(X ${Y}/a b)", "set(X)", ("${Y_${Z}}/a", "b")),
        ("set(X a;b)", "set(X)", ("a", "b c")),
        ('set(X "a;b" c)', "set(X)", ("a", "b")),
        ('set(X "a;b" c)', "set(X)", ("a", "b", "c", "d")),
        ('set(X "a;b" c)', "set(X)", ()),
        ("f(x REF v)", "f(x).REF", "SHA512"),
        ("FetchContent_Declare(x GIT_TAG v)", "FetchContent(x)", 'a" "-c'),
        ("FetchContent_Declare(x GIT_TAG v)", "FetchContent_Declare(x).GIT_TAG", "$(id)"),
        ("FetchContent_Declare(x GIT_SUBMODULES a)", "FetchContent(x)", ("a`id`",)),
        ("FetchContent_Declare(x GITHUB_REPOSITORY o/x)", "FetchContent(x)", "https://gitlab.com/o/x"),
        ('CPMAddPackage("gh:o/r#v1")', "CPMAddPackage(r)", "v1#x"),
        ('CPMAddPackage("gh:o/r#v1")', "CPMAddPackage(r)", "v1@x"),
        ('CPMAddPackage("gh:o/r@1")', "CPMAddPackage(r)", "1.2"),
    ],
)
def test_values_that_cannot_stand_there(text: str, selector: str, value: Value) -> None:
    document = parse(text.encode())
    ((*_, slot),) = document.find(selector)
    with pytest.raises(Unwritable):
        write(document, slot, value)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("f(\n  x\n  GIT_TAG   v1 # note\n  GIT_PROGRESS TRUE)", ("a", "b"),
         'f(\n  x\n  GIT_TAG   v1 # note\n  GIT_SUBMODULES "a" "b"\n  GIT_PROGRESS TRUE)'),
        ("f(\r\n\tx\r\n\tGIT_TAG v1)", (), 'f(\r\n\tx\r\n\tGIT_TAG v1\r\n\tGIT_SUBMODULES "")'),
        ("f(x GIT_REPOSITORY r GIT_TAG v1 GIT_SHALLOW ON)", "a",
         'f(x GIT_REPOSITORY r GIT_TAG v1 GIT_SUBMODULES "a" GIT_SHALLOW ON)'),
        ("f(x GIT_REPOSITORY r)", ("a",), 'f(x GIT_REPOSITORY r GIT_SUBMODULES "a")'),
        ("f(x GIT_SUBMODULES GIT_TAG v1)", ("a",), 'f(x GIT_SUBMODULES "a" GIT_TAG v1)'),
    ],
)  # fmt: skip
def test_submodules_are_added_to_a_call_that_has_none(text: str, value: Value, expected: str) -> None:
    text, expected = (t.replace("f(", "FetchContent_Declare(") for t in (text, expected))
    document = parse(text.encode())
    (hit,) = document.find("FetchContent(x)")
    after = apply(document.source, document.add(hit, "submodules", value))
    assert after.decode() == expected
    (hit,) = parse(after).find("FetchContent(x)")
    assert [s.value for s in hit if s.part == "submodules"] == [(value,) if isinstance(value, str) else value]


@pytest.mark.parametrize(
    ("text", "part"),
    [("GIT_TAG v1", "repo"), ("URL u", "submodules"), ("GIT_TAG v1 GIT_SUBMODULES ${S}", "submodules")],
)
def test_what_cannot_be_added(text: str, part: str) -> None:
    document = parse(f"FetchContent_Declare(x {text})".encode())
    (hit,) = document.find("FetchContent(x)")
    with pytest.raises(Unwritable):
        document.add(hit, part, ("a",))


# --- properties --------------------------------------------------------------------------------------------------

plain = st.text("abcXYZ019./-_+:é", min_size=1, max_size=8).filter(lambda v: not v.isupper())
hostile = st.text(st.sampled_from("ab/\\\"$(){}[]=;#@ '`é<>ENV\n") | st.characters(codec="utf-8"), max_size=10)
noise = st.sampled_from(
    [
        "", "\n", "# note: set(X v)\n", "#[[ a ( \n ]]\n", 'message(STATUS "é ) ${X}")\n', "if(A AND (B))\nendif()\n",
        'set(Other "1;2")\r\n', "\tfoo(bar KEY [=[ ]] ]=] # c\n)\n", "=======\n",
    ]
)  # fmt: skip
SHAPES = (
    "set(X {})", "set(X {} CACHE STRING doc)", "f(k REF {} # c\n)", "set(X a {})",
    "FetchContent_Declare(X\n GIT_REPOSITORY r\n GIT_TAG {}\n)", "file(GLOB X\r\n  {} # one\r\n  # two\r\n b)",
    "FetchContent_Declare(k GIT_SUBMODULES a {} GIT_TAG v)",
)  # fmt: skip


@given(
    st.sampled_from(SHAPES), plain.map("old{}".format), st.sampled_from(['"{}"', "{}", "[=[{}]=]"]), hostile | plain,
    noise, noise, st.data(),
)  # fmt: skip
def test_what_is_written_is_read_and_nothing_else_moves(
    shape: str, old: str, quoting: str, new: str, before: str, after: str, data: st.DataObject
) -> None:
    source = (before + shape.replace("{}", quoting.replace("{}", old)) + "\n" + after).encode()
    document = parse(source)
    slots = list(document.slots())
    index = data.draw(st.sampled_from([n for n, slot in enumerate(slots) if old in slot.value]))
    slot = slots[index]
    value = tuple(new if v == old else v for v in slot.value) if slot.many else new
    try:
        result = write(document, slot, value)
    except Unwritable:
        return
    (token,) = (token for token in slot.tokens if token.value == old)
    assert result.startswith(source[: token.start])
    assert result.endswith(source[token.end :])
    assert list(parse(result).slots())[index].value == value
    assert [s.value for s in parse(result).slots() if s.start < slot.start] == [
        s.value for s in slots if s.start < slot.start
    ]


several = st.lists(plain, min_size=2, max_size=5, unique=True)


@given(several, several, st.data())
def test_lists_become_any_list_and_keep_comments(old: list[str], new: list[str], data: st.DataObject) -> None:
    gap = st.sampled_from([" ", "\n  ", "\n  # own line\n  ", " #[[ x ]] ", "\r\n\r\n  "])
    text = "file(GLOB_RECURSE X" + "".join(data.draw(gap) + f'"{v}"' for v in old) + data.draw(gap) + ")\n"
    document = parse(text.encode())
    ((slot,),) = document.find("file(X)")
    result = write(document, slot, tuple(new))
    again = parse(result)
    assert again.errors == ()
    assert [hit[0].value for hit in again.find("file(X)")] == [tuple(new)]
    for comment in (b"# own line", b"#[[ x ]]"):
        assert result.count(comment) == text.encode().count(comment)


WHOLE = GEMM.encode() + b'CPMAddPackage("gh:o/r@1#2")\ntarget_include_directories(t PRIVATE a;b)\nset(E "")\n'


@settings(max_examples=200)
@given(st.binary(max_size=30) | st.text(max_size=20).map(str.encode), st.integers(0, len(WHOLE)), st.integers(0, 9))
def test_no_input_crashes_the_reader(junk: bytes, at: int, drop: int) -> None:
    for source in (junk, WHOLE[:at] + junk + WHOLE[at + drop :]):
        for slot in parse(source).slots():
            assert all(slot.start <= t.start < t.end <= slot.end for t in slot.tokens)
            assert slot.many or len(slot.tokens) == 1


def test_hostile_variables_take_no_time() -> None:
    hub = "".join(f"set(A{n} ${{A{n + 1}}})\nset(A{n} ${{B{n}}})\nf(x REF ${{A{n}}})\n" for n in range(2000))
    wide = "".join(f"set(H ${{C{n}}})\n" for n in range(3000)) + "f(y REF ${H})\n" * 1000
    began = time.perf_counter()
    for text in (hub, wide):
        parse(text.encode()).index()
    assert time.perf_counter() - began < 3


# --- CMake reads it back -------------------------------------------------------------------------------------------

SHOW = """
cmake_minimum_required(VERSION 3.16)
function(show)
  foreach(value IN LISTS ARGN)
    string(HEX "${value}" hex)
    string(APPEND line " ${hex}")
  endforeach()
  message(STATUS "=${line}")
endfunction()
macro(FetchContent_Declare name)
  show(${ARGN})
endmacro()
"""


def cmake(folder: Path, script: bytes) -> list[list[str]]:
    file = folder / "script.cmake"
    file.write_bytes(SHOW.encode() + script)
    run = subprocess.run(["cmake", "-P", str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    lines = [line[4:] for line in run.stdout.splitlines() if line.startswith("-- =")]
    return [[bytes.fromhex(word).decode() for word in line.split()] for line in lines]


def attempts(text: str, selector: str, part: str, news: list[str]) -> tuple[bytes, list[Value]]:
    """One script of all the writes that are not refused, and what they wrote."""
    script, done = b"", []
    for new in news:
        document = parse(text.encode())
        (slot,) = (s for s in document.find(selector)[0] if s.part == part)
        value: Value = ("first", new) if slot.many else new
        try:
            script += write(document, slot, value)
        except Unwritable:
            continue
        done.append(value)
    return script, done


@needs_cmake
@settings(max_examples=8)
@given(st.lists(hostile | plain, min_size=20, max_size=50))
def test_cmake_reads_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, news: list[str]) -> None:
    folder = tmp_path_factory.mktemp("cmake")
    news = [new for new in news if new]
    script, done = attempts("set(X old end)\nshow(${X})\n", "set(X)", "", news)
    assert cmake(folder, script) == [list(value) for value in done]
    script, done = attempts("set(X old)\nshow(${X} end)\n", "set(X)", "", news)
    assert cmake(folder, script) == [[value, "end"] for value in done]
    call = 'FetchContent_Declare(x GIT_TAG old GIT_SUBMODULES "a")\n'
    script, done = attempts(call, "FetchContent(x)", "ref", news)
    assert cmake(folder, script) == [["GIT_TAG", value, "GIT_SUBMODULES", "a"] for value in done]
    script, done = attempts(call, "FetchContent(x)", "submodules", news)
    assert cmake(folder, script) == [["GIT_TAG", "old", "GIT_SUBMODULES", *value] for value in done]


def test_the_slot_of_a_list_points_at_its_elements() -> None:
    source = GEMM.encode()
    ((slot,),) = parse(source).find("file(_headers)")
    assert isinstance(slot, Slot)
    assert slot.many
    assert not slot.ordered
    assert source[slot.start : slot.end].startswith(b'"${gemm')
    assert source[slot.start : slot.end].endswith(b'.cuh"')
