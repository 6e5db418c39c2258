"""Edits that CMake code makes of a pinned source: what it reads of a file, changes by string(REPLACE) or string(REGEX
REPLACE) and writes, and the programs that it runs, those of PATCH_COMMAND among them (cmake-commands(7),
ExternalProject and FetchContent in cmake-modules(7))."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from posixpath import normpath
from typing import NamedTuple

from pinctl.anchors import programs
from pinctl.anchors.actions import Flags, Regex, Replace, compiled, encoded, template
from pinctl.anchors.model import HOLE, MOST, Action, Edit, Kind, Path
from pinctl.anchors.patterns import of_cmake
from pinctl.anchors.programs import Place, Word, shown
from pinctl.contract.uses.install import Arguments, Copy, Script, Value
from pinctl.finding import Span
from pinctl.sites.cmake_lexer import BARE, BRACKET, QUOTED, Arg, evaluate, lex, text
from pinctl.sites.cmake_variables import Variables

_DEEPEST = 3
"""install(CODE) in install(CODE)."""
_MOST_NAMES = 100
"""Variables that are looked up for one text."""
_PART = re.compile(r"\$\{([\w./+-]+)\}|(?:\\.|[^\\$]|\$(?!\{))+|.", re.DOTALL)
_HELD = re.compile(r"\$\{([\w./+-]+)\}")
_PROGRAMS = {"GIT_EXECUTABLE": "git", "Patch_EXECUTABLE": "patch", "PATCH_EXECUTABLE": "patch",
             "SED_EXECUTABLE": "sed", "SED": "sed"}  # fmt: skip
"""What variables are called that hold a program: by FindGit and FindPatch, and by custom."""
_RUNS = frozenset({"execute_process", "add_custom_command", "add_custom_target", "exec_program"})
_FETCHES = frozenset({"fetchcontent_declare", "fetchcontent_populate", "externalproject_add"})


class _Held(NamedTuple):
    """The contents of files in a variable: of which, what was done to them, and where they were read."""

    files: tuple[Value, ...]
    edits: tuple[Edit, ...] = ()
    flow: int = 0


def find(file: str, source: bytes, names: frozenset[str]) -> list[Edit]:
    """The edits in a CMake file, `names` being what the dependency is called in `${NAME_SOURCE_DIR}`."""
    if not any(name.encode() in source for name in names):
        return []
    script = _Script(file, source, names)
    for _ in script.run(source, 0):  # what it copies is not asked for
        pass
    return list(dict.fromkeys(script.found))


class _Script(Script):
    """Runs through the commands of a file, and collects the edits that reach a file."""

    def __init__(self, file: str, source: bytes, names: frozenset[str]) -> None:
        super().__init__(source, {f"{name}_SOURCE_DIR" for name in names}, {})
        self.path, self.names = file, names
        self.held: dict[str, _Held] = {}
        self.found: list[Edit] = []
        self.texts: dict[bytes, Variables] = {}

    # --- set(), string() and file() ---

    def _set(self, arguments: Arguments) -> None:
        """set(X "${CONTENTS}")."""
        super()._set(arguments)
        held = (one for arg in arguments.call.args[1:] for one in self._held_in(arguments, arg))
        self._keep(arguments.words[0], next(held, None))

    def _keep(self, name: str, held: _Held | None) -> None:
        """From here on a variable holds this, or the contents of no file."""
        if held is not None:
            self.held[name] = held
        else:
            self.held.pop(name, None)

    def _string(self, arguments: Arguments) -> None:
        """string(REPLACE a b OUT IN...), string(REGEX REPLACE a b OUT IN...)."""
        words = arguments.words
        regex = words[:2] == ["REGEX", "REPLACE"]
        if words[:1] != ["REPLACE"] and not regex:
            return
        old, new, out, *inputs = arguments.call.args[1 + regex :] if len(words) > 4 + regex else [None] * 3
        if old is None or new is None or out is None:
            return
        held = next((h for arg in inputs if arg for h in self._held_in(arguments, arg)), None)
        if held is not None and len(held.edits) < MOST:
            edit = self._replacing(arguments, old, new, held, regex=regex)
            held = held._replace(edits=(*held.edits, edit))
        self._keep(words[3 + regex], held)

    def _replacing(self, arguments: Arguments, old: Arg, new: Arg, held: _Held, *, regex: bool) -> Edit:
        pattern, made = self._known(arguments, old), self._known(arguments, new)
        kind = Kind.CMAKE_REGEX if regex else Kind.CMAKE_REPLACE
        action: Action | None = None
        why = "its pattern is computed" if HOLE in pattern else "" if pattern else "its pattern is empty"
        if not why and regex:
            action = _regex(pattern, made)
            why = "" if action else "its pattern has no exact translation"
        elif not why:
            action = Replace(encoded(pattern), None if HOLE in made else encoded(made))
        paths = tuple(Path(normpath(value.text.strip("/") or "."), value.glob) for value in held.files)
        return Edit(self.path, self._span(arguments, arguments.call.start), kind, shown(pattern), paths, action, why)

    def _file(self, arguments: Arguments) -> Iterator[Copy]:
        action, args = (arguments.words or [""])[0], arguments.call.args
        if action == "READ" and len(args) > 2:
            files = tuple(value for value in arguments.values(args[1:2]) if value.inside)
            held = _Held(files, flow=self._span(arguments, args[0].start).line)
            self._keep(arguments.words[2], held if files else None)
        elif action in ("WRITE", "APPEND", "GENERATE", "CONFIGURE"):
            written = [value for value in arguments.values(args[1:2]) if value.inside]
            for held in (held for arg in args[2:] for held in self._held_in(arguments, arg)):
                flow = 0 if written == [*held.files] else held.flow
                self.found += [edit._replace(flow=flow) for edit in held.edits[: max(MOST - len(self.found), 0)]]
        else:
            yield from super()._file(arguments)

    def _held_in(self, arguments: Arguments, arg: Arg) -> Iterator[_Held]:
        raw = arguments.source[arg.start : arg.end].decode("utf-8", "replace")
        names = _HELD.findall(raw) if arg.kind in (BARE, QUOTED) else []
        yield from (self.held[name] for name in names if name in self.held)

    def _install(self, arguments: Arguments, depth: int) -> Iterator[Copy]:
        """install(CODE): code that runs later, in which lines are counted on."""
        for word, arg in zip(arguments.words, arguments.call.args[1:], strict=False):
            if word == "CODE" and depth < _DEEPEST:
                span = self._span(arguments, arg.start)
                opening = re.match(rb"\[=*\[\n", arguments.source[arg.start : arg.end])
                at = Span(span.line + 1 if opening else span.line)
                code = text(arguments.source, arg).value
                yield from self.run(code.encode("utf-8", "surrogateescape"), depth + 1, at)

    # --- programs ---

    def _commands(self, arguments: Arguments) -> Iterator[Copy]:
        """The programs that a command runs."""
        name, words = arguments.call.name, arguments.words
        if name in _RUNS:
            here = self._folder(arguments)
            fed = _after(words, ("INPUT_FILE",))
            for line in _after(words, ("COMMAND",)):
                self._program(arguments, line, here, next(fed, range(0)))
        elif name in _FETCHES and words and words[0] in self.names:
            for line in _after(words, ("PATCH_COMMAND", "COMMAND")):
                self._program(arguments, line, "")
        yield from ()

    def _folder(self, arguments: Arguments) -> str | None:
        """The folder below the pinned source that a command runs in."""
        words = arguments.words
        at = words.index("WORKING_DIRECTORY") + 1 if "WORKING_DIRECTORY" in words else len(words)
        inside = [value.text for value in arguments.values(arguments.call.args[at : at + 1]) if value.inside]
        return normpath(inside[0].strip("/") or ".") if len(inside) == 1 else None

    def _program(self, arguments: Arguments, line: range, here: str | None, fed: range = range(0)) -> None:
        """The program of these arguments, which `fed` names the input of."""
        words = [self._word(arguments, arguments.call.args[number], here) for number in (*line, *fed)]
        words[len(line) :] = [word._replace(text=f"<{word.text}") for word in words[len(line) :]]
        self.found += islice(programs.edits(words, Place(self.path, here)), max(MOST - len(self.found), 0))

    def _word(self, arguments: Arguments, arg: Arg, here: str | None) -> Word:
        raw = arguments.source[arg.start : arg.end].decode("utf-8", "replace").strip('"')
        variable = _HELD.fullmatch(raw)
        known = _PROGRAMS.get(variable[1], "") if variable else ""
        known = known or self._known(arguments, arg)
        paths = tuple(Path(normpath(value.text.strip("/") or "."), value.glob)
                      for value in arguments.values([arg]) if value.inside)  # fmt: skip
        if not paths and here is not None and known and HOLE not in known and not known.startswith(("/", "-")):
            path = normpath(f"{here}/{known}".strip("/"))
            paths = () if path.startswith("../") else (Path(path),)
        return Word(known, self._span(arguments, arg.start), paths)

    # --- what arguments mean ---

    def _span(self, arguments: Arguments, start: int) -> Span:
        """Where a byte of the code stands in the file."""
        if arguments.at is None:
            return Span.of(arguments.source, start)
        return Span(arguments.at.line + arguments.source.count(b"\n", 0, start))

    def _known(self, arguments: Arguments, arg: Arg) -> str:
        """What an argument means, HOLE in place of what is not known."""
        source = arguments.source
        if source not in self.texts:
            self.texts[source] = Variables(source, lex(source)[0])
        return _meaning(source, arg, self.texts[source], [_MOST_NAMES])


def _meaning(source: bytes, arg: Arg, variables: Variables, budget: list[int]) -> str:
    """What an argument means; `budget` holds how many variables may yet be looked up."""
    if arg.kind == BRACKET:
        return text(source, arg).value
    raw = source[arg.start : arg.end].replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
    parts: list[str] = []
    for part in _PART.finditer(raw[1:-1] if arg.kind == QUOTED else raw):
        if part[1] is None:
            known = evaluate(part[0])
            parts.append(known.value if known.literal else HOLE)
            continue
        values = variables.values(part[1], arg.start) if budget[0] else []
        budget[0] -= bool(values)
        single = values[0] if len(values) == 1 else None
        parts.append(HOLE if single is None else ";".join(_meaning(source, a, variables, budget) for a in single))
    return "".join(parts)


def _regex(pattern: str, new: str) -> Regex | None:
    meant = of_cmake(pattern)
    expression = None if meant is None else compiled(meant, Flags())
    if expression is None:
        return None
    # Before policy CMP0186 a `^` matches behind each match once more: how the text goes on is not known.
    made = None if "^" in pattern else template(new, expression.groups, lambda char: {"n": "\n", "\\": "\\"}.get(char))
    return Regex(expression, made)


_ENDS = frozenset(
    "COMMAND WORKING_DIRECTORY TIMEOUT RESULT_VARIABLE RESULTS_VARIABLE OUTPUT_VARIABLE ERROR_VARIABLE INPUT_FILE"
    " OUTPUT_FILE ERROR_FILE OUTPUT_QUIET ERROR_QUIET COMMAND_ECHO COMMAND_ERROR_IS_FATAL ENCODING ECHO_OUTPUT_VARIABLE"
    " ECHO_ERROR_VARIABLE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE DEPENDS COMMENT BYPRODUCTS"
    " VERBATIM MAIN_DEPENDENCY SOURCES USES_TERMINAL GIT_REPOSITORY GIT_TAG GIT_SUBMODULES GIT_SHALLOW GIT_PROGRESS URL"
    " URL_HASH SOURCE_DIR BINARY_DIR SUBBUILD_DIR PREFIX CONFIGURE_COMMAND BUILD_COMMAND INSTALL_COMMAND TEST_COMMAND"
    " UPDATE_COMMAND DOWNLOAD_COMMAND UPDATE_DISCONNECTED BUILD_IN_SOURCE CMAKE_ARGS CMAKE_CACHE_ARGS EXCLUDE_FROM_ALL"
    " OVERRIDE_FIND_PACKAGE FIND_PACKAGE_ARGS SYSTEM SOURCE_SUBDIR LOG_PATCH".split()
)


def _after(words: Sequence[str], keywords: Sequence[str]) -> Iterator[range]:
    """The numbers of the arguments behind each of `keywords`, up to the next keyword of the command."""
    ends = [number for number, word in enumerate(words) if word in _ENDS or word in keywords]
    patching = "PATCH_COMMAND" not in keywords
    for number, end in pairwise([*ends, len(words)]):
        patching = words[number] == "PATCH_COMMAND" or (patching and words[number] == "COMMAND") or len(keywords) == 1
        if patching and words[number] in keywords:
            yield range(number + 1, end)
