"""What edits do to a text: replace one plain text by another, or what a regular expression matches."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from pinctl.anchors.model import HOLE
from pinctl.anchors.patterns import LONGEST

MOST = 100_000
"""Matches that are looked at."""

Template = tuple[bytes | int, ...]
"""What takes the place of a match: texts, and numbers of groups."""


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Flags(NamedTuple):
    """How RE2 reads a pattern. `text`: as UTF-8, else as bytes; `longest` as POSIX has it, else the first."""

    longest: bool = False
    ignore_case: bool = False
    dot_all: bool = True
    text: bool = False


def compiled(pattern: str, flags: Flags) -> Any:
    """The pattern as RE2 has it compiled; None where it is none of RE2's."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.longest_match, options.dot_nl = flags.longest, flags.dot_all
    options.case_sensitive = not flags.ignore_case
    options.encoding = re2.Options.Encoding.UTF8 if flags.text else re2.Options.Encoding.LATIN1
    try:
        return re2.compile(encoded(pattern), options) if len(pattern) <= 4 * LONGEST else None
    except (re2.error, UnicodeEncodeError):
        return None


@dataclass(frozen=True, slots=True)
class Replace:
    """One text by another, everywhere (`None`: by what is not known)."""

    old: bytes
    new: bytes | None

    ascii_alone: ClassVar[bool] = False
    inserts: ClassVar[bool] = False

    def count(self, text: bytes) -> int:
        return text.count(self.old)

    def apply(self, text: bytes) -> bytes | None:
        return None if self.new is None else text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Regex:
    """What `expression`, RE2's, matches in the whole text, by a template (None: by what is not known)."""

    expression: Any
    template: Template | None
    ascii_alone: bool = False
    inserts: ClassVar[bool] = False

    @property
    def new(self) -> bytes | None:
        return plain(self.template)

    def count(self, text: bytes) -> int:
        return sum(1 for _ in islice(self.expression.finditer(text), MOST))

    def apply(self, text: bytes) -> bytes | None:
        matches = islice(self.expression.finditer(text), MOST)
        return None if self.template is None else substituted(self.template, text, matches)


def plain(template: Template | None) -> bytes | None:
    """The text of a template that is one text."""
    known = template is not None and all(isinstance(part, bytes) for part in template)
    return b"".join(part for part in template or () if isinstance(part, bytes)) if known else None


def substituted(template: Template, text: bytes, matches: Iterable[Any]) -> bytes:
    """`text` with the template in place of each of the matches."""
    parts: list[bytes] = []
    at = 0
    for match in matches:
        parts += [text[at : match.start()], *(_part(match, part) for part in template)]
        at = match.end()
    return b"".join([*parts, text[at:]])


def _part(match: Any, part: bytes | int) -> bytes:
    return part if isinstance(part, bytes) else match.group(part) or b""


_PIECE = re.compile(r"\\(?P<escaped>.)|(?P<all>&)|(?P<text>[^\\&]+)", re.DOTALL)


def template(text: str, groups: int, read: Callable[[str], str | None], *, ampersand: bool = False) -> Template | None:
    """The template that `text` means, where the expression has so many groups; `read` gives what a backslash and
    another character than a digit mean, and `ampersand` stands for the whole match. None where it cannot be told."""
    pieces = list(_PIECE.finditer(text))
    if HOLE in text or sum(len(piece[0]) for piece in pieces) != len(text):
        return None
    parts: list[bytes | int] = []
    for piece in pieces:
        escaped = piece["escaped"]
        if escaped is not None and escaped.isdigit():
            if int(escaped) > groups:
                return None
            parts.append(int(escaped))
        elif piece["all"] and ampersand:
            parts.append(0)
        else:
            meant = read(escaped) if escaped is not None else piece[0]
            if meant is None:
                return None
            parts.append(encoded(meant))
    return tuple(_merged(parts))


def _merged(parts: Sequence[bytes | int]) -> list[bytes | int]:
    merged: list[bytes | int] = []
    for part in parts:
        if isinstance(part, bytes) and merged and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    return merged
