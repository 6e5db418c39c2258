"""Edits that shell scripts and Dockerfiles make of a pinned source: by `sed -i`, `patch` and `git apply`.

A script says where it is by `cd`; where two commands stand in different subshells, functions or RUN instructions, the
folder of the first says nothing of the second.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import basename

from pinctl.anchors.model import HOLE, Edit, Path
from pinctl.anchors.programs import PROGRAMS, Place, Word, edits
from pinctl.contract.uses.copying import Shell, concerns, folders
from pinctl.discovery import commands as shell_commands
from pinctl.discovery.commands import Command
from pinctl.finding import Span
from pinctl.model import Pin
from pinctl.sites.dockerfile_lines import Instruction, instructions
from pinctl.sites.shell_words import literal

_LONGEST_GAP = 200
"""Bytes between the name of a function and its brace."""
_MAGIC = re.compile(r"[*?\[]")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_ASSIGNED = re.compile(rb"(\w+)(\+?)=(.*)", re.DOTALL)
_PIECE = re.compile(
    rb"""(?P<joint>\\\r?\n)|\\(?P<escaped>.)|'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*+)"
    |(?P<ansi>\$'(?:[^'\\]|\\.)*+')|\$(?:\{(?P<braced>\w+)\}|(?P<name>\w+))|(?P<other>\$\{[^}]*\}|[$`])
    |(?P<bare>[^\s'"\\$`]+)""",
    re.DOTALL | re.VERBOSE,
)
_IN_DOUBLE = re.compile(
    rb"""(?P<joint>\\\r?\n)|\\(?P<escaped>["\\$`])|\$(?:\{(?P<braced>\w+)\}|(?P<name>[A-Za-z_]\w*))
    |(?P<other>\$\{[^}]*\}|\$\([^()]*\)|`[^`]*`|\$[({0-9@*#?!$-]|`)|(?P<bare>[^\\$`]+|.)""",
    re.DOTALL | re.VERBOSE,
)


def find(file: str, source: bytes, pin: Pin, *, is_shell: bool) -> Iterator[Edit]:
    """The edits in a shell script or a Dockerfile of what lies in the source of `pin`."""
    if not concerns(source, pin):
        return
    commands = _commands(source, is_shell)
    steps = [] if is_shell else instructions(source)[1]
    where = _Where(source, folders(pin, commands), steps)
    values = _values(commands)
    for command in commands:
        if not where.enter(command) and any(basename(word.text) in PROGRAMS for word in command.words):
            words = [_word(word, source, where, values) for word in command.words]
            yield from edits(words, Place(file, where.here))


@lru_cache(maxsize=1)
def _commands(source: bytes, is_shell: bool) -> list[Command]:
    """The commands of a script, of which one pin after another is asked."""
    return shell_commands.of_shell(source) if is_shell else shell_commands.of_dockerfile(source)


# --- where --------------------------------------------------------------------------------------------------------


class _Where:
    """Where in the pinned source the commands run that are entered one after another."""

    def __init__(self, source: bytes, folders: set[str], steps: Sequence[Instruction]) -> None:
        self.source, self.steps = source, steps
        self.starts = [step.places[0] for step in steps]
        self.shell = Shell(source, folders)
        self.step, self.end = -1, 0
        self.workdir: str | None = None
        self.outer: list[tuple[str | None, str]] = []
        """Where the shells around the present one are."""
        self.into = ""
        """The variable whose value names the present folder."""
        self.braces: list[bool] = []
        """Whether each brace that is open is that of a function."""
        self.conditions: list[set[str]] = []
        """Variables that have the name of the source's folder within each `if`."""

    @property
    def here(self) -> str | None:
        """The folder below the pinned source, None for elsewhere."""
        named = any(self.into in variables for variables in self.conditions)
        return "" if self.shell.here is None and named else self.shell.here

    def path(self, text: str) -> str | None:
        """The path below the pinned source that a word is."""
        self.shell.here, before = self.here, self.shell.here
        path = self.shell.below(text)
        self.shell.here = before
        return path

    def enter(self, command: Command) -> bool:
        """Go where `command` runs; whether it does nothing else than to go somewhere."""
        self._begin(command)
        texts = [word.text for word in command.words]
        if texts[0] in ("if", "elif", "else", "fi"):
            self._condition(texts)
        if texts[0] in ("{", "}", "function"):
            self._brace(texts[0], command.words[0].start)
        words = [word for word in command.words if word.text not in ("then", "&&", "do")]
        if not self.shell.moves(words):
            return False
        variable = _VARIABLE.fullmatch(words[1].text) if len(words) > 1 else None
        self.into = variable[1] if variable else ""
        return True

    def _begin(self, command: Command) -> None:
        """What lies between the last command and this one: another instruction, the ends of subshells."""
        start = command.words[0].start
        step = bisect_right(self.starts, start) - 1
        if step != self.step:
            self._instruction(step)
        else:
            between = re.sub(rb"(?m)^[ \t]*#.*$", b"", self.source[self.end : start])
            for paren in re.findall(rb"[()]", between):
                if paren == b"(":
                    self.outer.append((self.shell.here, self.into))
                elif self.outer:
                    self.shell.here, self.into = self.outer.pop()
        self.end = command.words[-1].end

    def _instruction(self, step: int) -> None:
        """A RUN begins in the folder of the last WORKDIR of its stage."""
        for instruction in self.steps[max(self.step, 0) : step]:
            if instruction.keyword == "FROM":
                self.shell.here = self.workdir = None
            elif instruction.keyword == "WORKDIR":
                self.shell.here = self.workdir
                self.workdir = self.shell.below(instruction.text.decode("utf-8", "replace").strip("\"' "))
        self.step, self.into, self.outer, self.conditions, self.braces = step, "", [], [], []
        self.shell.here = self.workdir

    def _brace(self, word: str, start: int) -> None:
        """In the body of a function, and behind it, one is where its caller is."""
        if word != "}":
            before = self.source[max(start - _LONGEST_GAP, 0) : start].rstrip(b" \t\r\n\\")
            self.braces.append(word == "function" or before.endswith(b")"))
        if (word == "}" and self.braces and self.braces.pop()) or (word != "}" and self.braces[-1]):
            self.shell.here, self.into = None, ""

    def _condition(self, texts: Sequence[str]) -> None:
        if texts[0] != "if" and self.conditions:
            self.conditions.pop()
        if texts[0] != "fi":
            named = (_VARIABLE.fullmatch(a) for a, op, b in zip(texts, texts[1:], texts[2:], strict=False)
                     if op in ("=", "==") and b in self.shell.folders)  # fmt: skip
            self.conditions.append({match[1] for match in named if match})


# --- words --------------------------------------------------------------------------------------------------------


def _word(word: shell_commands.Word, source: bytes, where: _Where, values: Mapping[str, str]) -> Word:
    path = where.path(word.text) if not word.text.startswith("-") else None
    known = path is not None and not path.startswith("../")
    paths = (Path(path or ".", False if _MAGIC.search(path or "") else None),) if known else ()
    return Word(_text(word.raw, values), Span.of(source, word.start, word.end), paths)


def _text(raw: bytes, values: Mapping[str, str]) -> str:
    """What a word means, with HOLE for what is not known."""
    parts: list[str] = []
    at = 0
    while at < len(raw):
        piece = _PIECE.match(raw, at)
        if piece is None:
            return HOLE
        at = piece.end()
        if piece["double"] is not None:
            parts += [_piece(inner, values) for inner in _IN_DOUBLE.finditer(piece["double"])]
        elif piece["ansi"]:
            meant = literal(piece["ansi"])
            parts.append(meant[0] if meant else HOLE)
        else:
            parts.append(_piece(piece, values))
    return "".join(parts)


def _piece(piece: re.Match[bytes], values: Mapping[str, str]) -> str:
    kind = piece.lastgroup or ""
    text = piece[kind].decode("utf-8", "surrogateescape")
    if kind in ("braced", "name"):
        return values.get(text, HOLE)
    return {"joint": "", "other": HOLE}.get(kind, text)


def _values(commands: Sequence[Command]) -> dict[str, str]:
    """The variables that are set once, and to a literal."""
    found: dict[str, str] = {}
    several: set[str] = set()
    for command in commands:
        for word in command.words:
            match = _ASSIGNED.fullmatch(word.raw)
            name = match[1].decode() if match else word.text
            if match is None:
                several |= {name} if command.words[0].text in ("for", "read") else set()
                continue
            meant = literal(match[3], assigned=True) if match[3] else ("", "")
            several |= {name} if name in found or meant is None or match[2] else set()
            found[name] = meant[0] if meant else ""
    return {name: value for name, value in found.items() if name not in several}
