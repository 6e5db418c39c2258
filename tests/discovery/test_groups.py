from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.discovery import groups
from pinctl.discovery.groups import Group
from pinctl.discovery.literals import What
from pinctl.discovery.sightings import Sighting, Weight

from .support import NEW, OLD


def sighting(value: str, file: str = "a", **more: object) -> Sighting:
    return Sighting(what=What.VERSION, file=file, value=value, selector="X", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "main"),
    [("v1.2", "1.2"), ("2.11.0+cu130", "2.11.0"), (OLD[:7], OLD), (OLD, OLD[:10]), ("release-1.2", "release-1.2")],
)
def test_spellings_of_one_value(value: str, main: str) -> None:
    assert groups.like(value, main)
    assert groups.like(main, value)


@pytest.mark.parametrize(
    ("value", "main"), [("1.2", "1.2.0"), (OLD, NEW), (f"{OLD[:7]}ffff", OLD), ("1.2", "release-1.2"), ("1.2", "1.3")]
)
def test_spellings_of_two_values(value: str, main: str) -> None:
    assert not groups.like(value, main)


@pytest.mark.parametrize(
    ("value", "other", "expected"),
    [("13.0", "13.0.3", True), ("v13.0.3", "13", True), ("13.0", "13.0", False), ("13.1", "13.0.3", False)],
)
def test_the_series_of_a_version(value: str, other: str, expected: bool) -> None:
    assert groups.is_series(value, other) is groups.is_series(other, value) is expected


def test_the_value_that_most_files_hold() -> None:
    members = [sighting("1.2", "a"), sighting("1.2", "a"), sighting("1.3", "b"), sighting("v1.3+cu1", "c")]
    assert groups.main_value([Group(members)]) == "1.3"


def test_what_overrides_or_is_locked_has_no_say() -> None:
    weak = [sighting("1.2", f, weight=w) for f, w in (("a", Weight.OVERRIDE), ("b", Weight.LOCKED))]
    assert groups.main_value([Group(weak)]) is None
    assert groups.main_value([Group([*weak, sighting("1.3")])]) == "1.3"


def test_others_decide_between_values_of_equally_many_files() -> None:
    own = Group([sighting("1.2", "a"), sighting("1.3", "b")])
    assert groups.main_value([own], [own, Group([sighting("1.2", "c")])]) == "1.2"
    assert groups.main_value([own], [own, Group([sighting("1.3", "c")])]) == "1.3"
    assert groups.main_value([Group()], [own, Group([sighting("1.3", "c")])]) == "1.3"


@given(st.lists(st.lists(st.integers(0, 6), max_size=3), max_size=12))
def test_what_shares_a_key_is_joined_and_nothing_else(keys: Sequence[Sequence[int]]) -> None:
    found = groups.joined(len(keys), lambda at: [("k", str(key)) for key in keys[at]])
    assert sorted(at for members in found for at in members) == list(range(len(keys)))
    where = {at: n for n, members in enumerate(found) for at in members}
    of_keys = [set().union(*(keys[at] for at in members)) for members in found]
    assert all(a.isdisjoint(b) for n, a in enumerate(of_keys) for b in of_keys[:n])
    assert all(where[a] == where[b] for a in range(len(keys)) for b in range(a) if set(keys[a]) & set(keys[b]))


def test_what_one_call_says_is_one_unit() -> None:
    one, two, three = sighting("1", calls=("x",)), sighting("2", calls=("x", "y")), sighting("3", calls=("z",))
    assert [unit.sightings for unit in groups.units([one, three, two])] == [[one, two], [three]]
    assert len(groups.units([sighting("1"), sighting("1")])) == 2
