from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.surface.cpp_text import DEEPEST, Refused, Source, Span

WHOLE = Span(0, 10_000)


def source(text: str) -> Source:
    return Source(text.encode())


def test_what_is_no_code_is_hidden_and_offsets_stay() -> None:
    text = 'f("a(b", \'{\'); // ) \n/* } */ g(R"x()")x"); u8"y"; 1\'000;'
    made = source(text)
    assert len(made.code) == len(text)
    assert [c for c in made.code if c in "(){}"] == ["(", ")", "(", ")"]
    assert "1'000" in made.code


def test_lines_and_conditions() -> None:
    made = source("a\n#if X > 1\nb\n#elif Y\nc\n#else\nd\n#endif\ne\n#ifndef G\n#define G\nf\n#endif\n")
    found = {name: (made.line(made.code.index(name)), made.guards(made.code.index(name))) for name in "abcdef"}
    assert found == {
        "a": (1, ()),
        "b": (3, ("#if X > 1",)),
        "c": (5, ("#elif Y",)),
        "d": (7, ("else of #elif Y",)),
        "e": (9, ()),
        "f": (12, ()),
    }


def test_each_branch_goes_on_from_where_the_condition_stood() -> None:
    made = source("#ifdef A\nvoid f(int a) {\n#else\nvoid f(long a) {\n#endif\n  x();\n}\nvoid g() {}\n")
    braces = [at for at, c in enumerate(made.code) if c == "{"]
    assert [made.closers[at] for at in braces] == [made.code.index("}"), made.code.index("}"), len(made.code) - 2]


def test_namespaces_and_classes() -> None:
    made = source(
        "namespace a::b { inline namespace c { class D final : public E<F> { int x; }; } } namespace { int y; }"
    )
    assert made.scope(made.code.index("x")) == "a::b::c::D"
    assert made.in_class(made.code.index("x"))
    assert made.scope(made.code.index("y")) == ""


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("(a, b)", ["a", "b"]),
        ("()", []),
        (
            "(std::map<int, int> m, f(x, y), {1, 2}, [](int a, int b) { return 1, 2; })",
            ["std::map<int, int> m", "f(x, y)", "{1, 2}", "[](int a, int b) { return 1, 2; }"],
        ),
        ("(a < b, c)", ["a < b", "c"]),
        ("(x->y, z<1>(2), w)", ["x->y", "z<1>(2)", "w"]),
    ],
)
def test_arguments(text: str, pieces: list[str]) -> None:
    made = source(text)
    assert [made.text(span) for span in made.arguments(0)] == pieces


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"ab"', "ab"),
        ('"a" "b"\n  "c"', "abc"),
        ('R"x(a"b)x"', 'a"b'),
        (r'"a\n\"\x41\101"', 'a\n"AA'),
        ('"é"', "é"),
        ('"a" X', None),
        ("X", None),
        ('"a" /* c */ "b"', "ab"),
    ],
)
def test_strings(text: str, value: str | None) -> None:
    made = source(text)
    assert made.literal(Span(0, len(made.code))) == value


def test_what_nests_too_deep_is_refused() -> None:
    source("{" * DEEPEST + "}" * DEEPEST)
    with pytest.raises(Refused):
        source("{" * 100_000)


@given(st.text(alphabet="ab\"'\\(){}[]<>#/*\n R,;:=", max_size=60))
def test_no_text_crashes_it(text: str) -> None:
    made = source(text)
    assert len(made.code) == len(text.encode())
    for opener in made.closers:
        made.arguments(opener)
        made.scope(opener)
        made.guards(opener)


@pytest.mark.parametrize(
    "text",
    [
        'R"x(' * 250_000,
        "/*" * 500_000,
        '"' * 1_000_000,
        "namespace a " * 80_000,
        "class a " * 120_000,
        "#if X\n" * 150_000,
        "<" * 1_000_000,
        "'" * 1_000_000,
        "\\\n" * 500_000,
    ],
)
def test_a_hostile_source_takes_linear_time(text: str) -> None:
    before = time.process_time()
    source(text)
    assert time.process_time() - before < 5
