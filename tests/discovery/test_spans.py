from hypothesis import given
from hypothesis import strategies as st

from pinctl.discovery.spans import Spans

CUTS = st.lists(st.integers(0, 60), unique=True, max_size=12).map(sorted)


@given(CUTS, st.integers(0, 60), st.integers(1, 20))
def test_what_overlaps_is_what_shares_a_byte(cuts: list[int], start: int, length: int) -> None:
    known = list(zip(cuts[::2], cuts[1::2], strict=False))
    spans = Spans()
    for at, (first, last) in enumerate(reversed(known)):
        spans.add(first, last, str(len(known) - 1 - at))
    end = start + length
    assert spans.overlapping(start, end) == [str(n) for n, (a, b) in enumerate(known) if a < end and start < b]


def test_touching_is_not_overlapping() -> None:
    spans = Spans()
    spans.add(3, 6, "x")
    assert spans.overlapping(0, 3) == spans.overlapping(6, 9) == []
    assert spans.overlapping(5, 6) == ["x"]
