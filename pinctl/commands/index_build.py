"""`pinctl index build`: records, and wheels that are added to them, become the whole static index."""

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from pinctl.commands import index_setup
from pinctl.commands.index_faults import Place, findings
from pinctl.commands.index_setup import Setup
from pinctl.errors import UsageError
from pinctl.external import index_files, index_tree
from pinctl.external.index_files import SIDECAR, Wheel
from pinctl.external.index_tree import Hosted
from pinctl.finding import Finding, failed
from pinctl.index import ledger, names, pages, people, records
from pinctl.index.judge import Fault
from pinctl.index.layout import CHANNEL, FILES
from pinctl.index.records import Record
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted


class Adding(NamedTuple):
    """Wheels to add: paths of files, or of folders that hold them.

    channel   None: the first that pins.toml lists, else "release"
    variant   None: the one of the wheel's label
    url       where the files are served, without the name; None: in the index itself
    sidecars  whether each file's METADATA lies beside it at `url`
    uploaded  the time of the upload, RFC 3339
    """

    paths: tuple[str, ...] = ()
    channel: str | None = None
    variant: str | None = None
    url: str | None = None
    sidecars: bool = False
    uploaded: str | None = None


NOTHING_MORE = Adding()


def run(
    options: Options,
    *,
    out: str | None = None,
    adding: Adding = NOTHING_MORE,
    file: str | None = None,
    sources: Sequence[str] = (),
) -> Outcome:
    """Write the index to the folder `out`, whole or not at all; without one, only judge the records. `sources` are
    folders that have files which the index holds, and which `out` does not have yet.

    Raises UsageError, ManifestError, ExternalError, WriteRefused.
    """
    setup = index_setup.setup(options, file)
    _demand_sense(adding)
    target = None if out is None else os.path.join(options.directory, out)
    if target is not None:
        index_tree.demand_place(target)
    with setup.locked() if adding.paths else nullcontext():
        before = setup.load()
        wheels = [index_files.read_wheel(path) for path in index_files.wheels(options.directory, adding.paths)]
        all_, fresh, refused = added(before, wheels, adding, setup)
        faults = refused + ledger.problems(all_, setup.layout, setup.known)
        told = told_of(faults, all_, setup, every=options.verbose > 0)
        made = {} if failed(told) else pages_of(all_, setup)
        if made and fresh:
            setup.save(all_)
        if made and target is not None:
            folders = [os.path.join(options.directory, source) for source in sources]
            index_tree.write(target, made, hosted_of(all_, wheels, folders))
    listed = [record for record in all_ if record.withdrawn is None]
    return Outcome(
        command="index",
        root=setup.root,
        findings=tuple(told),
        result={
            "files": len(listed),
            "pages": sum(path.endswith(f"/{pages.HTML_PAGE}") for path in made),
            "added": [record.filename for record in fresh],
            "out": out if made else None,
        },
        body=_table(listed, setup) if listed else None,
        summary=_summary(listed, fresh, out),
        closing=("nothing was written",) if failed(told) and (out or adding.paths) else (),
    )


def _demand_sense(adding: Adding) -> None:
    if adding.uploaded is not None and not records.is_time(adding.uploaded):
        raise UsageError(f"--uploaded {adding.uploaded}: a time as 2026-07-01T12:00:00Z is taken")
    if adding.url is not None and (clause := records.url_problem(f"{adding.url.rstrip('/')}/x")):
        raise UsageError(f"--files-url {adding.url} cannot be used: {clause}")
    for flag, name in (("--channel", adding.channel), ("--variant", adding.variant)):
        if name is not None and not names.is_folder(name):
            raise UsageError(f"{flag} {name}: a name of lower-case letters and digits is taken")


def added(
    before: Sequence[Record], wheels: Sequence[Wheel], adding: Adding, setup: Setup
) -> tuple[list[Record], list[Record], list[Fault]]:
    """All records with those of `wheels`, those that are new, and what was refused. Raises UsageError."""
    all_, fresh, refused = list(before), list[Record](), list[Fault]()
    for wheel in wheels:
        outcome = ledger.add(all_, _record(wheel, before, adding, setup), setup.layout)
        if isinstance(outcome, Fault):
            refused.append(outcome)
        elif outcome is not None:
            all_.append(outcome)
            fresh.append(outcome)
    return all_, fresh, refused


def _record(wheel: Wheel, before: Sequence[Record], adding: Adding, setup: Setup) -> Record:
    known = setup.known.with_pages(record.variant for record in before)
    variant = adding.variant or known.of_label(names.known(wheel.filename).label)
    if variant is None or not names.is_folder(variant):
        raise UsageError(f"nothing says which variant {wheel.filename} is of", hint="say it: --variant NAME")
    if adding.url is None:
        url, beside = f"{FILES}/{wheel.filename}", True
    else:
        url, beside = f"{adding.url.rstrip('/')}/{names.in_url(wheel.filename)}", adding.sidecars
    return Record(
        filename=wheel.filename,
        channel=adding.channel or next(iter(setup.layout.channels), CHANNEL),
        variant=variant,
        sha256=wheel.identity.sha256,
        url=url,
        size=wheel.identity.size,
        requires_python=wheel.identity.requires_python,
        metadata=wheel.metadata_sha256 if beside else None,
        uploaded=adding.uploaded,
        provenance=wheel.provenance,
    )


def told_of(faults: Sequence[Fault], all_: Sequence[Record], setup: Setup, *, every: bool) -> list[Finding]:
    """The findings, each at the line of the records that it is about."""
    lines: dict[str, int] = {}
    for number, record in enumerate(sorted(all_, key=records.line), start=1):
        lines.setdefault(record.filename, number)
    return findings(faults, lambda fault: Place(setup.file, lines.get(fault.filename, 0)), every=every)


def pages_of(all_: Sequence[Record], setup: Setup) -> dict[str, bytes]:
    """The pages of the whole index, by path. Raises UsageError."""
    listed = [record for record in all_ if record.withdrawn is None]
    if taken := ledger.in_the_way(setup.layout, listed):
        raise UsageError(f"the pages of {taken} would lie among the files: `layout` needs another folder than {FILES}/")
    known = setup.known.with_pages(record.variant for record in listed)
    return {**pages.build(listed, setup.layout), pages.HTML_PAGE: people.page(listed, setup.layout, known)}


def hosted_of(all_: Sequence[Record], wheels: Sequence[Wheel], folders: Sequence[str]) -> list[Hosted]:
    """The files that the index holds, with where each comes from, and their METADATA."""
    new = {wheel.filename: wheel for wheel in wheels}
    found: dict[str, Hosted] = {}
    for record in all_:
        if not record.hosted or record.withdrawn is not None or record.sha256 is None:
            continue
        wheel = new.get(record.filename)
        source = wheel.path if wheel else index_files.find(folders, (record.url, record.filename))
        found[record.url] = Hosted(record.url, record.sha256, record.size, source)
        if record.metadata is not None:
            reread = wheel or (index_files.read_wheel(source) if source else None)
            body = reread.identity.metadata if reread else None
            found[record.url + SIDECAR] = Hosted(record.url + SIDECAR, record.metadata, body=body)
    return list(found.values())


def _table(listed: Sequence[Record], setup: Setup) -> Table:
    count = Counter((setup.layout.folder(*record.place), record.name.project) for record in listed)
    rows = tuple((folder, project, str(number)) for (folder, project), number in sorted(count.items()))
    return Table(("page set", "package", "files"), rows)


def _summary(listed: Sequence[Record], fresh: Sequence[Record], out: str | None) -> str:
    more = f" ({len(fresh)} of them new)" if fresh else ""
    where = f" in {out}" if out else "; --out DIR writes the index"
    return f"{counted(len(listed), 'file')}{more}{where}"
