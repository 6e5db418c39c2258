"""A shell text on its way to slots: where its words stand in the file, and which variables hold which literals."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NamedTuple

from pinctl.sites.base import Slot, Token, Unparsable
from pinctl.sites.packages import Span
from pinctl.sites.shell_words import EXPANSION, Word, literal, text

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
_POSITIONAL = re.compile(rb"(\"?)\$(?:[0-9@*]|\{[0-9@*]+(?:[#%][^{}\"]*)?\})\1")
"""What a script's options are read from."""
_GOES_ON = re.compile(rb"(?:\\\r?\n)*+[^\s;&|()<>]")


class Literal(NamedTuple):
    """A literal that a variable may hold: the scope (a Dockerfile's stage), its place in `Reading.slots`, and where in
    the file the shell ends that holds it."""

    scope: int
    place: int
    end: int


@dataclass(slots=True)
class Reading:
    """The literals of a file so far, and how its variables hang together."""

    slots: list[Slot] = field(default_factory=list)
    errors: list[Span] = field(default_factory=list)
    words: dict[int, tuple[Span, ...]] = field(default_factory=dict)
    """For each list, by its `start`, the spans of all words of its command, the literals among them."""
    values: dict[str, list[Literal]] = field(default_factory=dict)
    links: dict[str, dict[str, None]] = field(default_factory=dict)
    """For each variable those whose value it takes, `A=$B`."""
    unknown: set[tuple[int, str]] = field(default_factory=set)
    """Scopes and variables that something gives a value which cannot be read here, such as `read A`."""
    functions: dict[tuple[int, str], list[Span]] = field(default_factory=dict)
    """For a scope and a variable the functions to which it is local."""
    uses: dict[tuple[int, str], list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    """For a scope and a variable the places that take its value, each with its selectors."""

    deadline: float = field(default_factory=lambda: monotonic() + PATIENCE, repr=False)

    def add(self, slot: Slot, variable: str = "", scope: int = 0, end: int = sys.maxsize) -> None:
        """One more slot; `variable` is the one that may hold its value, up to `end`."""
        if variable and slot.tokens[0].value:
            self.values.setdefault(variable, []).append(Literal(scope, len(self.slots), end))
        self.slots.append(slot)

    def resolved(self) -> list[Slot]:
        """The slots in the order of the file; a literal that reaches a command through a variable has the command's
        selectors as well."""
        further: dict[int, dict[str, None]] = {}
        for (scope, variable), uses in self.uses.items():
            places, (start, end) = self._held(variable, scope)
            names = dict.fromkeys(name for at, selectors in uses if start <= at <= end for name in selectors)
            for place in places:
                further.setdefault(place, {}).update(names)
        slots = list(self.slots)
        for place, names in further.items():
            slots[place] = replace(slots[place], names=tuple(dict.fromkeys((*slots[place].names, *names))))
        return sorted(slots, key=lambda slot: slot.start)

    def _held(self, variable: str, scope: int) -> tuple[list[int], Span]:
        """The literals that `variable` may hold, those of its own scope, else all of the file; and the span in which it
        can hold each of them and no other. In doubt there are none: one that is not in force would pass for the truth.
        """
        names = self._sources(variable)
        held = [literal for name in names for literal in self.values.get(name, ())]
        held = [literal for literal in held if literal.scope == scope] or held
        scopes = {scope, *(literal.scope for literal in held)}
        if not held or any((where, name) in self.unknown for where in scopes for name in names):
            return [], (0, 0)
        reaches = [(self.slots[literal.place].start, literal.end) for literal in held]
        reaches += (span for where in scopes for name in names for span in self._locals(where, name))
        return [literal.place for literal in held], (max(a for a, _ in reaches), min(b for _, b in reaches))

    def _sources(self, variable: str) -> list[str]:
        """`variable` and those whose value it may take; none where they are many or one of them has no value here."""
        names = [variable]
        for name in names:  # grows while it is walked, but not through all that a hostile file may chain
            links = self.links.get(name, {})
            if len(links) > _CHAIN or len(names) > _CHAIN or not (links or name in self.values):
                return []
            names += [other for other in links if other not in names]
        return names

    def _locals(self, scope: int, variable: str) -> Iterator[Span]:
        """The functions to which a variable is local; nowhere, where it has a literal in the scope outside of one."""
        functions = self.functions.get((scope, variable), ())
        literals = [literal for literal in self.values.get(variable, ()) if functions and literal.scope == scope]
        starts = [self.slots[literal.place].start for literal in literals]
        first, last = min(starts, default=sys.maxsize), max(starts, default=0)
        yield from ((a, b) if a <= first and last < b else (0, 0) for a, b in functions)


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
        """The word `start:end` of the code; `assigned`: the right side of an assignment. It has no style where it may
        be a part of a word only."""
        raw = self.code[start:end]
        # The grammar may end a word too soon, as at an escaped line end, or before a # within it.
        goes_on = _GOES_ON.match(self.code, end)
        if goes_on:
            return Word(start, end, raw, None, "")
        value, style = literal(raw, assigned=assigned) or (None, EXPANSION)
        return Word(start, end, raw, value, style)

    def add(
        self, selectors: Sequence[str], word: Word, *, style: str = "", variable: str = "", shell: Span | None = None
    ) -> None:
        """A slot of the literal `word`; `variable` is the one that may hold it, within `shell` if that is given."""
        token = self._token(word)
        slot = Slot(names=self._named(selectors), tokens=(token,), start=token.start, end=token.end, style=style)
        self.into.add(slot, variable, self.scope, self.span(*shell)[1] if shell else sys.maxsize)

    def add_list(
        self, selector: str, elements: Sequence[Word], around: Sequence[Span], whole: Span, style: str = ""
    ) -> None:
        """A slot of `elements`, those that are no literals with their text as it stands; none where one of them may not
        be a whole word. `around` are the spans of the other words about them.

        With a style it is the operands of a command, without order; without one an array.
        """
        if not all(element.style for element in elements):
            return
        start, end = self.span(*whole)
        spans = {self.span(*span) for span in (*around, *((e.start, e.end) for e in elements))}
        self.into.words[start] = tuple(sorted(spans))
        tokens = tuple(self._token(element) for element in elements)
        names = self._named((selector,))
        self.into.add(Slot(names=names, tokens=tokens, start=start, end=end, many=True, ordered=not style, style=style))

    def use(self, variable: str, word: Word, *selectors: str) -> None:
        """`selectors` name `word`, which takes its value from `variable`."""
        end = self.span(word.start, word.end)[1]
        self.into.uses.setdefault((self.scope, variable), []).append((end, self._named(selectors)))

    def unknown(self, variable: str) -> None:
        """`variable` gets a value that is not to be read here."""
        self.into.unknown.add((self.scope, variable))

    def local(self, variable: str, function: Span) -> None:
        """`variable` is local to the function at the span `function`."""
        self.into.functions.setdefault((self.scope, variable), []).append(self.span(*function))

    def link(self, variable: str, word: bytes) -> bool:
        """`variable` takes its value from another where `word` is nothing but that one's expansion: whether it is."""
        reference = _REFERENCE.fullmatch(word)
        if reference is not None:
            self.into.links.setdefault(variable, {})[_name(reference)] = None
        return reference is not None

    def assigned(self, variable: str, word: Word) -> None:
        """`variable=word`, where `word` is no literal. What is read from a script's options overrides the literals that
        it has for them, and does not make them unknown."""
        whole = _WHOLE_DEFAULT.fullmatch(word.raw)
        if whole is not None and text(whole["name"]) != variable:
            self.into.links.setdefault(variable, {})[text(whole["name"])] = None
        elif not (self.defaults(variable, word) or _POSITIONAL.fullmatch(word.raw) or self.link(variable, word.raw)):
            self.unknown(variable)

    def defaults(self, variable: str, word: Word) -> bool:
        """Whether `word` is `variable` itself with a default, which is then one more place that it names."""
        whole = _WHOLE_DEFAULT.fullmatch(word.raw)
        if whole is None or text(whole["name"]) != variable:
            return False
        self._name_default(word, whole, variable)
        return True

    def refer(self, word: Word, selector: str) -> None:
        """`selector` names the literals of the variable that `word` expands, and its default here."""
        whole = _WHOLE_DEFAULT.fullmatch(word.raw)
        reference = _REFERENCE.fullmatch(word.raw)
        if whole is not None:
            self._name_default(word, whole, selector)
            self.use(text(whole["name"]), word, selector)
        elif reference is not None:
            self.use(_name(reference), word, selector)

    def names_of_default(self, start: int) -> Sequence[str]:
        """Further selectors of the default in the expansion that begins at `start`."""
        return self._names_of_default.get(start, ())

    def _name_default(self, word: Word, whole: re.Match[bytes], selector: str) -> None:
        self._names_of_default.setdefault(word.start + whole.start("expansion"), []).append(selector)

    def _token(self, word: Word) -> Token:
        start, end = self.span(word.start, word.end)
        value = text(word.raw) if word.value is None else word.value
        return Token(value=value, start=start, end=end, style=word.style)

    def _named(self, selectors: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(prefix + selector for prefix in self.prefixes for selector in selectors))


def _name(reference: re.Match[bytes]) -> str:
    return text(reference[2] or reference[3])
