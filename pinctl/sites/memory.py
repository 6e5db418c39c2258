"""What was read before: a file whose bytes are known need not be parsed to find its slots again.

The key is a digest of pinctl's version, the language and the file's bytes, so an entry can be stale for no reader. What
is not known, or must be written, is parsed.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pinctl import __version__, sites
from pinctl.plan import Edit
from pinctl.sites.base import Document, Hit, Slot, Token, Value

Entries = Mapping[str, Mapping[str, Any]]
"""By a file's key, by selector, the places that it names, as JSON holds them."""

_MOST = 50
"""Places of one selector that are worth keeping."""


@dataclass(slots=True)
class Memory:
    """The entries of earlier runs, and those that this run used; `learned` tells whether it made new ones."""

    known: Entries = field(default_factory=dict)
    used: dict[str, dict[str, Any]] = field(default_factory=dict)
    learned: bool = False

    def open(self, language: str, source: bytes) -> Document:
        """The document of a file in `language`. Raises Unparsable where it has to be parsed and cannot be."""
        key = hashlib.sha256(b"\0".join((__version__.encode(), language.encode(), source))).hexdigest()
        places = self.used.get(key, dict(self.known.get(key, {})))
        document = Remembered(source=source, language=language, memory=self, places=places)
        if key not in self.known:
            document.parsed()
        self.used[key] = places
        return document


@dataclass(slots=True)
class Remembered(Document):
    """A document that is parsed only when it is asked for something that it does not remember."""

    language: str = ""
    memory: Memory = field(default_factory=Memory)
    places: dict[str, Any] = field(default_factory=dict)
    _parsed: Document | None = None

    def parsed(self) -> Document:
        """The document as its language reads it. Raises Unparsable."""
        if self._parsed is None:
            self._parsed = sites.load(self.language).parse(self.source)
            self.errors = self._parsed.errors
        return self._parsed

    def find(self, selector: str) -> list[Hit]:
        """As the language finds it. What was found once is remembered."""
        try:
            return [tuple(map(_slot, hit)) for hit in self.places[selector]]
        except (KeyError, TypeError, ValueError):  # not known, or spoilt
            pass
        hits = self.parsed().find(selector)
        if 0 < len(hits) <= _MOST and all(type(slot) is Slot for hit in hits for slot in hit):
            self.places[selector] = [[_plain(slot) for slot in hit] for hit in hits]
            self.memory.learned = True
        return hits

    def slots(self) -> Iterator[Slot]:
        return self.parsed().slots()

    def index(self) -> dict[str, list[Hit]]:
        return self.parsed().index()

    def candidates(self, selector: str, limit: int = 3) -> list[str]:
        return self.parsed().candidates(selector, limit)

    def edits(self, slot: Slot, value: Value) -> list[Edit]:
        return self.parsed().edits(self._fresh(slot), value) if value != slot.value else []

    def add(self, hit: Hit, part: str, value: Value) -> list[Edit]:
        return self.parsed().add(tuple(map(self._fresh, hit)), part, value)

    def _fresh(self, slot: Slot) -> Slot:
        """The slot that the parsed document knows, which may be more to it than an equal one. Those that are more than
        a Slot, as a pattern's are, were never remembered."""
        if type(slot) is not Slot:
            return slot
        found = (s for name in slot.names for hit in self.parsed().find(name) for s in hit if s == slot)
        return next(found, slot)


def _plain(slot: Slot) -> list[Any]:
    return [
        slot.names, slot.tokens, slot.start, slot.end, slot.part, slot.group, slot.many, slot.ordered, slot.style,
    ]  # fmt: skip


def _slot(plain: list[Any]) -> Slot:
    names, tokens, start, end, part, group, many, ordered, style = plain
    return Slot(
        names=tuple(names), tokens=tuple(Token(*token) for token in tokens), start=start, end=end, part=part,
        group=group, many=many, ordered=ordered, style=style,
    )  # fmt: skip
