"""TOML 1.0: pyproject.toml, Cargo.toml, and pins.toml itself.

Selectors: `tool.uv.index`, odd keys quoted as TOML quotes them (`sites."a/b.sh".REF`), elements of arrays by number
(`patches.0.file`) or by what one of their keys says (`package[name=fmt].version`). In the lists of requirements of a
pyproject also `requirement NAME`, `specifier NAME` and `url NAME`; in one list `project.dependencies:requirement NAME`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from pinctl.model import KeyPath
from pinctl.plan import Edit
from pinctl.sites import pep508, toml_edit
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, scalar
from pinctl.sites.toml_reader import KEY, Item, Reading, Span, key_of, key_text, read, text_of

NAME = "toml"
COMMENT: tuple[str, str] | None = ("# ", "")

_WORD = r"\"(?:[^\"\\\n]|\\.)*\"|[^\"\]\n]*"
_FILTER = re.compile(rf"\[(?P<key>{KEY})=(?P<value>{_WORD})\]")
_STEP = re.compile(rf"(?P<key>{KEY})(?P<filters>(?:\[(?:{KEY})=(?:{_WORD})\])*)(?:\.(?=.)|$)")
_REQUIREMENT = re.compile(rf"(?:(?P<list>[^:]+):)?(?P<rest>(?:{'|'.join(pep508.KINDS)}) .*)", re.DOTALL)
_PLAIN = "plain"
_NAME_LENGTH = 100
"""Longer names of elements make no alias."""

Step = str | tuple[str, str]
"""One step of a selector: a key or number, or what a key of the element must say."""


def parse(source: bytes) -> "TomlDocument":
    """The document of any bytes; what is no TOML is in `errors`. Raises Unparsable for a file out of bounds."""
    reading = read(source)
    return TomlDocument(source=source, errors=reading.errors, reading=reading)


@dataclass(slots=True)
class TomlDocument(Document):
    """A TOML file. Besides its slots it tells where keys stand, and adds keys to tables, for pins.toml."""

    reading: Reading = field(default_factory=Reading)
    _by_path: dict[KeyPath, Item] | None = field(default=None, repr=False)

    def slots(self) -> Iterator[Slot]:
        for item in self.reading.items:
            slot = None if item.listed else self._slot(item)
            if slot is not None:
                yield slot
            if item.node.type == "string" and _lists_requirements(item.path[:-1]):
                yield from self._requirement(item)

    def find(self, selector: str) -> list[Hit]:
        """By the index, else step by step: elements of lists, and `[key=value]`."""
        if match := _REQUIREMENT.fullmatch(selector):
            rest = pep508.selector(match["rest"])
            return Document.find(self, f"{match['list']}:{rest}" if match["list"] else f"{rest}")
        steps = _steps(selector)
        return Document.find(self, selector) or [
            (slot,) for path in self._paths(steps) if (slot := self.slot_at(path)) is not None
        ]

    def locate(self, path: KeyPath) -> Span:
        """The bytes of the key (for an array's element: the value) at `path`, else of its nearest parent, else 0, 0."""
        while path and path not in self.reading.spans:
            path = path[:-1]
        return self.reading.spans.get(path, (0, 0))

    def slot_at(self, path: KeyPath) -> Slot | None:
        """The slot of the value at `path`: a plain one, or an array of plain ones."""
        if self._by_path is None:
            self._by_path = {item.path: item for item in reversed(self.reading.items)}
        item = self._by_path.get(path)
        return self._slot(item) if item else None

    def insert(self, table: KeyPath, key: str, value: object) -> Edit:
        """The edit that adds `key = value` at the end of the lines of the existing table `table`.

        `value` may be a str, bool, number, sequence or mapping. Raises Unwritable: no such table, or the key is there.
        """
        return toml_edit.key_insertion(self.reading, self.source, table, key, value)

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        style = token.style if token else slot.tokens[-1].style if slot.tokens else '"'
        if style in pep508.KINDS:
            return pep508.checked(style, value).encode()
        if style == _PLAIN:
            like = token or slot.tokens[-1]
            return toml_edit.plain(value, like.value)
        return toml_edit.string(value, style)

    def fill(self, slot: Slot, values: Sequence[str]) -> list[Edit]:
        words = [self.encode(slot, None, value) for value in values]
        start, end = slot.start + 1, slot.end - 1
        if b"#" in self.source[start:end]:
            return [Edit(start, start, b"".join(word + b"," for word in words))]
        return [Edit(start, end, b", ".join(words))]

    def empty(self, slot: Slot) -> list[Edit]:
        start, end = slot.start + 1, slot.end - 1
        marks = [start, *(place for token in slot.tokens for place in (token.start, token.end)), end]
        gaps = [self.source[a:b] for a, b in zip(marks[::2], marks[1::2], strict=True)]
        if any(b"#" in gap for gap in gaps):
            return list(self.remove(slot, 0, len(slot.tokens)))
        return [Edit(start, end, b"")]

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        return toml_edit.removal(self.source, slot.tokens, first, stop)

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        words = [self.encode(slot, None, value) for value in new]
        return toml_edit.insertion(self.source, slot.tokens, at, words)

    def _slot(self, item: Item) -> Slot | None:
        names = [item.name]
        if self.reading.called and (alias := self._alias(item.path)):
            names.append(alias)
        if item.elements is None:
            token = self._token(item.node)
            return scalar(names, token) if token else None
        tokens = [self._token(node) for node in item.elements]
        start, end = item.node.start_byte, item.node.end_byte
        known = tuple(token for token in tokens if token)
        if len(known) < len(tokens):
            return None
        return Slot(names=tuple(names), tokens=known, start=start, end=end, many=True, ordered=True)

    def _token(self, node: Node) -> Token | None:
        kind, start, end = node.type, node.start_byte, node.end_byte
        if kind in ("array", "inline_table"):
            return None
        raw = self.source[start:end].decode("utf-8", "replace")
        if kind != "string":
            return Token(value=raw, start=start, end=end, style=_PLAIN)
        value = text_of(raw)
        style = raw[:3] if raw[:3] in ('"""', "'''") else raw[0]
        return None if value is None else Token(value=value, start=start, end=end, style=style)

    def _requirement(self, item: Item) -> Iterator[Slot]:
        """The version, set or URL inside one string of a list of requirements."""
        token = self._token(item.node)
        requirement = pep508.parse(token.value) if token else None
        if token is None or requirement is None:
            return
        pinned = token.value[: requirement.end].encode()
        start = token.start + len(token.style)
        # An escape before the version would shift it.
        if self.source.startswith(pinned, start):
            first = start + len(token.value[: requirement.start].encode())
            value = token.value[requirement.start : requirement.end]
            names = (requirement.selector, f"{item.name.rpartition('.')[0]}:{requirement.selector}")
            yield scalar(names, Token(value=value, start=first, end=start + len(pinned), style=requirement.kind))

    def _alias(self, path: KeyPath) -> str | None:
        """The selector of `path` with the elements of arrays by their names; None where none on the way has one."""
        called: dict[int, str] = {}
        for n, step in enumerate(path):
            name = self.reading.called.get(path[: n + 1]) if isinstance(step, int) else None
            if name and len(name) <= _NAME_LENGTH:
                called[n] = key_text(name)
        if not called:
            return None
        steps = [f"[name={called[n]}]" if n in called else f".{key_text(str(step))}" for n, step in enumerate(path)]
        return "".join(steps).removeprefix(".")

    def _paths(self, steps: Sequence[Step]) -> list[KeyPath]:
        """The key paths of this file that `steps` lead to."""
        paths: list[KeyPath] = [()]
        for step in steps:
            paths = [new for path in paths for new in self._next(path, step)]
        return paths

    def _next(self, path: KeyPath, step: Step) -> list[KeyPath]:
        spans = self.reading.spans
        if isinstance(step, str):
            number: KeyPath = (*path, int(step)) if step.isascii() and step.isdigit() and len(step) < 10 else ()
            return [new for new in ((*path, step), number) if new in spans]
        key, value = step
        found: list[KeyPath] = []
        n = 0
        while (element := (*path, n)) in spans:
            slot = self.slot_at((*element, key))
            if slot is not None and slot.value == value:
                found.append(element)
            n += 1
        return found


def _steps(selector: str) -> list[Step]:
    """Raises BadSelector."""
    steps: list[Step] = []
    at = 0
    while at < len(selector) or not steps:
        match = _STEP.match(selector, at)
        if match is None:
            raise BadSelector(
                f'{selector!r} is no path of TOML keys; expected `table.key`, `table."odd key"`, `list.0.key`, '
                "`list[name=x].key`, `requirement NAME`, `specifier NAME` or `url NAME`"
            )
        steps.append(key_of(match["key"]))
        for part in _FILTER.finditer(match["filters"]):
            word = part["value"]
            steps.append((key_of(part["key"]), key_of(word) if word.startswith('"') else word))
        at = match.end()
    return steps


def _lists_requirements(path: KeyPath) -> bool:
    """Whether the array at `path` holds requirements (PEP 517, 621, 735; uv's settings)."""
    match path:
        case ("project", "dependencies") | ("build-system", "requires"):
            return True
        case ("project", "optional-dependencies", _) | ("dependency-groups", _):
            return True
        case ("tool", "uv", str(key)):
            return key.endswith("dependencies")
    return False
