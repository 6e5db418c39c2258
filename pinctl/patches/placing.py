"""Finds where a hunk belongs in a file, and puts it there: as `git apply` does, exactly, at the nearest fitting place.

A hunk without lines around it on one side belongs to that end of the file. Lines that an earlier hunk has put there
are not matched again (git's apply.c, find_pos and match_fragment). With `fuzz` so many of the outermost unchanged
lines on each side may differ, as patch(1) means it.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from pinctl.patches.model import Hunk

_MOST_COMPARED = 20_000_000
"""Lines that are compared at most to place one hunk: a file of equal lines must not take minutes."""
_MOST_SCANNED = 4_000_000
"""Lines that are looked at in one file to place its hunks elsewhere than they say."""
_MOST_VOTES = 50


class Nearest(NamedTuple):
    """The place in a file that is most like the one that a hunk wants: there begin `of` lines, of which `alike` are
    the same; `line` is the first that is not, counted from 1, `found` what stands there (None: the file ends before)
    and `wanted` what should."""

    line: int
    alike: int
    of: int
    wanted: bytes
    found: bytes | None


def split(content: bytes) -> list[bytes]:
    """The lines of a file with their ends: at LF alone, since a diff knows no other."""
    pieces = content.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def adapted(hunks: Sequence[Hunk], content: bytes) -> Sequence[Hunk]:
    """`hunks` with the line ends of the file that they are for, where each of the two has one kind alone: a patch may
    have been stored with others."""
    lines = [line for hunk in hunks for line in hunk.lines if line.endswith(b"\n")]
    ends = {line.endswith(b"\r\n") for line in lines}
    crlf = content.count(b"\r\n")
    if ends == {False} and crlf and crlf == content.count(b"\n"):
        return [hunk._replace(lines=tuple(map(_with_cr, hunk.lines))) for hunk in hunks]
    if ends == {True} and not crlf and b"\n" in content:
        return [hunk._replace(lines=tuple(map(_without_cr, hunk.lines))) for hunk in hunks]
    return hunks


def _with_cr(line: bytes) -> bytes:
    return line[:-1] + b"\r\n" if line.endswith(b"\n") else line


def _without_cr(line: bytes) -> bytes:
    return line[:-2] + b"\n" if line.endswith(b"\r\n") else line


class Image:
    """The lines of a file, into which hunks are put one after the other."""

    def __init__(self, content: bytes) -> None:
        self.lines = split(content)
        self._taken = [False] * len(self.lines)
        self._left = _MOST_SCANNED
        self._counts = Counter(self.lines)

    @property
    def content(self) -> bytes:
        return b"".join(self.lines)

    def put(self, hunk: Hunk, fuzz: int = 0) -> int | None:
        """Put a hunk in its place; by how many lines that is another than it says. None where it fits nowhere."""
        for allowed in range(fuzz + 1):
            low, high = min(allowed, hunk.leading), min(allowed, hunk.trailing)
            before, after = (side[low : len(side) - high] for side in (hunk.before, hunk.after))
            at = self._find(before, hunk, low, loose=allowed > 0)
            if at is not None:
                self.lines[at : at + len(before)] = after
                self._counts.subtract(before)
                self._counts.update(after)
                self._taken[at : at + len(before)] = [True] * len(after)
                return at - low - max(hunk.new - 1, 0)
        return None

    def fits(self, hunk: Hunk) -> bool:
        """Whether a hunk has a place here."""
        return self._find(hunk.before, hunk, 0, loose=False) is not None

    def _find(self, before: Sequence[bytes], hunk: Hunk, cut: int, *, loose: bool) -> int | None:
        """The place of the lines `before`, of which `cut` were left out at the beginning, nearest to the hunk's own."""
        first = not loose and hunk.old <= 1
        last = not loose and hunk.trailing == 0
        start = 0 if first else len(self.lines) - len(before) if last else max(hunk.new - 1, 0) + cut
        budget = _MOST_COMPARED // max(len(before), 1)
        for at, _ in zip(self._places(before, start), range(budget), strict=False):
            if (first and at != 0) or (last and at + len(before) != len(self.lines)):
                continue
            if self.lines[at : at + len(before)] == before and not any(self._taken[at : at + len(before)]):
                return at
        return None

    def _places(self, before: Sequence[bytes], start: int) -> Iterator[int]:
        """Where the lines may begin, the nearest to `start` first, and of two equally near the later one."""
        most = len(self.lines) - len(before)
        start = min(max(start, 0), len(self.lines))
        if start <= most:
            yield start
        if any(self._counts[line] <= 0 for line in before):
            return
        self._left -= len(self.lines)
        if self._left < 0:
            return
        anchor = min(range(len(before)), key=lambda n: self._counts[before[n]], default=0)  # the rarest line
        found = enumerate(self.lines[anchor : most + 1 + anchor])
        places = [at for at, line in found if not before or line == before[anchor]]
        low = bisect_left(places, start)
        high = bisect_right(places, start)
        while low > 0 or high < len(places):
            later = high < len(places) and (low == 0 or places[high] - start <= start - places[low - 1])
            yield places[high] if later else places[low - 1]
            low, high = (low, high + 1) if later else (low - 1, high)

    @cached_property
    def _known(self) -> dict[bytes, list[int]]:
        """Where each line is, but for what is there very often."""
        known: dict[bytes, list[int]] = {}
        for at, line in enumerate(self.lines):
            if len(places := known.setdefault(line, [])) < _MOST_VOTES:
                places.append(at)
        return known

    def nearest(self, hunk: Hunk) -> Nearest | None:
        """Where the file, into which nothing was put, is most like what the hunk wants; None where nothing is."""
        before = hunk.before
        votes = Counter(at - n for n, line in enumerate(before) if line.strip() for at in self._known.get(line, ()))
        votes = Counter({at: count for at, count in votes.items() if at >= 0})
        if not votes:
            return None
        best = min(votes, key=lambda at: (-votes[at], abs(at - hunk.new + 1)))
        there: list[bytes | None] = [*self.lines[best : best + len(before)]]
        there += [None] * (len(before) - len(there))
        unlike = [n for n, line in enumerate(before) if there[n] != line]
        n = unlike[0] if unlike else 0
        return Nearest(best + n + 1, len(before) - len(unlike), len(before), before[n], there[n])
