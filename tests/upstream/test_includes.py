from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.upstream.conditions import judge
from pinctl.upstream.includes import scan


def names(source: str) -> list[str]:
    return [include.name for include in scan(source.encode())]


def test_lines_and_kinds() -> None:
    found = scan(b'#include <a.h>\n\n  #  include "b.h" // c\n#include_next <d.h>\n')
    assert [(i.name, i.line, i.angled) for i in found] == [("a.h", 1, True), ("b.h", 3, False), ("d.h", 4, True)]
    assert not any(i.guarded or i.condition for i in found)


@pytest.mark.parametrize(
    "source",
    [
        "// #include <no.h>\n",
        "// spliced \\\n#include <no.h>\n",
        "/*\n#include <no.h>\n*/",
        "/* never closed\n#include <no.h>\n",
        'auto s = R"(\n#include <no.h>\n)";',
        'auto s = u8R"x(\n)"\n#include <no.h>\n)x";',
        'auto s = "\\\n#include <no.h>\n";',
        "int a; #include <no.h>\n",
        "#define X /*\n#include <no.h>\n*/",
        "#include NAME\n",
        "#if 0\n#include <no.h>\n#endif\n",
        "#ifdef _WIN32\n#include <no.h>\n#endif\n",
        "#ifndef __linux__\n#include <no.h>\n#endif\n",
        "#if defined(__linux__)\n#else\n#include <no.h>\n#endif\n",
        "#if defined(_MSC_VER) && X > 2\n#include <no.h>\n#endif\n",
        "#if !defined(_WIN32)\n#elif A\n#include <no.h>\n#endif\n",
        "#import <no.h>\n",
        '#include <a", x = "b.h>\n',
        "import <no.h>;\n",
    ],
)
def test_what_is_no_include(source: str) -> None:
    assert names(source) == []
    tail = "" if "never" in source else "\n#include <yes.h>\n"
    assert names(source + tail) == (["yes.h"] if tail else [])


@pytest.mark.parametrize(
    "source",
    [
        "#include<yes.h>\n",
        "#include /* c */ <yes.h>\n",
        "/* c */ #include <yes.h>\n",
        "#\tinclude <yes.h>\r\n",
        "int n = 1'000'000;\n#include <yes.h>\n",
        "int n = 0xAB'CD;\n#include <yes.h>\n",
        "char c = '\"';\n#include <yes.h>\n",
        "// it's\n#include <yes.h>\n",
        'auto s = FOUR"(";\n#include <yes.h>\n',
        "#error don't\n#include <yes.h>\n",
        "#if defined(__linux__) || X\n#include <yes.h>\n#endif\n",
        "#ifdef _WIN32\n#else\n#include <yes.h>\n#endif\n",
        "#include \\\n <yes.h>\n",
        "#endif\n#else\n#include <yes.h>",
    ],
)
def test_what_is_one(source: str) -> None:
    found = scan(source.encode())
    assert [(i.name, i.guarded, i.condition) for i in found] == [("yes.h", False, None)]


@pytest.mark.parametrize(
    "source",
    [
        "#if __has_include(<a.h>)\n#include <a.h>\n#endif\n",
        "#if FMT_HAS_INCLUDE(<a.h>)\n#include <a.h>\n#endif\n",
        "#if defined(X) && __has_include(<a.h>)\n#include <a.h>\n#endif\n",
        "#if __has_include(<b.h>)\n#else\n#include <a.h>\n#endif\n",
        "#if __has_include(<a.h>)\n#define HAS_A 1\n#endif\n#if HAS_A\n#include <a.h>\n#endif\n",
        "#if __has_include(<a.h>)\n#ifdef Y\n#include <a.h>\n#endif\n#endif\n",
    ],
)
def test_guarded_by_has_include(source: str) -> None:
    assert [(i.name, i.guarded) for i in scan(source.encode())] == [("a.h", True)]


def test_a_guard_ends_with_its_block() -> None:
    found = scan(b"#if __has_include(<a.h>)\n#include <a.h>\n#endif\n#include <b.h>\n")
    assert [(i.name, i.guarded) for i in found] == [("a.h", True), ("b.h", False)]


def test_include_guards_are_no_condition() -> None:
    for opening in ("#ifndef A_H", "#if !defined(A_H)", "#if !defined A_H"):
        found = scan(f"{opening}\n#define A_H\n#include <a.h>\n#ifdef MPI\n#include <mpi.h>\n#endif\n#endif\n".encode())
        assert [(i.name, i.condition) for i in found] == [("a.h", None), ("mpi.h", "#ifdef MPI")]
    assert scan(b"#ifndef NO_MPI\n#include <mpi.h>\n#endif")[0].condition == "#ifndef NO_MPI"


def test_conditions_are_told() -> None:
    source = b"#if A\n#elif B\n#include <b.h>\n#else\n#include <c.h>\n#endif\n"
    assert [(i.name, i.condition) for i in scan(source)] == [("b.h", "#elif B"), ("c.h", "else of #elif B")]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("1", True), ("0", False), ("defined(__linux__)", True), ("!defined _WIN32", True), ("X", None),
        ("defined(X) || 1", True), ("defined(X) && 0", False), ("(A && !defined(_WIN32)) || 0", None),
        ("_MSC_VER >= 1900", None), ("defined(_MSC_VER) && _MSC_VER >= 1900", False), ("__GNUC__", True),
        ("A(1, (2)) && 0", False), ("", None), ("(", None), ("defined", None), ("1 +", None), ("!" * 500 + "1", None),
        ("(" * 500 + "1" + ")" * 500, None),
    ],
)  # fmt: skip
def test_conditions_of_three_values(text: str, truth: bool | None) -> None:
    assert judge(text) is truth


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(source: bytes) -> None:
    assert all(1 <= include.line <= source.count(b"\n") + 1 for include in scan(source))


_PIECES = st.sampled_from(
    ["/*", "*/", "//", '"', "'", "\\", "\n", 'R"x(', ')x"', "#if A", "#else", "#endif", "#define B", "\\\n", " ", "x"]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_an_include_after_closed_text_is_found(noise: str) -> None:
    closed = f'{noise}\n*/\n)x"\n"\n' if "/*" in noise or 'R"' in noise or noise.endswith("\\") else f"{noise}\n"
    whole = f"{closed}\n#include <z.h>\n".encode()
    assert [i for i in scan(whole) if i.name == "z.h"] in ([], [scan(whole)[-1]])


@pytest.mark.parametrize(
    "evil",
    [b'R"(' * 100_000, b"/*" * 200_000, b"#if " + b"(" * 200_000, b'"\\' * 200_000, b"\n#" * 200_000,
     b"#define a /*" * 50_000, b"#if x\n" * 20_000 + b"#include <a>\n" * 5000, b"#include <" * 50_000],
    ids=range(8),
)  # fmt: skip
def test_hostile_sources_take_no_time(evil: bytes) -> None:
    start = time.process_time()
    scan(evil)
    assert time.process_time() - start < 5


@given(
    st.lists(
        st.sampled_from(["#include <a.h>\n", "#if X\n", "#endif\n", "/*", "*/", '"', "\n", "// include", 'R"(', "\\\n"])
    ),
    st.text("#if def/*\\\n\"'()", max_size=40),
)
def test_what_follows_the_last_include_says_nothing_of_it(pieces: list[str], tail: str) -> None:
    source = "".join(pieces) + "#include <z.h>\n"
    found = scan(source.encode())
    assert scan((source + tail).encode()) == found
    assert scan((source + "#if 0\n#include <no.h>\n#endif\n").encode()) == found
