"""What must be true of the records before pages are made of them, and the decisions that change them."""

from collections.abc import Iterable, Iterator, Sequence

from pinctl.finding import Severity
from pinctl.index import names
from pinctl.index.judge import Fault, Sight, decide, holes, namesakes
from pinctl.index.layout import FILES, Layout, Variants
from pinctl.index.records import Record
from pinctl.outcome import counted


def problems(found: Iterable[Record], layout: Layout, known: Variants) -> list[Fault]:
    """What is wrong with the records: by page and file."""
    listed = [record for record in found if record.withdrawn is None]
    known = known.with_pages(record.variant for record in listed)
    faults = [fault for record in listed for fault in _alone(record, layout, known)]
    faults += _twins(listed, layout)
    faults += namesakes(Sight(_page(record, layout), record.filename, record.sha256) for record in listed)
    faults += holes(listed, known, lambda hole: f"{layout.folder(hole.channel, hole.variant)}/{hole.project}")
    return faults


def _page(record: Record, layout: Layout) -> str:
    return f"{layout.folder(*record.place)}/{record.name.project}"


def _alone(record: Record, layout: Layout, known: Variants) -> Iterator[Fault]:
    page = _page(record, layout)
    if record.sha256 is None:
        fix = f"pinctl index decide {record.filename} --sha256 DIGEST --reason WHY"
        yield Fault("PIN704", page, record.filename, "has no digest, and no page may list it", fix)
    if clause := names.problem(record.filename):
        yield Fault("PIN709", page, record.filename, clause, "", form="name")
    if layout.channels and record.channel not in layout.channels:
        fix = f"write it to `channels` of [index], which has {', '.join(layout.channels)}"
        yield Fault("PIN716", page, record.filename, f"is of the channel {record.channel}, which is not known", fix)
    part = known.foreign(record.name.label, record.variant) if record.yanked is None else None
    if part is not None:
        home = known.home(part)
        what = f"has the label {part} of {home}, and would stand on the page of {record.variant}"
        yield Fault("PIN703", page, record.filename, what, f"give it the variant {home}")


def _twins(listed: Iterable[Record], layout: Layout) -> Iterator[Fault]:
    by_name: dict[tuple[str, str], list[Record]] = {}
    for record in listed:
        by_name.setdefault((layout.folder(*record.place), record.filename), []).append(record)
    for (folder, filename), twins in by_name.items():
        digests = sorted({record.sha256 or "none" for record in twins})
        page = f"{folder}/{names.known(filename).project}"
        if len(digests) > 1:
            shown = ", ".join(digest[:12] for digest in digests)
            what = f"has {counted(len(digests), 'digest')} ({shown}), and a page lists one"
            yield Fault("PIN702", page, filename, what, decide(filename))
        elif len(twins) > 1:
            what = f"stands {len(twins)} times in the records, and says something else each time"
            yield Fault("PIN705", page, filename, what, "leave one line", severity=Severity.ERROR)


def add(before: Sequence[Record], new: Record, layout: Layout) -> Record | Fault | None:
    """What adding `new` comes to: the record; None where it is there already; a fault where its name is taken by other
    bytes, be they listed, pruned or withdrawn, on whatever page."""
    page = _page(new, layout)
    same = [record for record in before if record.filename == new.filename]
    for record in same:
        if record.sha256 != new.sha256:
            where = "withdrawn" if record.withdrawn is not None else f"on {layout.folder(*record.place)}"
            what = f"was published with other bytes ({str(record.sha256)[:12]}, {where}; now {str(new.sha256)[:12]})"
            return Fault("PIN717", page, new.filename, what, "give the new build a version of its own")
    return None if any(record.place == new.place for record in same) else new


class Undecided(Exception):
    """A decision that cannot be carried out; the message says why."""


def settle(before: Sequence[Record], filename: str, sha256: str, reason: str) -> tuple[Record, ...]:
    """The records after the decision that the file of that name is the one with the digest `sha256`: the others are
    withdrawn, with the reason, and a record without a digest gets it. Raises Undecided."""
    open_ = [record for record in before if record.filename == filename and record.withdrawn is None]
    if not open_:
        raise Undecided(f"no record lists {filename}")
    blank = [record for record in open_ if record.sha256 is None]
    if not any(record.sha256 == sha256 for record in open_) and not blank:
        said = ", ".join(sorted({str(record.sha256)[:12] for record in open_}))
        raise Undecided(f"no record of {filename} has the digest {sha256[:12]}: {said}")
    right = {record.place for record in open_ if record.sha256 == sha256}
    return tuple(_settled(record, sha256, reason, right) if record in open_ else record for record in before)


def _settled(record: Record, sha256: str, reason: str, right: set[tuple[str, str]]) -> Record:
    if record.sha256 == sha256:
        return record if record.notes and record.notes[-1] == reason else record._replace(notes=(*record.notes, reason))
    if record.sha256 is None and record.place not in right:
        return record._replace(sha256=sha256, notes=(*record.notes, reason))
    return record._replace(withdrawn=reason) if record.place in right else record


def in_the_way(layout: Layout, found: Iterable[Record]) -> str | None:
    """The folder of a page that would lie in the folder of the files; None where all are apart."""
    folders = {layout.folder(*record.place) for record in found}
    return next((folder for folder in sorted(folders) if folder.split("/")[0] == FILES), None)
