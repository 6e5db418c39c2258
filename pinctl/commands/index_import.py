"""`pinctl index import`: an index that was made otherwise becomes records, and no lock file breaks.

Without `--write` it tells what it would do. Decisions that earlier runs recorded stand: it may be run again.
"""

import os
from collections.abc import Mapping, Sequence

from pinctl.commands import index_setup
from pinctl.commands.index_faults import Place, findings, plain, table
from pinctl.external import index_files, index_pages
from pinctl.external.web import Web
from pinctl.finding import Severity
from pinctl.index import judge, ledger, taking
from pinctl.index.judge import Fault, Seen
from pinctl.index.layout import Layout
from pinctl.index.reading import Page
from pinctl.index.records import Record
from pinctl.index.taking import Taken
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, Text, counted

_MENDED = frozenset(("PIN703", "PIN704", "PIN705", "PIN706", "PIN710", "PIN713"))
"""What is wrong with the pages, and not with the records: the pages that are built do not have it."""


def run(
    options: Options,
    *,
    place: str,
    write: bool = False,
    file: str | None = None,
    fetch: bool = False,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """The records of the index at `place`, a folder or a URL, beside those that are there; written with `write`. With
    `fetch`, files that have several digests, or none, are downloaded to say which one is right.

    Raises UsageError, ManifestError, ExternalError.
    """
    setup = index_setup.setup(options, file)
    remote = index_pages.is_url(place)
    web = Web(index_setup.profile(options, setup.root, allow_transport)) if remote or fetch else None
    folder = os.path.realpath(os.path.join(options.directory, place))
    pages = index_pages.of_server(place, web) if remote and web else index_pages.of_folder(folder)
    before = setup.load()
    taken = taking.take(pages, setup.known, before, hosted=not remote)
    seen = _looked(taken, pages, place if remote else f"file://{folder}/", web, options) if web and fetch else {}
    known = setup.known.with_pages(record.variant for record in taken.records)
    open_ = ledger.problems(taken.records, setup.layout._replace(channels=()), known)
    open_ = [_with_truth(fault, taken.records, seen) for fault in open_]
    mended = [fault for fault in judge.pages(pages, setup.known) if fault.code in _MENDED]
    told = findings([*_left(taken), *open_], lambda _: Place(), every=options.verbose > 0)
    told += findings(_moved(taken, setup.layout), lambda _: Place(), every=options.verbose > 0, severity=Severity.INFO)
    if write and taken.fresh:
        with setup.locked():
            setup.save(taking.take(pages, setup.known, setup.load(), hosted=not remote).records)
    return Outcome(
        command="index",
        root=setup.root,
        findings=tuple(told),
        result={
            "records": len(taken.records),
            "added": len(taken.fresh),
            "moved": [record.filename for record in taken.moved],
            "left": [one.link.filename for one in taken.left],
            "faults": plain([*open_, *mended]),
        },
        body=_body(taken, pages, setup.layout, mended),
        summary=_summary(taken, setup.file, written=write),
        closing=() if write or not taken.fresh else ("nothing was written; --write does",),
    )


def _looked(
    taken: Taken, pages: Sequence[Page], source: str, web: Web, options: Options
) -> Mapping[tuple[str, ...], Seen]:
    """What the URLs give of the files that need a decision, by name and page."""
    unclear = {record.filename for record in taken.records if record.sha256 is None}
    digests: dict[tuple[str, ...], set[str | None]] = {}
    for record in taken.records:
        digests.setdefault((record.filename, *record.place), set()).add(record.sha256)
    unclear |= {key[0] for key, found in digests.items() if len(found) > 1}
    wanted = [link for page in pages for link in page.links if link.filename in unclear and "://" in link.url]
    wanted = [link for link in wanted if not link.url.startswith("file:")]
    with options.progress("files", len({link.url for link in wanted})) as step:
        seen = index_files.remote(wanted, source, web, {link.url for link in wanted}, step)
    return {(link.filename,): seen[link.url] for link in wanted}


def _with_truth(fault: Fault, records: Sequence[Record], seen: Mapping[tuple[str, ...], Seen]) -> Fault:
    found = seen.get((fault.filename,))
    if found is None or found.sha256 is None or fault.code not in ("PIN702", "PIN704"):
        return fault
    said = {record.sha256 for record in records if record.filename == fault.filename}
    none = "" if said & {found.sha256, None} else ", which is none of them"
    what = f"{fault.what}; its URL gives {found.sha256[:12]}{none}"
    return fault._replace(what=what, fix=judge.decide(fault.filename, [found.sha256]))


def _left(taken: Taken) -> list[Fault]:
    return [Fault("PIN718", one.page, one.link.filename, one.clause, "", one.link.line) for one in taken.left]


def _moved(taken: Taken, layout: Layout) -> list[Fault]:
    """A fault for each copy, on the page where it is new."""
    return [
        Fault("PIN719", f"{layout.folder(*record.place)}/{record.name.project}", record.filename,
              "came from the page of another variant, where it stays yanked")
        for record in taken.moved
    ]  # fmt: skip


def _body(taken: Taken, pages: Sequence[Page], layout: Layout, mended: Sequence[Fault]) -> tuple[Table | Text, ...]:
    """What the pages had wrong that is gone, and what pins.toml must say for the pages to stay where they are."""
    parts: tuple[Table | Text, ...] = ()
    if mended:
        parts += (table(mended)._replace(title="wrong with the pages, and mended in those that are built"),)
    wanted = taking.layouts(pages)
    if not taking.fits(layout, wanted, {record.variant for record in taken.records}):
        entries = ", ".join(f'{channel} = "{template}"' for channel, template in sorted(wanted.items()))
        text = f"[index]\nlayout = {{ {entries} }}\n"
        parts += (Text(text, title="for pins.toml, so that each page stays at its address"),)
    return parts


def _summary(taken: Taken, file: str, *, written: bool) -> str:
    if not taken.fresh:
        return f"{counted(len(taken.records), 'record')}, and nothing to add to them"
    what = f"{counted(len(taken.fresh), 'record')} more, {len(taken.records)} in all"
    return f"{what}, in {file}" if written else what
