"""The commands of shell scripts and of RUN in Dockerfiles, word by word: what git clones, and what it checks out of it.

Site languages know literals; here it is which literals one command, or a clone and the checkout behind it, take
together. The words are split as a shell splits them (POSIX XCU 2.3), without expanding anything.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from posixpath import basename

_TOKEN = re.compile(
    rb"""(?P<blank>(?:[ \t\r]|\\\r?\n)+|(?<![^\s;&|()])\#[^\n]*)
    |(?P<end>[;&|()\n])
    |(?P<word>(?:[^\s'"\\;&|()]|\\[^\n]|'[^']*'|"(?:[^"\\]|\\.)*")+)
    |.""",
    re.DOTALL | re.VERBOSE,
)
_GIT = re.compile(rb"git\b[^\n]{0,200}?\b(?:clone|checkout|submodule)\b")
_VARIABLE = re.compile(r"\$\{?(\w+)")
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "-b", "--branch", "--depth", "-j", "--jobs", "-o",
                     "--origin", "--filter", "--reference", "--config", "--separate-git-dir", "-B"})  # fmt: skip
_RECURSIVE = ("--recursive", "--recurse-submodules")


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its text without quotes, and the bytes `start:end` of the file; `raw` is how the shell sees it."""

    text: str
    start: int
    end: int
    raw: bytes = field(default=b"", compare=False, repr=False)

    @property
    def variables(self) -> list[str]:
        """The variables that it expands."""
        return _VARIABLE.findall(self.text)


@dataclass(frozen=True, slots=True)
class Command:
    """The words of one command; `scope` tells the stages of a Dockerfile apart."""

    words: tuple[Word, ...]
    scope: int = 0

    def git(self) -> tuple[str, list[Word], list[Word]]:
        """The verb, operands and options of the git command that this is, perhaps behind `sudo` or `docker exec x`;
        ("", [], []) where it is none."""
        at = next((n for n, word in enumerate(self.words) if basename(word.text) == "git"), None)
        if at is None:
            return "", [], []
        operands, options = _sorted(self.words[at + 1 :])
        return (operands[0].text, operands[1:], options) if operands else ("", [], [])


def _sorted(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """Operands, and options with their values."""
    operands: list[Word] = []
    options: list[Word] = []
    valued = False
    for word in words:
        option = word.text.startswith("-") and word.text != "-"
        (options if option or valued else operands).append(word)
        valued = option and word.text in _VALUED
    return operands, options


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone, its address, and the ref that it or the first checkout behind it names. `updated`: a submodule update
    follows the checkout."""

    url: Word
    ref: Word | None
    recursive: bool
    checkout: Word | None
    updated: bool


def of_shell(source: bytes) -> list[Command]:
    """The commands of a script."""
    return list(_commands(source, lambda start, end: (start, end), 0))


def of_dockerfile(source: bytes) -> list[Command]:
    """The commands of every RUN, here-documents included."""
    from pinctl.sites.dockerfile_lines import instructions

    found: list[Command] = []
    stage = -1
    for instruction in instructions(source)[1]:
        stage += instruction.keyword == "FROM"
        if instruction.keyword == "RUN":
            found += _commands(instruction.text, instruction.span, stage)
            for first, last in instruction.heredocs:
                found += _commands(source[first:last], _shifted(first), stage)
    return found


def read(language: str, source: bytes) -> list[Command]:
    """The commands of a file of that language; none where nothing in it clones or checks out."""
    if not _GIT.search(source.replace(b"\\\n", b"  ")):
        return []
    return {"shell": of_shell, "dockerfile": of_dockerfile}.get(language, lambda _: [])(source)


def _shifted(by: int) -> Callable[[int, int], tuple[int, int]]:
    return lambda start, end: (start + by, end + by)


def _commands(text: bytes, span: Callable[[int, int], tuple[int, int]], scope: int) -> Iterator[Command]:
    words: list[Word] = []
    for token in _TOKEN.finditer(text):
        if token["word"]:
            plain = re.sub(rb"['\"]|\\\r?\n", b"", token["word"]).decode("utf-8", "replace")
            words.append(Word(plain, *span(*token.span()), token["word"]))
        elif token["end"] and words:
            yield Command(tuple(words), scope)
            words = []
    if words:
        yield Command(tuple(words), scope)


def clones(commands: Iterable[Command]) -> list[Clone]:
    """Every clone with what is checked out of it. A checkout belongs to the clone of the folder that it runs in (by
    `-C` or the last `cd`), else to the last clone before it."""
    found: list[_Open] = []
    here: dict[str, _Open] = {}
    folder, scope = "", 0
    for command in commands:
        if command.scope != scope:
            folder, scope = "", command.scope
            here = {}
        if command.words[0].text == "cd" and len(command.words) > 1:
            folder = basename(command.words[1].text.rstrip("/"))
        verb, operands, options = command.git()
        if verb == "clone" and operands:
            found.append(_Open(operands, options))
            here.update(dict.fromkeys(("", *found[-1].folders), found[-1]))
        elif verb and here:
            _follow(verb, operands, options, here.get(_folder(options) or folder, here[""]))
    return [clone.closed() for clone in found]


class _Open:
    """A clone while the commands behind it are read; `folders` are the names that it may have been put under."""

    def __init__(self, operands: Sequence[Word], options: Sequence[Word]) -> None:
        self.url = operands[0]
        self.folders = {basename(word.text.rstrip("/")).removesuffix(".git") for word in operands[:2]}
        self.ref = _branch(options)
        self.recursive = any(word.text.startswith(_RECURSIVE) for word in options)
        self.checkout: Word | None = None
        self.updated = False

    def closed(self) -> Clone:
        return Clone(self.url, self.ref, self.recursive, self.checkout, self.updated)


def _branch(options: Sequence[Word]) -> Word | None:
    for n, word in enumerate(options):
        if word.text in ("-b", "--branch") and n + 1 < len(options):
            return options[n + 1]
        if word.text.startswith("--branch="):
            shift = len("--branch=")
            return Word(word.text[shift:], word.start + shift, word.end)
    return None


def _folder(options: Sequence[Word]) -> str:
    """The folder that `git -C FOLDER` names."""
    return next((basename(value.text.rstrip("/")) for name, value in pairwise(options) if name.text == "-C"), "")


def _follow(verb: str, operands: Sequence[Word], options: Sequence[Word], clone: _Open) -> None:
    """What a later command does with a clone."""
    recursing = any(word.text.startswith(_RECURSIVE) for word in options)
    if verb == "submodule" and any(word.text == "update" for word in operands):
        clone.updated = clone.updated or clone.checkout is not None
    elif verb in ("checkout", "switch", "reset") and operands and clone.checkout is None:
        clone.checkout = operands[0]
        clone.updated = recursing
        clone.ref = clone.ref or operands[0]
    elif verb in ("checkout", "switch", "reset"):
        clone.updated = clone.updated or recursing
