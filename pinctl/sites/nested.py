"""What JSON, YAML and HCL share: values inside values, named by the way to them, and lists in brackets.

A step of a selector is a key, a number, or `[key=value]`: the element of a list that says so of itself.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import ClassVar, NamedTuple

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Tree

from pinctl.plan import Edit
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Unparsable, Unwritable, scalar
from pinctl.sites.brackets import Brackets, Span

LONGEST = 300
"""No longer selector is made: a hostile file could give each of a million values a path of its own megabyte."""
MOST = 200_000
"""A file of more values is no place for pins, and would take hundreds of megabytes."""
_MARKS = (b",", b"\n", b"[", b"{", b'"', b"'", b"\\")
_MOST_MARKS = 600_000
"""Each such byte may cost the parser some hundred. In the densest JSON that people keep it is one in five: 3 MB."""
_PATIENCE = 5.0
_CHUNK = 1 << 16

CALLED = ("name", "id", "key", "label", "repo", "uses")
"""Keys by whose value an element of a list is called: the first one by which no other element is."""

Step = str | tuple[str, str]

_QUOTED = r"\"(?:[^\"\\]|\\.)*\""
_KEY, _VALUE = rf"{_QUOTED}|[^\]\[=\"]+", rf"{_QUOTED}|[^\]\"]*"
FILTERS = rf"(?:\[(?:[0-9]+|(?:{_KEY})=(?:{_VALUE}))\])*"
"""Any number of `[0]` and `[key=value]`; a word that holds a bracket or a quote is quoted as JSON quotes it."""
_FILTER = re.compile(rf"\[(?:(?P<number>[0-9]+)|(?P<key>{_KEY})=(?P<value>{_VALUE}))\]", re.DOTALL)
_DOTTED = re.compile(rf"(?P<key>{_QUOTED}|[^.\[\]\"]+)?(?P<filters>{FILTERS})(?:\.(?=.)|\Z)", re.DOTALL)
_ODD = r"[\[\]\"]"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def tree_of(grammar: Grammar, source: bytes) -> Tree:
    """The tree of `source`. Raises Unparsable where that would take too much room or time, which no real file does."""
    if len(source) > _MOST_MARKS and sum(map(source.count, _MARKS)) > _MOST_MARKS:
        raise Unparsable("the file holds too many values")
    deadline = monotonic() + _PATIENCE
    try:
        return Parser(grammar).parse(
            lambda offset, _: source[offset : offset + _CHUNK],
            progress_callback=lambda _offset, _error: monotonic() > deadline,
        )
    except ValueError:
        raise Unparsable(f"the file takes more than {_PATIENCE:g} seconds to parse") from None


def error_spans(tree: Tree) -> tuple[Span, ...]:
    """The bytes of `tree` that the grammar could not place."""
    found, stack = [], [tree.root_node]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            found.append((node.start_byte, node.end_byte))
        elif node.has_error:
            stack += _children(node)
    return tuple(sorted(found))


def members(node: Node) -> list[Node]:
    """The named children of a mapping that are surely its own: none where its end is missing, none beside an error.

    Raises Unparsable for too many of them.
    """
    if not _faulty(node):
        return node.named_children
    children = _children(node)
    if any(child.is_missing for child in children):
        return []
    wrong = {n for n, child in enumerate(children) if child.is_error}
    return [c for n, c in enumerate(children) if c.is_named and wrong.isdisjoint((n - 1, n, n + 1))]


def elements(node: Node) -> list[Node] | None:
    """The elements of a list; None where an error makes their number unsure. Raises Unparsable for too many of them."""
    children = _children(node) if _faulty(node) else node.named_children
    if any(child.is_error or child.is_missing for child in children):
        return None
    return [child for child in children if child.is_named and child.type != "comment"]


def _faulty(node: Node) -> bool:
    if node.child_count > MOST:
        raise Unparsable(f"more than {MOST} values in one place")
    return node.has_error


def _children(node: Node) -> list[Node]:
    """The children of a node with errors, but for a last comma and what is thought to be missing behind it."""
    children = [child for child in node.children if not (child.is_error and _is_comma(child))]
    if len(children) > 2 and children[-2].is_missing and _is_comma(children[-3]):
        del children[-2]
    return children


def _is_comma(node: Node) -> bool:
    """Whether it is a comma, or an error that is no more than one."""
    return node.type == "," or (node.is_error and [child.type for child in node.children] == [","])


def key_text(key: str) -> str:
    """A key in a dotted selector, quoted as in TOML where it must be."""
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def word_text(word: str) -> str:
    """A word of a selector without its quotes, if any."""
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word, strict=False))
    except ValueError:
        return word


def filter_steps(filters: str) -> list[Step]:
    """The steps of `[0][key=value]`."""
    return [m["number"] or (word_text(m["key"]), word_text(m["value"])) for m in _FILTER.finditer(filters)]


def dotted_steps(selector: str) -> list[Step]:
    """The steps of `a.b."odd.key".0[name=x].c`. Raises BadSelector."""
    steps: list[Step] = []
    at = 0
    while at < len(selector) or not steps:
        match = _DOTTED.match(selector, at) if len(selector) <= LONGEST else None
        if match is None or not (match["key"] or (match["filters"] and at == 0)):
            raise BadSelector(
                f'{selector[:LONGEST]!r} is no path of keys; expected `key.key`, `key."odd key"`, `list.0.key` '
                "or `list[name=x].key`"
            )
        steps += [word_text(match["key"])] if match["key"] else []
        steps += filter_steps(match["filters"])
        at = match.end()
    return steps


def called_by(key: str, value: str) -> str:
    """What of the value of a key elements are called by: an action is its name, without the ref that follows `@`."""
    return value.partition("@")[0] if key == "uses" else value


def labels(pairs: Mapping[str, str | None]) -> list[str]:
    """Each `[key=value]` by which an element of a list can be called that holds `pairs`, the better ones first."""
    called = ((key, called_by(key, value)) for key in CALLED if (value := pairs.get(key)))
    return [
        f"[{key}={json.dumps(value, ensure_ascii=False) if re.search(_ODD, value) else value}]"
        for key, value in called
        if value and len(value) <= LONGEST // 3 and value.isprintable()
    ]


def checked(value: str, style: str, number: re.Pattern[str]) -> bytes | None:
    """`value` in place of a literal of the style "number" or "boolean", None for another style. Raises Unwritable."""
    if style == "number" and not number.fullmatch(value):
        raise Unwritable(f"{value!r} is no number, and a number stands there")
    if style == "boolean" and value not in ("true", "false"):
        raise Unwritable(f"{value!r} is neither true nor false, and one of them stands there")
    return value.encode() if style in ("number", "boolean") else None


class Item(NamedTuple):
    """A node still to be read: the selector of what it stands for, its second name (the same where there is none), and
    whether it stands between brackets or braces, where that matters."""

    node: Node
    path: str
    alias: str
    inline: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.path,) if self.alias == self.path else (self.path, self.alias)


Found = tuple[Sequence[Slot], Sequence[Item]]
"""What a node is, and what is in it."""


@dataclass(slots=True)
class Nested(Document):
    """A document of values inside values. Languages give `top`, `read` and `encode`; one whose selectors are not keys
    with dots also `way` and `join`."""

    tree: Tree = field(kw_only=True, repr=False)

    SEPARATOR: ClassVar[str] = "."

    def top(self) -> Sequence[Item]:
        """The outermost nodes."""
        raise NotImplementedError

    def read(self, item: Item) -> Found:
        """The slots that a node is, and the nodes in it, in order. Raises Unparsable."""
        raise NotImplementedError

    def way(self, selector: str) -> tuple[str, Sequence[Step]]:
        """Where a selector begins, "" for the whole file, and its steps from there. Raises BadSelector."""
        return "", dotted_steps(selector)

    def join(self, path: str, key: str) -> str:
        """The selector of what stands under `key` in what `path` names."""
        return f"{path}.{key_text(key)}" if path else key_text(key)

    def below(self, item: Item, key: str, node: Node) -> Item:
        """The item of `node`, which stands under `key` in `item`."""
        path = self.join(item.path, key)
        return Item(node, path, path if item.alias == item.path else self.join(item.alias, key), item.inline)

    def numbered(self, item: Item, nodes: Sequence[Node], called: Sequence[Sequence[str]]) -> list[Item]:
        """The items of the elements of a list: by number and by the first label that one of them alone has."""
        counts = Counter(word for words in called for word in words)
        items = [self.below(item, str(n), node) for n, node in enumerate(nodes)]
        own = (next((word for word in words if counts[word] == 1), "") for words in called)
        return [i._replace(alias=item.alias + word) if word else i for i, word in zip(items, own, strict=True)]

    def slots(self) -> Iterator[Slot]:
        stack = [*reversed(self.top())]
        seen = 0
        while stack:
            item = stack.pop()
            slots, inner = self.read(item) if len(item.alias) <= LONGEST else ((), ())
            seen += len(inner) + sum(len(slot.tokens) for slot in slots)
            if seen > MOST:
                raise Unparsable(f"more than {MOST} values")
            yield from slots
            stack += reversed(inner)

    def find(self, selector: str) -> list[Hit]:
        """By the index, else step by step: elements of lists, `[key=value]`, keys quoted without need."""
        if hits := Document.find(self, selector):
            return hits
        return [hit for path in self.paths(selector) for hit in self._at(path)]

    def paths(self, selector: str) -> list[str]:
        """The selectors by number that `selector` leads to. Raises BadSelector."""
        start, steps = self.way(selector)
        paths = [start]
        for step in steps:
            paths = [new for path in paths for new in self._follow(path, step)]
        return paths

    def _follow(self, path: str, step: Step) -> list[str]:
        if isinstance(step, str):
            return [self.join(path, step)]
        key, value = step
        first = self.join(path, "0").removesuffix("0")
        last = self.join("x", key).removeprefix("x")
        return [
            name.removesuffix(last)
            for name, hits in self.index().items()
            if name.startswith(first)
            and name.endswith(last)
            and name[len(first) : -len(last)].isdecimal()
            and any(slot.value == value or called_by(key, str(slot.value)) == value for hit in hits for slot in hit)
        ]

    def _at(self, path: str) -> list[Hit]:
        """The slots of that canonical name, or an element of a list."""
        if hits := Document.find(self, path):
            return hits
        parent, _, number = path.rpartition(self.SEPARATOR)
        if not re.fullmatch(r"[0-9]{1,6}", number):
            return []
        slots = [slot for hit in Document.find(self, parent) for slot in hit if slot.many]
        return [(scalar((path,), s.tokens[int(number)]),) for s in slots if int(number) < len(s.tokens)]

    def fill(self, slot: Slot, values: Sequence[str]) -> list[Edit]:
        return [self._brackets(slot).filled([self.encode(slot, None, value) for value in values])]

    def empty(self, slot: Slot) -> list[Edit]:
        return self._brackets(slot).emptied()

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        return self._brackets(slot).removal(first, stop)

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        return self._brackets(slot).insertion(at, [self.encode(slot, None, value) for value in new])

    def _brackets(self, slot: Slot) -> Brackets:
        node = self.tree.root_node.descendant_for_byte_range(slot.start, slot.end)
        children = node.children if node else []
        return Brackets(
            source=self.source,
            start=slot.start + 1,
            end=slot.end - 1,
            tokens=slot.tokens,
            commas=[_span(child) for child in children if _is_comma(child)],
            comments=[_span(child) for child in children if child.type == "comment"],
        )


def _span(node: Node) -> Span:
    return node.start_byte, node.end_byte
