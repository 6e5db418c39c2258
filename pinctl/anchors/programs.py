"""Programs that edit files in place, by their command lines: `sed -i`, `patch`, `git apply`, `git am`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from posixpath import basename, normpath
from typing import NamedTuple

from pinctl.anchors import sed
from pinctl.anchors.model import HOLE, Edit, Kind, PatchFile, Path
from pinctl.finding import Span

PROGRAMS = frozenset({"sed", "patch", "git"})

_NO_SCRIPT = "its script is not plain"
_UNREAD = "sed's script has something that is not read"
_BEFORE = frozenset({"sudo", "if", "then", "else", "do", "!", "{", "time", "env", "&&"})
"""Words that may stand before a program."""

_PATCH_VALUES = {"-p": "p", "--strip": "p", "-i": "i", "--input": "i", "-d": "d", "--directory": "d",
                 "-F": "F", "--fuzz": "F"}  # fmt: skip
_PATCH_OTHERS = frozenset({"-B", "-D", "-g", "-o", "-r", "-V", "-x", "-Y", "-z", "--output",
                           "--reject-file", "--suffix", "--prefix"})  # fmt: skip
_REVERSE = frozenset({"-R", "--reverse"})
_GIT_VALUES = {"-p": "p", "--directory": "d"}
_GIT_OTHERS = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--exclude", "--include", "--whitespace"})


class Word(NamedTuple):
    """One word of a command line: its text, with HOLE for what is not known, and the paths below the pinned source that
    it may be where it is one."""

    text: str
    span: Span
    paths: tuple[Path, ...] = ()


class Place(NamedTuple):
    """Where a command stands and runs: `file` is the build file, `here` the folder below the pinned source, None for
    elsewhere."""

    file: str
    here: str | None


def edits(words: Sequence[Word], place: Place) -> Iterator[Edit]:
    """The edits that one command makes of the pinned source."""
    first = next((n for n, word in enumerate(words) if word.text not in _BEFORE and "=" not in word.text), len(words))
    program, arguments = basename(words[first].text) if words[first:] else "", words[first + 1 :]
    if program == "sed":
        yield from _sed(words[first], arguments, place)
    elif program == "patch":
        yield from _patch(words[first], arguments, place)
    elif program == "git":
        verb = next((n for n, word in enumerate(arguments) if word.text in ("apply", "am")), None)
        if verb is not None:
            yield from _git(arguments[:verb], arguments[verb + 1 :], words[first], place)


# --- sed ----------------------------------------------------------------------------------------------------------


class _Options(NamedTuple):
    scripts: list[Word]
    operands: list[Word]
    in_place: bool
    extended: bool
    odd: bool


def _sed(program: Word, arguments: Sequence[Word], place: Place) -> Iterator[Edit]:
    """`sed -i[SUFFIX] [-E] [-e SCRIPT]... [SCRIPT] FILE...` (sed's manual, "Command-line options")."""
    options = _sed_options(arguments)
    if not options.in_place:
        return
    scripts, files = options.scripts, options.operands
    if not scripts:
        scripts, files = files[:1], files[1:]
    paths = tuple(path for word in files for path in word.paths)
    if not paths:
        return
    script = "\n".join(word.text for word in scripts)
    span = scripts[0].span if scripts else program.span
    commands = None if options.odd or not script else sed.read(script, extended=options.extended)
    if commands is None:
        why = _NO_SCRIPT if HOLE in script or not script else _UNREAD
        yield Edit(place.file, span, Kind.SED, shown(script), paths, why=why)
    for command in commands or ():
        yield Edit(place.file, span, Kind.SED, shown(command.pattern), paths, command)


def shown(pattern: str) -> str:
    """A pattern as a person is shown it: what is not known is `...`."""
    return pattern.replace(HOLE, "...")


def _sed_options(arguments: Sequence[Word]) -> _Options:
    scripts: list[Word] = []
    operands: list[Word] = []
    in_place = extended = odd = False
    words = iter(arguments)
    for word in words:
        text = word.text
        if text.startswith(("--expression", "--file")):
            name, equals, value = text.partition("=")
            scripts += _script(name[2], word._replace(text=value) if equals else next(words, None))
        elif text.startswith("--in-place"):
            in_place = True
        elif text in ("--regexp-extended", "--silent", "--quiet", "--separate"):
            extended = extended or text == "--regexp-extended"
            odd = odd or text in ("--silent", "--quiet")
        elif text.startswith("--"):
            odd = True
        elif text.startswith("-") and len(text) > 1:
            letters = text[1 : text.find("i") + 1] if "i" in text else text[1:]  # behind `i` stands a suffix
            in_place, extended = in_place or "i" in letters, extended or bool({"E", "r"} & {*letters})
            odd = odd or bool({*letters} - set("iErsuef"))
            if letters.endswith(("e", "f")):
                scripts += _script(letters[-1], next(words, None))
        elif text or not in_place or operands:  # `-i ''` is what the sed of macOS wants
            operands.append(word)
    return _Options(scripts, operands, in_place, extended, odd)


def _script(option: str, value: Word | None) -> list[Word]:
    """What `-e SCRIPT` says; what stands in the file of `-f FILE` is not known."""
    if value is None:
        return []
    return [value._replace(text=HOLE) if option == "f" else value]


# --- patches ------------------------------------------------------------------------------------------------------


def _patch(program: Word, arguments: Sequence[Word], place: Place) -> Iterator[Edit]:
    """`patch [-pN] [-d FOLDER] [-R] [-i] PATCH`, or `< PATCH` (patch(1))."""
    given, operands, flags = _split(arguments, _PATCH_VALUES, _PATCH_OTHERS)
    name = given.get("i") or next((word for word in operands if word.text.startswith("<")), None)
    if name is None and len(operands) > 1:
        name = operands[1]
    if name is None:
        return
    name = _redirected(name, operands)
    folder = _folder(given.get("d"), place.here)
    patch = PatchFile(name.text, _number(given.get("p"), 1), folder, bool(flags & _REVERSE), _number(given.get("F"), 2))
    yield from _applied(patch, program, place)


def _redirected(name: Word, operands: Sequence[Word]) -> Word:
    """The file behind `<`."""
    if name.text == "<":
        return next((b for a, b in pairwise(operands) if a.text == "<"), name)
    return name._replace(text=name.text.removeprefix("<"))


def _git(before: Sequence[Word], arguments: Sequence[Word], program: Word, place: Place) -> Iterator[Edit]:
    """`git [-C FOLDER] apply|am [-pN] [--directory=FOLDER] [-R] PATCH...` (git-apply(1))."""
    given, operands, flags = _split(arguments, _GIT_VALUES, _GIT_OTHERS)
    at = next((b for a, b in pairwise(before) if a.text == "-C"), None)
    folder = _folder(given.get("d"), _folder(at, place.here))
    fuzz = int("--unidiff-zero" in flags)
    for word in operands:
        if "--check" not in flags and word.text not in ("<", ""):
            name = word.text.removeprefix("<")
            patch = PatchFile(name, _number(given.get("p"), 1), folder, bool(flags & _REVERSE), fuzz)
            yield from _applied(patch, program, place)


def _applied(patch: PatchFile, program: Word, place: Place) -> Iterator[Edit]:
    if patch.name.strip(HOLE):
        yield Edit(place.file, program.span, Kind.PATCH, shown(patch.name), (), patch=patch)


def _number(word: Word | None, default: int) -> int:
    return int(word.text) if word is not None and re.fullmatch(r"[0-9]", word.text) else default


def _folder(word: Word | None, here: str | None) -> str | None:
    """The folder below the pinned source that an option names, else `here`."""
    if word is None:
        return here
    if word.paths:
        return word.paths[0].path
    plain = here is not None and HOLE not in word.text and not word.text.startswith("/")
    return normpath(f"{here}/{word.text}") if plain else None


def _split(
    arguments: Sequence[Word], valued: Mapping[str, str], others: frozenset[str]
) -> tuple[dict[str, Word], list[Word], set[str]]:
    """The values of options by what they are, the operands, and the options without a value."""
    given: dict[str, Word] = {}
    operands: list[Word] = []
    flags: set[str] = set()
    words = iter(arguments)
    for word in words:
        text = word.text
        name, equals, value = text.partition("=") if text.startswith("--") else (text[:2], text[2:], text[2:])
        if not text.startswith("-") or text == "-":
            operands.append(word)
        elif name in valued:
            found = word._replace(text=value, paths=()) if equals else next(words, None)
            given |= {valued[name]: found} if found else {}
        elif text in others:
            next(words, None)
        else:
            flags.add(text)
    return given, operands, flags
