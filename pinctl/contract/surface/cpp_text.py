"""A C++ or CUDA source made safe to search: no comment, string or directive can be taken for code.

`code` has the length of the source, so that one offset serves both. Brackets are matched across `#if` branches, each of
which goes on from where the `#if` stood. Linear in the size of the source; what nests deeper than DEEPEST is refused.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pinctl.upstream.conditions import Conditions, judge
from pinctl.upstream.includes import LEXEME, plain

DEEPEST = 500
"""How deep brackets may nest."""

_FILLER = "\0"
_SPLICE = re.compile(r"\\(\r?\n)")
_MARK = re.compile(r"[()\[\]{}\1]")
_DIRECTIVE = "\1"
_CLOSES = {")": "(", "]": "[", "}": "{"}
_STRING = re.compile(r'(?:u8|[uUL])?R?"(\0*)"')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(\n)|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ANGLE = re.compile(r"[<>,()\[\]{}]")
_NAMESPACE = re.compile(r"namespace(?<!\wnamespace)\s+([\w:\s]{0,200}?)\s*(\{)")
_CLASS = re.compile(
    r"(?:class|struct)(?<!\wclass)(?<!\wstruct)\s+(?:alignas\([^()]*\)\s*)?(?:[A-Z_]+\s+)?(?!final\b)(\w+)"
    r"(?:\s+final)?(?:\s*:(?!:)[^;{}()]{0,500})?\s*(\{)"
)


class Refused(ValueError):
    """The source nests deeper, or holds more, than is followed."""


class Span(NamedTuple):
    """The offsets `start:end` of a piece of source."""

    start: int
    end: int


class _Branches(NamedTuple):
    """The brackets that are open before an `#if`, and those that each branch so far has left open."""

    before: list[int]
    left: list[list[int]]


class _Dead:
    """The parts of a source that no build compiles, whatever its macros are: `#if 0`. `since` is where the one began
    that is read; -1 outside of one."""

    def __init__(self) -> None:
        self.since = -1
        self.parts: list[Span] = []

    def turn(self, at: int, conditions: Conditions) -> None:
        """Take in that a directive at `at` led to these conditions."""
        dead = any(frame.truth is False and _is_literal(frame.text) for frame in conditions.frames)
        if dead and self.since < 0:
            self.since = at
        elif not dead and self.since >= 0:
            self.parts.append(Span(self.since, at))
            self.since = -1

    def blanked(self, code: str) -> str:
        """`code` without them; all offsets stay."""
        parts = [*self.parts, *([Span(self.since, len(code))] if self.since >= 0 else [])]
        pieces, behind = [], 0
        for start, end in parts:
            pieces += [code[behind:start], " " * (end - start)]
            behind = end
        return "".join((*pieces, code[behind:]))


@lru_cache(1024)
def _is_literal(text: str) -> bool:
    """Whether a condition that does not hold, as it is told, asks for no macro, or holds with none."""
    told = text.removeprefix("else of ")
    return judge(re.sub(r"[A-Za-z_]\w*", "X", told.partition(" ")[2])) is (told != text)


class Source:
    """A source with its brackets, directives and named blocks."""

    def __init__(self, source: bytes) -> None:
        """Raises Refused."""
        self.raw = source.replace(b"\0", b" ").replace(b"\1", b" ").decode("latin-1")
        self.defines: dict[str, str] = {}
        """Macros without arguments, and what they stand for."""
        self.macros: dict[str, str] = {}
        """Macros with arguments, and what they stand for."""
        directives = self._blank(source)
        self.closers: dict[int, int] = {}
        self.parents: dict[int, int] = {}
        self._twins: dict[int, list[int]] = {}
        self._match(directives)
        self.openers = {close: start for start, close in self.closers.items()}
        self._starts = sorted(self.closers)
        self._lines = [match.start() for match in re.finditer("\n", self.raw)]
        self.classes: set[int] = set()
        self.blocks = self._blocks()

    def _blank(self, source: bytes) -> list[tuple[int, str, str]]:
        """Make `code`; the directives by offset, word and rest."""
        pieces, directives, behind = [], [], 0
        for match in LEXEME.finditer(source):
            start, end = match.span()
            lexeme = self.raw[start:end]
            if match["directive"]:
                if self.raw[max(self.raw.rfind("\n", behind, start) + 1, behind) : start].strip():
                    continue  # a `#` within a line
                word, rest = match["word"].decode(), plain(match["rest"])
                directives.append((start, word, rest))
                self._define(word, rest)
                blank = _DIRECTIVE + " " * (end - start - 1)
            elif lexeme.startswith("/"):
                blank = " " * (end - start)
            else:
                blank = _hidden(lexeme)
            pieces += [self.raw[behind:start], blank]
            behind = end
        self.code = _SPLICE.sub(r" \1", "".join((*pieces, self.raw[behind:])))
        return directives

    def _define(self, word: str, rest: str) -> None:
        match = re.match(r"(\w+)(\()?", rest) if word == "define" else None
        if match:
            kind = self.macros if match[2] else self.defines
            kind.setdefault(match[1], rest[match.end() :].strip())

    def _match(self, directives: list[tuple[int, str, str]]) -> None:
        """Match brackets, and note the conditions under which each part stands; what is never compiled is blanked."""
        conditions = Conditions()
        told, dead = iter(directives), _Dead()
        self._changes, self._guards = [0], [()]  # type: list[int], list[tuple[str, ...]]
        stack: list[int] = []
        branches: list[_Branches] = []
        for match in _MARK.finditer(self.code):
            at, mark = match.start(), match[0]
            if mark == _DIRECTIVE:
                _, word, rest = next(told)
                conditions.directive(word, rest)
                dead.turn(at, conditions)
                stack = self._branch(word, stack, branches)
                self._changes.append(at)
                self._guards.append(_conditions(conditions))
            elif dead.since >= 0:
                continue
            elif mark in _CLOSES:
                self._close(at, _CLOSES[mark], stack)
            else:
                if len(stack) >= DEEPEST:
                    raise Refused(f"brackets nest deeper than {DEEPEST}")
                self.parents[at] = stack[-1] if stack else -1
                stack.append(at)
        self.code = dead.blanked(self.code.replace(_DIRECTIVE, " "))

    def _close(self, at: int, opener: str, stack: list[int]) -> None:
        """Match the bracket at `at`; what was left open within braces is given up."""
        if opener == "{" and stack and self.code[stack[-1]] != "{" and any(self.code[start] == "{" for start in stack):
            while self.code[stack[-1]] != "{":
                stack.pop()
        if stack and self.code[stack[-1]] == opener:
            start = stack.pop()
            for twin in (start, *self._twins.get(start, ())):
                self.closers[twin] = at

    def _branch(self, word: str, stack: list[int], branches: "list[_Branches]") -> list[int]:
        """The open brackets after a directive. Each branch of an `#if` begins with those before it; what one leaves
        open is closed with what the last one does."""
        if word in ("if", "ifdef", "ifndef"):
            branches.append(_Branches(list(stack), []))
        elif branches and word == "endif":
            before, left = branches.pop()
            own = stack[len(before) :]
            for other in left:
                if len(other) == len(own):
                    for start, twin in zip(own, other, strict=True):
                        self._twins.setdefault(start, []).append(twin)
        elif branches and word.startswith("el"):
            before, left = branches[-1]
            left.append(stack[len(before) :])
            return list(before)
        return stack

    def _blocks(self) -> dict[int, str]:
        """The braces of namespaces and classes, each with its name."""
        spaces = {match.start(2): re.sub(r"\s+", "", match[1]) for match in _NAMESPACE.finditer(self.code)}
        classes = {match.start(2): match[1] for match in _CLASS.finditer(self.code)}
        self.classes.update(classes)
        return spaces | classes

    def line(self, at: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._lines, at - 1) + 1

    def guards(self, at: int) -> tuple[str, ...]:
        """The `#if`s that an offset stands under, the outermost first; those that always hold are left out."""
        return self._guards[bisect_right(self._changes, at) - 1]

    def enclosing(self, at: int) -> Iterator[int]:
        """The brackets that are open at an offset, from the inside out."""
        number = bisect_right(self._starts, at - 1) - 1
        start = self._starts[number] if number >= 0 else -1
        while start >= 0:
            if self.closers.get(start, -1) >= at:
                yield start
            start = self.parents[start]

    def scope(self, at: int) -> str:
        """The namespaces and classes that an offset lies in: `a::b`; those without a name are left out."""
        names = [self.blocks[start] for start in self.enclosing(at) if start in self.blocks]
        return "::".join(name for name in reversed(names) if name)

    def in_class(self, at: int) -> bool:
        """Whether an offset lies right in the body of a class."""
        return next(self.enclosing(at), -1) in self.classes

    def split(self, start: int, end: int) -> list[Span]:
        """The pieces of `start:end` between the commas that stand in no bracket."""
        return self._split(start, end, angles=True) or self._split(start, end, angles=False) or []

    def _split(self, start: int, end: int, *, angles: bool) -> list[Span] | None:
        """As `split`; `angles`: `<` opens a bracket, and None where one is not closed."""
        found, begin, at, depth = [], start, start, 0
        while match := _ANGLE.search(self.code, at, end):
            at, mark = match.end(), match[0]
            if mark in "([{":
                at = min(self.closers.get(match.start(), at) + 1, end)
            elif mark == "<" and angles:
                depth += self.code[match.start() - 1 : match.start()].isidentifier() or depth > 0
            elif mark == ">" and angles:
                depth -= depth > 0 and self.code[match.start() - 1] != "-"
            elif mark == "," and not depth:
                found.append(Span(begin, match.start()))
                begin = at
        found.append(Span(begin, end))
        if depth:
            return None
        trimmed = [self.trim(span) for span in found]
        return trimmed if len(trimmed) > 1 or trimmed[0].start < trimmed[0].end else []

    def arguments(self, opener: int) -> list[Span]:
        """The arguments in the bracket at `opener`."""
        return self.split(opener + 1, self.closers.get(opener, opener + 1))

    def trim(self, span: Span) -> Span:
        """`span` without the blanks at its ends."""
        text = self.code[span.start : span.end]
        return Span(span.start + len(text) - len(text.lstrip()), span.end - len(text) + len(text.rstrip()))

    def at(self, span: Span) -> str:
        """The code of a span: comments are blanks, strings are empty."""
        return self.code[span.start : span.end]

    def text(self, span: Span) -> str:
        """The source of a span without its comments, on one line."""
        code, raw = self.code[span.start : span.end], self.raw[span.start : span.end]
        shown = "".join(r if c == _FILLER else c for c, r in zip(code, raw, strict=True)) if _FILLER in code else code
        return re.sub(r"\s+", " ", shown).strip().encode("latin-1").decode("utf-8", "replace")

    def literal(self, span: Span) -> str | None:
        """The string that a span spells, its pieces joined; None for anything that is not made of literals alone."""
        found, at = [], span.start
        code = self.code
        for match in _STRING.finditer(code, span.start, span.end):
            if code[at : match.start()].strip():
                return None
            raw = self.raw[match.start(1) : match.end(1)]
            found.append(raw[raw.find("(") + 1 : raw.rfind(")")] if "R" in match[0][:3] else _unescaped(raw))
            at = match.end()
        if not found or code[at : span.end].strip():
            return None
        return "".join(found).encode("latin-1", "replace").decode("utf-8", "replace")


def _hidden(lexeme: str) -> str:
    """A string or character literal with its contents hidden."""
    quote = lexeme.find('"') if '"' in lexeme[:4] and not lexeme.startswith("'") else 0
    if len(lexeme) < quote + 2 or lexeme[-1] != lexeme[quote]:  # never closed
        return lexeme[:quote] + " " * (len(lexeme) - quote)
    return lexeme[: quote + 1] + _FILLER * (len(lexeme) - quote - 2) + lexeme[-1]


def _conditions(conditions: Conditions) -> tuple[str, ...]:
    return tuple(frame.text for frame in conditions.frames if frame.truth is not True)


def _unescaped(raw: str) -> str:
    if "\\" not in raw:
        return raw

    def one(match: re.Match[str]) -> str:
        octal, digits, spliced, other = match.groups()
        if octal or digits:
            return chr(int(octal or digits, 8 if octal else 16) & 0xFF)
        return "" if spliced else _ESCAPES.get(other, other)

    return _ESCAPE.sub(one, raw)
