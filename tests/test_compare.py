import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.compare import Verdict, compare
from pinctl.model import Mode
from pinctl.sites.base import Slot, Token
from pinctl.template import Expected, Kind

FULL = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"


def scalar(value: str) -> Slot:
    return Slot(names=("x",), tokens=(Token(value=value, start=0, end=1),), start=0, end=1)


def many(*values: str, ordered: bool = False) -> Slot:
    tokens = tuple(Token(value=v, start=n, end=n + 1) for n, v in enumerate(values))
    return Slot(names=("x",), tokens=tokens, start=0, end=9, many=True, ordered=ordered)


@pytest.mark.parametrize(
    ("expected", "found", "verdict"),
    [
        (Expected(value="1.2"), "1.2", Verdict.SAME),
        (Expected(value="0.1.5"), "0.1.5.post2", Verdict.DIFFERENT),
        (Expected(value="https://github.com/O/R.git", kind=Kind.REPO), "git@github.com:o/r", Verdict.SAME),
        (Expected(value="https://github.com/o/r.git", kind=Kind.REPO), "https://github.com/fork/r", Verdict.DIFFERENT),
        (Expected(value=FULL, kind=Kind.COMMIT, full=FULL), FULL, Verdict.SAME),
        (Expected(value=FULL, kind=Kind.COMMIT, full=FULL), FULL[:10], Verdict.ABBREVIATED),
        (Expected(value=FULL[:10], kind=Kind.COMMIT, full=FULL), FULL[:10], Verdict.SAME),
        (Expected(value=FULL[:10], kind=Kind.COMMIT, full=FULL), FULL, Verdict.ABBREVIATED),
        (Expected(value=FULL[:10], kind=Kind.COMMIT, full=FULL), FULL[:7], Verdict.ABBREVIATED),
        (Expected(value=FULL[:10], kind=Kind.COMMIT, full=FULL), FULL[:6], Verdict.DIFFERENT),
        (Expected(value=FULL, kind=Kind.COMMIT, full=FULL), "", Verdict.DIFFERENT),
        (Expected(value=FULL, kind=Kind.COMMIT, full=FULL), "b" * 40, Verdict.DIFFERENT),
        (Expected(value=FULL[:7], kind=Kind.COMMIT, full=FULL[:7], resolved=False), FULL, Verdict.SAME),
        (Expected(value=("a", "b")), "a", Verdict.MISSHAPEN),
        (Expected(value=("a",)), "a", Verdict.SAME),
        (Expected(value=("a",)), "b", Verdict.DIFFERENT),
    ],
)
def test_scalars(expected: Expected, found: str, verdict: Verdict) -> None:
    seen = compare(expected, scalar(found), Mode.AUTO)
    assert seen.verdict is verdict
    if verdict is Verdict.SAME:
        assert seen.wanted == found


@pytest.mark.parametrize(
    ("wanted", "found", "mode", "ordered", "result"),
    [
        # An order without a meaning is kept, and what comes takes the place of what goes.
        (("cutlass", "deep_jit"), ("deep_jit", "cutlass"), Mode.AUTO, False, ("deep_jit", "cutlass")),
        (("cutlass", "deep_jit"), ("fmt", "cutlass"), Mode.AUTO, False, ("deep_jit", "cutlass")),
        (("a",), ("a", "b"), Mode.AUTO, False, ("a",)),
        (("a", "b"), ("b", "a"), Mode.AUTO, True, ("a", "b")),
        (("b",), ("a", "b", "c"), Mode.CONTAINS, False, ("a", "b", "c")),
        (("d",), ("a", "b"), Mode.CONTAINS, True, ("a", "b", "d")),
        # An element that is no literal counts with its text: it is one too many, or it is what some package needs.
        (("a", "b"), ("a", "b", "$MORE"), Mode.AUTO, False, ("a", "b")),
        (("a", "b"), ("a", "$MORE"), Mode.CONTAINS, False, ("a", "$MORE", "b")),
        (("gcc",), ("gcc=$GCC",), Mode.CONTAINS, False, ("gcc=$GCC",)),
        (("libdw-dev",), ("libdw-dev=0.188-2.1",), Mode.CONTAINS, False, ("libdw-dev=0.188-2.1",)),
        ((), ("a",), Mode.AUTO, False, ()),
    ],
)
def test_lists(
    wanted: tuple[str, ...], found: tuple[str, ...], mode: Mode, ordered: bool, result: tuple[str, ...]
) -> None:
    seen = compare(Expected(value=wanted), many(*found, ordered=ordered), mode)
    assert seen.wanted == result
    assert (seen.verdict is Verdict.SAME) == (result == found)


def test_a_dropped_element_gives_its_place_to_the_new_one() -> None:
    seen = compare(Expected(value=("deep_jit",)), many("git", "fmt", "numactl"), Mode.CONTAINS, dropped=["fmt"])
    assert seen.wanted == ("git", "deep_jit", "numactl")


def test_what_is_dropped_and_still_wanted_stays() -> None:
    assert compare(Expected(value=("a",)), many("a"), Mode.CONTAINS, dropped=["a"]).verdict is Verdict.SAME


LISTS = st.lists(st.sampled_from("abcdef"), max_size=5, unique=True).map(tuple)


@given(LISTS, LISTS, st.sampled_from([Mode.AUTO, Mode.CONTAINS]), st.booleans())
def test_what_is_wanted_agrees_when_it_stands_there(
    wanted: tuple[str, ...], found: tuple[str, ...], mode: Mode, ordered: bool
) -> None:
    after = compare(Expected(value=wanted), many(*found, ordered=ordered), mode).wanted
    assert isinstance(after, tuple)
    assert compare(Expected(value=wanted), many(*after, ordered=ordered), mode).verdict is Verdict.SAME
    assert set(wanted) <= set(after)
