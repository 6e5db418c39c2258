"""`pinctl contract`: the consumer's calls against what a pin's tree offers. Writes only what it is asked to."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from pinctl.commands import contracting, history, network
from pinctl.commands.contracting import First, Sides
from pinctl.commands.network import Asking, chosen
from pinctl.commands.surface import resolved
from pinctl.commands.workspace import Workspace
from pinctl.contract import requires
from pinctl.contract.breaks import Lookup, accepting
from pinctl.contract.breaks.accepting import Known
from pinctl.contract.breaks.judgement import Judgement
from pinctl.contract.requires import Requirement
from pinctl.errors import UsageError
from pinctl.external.files import Missing, Unreadable, read_site
from pinctl.external.gitcli import toplevel
from pinctl.model import Pin
from pinctl.options import Options, Step
from pinctl.outcome import Outcome
from pinctl.plan import FilePlan, Plan
from pinctl.upstream.forest import Forest


class Asked(NamedTuple):
    """`write`: put what the consumer uses under `requires`; `lint`: also tell what would fail in silence the next time.
    `baseline` is a file of known breaks, which `write_baseline` makes anew."""

    write: bool = False
    lint: bool = False
    baseline: str | None = None
    write_baseline: bool = False


def run(
    options: Options, name: str, commits: Sequence[str] = (), asked: Asked | None = None, *,
    allow_transport: Sequence[str] = (),
) -> Outcome:  # fmt: skip
    """What breaks when the pin `name` goes from the first of `commits` to the second. With one, it goes there from the
    pinned commit; with none, from the one that is pinned at HEAD to the pinned one.

    Raises ManifestError, UsageError, ExternalError, WriteRefused.
    """
    asked = asked or Asked()
    writes = asked.write or asked.write_baseline
    workspace = Workspace.open_to_write(options, dry=False) if writes else Workspace.open(options)
    (pin,) = chosen(workspace.manifest.pins, [name])
    _demand(pin, commits)
    baseline = _baseline(workspace, options, asked)
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    with ExitStack() as stack, options.progress("contract", 3) as step:
        asking = Asking(profile, stack, options.offline)
        before, after = _sides(workspace, pin, commits, asking)
        sides = _trees(before, after, asking, step)
        ask = partial(contracting.judge, workspace, after, sides, lint=asked.lint, first=_first(after, asking))
        judged = ask(known=baseline.known(name) if baseline and not asked.write_baseline else frozenset())
        files = _written(workspace, pin, judged) if asked.write else []
        if baseline and asked.write_baseline:
            baseline = baseline.of(judged, name)
            judged = ask(known=baseline.known(name))
            files.append(FilePlan(baseline.path, baseline.before, baseline.after))
        step(1)
    return _outcome(workspace, judged, Plan(sorted(files, key=lambda file: file.path)))


def _first(pin: Pin, asking: Asking) -> First:
    """Finds the first commit that meets a requirement; loaded where one is not met."""

    def first(requirement: Requirement) -> str | None:
        from pinctl.commands import firsts

        return firsts.first(pin, requirement, asking)

    return first


def _demand(pin: Pin, commits: Sequence[str]) -> None:
    """Raises UsageError where there is nothing to compare."""
    if pin.repo is None:
        raise UsageError(f"{pin.name} has no git repository")
    if len(commits) > 2:
        raise UsageError("at most two commits are compared, A and B")
    if len(commits) < 2 and (pin.commit is None or pin.unresolved):
        raise UsageError(f"the commit of {pin.name} is not known", hint=f"run: pinctl bump {pin.name} --resolve")


def _outcome(workspace: Workspace, judged: Judgement, plan: Plan) -> Outcome:
    outcome = Outcome(
        command="contract",
        root=workspace.root,
        findings=(*workspace.told, *judged.findings),
        result=judged.result,
        summary=judged.summary,
        body=judged.tables or None,
        closing=judged.unseen,
    )
    if not plan.files:
        return outcome
    from pinctl.commands import plans

    done = plans.carry_out(workspace, "contract", plan, diff=False, check=False, allow_workflows=False)
    return outcome._replace(result={**judged.result, **done.result}, closing=(done.summary, *judged.unseen))


# --- the two sides ------------------------------------------------------------------------------------------------


def _sides(workspace: Workspace, pin: Pin, commits: Sequence[str], asking: Asking) -> tuple[Pin, Pin]:
    """The pin as it is at A and at B: with its repository and commit there."""
    given = [pin._replace(commit=resolved(pin, wish, asking)) for wish in commits]
    after = given[-1] if given else pin
    if len(given) == 2:
        return given[0], after
    return (pin if commits else _at_head(workspace, pin)), after


def _at_head(workspace: Workspace, pin: Pin) -> Pin:
    """The pin as the last commit of the consumer has it; as it is now where that has none."""
    if toplevel(workspace.root) is None:
        return pin
    manifest = history.manifest_at(workspace, "HEAD")
    old = manifest.pins.get(pin.name) if manifest else None
    return pin._replace(repo=old.repo, commit=old.commit) if old and old.repo and old.commit else pin


def _trees(before: Pin, after: Pin, asking: Asking, step: Step) -> Sides:
    """The trees of both; one where they are the same."""
    old = new = _tree(before, asking)
    step(1)
    if (before.repo, before.commit) != (after.repo, after.commit):
        new = _tree(after, asking)
    step(1)
    return Sides(old, new, before.repo or "", after.repo or "")


def _tree(pin: Pin, asking: Asking) -> Forest:
    """The tree of a pin; what lies in its submodules is not known. Raises Gone, Unreachable, Hostile, ExternalError."""
    store = asking.open(pin.repo or "")
    store.fetch(pin.commit or "", depth=1)
    tree = asking.tree(store, pin.commit or "")
    return Forest(tree, dict.fromkeys(tree.gitlinks))


# --- what is written ----------------------------------------------------------------------------------------------


def _written(workspace: Workspace, pin: Pin, judged: Judgement) -> list[FilePlan]:
    """pins.toml with `requires` as the consumer's uses have it, and with what was written there by hand."""
    from pinctl.commands.edits import edited

    said = pin.contract.requires if pin.contract else ()
    wanted = requires.derive(judged.uses, Lookup(judged.after), said)
    return edited(workspace, {("pins", pin.name, "contract", "requires"): tuple(wanted)})[1]


class _Baseline(NamedTuple):
    """A file of known breaks, by its path from the root."""

    path: str
    before: bytes | None
    after: bytes

    def known(self, pin: str) -> Known:
        return accepting.read(self.after, self.path, pin)

    def of(self, judged: Judgement, pin: str) -> "_Baseline":
        """The file that knows the breaks of `judged`."""
        return self._replace(after=accepting.written(judged.breaks, pin, self.before))


def _baseline(workspace: Workspace, options: Options, asked: Asked) -> _Baseline | None:
    """The baseline file that is asked for. Raises UsageError where there is none, and none is to be made."""
    if asked.baseline is None:
        if asked.write_baseline:
            raise UsageError("--write-baseline needs to know the file", hint="give it: --baseline FILE")
        return None
    path = os.path.relpath(os.path.realpath(os.path.join(options.directory, asked.baseline)), workspace.root)
    try:
        source = read_site(workspace.root, path)
    except Missing:
        if asked.write_baseline:
            return _Baseline(path, None, accepting.written((), "", None))
        raise UsageError(f"--baseline {asked.baseline}: no such file", hint="--write-baseline makes one") from None
    except Unreadable as error:
        raise UsageError(f"--baseline {asked.baseline} {error.reason}") from error
    found = _Baseline(path, source, source)
    found.known("")  # it is one
    return found
