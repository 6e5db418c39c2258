"""The binding of arguments, held against what Python does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.breaks.binding import Fault, bind, bindings, takes
from pinctl.contract.model import Call, Kind, Parameter, Signature
from pinctl.contract.shown import parameters

from ..support import call, signature, unnamed

NAMES = "abcdef"
DEFAULT = 100


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    names = iter(NAMES)
    kinds = [*sorted(draw(st.lists(st.sampled_from((0, 1)), max_size=3)))]
    parameters = []
    optional = False
    for kind in kinds:
        optional = optional or draw(st.booleans())
        parameters.append(
            Parameter(next(names), (Kind.POSITIONAL, Kind.EITHER)[kind], str(DEFAULT) if optional else None)
        )
    if draw(st.booleans()):
        parameters.append(Parameter("rest", Kind.REST))
    defaults = draw(st.lists(st.sampled_from((None, str(DEFAULT))), max_size=2))
    parameters += [Parameter(next(names), Kind.KEYWORD, default) for default in defaults]
    if draw(st.booleans()):
        parameters.append(Parameter("more", Kind.KEYWORD_REST))
    return Signature(tuple(parameters))


@given(signatures(), st.integers(0, 4), st.sets(st.sampled_from(NAMES + "z"), max_size=3))
def test_a_call_fits_where_python_binds_it(signature: Signature, positional: int, keywords: set[str]) -> None:
    bound = bind(Call(positional, tuple(sorted(keywords))), signature)
    made: dict[str, Any] = {}
    exec(f"def f({', '.join(parameters(signature))}): return locals()", made)  # noqa: S102 - of our own making
    try:
        values = made["f"](*range(positional), **dict.fromkeys(keywords, -1))
    except TypeError:
        assert not bound.fits
    else:
        assert bound.fits
        taken = {p.name: n for n, p in enumerate(bound.placed) if p} | dict.fromkeys(bound.named, -1)
        assert taken == {n: v for n, v in values.items() if n not in ("rest", "more") and v != DEFAULT}


@given(signatures(), st.integers(0, 4), st.sets(st.sampled_from(NAMES + "z"), max_size=3))
def test_open_arguments_fit_where_some_would(signature: Signature, positional: int, keywords: set[str]) -> None:
    """With `*a, **k` nothing is missing for certain, and what is written out is judged as ever."""
    closed = bind(Call(positional, tuple(sorted(keywords))), signature)
    opened = bind(Call(positional, tuple(sorted(keywords)), rest=True, keyword_rest=True), signature)
    assert set(opened.misfits) == {m for m in closed.misfits if m.fault is not Fault.MISSING}
    assert {p.name for p in opened.unfilled} == {m.name for m in closed.misfits if m.fault is Fault.MISSING}


@pytest.mark.parametrize(
    ("arguments", "parameters", "misfits"),
    [
        ("1, 2", "a, b", []),
        ("1, b=2", "a, b", []),
        ("1", "a, b", [(Fault.MISSING, "b")]),
        ("1, 2, 3", "a, b", [(Fault.POSITIONAL, "2")]),
        ("1, a=2", "a, b=0", [(Fault.TWICE, "a")]),
        ("1, c=2", "a, b=0", [(Fault.KEYWORD, "c")]),
        ("a=1", "a, /", [(Fault.KEYWORD, "a"), (Fault.MISSING, "a")]),
        ("1, a=2", "a, /, **more", []),
        ("1, 2", "a, *, b", [(Fault.POSITIONAL, "1"), (Fault.MISSING, "b")]),
        ("*x", "a, b", []),
        ("*x", "*, b", [(Fault.MISSING, "b")]),
        ("**x", "a, /", [(Fault.MISSING, "a")]),
        ("**x, c=1", "a", [(Fault.KEYWORD, "c")]),
    ],
)
def test_what_does_not_fit(arguments: str, parameters: str, misfits: list[tuple[Fault, str]]) -> None:
    assert list(bind(call(arguments), signature(parameters)).misfits) == misfits


def test_what_only_the_rest_can_fill() -> None:
    bound = bind(call("1, *x, **y"), signature("a, b, *, c, d=1"))
    assert [p.name for p in bound.unfilled] == ["b", "c"]
    assert [p.name for p in bound.defaulted()] == ["d"]


def test_names_that_a_binding_does_not_give_take_no_keyword() -> None:
    assert bind(call("1, 2"), unnamed("int", "int")).fits
    assert bind(call("1, a=2"), unnamed("int", "int")).misfits == ((Fault.KEYWORD, "a"), (Fault.MISSING, ""))


def test_any_overload_that_fits_will_do() -> None:
    overloads = [signature("a"), signature("a, b"), signature("a, b, c=1")]
    assert [len(b.signature.parameters) for b in bindings(call("1, 2"), overloads)] == [2, 3]
    assert bindings(call("1, 2, 3, 4"), overloads)[0].misfits == ((Fault.POSITIONAL, "3"),)
    assert bindings(call("1"), []) == []


@pytest.mark.parametrize(("parameters", "taken"), [("a", True), ("a, /", False), ("*, a", True), ("**k", True)])
def test_takes(parameters: str, *, taken: bool) -> None:
    assert takes(signature(parameters), "a") is taken
