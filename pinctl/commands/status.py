"""`pinctl status`: one row a pin."""

from collections import Counter

from pinctl import drift
from pinctl.commands import generated, gitlinks, previous
from pinctl.commands.workspace import Workspace
from pinctl.finding import Severity
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table

_SHORT_ID = 10
_COLUMNS = {"pin": "name", "at": "at", "version": "version", "follows": "track", "sites": "sites", "state": "state"}
"""The heads of the columns, and what of a row stands in each."""

Row = dict[str, object]


def run(options: Options) -> Outcome:
    """Raises ManifestError, UsageError, ExternalError."""
    workspace = Workspace.open(options)
    errors = _errors(workspace)
    rows = [_row(pin, errors[pin.name]) for pin in workspace.manifest.pins.values()]
    others = len(workspace.manifest.sites) + len(workspace.manifest.generate)
    other: Row = {"name": "(no pin)", "sites": others, "state": _state(errors[None])}
    return Outcome(
        command="status",
        root=workspace.root,
        body=Table(tuple(_COLUMNS), tuple(map(_cells, [*rows, other] if others else rows))),
        result={"pins": rows, "other": {"sites": others, "state": other["state"]}},
    )


def _errors(workspace: Workspace) -> Counter[str | None]:
    """How many errors `check` has of each pin, and of None for what belongs to no single one."""
    seen = workspace.reconcile(previous.dropped(workspace))
    findings = [
        *seen.findings,
        *(drift.describe(o, workspace.manifest) for o in seen.differing),
        *gitlinks.disagreements(seen),
        *generated.examine(workspace).findings,
    ]
    return Counter(f.pin for f in findings if f.severity is Severity.ERROR)


def _row(pin: Pin, errors: int) -> Row:
    """`ahead`, `behind` and `fork` need the upstream repository, and are null offline."""
    return {
        "name": pin.name,
        "at": _at(pin),
        "commit": pin.commit,
        "version": pin.version,
        "track": pin.track,
        "ahead": None,
        "behind": None,
        "fork": {"ahead": None, "behind": None},
        "sites": len(pin.sites) + len(pin.generate),
        "state": _state(errors, half=bool(pin.unresolved)),
    }


def _at(pin: Pin) -> str | None:
    """The shortest name of what is pinned; None where nothing is known."""
    short = pin.unresolved if isinstance(pin.unresolved, str) else None
    return pin.tag or (pin.commit or short or "")[:_SHORT_ID] or pin.version or pin.digest


def _state(errors: int, *, half: bool = False) -> str:
    if errors:
        return f"drift ({errors})"
    return "unresolved" if half else "in sync"


def _cells(row: Row) -> tuple[str, ...]:
    return tuple("-" if row.get(key) is None else str(row[key]) for key in _COLUMNS.values())
