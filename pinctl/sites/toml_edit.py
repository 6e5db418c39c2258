"""Changes to TOML that keep every other byte: elements of arrays, new keys of tables, literals."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tree_sitter import Node

from pinctl.model import KeyPath
from pinctl.plan import Edit, apply
from pinctl.sites.base import Token, Unwritable, verbatim
from pinctl.sites.toml_reader import Reading, Section, Span, key_text

_COMMA = re.compile(rb"(?:[ \t\r\n]|#[^\n]*\n)*,")
_REMARK = re.compile(rb"[ \t]*#[^\r\n]*")


def string(value: str, style: str = '"') -> bytes:
    """A string literal of one line that means `value`: literal (') where `style` says so and can hold it, else basic.

    Raises Unwritable for control characters.
    """
    text = verbatim(value)
    if style.startswith("'") and b"'" not in text:
        return b"'" + text + b"'"
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def plain(value: str, old: str) -> bytes:
    """`value` as a number, boolean or date of the kind that `old` is (source text both). Raises Unwritable."""
    kinds = [_kind(text) for text in (old, value)]
    if kinds[0] is None or kinds[0] != kinds[1]:
        raise Unwritable(f"{value!r} cannot stand in place of {old}, which is not a string: quote it there first")
    return value.encode()


def _kind(text: str) -> str | None:
    if not re.fullmatch(r"[-+.:\w](?:[-+.:\w ]*[-+.:\w])?", text, re.ASCII):
        return None
    try:
        kind = type(tomllib.loads(f"x={text}")["x"]).__name__
    except ValueError:
        return None
    return "float" if kind == "int" else kind


def rendered(value: object) -> str:
    """`value` (str, bool, int, float, sequence or mapping of these) as TOML on one line. Raises Unwritable."""
    if isinstance(value, str):
        return string(value).decode()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(str(k))} = {rendered(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[" + ", ".join(map(rendered, value)) + "]"
    raise Unwritable(f"TOML has no value for {value!r}")


# Elements of arrays. A comment behind an element, on its line, belongs to it and goes with it; a comment on a line of
# its own stays.


def _comma(source: bytes, token: Token) -> int | None:
    """Where the comma behind an element stands."""
    match = _COMMA.match(source, token.end)
    return match.end() - 1 if match else None


def _tail(source: bytes, token: Token) -> int:
    """The end of what belongs to an element: its comma, and a comment behind it on the line."""
    comma = _comma(source, token)
    end = token.end if comma is None else comma + 1
    remark = _REMARK.match(source, end)
    return remark.end() if remark else end


def _lead(source: bytes, token: Token) -> int:
    """The start of the white space before an element, back to the end of the line before at most."""
    start = len(source[: token.start].rstrip(b" \t"))
    if source[:start].endswith(b"\r\n"):
        return start - 2
    return start - 1 if source[:start].endswith(b"\n") else start


def _gap(source: bytes, tokens: Sequence[Token], n: int) -> bytes:
    """The white space to put before a new element beside the element `n`."""
    token = tokens[n]
    gap = source[_lead(source, token) : token.start]
    if n == 0 and b"\n" not in gap:
        return source[_lead(source, tokens[1]) : tokens[1].start] if len(tokens) > 1 else b" "
    return gap


def insertion(source: bytes, tokens: Sequence[Token], at: int, words: Sequence[bytes]) -> Edit:
    """The edit that puts `words` between the elements `at - 1` and `at` of an array that has elements."""
    gap = _gap(source, tokens, max(at - 1, 0))
    if at == 0:
        return Edit(tokens[0].start, tokens[0].start, b"".join(word + b"," + gap for word in words))
    before = tokens[at - 1]
    tail = _tail(source, before)
    if b"#" in source[before.end : tail] and b"\n" not in gap:
        gap = line_break(source) + indent(source, before.start)
    if _comma(source, before) is not None:
        return Edit(tail, tail, b"".join(gap + word + b"," for word in words))
    new = b"," + source[before.end : tail] + b",".join(gap + word for word in words)
    return Edit(before.end, tail, new)


def removal(source: bytes, tokens: Sequence[Token], first: int, stop: int) -> Iterator[Edit]:
    """The edits that take the elements `first:stop` out."""
    if stop == len(tokens) and first > 0 and _comma(source, tokens[-1]) is None:
        comma = _comma(source, tokens[first - 1])
        if comma is not None:
            yield Edit(comma, comma + 1, b"")
    for token in tokens[first:stop]:
        yield from _cut(source, token, foremost=first == 0)


def _cut(source: bytes, token: Token, *, foremost: bool) -> Iterator[Edit]:
    """Take one element out with its comma and the blanks on one side of it."""
    start, end = token.start, _tail(source, token)
    lead = _lead(source, token)
    own_line = source[lead:start].startswith((b"\n", b"\r"))
    beyond = end + len(source[end:]) - len(source[end:].lstrip(b" \t"))
    ends_line = source[beyond : beyond + 1] in (b"\n", b"\r")
    if (own_line and not ends_line) or (foremost and not own_line):
        end = beyond
    else:
        start = lead
    comma = _comma(source, token)
    if comma is not None and b"#" in source[token.end : comma]:
        yield Edit(start, token.end, b"")
        start = comma
    yield Edit(start, end, b"")


# Keys of tables


def key_insertion(reading: Reading, source: bytes, table: KeyPath, key: str, value: object) -> Edit:
    """The edit that adds `key = value` at the end of the lines of a table that exists. Raises Unwritable."""
    if (*table, key) in reading.spans:
        raise Unwritable(f"{key} stands there already")
    edit = _key_edit(reading, source, table, key_text(key), rendered(value))
    _prove(apply(source, [edit]), (*table, key), value)
    return edit


def _key_edit(reading: Reading, source: bytes, table: KeyPath, key: str, value: str) -> Edit:
    assignment = f"{key} = {value}".encode()
    for item in reading.items:
        if item.path == table and item.node.type == "inline_table":
            return _into_inline(source, item.node.start_byte, item.node.end_byte, assignment)
    for section in reading.sections:
        if section.path == table:
            return _append(source, section, assignment)
    if (dotted := _dotted(reading, source, table)) is not None:
        prefix, start, end = dotted
        return _line_after(source, end, prefix + b"." + assignment, start)
    for section in reading.sections:
        if section.path[: len(table)] == table:
            header = "[" + ".".join(key_text(part) for part in table if isinstance(part, str)) + "]"
            newline = line_break(source)
            return Edit(section.start, section.start, newline.join([header.encode(), assignment, b"", b""]))
    raise Unwritable(f"there is no table {'.'.join(map(str, table))}")


def _append(source: bytes, section: Section, assignment: bytes) -> Edit:
    if section.pairs:
        return _line_after(source, section.pairs[-1].end, assignment, section.pairs[-1].start)
    if section.end:
        return _line_after(source, section.end, assignment, section.start)
    start = 3 if source.startswith(b"\xef\xbb\xbf") else 0
    return Edit(start, start, assignment + line_break(source))


def _dotted(reading: Reading, source: bytes, table: KeyPath) -> tuple[bytes, int, int] | None:
    """The key that stands for `table` in the last pair that writes it dotted, and that pair's bytes."""
    for section in reversed(reading.sections):
        for pair in reversed(section.pairs):
            if len(section.path) < len(table) < len(pair.path) and pair.path[: len(table)] == table:
                last = pair.keys[len(table) - len(section.path) - 1]
                return source[pair.start : last[1]], pair.start, pair.end
    return None


def _line_after(source: bytes, end: int, text: bytes, like: int) -> Edit:
    """A new line `text` behind the line where `end` is, indented as the line of `like`."""
    line_end = source.find(b"\n", end)
    at = len(source) if line_end < 0 else line_end - source[:line_end].endswith(b"\r")
    return Edit(at, at, line_break(source) + indent(source, like) + text)


def _into_inline(source: bytes, start: int, end: int, assignment: bytes) -> Edit:
    inner = source[start + 1 : end - 1]
    if not inner.strip():
        return Edit(start + 1, end - 1, b" " + assignment + b" ")
    at = start + 1 + len(inner.rstrip())
    return Edit(at, at, b", " + assignment)


def key_removal(reading: Reading, source: bytes, key: KeyPath) -> list[Edit]:
    """The edits that take out all that stands at or below `key`: lines `key = value` with the comment behind them,
    pairs of inline tables with their comma, and tables with their header and all their lines.

    A comment on a line of its own stays, unless it stands between the lines of such a table.
    """
    spans = [_table_lines(source, section) for section in reading.sections if _within(section.path, key)]
    spans += [
        _whole_lines(source, pair.start, pair.end)
        for section in reading.sections
        for pair in section.pairs
        if _within(pair.path, key)
    ]
    inner = [pair for item in reading.items if _within(item.path, key) and (pair := _inline_pair(item.node))]
    return [Edit(start, end, b"") for start, end in _joined([*spans, *_inline_cuts(inner)])]


def _within(path: KeyPath, key: KeyPath) -> bool:
    return path[: len(key)] == key


def _joined(spans: Sequence[Span]) -> list[Span]:
    """`spans` in the order of the file, those that overlap made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _whole_lines(source: bytes, start: int, end: int) -> Span:
    """The lines of the bytes `start:end`; a byte order mark is of no line."""
    first = source.rfind(b"\n", 0, start) + 1
    return first or 3 * source.startswith(b"\xef\xbb\xbf"), source.find(b"\n", end) + 1 or len(source)


def _table_lines(source: bytes, section: Section) -> Span:
    """The lines of a table up to its last value, and the blank ones behind where one stands before; at the end of the
    file, those before."""
    start, end = _whole_lines(source, section.start, section.pairs[-1].end if section.pairs else section.end)
    rest = source[end:]
    if not rest.strip():
        kept = len(source[:start].rstrip(b" \t\r\n"))
        return min(start, source.find(b"\n", kept) + 1 if kept else 0), len(source)
    if start and not source[:start].endswith((b"\n\n", b"\r\n\r\n")):
        return start, end
    return start, source.rfind(b"\n", 0, len(source) - len(rest.lstrip())) + 1


def _inline_pair(value: Node) -> Node | None:
    """The `key = value` of an inline table that `value` stands in."""
    pair = value.parent
    return pair if pair and pair.type == "pair" and pair.parent and pair.parent.type == "inline_table" else None


def _inline_cuts(gone: Sequence[Node]) -> Iterator[Span]:
    """What to take out of inline tables for their pairs `gone`: each with the comma and the blanks on one side."""
    starts = {pair.start_byte for pair in gone}
    for table in {pair.parent.start_byte: pair.parent for pair in gone if pair.parent}.values():
        pairs = [child for child in table.named_children if child.type == "pair"]
        last = max((n for n, pair in enumerate(pairs) if pair.start_byte not in starts), default=None)
        if last is None:
            yield table.start_byte + 1, table.end_byte - 1
            continue
        for pair, following in pairwise(pairs[: last + 1]):
            if pair.start_byte in starts:
                yield pair.start_byte, following.start_byte
        if last + 1 < len(pairs):
            yield pairs[last].end_byte, pairs[-1].end_byte


def line_break(source: bytes) -> bytes:
    """How the file ends its lines: as its first one."""
    return b"\r\n" if source[: source.find(b"\n")].endswith(b"\r") else b"\n"


def indent(source: bytes, at: int) -> bytes:
    """The white space that begins the line of the byte `at`."""
    line = source[source.rfind(b"\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(b" \t"))]


def _prove(after: bytes, path: KeyPath, value: object) -> None:
    """Raises Unwritable where `after` does not read as TOML with `value` at `path`."""
    try:
        found: Any = tomllib.loads(after.decode("utf-8-sig"))
        for step in path:
            found = found[step]
    except (ValueError, LookupError, RecursionError) as error:
        raise Unwritable(f"the file would not be TOML any more: {error}") from None
    if found != tomllib.loads(f"x = {rendered(value)}")["x"]:
        raise Unwritable(f"{'.'.join(map(str, path))} would not read as it is meant")
