"""`pinctl patch refresh`: the patches of a pin rebased onto another commit, each three ways.

What a patch does to the tree where it applies is done to the new tree, on top of the patches before it. Nothing of the
project is written before all of them are rebased; where one collides, the files with git's marks are laid out in a
folder of their own, which is told.
"""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from pinctl.commands import network, patch_status, patches, rollback
from pinctl.commands.network import Asking, chosen
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError, UsageError
from pinctl.external import history, journal, patched
from pinctl.finding import Finding
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Diff, Outcome, Table, counted
from pinctl.patches import judging, trees
from pinctl.patches.applying import Fit, apply
from pinctl.patches.judging import Place
from pinctl.patches.making import make
from pinctl.patches.merging import merge
from pinctl.patches.model import Diff as Changes
from pinctl.patches.model import Files
from pinctl.patches.states import Step, changed
from pinctl.patches.writing import write
from pinctl.plan import FilePlan, Plan
from pinctl.upstream.forest import Forest
from pinctl.upstream.telling import Telling

_SHA256 = 64  # digits of an id


class _Rebased(NamedTuple):
    """What became of one patch: `word` says it, `text` is its new one, None where the old one does."""

    number: int
    step: Step
    word: str
    text: bytes | None = None


class _Collision(NamedTuple):
    """A patch that collides with the new tree: why, by file, and the folder in which that is to be seen."""

    step: Step
    number: int
    why: dict[str, str]
    folder: str


def run(
    options: Options,
    name: str,
    *,
    to: str | None = None,
    base: str | None = None,
    diff: bool = False,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """Rebase the patches of the pin `name` from `base` onto `to`, commits, tags or branches; without `to` onto the
    pinned commit. Without `base`: from the pinned commit, or, where they do not apply to it, from the one that was
    pinned before. `diff`: nothing is written.

    Raises ManifestError, UsageError, WriteRefused, ExternalError.
    """
    workspace = Workspace.open_to_write(options, dry=diff)
    pin = chosen(workspace.manifest.pins, [name])[0]
    say = Telling(pin, workspace.manifest)
    series = patches.read(workspace.root, say)
    steps = {n: step for n, step in series.steps.items() if isinstance(step.change, Changes)}
    if series.findings:
        return Outcome("patch refresh", series.findings, root=workspace.root)
    if not steps:
        raise UsageError(f"{name} has no diffs among its patches", hint=f"run: pinctl patch add {name} FILE")
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    with ExitStack() as stack:
        asking = Asking(profile, stack, options.offline)
        commits = _commits(workspace, pin, series, (base, to), asking)
        old, new = patches.forests(pin, commits, series.paths, asking)
        names = _renamed(pin, old, new, series.paths, asking)
        places = [
            patches.place(old, series.paths),
            Place(f"commit {commits[1][: patches.SHORT]}", _at(new, series.paths, names)),
        ]
        seen = judging.judge(pin, steps, places[0])
        if stuck := [one for one in seen if one.stuck]:
            told = list(judging.findings(pin, stuck, places[0], say.tell))
            hint = "say where the patches apply: --from COMMIT"
            return Outcome("patch refresh", tuple(f._replace(hint=hint) for f in told), root=workspace.root)
        done, collision = _rebase(steps, places[0].files, places[1].files, names, sha256=len(commits[1]) == _SHA256)
    told = [*workspace.told, *_told(say, collision, places[1])]
    files = [patched.plan(workspace.root, one.step.name, one.text) for one in done if one.text is not None]
    return _outcome(workspace, pin, (done, collision, files, commits), told, diff=diff)


def _commits(
    workspace: Workspace, pin: Pin, series: patches.Series, names: tuple[str | None, str | None], asking: Asking
) -> tuple[str, str]:
    """From which commit to which. Raises UsageError, ExternalError."""
    base, to = (patch_status.commit(pin, name, asking) if name else None for name in names)
    target = to or patch_status.pinned(pin)
    if base is None and to is None:
        (forest,) = patches.forests(pin, [target], series.paths, asking)
        seen = judging.judge(pin, series.steps, patches.place(forest, series.paths))
        if any(one.stuck for one in seen):
            earlier, _ = rollback.earlier(workspace, pin)
            base = earlier.commit if earlier else None
    return base or patch_status.pinned(pin), target


def _renamed(pin: Pin, old: Forest, new: Forest, paths: Sequence[str], asking: Asking) -> dict[str, str]:
    """The files of the patches that have another path in the new tree."""
    gone = {path for path in paths if path in old.root.files and path not in new.root.files}
    if not gone:
        return {}
    try:
        found = history.renames(asking.open(pin.repo or ""), old.root.commit, new.root.commit)
    except ExternalError:  # offline: then they count as gone
        return {}
    return {one.old: one.new for one in found if one.old in gone}


def _at(forest: Forest, paths: Sequence[str], names: dict[str, str]) -> Files:
    return trees.of(forest, [names.get(path, path) for path in paths])


def _rebase(
    steps: dict[int, Step], old: Files, new: Files, names: dict[str, str], *, sha256: bool
) -> tuple[list[_Rebased], _Collision | None]:
    """Each patch on top of those before it, on both trees, as far as none collides."""
    base: Files = old
    ours: Files = new
    done: list[_Rebased] = []
    for n, step in steps.items():
        change = step.change
        made, moved = apply(change, base), apply(change, ours)
        if not isinstance(made, Fit) or not isinstance(change, Changes):  # the old tree has it
            done.append(_Rebased(n, step, "not needed there"))
            continue
        theirs = {**base, **made.files}
        merged = merge(ours, _as(base, names), _as(theirs, names), patched.merge_lines)
        if merged.conflicts:
            paths = [*merged.conflicts, *changed(ours, merged.files)]  # all of the patch, so that none of it is lost
            before, after = ({path: files.get(path) for path in paths} for files in (ours, merged.files))
            folder = patched.lay_out({"a": before, "b": after})
            return done, _Collision(step, n, dict(merged.conflicts), folder)
        if not changed(ours, merged.files):
            done.append(_Rebased(n, step, "superseded"))
        elif isinstance(moved, Fit) and moved.offset == 0 and not changed({**ours, **moved.files}, merged.files):
            done.append(_Rebased(n, step, "as it is"))
        else:
            renames = {one.old: one.new for one in change.changes if one.old and one.new}
            text = write(make(ours, merged.files, renamed=renames, sha256=sha256)._replace(preamble=change.preamble))
            done.append(_Rebased(n, step, "rebased", text))
        base, ours = theirs, merged.files
    return done, None


def _as(files: Files, names: dict[str, str]) -> Files:
    """`files` under the paths that they have in the new tree."""
    return {names.get(path, path): one for path, one in files.items()}


# --- what is told -------------------------------------------------------------------------------------------------


def _told(say: Telling, collision: _Collision | None, place: Place) -> list[Finding]:
    if collision is None:
        return []
    step, number, why, folder = collision
    what = f"{step.name} collides with {place.name}: " + "; ".join(f"{path} {text}" for path, text in why.items())
    command = f"(cd {folder} && git diff --no-index --no-prefix a b) > {shlex.quote(step.name)}"
    hint = f"mend the files below {folder}/b, then run:\n{command}"
    return [say.tell("PIN504", what, "patches", number, hint=hint)]


def _outcome(
    workspace: Workspace,
    pin: Pin,
    made: tuple[list[_Rebased], _Collision | None, list[FilePlan], tuple[str, str]],
    told: Sequence[Finding],
    *,
    diff: bool,
) -> Outcome:
    """Write what was rebased, unless something collides; and what is said of it."""
    done, collision, files, commits = made
    plan = Plan(files)
    writing = collision is None and not diff
    if writing:
        journal.write(workspace.root, plan)
    rows = [(one.step.name, one.word) for one in done] + ([(collision.step.name, "conflict")] if collision else [])
    shown = Diff(plan.diff(), exact=True) if diff and plan.pending and collision is None else None
    verb = "changed" if writing else "would change"
    superseded = [one.step.name for one in done if one.word == "superseded"]
    return Outcome(
        command="patch refresh",
        findings=tuple(told),
        root=workspace.root,
        body=shown or Table(("patch", "state"), tuple(rows)),
        summary="" if shown else f"{verb} {counted(len(plan.pending), 'patch file')}",
        closing=tuple(f"{name} is superseded: drop its entry, and delete the file" for name in superseded),
        result={
            "name": pin.name,
            "from": commits[0],
            "to": commits[1],
            "patches": [{"file": name, "state": word} for name, word in rows],
            "scratch": collision.folder if collision else None,
            "files": [file.path for file in plan.pending] if writing else [],
        },
    )
