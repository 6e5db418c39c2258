"""A shell text on its way to slots: where its words stand in the file, and which variables hold which literals."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from pinctl.sites.base import Slot, Token, Unparsable
from pinctl.sites.packages import Span
from pinctl.sites.shell_words import Word, literal, text

_REFERENCE = re.compile(rb"(\"?)\$(?:\{(\w+)\}|(\w+))\1")
_WHOLE_DEFAULT = re.compile(
    rb"(\"?)(?P<expansion>\$\{(?P<name>\w+):?[-=]"
    rb"(?:[^{}$\"'\\]++|\\.|'[^']*+'|\"(?:[^\"\\]++|\\.)*+\"|\$\{\w+\}|\$(?!\{))*+\})\1",
    re.DOTALL,
)
DEFAULT = "default"
"""Style of a slot that is the default of an expansion."""
_CHAIN = 8
"""How many variables a value is followed through."""
PATIENCE = 2.0
"""Seconds that the parsing of all shell text of a file may take: hostile text can keep the grammar busy for hours."""
_GOES_ON = re.compile(rb"(?:\\\r?\n)*+[^\s;&|()<>]")


@dataclass(slots=True)
class Reading:
    """The literals of a file so far, and how its variables hang together."""

    slots: list[Slot] = field(default_factory=list)
    errors: list[Span] = field(default_factory=list)
    words: dict[int, tuple[Span, ...]] = field(default_factory=dict)
    """For each list, by its `start`, the spans of all words of its command, the literals among them."""
    values: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """For each variable the literals it may hold: their scope (a Dockerfile's stage) and their place in `slots`."""
    links: dict[str, list[str]] = field(default_factory=dict)
    """For each variable those whose value it takes, `A=$B`."""
    uses: dict[tuple[int, str], dict[str, None]] = field(default_factory=dict)
    """For a scope and a variable the selectors of the places that take its value."""

    deadline: float = field(default_factory=lambda: monotonic() + PATIENCE, repr=False)

    def add(self, slot: Slot, variable: str = "", scope: int = 0) -> None:
        """One more slot; `variable` is the one that may hold its value."""
        if variable and slot.tokens[0].value:
            self.values.setdefault(variable, []).append((scope, len(self.slots)))
        self.slots.append(slot)

    def resolved(self) -> list[Slot]:
        """The slots in the order of the file; a literal that reaches a command through a variable has the command's
        selectors as well."""
        further: dict[int, dict[str, None]] = {}
        for (scope, variable), names in self.uses.items():
            for place in self._held(variable, scope):
                further.setdefault(place, {}).update(names)
        slots = list(self.slots)
        for place, names in further.items():
            slots[place] = replace(slots[place], names=tuple(dict.fromkeys((*slots[place].names, *names))))
        return sorted(slots, key=lambda slot: slot.start)

    def _held(self, variable: str, scope: int) -> list[int]:
        """The literals that `variable` may hold: those of its own scope, else all of the file."""
        names = [variable]
        for name in names:  # grows while it is walked, but not through all that a hostile file may chain
            names += [other for other in self.links.get(name, ())[:_CHAIN] if other not in names][: _CHAIN - len(names)]
        held = [pair for name in names for pair in self.values.get(name, ())]
        near = [place for where, place in held if where == scope]
        return near or [place for _, place in held]


def refuse_binary(source: bytes) -> None:
    """Raises Unparsable for a file with a NUL byte, which is no text, and which the grammar takes very long over."""
    if b"\0" in source:
        raise Unparsable("it holds a NUL byte, so it is no text")


class Text:
    """One shell text, whose literals go into a Reading.

    `span` turns a span of `code` into one of the file, `prefixes` stand before every selector, `scope` tells apart
    variables of one name.
    """

    def __init__(
        self,
        code: bytes,
        into: Reading,
        *,
        span: Callable[[int, int], Span] = lambda start, end: (start, end),
        prefixes: Sequence[str] = ("",),
        scope: int = 0,
    ) -> None:
        self.code, self.into, self.span, self.prefixes, self.scope = code, into, span, prefixes, scope
        self._names_of_default: dict[int, list[str]] = {}

    def word(self, start: int, end: int, *, assigned: bool = False) -> Word:
        """The word `start:end` of the code; `assigned`: the right side of an assignment."""
        raw = self.code[start:end]
        # The grammar may end a word too soon, as at an escaped line end, or before a # within it.
        goes_on = _GOES_ON.match(self.code, end)
        value, style = (None if goes_on else literal(raw, assigned=assigned)) or (None, "")
        return Word(start, end, raw, value, style)

    def add(self, selectors: Sequence[str], word: Word, *, style: str = "", variable: str = "") -> None:
        """A slot of the literal `word`; `variable` is the one that may hold it."""
        token = self._token(word)
        slot = Slot(names=self._named(selectors), tokens=(token,), start=token.start, end=token.end, style=style)
        self.into.add(slot, variable, self.scope)

    def add_list(
        self, selector: str, elements: Sequence[Word], around: Sequence[Span], whole: Span, style: str = ""
    ) -> None:
        """A slot of the literals among `elements`; `around` are the spans of the other words about them.

        With a style it is the operands of a command, without order; without one an array.
        """
        start, end = self.span(*whole)
        spans = {self.span(*span) for span in (*around, *((e.start, e.end) for e in elements))}
        self.into.words[start] = tuple(sorted(spans))
        tokens = tuple(self._token(e) for e in elements if e.value is not None)
        names = self._named((selector,))
        self.into.add(Slot(names=names, tokens=tokens, start=start, end=end, many=True, ordered=not style, style=style))

    def use(self, variable: str, *selectors: str) -> None:
        """`selectors` name a place that takes its value from `variable`."""
        self.into.uses.setdefault((self.scope, variable), {}).update(dict.fromkeys(self._named(selectors)))

    def link(self, variable: str, word: bytes) -> None:
        """`variable` takes its value from another where `word` is nothing but that one's expansion."""
        reference = _REFERENCE.fullmatch(word)
        if reference is not None:
            self.into.links.setdefault(variable, []).append(_name(reference))

    def assigned(self, variable: str, word: Word) -> None:
        """`variable=word`, where `word` is no literal."""
        whole = _WHOLE_DEFAULT.fullmatch(word.raw)
        if whole is None:
            self.link(variable, word.raw)
        elif text(whole["name"]) == variable:
            self._name_default(word, whole, variable)
        else:
            self.into.links.setdefault(variable, []).append(text(whole["name"]))

    def refer(self, word: Word, selector: str) -> None:
        """`selector` names the literals of the variable that `word` expands, and its default here."""
        whole = _WHOLE_DEFAULT.fullmatch(word.raw)
        reference = _REFERENCE.fullmatch(word.raw)
        if whole is not None:
            self._name_default(word, whole, selector)
            self.use(text(whole["name"]), selector)
        elif reference is not None:
            self.use(_name(reference), selector)

    def names_of_default(self, start: int) -> Sequence[str]:
        """Further selectors of the default in the expansion that begins at `start`."""
        return self._names_of_default.get(start, ())

    def _name_default(self, word: Word, whole: re.Match[bytes], selector: str) -> None:
        self._names_of_default.setdefault(word.start + whole.start("expansion"), []).append(selector)

    def _token(self, word: Word) -> Token:
        start, end = self.span(word.start, word.end)
        return Token(value=word.value or "", start=start, end=end, style=word.style)

    def _named(self, selectors: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(prefix + selector for prefix in self.prefixes for selector in selectors))


def _name(reference: re.Match[bytes]) -> str:
    return text(reference[2] or reference[3])
