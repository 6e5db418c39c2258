"""`pinctl adopt FILE`: a site file's values into pins.toml, and from there into the other sites."""

import os
from collections.abc import Iterator, Sequence

from pinctl import adoption, manifest
from pinctl.adoption import Adoption
from pinctl.codes import finding
from pinctl.commands import generated, gitlinks, plans
from pinctl.commands.edits import edited
from pinctl.commands.movement import movements
from pinctl.commands.workspace import Workspace
from pinctl.drift import Newer
from pinctl.errors import UsageError
from pinctl.finding import Finding, Severity, failed
from pinctl.model import Mode
from pinctl.options import Options
from pinctl.outcome import Outcome
from pinctl.paths import plain
from pinctl.reconcile import Reconciliation, about


def run(
    options: Options,
    *,
    file: str,
    diff: bool = False,
    check: bool = False,
    force: bool = False,
    allow_workflows: bool = False,
) -> Outcome:
    """Refuses, with nothing written, to take back a pin that changed last unless `force`.

    Raises ManifestError, UsageError, WriteRefused, ExternalError.
    """
    workspace = Workspace.open_to_write(options, dry=diff or check)
    path = _site_file(workspace, options, file)
    seen = workspace.reconcile()
    taken = adoption.adopt(path, seen.observations, workspace.manifest)
    told = [f for f in (*seen.findings, *gitlinks.disagreements(seen)) if f.file == path] + taken.findings
    told += [] if force else _newer_pins(workspace, seen, path)
    if failed(told):
        return _refused(workspace, told)
    adopted, pins = edited(workspace, taken.changes)
    mended = adopted.reconcile()
    made = generated.examine(adopted, only=generated.changed(workspace, adopted))
    told += [*taken.left(mended.observations), *made.refused]
    # What drifted for other reasons is for `sync`.
    mended.observations = [o for o in mended.observations if taken.changes.keys() & set(o.expected.facts)]
    plan, wrong = plans.build(adopted, mended, made, pins)
    if failed([*told, *wrong]):
        return _refused(workspace, [*told, *wrong])
    return plans.carry_out(
        adopted,
        "adopt",
        plan,
        diff=diff,
        check=check,
        allow_workflows=allow_workflows,
        findings=[*workspace.told, *told, *_half_known(adopted, taken)],
        left=plans.left_to_git(adopted, mended),
    )


def _newer_pins(workspace: Workspace, seen: Reconciliation, path: str) -> list[Finding]:
    """Sites in `path` that changed earlier than their pin: taking them over would undo a bump."""
    differing = [o for o in seen.differing if o.site.file == path and o.site.mode is not Mode.CONTAINS]
    newer = movements(workspace, differing) if differing else {}
    hint = "run: pinctl sync, or: pinctl adopt --force (takes the site's value back)"
    return [
        about(o, "PIN227", f"the pin changed later than `{o.site.selector}`", hint)
        for o in differing
        if newer.get(id(o)) is Newer.PIN
    ]


def _refused(workspace: Workspace, findings: Sequence[Finding]) -> Outcome:
    return Outcome(command="adopt", root=workspace.root, findings=tuple(findings), result={"files": []})


def _site_file(workspace: Workspace, options: Options, file: str) -> str:
    """`file` as the sites name it: as seen from where we stand, else from the root. Raises UsageError where no site is
    in it."""
    folder, name = os.path.split(os.path.join(os.path.realpath(options.directory), file))
    path = os.path.relpath(os.path.join(os.path.realpath(folder), name), workspace.root).replace(os.sep, "/")
    known = sorted({site.file for site in workspace.manifest.all_sites})
    for candidate in (path, plain(file)):
        if candidate in known:
            return candidate
    if path in {item.file for item in workspace.manifest.all_generated}:
        raise UsageError(f"{file} is generated", hint="change pins.toml or the recipe, then run: pinctl sync")
    raise UsageError(f"{file}: no site of pins.toml is in that file", hint=f"there are sites in: {', '.join(known)}")


def _half_known(adopted: Workspace, taken: Adoption) -> Iterator[Finding]:
    """What no offline step can complete: the commit of an adopted tag, or the tag of an adopted commit."""
    for name, pin in adopted.manifest.pins.items():
        moved = {fact for fact in ("commit", "tag") if ("pins", name, fact) in taken.changes}
        if len(moved) != 1 or not (pin.commit and pin.tag):
            continue
        new, old = ("tag", "commit") if "tag" in moved else ("commit", "tag")
        at = manifest.locate(adopted.manifest, ("pins", name, old))
        yield finding(
            "PIN121",
            f"the {new} is new, and the {old} is that of before",
            file=at.file,
            span=at.span,
            pin=name,
            hint=f"run: pinctl bump {name} " + ("--resolve" if new == "tag" else f"--to {pin.commit}"),
            severity=Severity.WARNING,
        )
