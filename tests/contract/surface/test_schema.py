from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.model import Kind, Parameter
from pinctl.contract.surface.schema import arguments, parse, spelled_type

from .support import typed


def test_a_schema() -> None:
    made = parse(
        'ns::op.out(Tensor(a!) x, int[2] k=[1, 2], *, float eps=1e-5, str? s="a, b", bool c=False) -> (Tensor)'
    )
    assert made is not None
    assert (made.namespace, made.name) == ("ns", "op")
    assert made.signature is not None
    assert typed(made.signature) == [
        "x: Tensor",
        "k: list[int] = [1, 2]",
        "*eps: float = 1e-05",
        "*s: Optional[str] = 'a, b'",
        "*c: bool = False",
    ]


def test_a_name_alone_has_no_signature() -> None:
    made = parse("op")
    assert made is not None
    assert made.signature is None


@pytest.mark.parametrize("text", ["", "op(", "op(int)", "op(Tensor x, ,y)", "op) -> ()", "é"])
def test_what_is_no_schema(text: str) -> None:
    made = parse(text)
    assert made is None or made.signature is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Tensor!", "Tensor"),
        ("Tensor(a!)?", "Optional[Tensor]"),
        ("Tensor ?", "Optional[Tensor]"),
        ("int[]?", "Optional[list[int]]"),
        ("Tensor?[]", "list[Optional[Tensor]]"),
        ("SymInt", "int"),
        ("__torch__.torch.classes.a.B", "B"),
        ("Tensor(a! -> *)", "Tensor"),
    ],
)
def test_types(text: str, name: str) -> None:
    assert spelled_type(text) == name


def test_marks_of_what_is_written_to_may_stand_before_the_name() -> None:
    made = arguments("(Tensor !out, Tensor! b) -> ()")
    assert made is not None
    assert typed(made) == ["out: Tensor", "b: Tensor"]


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
DEFAULTS = st.sampled_from([None, "None", "True", "1", "1e-05", "[1, 2]", "'a'"])


@given(st.lists(st.tuples(NAMES, DEFAULTS, st.booleans()), max_size=6, unique_by=lambda one: one[0]))
def test_what_is_written_is_read(found: list[tuple[str, str | None, bool]]) -> None:
    plain, named = [one for one in found if not one[2]], [one for one in found if one[2]]
    text = [f"Tensor? {name}" + ("" if default is None else f"={default}") for name, default, _ in (*plain, *named)]
    if named:
        text.insert(len(plain), "*")
    made = arguments(f"({', '.join(text)}) -> ()")
    assert made is not None
    assert made.parameters == tuple(
        Parameter(name, Kind.KEYWORD if keyword else Kind.EITHER, default, "Optional[Tensor]")
        for name, default, keyword in (*plain, *named)
    )


@given(st.text(alphabet="ab(),=*[]?!>- \"'", max_size=40))
def test_no_text_crashes_it(text: str) -> None:
    parse(text)
