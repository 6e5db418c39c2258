"""Scalars of YAML: what one means, and how a value is written as one.

A value is written so that readers of YAML 1.1 (PyYAML and most others) and of 1.2 both get that very string. Rules:
YAML 1.2.2 chapters 5.7 (escapes), 7.3 (flow scalars), 8.1 (block scalars), 10.3.2 (core schema), and the type
repository of YAML 1.1 (yaml.org/type) for `0123456`, `no`, `1_000`, `12:30` and dates.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from pinctl.sites.base import Token, Unwritable, verbatim

PLAIN, IN_FLOW, SINGLE, DOUBLE, BLOCK = "plain", "plain in flow", "single", "double", "block"
"""Styles of tokens; a plain scalar between brackets or braces may hold less."""


class Piece(NamedTuple):
    """A part of a scalar: what it means, and the bytes `start:end` of the file that say so."""

    meaning: bytes
    start: int
    end: int


_BREAK = rb"(?:\r\n|\r|\n)"
_FOLD = rb"(?P<fold>[ \t]*(?:\r\n|\r|\n)[ \t\r\n]*)"
_BLANKS = rb"[ \t]+(?![ \t\r\n])"
_FLOW = {
    PLAIN: re.compile(_FOLD + rb"|(?P<text>(?:[^\r\n \t]+|%s)+)" % _BLANKS),
    SINGLE: re.compile(_FOLD + rb"|(?P<quote>'')|(?P<text>(?:[^'\r\n \t]+|%s)+)" % _BLANKS),
    DOUBLE: re.compile(
        _FOLD
        + rb"|(?P<join>\\%s[ \t]*)" % _BREAK
        + rb"|(?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^xuU\r\n]))"
        + rb"|(?P<text>(?:[^\\\r\n \t]+|%s)+)" % _BLANKS
    ),
}
_NOT_VERBATIM = re.compile(rb"[\r\n\\'\x85\xa8\xa9]")
_OLD_BREAK = re.compile(rb"\xc2\x85|\xe2\x80[\xa8\xa9]")
"""NEL, LS and PS: line breaks in YAML 1.1, plain characters in 1.2."""
_ESCAPES = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_HEADER = re.compile(rb"(?P<kind>[|>])[-+]?(?:[ \t]+#[^\r\n]*|[ \t]*)" + _BREAK)
_LINE = re.compile(rb"(?P<indent> *)(?P<text>[^\r\n]*)(?:\r\n|\r|\n|\Z)")

_KINDS = {
    "null": r"~|null|Null|NULL|",
    "boolean": r"[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
    "integer": r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*)",
    "float": r"[-+]?(?:[0-9][0-9_]*(?::[0-5]?[0-9])*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "date": r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?",
    "merge or default": r"<<|=",
}
_TYPED = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
_NULL = ("~", "null", "Null", "NULL")

# What no reader takes for a break, a mark or nothing at all.
_CHARACTERS = " -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
ORDINARY = re.compile(f"[{_CHARACTERS}]*")
_PLAIN_START = re.compile(r"[^\s,\[\]{}#&*!|>'\"%@`:?-]")
_NOT_PLAIN = {PLAIN: re.compile(r": | #|:\Z|\s\Z|\A\.\.\."), IN_FLOW: re.compile(r": | #|:\Z|\s\Z|\A\.\.\.|[,\[\]{}?]")}

_EXPANSION = re.compile(r"\$\{\{.*?\}\}|\$\{[^}]*\}?|\$\(|\$\w+|\{\{.*?\}\}|\{%")
"""What the readers of workflows, pipelines, compose files and templates replace by something else."""
_ONLY_EXPANSION = re.compile(r"\$\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\w+|\{\{[^{}]*\}\}")


def kind_of(text: str) -> str | None:
    """The kind of value other than a string that `text` is when it stands there plain; None for a string."""
    return next((kind for kind, pattern in _TYPED.items() if pattern.fullmatch(text)), None)


def token_of(source: bytes, start: int, end: int, style: str) -> Token | None:
    """The literal that the scalar `start:end` is; None for null, for what some reader puts in there, such as
    `${{ env.X }}`, and for a block scalar of several lines."""
    if style == BLOCK:
        found = pieces(source, start, end, style) or []
        if len(found) != 1 or found[0].start == 0 or source[found[0].start - 1 : found[0].start] != b" ":
            return None
        start, end = found[0].start, found[0].end
        value: str | None = _decoded(found[0].meaning)
    else:
        value = text_of(source, start, end, style)
    if value is None or (value in _NULL and style in _NOT_PLAIN):
        return None
    if value.startswith(("$", "{{")) and _ONLY_EXPANSION.fullmatch(value):
        return None
    return Token(value=value, start=start, end=end, style=style)


def text_of(source: bytes, start: int, end: int, style: str) -> str | None:
    """What a flow scalar means; None where YAML has no such scalar."""
    raw = source[start:end] if style in _NOT_PLAIN else source[start + 1 : end - 1]
    if _NOT_VERBATIM.search(raw):
        found = pieces(source, start, end, style)
        return _decoded(b"".join(piece.meaning for piece in found)) if found else None
    return _decoded(raw)


def pieces(source: bytes, start: int, end: int, style: str) -> list[Piece] | None:
    """The parts of a scalar in order, without the line break at the end of a block. None where YAML has no such one."""
    if _OLD_BREAK.search(source, start, end):
        return None
    if style == BLOCK:
        return list(_block(source, start, end))
    if style in (SINGLE, DOUBLE):
        start, end = start + 1, end - 1
    found: list[Piece] = []
    for match in _FLOW[PLAIN if style == IN_FLOW else style].finditer(source, start, end):
        meaning = _meaning(str(match.lastgroup), match[0])
        if meaning is None or match.start() != start:
            return None
        start = match.end()
        found.append(Piece(meaning, *match.span()))
    return found if start == end else None


def _meaning(kind: str, raw: bytes) -> bytes | None:
    if kind == "fold":
        breaks = len(re.findall(_BREAK, raw))
        return b"\n" * (breaks - 1) or b" "
    if kind == "escape":
        code = raw[1:].decode("utf-8", "replace")
        if code[0] not in "xuU":
            return _ESCAPES[code].encode() if code in _ESCAPES else None
        number = int(code[1:], 16)
        return chr(number).encode() if number < 0x110000 and not 0xD800 <= number < 0xE000 else None
    return {"quote": b"'", "join": b""}.get(kind, raw)


def _block(source: bytes, start: int, end: int) -> Iterator[Piece]:
    """The lines of a block scalar, and what stands for the breaks between them. One that says how far it is indented,
    or whose lines are not, gives none."""
    header = _HEADER.match(source, start, end)
    lines = [m for m in _LINE.finditer(source, header.end(), end) if m.start() < end] if header else []
    while lines and not lines[-1]["text"]:
        lines.pop()
    indent = next((len(line["indent"]) for line in lines if line["text"]), 0)
    if header is None or any(line["text"] and len(line["indent"]) < indent for line in lines):
        return
    folded, blank, before = header["kind"] == b">", 0, None
    for line in lines:
        if not line["text"] and len(line["indent"]) <= indent:
            blank += 1
            continue
        at = line.start() + indent
        if before is not None or blank:
            yield _break(source, before, at, blank, folded)
        blank, before = 0, Piece(source[at : line.end("text")], at, line.end("text"))
        yield before


def _break(source: bytes, before: Piece | None, at: int, blank: int, folded: bool) -> Piece:
    """What stands between two lines of a block scalar with `blank` empty ones between them."""
    if before is None:
        return Piece(b"\n" * blank, at, at)
    if folded and before.meaning[:1] not in (b" ", b"\t") and source[at : at + 1] not in (b" ", b"\t"):
        return Piece(b"\n" * blank or b" ", before.end, at)
    return Piece(b"\n" * (blank + 1), before.end, at)


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def check(value: str, old: str) -> None:
    """Raises Unwritable for what a reader would expand in `value`, where `old` did not hold it already."""
    for expansion in {*_EXPANSION.findall(value)} - {*_EXPANSION.findall(old)}:
        raise Unwritable(f"{expansion!r} in {value!r} would be replaced by something else; YAML cannot quote it")


def written(value: str, style: str, old: str) -> bytes:
    """`value` as a scalar of that style where it can hold it, else in double quotes. `old` is the value that stood
    there. Raises Unwritable."""
    text = verbatim(value)
    check(value, old)
    ordinary = ORDINARY.fullmatch(value) is not None
    if style == BLOCK:
        if not ordinary or not value.strip(" ") or value.startswith(" "):
            raise Unwritable(f"{value!r} cannot stand as the one line of a block")
        return text
    if style == SINGLE and ordinary:
        return b"'" + text.replace(b"'", b"''") + b"'"
    if style in _NOT_PLAIN and ordinary and _PLAIN_START.match(value) and not _NOT_PLAIN[style].search(value):
        kind = kind_of(value)
        if kind is None or (kind == kind_of(old) and _faithful(value, old)):
            return text
    return double_quoted(value)


def _faithful(value: str, old: str) -> bool:
    """Whether a plain number or boolean comes back as the same text from every reader, as it seems `old` did."""
    if old in ("true", "false"):
        return value in ("true", "false")
    if re.fullmatch(r"[0-9]+\.[0-9]+", value):
        return repr(float(value)) == value
    return re.fullmatch(r"0|-?[1-9][0-9]{0,14}", value) is not None


def double_quoted(value: str) -> bytes:
    """`value`, which has no control characters, in double quotes."""
    quoted = json.dumps(value, ensure_ascii=False)
    return re.sub(f"[^{_CHARACTERS}]", _escaped, quoted).encode()


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"
