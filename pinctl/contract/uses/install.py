"""What CMake code copies of a pinned source, by cmake-commands(7): install(), file(COPY), configure_file(),
`cmake -E copy`, and files that it reads and writes again.

Variables are followed wherever they are set, in all branches: that a copy is missed would be told as a fault of the
build. What follows a variable that is not known is left away, so that the folder before it counts as copied.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from posixpath import normpath
from typing import NamedTuple

from pinctl.finding import Span
from pinctl.sites.cmake_lexer import BRACKET, Arg, Call, lex
from pinctl.sites.cmake_variables import set_values

_MOST_VALUES = 256
_DEEPEST = 3
"""install(CODE) in install(CODE)."""
_PIECE = re.compile(r"\$\{([^${}]+)\}|\$(?:ENV|CACHE)?\{[^{}]*\}|\$<|(?:[^$]|\$(?![{<]))+")
_ENDS = frozenset(
    "DESTINATION TYPE PERMISSIONS FILE_PERMISSIONS DIRECTORY_PERMISSIONS CONFIGURATIONS COMPONENT RENAME OPTIONAL"
    " EXCLUDE_FROM_ALL USE_SOURCE_PERMISSIONS NO_SOURCE_PERMISSIONS MESSAGE_NEVER FILES_MATCHING PATTERN REGEX"
    " FOLLOW_SYMLINK_CHAIN EXCLUDE".split()
)
_PLAIN_REGEX = re.compile(r"(?:\.\*)?((?:[\w/-]|\\\\?\.|\[\.\])+)\$?")


class Value(NamedTuple):
    """What an argument stands for: a text, or where `inside`, a path below the pinned source; `glob` as in
    `BuildUse`."""

    text: str
    inside: bool = False
    glob: bool | None = None


class Copy(NamedTuple):
    """A path that is copied: `folder` is how the build file writes it, without the pattern that files of it match."""

    path: str
    span: Span
    glob: bool | None = None
    without: tuple[str, ...] = ()
    folder: str = ""


def copies(source: bytes, names: frozenset[str]) -> Iterator[Copy]:
    """The copies in a CMake file, `names` being what the dependency is called in `${NAME_SOURCE_DIR}`."""
    if any(f"{name}_SOURCE_DIR".encode() in source for name in names):
        yield from Script(source, {f"{name}_SOURCE_DIR" for name in names}, {}).run(source, 0)


class Script:
    """Runs through the commands of a file, with what its variables may hold."""

    def __init__(self, file: bytes, sources: set[str], variables: dict[str, list[Value]]) -> None:
        self.file = file
        self.sources = sources
        self.variables = variables
        self.contents: dict[str, list[Value]] = {}
        """Variables that hold the contents of files, with the paths of these."""

    def run(self, source: bytes, depth: int, at: Span | None = None) -> Iterator[Copy]:
        """The copies in a text, which is the file, or stands in it at `at`."""
        for call in lex(source)[0]:
            arguments = Arguments(self, source, call, at)
            if call.name == "set" and call.args:
                self._set(arguments)
            elif call.name == "list" and arguments.words[:1] in (["APPEND"], ["PREPEND"]) and len(call.args) > 1:
                self._add(arguments.words[1], arguments.values(call.args[2:]))
            elif call.name == "foreach" and call.args:
                self._loop(arguments)
            elif call.name == "string":
                self._string(arguments)
            elif call.name == "file":
                yield from self._file(arguments)
            elif call.name == "install":
                yield from self._install(arguments, depth)
            elif call.name == "configure_file" and call.args:
                yield from arguments.copies(call.args[:1])
            else:
                yield from self._commands(arguments)

    def _set(self, arguments: "Arguments") -> None:
        self._add(arguments.words[0], arguments.values(set_values(arguments.source, arguments.call)))

    def _add(self, name: str, values: Sequence[Value]) -> None:
        held = self.variables.setdefault(name, [])
        held += [value for value in values if value not in held][: _MOST_VALUES - len(held)]

    def _loop(self, arguments: "Arguments") -> None:
        """foreach(): the variable may be any of the elements."""
        name, *words = arguments.words
        lists = False
        for word, arg in zip(words, arguments.call.args[1:], strict=True):
            if word in ("IN", "LISTS", "ITEMS", "ZIP_LISTS"):
                lists = word in ("LISTS", "ZIP_LISTS")
            else:
                self._add(name, list(self.variables.get(word, ())) if lists else arguments.values([arg]))

    def _string(self, arguments: "Arguments") -> None:
        """string(REPLACE a b OUT IN) and the like: what is made of the contents of a file holds them."""
        held = [value for word in arguments.words for value in self._held(word)]
        for word in arguments.words[1:] if held else ():
            if re.fullmatch(r"\w+", word):
                self.contents.setdefault(word, []).extend(value for value in held if value not in self.contents[word])

    def _held(self, text: str) -> list[Value]:
        """The files whose contents a text holds."""
        return [value for name in re.findall(r"\$\{(\w+)\}", text) for value in self.contents.get(name, ())]

    def _file(self, arguments: "Arguments") -> Iterator[Copy]:
        action, args = (arguments.words or [""])[0], arguments.call.args[1:]
        if action in ("GLOB", "GLOB_RECURSE") and args:
            values = [v._replace(glob=action == "GLOB_RECURSE") for v in arguments.values(args[1:]) if v.inside]
            self._add(arguments.words[1], values)
        elif action in ("READ", "STRINGS") and len(args) > 1:
            self.contents.setdefault(arguments.words[2], []).extend(v for v in arguments.values(args[:1]) if v.inside)
        elif action in ("WRITE", "APPEND", "GENERATE", "CONFIGURE"):
            for word, arg in zip(arguments.words[2:], args[1:], strict=False):
                yield from arguments.told(arg, self._held(word))
        elif action in ("COPY", "INSTALL"):
            yield from arguments.copied_files(args)
        elif action in ("COPY_FILE", "CREATE_LINK", "RENAME"):
            yield from arguments.copies(args[:1])

    def _install(self, arguments: "Arguments", depth: int) -> Iterator[Copy]:
        words, args = arguments.words, arguments.call.args
        for number, word in enumerate(words):
            if word in ("FILES", "PROGRAMS", "DIRECTORY"):
                yield from arguments.copied_files(args[number + 1 :])
            elif word == "CODE" and number + 1 < len(words) and depth < _DEEPEST:
                text = words[number + 1]
                text = text if args[number + 1].kind == BRACKET else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
                yield from self.run(text.encode(), depth + 1, arguments.span(args[number + 1]))

    def _commands(self, arguments: "Arguments") -> Iterator[Copy]:
        """`${CMAKE_COMMAND} -E copy a b` in execute_process(), add_custom_command() and their kin."""
        copying = False
        for number, (word, arg) in enumerate(zip(arguments.words, arguments.call.args, strict=True)):
            if word in ("COMMAND", "DEPENDS", "WORKING_DIRECTORY", "COMMENT", "BYPRODUCTS"):
                copying = False
            elif word.startswith("copy") and arguments.words[number - 1] == "-E":
                copying = True
            elif copying:
                yield from arguments.copies([arg])


class Arguments:
    """The arguments of one command."""

    def __init__(self, script: Script, source: bytes, call: Call, at: Span | None) -> None:
        self.script, self.source, self.call, self.at = script, source, call, at
        self.words = [_text(source, arg) for arg in call.args]

    def span(self, arg: Arg) -> Span:
        """Where an argument stands in the file."""
        return self.at or Span.of(self.source, arg.start, arg.end)

    def values(self, args: Sequence[Arg]) -> list[Value]:
        """All that these arguments may stand for."""
        texts = (part for arg in args for part in _text(self.source, arg).split(";"))
        return [value for text in texts for value in self._expanded(text)][:_MOST_VALUES]

    def _expanded(self, text: str) -> list[Value]:
        made = [Value("")]
        for piece in _PIECE.finditer(text):
            name, further = piece[1], list[Value]()
            known = self.script.variables.get(name or "", [])
            if name in self.script.sources:
                known = [Value("", inside=True)]
            elif not piece[0].startswith("$"):
                known = [Value(piece[0])]
            for value in made:
                if not known:  # nothing behind it is known
                    return [_folder(value) for value in made if value.inside]
                further += [joined for one in known if (joined := _joined(value, one)) is not None]
            made = further[:_MOST_VALUES]
        return made

    def copies(self, args: Sequence[Arg], patterns: Sequence[str] = (), without: Sequence[str] = ()) -> Iterator[Copy]:
        """The copies of paths of the pinned source among these arguments: of the files that match `patterns`."""
        for arg in args:
            yield from self.told(arg, [value for value in self.values([arg]) if value.inside], patterns, without)

    def told(
        self, arg: Arg, values: Sequence[Value], patterns: Sequence[str] = (), without: Sequence[str] = ()
    ) -> Iterator[Copy]:
        """Copies of `values`, which stand at an argument."""
        for value in values:
            path = normpath(value.text.strip("/") or ".")
            if path.startswith("../"):
                continue
            for pattern in patterns if value.glob is None else ():
                whole = pattern if path == "." else f"{path}/{pattern}"
                yield Copy(whole, self.span(arg), True, tuple(without), path)
            if not patterns or value.glob is not None:
                yield Copy(path, self.span(arg), value.glob, tuple(without), path)

    def copied_files(self, args: Sequence[Arg]) -> Iterator[Copy]:
        """The copies of `FILES a b DESTINATION d`, `DIRECTORY a b DESTINATION d FILES_MATCHING PATTERN p` ..."""
        words = [_text(self.source, arg) for arg in args]
        last = next((number for number, word in enumerate(words) if word in _ENDS), len(words))
        patterns, without = _rules(words[last:])
        yield from self.copies(args[:last], patterns, without)


def _rules(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The globs of the files that are copied, all where there are none, and of those that are not."""
    matching: list[str] = []
    without: list[str] = []
    for number, (word, pattern) in enumerate(pairwise(words)):
        if word in ("PATTERN", "REGEX"):
            excluded = words[number + 2 : number + 3] == ["EXCLUDE"]
            glob = pattern if word == "PATTERN" else _glob(pattern)
            if excluded:
                without += [glob] if glob else []
            else:
                matching.append(glob or "*")
    return (matching if "FILES_MATCHING" in words else []), without


def _glob(pattern: str) -> str | None:
    r"""The glob that a plain regular expression means: `.*\.py$`. None of another one."""
    match = _PLAIN_REGEX.fullmatch(pattern)
    if match is None:
        return None
    text = re.sub(r"\\\\?\.|\[\.\]", ".", match[1])
    return text.rpartition("/")[2] if text.startswith("/") else f"*{text}"


def _joined(value: Value, further: Value) -> Value | None:
    """A text with another one behind it. A path of the source stands at the beginning alone."""
    if further.inside:
        return further if not value.text else None
    return value._replace(text=value.text + further.text)


def _folder(value: Value) -> Value:
    """The folder of a path of which the end is not known."""
    return value._replace(text=value.text.rpartition("/")[0])


def _text(source: bytes, arg: Arg) -> str:
    raw = source[arg.start : arg.end].decode("utf-8", "replace")
    if arg.kind == BRACKET:
        return re.sub(r"\A\[=*\[\n?|\]=*\]\Z", "", raw)
    return raw[1:-1] if arg.kind == "quoted" else raw
