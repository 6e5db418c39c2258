"""Words of a Dockerfile: the values of ARG, ENV and LABEL, as BuildKit reads and expands them.

Rules: BuildKit's frontend/dockerfile/parser/line_parsers.go (how words are split) and frontend/dockerfile/shell/lex.go
(quotes, escapes, `$`). They differ from a shell's: in double quotes the escape stands for itself unless a quote,
a dollar or another escape follows.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pinctl.sites.base import verbatim
from pinctl.sites.shell_words import BARE, DOUBLE, MIXED, SINGLE, Word, text

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./~-]+")
_OLD_FORM = re.compile(rb"(?P<name>\S+)[\t\v\f\r ]+(?P<value>.+)", re.DOTALL)


class _Patterns(NamedTuple):
    word: re.Pattern[bytes]
    piece: re.Pattern[bytes]
    in_double: re.Pattern[bytes]


@cache
def _patterns(escape: bytes) -> _Patterns:
    e = re.escape(escape)
    return _Patterns(
        re.compile(
            rb"\s*+(?P<word>(?:[^\s'\"%b]++|%b.|'[^']*+'|\"(?:[^\"%b]++|%b.)*+\")++)(?=\s|\Z)" % (e, e, e, e),
            re.DOTALL,
        ),
        re.compile(
            rb"%b(?P<escaped>.)|'(?P<single>[^']*)'|\"(?P<double>(?:[^\"$%b]++|%b.)*+)\"|(?P<bare>[^'\"$%b]+)"
            % (e, e, e, e),
            re.DOTALL,
        ),
        re.compile(rb"%b([\"$%b])" % (e, e)),
    )


def assignments(line: bytes, escape: bytes, *, old_form: bool) -> Iterator[tuple[str, Word]]:
    """The names and values in the arguments `line` of ARG, ENV or LABEL; a value that is no literal is None.

    `old_form`: `NAME value with spaces` is one, too.
    """
    words = list(_split(line, escape))
    if old_form and words and b"=" not in line[slice(*words[0])]:
        pairs = [m.span("name") + m.span("value")] if (m := _OLD_FORM.fullmatch(line)) else []
    else:
        equals = [(start, line.find(b"=", start, end), end) for start, end in words]
        pairs = [(start, at, at + 1, end) for start, at, end in equals if at >= 0]
    for name_start, name_end, start, end in pairs:
        name = literal(line[name_start:name_end], escape)
        value, style = literal(line[start:end], escape) or (None, "")
        if name is not None and name[0]:
            yield name[0], Word(start, end, line[start:end], value, style)


def _split(line: bytes, escape: bytes) -> Iterator[tuple[int, int]]:
    """The spans of the words; one that does not end, such as an open quote, is left out with all behind it."""
    at = 0
    while word := _patterns(escape).word.match(line, at):
        yield word.span("word")
        at = word.end()


def literal(raw: bytes, escape: bytes) -> tuple[str, str] | None:
    """The value and style of `raw`; None where BuildKit would expand a variable in it."""
    at, parts, styles = 0, [], set()
    while at < len(raw):
        piece = _patterns(escape).piece.match(raw, at)
        if piece is None:
            return None
        at, kind = piece.end(), str(piece.lastgroup)
        inside = piece[kind]
        parts.append(_patterns(escape).in_double.sub(rb"\1", inside) if kind == "double" else inside)
        styles.add(kind)
    value = text(b"".join(parts))
    style = styles.pop() if len(styles) == 1 else MIXED if styles else BARE
    # Words are split at any white space of Unicode, too, which is no white space to us.
    odd = style != BARE or value.isascii() or not any(c.isspace() for c in value if c > "\x7f")
    return (value, MIXED if style == "escaped" else style) if odd else None


def quote(value: str, style: str, escape: bytes) -> bytes:
    """`value` as one word of that style where it can hold it, else quoted: BuildKit expands nothing in it.

    Raises Unwritable for control characters.
    """
    plain = verbatim(value)
    if style == BARE and _SAFE.fullmatch(value):
        return plain
    escaped = re.sub(rb"([\"$%b])" % re.escape(escape), lambda m: escape + m[1], plain)
    if b"'" not in plain and (style == SINGLE or (style != DOUBLE and escaped != plain)):
        return b"'" + plain + b"'"
    return b'"' + escaped + b'"'
