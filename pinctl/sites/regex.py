"""The fallback for shapes that no language knows: a pattern with one group, `(?P<value>...)`, in the syntax of RE2.

RE2 matches in linear time whatever the pattern, which pins.toml, hence a stranger, chooses; it has no lookaround.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pinctl.plan import Edit, apply
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, verbatim

_LONGEST = 200
_MOST = 100
"""No more matches are looked for: that many are ambiguous anyway, and each may read the file to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found(Slot):
    """A place that a pattern found: written verbatim, where the pattern then finds the new value."""

    pattern: str

    def encode(self, document: Document, value: str) -> bytes:
        new = verbatim(value)
        after = apply(document.source, [Edit(self.start, self.end, new)])
        if (self.start, self.start + len(new)) not in _spans(_compiled(self.pattern), after):
            raise Unwritable(f"the pattern would not find {value!r} in this place")
        return new


def find_regex(document: Document, pattern: str) -> list[Hit]:
    """The places that the group `value` of `pattern` matches, in a document of any language: one hit a match.

    Raises BadSelector: the pattern is too long, not RE2's, or has another group, or none.
    """
    return [(_slot(document.source, pattern, *span),) for span in _spans(_compiled(pattern), document.source)]


def _compiled(pattern: str) -> Any:
    import re2

    if len(pattern) > _LONGEST:
        raise BadSelector(f"the pattern has {len(pattern)} characters; at most {_LONGEST} are allowed")
    options = re2.Options()
    options.log_errors = False
    try:
        # As bytes, so that offsets are bytes; RE2 still reads both as UTF-8.
        compiled = re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error, re2.error) else "it is no text"
        raise BadSelector(f"{pattern!r} is no pattern of RE2: {reason}") from None
    if compiled.groups != 1 or b"value" not in compiled.groupindex:
        raise BadSelector("the pattern needs one group, `(?P<value>...)`, around the value; others must be `(?:...)`")
    return compiled


def _spans(compiled: Any, source: bytes) -> list[tuple[int, int]]:
    return list(islice(_matches(compiled, source), _MOST))


def _matches(compiled: Any, source: bytes) -> Iterator[tuple[int, int]]:
    for match in compiled.finditer(source):
        start, end = match.span(1)
        # RE2's Python module steps over an empty match by one byte, which may lie inside of a character.
        inside = source[start : start + 1] and 0x80 <= source[start] < 0xC0
        if start >= 0 and not inside:
            yield start, end


def _slot(source: bytes, pattern: str, start: int, end: int) -> Slot:
    token = Token(value=source[start:end].decode("utf-8", "replace"), start=start, end=end)
    return _Found(names=(f"regex:{pattern}",), tokens=(token,), start=start, end=end, style="raw", pattern=pattern)
