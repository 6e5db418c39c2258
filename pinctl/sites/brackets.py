"""Lists in brackets, elements parted by commas: what an edit of one must keep.

A comment behind an element, the last thing on its line, belongs to it and goes with it; any other stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinctl.plan import Edit
from pinctl.sites.base import Token

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brackets:
    """What stands between the brackets of a list, the bytes `start:end` of `source`."""

    source: bytes
    start: int
    end: int
    tokens: Sequence[Token]
    commas: Sequence[Span]
    comments: Sequence[Span]

    def filled(self, words: Sequence[bytes]) -> Edit:
        """The edit that puts `words` into a list without elements."""
        return Edit(self.start, self.start if self.comments else self.end, b", ".join(words))

    def emptied(self) -> list[Edit]:
        """The edits that take all elements out."""
        return list(self.removal(0, len(self.tokens))) if self.comments else [Edit(self.start, self.end, b"")]

    def removal(self, first: int, stop: int) -> Iterator[Edit]:
        """The edits that take the elements `first:stop` out."""
        spans: list[Span] = []
        if stop == len(self.tokens) and first and not self._comma(stop - 1):
            spans += self._comma(first - 1)
        for n in range(first, stop):
            spans += self._own(n)
        for start, end in _joined(self.source, spans):
            yield Edit(*_with_blanks(self.source, start, end), b"")

    def insertion(self, at: int, words: Sequence[bytes]) -> Edit:
        """The edit that puts `words` between the elements `at - 1` and `at`."""
        gap = self._gap(at)
        if at == 0:
            start = self.tokens[0].start
            return Edit(start, start, b"".join(word + b"," + gap for word in words))
        before, tail = self.tokens[at - 1], self._own(at - 1)[-1][1]
        if b"\n" not in gap and self._remark(at - 1):
            gap = line_break(self.source) + b" " * column(self.source, before.start)
        if self._comma(at - 1):
            return Edit(tail, tail, b"".join(gap + word + b"," for word in words))
        kept = self.source[before.end : tail]
        return Edit(before.end, tail, b"," + kept + b",".join(gap + word for word in words))

    def _own(self, n: int) -> list[Span]:
        """What goes with the element `n`: itself, its comma and the comment behind it."""
        token = self.tokens[n]
        return _joined(self.source, [(token.start, token.end), *self._comma(n), *self._remark(n)])

    def _comma(self, n: int) -> list[Span]:
        """The comma behind the element `n`, if any."""
        return [c for c in self.commas if self.tokens[n].end <= c[0] < self._limit(n)][:1]

    def _remark(self, n: int) -> list[Span]:
        """The comment that is the last thing on the line where the element `n` ends, if any."""
        start = self.tokens[n].end
        limit = min(self.source.find(b"\n", start), self._limit(n))
        for begin, end in [c for c in self.comments if start <= c[0] < limit][-1:]:
            # A grammar may count the CR of a line end to the comment.
            end -= self.source[begin:end].endswith(b"\r")
            if not self.source[end : self.source.find(b"\n", end)].strip():
                return [(begin, end)]
        return []

    def _limit(self, n: int) -> int:
        return self.tokens[n + 1].start if n + 1 < len(self.tokens) else self.end

    def _gap(self, at: int) -> bytes:
        """The white space between two elements, as near the element `at` as there is any."""
        count, first = len(self.tokens), _white(self.source, self.tokens[0].start)
        if count == 1 or (at == 0 and b"\n" in first):
            return first if b"\n" in first else b" "
        return _white(self.source, self.tokens[min(max(at, 1), count - 1)].start)


def _joined(source: bytes, spans: Sequence[Span]) -> list[Span]:
    """The spans in order; those with nothing but white space between them made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and not source[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _with_blanks(source: bytes, start: int, end: int) -> Span:
    """A span to cut out, with the blanks on one side of it; with its lines where nothing else is on them."""
    before = len(source[:start].rstrip(b" \t"))
    after = len(source) - len(source[end:].lstrip(b" \t"))
    opens_line, ends_line = source[:before].endswith(b"\n"), source[after : after + 1] in (b"\r", b"\n")
    if opens_line and ends_line:
        return len(source[:before].removesuffix(b"\n").removesuffix(b"\r")), after
    if opens_line or source[:before].endswith(b"["):
        return start, after
    return before, end


def _white(source: bytes, end: int) -> bytes:
    """The white space before `end`, from the last line break in it on."""
    white = source[len(source[:end].rstrip()) : end]
    line = white.rfind(b"\n")
    return white[line - white[:line].endswith(b"\r") :] if line >= 0 else white


def line_break(source: bytes) -> bytes:
    """How the file ends its lines: as its first one."""
    return b"\r\n" if source[: source.find(b"\n") + 1].endswith(b"\r\n") else b"\n"


def column(source: bytes, at: int) -> int:
    """How many bytes stand before `at` on its line."""
    return at - source.rfind(b"\n", 0, at) - 1
