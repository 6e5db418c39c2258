from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.surface.guards import ELSE, either, together


@pytest.mark.parametrize(
    ("places", "condition"),
    [
        ([], ()),
        ([("a",)], ("a",)),
        ([("a",), ()], ()),
        ([("a",), (f"{ELSE}a",)], ()),
        ([("x", "a"), ("x", f"{ELSE}a")], ("x",)),
        ([("a",), ("b",)], ("a or b",)),
        ([("a",), (f"{ELSE}a", "b"), (f"{ELSE}a", f"{ELSE}b")], ()),
        ([("x", "a"), ("x", "b", "c")], ("x", "a or b and c")),
        ([("try/except E",), ("except E",)], ()),
        ([("x",), ("x", "y")], ("x",)),
    ],
)
def test_either(places: list[tuple[str, ...]], condition: tuple[str, ...]) -> None:
    assert either(places) == condition


def test_together_says_each_once() -> None:
    assert together(("a", "b"), ("b", "c")) == ("a", "b", "c")


PLACES = st.lists(st.lists(st.sampled_from(["a", "b", f"{ELSE}a", f"{ELSE}b"]), max_size=3).map(tuple), max_size=6)


@given(PLACES)
def test_no_condition_means_that_one_place_always_holds(places: list[tuple[str, ...]]) -> None:
    if places and either(places) == ():
        for a, b in itertools.product([True, False], repeat=2):
            world = {"a": a, "b": b, f"{ELSE}a": not a, f"{ELSE}b": not b}
            assert any(all(world[guard] for guard in place) for place in places)
