"""Words of bash and POSIX sh: what a literal one means, and how a value is quoted.

Rules: POSIX.1-2017 XCU 2.2 (quoting) and 2.6 (expansions), bash(1) QUOTING and EXPANSION. A *style* is a note on a
token's quoting: BARE, SINGLE, DOUBLE, ANSI (`$'...'`), MIXED (several of them in one word), and INNER or
INNER_DOUBLE for the default of an expansion that itself stands in double quotes, `"${X:-default}"`. EXPANSION is a
word in which the shell expands something, so that its meaning is not known.
"""

import re
from typing import NamedTuple

from pinctl.sites.base import Unwritable, verbatim

BARE, SINGLE, DOUBLE, ANSI, MIXED = "bare", "single", "double", "ansi", "mixed"
INNER, INNER_DOUBLE, EXPANSION = "inner", "inner-double", "expansion"

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_PLAIN = re.compile(_SAFE.pattern.encode())
_PIECE = re.compile(
    rb"""(?P<joint>\\\r?\n)
    |\\(?P<escaped>.)
    |'(?P<single>[^']*)'
    |"(?P<double>(?:[^"\\$`]++|\\.)*+)"
    |\$'(?P<ansi>(?:[^'\\]++|\\.)*+)'
    |(?P<bare>[^\s'"\\$`;&|()<>]+)""",
    re.DOTALL | re.VERBOSE,
)
_IN_DOUBLE = re.compile(rb"\\\r?\n|\\([\"\\$`])")
_IN_ANSI = re.compile(
    rb"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))",
    re.DOTALL,
)
_ANSI_LETTERS = dict(zip(b"abeEfnrtv\\'\"?", b"\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_INNER = re.compile(rb"(?:[^\"'\\$`{}]++|\\[^'{])*+", re.DOTALL)
_IN_INNER = re.compile(rb"\\\r?\n|\\([\"\\$`}])")
_INNER_DOUBLE = re.compile(rb'"([^"\'\\$`{}]*)"')


class Word(NamedTuple):
    """One word of a command: the bytes `start:end` of the text, and what they mean if they are literal."""

    start: int
    end: int
    raw: bytes
    value: str | None
    style: str

    @property
    def option(self) -> bool:
        """Whether it begins with a dash, as the command will see it."""
        if self.value is None:
            return self.raw.lstrip(b"\"'").startswith(b"-")
        return self.value.startswith("-") and self.value != "-"


def text(raw: bytes) -> str:
    """`raw` as text; bytes that are no UTF-8 survive as lone surrogates, which no writer takes."""
    return raw.decode("utf-8", "surrogateescape")


def literal(raw: bytes, *, assigned: bool = False) -> tuple[str, str] | None:
    """The value and style of the word `raw`; None where the shell would expand something in it, or it is no one word.

    `assigned`: it is the right side of an assignment, where braces and patterns do not expand.
    """
    if not raw or _PLAIN.fullmatch(raw):
        return raw.decode(), BARE
    at, parts, bare, styles = 0, [], b"", set()
    while at < len(raw):
        piece = _PIECE.match(raw, at)
        if piece is None:
            return None
        at, kind = piece.end(), str(piece.lastgroup)
        meant = _meaning(kind, piece[kind])
        if meant is None:
            return None
        parts.append(meant)
        styles.add(kind)
        bare += meant if kind == "bare" else b"x"
    if _expands(bare, assigned):
        return None
    styles.discard("joint")
    return text(b"".join(parts)), styles.pop() if len(styles) == 1 and "escaped" not in styles else MIXED


def _meaning(kind: str, inside: bytes) -> bytes | None:
    """What a piece of a word means, its quotes taken off; None where we cannot say."""
    if kind == "double":
        return _IN_DOUBLE.sub(lambda m: m[1] or b"", inside)
    if kind == "ansi":
        return _ansi(inside)
    return b"" if kind == "joint" else inside


def _expands(bare: bytes, assigned: bool) -> bool:
    """Whether the unquoted parts of a word, `x` for each quoted one, hold a tilde, brace or pathname expansion."""
    if bare.startswith(b"~") or b":~" in bare:
        return True
    braces = b"{" in bare and (b"," in bare or b".." in bare)
    return not assigned and (braces or b"*" in bare or b"?" in bare)


def _ansi(inside: bytes) -> bytes | None:
    """The meaning of `$'inside'` (bash(1) QUOTING); None with an escape that we do not read, such as `\\cX`."""
    if any(m[6] is not None for m in _IN_ANSI.finditer(inside)):
        return None
    try:
        meant = _IN_ANSI.sub(_ansi_escape, inside)
    except (ValueError, OverflowError):
        return None
    return None if b"\0" in meant else meant


def _ansi_escape(match: re.Match[bytes]) -> bytes:
    letter, octal, byte, short, long = match.group(1, 2, 3, 4, 5)
    if letter is not None:
        return bytes([_ANSI_LETTERS[letter[0]]])
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    return bytes([int(byte, 16)]) if byte is not None else chr(int(short or long, 16)).encode()


def default(raw: bytes, quoted: bool) -> tuple[str, str] | None:
    """The value and style of the default `raw` of an expansion; `quoted`: the expansion stands in double quotes.

    There single quotes are plain characters to sh and a syntax error to some versions of bash: such a default is
    read as None.
    """
    if not quoted:
        return literal(raw)
    double = _INNER_DOUBLE.fullmatch(raw)
    if double is not None:
        return text(double[1]), INNER_DOUBLE
    if _INNER.fullmatch(raw) is None:
        return None
    return text(_IN_INNER.sub(lambda m: m[1] or b"", raw)), INNER


def quote(value: str, style: str) -> bytes:
    """`value` as one word of that style where it can hold it, else safely quoted: the shell expands nothing in it.

    Raises Unwritable for control characters, and for `'` and `{` in a default that stands in double quotes.
    """
    plain = verbatim(value)
    if style in (INNER, INNER_DOUBLE):
        return _quote_inner(plain, style)
    if style == BARE and _SAFE.fullmatch(value):
        return plain
    if style == ANSI and not re.search(r"['\\]", value):
        return b"$'" + plain + b"'"
    escaped = re.sub(rb"([\"\\$`])", rb"\\\1", plain)
    if b"'" not in plain and (style == SINGLE or (style == BARE and escaped != plain)):
        return b"'" + plain + b"'"
    return b'"' + escaped + b'"'


def _quote_inner(plain: bytes, style: str) -> bytes:
    if b"'" in plain or b"{" in plain:
        raise Unwritable('shells differ on \' and { in the default of a quoted expansion, "${X:-...}"')
    if style == INNER_DOUBLE and _INNER_DOUBLE.fullmatch(b'"' + plain + b'"'):
        return b'"' + plain + b'"'
    return re.sub(rb"([\"\\$`}])", rb"\\\1", plain)
