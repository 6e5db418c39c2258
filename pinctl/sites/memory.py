"""What was read before: a file whose bytes are known need not be parsed to find its slots again.

The key is a digest of pinctl's version, of what tells one build of the readers from another (`salt`), the language and
the file's bytes, so an entry can be stale for no reader. What is not known, or must be written, is parsed; so is what
has not the shape of an entry, since a file on disk can be damaged.
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
    """The entries of earlier runs, and those that this run used; `learned` tells whether it made new ones. `salt` is
    text that changes when the readers do."""

    known: Entries = field(default_factory=dict)
    salt: str = ""
    used: dict[str, dict[str, Any]] = field(default_factory=dict)
    learned: bool = False

    def open(self, language: str, source: bytes) -> Document:
        """The document of a file in `language`. Raises Unparsable where it has to be parsed and cannot be."""
        head = "\0".join((__version__, self.salt, language, ""))
        key = hashlib.sha256(head.encode() + source).hexdigest()
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
        known = _hits(self.places.get(selector), len(self.source))
        if known:
            return known
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

    def as_list(self, slot: Slot) -> Slot:
        return slot if slot.many else self.parsed().as_list(slot)

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


def _hits(plain: Any, length: int) -> list[Hit]:
    """What is remembered of one selector in a file of `length` bytes; [] where that is nothing, or damaged."""
    try:
        hits = [tuple(_slot(slot, length) for slot in hit) for hit in plain]
    except (TypeError, ValueError):
        return []
    return hits if all(hits) else []


_SHAPE = (list, list, int, int, str, int, bool, bool, str)


def _slot(plain: Any, length: int) -> Slot:
    """Raises TypeError or ValueError for what `_plain` never made."""
    names, tokens, start, end, part, group, many, ordered, style = plain
    _demand(tuple(map(type, plain)) == _SHAPE and 0 <= start <= end <= length)
    _demand(bool(names) and all(type(name) is str for name in names) and (many or len(tokens) == 1))
    _demand_text(*names, part, style)
    return Slot(
        names=tuple(names), tokens=tuple(_token(token, length) for token in tokens), start=start, end=end, part=part,
        group=group, many=many, ordered=ordered, style=style,
    )  # fmt: skip


def _token(plain: Any, length: int) -> Token:
    value, start, end, style = plain
    _demand((type(value), type(start), type(end), type(style)) == (str, int, int, str))
    _demand(0 <= start <= end <= length)
    _demand_text(value, style)
    return Token(value, start, end, style)


def _demand_text(*words: str) -> None:
    """Raises ValueError for a lone surrogate, which JSON can hold and UTF-8 cannot."""
    "".join(words).encode()


def _demand(sound: bool) -> None:
    if not sound:
        raise ValueError("a damaged entry")
