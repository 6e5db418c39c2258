r"""Scripts of sed: which lines they find, and what they make of them.

Read are `s`, `d`, `a`, `i` and `c`, each with an address or two (a number, `$`, `/re/`), as GNU sed's manual has them:
"Commands and addresses", "The s command". A script with anything else cannot be told.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from pinctl.anchors.actions import MOST, Flags, Template, compiled, encoded, plain, substituted, template
from pinctl.anchors.model import HOLE
from pinctl.anchors.patterns import of_sed

_BLANK = re.compile(r"[ \t\n;]*")
_NUMBER = re.compile(r"\d+|\$")
_FLAGS = re.compile(r"[gIi\d]*")
_SPECIAL = frozenset(".*[]^$+?(){}|\\\n")
_ESCAPES = {"n": "\n", "t": "\t", "\n": "\n"}


class _Unread(Exception):
    """The script has something that is not read here."""


class _Address(NamedTuple):
    """A line: by its number (-1: the last), or by what matches in it."""

    line: int = 0
    expression: Any = None

    def at(self, number: int, last: int, line: bytes) -> bool:
        """Whether it is the line of this number."""
        if self.expression is not None:
            return self.expression.search(line) is not None
        return number == (last if self.line < 0 else self.line)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: `name` is its letter, `pattern` what it looks for, as it is written.

    Of an `s`, `expression` finds what `template` replaces, `nth` and `most` say which matches of a line; `text` is what
    `a`, `i` and `c` put there.
    """

    name: str
    pattern: str
    addresses: tuple[_Address, ...] = ()
    negated: bool = False
    expression: Any = None
    template: Template | None = None
    nth: int = 1
    most: int = 1
    text: bytes | None = None
    ascii_alone: ClassVar[bool] = False

    @property
    def inserts(self) -> bool:
        """As `Action` has it."""
        return self.name in ("a", "i")

    @property
    def breaks(self) -> bool:
        """Whether it makes several lines of one, which stay one to the commands behind it."""
        return any(isinstance(part, bytes) and b"\n" in part for part in self.template or ())

    @property
    def new(self) -> bytes | None:
        """What it writes, where that is one plain text."""
        return plain(self.template) if self.name == "s" else self.text

    def count(self, text: bytes) -> int:
        """On how many lines it finds something to do; of `s`, the matches."""
        found = (line for line in self._chosen(_lines(text)) if line is not None)
        return sum(self._matches(line) for line in found) if self.name == "s" else sum(1 for _ in found)

    def apply(self, text: bytes) -> bytes | None:
        """The text behind it; None where that is not known."""
        lines = _lines(text)
        made = [line if chosen is None else self._made(line)
                for line, chosen in zip(lines, self._chosen(lines), strict=True)]  # fmt: skip
        known = [line for line in made if line is not None]
        return b"".join(known) if len(known) == len(made) else None

    def _matches(self, line: bytes) -> int:
        return sum(1 for _ in self._found(line))

    def _found(self, line: bytes) -> Iterator[Any]:
        """The matches that an `s` replaces: an empty one right behind another is none to POSIX."""
        return islice(_apart(self.expression.finditer(line)), self.nth - 1, self.nth - 1 + self.most)

    def _made(self, line: bytes) -> bytes | None:
        if self.name == "d":
            return b""
        body = line.removesuffix(b"\n")
        if self.name == "s":
            known = self.template
            return None if known is None else substituted(known, body, self._found(body)) + line[len(body) :]
        if self.text is None or self.name == "c":  # of which one may stand for several lines
            return None
        text = self.text + b"\n"
        return body + b"\n" + text if self.name == "a" else text + line

    def _chosen(self, lines: Sequence[bytes]) -> Iterator[bytes | None]:
        """Each line without its end, None for those that the addresses do not choose."""
        within = self.addresses[:1] == (_ZERO,)
        for number, whole in enumerate(lines, 1):
            line = whole.removesuffix(b"\n")
            chosen = within or not self.addresses or self.addresses[0].at(number, len(lines), line)
            if len(self.addresses) > 1 and chosen:
                second = self.addresses[1]
                if within:
                    within = not second.at(number, len(lines), line)
                else:  # what matches is looked for from the next line on; a number may lie behind
                    within = second.expression is not None or second.line < 0 or second.line > number
            yield line if chosen != self.negated else None


_ZERO = _Address(0)


def _apart(matches: Iterator[Any]) -> Iterator[Any]:
    last = -1
    for match in matches:
        if match.end() > match.start() or match.end() != last:
            yield match
        last = match.end()


def _lines(text: bytes) -> list[bytes]:
    return [line for line in re.split(rb"(?<=\n)", text) if line]


def read(script: str, *, extended: bool) -> list[Command] | None:
    """The commands of a script; None where it has something that cannot be told."""
    try:
        commands = list(_Reader(script, extended).commands())
    except _Unread:
        return None
    # Each is held against the whole text: lines must have the numbers, and be those, that sed has for it.
    renumbered = broken = False
    for command in commands:
        if broken or (renumbered and any(address.line for address in command.addresses)):
            return None
        renumbered, broken = renumbered or command.name != "s", command.breaks
    return commands


class _Reader:
    def __init__(self, script: str, extended: bool) -> None:
        self.script, self.extended, self.at = script, extended, 0
        self.last = ""

    def commands(self) -> Iterator[Command]:
        while self._skip() < len(self.script):
            begin = self.at
            addresses = tuple(self._addresses())
            if negated := self._peek() == "!":
                self.at += 1
                self._skip()
            name = self._peek()
            self.at += 1
            if name == "s":
                yield self._substitution(addresses, negated)
            elif name == "d":
                yield Command(name, self.script[begin : self.at], addresses, negated)
                self._ends()
            elif name and name in "aic":
                shown = self.script[begin : self.at]
                yield Command(name, shown, addresses, negated, text=self._text())
            else:
                raise _Unread

    def _skip(self) -> int:
        match = _BLANK.match(self.script, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _peek(self) -> str:
        return self.script[self.at : self.at + 1]

    def _ends(self) -> None:
        if self._peek().strip(" \t") not in ("", ";", "\n"):
            raise _Unread

    def _addresses(self) -> Iterator[_Address]:
        first = self._address()
        if first is None:
            return
        yield first
        self._skip_spaces()
        if self._peek() == ",":
            self.at += 1
            self._skip_spaces()
            second = self._address()
            if second is None or second == _ZERO or (first == _ZERO and second.expression is None):
                raise _Unread
            yield second
            self._skip_spaces()
        elif first == _ZERO:
            raise _Unread

    def _skip_spaces(self) -> None:
        while self._peek() in (" ", "\t"):
            self.at += 1

    def _address(self) -> _Address | None:
        if number := _NUMBER.match(self.script, self.at):
            self.at = number.end()
            return _Address(-1 if number[0] == "$" else int(number[0][:9]))
        char = self._peek()
        if char == "\\":
            self.at += 1
            char = self._peek()
        elif char != "/":
            return None
        self.at += 1
        pattern = self._until(char, regex=True)
        ignore = self._peek() == "I"
        self.at += ignore
        return _Address(expression=self._expression(pattern, ignore))

    def _substitution(self, addresses: tuple[_Address, ...], negated: bool) -> Command:
        delimiter = self._peek()
        if delimiter in ("", "\\", "\n", HOLE):
            raise _Unread
        self.at += 1
        pattern, new = self._until(delimiter, regex=True), self._until(delimiter, regex=False)
        match = _FLAGS.match(self.script, self.at)
        flags = match[0] if match else ""
        self.at += len(flags)
        self._ends()
        digits = re.sub(r"\D", "", flags)
        if digits.startswith("0") or len(digits) > 3:
            raise _Unread
        expression = self._expression(pattern, "i" in flags.lower())
        made = template(new, expression.groups, _escape, ampersand=True)
        return Command("s", pattern or self.last, addresses, negated, expression=expression, template=made,
                       nth=int(digits or 1), most=MOST if "g" in flags else 1)  # fmt: skip

    def _expression(self, pattern: str, ignore_case: bool) -> Any:
        """An empty pattern is the last one once more."""
        pattern = self.last = pattern or self.last
        meant = None if HOLE in pattern or not pattern else of_sed(pattern, extended=self.extended)
        found = None if meant is None else compiled(meant, Flags(longest=True, ignore_case=ignore_case))
        if found is None:
            raise _Unread
        return found

    def _until(self, delimiter: str, *, regex: bool) -> str:
        """The text up to the delimiter, which is one no more behind a backslash."""
        parts: list[str] = []
        while (char := self._peek()) != delimiter:
            self.at += 1
            if not char or (char == "\n" and regex):
                raise _Unread
            if char == "\\":
                following = self._peek()
                self.at += 1
                if following == delimiter and (delimiter in _SPECIAL or delimiter.isalnum()):
                    raise _Unread  # versions of sed differ on what it means
                char = following if following == delimiter and regex else f"\\{following}"
            parts.append(char)
        self.at += 1
        return "".join(parts)

    def _text(self) -> bytes | None:
        r"""The text of `a`, `i` or `c`: behind a backslash and a line end, or on the same line; it goes on over line
        ends that have a backslash before them."""
        rest = self.script[self.at :]
        self.at = len(self.script)
        match = re.match(r"[ \t]*(?:\\(?:[ \t]*\n)?)?", rest)
        rest = rest[match.end() :] if match else rest
        body = re.match(r"(?:[^\\\n]|\\.)*", rest, re.DOTALL)
        text = body[0] if body else ""
        self.at -= len(rest) - len(text)
        return None if HOLE in text else encoded(re.sub(r"(?s)\\(.)", r"\1", text))


def _escape(char: str) -> str | None:
    if char in _ESCAPES:
        return _ESCAPES[char]
    return None if char.isalnum() else char
