"""`pinctl status`: one row a pin. Asks the servers how far each is from what it follows."""

from collections import Counter
from collections.abc import Sequence

from pinctl import drift
from pinctl.commands import generated, gitlinks, previous
from pinctl.commands.standing import Standing, standings
from pinctl.commands.workspace import Workspace
from pinctl.commits import is_full
from pinctl.finding import Severity
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table

_SHORT_ID = 10
_SHORT_DIGEST = len("sha256:") + _SHORT_ID
_COLUMNS = ("pin", "at", "version", "follows", "newest", "distance", "upstream", "sites", "state")

Row = dict[str, object]


def run(options: Options) -> Outcome:
    """A remote that does not answer is told, and its pin's distance is not known. For a stranger's checkout without a
    policy no remote is asked. Raises ManifestError, UsageError, ExternalError."""
    workspace = Workspace.open(options)
    errors = _errors(workspace)
    asked = not (options.is_untrusted and options.policy is None)
    known, findings = standings(workspace, options) if asked else ({}, [])
    rows = [_row(pin, errors[pin.name], known.get(pin.name)) for pin in workspace.manifest.pins.values()]
    others = len(workspace.manifest.sites) + len(workspace.manifest.generate)
    other: Row = {"name": "(no pin)", "sites": others, "state": _state(errors[None])}
    return Outcome(
        command="status",
        root=workspace.root,
        findings=tuple(findings),
        body=_table([*rows, other] if others else rows),
        summary="" if asked else "no remote was asked: the checkout is a stranger's, and no policy says which may be",
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


def _row(pin: Pin, errors: int, standing: Standing | None) -> Row:
    """What is not known of the remotes is null."""
    unknown = {"ahead": None, "behind": None}
    return {
        "name": pin.name,
        "at": _at(pin),
        "commit": pin.commit,
        "version": pin.version,
        "track": pin.track,
        "newest": standing and standing.newest,
        **(standing.distance._asdict() if standing else unknown),
        "fork": standing.fork._asdict() if standing and standing.fork else unknown,
        "sites": len(pin.sites) + len(pin.generate),
        "state": _state(errors, half=bool(pin.unresolved)),
    }


def _at(pin: Pin) -> str | None:
    """The shortest name of what is pinned; None where nothing is known."""
    short = pin.unresolved if isinstance(pin.unresolved, str) else None
    if pin.image:
        return (pin.digest or pin.image)[:_SHORT_DIGEST]
    return pin.tag or (pin.commit or short or "")[:_SHORT_ID] or pin.version


def _state(errors: int, *, half: bool = False) -> str:
    if errors:
        return f"drift ({errors})"
    return "unresolved" if half else "in sync"


def _table(rows: Sequence[Row]) -> Table:
    """The rows for a person; what stands in no row has no column."""
    table = [_cells(row) for row in rows]
    used = [n for n, name in enumerate(_COLUMNS) if name in ("pin", "at", "state") or any(r[n] != "-" for r in table)]
    return Table(tuple(_COLUMNS[n] for n in used), tuple(tuple(row[n] for n in used) for row in table))


def _cells(row: Row) -> tuple[str, ...]:
    fork = row.get("fork")
    upstream = _distance(fork) if isinstance(fork, dict) else "-"
    values = (row.get(key) for key in ("name", "at", "version", "track"))
    told = ("-" if value is None else str(value) for value in values)
    return (*told, _newest(row), _distance(row), upstream, str(row["sites"]), str(row["state"]))


def _newest(row: Row) -> str:
    """A tag, a version or a digest that is newer; that commits are is told by their number."""
    newest = str(row.get("newest") or "")
    if not row.get("behind") or is_full(newest):
        return "-"
    return newest[:_SHORT_DIGEST] if newest.startswith("sha256:") else newest


def _distance(row: Row) -> str:
    """`2 ahead, 3 behind`."""
    ahead, behind = row.get("ahead"), row.get("behind")
    if ahead is None:
        return "-"
    parts = ([f"{ahead} ahead"] if ahead else []) + ([f"{behind} behind"] if behind else [])
    return ", ".join(parts) or "none"
