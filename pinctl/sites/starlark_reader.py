"""From the syntax tree of a Starlark file to its slots: Python's, with names followed to their literals.

A text that is put together (`"xla-" + COMMIT`, `"xla-%s" % COMMIT`, `"xla-{}".format(COMMIT)`) is a slot where one
literal of the file gives the part that varies: what is written there is written into that literal.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from tree_sitter import Node

from pinctl import digests
from pinctl.sites.base import Slot, Token, scalar
from pinctl.sites.python_literals import NUMBER
from pinctl.sites.python_reader import Call, Reader

NAMING = ("name", "module_name")
"""The keywords that calls of one function are told apart by, in Bazel's MODULE.bazel and WORKSPACE."""
COMPOSED = "\0"
"""Stands in the style of a token between that of its literal and what stands before and behind that in the whole."""
SRI, HEX = "sri ", "hex "
"""Begin the style of the digest of a compound."""

_BINDING = ("parameters", "lambda_parameters", "for_statement", "for_in_clause")
_BRACES = re.compile(r"(?P<double>\{\{|\}\})|\{(?P<name>\w*)\}|[{}]")
_PERCENT = re.compile(r"(?P<double>%%)|%(?P<name>s)|%")
_URL = re.compile(r"https?://\S+")
_CONTROL = re.compile(r"[\x00-\x1f]")
_DEEPEST = 24
"""Levels of an expression, and names that stand for one another, that are followed."""
_MOST = 32
"""Parts of one text that is put together."""

_FETCHING: Mapping[bool, Mapping[str, Sequence[str]]] = {
    True: {"repo": ("remote",), "ref": ("commit", "tag")},
    False: {"url": ("url", "urls"), "hash": ("integrity", "sha256")},
}
"""Whether a call fetches by git, and the keywords of its parts (Bazel's git_repository, http_archive and overrides)."""

_Parts = list[str | Token]


class StarlarkReader(Reader):
    """The slots of one file."""

    values = Reader.values | {"identifier", "binary_operator", "call"}

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.constants = self._constants()
        self.known: dict[str, _Parts | None] = {}

    # --- names ---

    def _constants(self) -> dict[str, Node]:
        """What names stand for: those to which one assignment, and nothing else, gives a value."""
        found: dict[str, list[Node]] = {}
        bound: set[str] = set()
        for node in self._all():
            if node.type in _BINDING:
                bound.update(self._targets(node.child_by_field_name("left") or node))
            elif node.type in ("assignment", "augmented_assignment"):
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None and right is not None and (left.type, node.type) == ("identifier", "assignment"):
                    found.setdefault(self.text(left), []).append(right)
                elif left is not None:
                    bound.update(self._targets(left))
        return {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1 and name not in bound}

    def _all(self) -> Iterator[Node]:
        cursor = self.tree.walk()
        while True:
            if cursor.node is not None:
                yield cursor.node
            if not cursor.goto_first_child():
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        return

    def _targets(self, node: Node) -> Iterator[str]:
        """The names that parameters bind, or the left side of a loop or an assignment."""
        for child in (node, *node.named_children):
            name = child.child_by_field_name("name") or child
            inner = name.named_children if name.type.endswith("_pattern") else ()
            yield from (self.text(one) for one in (name, *inner) if one.type == "identifier")

    def _heads(self, calls: Sequence[str], arguments: Iterable[Node]) -> list[str]:
        """As in Python; a keyword that names the call may be said: `archive_override(module_name = "xla")`."""
        nodes = list(arguments)
        named = ((word, key) for word in NAMING if (key := self._text(self._named(nodes, word))) is not None)
        word, key = next(named, ("", ""))
        if not word:
            return super()._heads(calls, nodes)
        return [f'{call}("{key}")' for call in calls] + [f'{call}({word} = "{key}")' for call in calls]

    # --- texts that are put together ---

    def followed(self, node: Node) -> Token | None:
        """The literal that an expression is or is made of; the URL in a call such as `mirrored("https://...")`."""
        if node.has_error:
            return None
        node = self._wrapped(node) or node
        if own := self.literal(node):
            return own
        parts = self._parts(node)
        places = [n for n, part in enumerate(parts or ()) if isinstance(part, Token)]
        return _composed(parts, places[0]) if parts and len(places) == 1 else None

    def _wrapped(self, node: Node) -> Node | None:
        """The one argument of a call, where that is a URL."""
        arguments = node.child_by_field_name("arguments") if node.type == "call" else None
        values = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
        parts = self._parts(values[0]) if len(values) == 1 and values[0].type != "keyword_argument" else None
        text = "".join(part if isinstance(part, str) else part.value for part in parts or ())
        return values[0] if _URL.fullmatch(text) else None

    def _parts(self, node: Node, depth: int = 0) -> _Parts | None:
        """What a text is put together of: plain text, and the literals of constants. None where that is not plain."""
        parts: _Parts | None = None
        if depth > _DEEPEST:
            return None
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            parts = self._parts(node.named_children[0], depth + 1)
        elif node.type == "identifier":
            parts = self._of_name(self.text(node), depth + 1)
        elif node.type == "binary_operator":
            parts = self._of_operator(node, depth + 1)
        elif node.type == "call":
            parts = self._of_format(node, depth + 1)
        elif literal := self.literal(node):
            parts = [literal.value] if literal.style != NUMBER else None
        return parts if parts is not None and len(parts) <= _MOST else None

    def _of_name(self, name: str, depth: int) -> _Parts | None:
        node = self.constants.get(name)
        if node is None:
            return None
        if name not in self.known:
            self.known[name] = None  # what a name that stands for itself comes to
            own = self.literal(node)
            if own is None or own.style == NUMBER:
                self.known[name] = self._parts(node, depth) if own is None else None
            else:
                self.known[name] = [own]
        return self.known[name]

    def _of_operator(self, node: Node, depth: int) -> _Parts | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self.source[left.end_byte : right.start_byte].strip() if left and right else b""
        if left is None or right is None or operator not in (b"+", b"%"):
            return None
        if operator == b"+":
            head, tail = self._parts(left, depth), self._parts(right, depth)
            return None if head is None or tail is None else [*head, *tail]
        values = right.named_children if right.type == "tuple" else [right]
        places = count()
        return _filled(self._text(left), _PERCENT, lambda _: self._nth(values, next(places), depth))

    def _of_format(self, node: Node, depth: int) -> _Parts | None:
        """`"...".format(...)`, with arguments by their order, their number or their name."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        pattern = function.child_by_field_name("object") if function and function.type == "attribute" else None
        if function is None or pattern is None or arguments is None or not self.text(function).endswith(".format"):
            return None
        values = [child for child in arguments.named_children if child.type not in ("comment", "keyword_argument")]
        places = count()

        def given(name: str) -> _Parts | None:
            if name and not name.isdecimal():
                named = self._named(arguments.named_children, name)
                return self._parts(named, depth) if named else None
            return self._nth(values, int(name[:4]) if name else next(places), depth)

        return _filled(self._text(pattern), _BRACES, given)

    def _nth(self, values: Sequence[Node], number: int, depth: int) -> _Parts | None:
        return self._parts(values[number], depth) if number < len(values) else None

    # --- compounds ---

    def _keywords(self, call: Call) -> Iterator[Slot]:
        """As in Python, and the parts of a call that fetches: repo and ref, or url and hash."""
        if call.heads:
            for part, words in _FETCHING["remote" in call.values].items():
                yield from self._part(call, part, words)
        yield from super()._keywords(call)

    def _part(self, call: Call, part: str, words: Iterable[str]) -> Iterator[Slot]:
        """A part of a compound: of the keywords that may give it, the first that has one literal."""
        values = [call.values[word] for word in words if word in call.values]
        alone = (value.named_children[0] if _is_of_one(value) else value for value in values)
        token = next((found for value in alone if (found := self.followed(value))), None)
        if token is not None and part == "hash":
            token = _digest(token)
        if token is not None:
            yield scalar(call.heads, token, part=part, group=call.start)


def _is_of_one(node: Node) -> bool:
    return node.type == "list" and node.named_child_count == 1


def _composed(parts: _Parts, at: int) -> Token | None:
    """The token `parts[at]`, as the whole text that all of them make."""
    token = parts[at]
    before, behind = "".join(map(str, parts[:at])), "".join(map(str, parts[at + 1 :]))
    if not isinstance(token, Token) or _CONTROL.search(before + behind) or COMPOSED in token.style:
        return None
    whole = f"{before}{token.value}{behind}"
    return token._replace(value=whole, style=COMPOSED.join((token.style, before, behind))) if before + behind else token


def _filled(pattern: str | None, fields: re.Pattern[str], given: Callable[[str], _Parts | None]) -> _Parts | None:
    """`pattern` with what is `given` for the names of its `fields`."""
    parts: _Parts = []
    at = 0
    for match in fields.finditer(pattern or ""):
        parts.append(match.string[at : match.start()] + (match["double"] or "")[:1])
        at = match.end()
        if not match["double"]:
            value = given(match["name"]) if match["name"] is not None else None
            if value is None or len(parts) > _MOST:
                return None
            parts += value
    return None if pattern is None else [*parts, pattern[at:]]


def _digest(token: Token) -> Token | None:
    """A digest as compounds have it, `SHA256=...` in hex; None for what is none, or is put together."""
    hexadecimal = digests.from_sri(token.value)
    digest = hexadecimal or token.value.lower()
    name = digests.algorithm(digest)
    if name is None or COMPOSED in token.style:
        return None
    return token._replace(value=f"{name.upper()}={digest}", style=(SRI if hexadecimal else HEX) + token.style)
