"""Which headers a pinned tree needs from the system, with the including lines, held against `system_packages`.

Scanned are the sources of the tree itself, and of its submodules what these sources reach. A header counts as the
tree's own where any file of the tree or of a submodule that is checked out ends in its name, whatever the include
directories: then it is not the system that is asked for it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import basename, dirname, join, normpath, splitext
from typing import NamedTuple

from pinctl.model import SystemPackage
from pinctl.upstream import packages
from pinctl.upstream.forest import Forest
from pinctl.upstream.includes import SOURCES, Include
from pinctl.upstream.packages import Known
from pinctl.upstream.provided import provided
from pinctl.upstream.scans import Scanned, Scans
from pinctl.upstream.tree import Tree

ROUNDS = 30
"""How many steps from a source of the tree its submodules are followed."""
MOST = 20_000
"""Sources that are scanned."""

_ASIDE = re.compile(
    r"(?i)(?:^|/)(?:tests?|unit_?tests?|testing|testdata|examples?|samples?|demos?|tutorials?|docs?|bench(?:mark)?s?"
    r"|fuzz(?:ing|ers?)?|profiler)(?:/|$)"
)


class Sighting(NamedTuple):
    """Where a header is included. `aside`: in a test, an example or a benchmark, which a build of the library skips."""

    file: str
    line: int
    guarded: bool
    condition: str | None
    aside: bool


@dataclass(frozen=True, slots=True)
class Need:
    """A header that the system must provide: its well-known library, the package that is declared for it."""

    header: str
    sightings: tuple[Sighting, ...]
    known: Known | None
    declared: SystemPackage | None

    @property
    def first(self) -> Sighting:
        """The most telling place: compiled in every build, without a guard, in the library itself."""
        return min(self.sightings, key=lambda s: (s.aside, s.guarded, s.condition is not None))

    @property
    def guarded(self) -> bool:
        """Whether no place needs it: each stands under a `__has_include`."""
        return all(sighting.guarded for sighting in self.sightings if sighting.aside == self.first.aside)


@dataclass(slots=True)
class Scan:
    """The includes of a forest. `sources` counts the files read; `pointers` are those that LFS has in its keeping;
    `seen` are all names in angle brackets, wherever they stand; `cut` where there was more than may be read."""

    outside: dict[str, list[Sighting]] = field(default_factory=lambda: defaultdict(list))
    seen: set[str] = field(default_factory=set)
    pointers: list[str] = field(default_factory=list)
    sources: int = 0
    cut: bool = False


def is_aside(path: str) -> bool:
    """Whether `path` lies in a folder of tests, examples, documentation or benchmarks."""
    return _ASIDE.search(dirname(path)) is not None


def is_source(path: str) -> bool:
    """Whether `path` is a C, C++ or CUDA source or header by its name."""
    return splitext(path)[1].lower() in SOURCES


class _Index:
    """The files of a forest by the last part of their path, for looking a header up."""

    def __init__(self, files: Iterable[str]) -> None:
        self.by_name: dict[str, list[str]] = defaultdict(list)
        self.files = frozenset(files)
        for path in self.files:
            self.by_name[path.rpartition("/")[2]].append(path)

    def find(self, name: str) -> list[str]:
        """The files whose path ends in `name`."""
        inner = normpath(name)
        while inner.startswith("../"):
            inner = inner[3:]
        tail = f"/{inner}"
        return [path for path in self.by_name.get(basename(inner), ()) if path == inner or path.endswith(tail)]

    def near(self, name: str, file: str) -> list[str]:
        """The file that `#include "name"` in `file` means: beside it, else anywhere."""
        beside = normpath(join(dirname(file), name))
        return [beside] if beside in self.files else self.find(name)


def prepare(tree: Tree, scans: Scans) -> None:
    """Scan those sources of `tree` that were read already: they say the same whatever its submodules hold."""
    for path, id_ in tree.files.items():
        if id_ in tree.known and is_source(path) and id_ not in scans:
            scans.learn(id_, tree.known[id_])


def read(forest: Forest) -> Scan:
    """Scan the sources of `forest.root`, and what they reach of its submodules."""
    found, index = Scan(), _Index(forest.files)
    own = sorted(path for path in forest.root.files if is_source(path))
    main = [path for path in own if not is_aside(path)]
    aside = [path for path in own if is_aside(path)]
    done: set[str] = set()
    wave = main
    for _ in range(ROUNDS):
        reached = _scan(forest, wave, index, found)
        done.update(wave)
        wave = sorted(reached - done)
        if not wave or found.cut:
            break
    _scan(forest, [path for path in aside if path not in done], index, found, aside=True)
    return found


def _scan(forest: Forest, paths: list[str], index: _Index, found: Scan, *, aside: bool = False) -> set[str]:
    """Scan `paths` into `found`; the sources of the forest that they include."""
    room = MOST - found.sources
    found.cut = found.cut or len(paths) > room
    reached: set[str] = set()
    for path, scanned in _scanned(forest, paths[:room]):
        found.sources += 1
        if scanned.pointer:
            found.pointers.append(path)
        for include in scanned.includes:
            here = index.find(include.name) if include.angled else index.near(include.name, path)
            if include.angled:
                found.seen.add(include.name)
                if not here and not provided_alone(include.name):
                    _note(found, path, include, aside=aside)
            reached.update(file for file in here if is_source(file))
    return reached


def _scanned(forest: Forest, paths: list[str]) -> Iterator[tuple[str, Scanned]]:
    """What is in each of `paths`. Those that no scan knows are read in one batch."""
    ids = {path: id_ for path in paths if (id_ := forest.id(path)) is not None}
    new = [path for path, id_ in ids.items() if id_ not in forest.scans]
    sources = forest.read(new)
    for path in new:
        forest.scans.learn(ids[path], sources.get(path))
    for path, id_ in ids.items():
        if (scanned := forest.scans[id_]) is not None:
            yield path, scanned


def provided_alone(name: str) -> bool:
    """Whether `name` is there without a package, and is no header that is known to need one."""
    return packages.known(name) is None and provided(name)


def _note(found: Scan, path: str, include: Include, *, aside: bool) -> None:
    found.outside[include.name].append(Sighting(path, include.line, include.guarded, include.condition, aside))


def needs(found: Scan, declared: Iterable[SystemPackage]) -> list[Need]:
    """What the scan found that the system must provide, by header."""
    given = tuple(declared)
    return [
        Need(header, tuple(sightings), packages.known(header), packages.declared(header, given))
        for header, sightings in sorted(found.outside.items())
    ]


def unneeded(found: Scan, declared: Iterable[SystemPackage]) -> Iterator[SystemPackage]:
    """The packages for a build whose headers no source includes, guarded or not.

    Only those that say which header they are for, or that are well known, can be judged.
    """
    for package in declared:
        known = any(library.met_by(package) for library in packages.all_known())
        judged = package.when != "run" and (package.header or known)
        if judged and not any(packages.declared(header, [package]) for header in found.seen):
            yield package


def grouped(found: Iterable[Need]) -> Mapping[str, list[Need]]:
    """Needs of one folder together, such as all headers of `cutlass/`; one that lies in none by itself."""
    groups: dict[str, list[Need]] = defaultdict(list)
    for need in found:
        groups[need.header.partition("/")[0]].append(need)
    return groups
