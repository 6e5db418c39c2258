"""The values, keys and tables of a TOML file with their places, from tree-sitter-toml's tree."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node, Parser

from pinctl.model import KeyPath
from pinctl.sites.base import Unparsable
from pinctl.sites.grammar import grammar

_GRAMMAR = grammar("toml")
_BOM = b"\xef\xbb\xbf"
_LONGEST = 300
"""No longer selector is made: a hostile file could give each of its values a path of a megabyte."""
_LARGEST = 2 << 20
_MOST_NODES = 500_000
"""Larger files and trees are refused, as they cost seconds and gigabytes. A lock file of 2 MiB has 200,000 nodes."""

KEY = r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[A-Za-z0-9_-]+"
"""One key as TOML writes it: quoted either way, or bare."""
_KEY = re.compile(KEY.encode())
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Span = tuple[int, int]


class Item(NamedTuple):
    """One value: its key path, the same as a selector, and its node.

    `elements` are the nodes of an array that holds plain values only: a list slot; `listed` marks one of them.
    """

    path: KeyPath
    name: str
    node: Node
    elements: tuple[Node, ...] | None = None
    listed: bool = False


class Pair(NamedTuple):
    """One `key = value` line of a section: its full path, the places of its key's parts, and its bytes."""

    path: KeyPath
    keys: tuple[Span, ...]
    start: int
    end: int


class Section(NamedTuple):
    """The lines under one header (the bytes `start:end`), or before the first (an empty span)."""

    path: KeyPath
    start: int
    end: int
    pairs: list[Pair]


@dataclass(slots=True)
class Reading:
    """What a TOML file holds. `spans` has the place of every key and array element; `called` has what the elements
    of arrays are called, the value of their key `name`; `errors` are the bytes that are no TOML."""

    items: list[Item] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    spans: dict[KeyPath, Span] = field(default_factory=dict)
    called: dict[KeyPath, str] = field(default_factory=dict)
    errors: tuple[Span, ...] = ()


def read(source: bytes) -> Reading:
    """Every value of `source` whose key path is sure. What follows an error is read again from the next header on.

    Raises Unparsable for a file out of bounds.
    """
    if len(source) > _LARGEST:
        raise Unparsable(f"the file has more than {_LARGEST:,} bytes")
    if source.startswith(_BOM):
        source = b"   " + source[3:]
    root = Parser(_GRAMMAR).parse(source).root_node
    if root.descendant_count > _MOST_NODES:
        raise Unparsable(f"the file has more than {_MOST_NODES:,} TOML tokens")
    reader = _Reader(source, _errors(root) if root.has_error else ())
    reader.document(root)
    return reader.reading


def text_of(literal: str) -> str | None:
    """What a string literal of any of the four kinds means; None where TOML has no such literal."""
    if "\\" not in literal and literal[:3] not in ('"""', "'''"):
        return literal[1:-1]
    try:
        return str(tomllib.loads(f"x={literal}")["x"])
    except tomllib.TOMLDecodeError:
        return None


def key_text(key: str) -> str:
    """A key as TOML writes it: bare where it can be."""
    if _BARE.fullmatch(key):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\u{ord(m[0]):04x}", escaped) + '"'


def _errors(root: Node) -> tuple[Span, ...]:
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            found.append((node.start_byte, node.end_byte))
        elif node.has_error:
            stack += node.children
    return tuple(sorted(found))


class _Reader:
    def __init__(self, source: bytes, errors: tuple[Span, ...]) -> None:
        self.source = source
        self.reading = Reading(errors=errors)
        self.counts: dict[KeyPath, int] = {}
        # A header of an array of tables that cannot be read makes all later numbers of elements unsure.
        self.countable = min((s for s, e in errors if b"[[" in source[s:e]), default=len(source))

    def document(self, root: Node) -> None:
        children = root.children
        headers = [n for n, child in enumerate(children) if child.type in ("table", "table_array_element")]
        self.lines(Section((), 0, 0, []), "", children[: headers[0] if headers else None])
        for n in headers:
            self.table(children[n])

    def table(self, node: Node) -> None:
        opening, *rest = node.children
        if len(rest) < 2 or any(child.has_error or child.is_missing for child in rest[:2]):
            return
        key, closing = rest[:2]
        located = self.header(key, array=opening.type == "[[")
        if located is not None:
            path, name = located
            self.lines(Section(path, node.start_byte, closing.end_byte, []), name, rest[2:])

    def header(self, node: Node, *, array: bool) -> tuple[KeyPath, str] | None:
        """The path and selector of the table that a header opens; None where the number of its element is unsure."""
        path: KeyPath = ()
        name, place = "", (node.start_byte, node.end_byte)
        keys = self.keys(node)
        for n, (key, place) in enumerate(keys, 1):
            path, name = (*path, key), _join(name, key)
            self.reading.spans.setdefault(path, place)
            count = self.counts.get(path, 0)
            if array and n == len(keys):
                self.counts[path] = count = count + 1
            if count:
                path, name = (*path, count - 1), f"{name}.{count - 1}"
                if node.start_byte > self.countable:
                    return None
        self.reading.spans[path] = place
        return path, name

    def lines(self, section: Section, name: str, nodes: Iterable[Node]) -> None:
        """Read the pairs of a section up to its first error: behind one, a header may be hidden."""
        self.reading.sections.append(section)
        for node in nodes:
            if node.has_error or node.is_missing:
                return
            if node.type == "pair":
                path, name_, keys, value = self.pair(section.path, name, node)
                section.pairs.append(Pair(path, keys, node.start_byte, value.end_byte))
                self.values(Item(path, name_, value))

    def pair(self, path: KeyPath, name: str, node: Node) -> tuple[KeyPath, str, tuple[Span, ...], Node]:
        key, value = node.named_children[:2]  # a comment behind them is a child too
        keys = self.keys(key)
        for text, place in keys:
            path, name = (*path, text), _join(name, text)
            self.reading.spans.setdefault(path, place)
        return path, name, tuple(place for _, place in keys), value

    def keys(self, node: Node) -> list[tuple[str, Span]]:
        """The parts of a dotted key; none of one that is too long to be a selector."""
        start, end = node.start_byte, node.end_byte
        if node.type == "bare_key":
            return [(self.source[start:end].decode(), (start, end))]
        if end - start > _LONGEST:
            return []
        return [(key_of(m[0].decode("utf-8", "replace")), m.span()) for m in _KEY.finditer(self.source, start, end)]

    def values(self, top: Item) -> None:
        """Record a value and all values inside it, in the order of the file."""
        stack = [top]
        while stack:
            item = stack.pop()
            if len(item.name) > _LONGEST:
                continue
            kind = item.node.type
            if kind == "array":
                item = self.array(item, stack)
            elif kind == "inline_table":
                pairs = [self.pair(item.path, item.name, n) for n in item.node.named_children if n.type == "pair"]
                stack += [Item(path, name, value) for path, name, _, value in reversed(pairs)]
            elif kind == "string" and item.path[-1:] == ("name",) and isinstance(item.path[-2:][0], int):
                self.reading.called[item.path[:-1]] = text_of(self.text(item.node)) or ""
            self.reading.items.append(item)

    def array(self, item: Item, stack: list[Item]) -> Item:
        elements = tuple(child for child in item.node.named_children if child.type != "comment")
        flat = not any(child.type in ("array", "inline_table") for child in elements)
        inner = [Item((*item.path, n), f"{item.name}.{n}", child, None, flat) for n, child in enumerate(elements)]
        self.reading.spans.update((i.path, (i.node.start_byte, i.node.end_byte)) for i in inner)
        stack += reversed(inner)
        return item._replace(elements=elements) if flat else item

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def key_of(literal: str) -> str:
    """What a key means; one that TOML does not have stands for itself."""
    if literal[0] not in "\"'":
        return literal
    value = text_of(literal)
    return literal if value is None else value


def _join(name: str, key: str) -> str:
    return f"{name}.{key_text(key)}" if name else key_text(key)
