from hypothesis import given
from hypothesis import strategies as st

from pinctl.external import linemap
from pinctl.external.linemap import kept, span_before, split


def test_lines_end_at_lf_alone() -> None:
    assert split(b"a\r\nb\x0bc\x85\xe2\x80\xa8d\ne") == [b"a", b"b\x0bc\x85\xe2\x80\xa8d", b"e"]
    assert split(b"a\n\n") == [b"a", b""]
    assert split(b"") == []


def test_kept_lines_are_numbered_on_both_sides() -> None:
    old = [b"a", b"b", b"c", b"d", b"e"]
    assert kept(old, old) == {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}
    assert kept(old, [b"a", b"X", b"c", b"d", b"e"]) == {1: 1, 3: 3, 4: 4, 5: 5}
    assert kept(old, [b"new", *old]) == {2: 1, 3: 2, 4: 3, 5: 4, 6: 5}
    assert kept(old, [b"a", b"d", b"e"]) == {1: 1, 2: 4, 3: 5}
    assert kept(old, [b"a", b"X", b"c", b"Y", b"e"]) == {1: 1, 3: 3, 5: 5}
    assert kept([], [b"a"]) == {}


def test_a_span_is_kept_only_as_one_piece() -> None:
    same = {1: 1, 2: 4, 3: 5}
    assert span_before(same, 2, 3) == (4, 5)
    assert span_before(same, 1, 1) == (1, 1)
    assert span_before(same, 1, 2) is None  # what stood between is gone
    assert span_before(same, 3, 4) is None


def test_very_many_differing_lines_all_count_as_changed() -> None:
    old, new = [b"%d" % n for n in range(3000)], [b"%d" % -n for n in range(1, 3001)]
    assert len(old) * len(new) > linemap._PAIRS
    assert kept([b"head", *old, b"tail"], [b"head", *new, b"tail"]) == {1: 1, 3002: 3002}


_LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"}"]), max_size=12)


@given(_LINES, _LINES)
def test_kept_lines_are_equal_and_in_order(old: list[bytes], new: list[bytes]) -> None:
    same = kept(old, new)
    assert all(new[n - 1] == old[o - 1] for n, o in same.items())
    assert [same[n] for n in sorted(same)] == sorted(set(same.values()))
