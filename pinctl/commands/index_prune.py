"""`pinctl index prune`: files that are older than their channel keeps them, but for those that a pin uses."""

from datetime import UTC, date, datetime

from pinctl.commands import index_setup
from pinctl.errors import UsageError
from pinctl.index import retention
from pinctl.index.retention import Pruning
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted


def run(options: Options, *, write: bool = False, at: str | None = None, file: str | None = None) -> Outcome:
    """What is past its time on the day `at` (YYYY-MM-DD; today in UTC), withdrawn in the records with `write`. The next
    build lists it no more, and drops what the index itself holds.

    Raises UsageError, ManifestError, ExternalError.
    """
    setup = index_setup.setup(options, file)
    if not setup.layout.retention:
        raise UsageError("no channel has a time", hint="give [index] of pins.toml a retention: { nightly = 30 } (days)")
    today = _day(at)
    found = retention.prune(setup.load(), setup.layout, setup.manifest, today)
    if write and found.gone:
        with setup.locked():
            now = setup.load()
            found = retention.prune(now, setup.layout, setup.manifest, today)
            setup.save(retention.withdrawn(now, found.gone, today))
    return Outcome(
        command="index",
        root=setup.root,
        result={
            "gone": [record.filename for record in found.gone],
            "kept": [{"filename": record.filename, "pin": user} for record, user in found.kept],
            "undated": [record.filename for record in found.undated],
            "written": write and bool(found.gone),
        },
        body=_table(found),
        summary=_summary(found, today, written=write),
        closing=() if write or not found.gone else ("nothing was written; --write does",),
    )


def _day(at: str | None) -> date:
    if at is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(at)
    except ValueError:
        raise UsageError(f"--at {at}: a day as 2026-07-01 is taken") from None


def _table(found: Pruning) -> Table | None:
    rows = [(record.filename, record.channel, record.variant, "withdrawn") for record in found.gone]
    rows += [(record.filename, record.channel, record.variant, f"kept: {user} uses it") for record, user in found.kept]
    rows += [(record.filename, record.channel, record.variant, "kept: of unknown age") for record in found.undated]
    return Table(("file", "channel", "variant", "what becomes of it"), tuple(rows)) if rows else None


def _summary(found: Pruning, today: date, *, written: bool) -> str:
    what = "withdrawn" if written else "to be withdrawn"
    kept = f", {len(found.kept)} kept since pins use them" if found.kept else ""
    return f"{counted(len(found.gone), 'file')} {what} as of {today.isoformat()}{kept}"
