"""From the syntax tree of a Python file to its slots. Old and broken Python is read as far as it can be."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tree_sitter import Node, Parser, Tree

from pinctl.sites import pep508
from pinctl.sites.base import Slot, Token, scalar
from pinctl.sites.grammar import grammar
from pinctl.sites.python_literals import NUMBER, decode, unescape

EXPRESSION = "expression"
"""Style of an element that is no literal; its value is its source text."""
INNER = "inner "
"""Begins the style of a part of an f-string, before the style of the whole."""

_PYTHON = grammar("python")
_KINDS = {_PYTHON.id_for_node_kind(kind, True): kind for kind in ("assignment", "call", "string")}
_ERROR = 0xFFFF
_LISTS = frozenset({"list", "tuple", "set"})
_NUMBERS = frozenset({"integer", "float"})
_HOLDERS = _LISTS | {"argument_list", "keyword_argument", "pair", "assignment"}
"""Where a string that looks like a requirement is taken for one."""
_VALUES: frozenset[str] = frozenset({"string", "concatenated_string", "dictionary", "parenthesized_expression",
                                     "unary_operator", *_LISTS, *_NUMBERS})  # fmt: skip
_DEFAULTS = frozenset({"os.environ.get", "environ.get", "os.getenv", "getenv"})
_DOTTED = re.compile(r"[\w.]+")
_PINNED = re.compile(rb"[=~!<>]=|[<>]|@")
_BOM = b"\xef\xbb\xbf"
_DEEPEST = 4
"""How many dictionaries inside of each other, or names in `A = B = 1`, are followed."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A list, tuple or set: its bytes, brackets included, and its elements."""

    kind: str
    start: int
    end: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Home:
    """Where a token stands: the element `index` of its list."""

    layout: Layout
    index: int

    @property
    def start(self) -> int:
        return self.layout.items[self.index].start_byte

    @property
    def end(self) -> int:
        return self.layout.items[self.index].end_byte


class Call(NamedTuple):
    """A call: its offset, the selectors that tell it by an argument, its names alone, and its keywords that may have
    slots."""

    start: int
    heads: Sequence[str]
    names: Sequence[str]
    values: Mapping[str, Node]


class Reader:
    """The slots of one file. `homes` tells for the start of each list's token which element it is (a part of); `values`
    are the kinds of expressions that a keyword of a call may have for a slot."""

    values = _VALUES

    def __init__(self, source: bytes) -> None:
        # Three line breaks in place of a byte order mark keep the offsets and indent nothing.
        plain = b"\n\n\n" + source[3:] if source.startswith(_BOM) else source
        self.source = source
        self.tree: Tree = Parser(_PYTHON).parse(plain)
        self.homes: dict[int, Home] = {}
        self.errors = tuple(_errors(self.tree)) if self.tree.root_node.has_error else ()

    def slots(self) -> list[Slot]:
        """Every slot, in the order of the file."""
        found: list[Slot] = []
        for node in _nodes(self.tree):
            kind = _KINDS[node.kind_id]
            if kind == "assignment":
                found += self._assignment(node)
            elif kind == "call":
                found += self._call(node)
            else:
                found += self._requirement(node)
        return sorted((slot for slot in found if not self._is_broken(slot)), key=lambda slot: slot.start)

    def _is_broken(self, slot: Slot) -> bool:
        """Whether a span that is no Python touches the slot. They are in order, and none is inside of another."""
        before = bisect_left(self.errors, (slot.end, 0))
        return before > 0 and self.errors[before - 1][1] > slot.start

    def text(self, node: Node) -> str:
        """The node as it is written."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    # --- literals ---

    def literal(self, node: Node) -> Token | None:
        """A string without placeholders, adjacent strings, or a number, as one token."""
        if node.has_error:
            return None
        kind = node.type
        if kind in _NUMBERS or (kind == "unary_operator" and self.text(node)[:1] == "-" and self._is_number(node)):
            return Token(value=self.text(node), start=node.start_byte, end=node.end_byte, style=NUMBER)
        if kind not in ("string", "concatenated_string"):
            return None
        strings = [node] if kind == "string" else node.named_children
        parts = [decode(self.text(s)) for s in strings if s.type == "string" and not _is_filled(s)]
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(strings):
            return None  # bytes, a placeholder, or a comment between the parts, which would be lost
        value = "".join(value for value, _ in known)
        return Token(value=value, start=node.start_byte, end=node.end_byte, style=known[0][1])

    def followed(self, node: Node) -> Token | None:
        """The literal that an expression is. Other languages of this syntax follow a name to its own."""
        return self.literal(node)

    def _is_number(self, node: Node) -> bool:
        argument = node.child_by_field_name("argument")
        return argument is not None and argument.type in _NUMBERS and argument.start_byte == node.start_byte + 1

    # --- values ---

    def _assignment(self, node: Node) -> Iterator[Slot]:
        """`NAME`, `NAME[]`, `NAME[key]`, and `NAME:-` for the default of an environment variable."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        for _ in range(_DEEPEST):
            if right is not None and right.type == "assignment":
                right = right.child_by_field_name("right")
        if left is None or right is None or left.type != "identifier":
            return
        name = self.text(left)
        function = right.child_by_field_name("function") if right.type == "call" else None
        if function is None or self.text(function) not in _DEFAULTS:
            yield from self._value((name,), right)
        else:
            arguments = right.child_by_field_name("arguments")
            default = self._default(arguments.named_children) if arguments else None
            if default is not None:
                yield scalar((f"{name}:-",), default)

    def _default(self, arguments: Sequence[Node]) -> Token | None:
        """The literal that is the second argument, or the one called `default`."""
        plain = [node for node in arguments if node.type not in ("comment", "keyword_argument")]
        named = [node.child_by_field_name("value") for node in arguments if self._keyword(node) == "default"]
        node = plain[1] if len(plain) == 2 else next(iter(named), None)
        return self.literal(node) if node else None

    def _value(self, names: tuple[str, ...], node: Node) -> Iterator[Slot]:
        """The slots of one expression: a literal, a list, or the entries of a dictionary."""
        waiting = [(names, node, 0)]
        while waiting:
            names, node, depth = waiting.pop()
            node = _bare(node)
            if node.type in _LISTS:
                yield self._list((*(f"{name}[]" for name in names), *names), node)
            elif node.type == "dictionary" and depth < _DEEPEST:
                for pair in reversed(node.named_children):
                    key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                    if key is not None and value is not None:
                        waiting.append((tuple(f"{name}[{self._key(key)}]" for name in names), value, depth + 1))
            elif literal := self.followed(node):
                yield scalar(names, literal)

    def _key(self, node: Node) -> str:
        literal = self.literal(node)
        return literal.value if literal else self.text(node)

    def _list(self, names: tuple[str, ...], node: Node) -> Slot:
        items = tuple(child for child in node.named_children if child.type != "comment")
        layout = Layout(node.type, node.start_byte, node.end_byte, items)
        tokens = []
        for index, item in enumerate(items):
            text = None if (token := self.literal(item)) else self.text(item)
            tokens.append(token or Token(value=text or "", start=item.start_byte, end=item.end_byte, style=EXPRESSION))
            self.homes[item.start_byte] = Home(layout, index)
        start, end = (items[0].start_byte, items[-1].end_byte) if items else (node.start_byte, node.end_byte)
        return Slot(names=names, tokens=tuple(tokens), start=start, end=end, many=True, ordered=True)

    def _call(self, node: Node) -> Iterator[Slot]:
        """`call("first argument").keyword` for each keyword with a literal, list or dictionary."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or arguments.type != "argument_list":
            return
        children = arguments.named_children
        values = [
            (keyword, value)
            for child in children
            if (keyword := self._keyword(child))
            and (value := child.child_by_field_name("value")) is not None
            and value.type in self.values
        ]
        dotted = self.text(function) if values else ""
        if not _DOTTED.fullmatch(dotted):
            return
        calls = tuple(dict.fromkeys((dotted.rpartition(".")[2], dotted)))
        yield from self._keywords(Call(node.start_byte, self._heads(calls, children), calls, dict(values)))

    def _keywords(self, call: Call) -> Iterator[Slot]:
        """The slots of a call's keywords."""
        for keyword, value in call.values.items():
            heads = (*call.heads, *(f"{name}()" for name in call.names))
            yield from self._value(tuple(f"{head}.{keyword}" for head in heads), value)

    def _heads(self, calls: Sequence[str], arguments: Iterable[Node]) -> list[str]:
        """The selectors of a call by what it is told by: its first argument if that is a string, or its `name`."""
        plain = [node for node in arguments if node.type != "comment"]
        first = plain[0] if plain[0].type != "keyword_argument" else None
        key = self._text(first or self._named(plain, "name"))
        return [] if key is None else [f'{call}("{key}")' for call in calls]

    def _named(self, arguments: Iterable[Node], keyword: str) -> Node | None:
        """The value of a keyword."""
        found = (node.child_by_field_name("value") for node in arguments if self._keyword(node) == keyword)
        return next(found, None)

    def _text(self, node: Node | None) -> str | None:
        """The value of a string literal."""
        literal = self.literal(node) if node else None
        return literal.value if literal and literal.style != NUMBER else None

    def _keyword(self, node: Node) -> str | None:
        name = node.child_by_field_name("name") if node.type == "keyword_argument" else None
        return self.text(name) if name else None

    def _requirement(self, node: Node) -> Iterator[Slot]:
        """`requirement NAME` in a string that is one, where a list, a call or an assignment holds it."""
        if not _PINNED.search(self.source, node.start_byte, node.end_byte):
            return
        literal = self.literal(node)
        found = pep508.parse(literal.value) if literal and "f" not in literal.style.lower() else None
        holder = node.parent if found else None
        if literal is None or found is None or holder is None or holder.type not in _HOLDERS:
            return
        head, body = len(literal.style), self.text(node)
        if body[head : head + len(literal.value)] == literal.value:  # no escapes: offsets are the same
            start = literal.start + len(body[: head + found.start].encode())
            value = literal.value[found.start : found.end]
            token = Token(value=value, start=start, end=start + len(value.encode()), style=found.kind)
            yield scalar((found.selector,), token)

    # --- elements of a shape ---

    def shaped(self, slot: Slot, pattern: str) -> Slot | None:
        """The elements of a list that are `pattern` with a string literal for its `*`; None if there is none."""
        found = []
        for token in slot.tokens:
            home = self.homes[token.start]
            inner = self._match(home.layout.items[home.index], pattern)
            if inner is not None:
                self.homes[inner.start] = home
                found.append(inner)
        if not found:
            return None
        name = f"{slot.selector.removesuffix('[]')}[{pattern}]"
        return replace(slot, names=(name,), tokens=tuple(found), start=found[0].start, end=found[-1].end, style=pattern)

    def _match(self, node: Node, pattern: str) -> Token | None:
        node = self._unwrapped(node)
        if node.type == "string" and _is_filled(node):
            return self._match_filled(node, pattern)
        shape = _tight(pattern)
        shape = shape[4:-1] if shape.startswith("str(") and shape.endswith(")") else shape
        for string in _strings(node):
            head = self.source[node.start_byte : string.start_byte].decode("utf-8", "surrogateescape")
            tail = self.source[string.end_byte : node.end_byte].decode("utf-8", "surrogateescape")
            if _tight(f"{head}*{tail}") == shape:
                return self.literal(string)
        return None

    def _unwrapped(self, node: Node) -> Node:
        """What stands in `str(...)`."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or self.text(function) != "str" or arguments.named_child_count != 1:
            return node
        return arguments.named_children[0]

    def _match_filled(self, node: Node, pattern: str) -> Token | None:
        """An f-string against `{src}/*`: what stands for the `*`, without a placeholder in it, is the token."""
        head, _, tail = pattern.partition("*")
        style = self.text(node.children[0])
        body = self.text(node)[len(style) : -len(style.lstrip("fFrR"))]
        inner = body[len(head) : len(body) - len(tail)]
        value = unescape(inner, style) if head + inner + tail == body else None
        start = node.start_byte + len((style + head).encode("utf-8", "surrogateescape"))
        end = start + len(inner.encode("utf-8", "surrogateescape"))
        placeholders = [child for child in node.named_children if child.type == "interpolation"]
        if value is None or any(p.start_byte < end and start < p.end_byte for p in placeholders):
            return None
        return Token(value=value, start=start, end=end, style=INNER + style)


def _nodes(tree: Tree) -> Iterator[Node]:
    """The assignments, calls and strings of a file. A cursor: other walks recurse, or are slower."""
    cursor, kinds = tree.walk(), _KINDS
    down, right, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    while True:
        node = cursor.node
        if node is not None and node.kind_id in kinds:
            yield node
        if not down():
            while not right():
                if not up():
                    return


def _errors(tree: Tree) -> Iterator[tuple[int, int]]:
    """The spans of what is no Python, the outermost ones."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        wrong = node is not None and (node.kind_id == _ERROR or node.is_missing)
        if node is not None and wrong:
            yield node.start_byte, node.end_byte
        if not wrong and node is not None and node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _is_filled(string: Node) -> bool:
    """Whether an f-string has a placeholder."""
    return any(child.type == "interpolation" for child in string.named_children)


def _bare(node: Node) -> Node:
    """The expression in parentheses."""
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def _strings(node: Node) -> Iterator[Node]:
    """The string literals of an element, not those inside of others."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type == "string":
            yield node
        elif node.type != "concatenated_string":
            waiting.extend(reversed(node.named_children))
        else:
            yield node


def _tight(text: str) -> str:
    """A shape without white space, so that its spelling does not matter."""
    return "".join(text.split())
