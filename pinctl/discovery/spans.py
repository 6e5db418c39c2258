"""Spans of a file that do not overlap, and what lies on them."""

from bisect import bisect_left, insort


class Spans:
    """Byte spans `start:end`, each with a note. The cost of a question grows with the logarithm of their number."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int, str]] = []

    def add(self, start: int, end: int, note: str = "") -> None:
        """One more; where it overlaps others, questions about the overlap may find any of them."""
        insort(self._spans, (start, end, note))

    def overlapping(self, start: int, end: int) -> list[str]:
        """The notes of the spans that share a byte with `start:end`, in their order."""
        at = bisect_left(self._spans, (start, start, ""))
        first = at - 1 if at and self._spans[at - 1][1] > start else at
        found = []
        while first < len(self._spans) and (self._spans[first][0] < end or first < at):
            found.append(self._spans[first][2])
            first += 1
        return found
