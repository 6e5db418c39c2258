"""Block sequences of YAML: elements on lines of their own, behind dashes.

A comment behind an element, on its line, belongs to it and goes with it; a comment on a line of its own stays.
"""

import re
from collections.abc import Iterator, Sequence

from pinctl.plan import Edit
from pinctl.sites.base import Token, Unwritable
from pinctl.sites.brackets import Span, column, line_break

_LONE_CR = re.compile(rb"\r(?!\n)")


def insertion(source: bytes, dashes: Sequence[int], tokens: Sequence[Token], at: int, words: Sequence[bytes]) -> Edit:
    """The edit that puts `words` between the elements `at - 1` and `at`. Raises Unwritable."""
    near = max(at - 1, 0)
    dash = source[dashes[near] : tokens[near].start]
    start = line_break(source) + b" " * column(source, dashes[0])
    if at == 0:
        return Edit(dashes[0], dashes[0], b"".join(dash + word + start for word in words))
    end = _line_end(source, tokens[near].end)
    return Edit(end, end, b"".join(start + dash + word for word in words))


def removal(source: bytes, dashes: Sequence[int], tokens: Sequence[Token], first: int, stop: int) -> Iterator[Edit]:
    """The edits that take the elements `first:stop` out, but not all of them. Raises Unwritable."""
    spans: list[Span] = []
    for n in range(first, stop):
        start, end = _lines(source, dashes[n], tokens[n].end)
        if spans and spans[-1][1] == start:
            start = spans.pop()[0]
        spans.append((start, end))
    if first == 0 and spans[0][0] == dashes[0] and not _remarks(source, dashes, tokens, stop):
        # What stands on the line before the first dash gets the first element that is left.
        spans = [(dashes[0], dashes[stop])]
    for start, end in spans:
        if end == len(source) and not source.endswith(b"\n"):
            start = len(source[:start].removesuffix(b"\n").removesuffix(b"\r"))
        yield Edit(start, end, b"")


def _remarks(source: bytes, dashes: Sequence[int], tokens: Sequence[Token], stop: int) -> bool:
    """Whether a comment stands on a line of its own among the elements before `stop`, or above that one."""
    return any(b"#" in source[_line_end(source, tokens[n].end) : dashes[n + 1]] for n in range(stop))


def emptied(source: bytes, dashes: Sequence[int], tokens: Sequence[Token]) -> list[Edit]:
    """The edits that leave `[]`. Raises Unwritable."""
    # As deep as the dashes may be too shallow for anything else.
    indent = b"  " if not source[dashes[0] - column(source, dashes[0]) : dashes[0]].strip() else b""
    rest = removal(source, dashes, tokens, 1, len(tokens)) if len(tokens) > 1 else ()
    return [Edit(dashes[0], tokens[0].end, indent + b"[]"), *rest]


def _lines(source: bytes, dash: int, end: int) -> Span:
    """The lines of an element that ends at `end`; from its dash on where something else stands before that."""
    start = dash - column(source, dash)
    stop = _line_end(source, end)
    if source[start:dash].strip(b" "):
        return dash, stop
    return start, min(stop + len(line_break(source)), len(source))


def _line_end(source: bytes, at: int) -> int:
    """Where the line of the byte `at` ends, without its break. Raises Unwritable where lines end in CR alone."""
    if _LONE_CR.search(source):
        raise Unwritable("the file has lines that end in CR alone")
    end = source.find(b"\n", at)
    return len(source) if end < 0 else end - (source[end - 1 : end] == b"\r")
