"""New values of pins.toml carried to every site, into the index and into a commit: all of it, or nothing."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pinctl.commands import generated, gitlinks, plans, previous, sync
from pinctl.commands.workspace import Workspace
from pinctl.errors import WriteRefused
from pinctl.external import commit
from pinctl.finding import Finding, Severity, failed
from pinctl.model import Mode
from pinctl.outcome import Outcome
from pinctl.plan import FilePlan, Plan
from pinctl.reconcile import Observation


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
    before: Workspace, after: Workspace, files: Sequence[FilePlan], names: Collection[str], how: How
) -> Landing:
    """What follows for the sites of the pins `names` from `files`, pins.toml as it becomes. Raises ExternalError."""
    seen = after.reconcile(previous.dropped(after, also=(before.manifest,)))
    seen.observations = [o for o in seen.observations if _belongs(o, names)]
    seen.findings = [found for found in seen.findings if found.pin in names]
    made = generated.examine(after, force=how.force, only=generated.changed(before, after))
    plan, wrong = plans.build(after, seen, made, files)
    told = [*before.told, *seen.findings, *made.refused, *wrong]
    told += [] if how.force else _undone(before, seen.differing, names)
    links = {o.site.file: str(o.wanted) for o in seen.differing if plans.is_for_git(o)}
    return Landing(before, after, plan, links, told, plans.left_to_git(after, seen), how)


def land(landing: Landing, findings: Sequence[Finding], message: str) -> Outcome:
    """Write what is planned, unless a finding of severity error, given or met, stands in its way.

    Raises WriteRefused, ExternalError.
    """
    root, plan, how = landing.before.root, landing.plan, landing.how
    told = [*landing.told, *findings]
    if failed(told):
        return Outcome("bump", tuple(told), {"files": []}, root=root)
    if how.commit and not how.diff:
        _demand_clean(root, plan, landing.links)
    outcome = plans.carry_out(
        landing.after, "bump", plan, diff=how.diff, check=False, allow_workflows=how.allow_workflows, findings=told,
        left=landing.left if how.diff else (),
    )  # fmt: skip
    return outcome if how.diff else _recorded(landing, outcome, message)


def _belongs(observation: Observation, names: Collection[str]) -> bool:
    """Whether a slot is one of the pins', or holds a fact of one."""
    return observation.site.pin in names or any(
        key[:1] == ("pins",) and key[1] in names for key in observation.expected.facts
    )


def _undone(before: Workspace, differing: Sequence[Observation], names: Collection[str]) -> list[Finding]:
    """Sites that somebody changed later than their pin, and to another value than the one that they would get."""
    still = {(o.site.key, o.part) for o in differing}
    drifted = [
        o
        for o in before.reconcile().differing
        if _belongs(o, names) and o.site.mode is not Mode.CONTAINS and (o.site.key, o.part) in still
    ]
    return sync.moved(before, drifted) if drifted else []


def _demand_clean(root: str, plan: Plan, links: Mapping[str, str]) -> None:
    """Raises WriteRefused where a file to be committed holds other changes, which would go into the commit."""
    changed = commit.dirty(root, [*(file.path for file in plan.pending), *links])
    if changed:
        raise WriteRefused(
            f"{', '.join(changed)}: changed since HEAD, and a commit would take those changes, too",
            hint="commit or stash them first; or run without --commit",
        )


def _recorded(landing: Landing, outcome: Outcome, message: str) -> Outcome:
    """The outcome with what was done in git: the links staged, or all of it committed."""
    after, plan, links, how = landing.after, landing.plan, landing.links, landing.how
    result = {**outcome.result, "links": dict(links)}
    summary = outcome.summary
    if how.commit and (plan.pending or links):
        paths = [file.path for file in plan.pending]
        made = commit.commit(after.root, paths, message, links=links, branch=how.branch)
        result["commit"] = made
        summary += f"; committed as {made[:10]}" + (f" on {how.branch}" if how.branch else "")
    elif links:
        commit.stage_links(after.root, links)
        summary += f"; staged {', '.join(links)}"
    return outcome._replace(findings=(*outcome.findings, *_stale(after, links)), result=result, summary=summary)


def _stale(after: Workspace, links: Mapping[str, str]) -> list[Finding]:
    """The submodules that are still checked out at the commit of before."""
    if not links:
        return []
    again = Workspace(root=after.root, manifest=after.manifest)
    found = gitlinks.disagreements(again.reconcile())
    return [one._replace(severity=Severity.WARNING) for one in found if one.file in links]
