"""What is to be published, where to, and what a target tells of it: the ground that the targets of `publish` share."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from pinctl.codes import finding
from pinctl.commands import wheel_verify
from pinctl.commands.index_setup import Setup
from pinctl.errors import UsageError
from pinctl.external import index_files
from pinctl.external.gitcli import Profile
from pinctl.external.index_files import Wheel
from pinctl.finding import Finding, Severity
from pinctl.index import matrix, names
from pinctl.index.layout import CHANNEL
from pinctl.index.records import Record
from pinctl.options import Options
from pinctl.publish.clients import Wanted
from pinctl.publish.settings import TARGETS

_LARGEST_MIB = index_files.LARGEST / 1024**2
"""What no target takes; how large a file may be is looked at by each target."""


class Parcel(NamedTuple):
    """A wheel that is to go to a target; `variant` "" where nothing says it."""

    wheel: Wheel
    variant: str
    target: str

    @property
    def filename(self) -> str:
        return self.wheel.filename

    @property
    def sha256(self) -> str:
        return self.wheel.identity.sha256

    @property
    def name(self) -> names.Name:
        return names.known(self.filename)


class Job(NamedTuple):
    """What all targets know of the run. `partial`: holes of a declared matrix stop nothing; `write`: what is checked
    is sent afterwards."""

    options: Options
    setup: Setup
    profile: Profile
    channel: str
    partial: bool = False
    write: bool = False


class Row(NamedTuple):
    """What becomes of a file: `what` is told in the table, `there` whether the target has it already."""

    filename: str
    what: str
    there: bool = False


class Checked(NamedTuple):
    """What a look at a target gave: findings, and what would be done. `more`: of files that are not sent, something was
    decided that the target does not have yet."""

    findings: tuple[Finding, ...] = ()
    rows: tuple[Row, ...] = ()
    more: bool = False


class Sight(NamedTuple):
    """Where a published wheel is seen from outside: on the page of its project, below the page set of `wanted`, or at
    the link of it."""

    wanted: Wanted
    project: str


class Target(Protocol):
    """One place that wheels go to."""

    @property
    def job(self) -> Job:
        """The run that it is of."""

    @property
    def parcels(self) -> Sequence[Parcel]:
        """What goes there."""

    @property
    def place(self) -> str:
        """Where it is, for people; without what is secret."""

    @property
    def wait(self) -> int:
        """Seconds that it may take to show what was sent."""

    def check(self) -> Checked:
        """Look at what is there, and send nothing. Raises PinctlError."""

    def send(self) -> None:
        """Publish; what is there already stays as it is. Raises PinctlError."""

    def sights(self) -> list[Sight]:
        """Where each file is seen; none where nothing says that."""


def parcels(
    options: Options, setup: Setup, paths: Sequence[str], *, target: str | None, variant: str | None
) -> list[Parcel]:
    """The wheels at `paths`, each read once, with where it goes to: `target`, else what its variant says by `publish`.

    Raises UsageError, ExternalError.
    """
    wheels = [index_files.read_wheel(path) for path in index_files.wheels(options.directory, paths)]
    twins = {wheel.filename: wheel for wheel in wheels}
    for wheel in wheels:
        other = twins[wheel.filename]
        if other.identity.sha256 != wheel.identity.sha256:
            hint = "give one of the two builds a label: pinctl wheel relabel"
            raise UsageError(f"{wheel.path} and {other.path} have one name and different bytes", hint=hint)
    return [_parcel(wheel, setup, target, variant) for wheel in twins.values()]


def _parcel(wheel: Wheel, setup: Setup, target: str | None, variant: str | None) -> Parcel:
    said = variant or str(wheel.provenance.get("variant") or "")
    known = said or setup.known.of_label(names.known(wheel.filename).label) or ""
    declared = setup.known.declared.get(known)
    where = target or (declared.publish if declared else None)
    if where is None:
        of = f"its variant {known}" if known else "no variant that is known"
        hint = f"give --target {'|'.join(TARGETS)}, or the variant its `publish` in pins.toml"
        raise UsageError(f"nothing says where {wheel.filename} goes to ({of})", hint=hint)
    if where not in TARGETS:
        raise UsageError(f"{wheel.filename} would go to {where}, which publish does not serve", hint="give --target")
    return Parcel(wheel, known, where)


def judged(job: Job, found: Sequence[Parcel]) -> list[Finding]:
    """What `wheel verify` says of the wheels, each held against its variant. Raises PinctlError."""
    told: list[Finding] = []
    for parcel in found:
        declared = parcel.variant if parcel.variant in job.setup.known.declared else None
        path = os.path.relpath(parcel.wheel.path, job.options.directory)
        asked = wheel_verify.Asked(variant=declared, most=_LARGEST_MIB)
        shown = os.path.relpath(os.path.realpath(parcel.wheel.path), job.setup.root)
        told += [one._replace(file=shown) for one in wheel_verify.run(job.options, paths=(path,), asked=asked).findings]
    return told


def holes(job: Job, sent: Sequence[Parcel], there: Iterable[Record]) -> list[Finding]:
    """PIN712 for each version that `sent` wheels are of, where with what is `there` one is missing: an error where
    pins.toml declares it, unless the run is partial."""
    ours = {(parcel.name.project, parcel.variant) for parcel in sent}
    versions = {parcel.name.version.public for parcel in sent}
    listed = {record.filename: record for record in (*there, *map(_record, sent))}
    told = []
    for project in matrix.projects(listed.values()):
        for hole in project.holes(job.setup.known):
            if (hole.project, hole.variant) not in ours or str(hole.version) not in versions:
                continue
            variant = job.setup.known.declared.get(hole.variant)
            sure = variant is not None and variant.python and variant.platforms and not job.partial
            what = f"{hole.project} {hole.version} of {hole.variant} would be without {', '.join(hole.missing)}"
            told.append(finding("PIN712", what, severity=Severity.ERROR if sure else Severity.WARNING,
                                hint="build what is missing, or publish without it: --partial"))  # fmt: skip
    return told


def _record(parcel: Parcel) -> Record:
    return listed(parcel.filename, parcel.variant)


def listed(filename: str, variant: str) -> Record:
    """A file of which nothing counts but its name and its variant."""
    return Record(filename, CHANNEL, variant or "none", None, "")


def taken(filename: str, place: str, *, wanted: str, has: str) -> Finding:
    """PIN717: the name has other bytes at `place`."""
    what = f"{filename} is published at {place} with other bytes"
    return finding("PIN717", what, expected=wanted, found=has, hint="give the new build a version of its own")


def by_project(found: Iterable[Parcel]) -> Mapping[str, list[Parcel]]:
    """The parcels of each project."""
    made: dict[str, list[Parcel]] = {}
    for parcel in found:
        made.setdefault(parcel.name.project, []).append(parcel)
    return made
