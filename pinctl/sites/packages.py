"""Lists of words in shell text: package lists of `dnf install` and the like, and arrays.

What an edit must keep: comments between the elements, continued lines, options, and elements that are no literals.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from pinctl.plan import Edit
from pinctl.sites.base import Document, Hit, Slot, Unwritable
from pinctl.sites.shell_words import EXPANSION, Word

Span = tuple[int, int]


class Manager(NamedTuple):
    """How a package manager is told what to install: its verb, and the options that take the next word as value."""

    verb: str
    valued: frozenset[str]


_DNF = Manager(
    "install",
    frozenset(
        "-c --config -d -e -R -x --exclude --excludepkgs --enablerepo --disablerepo --repo --repoid --repofrompath"
        " --setopt --installroot --releasever --forcearch --enableplugin --disableplugin --comment --destdir"
        " --downloaddir".split()
    ),
)
_APT = Manager(
    "install",
    frozenset(
        "-t --target-release --default-release -o --option -c --config-file -a --host-architecture -P"
        " --build-profiles --solver".split()
    ),
)
_APK = Manager(
    "add",
    frozenset(
        "-t --virtual -X --repository -p --root --arch --keys-dir --repositories-file --cache-dir --cache-max-age"
        " --wait --timeout --progress-fd".split()
    ),
)
MANAGERS = {"dnf": _DNF, "microdnf": _DNF, "yum": _DNF, "apt-get": _APT, "apt": _APT, "apk": _APK}
"""Package managers by the name of their program: dnf(8), yum(8), apt-get(8), apt(8), apk(8)."""

LISTS = tuple(f"{program} {manager.verb}" for program, manager in MANAGERS.items())
"""The selectors of package lists."""


def operands(words: Sequence[Word], first: int, valued: frozenset[str]) -> list[int]:
    """Which words from `first` on are neither options nor values of the options `valued`. Behind `--` all are."""
    places: list[int] = []
    at = first
    while at < len(words):
        word = words[at]
        if word.value == "--":
            return [*places, *range(at + 1, len(words))]
        if not word.option:
            places.append(at)
        at += 2 if word.value in valued else 1
    return places


_GAP = re.compile(rb"(?:[\s\\`]|#[^\n]*\n)*")
_BLANKS = re.compile(rb"[ \t]*")
_CONTINUED = re.compile(rb"[ \t]*[\\`][ \t]*\r?\n")
_TO_EOL = re.compile(rb"[ \t]*(?=\r?\n|\Z)")
_COMMENT = re.compile(rb"[ \t]*#[^\r\n]*")
_COMMENT_LINES = re.compile(rb"(?m)^[ \t]*#[^\n]*\n")
_LAST_LINE = re.compile(rb"\r?\n[ \t]*\Z")


@dataclass(slots=True)
class WordLists(Document):
    """A document whose lists are words of shell text: arrays, which are ordered, and the operands of commands."""

    words: dict[int, tuple[Span, ...]] = field(default_factory=dict, repr=False)
    """For each list, by its `start`, the spans of all words around it, its elements among them, in order."""
    _before: dict[int, dict[int, int]] = field(default_factory=dict, repr=False)

    def holding(self, selector: str) -> list[Hit] | None:
        """The package lists that `MANAGER VERB(PACKAGE)` names: those that hold PACKAGE, with a version or without.
        None where `selector` is of another form."""
        match = re.fullmatch(r"(?s)(.*?)\((\S+)\)", selector)
        if match is None or not match[1].endswith(LISTS):
            return None
        lists = self.index().get(match[1], [])
        return [hit for hit in lists if any(match[2] in (e, e.partition("=")[0]) for e in hit[0].value)]

    def separator(self, slot: Slot, before: int) -> bytes:
        gaps = [_plain(self._gap(slot, n)) for n in range(len(slot.tokens))]
        near = [gap for gap in gaps[before + 1 : before + 2] + gaps[before::-1] if gap]
        return near[0] if near else b" "

    def fill(self, slot: Slot, values: Sequence[str]) -> list[Edit]:
        words = b" ".join(self.encode(slot, None, value) for value in values)
        around = self.words[slot.start]
        place = around[-1][1]
        return [Edit(place, place, b" " + words if len(around) > 1 else words)]

    def empty(self, slot: Slot) -> list[Edit]:
        if not slot.ordered:
            return Document.empty(self, slot)
        return list(self.remove(slot, 0, len(slot.tokens)))

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        words = [self.encode(slot, None, value) for value in new]
        if at == 0 and not self._gap(slot, 0):
            gap, place = self.separator(slot, 0), slot.tokens[0].start
            return Edit(place, place, b"".join(word + gap for word in words))
        # Behind the word before, so that a comment above the next element stays with it.
        gap, place = self.separator(slot, at - 1), self._end_before(slot, at)
        comment = _COMMENT.match(self.source, place) if slot.ordered and b"\n" in gap else None
        place = comment.end() if comment else place
        return Edit(place, place, b"".join(gap + word for word in words))

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        if any(token.style == EXPANSION for token in slot.tokens[first:stop]):
            raise Unwritable("an element that is no literal would go; take it out by hand")
        begin = first
        for n in range(first + 1, stop + 1):
            # Words that are none of ours stay, so what stands before and behind them goes by itself.
            if n == stop or self._end_before(slot, n) != slot.tokens[n - 1].end:
                yield self._removal(slot, begin, n)
                begin = n

    def _removal(self, slot: Slot, first: int, stop: int) -> Edit:
        """The edit that takes out `first:stop`, between which stand only white space and comments."""
        gaps = [self._gap(slot, n) for n in range(first, stop)]
        start, end = slot.tokens[first].start, slot.tokens[stop - 1].end
        following = self._on_same_line(slot, end)
        if following and (not gaps[0] or b"\n" in gaps[0]) and not any(b"#" in gap for gap in gaps[1:]):
            return Edit(start, following, b"")
        if slot.ordered:
            return self._removal_from_array(gaps, start - len(gaps[0]), end)
        return self._removal_from_command(gaps, start - len(gaps[0]), end)

    def _removal_from_command(self, gaps: list[bytes], before: int, end: int) -> Edit:
        """In a Dockerfile comments stand on lines of their own, within the continued line of the command."""
        comments = b"".join(line for gap in gaps for line in _COMMENT_LINES.findall(gap))
        if not comments:
            return Edit(before, end, b"")
        head = next(_head(gap) for gap in gaps if b"\n" in gap)
        if continued := _CONTINUED.match(self.source, end):
            return Edit(before, continued.end(), head + comments)
        if _TO_EOL.match(self.source, end):
            # The command ends here, so the line before may not go on any more.
            eol = b"\r\n" if head.endswith(b"\r\n") else b"\n"
            return Edit(before, end, eol + comments.rstrip(b"\r\n"))
        return Edit(before, _end(_BLANKS, self.source, end), head + comments + _indent(gaps[-1]))

    def _removal_from_array(self, gaps: list[bytes], before: int, end: int) -> Edit:
        """An array's comments stand behind its elements, too, and run to the end of their lines."""
        kept = b"".join(_LAST_LINE.sub(b"", gap) for gap in gaps if b"#" in gap)
        behind = _end(_BLANKS, self.source, end)
        if self.source.startswith((b"\r", b"\n"), behind) or not (kept or self.source.startswith(b"#", behind)):
            return Edit(before, end, kept)
        line = next((m[0] for gap in reversed(gaps) if (m := _LAST_LINE.search(gap))), b"")
        return Edit(before, behind if line else end, kept + line)

    def _on_same_line(self, slot: Slot, end: int) -> int | None:
        """Where the word begins that follows the one that ends at `end` on its line, if any."""
        starts = (start for start, before in self._ends_before(slot).items() if before == end)
        return next((start for start in starts if not self.source[end:start].strip(b" \t")), None)

    def _end_before(self, slot: Slot, at: int) -> int:
        """Where what stands before the token `at` ends; `at` may be the number of tokens, for the last one's end."""
        if at == len(slot.tokens):
            return slot.tokens[at - 1].end
        start = slot.tokens[at].start
        end = self._ends_before(slot).get(start, start)
        # Between two words there may be a redirection.
        return end if _GAP.fullmatch(self.source, end, start) else len(self.source[end:start].rstrip(b" \t")) + end

    def _ends_before(self, slot: Slot) -> dict[int, int]:
        """For each word around a list, by its start, where the word before it ends."""
        if slot.start not in self._before:
            self._before[slot.start] = {b[0]: a[1] for a, b in pairwise(self.words[slot.start])}
        return self._before[slot.start]

    def _gap(self, slot: Slot, at: int) -> bytes:
        """What stands between the token `at` and the word before it: white space, line ends, comments."""
        return self.source[self._end_before(slot, at) : slot.tokens[at].start]


def _end(pattern: re.Pattern[bytes], source: bytes, at: int) -> int:
    match = pattern.match(source, at)
    return match.end() if match else at


def _head(gap: bytes) -> bytes:
    """The first line of a gap over several lines, without its comment."""
    return _COMMENT.sub(b"", gap[: gap.find(b"\n") + 1])


def _indent(gap: bytes) -> bytes:
    return gap[gap.rfind(b"\n") + 1 :]


def _plain(gap: bytes) -> bytes:
    """A gap without the comments and empty lines in it: the end of one line and the indentation of the next."""
    return _head(gap) + _indent(gap) if b"\n" in gap else gap
