"""Which bytes of a file claims of sites touch, and which of them overlap. Pure."""

from collections.abc import Iterator, Sequence

from pinctl.sites.base import Slot

Spans = tuple[tuple[int, int], ...]


def touched(slot: Slot) -> Spans:
    """The bytes that an edit of `slot` may replace: its literals, or where an empty list is filled."""
    return tuple((token.start, token.end) for token in slot.tokens) or ((slot.start, slot.end),)


def overlaps(claimed: Sequence[Spans]) -> Iterator[tuple[int, int]]:
    """The indices of claims that share bytes, each with that of the one before it in the file, once."""
    reach, holder, told = -1, -1, set[tuple[int, int]]()
    for start, end, n in sorted((start, end, n) for n, spans in enumerate(claimed) for start, end in spans):
        if start < reach and n != holder and (holder, n) not in told:
            told.add((holder, n))
            yield holder, n
        if end > reach:
            reach, holder = end, n
