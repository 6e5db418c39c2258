"""JSON (RFC 8259), also with comments and a last comma as tsconfig.json and devcontainer.json have them.

Selectors are JSON pointers (RFC 6901): `/variable/TORCH/default`, `/a~1b/0/tag`. An element of an array may also be
named by what it says of itself, `/dependencies[name=fmt]/tag`, or by `[0]`. An array of plain values is a list.
Numbers and booleans have their source text as value and stay what they are; null is no value.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Node

from pinctl.sites.base import BadSelector, Slot, Token, scalar, verbatim
from pinctl.sites.grammar import grammar
from pinctl.sites.nested import (
    CALLED,
    FILTERS,
    LONGEST,
    Found,
    Item,
    Nested,
    Step,
    checked,
    elements,
    error_spans,
    filter_steps,
    labels,
    members,
    tree_of,
)

NAME = "json"
COMMENT: tuple[str, str] | None = None

_GRAMMAR = grammar("json")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_CALLED = {f'"{key}"'.encode(): key for key in CALLED}
_ROOT = re.compile(FILTERS, re.DOTALL)
_STEP = re.compile(rf"/(?P<key>[^/]*?)(?P<filters>{FILTERS})(?=/|\Z)", re.DOTALL)


def parse(source: bytes) -> "JsonDocument":
    """The document of any bytes; what is no JSON is in `errors`. Raises Unparsable for what takes too long."""
    # The grammar does not know the plus of `1e+5`. Only the tree is made from this: texts are read from `source`.
    tree = tree_of(_GRAMMAR, source.replace(b"e+", b"e-").replace(b"E+", b"E-"))
    return JsonDocument(source=source, errors=error_spans(tree), tree=tree)


@dataclass(slots=True)
class JsonDocument(Nested):
    """A JSON file."""

    SEPARATOR: ClassVar[str] = "/"

    def top(self) -> Sequence[Item]:
        root = self.tree.root_node
        return [] if root.is_error else [Item(node, "", "") for node in elements(root) or []]

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        style = (token or slot.tokens[-1]).style if token or slot.tokens else "string"
        verbatim(value)
        plain = checked(value, style, _NUMBER)
        return json.dumps(value, ensure_ascii=style == "ascii").encode() if plain is None else plain

    def way(self, selector: str) -> tuple[str, Sequence[Step]]:
        root = _ROOT.match(selector)
        at = root.end() if root else 0
        steps = filter_steps(selector[:at])
        while at < len(selector):
            match = _STEP.match(selector, at) if len(selector) <= LONGEST else None
            if match is None:
                raise BadSelector(
                    f"{selector[:LONGEST]!r} is no JSON pointer; expected `/key/0/key` or `/list[name=x]/key`"
                )
            steps += [match["key"].replace("~1", "/").replace("~0", "~"), *filter_steps(match["filters"])]
            at = match.end()
        return "", steps

    def join(self, path: str, key: str) -> str:
        return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"

    def read(self, item: Item) -> Found:
        node = item.node
        if node.type == "object":
            return (), [self.below(item, key, value) for key, value in self._pairs(node)]
        if node.type == "array":
            return self._array(item)
        token = self._token(node)
        return [scalar(item.names, token)] if token else (), ()

    def _array(self, item: Item) -> Found:
        nodes = elements(item.node)
        if nodes is None:
            return (), ()
        start, end = item.node.start_byte, item.node.end_byte
        if not any(child.type in ("object", "array") for child in nodes):
            tokens = tuple(token for child in nodes if (token := self._token(child)))
            if len(tokens) == len(nodes):
                return [Slot(names=item.names, tokens=tokens, start=start, end=end, many=True, ordered=True)], ()
        return (), self.numbered(item, nodes, [self._labels(child) for child in nodes])

    def _labels(self, node: Node) -> list[str]:
        if node.type != "object":
            return []
        called: dict[str, str | None] = {}
        for pair in members(node):
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if key and value and (name := _CALLED.get(self.source[key.start_byte : key.end_byte])):
                called[name] = self._text(value) if value.type == "string" else None
        return labels(called)

    def _pairs(self, node: Node) -> Iterator[tuple[str, Node]]:
        for pair in members(node):
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            text = self._text(key) if key and key.type == "string" else None
            if text is not None and value:
                yield text, value

    def _token(self, node: Node) -> Token | None:
        """The literal that a node is; None for null, and for what JSON has no such literal."""
        start, end, kind = node.start_byte, node.end_byte, node.type
        raw = self.source[start:end]
        if kind == "string":
            value = self._text(node)
            style = "ascii" if value is not None and raw.isascii() and not value.isascii() else "string"
        elif kind == "number":
            value, style = raw.decode("ascii", "replace"), kind
            value = value if _NUMBER.fullmatch(value) else None
        else:
            value, style = raw.decode("ascii", "replace") if kind in ("true", "false") else None, "boolean"
        return None if value is None else Token(value=value, start=start, end=end, style=style)

    def _text(self, node: Node) -> str | None:
        """What a string literal means; None where it means no text."""
        raw = self.source[node.start_byte : node.end_byte]
        try:
            if b"\\" not in raw:
                return None if node.has_error else raw[1:-1].decode()
            value = str(json.loads(raw.decode(), strict=False))
            value.encode()
        except ValueError:
            return None
        return value
