"""Records that were published and records of the checkout, joined: nothing that either says is lost."""

from collections.abc import Iterable

from pinctl.index.records import Record

Key = tuple[str, str, str, str | None]


def _key(record: Record) -> Key:
    return record.filename, *record.place, record.sha256


def join(published: Iterable[Record], ours: Iterable[Record], *, seed: bool) -> list[Record]:
    """All records of both; but those of ours whose file an index holds itself, where the published one does not have
    it, only for a new index (`seed`). Of one file on one page that both have, the reason why it is yanked or withdrawn
    is ours, else the published one; what was published keeps its URL. Notes come together.

    So a decision that was made in either is in force, an old checkout takes none back, and the order in which two
    publishers come does not matter for whether a file is listed.
    """
    found = {_key(record): record for record in published}
    for record in ours:
        had = found.get(_key(record))
        if had is not None or seed or not record.hosted:
            found[_key(record)] = record if had is None else _both(had, record)
    return list(found.values())


def _both(published: Record, ours: Record) -> Record:
    return published._replace(
        yanked=ours.yanked if ours.yanked is not None else published.yanked,
        withdrawn=ours.withdrawn if ours.withdrawn is not None else published.withdrawn,
        notes=tuple(dict.fromkeys((*published.notes, *ours.notes))),
    )
