"""`pinctl sync`: write what pins.toml says to every site, all files or none."""

from collections.abc import Mapping, Sequence

from pinctl import drift
from pinctl.codes import finding
from pinctl.commands import generated, plans, previous
from pinctl.commands.movement import movements
from pinctl.commands.workspace import Workspace
from pinctl.drift import Newer
from pinctl.errors import UsageError
from pinctl.external import git
from pinctl.finding import Finding, Severity, failed
from pinctl.model import Mode
from pinctl.options import Options
from pinctl.outcome import Outcome
from pinctl.reconcile import Observation, about


def run(
    options: Options,
    *,
    pins: Sequence[str] = (),
    diff: bool = False,
    check: bool = False,
    force: bool = False,
    allow_workflows: bool = False,
    since: str | None = None,
) -> Outcome:
    """Write all sites, or those of `pins`. Refuses, with nothing written, what a person changed last unless `force`.

    From lists that hold more than ours goes what pins.toml dropped since HEAD, or since the revision `since`.

    Raises ManifestError, UsageError, WriteRefused, ExternalError.
    """
    workspace = Workspace.open_to_write(options, dry=diff or check)
    _known(workspace, pins)
    seen = workspace.reconcile(previous.dropped(workspace, since))
    items = [item for item in workspace.manifest.all_generated if not pins or item.pin in pins]
    made = generated.examine(workspace, force=force, only=items)
    if pins:
        seen.observations = [o for o in seen.observations if o.site.pin in pins]
        seen.findings = [f for f in seen.findings if f.pin in pins]
    plan, wrong = plans.build(workspace, seen, made)
    refused = [
        *workspace.told,
        *seen.findings,
        *made.refused,
        *wrong,
        *([] if force else moved(workspace, seen.differing)),
    ]
    if failed(refused):
        return Outcome(command="sync", root=workspace.root, findings=tuple(refused), result={"files": []})
    return plans.carry_out(
        workspace,
        "sync",
        plan,
        diff=diff,
        check=check,
        allow_workflows=allow_workflows,
        findings=refused,
        left=plans.left_to_git(workspace, seen),
    )


def _known(workspace: Workspace, pins: Sequence[str]) -> None:
    """Raises UsageError for a name that no pin has."""
    for name in pins:
        if name not in workspace.manifest.pins:
            raise UsageError(f"there is no pin {name!r}", hint=f"the pins are: {', '.join(workspace.manifest.pins)}")


def moved(workspace: Workspace, differing: Sequence[Observation]) -> list[Finding]:
    """Sites that changed later than their pin: writing the pin's old value back would undo a person's work.

    Not a list that holds more than ours: what others put there stays.
    """
    overwritten = [o for o in differing if o.site.mode is not Mode.CONTAINS]
    newer = movements(workspace, overwritten) if overwritten else {}
    refused = [o for o in overwritten if newer.get(id(o)) in (Newer.SITE, Newer.BORN)]
    return [*(_refusal(o, workspace, newer[id(o)]) for o in refused), *_untold(workspace, newer)]


def _untold(workspace: Workspace, newer: Mapping[int, Newer]) -> list[Finding]:
    """A clone without its history cannot tell, and must say so."""
    if Newer.UNKNOWN not in newer.values() or not git.is_shallow(workspace.root):
        return []
    what = "this clone is shallow, so a site that changed later than its pin is not told from one that did not"
    return [finding("PIN212", what, severity=Severity.WARNING, hint="run: git fetch --unshallow")]


def _refusal(observation: Observation, workspace: Workspace, newer: Newer) -> Finding:
    why = "changed later than its pin" if newer is Newer.SITE else "has never agreed with its pin, which is new"
    hint = drift.describe(observation, workspace.manifest, newer).hint
    return about(observation, "PIN212", f"`{observation.site.selector}` {why}", hint)
