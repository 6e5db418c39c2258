"""From differences to a plan, and from a plan to files: shared by `sync` and `adopt`."""

import os
from collections.abc import Mapping, Sequence

from pinctl import drift
from pinctl.commands import generated
from pinctl.commands.workspace import Workspace
from pinctl.compare import Verdict
from pinctl.external import journal
from pinctl.external.gitcli import toplevel
from pinctl.finding import Finding, Severity
from pinctl.outcome import Diff, Outcome
from pinctl.plan import Edit, FilePlan, Plan, apply
from pinctl.reconcile import Content, Observation, Reconciliation, about, reconcile


def build(
    workspace: Workspace, seen: Reconciliation, made: generated.Generation, extra: Sequence[FilePlan] = ()
) -> tuple[Plan, list[Finding]]:
    """The plan that mends every difference, and what stands in its way: slots that cannot be written, and a file that
    would not read back as asked."""
    edits: dict[str, list[Edit]] = {file: list(e) for file, e in seen.edits().items() if e}
    for file, more in made.edits.items():
        edits.setdefault(file, []).extend(more)
    files = [_edited(workspace, file, changes) for file, changes in edits.items()]
    plan = Plan(files=sorted([*files, *made.files, *extra], key=lambda f: f.path))
    known = {_essence(finding) for finding in seen.findings}
    misread = [finding for finding in _misread(workspace, plan) if _essence(finding) not in known]
    return plan, [*_unwritable(workspace, seen), *misread]


def _edited(workspace: Workspace, file: str, edits: Sequence[Edit]) -> FilePlan:
    before = workspace.sources[file]
    assert isinstance(before, bytes)  # noqa: S101 - only readable files have edits
    return FilePlan(path=file, before=before, after=apply(before, edits))


def _essence(finding: Finding) -> tuple[str, str | None, str]:
    """What a finding says, wherever an edit has moved it."""
    return finding.code, finding.file, finding.message


def _unwritable(workspace: Workspace, seen: Reconciliation) -> list[Finding]:
    return [
        about(
            o,
            "PIN218",
            f"`{o.site.selector}` cannot be written: {o.unwritable or 'the pin is unresolved'}",
            "edit it by hand" if o.unwritable else drift.describe(o, workspace.manifest).hint,
            values=False,
        )
        for o in seen.differing
        if not o.edits and o.verdict is Verdict.DIFFERENT and not is_for_git(o)
    ]


def left_to_git(workspace: Workspace, seen: Reconciliation) -> list[Finding]:
    """What differs and only git writes, which is told: the files are in order all the same."""
    return [
        drift.describe(o, workspace.manifest)._replace(severity=Severity.WARNING)
        for o in seen.differing
        if is_for_git(o)
    ]


def is_for_git(observation: Observation) -> bool:
    """Whether a slot is a gitlink."""
    return observation.unwritable is not None and observation.unwritable.mend is not None


def _misread(workspace: Workspace, plan: Plan) -> list[Finding]:
    """Read the planned files back as `check` would: what was written must be what is read."""
    after: dict[str, Content] = {**workspace.sources, **{f.path: f.after for f in plan.pending}}
    touched = {f.path for f in plan.pending}
    only = [site for site in workspace.manifest.all_sites if site.file in touched]
    seen = reconcile(workspace.manifest, after, only=only)
    wrong = [o for o in seen.differing if o.edits]
    return [
        *(f for f in seen.findings if f.severity is Severity.ERROR),
        *(about(o, "PIN218", f"`{o.site.selector}` would not read back as written", values=False) for o in wrong),
    ]


def carry_out(
    workspace: Workspace,
    command: str,
    plan: Plan,
    *,
    diff: bool,
    check: bool,
    allow_workflows: bool,
    findings: Sequence[Finding] = (),
    left: Sequence[Finding] = (),
) -> Outcome:
    """Show, test or write the plan; `left` is what then still differs.

    A diff stands alone on the output. Raises WriteRefused and ExternalError, with nothing written.
    """
    if not (diff or check):
        journal.write(workspace.root, plan, allow_workflows=allow_workflows)
    return told(workspace, command, plan, diff=diff, check=check, findings=findings, left=left)


def told(
    workspace: Workspace,
    command: str,
    plan: Plan,
    *,
    diff: bool = False,
    check: bool = False,
    findings: Sequence[Finding] = (),
    left: Sequence[Finding] = (),
) -> Outcome:
    """What is said of a plan that was shown, tested or, with neither, written."""
    pending = plan.pending
    return Outcome(
        command=command,
        root=workspace.root,
        findings=(*findings, *left),
        summary="" if diff and not check else _summary(plan, written=not (diff or check)),
        body=Diff(plan.diff(_below(workspace.root)), exact=diff) if pending and (diff or check) else None,
        status=1 if check and (pending or left) else None,
        result=_result(plan),
    )


def _below(root: str) -> str:
    """The way from the top of the git repository to `root`: "" or "engine/"."""
    top = toplevel(root)
    return "" if top in (None, root) else os.path.relpath(root, top).replace(os.sep, "/") + "/"


def _result(plan: Plan) -> Mapping[str, object]:
    return {"files": [{"file": f.path, "changed": f.changed} for f in plan.files]}


def _summary(plan: Plan, *, written: bool) -> str:
    names = [f.path for f in plan.pending]
    if not names:
        return "nothing to change"
    verb = "changed" if written else "would change"
    return f"{verb} {len(names)} file{'s' * (len(names) > 1)}: {', '.join(names)}"
