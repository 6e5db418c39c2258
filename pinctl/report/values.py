"""What a site should hold and what it holds, one under the other, so that the difference is seen."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinctl.report.cells import ELLIPSIS, cells, clipped
from pinctl.report.sanitize import visible

_CONTEXT = 12
"""Characters kept before the difference when a value is too long for its line."""
_LONGEST = 100
"""Columns of a value from which on a list is shown by its elements, where the width has no limit."""
_MOST_MATCHED = 400
"""Elements up to which two lists are matched one with another; the time grows with their product."""


class Shown(NamedTuple):
    """One line of a comparison: `label` is "expected", "found" or "" (the marks under the values); the characters
    `start:end` of `text` are what differs."""

    label: str
    text: str
    start: int
    end: int


def compared(expected: str | None, found: str | None, room: int, most: int) -> list[Shown]:
    """The lines for `expected` and `found` (None: nothing to show), in `room` cells (0: no limit).

    Lists (elements apart by line feeds or spaces) that are long are shown by the elements that differ, `most` of each
    side (0: no limit).
    """
    if expected is None or found is None:
        alone = [("expected", expected), ("found", found)]
        return [_whole(label, visible(text, keep=""), room) for label, text in alone if text is not None]
    if "\n" in expected + found:
        lines = list(_elements(expected.split("\n"), found.split("\n"), room, most))
    elif " " in expected + found and max(cells(expected), cells(found)) > (room or _LONGEST):
        lines = list(_elements(expected.split(" "), found.split(" "), room, most))
    else:
        lines = []
    if lines:
        return lines
    return _aligned(visible(expected, keep=""), visible(found, keep=""), room)


def _whole(label: str, text: str, room: int) -> Shown:
    return Shown(label, clipped(text, room) if room else text, 0, 0)


def _aligned(expected: str, found: str, room: int) -> list[Shown]:
    """Both values whole, or both cut alike around the difference, and marks below it unless all differs."""
    start, end_expected, end_found = difference(expected, found)
    longest = max(cells(expected), cells(found))
    cut = max(0, start - _CONTEXT) if room and longest > room else 0
    lines = [
        _window("expected", expected, cut, start, end_expected, room),
        _window("found", found, cut, start, end_found, room),
    ]
    everything = start == 0 and end_expected == len(expected) and end_found == len(found)
    if not everything and expected != found:
        text, marked = lines[1].text, slice(lines[1].start, lines[1].end)
        before, width = cells(text[: marked.start]), max(1, cells(text[marked]))
        lines.append(Shown("", " " * before + "^" + "~" * (width - 1), before, before + width))
    return lines


def _window(label: str, text: str, cut: int, start: int, end: int, room: int) -> Shown:
    shift = cut - len(ELLIPSIS) if cut else 0
    text = ELLIPSIS + text[cut:] if cut else text
    text = clipped(text, room) if room else text
    return Shown(label, text, min(start - shift, len(text)), min(end - shift, len(text)))


def difference(a: str, b: str) -> tuple[int, int, int]:
    """Where `a` and `b` begin to differ, and where the difference ends in each: what is before and after is equal.

    In values of unequal length it ends with a word: the last letter that `jit` and `fmt` share tells nothing.
    """
    start = _alike(a, b)
    end = _alike(a[start:][::-1], b[start:][::-1])
    while len(a) != len(b) and end and a[-end].isalnum():
        end -= 1
    return start, len(a) - end, len(b) - end


def _alike(a: str, b: str) -> int:
    """How many characters `a` and `b` begin alike with."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _elements(expected: Sequence[str], found: Sequence[str], room: int, most: int) -> Iterator[Shown]:
    """The elements that only one side has, or that stand elsewhere there; none where the lists are equal."""
    lacking, extra = _unmatched(expected, found)
    for label, sign, elements in (("expected", "+", lacking), ("found", "-", extra)):
        shown = elements[:most] if most else elements
        for element in shown:
            line = _whole(label, f"{sign} {visible(element, keep='')}", room)
            yield line._replace(end=len(line.text))
        if len(elements) > len(shown):
            yield _whole(label, f"{sign} {ELLIPSIS} {len(elements) - len(shown)} more", room)


def _unmatched(a: Sequence[str], b: Sequence[str]) -> tuple[list[str], list[str]]:
    """The elements of each that have no equal in their place in the other."""
    from difflib import SequenceMatcher

    if max(len(a), len(b)) > _MOST_MATCHED:
        in_a, in_b = frozenset(a), frozenset(b)
        return [x for x in a if x not in in_b], [x for x in b if x not in in_a]
    only_a, only_b = list[str](), list[str]()
    for op, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if op != "equal":
            only_a += a[i:j]
            only_b += b[k:m]
    return only_a, only_b
