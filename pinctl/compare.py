"""Whether a slot holds what its template says, and if not, what should be written there."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from pinctl.model import Mode
from pinctl.sites.base import Slot, Value
from pinctl.template import Expected, Kind
from pinctl.urls import same_repo

_SHORTEST_ID = 7
"""git's default abbreviation (core.abbrev): fewer digits are not taken for a commit id."""


class Verdict(StrEnum):
    SAME = "same"
    ABBREVIATED = "abbreviated"
    DIFFERENT = "different"
    MISSHAPEN = "misshapen"


class Comparison(NamedTuple):
    """`wanted` is what the slot should hold: what it does, where the verdict is SAME."""

    verdict: Verdict
    wanted: Value


def compare(expected: Expected, slot: Slot, mode: Mode, dropped: Iterable[str] = ()) -> Comparison:
    """Hold `slot` against `expected`. `dropped` are elements that pins.toml no longer has: none may stay in a
    contains-list."""
    if slot.many:
        values = (expected.value,) if isinstance(expected.value, str) else expected.value
        found = tuple(token.value for token in slot.tokens)
        return _list(values, found, mode, slot.ordered, frozenset(dropped) - set(values))
    found_text = slot.tokens[0].value
    # A list of one element may stand where there is room for one value.
    wanted = (
        expected.value if isinstance(expected.value, str) else expected.value[0] if len(expected.value) == 1 else None
    )
    if wanted is None or (mode is Mode.CONTAINS and wanted not in found_text):
        return Comparison(Verdict.MISSHAPEN, slot.value)
    verdict = Verdict.SAME if mode is Mode.CONTAINS else _scalar(expected, wanted, found_text)
    return Comparison(verdict, slot.value if verdict is Verdict.SAME else wanted)


def _scalar(expected: Expected, wanted: str, found: str) -> Verdict:
    if wanted == found or (expected.kind is Kind.REPO and same_repo(wanted, found)):
        return Verdict.SAME
    if expected.kind is Kind.COMMIT and len(found) >= _SHORTEST_ID and agree(expected.full or wanted, found):
        return Verdict.ABBREVIATED if expected.resolved else Verdict.SAME
    return Verdict.DIFFERENT


def agree(a: str, b: str) -> bool:
    """Whether one of two commit ids is a prefix of the other."""
    a, b = a.lower(), b.lower()
    return a.startswith(b) or b.startswith(a)


def _list(
    values: tuple[str, ...], found: tuple[str, ...], mode: Mode, ordered: bool, dropped: frozenset[str]
) -> Comparison:
    if mode is Mode.CONTAINS:
        kept = tuple(v for v in found if v not in dropped)
        missing = tuple(v for v in values if not any(_holds(element, v) for element in kept))
        wanted = _replacing(found, tuple(v for v in found if v in dropped), missing)
    elif ordered:
        wanted = values
    elif set(values) == set(found):
        wanted = found
    else:
        gone = tuple(v for v in found if v not in values)
        wanted = _replacing(found, gone, tuple(v for v in dict.fromkeys(values) if v not in found))
    return Comparison(Verdict.SAME if wanted == found else Verdict.DIFFERENT, wanted)


def _holds(element: str, package: str) -> bool:
    """Whether a list element is `package`, with a version of its own or without (`libdw-dev=0.188-2.1`)."""
    return element == package or element.startswith(f"{package}=")


def _replacing(found: tuple[str, ...], gone: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """`found` with each element of `gone` giving its place to one of `new`; what is over of `new` comes last."""
    fresh = iter(new)
    swapped = [v if v not in gone else next(fresh, None) for v in found]
    return (*(v for v in swapped if v is not None), *fresh)
