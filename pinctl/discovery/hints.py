"""What the text around the literals of a file says of them: which clone takes which ref, which address holds which
version, which package a variable is the version of."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pinctl.discovery import commands, names, values
from pinctl.discovery.commands import Clone, Word
from pinctl.discovery.downloads import Download, downloads, is_comment, repository
from pinctl.discovery.spans import Spans
from pinctl.sites.base import Document
from pinctl.sites.pep508 import normal

_PACKAGE = rb"(?<![\w.-])(?P<package>[A-Za-z][\w.-]{0,99}[A-Za-z0-9])(?:\[[\w,.-]{0,99}\])?=="
_PINNED = re.compile(_PACKAGE + rb"(?P<version>[0-9][\w.+!]{0,99})")
_BY_VARIABLE = re.compile(_PACKAGE + rb"[\"']?\$\{?(?P<variable>[A-Za-z_]\w{0,99})")
_SHELL = ("shell", "dockerfile", "yaml")
_CHAIN = 4
"""So many variables that take their value from one another are followed."""
_MOST = 1000
"""More of a kind are in no file that a person wrote."""


class Requirement(NamedTuple):
    """A package that is asked for by `==`, anywhere in the text of a file; its version is the bytes `start:end`."""

    package: str
    version: str
    start: int
    end: int


@dataclass(slots=True)
class Hints:
    """The hints of one file. `repos` are repositories with the calls that name them, `branches` what moves in them."""

    downloads: list[Download] = field(default_factory=list)
    clones: list[Clone] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    repos: list[tuple[str, str]] = field(default_factory=list)
    branches: list[tuple[str, str]] = field(default_factory=list)
    calls: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    packages: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    places: Spans = field(default_factory=Spans)

    def calls_of(self, variable: str) -> tuple[str, ...]:
        """The calls that take the value of `variable`."""
        return tuple(self.calls.get(variable, ()))

    def calls_at(self, start: int, end: int) -> tuple[str, ...]:
        """The calls whose literals lie in the bytes `start:end`, or around them."""
        return tuple(self.places.overlapping(start, end))

    def packages_of(self, variable: str) -> tuple[str, ...]:
        """The packages that are asked for in the version that `variable` gives."""
        return tuple(self.packages.get(variable, ()))


def hints(file: str, language: str, document: Document) -> Hints:
    """The hints in the file `file`."""
    reader = _Reader(file, document)
    reader.add_downloads()
    reader.add_clones(language)
    if language in _SHELL:
        reader.add_requirements(language)
    if language == "starlark":
        reader.add_composed(document)
    return reader.found


class _Reader:
    """Reads one file's text. `links` tells for a variable of shell text those whose value it takes."""

    def __init__(self, file: str, document: Document) -> None:
        self.file, self.source, self.found = file, document.source, Hints()
        self.links: dict[str, list[str]] = getattr(getattr(document, "reading", None), "links", {})

    def add_downloads(self) -> None:
        """The addresses, and the variables that are refs in them."""
        self.found.downloads = list(islice(downloads(self.source), _MOST))
        for n, download in enumerate(self.found.downloads):
            call = f"{self.file}:url:{n}"
            for variable in self._linked(download.variables):
                self.found.calls[variable][call] = None
                if download.wheel is not None:
                    self.found.packages[variable][download.wheel[0]] = None
            if download.variables and download.wheel is None:
                self.found.repos.append((download.repo, call))

    def add_composed(self, document: Document) -> None:
        """The repositories of addresses that are put together, each with the literal that is the ref in it."""
        for n, slot in enumerate(islice(document.slots(), _MOST)):
            whole = "" if slot.many else slot.tokens[0].value
            if b"://" not in self.source[slot.start : slot.end]:
                for download in downloads(whole.encode("utf-8", "replace")):
                    call = f"{self.file}:composed:{n}"
                    self.found.repos.append((download.repo, call))
                    self.found.places.add(slot.start, slot.end, call)

    def add_clones(self, language: str) -> None:
        """The clones with what they take: variables, literals, or a branch that moves."""
        self.found.clones = list(islice(commands.clones(commands.read(language, self.source)), _MOST))
        for n, clone in enumerate(self.found.clones):
            call = f"{self.file}:git:{n}"
            if (repo := repository(clone.url.text)) is not None:
                self.found.repos.append((repo, call))
            for word in dict.fromkeys((clone.url, clone.ref, clone.checkout)):
                self._add_word(word, call)
            if clone.ref is None or not (clone.ref.variables or _is_fixed(clone.ref.text)):
                self.found.branches.append((clone.ref.text if clone.ref else "HEAD", call))

    def _add_word(self, word: Word | None, call: str) -> None:
        if word is None:
            return
        for variable in self._linked(word.variables):
            self.found.calls[variable][call] = None
        if values.is_repo(word.text, certain=True) or _is_fixed(word.text):
            self.found.places.add(word.start, word.end, call)

    def add_requirements(self, language: str) -> None:
        """What is asked for by `==`: in the version of a variable, and in a literal one."""
        for match in islice(_BY_VARIABLE.finditer(self.source), _MOST):
            for variable in self._linked([match["variable"].decode()]):
                self.found.packages[variable][normal(match["package"].decode())] = None
        for match in islice(_PINNED.finditer(self.source), _MOST):
            if not is_comment(self.source, match.start()) and (language != "yaml" or self._installs(match.start())):
                asked = Requirement(match["package"].decode(), match["version"].decode(), *match.span("version"))
                self.found.requirements.append(asked)

    def _installs(self, at: int) -> bool:
        """Whether the line of `at` is about installing; YAML holds all sorts of text."""
        return self.source.find(b"install", self.source.rfind(b"\n", 0, at) + 1, at) >= 0

    def _linked(self, variables: Iterable[str]) -> Iterator[str]:
        """`variables`, and those whose value they take (`VERSION="${PROTOC_VERSION:-34.2}"`), but for another
        dependency's (`TORCHAUDIO_VERSION=$TORCH_VERSION`)."""
        found = list(dict.fromkeys(variables))
        for name in found:  # grows while it is walked
            yield name
            others = [o for o in self.links.get(name, ()) if o not in found and names.stem(name) in ("", names.stem(o))]
            found += others[: max(_CHAIN - len(found), 0)]


def _is_fixed(ref: str) -> bool:
    return values.is_tag(ref) or values.is_short(ref) or values.is_commit(ref)
