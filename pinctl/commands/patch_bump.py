"""The patches of pins that go to other commits, on the trees of both: what `bump` must know before it writes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinctl import manifest as pins_toml
from pinctl.commands import patches
from pinctl.commands.bumping import Bump
from pinctl.commands.edits import rewritten
from pinctl.commands.network import Asking
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError
from pinctl.finding import Finding, Severity
from pinctl.manifest import patch_tables
from pinctl.model import Pin
from pinctl.outcome import Table
from pinctl.patches import judging
from pinctl.patches.judging import Seen
from pinctl.patches.states import State
from pinctl.plan import FilePlan
from pinctl.upstream.evidence import Evidence
from pinctl.upstream.telling import Telling

_SUPERSEDED = "PIN506"
_IDLE = (State.SUPERSEDED, State.APPLIED)


class Patched(NamedTuple):
    """The patches of one pin at the commit of before, at the new one (`after`), and what is wrong with them there."""

    before: Sequence[Seen]
    after: Sequence[Seen]
    findings: tuple[Finding, ...]

    @property
    def superseded(self) -> list[int]:
        """The numbers of those that do nothing at the new commit: upstream has them, or a patch before them does."""
        return [one.number for one in self.after if one.standing and one.standing.state in _IDLE]

    @property
    def table(self) -> Table:
        """What the body of a pull request says of them."""
        before = {one.number: one.word for one in self.before}
        rows = ((one.patch.name, before.get(one.number, "-"), one.word) for one in self.after)
        return Table(("patch", "before", "after"), tuple(rows), "Patches")

    @property
    def data(self) -> list[dict[str, object]]:
        """For scripts."""
        return [judging.data(one) for one in self.after]


def verified(workspace: Workspace, pin: Pin, evidence: Evidence, asking: Asking) -> tuple[Finding, ...]:
    """What is wrong with the patches of `pin` on its pinned tree, for `verify`. Raises ExternalError."""
    if not pin.patches or evidence.forest is None:
        return ()
    return _look(workspace, pin, Evidence(), evidence, asking).findings


def learn(workspace: Workspace, bumps: Sequence[Bump], pins: Mapping[str, Pin], asking: Asking) -> dict[str, Patched]:
    """How the patches stand, by pin, where it has some and its new tree is known; `pins` are as they become. Findings
    stand where pins.toml has the patches now. Raises ExternalError."""
    wanted = [(bump, pins[bump.aim.pin.name]) for bump in bumps if bump.after.forest and bump.aim.pin.patches]
    return {pin.name: _look(workspace, pin, bump.before, bump.after, asking) for bump, pin in wanted}


def _look(workspace: Workspace, pin: Pin, before: Evidence, after: Evidence, asking: Asking) -> Patched:
    say = Telling(pin, workspace.manifest)
    series = patches.read(workspace.root, say)
    old, new = (patches.place(one.forest, series.paths) if one.forest else None for one in (before, after))
    assert new is not None  # noqa: S101 - as the caller has seen
    moves = pin.commit != workspace.manifest.pins[pin.name].commit
    new = new._replace(to=pin.commit if moves else None)
    seen = judging.judge(pin, series.steps, new, _taken(pin, asking))
    found = (*series.findings, *judging.findings(pin, seen, new, say.tell))
    return Patched(judging.judge(pin, series.steps, old) if old else [], seen, found)


def _taken(pin: Pin, asking: Asking) -> set[int]:
    """Which patches' commits lie in the pin's history: where that cannot be had, the tree alone tells."""
    try:
        return patches.taken(pin, pin.commit or "", asking)
    except ExternalError:
        return set()


# --- what upstream has taken --------------------------------------------------------------------------------------


def findings(known: Mapping[str, Patched], *, drop: bool) -> list[Finding]:
    """What is told of all patches. Those that upstream has may be dropped, and are with `drop`."""
    return [_advised(found, drop) for one in known.values() for found in one.findings]


def _advised(found: Finding, drop: bool) -> Finding:
    if found.code != _SUPERSEDED:
        return found
    if not drop:
        return found._replace(hint=f"{found.hint}; or bump with --drop-patches")
    return found._replace(severity=Severity.INFO, message=f"{found.message}; its entry is dropped", hint=None)


def drop(after: Workspace, files: Sequence[FilePlan], known: Mapping[str, Patched]) -> tuple[Workspace, list[FilePlan]]:
    """The workspace and the files of a bump, without the entries of patches that upstream has. Raises WriteRefused
    where they are written in a form that is left to the person, ManifestError."""
    texts = {file.path: file.after.decode() for file in files}
    for name, one in known.items():
        if one.superseded:
            home = pins_toml.locate(after.manifest, ("pins", name, "patches", 0)).file
            texts[home] = patch_tables.dropped(texts[home], name, one.superseded, home)
    made, changed = rewritten(after, texts)
    before = {file.path: file.before for file in files}
    return made, [file._replace(before=before.get(file.path, file.before)) for file in changed]


def idle(after: Workspace, known: Mapping[str, Patched]) -> tuple[str, ...]:
    """What a person is to do with the files of patches that were dropped: those that no entry names are deleted by
    hand, since what deletes a file must be sure that nothing else, such as a script, reads it."""
    named = {file for pin in after.manifest.pins.values() for patch in pin.patches
             for file in (patch.file, *patch.supersedes)}  # fmt: skip
    gone = {one.patch.file for seen in known.values() for one in seen.after if one.number in seen.superseded}
    files = sorted(file for file in gone - named if file)
    return (f"no entry names them any more, so delete: {', '.join(files)}",) if files else ()
