"""The values that the reader of a file makes, each once, and which of them may lead to what is looked for."""

import re
from collections.abc import Iterable, Mapping, Sequence

from pinctl.contract.uses.facts import OPAQUE, Row

MOST_ELEMENTS = 64
"""Elements of a display that are followed one by one."""
MOST_MAPPINGS = 4
"""Dicts, of different keys, that one value is known to be."""

_LONGEST = 200
_DOTTED = re.compile(r"\.*[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def below(base: str, name: str) -> str:
    """The dotted name of `name` in the module `base`, which may end with the dots of a relative import."""
    return f"{base}{name}" if base.endswith(".") else f"{base}.{name}"


class Table:
    """The rows of `Facts.values`. `words` are the names that lead to what is looked for, `sought` those that were given
    at the start; a value is *kept* where it may lead there."""

    def __init__(self, words: Iterable[str], sought: Iterable[str]) -> None:
        self.words = set(words)
        self.rows: list[Row] = []
        self._sought = frozenset(sought)
        self._kept: list[bool] = []
        self._numbers: dict[Row, int] = {}

    def row(self, *row: object, kept: bool) -> int:
        """The number of a row."""
        number = self._numbers.get(row)
        if number is None:
            number = self._numbers[row] = len(self.rows)
            self.rows.append(row)
            self._kept.append(kept)
        return number

    def kept(self, value: int) -> bool:
        """Whether the value may lead to what is looked for."""
        return value != OPAQUE and self._kept[value]

    def operation(self, value: int) -> str:
        """The operation of a value, "" of what is opaque."""
        return str(self.rows[value][0]) if value != OPAQUE else ""

    def bare(self, value: int) -> int:
        """The value without the events by which it was got."""
        while self.operation(value) == "via":
            value = self.rows[value][1]
        return value

    # --- making values ------------------------------------------------------------------------------------------------

    def name(self, dotted: str) -> int:
        """What an import of `dotted` gives."""
        return self.row("name", dotted, kept=not self.words.isdisjoint(dotted.split(".")))

    def text(self, text: str, line: int, column: int, *, at_import: bool) -> int:
        """A string literal, where it may be a name."""
        if len(text) > _LONGEST or not _DOTTED.fullmatch(text):
            return OPAQUE
        return self.row("text", text, line, column, at_import, kept=not self._sought.isdisjoint(text.split(".")))

    def variable(self, scope: str, name: str) -> int:
        """A variable, where its name leads anywhere."""
        return self.row("var", scope, name, kept=True) if name in self.words else OPAQUE

    def attribute(self, base: int, name: str) -> int:
        """The attribute `name` of a value."""
        operation = self.operation(base)
        if operation == "name":
            return self.name(below(str(self.rows[base][1]), name))
        if operation in ("self", "def"):
            return self.row("attr", base, name, kept=True) if name in self.words else OPAQUE
        return self.row("attr", base, name, kept=True) if self.kept(base) else OPAQUE

    def display(self, values: Sequence[int]) -> int:
        """A list, tuple or set of known elements."""
        if len(values) > MOST_ELEMENTS:
            return OPAQUE
        return self.row("seq", tuple(values), kept=any(map(self.kept, values)))

    def mapping(self, entries: Mapping[str, int], *, more: bool = False) -> int:
        """A dict of known keys; `more` where it may have others, or lack some of these."""
        if len(entries) > MOST_ELEMENTS:
            return OPAQUE
        values = tuple(entries.values())
        return self.row("map", tuple(entries), values, more, kept=any(map(self.kept, values)))

    def union(self, values: Iterable[int]) -> int:
        """One of `values`."""
        members: dict[int, None] = {}
        for value in values:
            members.update(dict.fromkeys(self._members(value)))
        maps = [value for value in members if self.operation(value) == "map"]
        if len(maps) > MOST_MAPPINGS:
            merged = {key: value for part in maps for key, value in self._entries(part).items()}
            members = dict.fromkeys(value for value in members if value not in maps)
            members[self.mapping(merged, more=True)] = None
        if len(members) == 1:
            return next(iter(members))
        known = [value for value in members if value != OPAQUE]
        return self.row("any", tuple(members), kept=any(map(self.kept, known))) if known else OPAQUE

    def _members(self, value: int) -> tuple[int, ...]:
        return self.rows[value][1] if self.operation(value) == "any" else (value,)

    def _entries(self, value: int) -> dict[str, int]:
        return dict(zip(*self.rows[value][1:3], strict=True))

    def own(self, value: int) -> str:
        """The scope of the function that a value is, or that an attribute of an instance or class of the file is; ""
        of anything else."""
        value = self.bare(value)
        match self.rows[value] if value != OPAQUE else ():
            case ("def", scope):
                return str(scope)
            case ("var", scope, name):
                return f"{scope}.{name}".removeprefix(".")
            case ("attr", base, name) if self.operation(base) in ("self", "def"):
                return f"{self.rows[base][1]}.{name}"
        return ""

    # --- what values are ----------------------------------------------------------------------------------------------

    def dotted(self, value: int) -> str:
        """The dotted name that a value is, "" where it is none."""
        value = self.bare(value)
        return str(self.rows[value][1]) if self.operation(value) == "name" else ""

    def literal(self, value: int) -> str | None:
        """The text of a string literal; None of anything else."""
        return str(self.rows[value][1]) if self.operation(value) == "text" else None

    def elements(self, value: int) -> tuple[int, ...] | None:
        """The elements of a display; None where they are not known."""
        return self.rows[value][1] if self.operation(value) == "seq" else None

    def mappings(self, value: int) -> list[tuple[dict[str, int], bool]] | None:
        """The entries of each dict that a value may be, and whether it may have more; None of what is no dict."""
        members = self._members(value)
        found = [(self._entries(part), bool(self.rows[part][3])) for part in members if self.operation(part) == "map"]
        unknown = [part for part in members if self.operation(part) != "map"]
        if not found or any(part != OPAQUE for part in unknown):
            return None
        return [*found, *(({}, True) for _ in unknown)]
