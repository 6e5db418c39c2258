"""Versions and commits that comments mention beside a name, in files of any language: `# see flash-attn 2.8.3`.

The selector `comment:NAME` takes what follows NAME in a comment that begins with `#` or `//`, at the start of a line or
behind white space. Letter case does not count in NAME, and `-`, `_` and `.` are one (PEP 503); `_VERSION` may follow.
"""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pinctl.plan import Edit, apply
from pinctl.sites.base import Document, Hit, Slot, Token, Unwritable, verbatim

_MOST = 100
"""No more mentions are looked for: that many are ambiguous anyway."""
_COMMENT = r"(?m)(?:^|[ \t])(?:#|//)[^\n]*"
_BETWEEN = r"(?:[-_. ]version)?(?:\[[^\]\n]*\])?[ \t]*(?:===|[=~!<>]=|[=@:(])?[ \t]*v?"
_VALUE = r"(?P<value>[0-9](?:[A-Za-z0-9.!+_-]*[A-Za-z0-9])?|[0-9a-f]{7,64}\b)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mention(Slot):
    """A place in a comment: written verbatim, where the mention is then found again with the new value."""

    name: str

    def encode(self, document: Document, value: str) -> bytes:
        new = verbatim(value)
        after = apply(document.source, [Edit(self.start, self.end, new)])
        if (self.start, self.start + len(new)) not in _spans(after, self.name):
            raise Unwritable(f"{value!r} would not be read as a version in a comment")
        return new


def find_mentions(document: Document, name: str) -> list[Hit]:
    """The versions and commits that comments of `document` mention beside `name`: one hit a mention."""
    return [(_slot(document.source, name, *span),) for span in _spans(document.source, name)]


def _spans(source: bytes, name: str) -> list[tuple[int, int]]:
    comment, mention = _compiled(_COMMENT), _compiled(_mention(name))
    found = (match.span(1) for inside in comment.finditer(source)
             for match in mention.finditer(source, inside.start(), inside.end()))  # fmt: skip
    return list(islice(found, _MOST))


def _mention(name: str) -> str:
    written = r"[-_.]+".join(map(re.escape, re.split(r"[-_.]+", name)))
    return rf"(?i)(?:^|[^A-Za-z0-9_.-]){written}{_BETWEEN}{_VALUE}"


def _compiled(pattern: str) -> Any:
    import re2

    return re2.compile(pattern.encode())


def _slot(source: bytes, name: str, start: int, end: int) -> Slot:
    token = Token(value=source[start:end].decode("utf-8", "replace"), start=start, end=end)
    return _Mention(names=(f"comment:{name}",), tokens=(token,), start=start, end=end, style="raw", name=name)
