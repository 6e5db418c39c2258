"""Which members of two wheels differ: whether a cell that is built twice gives the same bytes, and if not, where."""

from collections.abc import Iterator
from typing import NamedTuple

from pinctl.wheel.survey import Survey


class Difference(NamedTuple):
    """A member, and how the second wheel differs from the first in it, as a clause ("its content differs")."""

    member: str
    how: str


def compare(first: Survey, second: Survey) -> list[Difference]:
    """The differences, in the order of the first wheel's members; none for wheels of the same bytes, and for those that
    differ in how they are compressed alone."""
    return [*_members(first, second), *_order(first, second)]


def _members(first: Survey, second: Survey) -> Iterator[Difference]:
    for name, one in first.members.items():
        other = second.members.get(name)
        if other is None:
            yield Difference(name, "it is in the first alone")
        elif not one.is_folder and first.contents[name].sha256 != second.contents[name].sha256:
            sizes = "" if one.size == other.size else f", {one.size} and {other.size} bytes"
            yield Difference(name, f"its content differs{sizes}")
        elif one.mode != other.mode:
            yield Difference(name, f"its mode differs, {one.mode:o} and {other.mode:o}")
        elif one.stamp != other.stamp:
            yield Difference(name, "its time differs")
    yield from (Difference(name, "it is in the second alone") for name in second.members if name not in first.members)


def _order(first: Survey, second: Survey) -> Iterator[Difference]:
    pairs = zip(first.members, second.members, strict=False)
    if set(first.members) == set(second.members):
        moved = next((one for one, other in pairs if one != other), None)
        if moved is not None:
            yield Difference(moved, "the members are in another order from here on")
