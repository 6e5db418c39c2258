"""The page that people read: what there is by version, variant, Python and processor, what is missing, and the command
that installs it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from packaging.version import Version

from pinctl.index.layout import CHANNEL, Layout, Variants
from pinctl.index.matrix import Cell, Hole, Project, Release, cells, projects, short
from pinctl.index.records import Record
from pinctl.index.templates import environment
from pinctl.outcome import counted

_NEWEST = 5
"""Versions that are shown without being asked for."""
TITLE = "Wheels"


class Entry(NamedTuple):
    """A wheel as a cell of the table says it. `yanked` is the reason, None where it is not."""

    text: str
    yanked: str | None


class Box(NamedTuple):
    """A cell of the table: one version on one page."""

    variant: str
    files: tuple[Entry, ...]
    missing: tuple[str, ...]


class Row(NamedTuple):
    version: str
    cells: tuple[Box, ...]


class Install(NamedTuple):
    """How the newest version of a variant is installed."""

    variant: str
    about: str
    public: str
    label: str
    requires_python: str | None
    page: str
    pip: str
    uv: str


class Section(NamedTuple):
    """A project in a channel."""

    name: str
    anchor: str
    variants: tuple[str, ...]
    installs: tuple[Install, ...]
    newest: tuple[Row, ...]
    older: tuple[Row, ...]

    @property
    def more(self) -> str:
        return counted(len(self.older), "older version")


class Channel(NamedTuple):
    name: str
    anchor: str
    days: int | None
    projects: tuple[Section, ...]


def page(records: Iterable[Record], layout: Layout, known: Variants, title: str = TITLE) -> bytes:
    """The page at the root of the index."""
    found = sorted(projects(records), key=lambda project: _rank(project, layout))
    channels = [
        Channel(name, f"channel-{name}", layout.retention.get(name),
                tuple(_section(project, layout, known) for project in group))
        for name, group in groupby(found, key=lambda project: project.channel)
    ]  # fmt: skip
    values = {"title": title, "summary": _summary(found), "channels": channels, "url": layout.url}
    return environment().get_template("people.html").render(values).encode()


def _rank(project: Project, layout: Layout) -> tuple[int, bool, str, str]:
    """Channels in the order of pins.toml; else the releases first."""
    known = layout.channels.index(project.channel) if project.channel in layout.channels else len(layout.channels)
    return known, project.channel != CHANNEL, project.channel, project.name


def _summary(found: Sequence[Project]) -> str:
    files = sum(len(files) for project in found for release in project.releases for files in release.files.values())
    names = {project.name for project in found}
    variants = {variant for project in found for variant in project.variants}
    return f"{counted(files, 'file')} of {counted(len(names), 'package')} in {counted(len(variants), 'variant')}."


def _section(project: Project, layout: Layout, known: Variants) -> Section:
    holes: dict[Version, list[Hole]] = {}
    for hole in project.holes(known):
        holes.setdefault(hole.version, []).append(hole)
    rows = [_row(release, project.variants, holes.get(release.version, ())) for release in project.releases]
    return Section(
        name=project.name,
        anchor=f"{project.channel}-{project.name}",
        variants=project.variants,
        installs=tuple(filter(None, (_install(project, variant, layout, known) for variant in project.variants))),
        newest=tuple(rows[:_NEWEST]),
        older=tuple(rows[_NEWEST:]),
    )


def _row(release: Release, variants: Iterable[str], holes: Iterable[Hole]) -> Row:
    missing = {hole.variant: hole.missing for hole in holes}
    return Row(
        str(release.version),
        tuple(Box(v, _entries(release.files.get(v, ()), v), missing.get(v, ())) for v in variants),
    )


def _entries(files: Iterable[Record], variant: str) -> tuple[Entry, ...]:
    """A line for each label and set of processors, with the Pythons that have it: `3.11, 3.12: aarch64, x86_64`."""
    processors: dict[tuple[str, str | None, str], set[str]] = {}
    for record in files:
        label = record.name.label if record.name.label != variant else ""
        for cell in cells(record.name.tags) or (Cell("source", ""),):
            processors.setdefault((label, record.yanked, cell.python), set()).add(cell.processor)
    lines: dict[tuple[str, str | None, str], list[str]] = {}
    for (label, yanked, python), served in sorted(processors.items(), key=lambda item: _order(item[0])):
        lines.setdefault((label, yanked, ", ".join(sorted(served))), []).append(short(python))
    return tuple(
        Entry(f"{f'+{label} ' if label else ''}{', '.join(pythons)}{f': {served}' if served else ''}", yanked)
        for (label, yanked, served), pythons in lines.items()
    )


def _order(key: tuple[str, str | None, str]) -> tuple[str, str, int, str]:
    label, yanked, python = key
    return label, yanked or "", len(python), python


def _install(project: Project, variant: str, layout: Layout, known: Variants) -> Install | None:
    """None where every file of the variant is yanked."""
    files = [r for release in project.releases for r in release.files.get(variant, ()) if r.yanked is None]
    if not files:
        return None
    newest = max(files, key=lambda record: (not record.name.version.is_prerelease, record.name.version))
    address, wanted = _address(layout, project.channel, variant), f"{project.name}=={newest.name.version}"
    return Install(
        variant=variant,
        about=_about(variant, known),
        public=newest.name.version.public,
        label=newest.name.label,
        requires_python=newest.requires_python,
        page=f"{layout.folder(project.channel, variant)}/{project.name}/",
        pip=f"pip install {_pip_options(newest, address)} {wanted}",
        uv=f"uv pip install --index {address} {wanted}",
    )


def _pip_options(newest: Record, address: str) -> str:
    """pip takes the files of all its indexes as one heap. Without a label nothing would tell this one from PyPI's."""
    return f"--extra-index-url {address}" if newest.name.label else f"--no-deps --index-url {address}"


def _address(layout: Layout, channel: str, variant: str) -> str:
    root = layout.url.rstrip("/") if layout.url else "INDEX"
    return f"{root}/{layout.folder(channel, variant)}/"


def _about(variant: str, known: Variants) -> str:
    declared = known.declared.get(variant)
    said: Mapping[str, str | None] = {"CUDA": declared.cuda, "torch": declared.torch} if declared else {}
    return ", ".join(f"{what} {version}" for what, version in said.items() if version)
