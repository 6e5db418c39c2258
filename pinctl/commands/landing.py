"""New values of pins.toml carried to every site, into the index and into a commit: all of it, or nothing."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pinctl.commands import generated, gitlinks, locked, plans, previous, sync
from pinctl.commands.locked import Locks
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError, PinctlError, WriteRefused
from pinctl.external import commit, git, journal
from pinctl.finding import Finding, Severity, failed
from pinctl.model import Mode
from pinctl.outcome import Outcome
from pinctl.plan import FilePlan, Plan
from pinctl.reconcile import Observation
from pinctl.upstream.telling import key_of


class How(NamedTuple):
    """How a bump is written. `diff`: it is only shown; `commit`: and committed, on the new `branch` where one is named;
    `force`: over sites that changed later than their pin."""

    diff: bool = False
    commit: bool = False
    branch: str | None = None
    force: bool = False
    allow_workflows: bool = False


class Landing(NamedTuple):
    """What is to be written, made and not yet written: `told` says what stands in its way, `links` are submodules of
    the consumer with the commits that they become."""

    before: Workspace
    after: Workspace
    plan: Plan
    links: Mapping[str, str]
    told: Sequence[Finding]
    left: Sequence[Finding]
    how: How

    @property
    def sources(self) -> dict[str, bytes]:
        """The files that change, by path, as they become."""
        return {file.path: file.after for file in self.plan.files}


def planned(
    before: Workspace,
    after: Workspace,
    files: Sequence[FilePlan],
    names: Collection[str],
    how: How,
    locks: Locks | None = None,
) -> Landing:
    """What follows for the sites of the pins `names` from `files`, pins.toml as it becomes, and for lines that hold
    digests of files from `locks`, the digests that are known. Raises ExternalError."""
    seen = after.reconcile(previous.dropped(after, also=(before.manifest,)))
    seen.observations = locked.renewed(seen, locks or {})
    seen.observations = [o for o in seen.observations if _belongs(o, names)]
    seen.findings = [found for found in seen.findings if found.pin in names]
    made = generated.examine(after, force=how.force, only=generated.changed(before, after))
    plan, wrong = plans.build(after, seen, made, files)
    told = [*before.told, *seen.findings, *made.refused, *wrong]
    told += [] if how.force else _undone(before, seen.differing, names)
    links = {o.site.file: str(o.wanted) for o in seen.differing if plans.is_for_git(o)}
    return Landing(before, after, plan, links, told, plans.left_to_git(after, seen), how)


def land(landing: Landing, findings: Sequence[Finding], message: str) -> Outcome:
    """Write what is planned, unless a finding of severity error, given or met, stands in its way: the files, the
    index and the commit, or nothing.

    Raises WriteRefused, ExternalError.
    """
    plan, how = landing.plan, landing.how
    told = [*landing.told, *findings]
    if failed(told):
        return Outcome("bump", tuple(told), {"files": []}, root=landing.before.root)
    if how.diff:
        return plans.told(landing.after, "bump", plan, diff=True, findings=told, left=landing.left)
    _demand_git(landing)
    made = _written(landing, message)
    return _recorded(landing, plans.told(landing.after, "bump", plan, findings=told), made)


def _belongs(observation: Observation, names: Collection[str]) -> bool:
    """Whether a slot is one of the pins', or holds a fact of one."""
    keys = set(map(key_of, names))
    return observation.site.pin in names or any(key[:2] in keys for key in observation.expected.facts)


def _undone(before: Workspace, differing: Sequence[Observation], names: Collection[str]) -> list[Finding]:
    """Sites that somebody changed later than their pin, and to another value than the one that they would get."""
    still = {(o.site.key, o.part) for o in differing}
    drifted = [
        o
        for o in before.reconcile().differing
        if _belongs(o, names) and o.site.mode is not Mode.CONTAINS and (o.site.key, o.part) in still
    ]
    return sync.moved(before, drifted) if drifted else []


def _demand_git(landing: Landing) -> None:
    """Raises WriteRefused where a file to be committed holds other changes, which would go into the commit, and
    ExternalError for what else git would refuse later."""
    root, links, how = landing.before.root, landing.links, landing.how
    paths = [file.path for file in landing.plan.pending]
    if how.commit and (paths or links):
        if changed := commit.dirty(root, [*paths, *links]):
            raise WriteRefused(
                f"{', '.join(changed)}: changed since HEAD, and a commit would take those changes, too",
                hint="commit or stash them first; or run without --commit",
            )
        commit.demand(root, paths, links, how.branch)
    elif links:
        commit.demand_stageable(root, links)


def _written(landing: Landing, message: str) -> str | None:
    """Write the files, and stage the links or commit it all: the id of the commit that was made, if one was.

    What fails before there is a commit, or is broken off by ^C, leaves the files as they were. Raises WriteRefused,
    ExternalError.
    """
    root, plan, links, how = landing.before.root, landing.plan, landing.links, landing.how
    paths = [file.path for file in plan.pending]
    head = git.head(root) if how.commit else None
    written = journal.write(root, plan, allow_workflows=how.allow_workflows)
    try:
        if how.commit and (paths or links):
            return commit.commit(root, paths, message, links=links, branch=how.branch)
        if links:
            commit.stage_links(root, links)
        return None
    except BaseException as error:
        if how.commit and git.head(root) != head:  # it came while a hook ran after the commit
            raise
        _take_back(written, error)
        if isinstance(error, PinctlError):
            raise ExternalError(f"nothing was changed: {error}", hint=error.hint) from error
        raise


def _take_back(written: journal.Written, cause: BaseException) -> None:
    """Put the files back. Raises ExternalError where some are left."""
    why = str(cause) or "interrupted"
    try:
        left = journal.take_back(written)
    except (PinctlError, KeyboardInterrupt) as error:
        message = f"the files were written, and cannot be put back ({error}), though git did not follow: {why}"
        raise ExternalError(message, hint="when that is mended, run: pinctl sync   (undoes it)") from cause
    if left:
        message = f"all was put back but what was changed meanwhile, {', '.join(left)}: git did not follow: {why}"
        hint = f"look at it, and put it away: git stash push -u -- {shlex.join(left)}"
        raise ExternalError(message, hint=hint) from cause


def _recorded(landing: Landing, outcome: Outcome, made: str | None) -> Outcome:
    """The outcome with what was done in git: the links staged, or all of it committed as `made`."""
    links, how = landing.links, landing.how
    result = {**outcome.result, "links": dict(links)}
    summary = outcome.summary
    if made:
        result["commit"] = made
        summary += f"; committed as {made[:10]}" + (f" on {how.branch}" if how.branch else "")
    elif links:
        summary += f"; staged {', '.join(links)}"
    findings = (*outcome.findings, *_stale(landing.after, links))
    return outcome._replace(findings=findings, result=result, summary=summary)


def _stale(after: Workspace, links: Mapping[str, str]) -> list[Finding]:
    """The submodules that are still checked out at the commit of before."""
    if not links:
        return []
    again = Workspace(root=after.root, manifest=after.manifest)
    found = gitlinks.disagreements(again.reconcile())
    return [one._replace(severity=Severity.WARNING) for one in found if one.file in links]
