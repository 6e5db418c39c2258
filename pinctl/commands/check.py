"""`pinctl check`: every site against pins.toml. Offline; writes nothing."""

from collections.abc import Sequence

from pinctl import drift, manifest
from pinctl.commands.workspace import Workspace, interrupted
from pinctl.compare import Verdict
from pinctl.drift import Newer
from pinctl.errors import ExternalError
from pinctl.finding import Finding, Severity
from pinctl.model import KeyPath, Mode
from pinctl.options import Options
from pinctl.outcome import Outcome, counted
from pinctl.reconcile import Observation, Reconciliation


def run(options: Options, *, since: str | None = None, unguarded: bool = False) -> Outcome:
    """Raises ManifestError, UsageError, ExternalError."""
    workspace = Workspace.open(options)
    seen = workspace.reconcile(_dropped(workspace, since))
    made = _generated(workspace)
    findings = [*interrupted(workspace.root), *seen.findings, *drifts(workspace, seen.differing), *made]
    findings += _warnings(workspace, seen, options, unguarded=unguarded)
    if since is not None:
        from pinctl.commands import previous

        findings = previous.only_new(workspace, findings, since)
    return Outcome(
        command="check",
        root=workspace.root,
        findings=tuple(_accepted(workspace, findings, searched=unguarded)),
        summary=_summary(workspace, seen, len(made)),
        result={"sites": len(workspace.manifest.all_sites), "pins": len(workspace.manifest.pins)},
    )


def drifts(workspace: Workspace, differing: Sequence[Observation]) -> list[Finding]:
    """One finding for each slot that does not hold what it should."""
    moved = _movements(workspace, differing) if differing else {}
    found = []
    for observation in differing:
        keys = drift.origin_keys(observation)
        where = manifest.locate(workspace.manifest, keys[0]) if keys else None
        found.append(drift.describe(observation, workspace.manifest, moved.get(id(observation), Newer.UNKNOWN), where))
    return found


# What follows imports only what a manifest asks for: a clean check of plain sites starts neither git nor jinja2.


def _dropped(workspace: Workspace, since: str | None) -> dict[KeyPath, tuple[str, ...]]:
    if since is None and not any(site.mode is Mode.CONTAINS for site in workspace.manifest.all_sites):
        return {}
    from pinctl.commands import previous

    return previous.dropped(workspace, since)


def _generated(workspace: Workspace) -> list[Finding]:
    if not workspace.manifest.all_generated:
        return []
    from pinctl.commands import generated

    return generated.examine(workspace).findings


def _movements(workspace: Workspace, differing: Sequence[Observation]) -> dict[int, Newer]:
    """Which side of each drift is newer: advice alone, so a git that fails does not keep the drift from being told."""
    from pinctl.commands.movement import movements

    try:
        return movements(workspace, differing)
    except ExternalError:
        return {}


def _warnings(workspace: Workspace, seen: Reconciliation, options: Options, *, unguarded: bool) -> list[Finding]:
    """What is to be told beside drift."""
    found: list[Finding] = []
    if any(b"GIT_SHALLOW" in document.source for document in seen.documents.values()):
        from pinctl import shallow

        found += shallow.findings(seen)
    if any(site.selector == "gitlink" for site in workspace.manifest.all_sites):
        from pinctl.commands import gitlinks

        found += gitlinks.disagreements(seen)
    if any(pin.needs or pin.nested for pin in workspace.manifest.pins.values()):
        from pinctl.commands import needing

        found += needing.findings(workspace.manifest)
    if any(pin.patches for pin in workspace.manifest.pins.values()):
        from pinctl.commands import patch_check

        found += patch_check.findings(workspace, options)
    # Unresolved pins are counted in the summary; to name them each time would bury what is new.
    found += [f for f in manifest.remarks(workspace.manifest) if options.verbose or f.severity is not Severity.INFO]
    if unguarded:
        from pinctl.commands import unguarded as search

        found += search.findings(workspace, seen, options)
    return found


def _accepted(workspace: Workspace, findings: list[Finding], *, searched: bool) -> list[Finding]:
    if not (workspace.manifest.allow or any(pin.allow for pin in workspace.manifest.pins.values())):
        return findings
    from pinctl import waivers

    return waivers.apply(findings, workspace.manifest, searched=searched)


def _summary(workspace: Workspace, seen: Reconciliation, stale: int) -> str:
    """How many sites agree; of those that do not, nothing is told but where all of them are known since a while."""
    pins, sites, made = workspace.manifest.pins, workspace.manifest.all_sites, workspace.manifest.all_generated
    differing = {o.site.key for o in seen.observations if o.verdict is Verdict.DIFFERENT}
    agreeing = len({o.site.key for o in seen.observations} - differing) + len(made) - stale
    total = len(sites) + len(made)
    told = f"{agreeing} of {total} sites" if agreeing < total else counted(total, "site")
    half = sum(bool(pin.unresolved) for pin in pins.values())
    told += f" of {counted(len(pins), 'pin')} agree with {workspace.manifest.path}"
    return f"{told}; {counted(half, 'pin')} unresolved" if half else told
