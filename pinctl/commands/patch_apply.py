"""`pinctl patch apply`: the patches of a pin put into a folder, or taken back: all of them, or nothing is changed."""

import os
from collections.abc import Sequence

from pinctl.codes import finding
from pinctl.commands import patch_status, patches
from pinctl.commands.network import chosen
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import journal, patched
from pinctl.finding import Finding, Severity
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Diff, Outcome, Table, counted
from pinctl.patches import judging
from pinctl.patches.judging import Place, Seen
from pinctl.patches.making import make
from pinctl.patches.model import Blob, Files
from pinctl.patches.states import STUCK, State, changed, evaluate
from pinctl.patches.writing import write
from pinctl.plan import Exchange
from pinctl.upstream.telling import Telling

_DONE = {State.PRISTINE: "applied", State.APPLIED: "there already", State.OLDER: "exchanged for an older form"}
_UNDONE = {State.PRISTINE: "not there", State.APPLIED: "taken back", State.OLDER: "its older form taken back"}


def run(
    options: Options,
    name: str,
    *,
    folder: str | None = None,
    variant: str | None = None,
    reverse: bool = False,
    fuzz: int = 0,
    diff: bool = False,
    check: bool = False,
) -> Outcome:
    """Apply the patches of the pin `name` that are for `variant`, None: for every build, to `folder`: a checkout, or
    where a package is installed; without, to the folder that `pinctl fetch` makes. What is there already stays, so
    that a second run changes nothing. `reverse`: take them back. `fuzz`: so many of the outermost lines around a change
    may differ. `diff` shows, `check` only tests.

    Raises ManifestError, UsageError, WriteRefused, ExternalError; then nothing was written.
    """
    workspace = Workspace.open(options)
    pin = chosen(workspace.manifest.pins, [name])[0]
    _demand(workspace, pin, variant)
    root = _root(options, pin, folder)
    say = Telling(pin, workspace.manifest)
    series = patches.read(workspace.root, say)
    told = [*series.findings, *(() if diff or check else _recovered(root))]
    place = Place(f"the folder {os.path.basename(root)}", patched.read(root, series.paths), upstream=False)
    numbers = judging.chosen(pin, series.steps, place, variant)
    now = evaluate([series.steps[n] for n in numbers], place.files, fuzz=fuzz)
    seen = [Seen(n, pin.patches[n], standing) for n, standing in zip(numbers, now.standings, strict=True)]
    stuck = any(one.standing and one.standing.state in STUCK for one in seen)
    if stuck or series.findings:
        told += [f for f in judging.findings(pin, seen, place, say.tell) if f.severity is Severity.ERROR]
        return Outcome("patch apply", tuple(told), _result(root, seen, [], reverse), root=workspace.root)
    goal = now.bare if reverse else now.patched
    exchanges = _exchanges(place.files, goal)
    if not (diff or check):
        journal.exchange(root, exchanges)
    table = Table(("patch", "state"), tuple((one.patch.name, _word(one, reverse)) for one in seen))
    shown = Diff(os.fsdecode(write(make(place.files, goal))), exact=diff) if exchanges and (diff or check) else None
    return Outcome(
        command="patch apply",
        findings=tuple(told),
        root=workspace.root,
        body=shown if diff or check else table,
        summary="" if diff and exchanges else _summary(exchanges, root, written=not (diff or check)),
        result=_result(root, seen, exchanges, reverse),
        status=1 if check and exchanges else None,
    )


def _demand(workspace: Workspace, pin: Pin, variant: str | None) -> None:
    """Raises UsageError where there is nothing to apply, or no such variant."""
    if not pin.patches:
        raise UsageError(f"{pin.name} has no patches", hint=f"run: pinctl patch add {pin.name} FILE")
    if variant is not None and variant not in workspace.manifest.variants:
        known = ", ".join(workspace.manifest.variants) or "none"
        raise UsageError(f"there is no variant {variant!r}", hint=f"the variants are: {known}")


def _root(options: Options, pin: Pin, folder: str | None) -> str:
    try:
        return patch_status.directory(options, folder or pin.name)
    except UsageError as error:
        hint = None if folder else f"run: pinctl patch apply {pin.name} --in DIR; or first: pinctl fetch {pin.name}"
        raise UsageError(str(error), hint=hint) from None


def _recovered(root: str) -> list[Finding]:
    """What was made of an earlier run here that was interrupted."""
    done = journal.recover(root)
    if done is None:
        return []
    what = "finished" if done.finished else "undone"
    told = f"an earlier write was interrupted, and is now {what}: {', '.join(done.files)}"
    return [finding("PIN213", told, severity=Severity.INFO)]


def _exchanges(before: Files, after: Files) -> list[Exchange]:
    return [_exchange(path, *pair) for path, pair in changed(before, after).items()]


def _exchange(path: str, old: Blob | None, new: Blob | None) -> Exchange:
    modes = [side.executable if side else None for side in (old, new)]
    executable = modes[1] if modes[0] != modes[1] else None
    return Exchange(path, old.content if old else None, new.content if new else None, executable)


# --- what is told -------------------------------------------------------------------------------------------------


def _word(one: Seen, reverse: bool) -> str:
    words = _UNDONE if reverse else _DONE
    return words.get(one.standing.state, one.word) if one.standing else one.word


def _summary(exchanges: Sequence[Exchange], root: str, *, written: bool) -> str:
    if not exchanges:
        return "nothing to change: every patch is as asked"
    verb = "changed" if written else "would change"
    return f"{verb} {counted(len(exchanges), 'file')} in {root}: {', '.join(one.path for one in exchanges)}"


def _result(root: str, seen: Sequence[Seen], exchanges: Sequence[Exchange], reverse: bool) -> dict[str, object]:
    rows = [{**judging.data(one), "done": None if one.stuck else _word(one, reverse)} for one in seen]
    return {"folder": root, "patches": rows, "files": [one.path for one in exchanges]}
