"""YAML 1.1 and 1.2: workflows, pipelines, recipes, lists of versions.

Selectors are keys with dots, `jobs.build.env.TORCH`; an odd key is quoted as in TOML, `versions."2.13".sha`. An element
of a sequence stands under its number, `repos.0.rev`, or what it says of itself, `repos[repo=https://x/y].rev`. A
sequence of plain values is a list, and its order counts. In shell text, also of several lines: `pip install NAME`,
`requirement NAME`, `specifier NAME`, `url NAME` and `build-arg NAME`, in one place `steps.0.run:pip install NAME`. The
first document of a stream has plain selectors, those of the second begin with `2:`, and so on.

Scalars are values in any style, but for blocks of several lines. No values are aliases, null, what has a tag other than
`!!str`, and what is nothing but an expansion such as `${{ env.X }}`. Numbers and the like have their source text as
value.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tree_sitter import Node

from pinctl.plan import Edit
from pinctl.sites import yaml_lines
from pinctl.sites.base import Document, Hit, Slot, Token, Unparsable, scalar
from pinctl.sites.grammar import grammar
from pinctl.sites.nested import (
    CALLED,
    Found,
    Item,
    Nested,
    Step,
    dotted_steps,
    elements,
    error_spans,
    key_text,
    labels,
    members,
    tree_of,
)
from pinctl.sites.yaml_scalar import BLOCK, DOUBLE, IN_FLOW, PLAIN, SINGLE, pieces, text_of, token_of, written

if TYPE_CHECKING:
    from pinctl.sites.yaml_run import Run

NAME = "yaml"
COMMENT: tuple[str, str] | None = ("# ", "")

_GRAMMAR = grammar("yaml")
_STYLES = {"plain_scalar": PLAIN, "single_quote_scalar": SINGLE, "double_quote_scalar": DOUBLE, "block_scalar": BLOCK}
_NODES = ("block_node", "flow_node")
_RUN = "run"
_LINES = "lines"
"""Style of a list whose elements stand on lines of their own, behind dashes."""

_CALLED = {key.encode(): key for key in CALLED}
_DEEPEST = 110
_LEAD = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]*(?:[-?:][ \t]+)*")
_LATER = re.compile(r"(?P<prefix>[1-9][0-9]*:)(?P<rest>.*)", re.DOTALL)


def parse(source: bytes) -> "YamlDocument":
    """The document of any bytes; what is no YAML is in `errors`.

    Raises Unparsable for NUL bytes, for what is nested too deeply and for what takes too long.
    """
    if b"\0" in source:
        raise Unparsable("a file with NUL bytes is no YAML")
    if _depth(source) > _DEEPEST:
        raise Unparsable(f"mappings and sequences are nested more than {_DEEPEST} deep")
    tree = tree_of(_GRAMMAR, source)
    return YamlDocument(source=source, errors=error_spans(tree), tree=tree)


def _depth(source: bytes) -> int:
    """No fewer than the levels of indentation that are open at once.

    The grammar's scanner keeps two entries a level in a buffer of 253, and writes past its end.
    """
    leads = _LEAD.findall(source)
    deepest = max(map(len, leads))
    if deepest <= _DEEPEST:
        return deepest
    deepest = 0
    levels: list[int] = []
    for lead in leads:
        first = len(lead) - len(lead.lstrip(b" \t"))
        while levels and levels[-1] >= first:
            levels.pop()
        levels += [at for at in range(first, len(lead) + 1) if at == len(lead) or lead[at] not in b" \t"]
        deepest = max(deepest, len(levels))
    return deepest


@dataclass(slots=True)
class YamlDocument(Nested):
    """A YAML stream."""

    _runs: dict[tuple[int, int], "Run"] = field(default_factory=dict, repr=False)

    def top(self) -> Sequence[Item]:
        root = self.tree.root_node
        documents = [] if root.is_error else [node for node in members(root) if node.type == "document"]
        prefixes = ["" if n == 1 else f"{n}:" for n in range(1, len(documents) + 1)]
        return [Item(node, prefix, prefix) for node, prefix in zip(documents, prefixes, strict=True)]

    def read(self, item: Item) -> Found:
        match item.node.type:
            case "document":
                return (), [item._replace(node=node) for node in members(item.node) if node.type in _NODES]
            case "block_node" | "flow_node":
                return self._node(item)
            case "block_mapping" | "flow_mapping" | "flow_pair":
                return (), [self.below(item, key, value) for key, value in _pairs(self.source, item.node)]
            case "block_sequence" | "flow_sequence":
                return self._sequence(item)
        return (), ()

    def join(self, path: str, key: str) -> str:
        return f"{path}{key_text(key)}" if not path or path.endswith(":") else f"{path}.{key_text(key)}"

    def way(self, selector: str) -> tuple[str, Sequence[Step]]:
        later = _LATER.fullmatch(selector)
        return (later["prefix"], dotted_steps(later["rest"])) if later else ("", dotted_steps(selector))

    def find(self, selector: str) -> list[Hit]:
        hits = Document.find(self, selector)
        if hits or " " not in selector:
            return hits or Nested.find(self, selector)
        from pinctl.sites.yaml_run import split

        text = split(selector)
        if text is None:
            return Nested.find(self, selector)
        place, form = text
        if not place or place.isdecimal():
            return Document.find(self, f"{place}:{form}" if place else form)
        return [hit for path in self.paths(place) for hit in Document.find(self, f"{path}:{form}")]

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        if token and token.style == _RUN:
            return self._runs[token.start, token.end].encode(value)
        like = token or (slot.tokens[-1] if slot.tokens else None)
        return written(value, like.style, like.value) if like else written(value, IN_FLOW, "")

    def _node(self, item: Item) -> Found:
        content, plain = _content(self.source, item.node)
        if content is None:
            return (), ()
        if content.type not in _STYLES:
            inline = content.type.startswith("flow")
            return (), [item._replace(node=content, inline=inline)] if plain or "mapping" in content.type else ()
        token = self._token(content, item.inline) if plain else None
        slots = [scalar(item.names, token)] if token and item.path else []
        return [*slots, *self._run(item, content)], ()

    def _sequence(self, item: Item) -> Found:
        nodes = elements(item.node)
        if nodes is None:
            return (), ()
        if item.node.type == "block_sequence":
            inner = [elements(node) or [] for node in nodes]
            # An element that is nothing is null.
            nodes = [children[0] if children else node for node, children in zip(nodes, inner, strict=True)]
        items = self.numbered(item, nodes, [_labels(self.source, node) for node in nodes])
        slot = self._list(item, nodes)
        if slot is None:
            return (), items
        texts = [found for i in items for child in i.node.named_children for found in self._run(item, child)]
        return [slot, *texts], ()

    def _list(self, item: Item, nodes: Sequence[Node]) -> Slot | None:
        """The slot of a sequence of plain scalars; None where an element is anything else, or has an anchor or tag."""
        inline = item.node.type == "flow_sequence"
        alone = [node.named_children[0] for node in nodes if node.type in _NODES and node.named_child_count == 1]
        tokens = tuple(t for node in alone if (t := self._token(node, inline)) and t.style != BLOCK)
        if len(tokens) < len(nodes) or not item.path:
            return None
        start = item.node.start_byte
        end = item.node.end_byte if inline else tokens[-1].end
        style = "" if inline else _LINES
        return Slot(names=item.names, tokens=tokens, start=start, end=end, many=True, ordered=True, style=style)

    def _token(self, node: Node, inline: bool) -> Token | None:
        style = _STYLES.get(node.type)
        if style is None or node.has_error:
            return None
        style = IN_FLOW if inline and style == PLAIN else style
        return token_of(self.source, node.start_byte, node.end_byte, style)

    def _run(self, item: Item, node: Node) -> Iterator[Slot]:
        """The slots of a scalar that may be shell text."""
        start, end, style = node.start_byte, node.end_byte, _STYLES.get(node.type)
        if style is None or node.has_error or not _tells(self.source[start:end]):
            return
        from pinctl.sites.yaml_run import runs

        later = _LATER.match(item.path)
        places = (later["prefix"] if later else "", *(f"{name}:" for name in item.names if name))
        inner = pieces(self.source, start, end, style) or ()
        for run, first, stop in runs(inner, IN_FLOW if item.inline and style == PLAIN else style):
            self._runs[first, stop] = run
            names = [f"{place}{name}" for place in places for name in run.names]
            yield scalar(names, Token(value=run.token.value, start=first, end=stop, style=_RUN))

    def empty(self, slot: Slot) -> list[Edit]:
        if slot.style == _LINES:
            return yaml_lines.emptied(self.source, self._dashes(slot), slot.tokens)
        return Nested.empty(self, slot)

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        if slot.style == _LINES:
            return yaml_lines.removal(self.source, self._dashes(slot), slot.tokens, first, stop)
        return Nested.remove(self, slot, first, stop)

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        if slot.style != _LINES:
            return Nested._insertion(self, slot, at, new)
        words = [self.encode(slot, None, value) for value in new]
        return yaml_lines.insertion(self.source, self._dashes(slot), slot.tokens, at, words)

    def _dashes(self, slot: Slot) -> list[int]:
        """Where the elements of a list of lines begin."""
        node = self.tree.root_node.descendant_for_byte_range(slot.start, slot.end)
        items = node.children if node and node.type == "block_sequence" else [node] if node else []
        return [item.start_byte for item in items if item.type == "block_sequence_item"]


def _tells(raw: bytes) -> bool:
    """Whether a scalar is worth reading as shell text."""
    return (b"pip" in raw and b"install" in raw) or b"--build-arg" in raw


def _pairs(source: bytes, node: Node) -> Iterator[tuple[str, Node]]:
    """The keys and values of a mapping, without those keys that are no scalars."""
    for pair in [node] if node.type == "flow_pair" else members(node):
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key and value and not (pair.has_error and elements(pair) is None):
            text = _key(source, key)
            if text is not None:
                yield text, value


def _key(source: bytes, node: Node) -> str | None:
    content, _ = _content(source, node)
    style = _STYLES.get(content.type) if content and not content.has_error else None
    if content is None or style in (None, BLOCK):
        return None
    return text_of(source, content.start_byte, content.end_byte, style or PLAIN)


def _content(source: bytes, node: Node) -> tuple[Node | None, bool]:
    """A node without its anchor and tag, and whether it has no tag that makes it other than what it seems."""
    children = node.named_children
    if len(children) == 1 and children[0].type != "tag":
        return children[0], True
    plain = all(source[c.start_byte : c.end_byte] == b"!!str" for c in children if c.type == "tag")
    content = [child for child in children if child.type not in ("tag", "anchor", "comment")]
    return content[-1] if content else None, plain


def _labels(source: bytes, node: Node) -> list[str]:
    """What an element of a sequence may be called."""
    content = _content(source, node)[0] if node.type in _NODES else None
    if content is None or content.type not in ("block_mapping", "flow_mapping"):
        return []
    called: dict[str, str | None] = {}
    for pair in members(content):
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key and value and (name := _CALLED.get(source[key.start_byte : key.end_byte])):
            called[name] = _key(source, value)
    return labels(called)
