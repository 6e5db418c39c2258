"""HCL 2 in its native syntax: docker buildx bake files, Terraform.

Selectors are keys with dots: a block's type and labels, then the attribute, then keys of objects and numbers of
elements: `variable.TORCH_VERSION.default`, `target.wheel.args.CUDA_VERSION`, `target.wheel.tags`. An odd key is quoted
as in TOML, `target.t.labels."org.opencontainers.image.source"`; an element of a tuple may be named by what it says of
itself, `output[name=x].dest`. A tuple of plain values is a list, and its order counts.

Only literals are values: no template with `${...}` or `%{...}` in it, no heredoc, no expression.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import is_normalized

from tree_sitter import Node

from pinctl.sites.base import Slot, Token, Unwritable, scalar, verbatim
from pinctl.sites.grammar import grammar
from pinctl.sites.nested import (
    CALLED,
    Found,
    Item,
    Nested,
    checked,
    elements,
    error_spans,
    labels,
    members,
    tree_of,
)

NAME = "hcl"
COMMENT: tuple[str, str] | None = ("# ", "")

_GRAMMAR = grammar("hcl")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_PLAIN = {"numeric_lit": "number", "bool_lit": "boolean"}
_ENDS = ("block_start", "block_end", "object_start", "object_end", "tuple_start", "tuple_end")

# HCL native syntax, "Template Literals" and "Quoted Templates"
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[nrt\"\\])|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<bad>.?))|(?:\$\$|%%)\{", re.DOTALL
)
# Tools differ on a doubled sign before an escape.
_MUDDLED = re.compile(r"\$\$\$+\{|%%%+\{")
_DOUBLED = re.compile(r"\$\$+\{|%%+\{")


def parse(source: bytes) -> "HclDocument":
    """The document of any bytes; what is no HCL is in `errors`. Raises Unparsable for what takes too long."""
    tree = tree_of(_GRAMMAR, source)
    return HclDocument(source=source, errors=error_spans(tree), tree=tree)


@dataclass(slots=True)
class HclDocument(Nested):
    """An HCL file."""

    def top(self) -> Sequence[Item]:
        root = self.tree.root_node
        return [] if root.is_error else [Item(node, "", "") for node in members(root)]

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        style = (token or slot.tokens[-1]).style if token or slot.tokens else "string"
        verbatim(value)
        plain = checked(value, style, _NUMBER)
        return _quoted(value) if plain is None else plain

    def read(self, item: Item) -> Found:
        match item.node.type:
            case "body":
                return (), [item._replace(node=node) for node in members(item.node)]
            case "block":
                return (), self._block(item)
            case "attribute":
                return (), self._attribute(item)
            case "object":
                return (), [self.below(item, key, value) for key, value in self._pairs(item.node)]
            case "tuple":
                return self._tuple(item)
            case "expression":
                return self._expression(item)
        return (), ()

    def _block(self, item: Item) -> list[Item]:
        for node in [] if _broken(item.node) else members(item.node):
            if node.type == "body":
                return [item._replace(node=node)]
            key = self._key(node) if node.type in ("identifier", "string_lit") else ""
            if key is None:
                return []
            item = self.below(item, key, node) if key else item
        return []

    def _attribute(self, item: Item) -> list[Item]:
        # An error in an attribute may have swallowed the key of the next.
        parts = elements(item.node)
        key = self._key(parts[0]) if parts and len(parts) == 2 else None
        return [self.below(item, key, parts[1])] if parts and key is not None else []

    def _expression(self, item: Item) -> Found:
        node = _alone(item.node)
        if node is None:
            return (), ()
        if node.type in ("object", "tuple"):
            return (), [item._replace(node=node)]
        token = self._token(node)
        return [scalar(item.names, token)] if token else (), ()

    def _tuple(self, item: Item) -> Found:
        nodes = None if _broken(item.node) else elements(item.node)
        if nodes is None:
            return (), ()
        nodes = [child for child in nodes if child.type == "expression"]
        tokens = tuple(token for child in nodes if (inner := _alone(child)) and (token := self._token(inner)))
        if len(tokens) == len(nodes):
            start, end = item.node.start_byte, item.node.end_byte
            return [Slot(names=item.names, tokens=tokens, start=start, end=end, many=True, ordered=True)], ()
        return (), self.numbered(item, nodes, [self._labels(child) for child in nodes])

    def _labels(self, node: Node) -> list[str]:
        inner = _alone(node)
        if inner is None or inner.type != "object":
            return []
        values = {key: _alone(value) for key, value in self._pairs(inner) if key in CALLED}
        tokens = {key: self._token(value) for key, value in values.items() if value}
        return labels({key: token.value for key, token in tokens.items() if token and token.style == "string"})

    def _pairs(self, node: Node) -> Iterator[tuple[str, Node]]:
        for pair in [] if _broken(node) else members(node):
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("val")
            inner = _alone(key) if key else None
            text = self._key(inner) if inner else None
            if text is not None and value and not pair.has_error:
                yield text, value

    def _key(self, node: Node) -> str | None:
        """What an identifier, label or key says; None where it is no literal."""
        if node.type == "identifier":
            return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        token = self._token(node)
        return token.value if token else None

    def _token(self, node: Node) -> Token | None:
        """The literal that a node is; None for null, for templates and for what HCL has no such literal."""
        raw = self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
        if node.type == "string_lit":
            value, style = None if node.has_error else _unquoted(raw[1:-1]), "string"
        else:
            value, style = raw if node.type in _PLAIN else None, _PLAIN.get(node.type, "")
        if value is None:
            return None
        return Token(value=value, start=node.start_byte, end=node.end_byte, style=style)


def _alone(node: Node) -> Node | None:
    """The innermost node of an expression that is that and nothing else: no operation, call or index, no brackets."""
    while node.type in ("expression", "literal_value", "collection_value", "variable_expr"):
        if node.child_count != 1:
            return None
        node = node.children[0]
    return node


def _broken(node: Node) -> bool:
    """Whether a brace or bracket of it is missing: then what it holds is unsure."""
    return node.has_error and any(child.has_error and child.type in _ENDS for child in node.children)


def _unquoted(text: str) -> str | None:
    """What a quoted template without interpolation means; None where HCL, or all of its tools, have no such one."""
    if _MUDDLED.search(text) or "\n" in text:
        return None
    if any(match["bad"] is not None for match in _ESCAPE.finditer(text)):
        return None
    try:
        value = _ESCAPE.sub(_unescaped, text)
        value.encode()
    except ValueError:
        return None
    return value


def _unescaped(match: re.Match[str]) -> str:
    if match["plain"]:
        return _ESCAPES[match["plain"]]
    if code := match["u"] or match["U"]:
        return chr(int(code, 16))
    return match[0][1:]


def _quoted(value: str) -> bytes:
    """A quoted template that means `value`. Raises Unwritable."""
    if _DOUBLED.search(value):
        raise Unwritable(f"{value!r} holds a doubled sign before a brace, which tools of HCL read differently")
    if not is_normalized("NFC", value):
        raise Unwritable(f"{value!r} is not in Unicode's normal form C, into which HCL brings every string")
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${").replace("%{", "%%{")
    return f'"{text}"'.encode()
