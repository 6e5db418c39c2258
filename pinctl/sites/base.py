"""What every site language shares: tokens, slots, documents.

A language module turns the bytes of one file into a `Document`: an index of every literal that a selector can
name, with its byte span. Nothing here or in a language module does any IO, and no input makes `parse` raise
anything but `Unparsable`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

from pinctl.plan import Edit, apply

Value = str | tuple[str, ...]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Unparsable(Exception):
    """The file as a whole cannot be read in this language; `str(error)` says why."""


class Unwritable(Exception):
    """A value cannot stand in this place without changing its meaning; `str(error)` says why, and `mend` is the command
    that a person can run instead."""

    def __init__(self, why: str, *, mend: str | None = None) -> None:
        super().__init__(why)
        self.mend = mend


class BadSelector(Exception):
    """The selector is none of this language; `str(error)` says what was expected."""


class Token(NamedTuple):
    """One literal: the bytes `start:end`, quotes included, mean `value`. `style` is its language's note on quoting."""

    value: str
    start: int
    end: int
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place that holds a value.

    names     its selectors, the canonical one first; later ones are shorter or older spellings
    part      which part of a compound selector it is: repo, ref, submodules, url, hash; "" for a plain one
    group     slots of one compound selector share it (the offset of their call)
    tokens    the literal, or the literals of a list
    many      a list; `ordered` if its order has a meaning in this language
    start/end the bytes a reader would point at, and where an empty list is filled
    """

    names: tuple[str, ...]
    tokens: tuple[Token, ...]
    start: int
    end: int
    part: str = ""
    group: int = -1
    many: bool = False
    ordered: bool = False
    style: str = ""

    @property
    def selector(self) -> str:
        return self.names[0]

    @property
    def value(self) -> Value:
        return tuple(t.value for t in self.tokens) if self.many else self.tokens[0].value

    def encode(self, document: "Document", value: str) -> bytes:
        """`value` as it must stand in place of this slot's one token. Raises Unwritable.

        The language's business, but for places that it does not know: those that a pattern found.
        """
        return document.encode(self, self.tokens[0], value)


def scalar(names: Sequence[str], token: Token, *, part: str = "", group: int = -1) -> Slot:
    """A slot of one literal."""
    return Slot(names=tuple(names), tokens=(token,), start=token.start, end=token.end, part=part, group=group)


def verbatim(value: str) -> bytes:
    """`value` in UTF-8 as it is. Raises Unwritable for control characters and for what UTF-8 cannot hold."""
    if _CONTROL.search(value):
        raise Unwritable(f"{value!r} holds a control character")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise Unwritable(f"{value!r} is no text") from None


Hit = tuple[Slot, ...]
"""What one selector found in one place: a single slot, or the parts of a compound one."""


@dataclass(slots=True)
class Document:
    """A parsed file. Languages subclass it and give `slots`, `encode` and, for lists, `separator` and `fill`."""

    source: bytes
    errors: tuple[tuple[int, int], ...] = ()
    """Byte spans that could not be parsed; readers stay exact around them."""
    _index: dict[str, list[Hit]] | None = field(default=None, repr=False)

    def slots(self) -> Iterator[Slot]:
        """Every literal that a selector of this language names, in the order of the file."""
        raise NotImplementedError

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        """`value` as it must be written in place of `token` (its quoting kept where it can hold the value), or as a
        new element of the list `slot` when `token` is None (quoted as its neighbours are). Raises Unwritable."""
        raise NotImplementedError

    def separator(self, slot: Slot, before: int) -> bytes:
        """The bytes to put between two elements of a list, as they stand between its tokens `before` and `before + 1`;
        `before` may be the last token. The default takes the white space and punctuation of a neighbouring gap."""
        tokens = slot.tokens
        gaps = [self.source[a.end : b.start] for a, b in pairwise(tokens)]
        plain = [g for g in gaps[before : before + 1] + gaps[::-1] if g and not g.strip(b" \t\r\n,;\\")]
        return plain[0] if plain else b" "

    def fill(self, slot: Slot, values: Sequence[str]) -> list[Edit]:
        """The edits that put `values` (one or more) into a list that has no element. Raises Unwritable."""
        raise Unwritable("the list is empty, and where its elements would stand is not known")

    def empty(self, slot: Slot) -> list[Edit]:
        """The edits that take every element out of a list. Raises Unwritable where the language has no empty list."""
        raise Unwritable("the list would become empty")

    def as_list(self, slot: Slot) -> Slot:
        """`slot` for a template that gives a list: a list, where the language spells one of one element as a value."""
        return slot

    def add(self, hit: Hit, part: str, value: Value) -> list[Edit]:
        """The edits that give the compound `hit` the `part` that it lacks. Raises Unwritable."""
        raise Unwritable(f"the {part} does not stand here, and where it would is not known")

    def find(self, selector: str) -> list[Hit]:
        """Every place that `selector` names (`#N` not included); [] if none. Raises BadSelector."""
        return self.index().get(selector, [])

    def index(self) -> dict[str, list[Hit]]:
        """Every selector of the file with the places it names. Built once."""
        if self._index is None:
            groups: dict[tuple[int, str], list[Slot]] = {}
            for n, slot in enumerate(self.slots()):
                # Parts of one call make one hit under each of their shared names.
                groups.setdefault((slot.group, "") if slot.group >= 0 else (-1, str(n)), []).append(slot)
            index: dict[str, list[Hit]] = {}
            for members in groups.values():
                for name in dict.fromkeys(name for slot in members for name in slot.names):
                    index.setdefault(name, []).append(tuple(s for s in members if name in s.names))
            self._index = index
        return self._index

    def candidates(self, selector: str, limit: int = 3) -> list[str]:
        """Selectors of this file that a person may have meant."""
        from difflib import get_close_matches

        return get_close_matches(selector, list(self.index()), n=limit, cutoff=0.5)

    def edits(self, slot: Slot, value: Value) -> list[Edit]:
        """The edits that make `slot` read as `value` and move no other byte. Raises Unwritable."""
        if not slot.many:
            if not isinstance(value, str):
                raise Unwritable("a list cannot stand where one value is meant")
            return _replace(slot.tokens[0], slot.encode(self, value)) if value != slot.value else []
        values = (value,) if isinstance(value, str) else value
        if values == slot.value:
            return []
        if not values:
            return self.empty(slot)
        if not slot.tokens:
            return self.fill(slot, values)
        return list(self._list_edits(slot, values))

    def _list_edits(self, slot: Slot, values: tuple[str, ...]) -> Iterator[Edit]:
        """The smallest edits from the list's elements to `values`: kept elements do not move a byte."""
        from difflib import SequenceMatcher

        tokens = slot.tokens
        others = [n for n, token in enumerate(tokens[: len(values)]) if token.value != values[n]]
        if len(values) == len(tokens) and len(others) == 1:  # what is below may take another one that is alike
            (at,) = others
            yield from _replace(tokens[at], self.encode(slot, tokens[at], values[at]))
            return
        matcher = SequenceMatcher(None, [t.value for t in tokens], values, autojunk=False)
        for op, a, b, c, d in matcher.get_opcodes():
            if op == "equal":
                continue
            shared = min(b - a, d - c)
            for token, new in zip(tokens[a : a + shared], values[c : c + shared], strict=True):
                yield from _replace(token, self.encode(slot, token, new))
            if b - a > shared:
                yield from self.remove(slot, a + shared, b)
            if d - c > shared:
                yield self._insertion(slot, b, values[c + shared : d])

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        """The edit that puts `new` between the tokens `at - 1` and `at`."""
        tokens, words = slot.tokens, [self.encode(slot, None, value) for value in new]
        if at == 0:
            gap = self.separator(slot, 0)
            return Edit(tokens[0].start, tokens[0].start, b"".join(word + gap for word in words))
        gap = self.separator(slot, at - 1)
        return Edit(tokens[at - 1].end, tokens[at - 1].end, b"".join(gap + word for word in words))

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        """The edits that take the tokens `first:stop` out, each with one gap beside it. All of them may not go."""
        tokens = slot.tokens
        if first > 0:
            yield Edit(tokens[first - 1].end, tokens[stop - 1].end, b"")
        else:
            yield Edit(tokens[0].start, tokens[stop].start, b"")


def _replace(token: Token, new: bytes) -> list[Edit]:
    return [Edit(token.start, token.end, new)]


def write(document: Document, slot: Slot, value: Value) -> bytes:
    """The file's bytes with `slot` holding `value`. Raises Unwritable."""
    return apply(document.source, document.edits(slot, value))


class Language(Protocol):
    """A site language: one module, one line in `sites.LANGUAGES`."""

    NAME: str
    """As it stands in messages and in `[languages]` overrides: "cmake"."""
    COMMENT: tuple[str, str] | None
    """How a comment line begins and ends ("# ", ""); None where the language has no comments (JSON)."""

    def parse(self, source: bytes) -> Document:
        """Raises Unparsable, and nothing else, whatever the bytes."""
        ...
