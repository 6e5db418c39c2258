"""The matrix of a release: which Pythons and processors each variant serves, and where it has holes."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from packaging.tags import Tag
from packaging.version import Version

from pinctl.index.layout import Variants
from pinctl.index.records import Record

ANY = "any"
_ABI3 = re.compile(r"cp3(\d+)")
_PROCESSORS = {"linux/amd64": "x86_64", "linux/arm64": "aarch64"}


class Cell(NamedTuple):
    """What one wheel serves: `python` as its name has it (`cp312`, `cp310-abi3`, `py3`), `processor` or `any`."""

    python: str
    processor: str

    def __str__(self) -> str:
        name = short(self.python)
        return f"{f'Python {name}' if name[0] == '3' else name} {self.processor}"


def short(tag: str) -> str:
    """`cp312` as a person says it: `3.12`; `3.10+` for `cp310-abi3`."""
    if found := re.fullmatch(r"cp3(\d+)(-abi3|t?)", tag):
        return f"3.{found[1]}{'+' if found[2] == '-abi3' else found[2]}"
    return "any Python" if tag == "py3" else tag


@lru_cache(maxsize=10_000)
def cells(tags: frozenset[Tag]) -> frozenset[Cell]:
    """The cells that a wheel with these tags fills; none for a source distribution."""
    return frozenset(Cell(_python(tag), processor(tag.platform)) for tag in tags)


def _python(tag: Tag) -> str:
    if tag.abi == "abi3":
        return f"{tag.interpreter}-abi3"
    return tag.interpreter + ("t" if tag.abi == f"{tag.interpreter}t" else "")


def processor(platform: str) -> str:
    """The processor of a platform tag: `x86_64` of `manylinux_2_28_x86_64`; with the system where it is no Linux."""
    if platform == ANY:
        return ANY
    found = re.fullmatch(r"(?:manylinux|musllinux|linux)(?:\d+|_\d+_\d+)?_(.+)", platform)
    return found[1] if found else platform


class Hole(NamedTuple):
    """`missing` cells of one version on one page; all of them where it has nothing of that version."""

    channel: str
    variant: str
    project: str
    version: Version
    missing: tuple[str, ...]
    whole: bool = False


class Release(NamedTuple):
    """The files of one version of a project in a channel, by variant."""

    channel: str
    project: str
    version: Version
    files: Mapping[str, tuple[Record, ...]]


class Project:
    """A project in a channel: its versions without their labels, the newest first, and the variants that it has."""

    def __init__(self, channel: str, name: str, files: Iterable[Record]) -> None:
        self.channel, self.name = channel, name
        self._files = tuple(files)

    @cached_property
    def variants(self) -> tuple[str, ...]:
        return tuple(sorted({record.variant for record in self._files}))

    @cached_property
    def releases(self) -> tuple[Release, ...]:
        found: dict[Version, dict[str, list[Record]]] = {}
        for record in self._files:
            version = Version(record.name.version.public)
            found.setdefault(version, {}).setdefault(record.variant, []).append(record)
        return tuple(
            Release(self.channel, self.name, version,
                    {variant: tuple(files) for variant, files in sorted(found[version].items())})
            for version in sorted(found, reverse=True)
        )  # fmt: skip

    @cached_property
    def _spans(self) -> Mapping[str, tuple[Version, Version]]:
        """The first and the last version of each variant."""
        spans: dict[str, tuple[Version, Version]] = {}
        for release in self.releases:  # the newest first
            for variant in release.files:
                spans[variant] = release.version, spans.get(variant, (release.version,) * 2)[1]
        return spans

    @cached_property
    def _processors(self) -> Mapping[str, frozenset[str]]:
        """The processors that each variant was ever built for."""
        found: dict[str, set[str]] = {}
        for record in self._files:
            found.setdefault(record.variant, set()).update(cell.processor for cell in cells(record.name.tags))
        return {variant: frozenset(processors) for variant, processors in found.items()}

    def holes(self, known: Variants) -> list[Hole]:
        """Where a page lacks what its variant declares, or what another page has of the same version, for a processor
        that it has ever had. What is yanked counts for nothing.

        A page that has nothing of a version has a hole there only between its first and its last version: it may have
        begun later, or been given up.
        """
        return Project(self.channel, self.name, (r for r in self._files if r.yanked is None))._holes(known)

    def _holes(self, known: Variants) -> list[Hole]:
        found = []
        for release in self.releases:
            filled = {variant: _filled(files) for variant, files in release.files.items()}
            union = frozenset().union(*filled.values())
            for variant in self.variants:
                first, last = self._spans[variant]
                if variant not in filled and not first < release.version < last:
                    continue
                wanted = frozenset(cell for cell in union if cell.processor in self._processors[variant])
                missing = _missing(variant, filled.get(variant, frozenset()), wanted, known)
                if missing:
                    whole = not filled.get(variant)
                    found.append(Hole(self.channel, variant, self.name, release.version, missing, whole))
        return found


def projects(records: Iterable[Record]) -> list[Project]:
    """The projects that are listed, by channel and name."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.withdrawn is None:
            found.setdefault((record.channel, record.name.project), []).append(record)
    return [Project(*key, found[key]) for key in sorted(found)]


def _filled(files: Iterable[Record]) -> frozenset[Cell]:
    """The cells that files fill."""
    return frozenset().union(*(cells(record.name.tags) for record in files))


def _missing(variant: str, has: frozenset[Cell], wanted: frozenset[Cell], known: Variants) -> tuple[str, ...]:
    declared = known.declared.get(variant)
    if declared and declared.python and declared.platforms:
        return tuple(
            f"Python {python} {processor}"
            for processor in (_PROCESSORS.get(name, name.rpartition("/")[2]) for name in declared.platforms)
            for python in declared.python
            if not any(_serves(cell, python, processor) for cell in has)
        )
    return tuple(str(cell) for cell in sorted(wanted) if not any(_replaces(one, cell) for one in has))


def _serves(cell: Cell, python: str, wanted: str) -> bool:
    """Whether a wheel of `cell` installs on CPython `python` ("3.12", "3.13t") on the processor `wanted`."""
    if cell.processor not in (ANY, wanted):
        return False
    if cell.python.endswith("-abi3"):
        least = _ABI3.match(cell.python)
        return not python.endswith("t") and least is not None and int(python.partition(".")[2]) >= int(least[1])
    return cell.python in ("py3", "py2.py3", f"cp{python.replace('.', '')}")


def _replaces(one: Cell, other: Cell) -> bool:
    """Whether `one` is what its variant has in the place of `other`: its abi3 may begin at another Python."""
    if one.processor not in (ANY, other.processor):
        return False
    if one.python in ("py3", other.python):
        return True
    least, wanted = _ABI3.match(one.python), _ABI3.match(other.python)
    if not one.python.endswith("-abi3") or least is None or wanted is None:
        return False
    return other.python.endswith("-abi3") or int(wanted[1]) >= int(least[1])
