"""In which state a patch, or an ordered series of them, is on the files of a tree.

A patch is there where its reverse fits, and may be put there where itself fits. Where both do, the ids of blobs in the
diff decide, then which of the two fits exactly where it says; else nothing is guessed. A series is taken apart from
its last patch, since later ones stand on earlier ones, and put together again from its first.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from pinctl.model import NOTHING
from pinctl.patches.applying import Fit, Misfit, Part, apply, parts, recognised
from pinctl.patches.model import Blob, Change, Diff, Files, Odd


class State(StrEnum):
    """PRISTINE: it may be applied. APPLIED: it is. OLDER: an older form of it is. SUPERSEDED: the pinned tree has it.
    PARTLY: some hunks are there and some not. CONFLICT: it fits in no way. AMBIGUOUS: it fits both ways."""

    PRISTINE = "pristine"
    APPLIED = "applied"
    OLDER = "older form"
    SUPERSEDED = "superseded"
    PARTLY = "partly applied"
    CONFLICT = "conflict"
    AMBIGUOUS = "ambiguous"


STUCK = frozenset({State.PARTLY, State.CONFLICT, State.AMBIGUOUS})
"""States in which a patch can be neither applied nor taken back."""


_ALL = 10
"""So many unchanged lines around a change may be others, where only the change itself is looked for."""


class Step(NamedTuple):
    """One patch of a series: its `name` for people, what it changes, and its older forms by their names."""

    name: str
    change: Change
    older: Mapping[str, Change] = NOTHING

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file that it, or an older form of it, may touch."""
        every = (path for change in (self.change, *self.older.values()) for path in change.paths)
        return tuple(dict.fromkeys(every))


class Standing(NamedTuple):
    """How one patch stands: `misfits` are why it cannot be applied, `parts` what of it is there, `older` the name of
    the form that is. `offset` is by how many lines its hunks stand elsewhere than it says.
    `behind`: the patches before it have put it there."""

    state: State
    misfits: tuple[Misfit, ...] = ()
    parts: tuple[Part, ...] = ()
    older: str | None = None
    offset: int = 0
    behind: bool = False


class Series(NamedTuple):
    """The standings of a series in its order; the files without any of its patches, and with all of those that fit."""

    standings: tuple[Standing, ...]
    bare: Files
    patched: Files

    @property
    def stuck(self) -> bool:
        return any(standing.state in STUCK for standing in self.standings)


def evaluate(steps: Sequence[Step], files: Files, *, fuzz: int = 0) -> Series:
    """How each of `steps` stands on `files`, which hold every path that a step names and that there is."""
    known: dict[int, Standing] = {}
    bare: Files = files
    for n in reversed(range(len(steps))):
        taken = _taken_back(steps[n], bare)
        if taken:
            known[n], bare = taken
    standings = []
    patched: Files = bare
    for n, step in enumerate(steps):
        made = apply(step.change, patched, fuzz=fuzz)
        standing = known.get(n) or _ahead(step, bare, patched, made)
        if isinstance(made, Fit) and (n in known or standing.state is State.PRISTINE):
            patched = {**patched, **made.files}
        elif n in known:  # what was there before no longer goes onto what stands below it
            standing = Standing(State.CONFLICT, () if isinstance(made, Fit) else made)
        standings.append(standing)
    return Series(tuple(standings), bare, patched)


def _taken_back(step: Step, files: Files) -> tuple[Standing, Files] | None:
    """The patch, or an older form of it, found in `files`, with the files without it."""
    back = apply(step.change.reversed(), files)
    if isinstance(back, Fit) and _leads(step.change, files, back):
        return Standing(State.APPLIED, offset=back.offset), {**files, **back.files}
    if isinstance(back, Fit) or isinstance(apply(step.change, files), Fit):
        return None
    for name, change in step.older.items():
        back = apply(change.reversed(), files)
        if isinstance(back, Fit) and _leads(change, files, back):
            return Standing(State.OLDER, older=name, offset=back.offset), {**files, **back.files}
    return None


def _leads(change: Change, files: Files, back: Fit) -> bool | None:
    """Whether `files`, from which `change` can be taken back, do have it; None where that cannot be told."""
    forward = apply(change, files)
    if not isinstance(forward, Fit):
        return True
    known = recognised(change, files) if isinstance(change, Diff) else None
    if known is not None:
        return known
    return None if bool(back.offset) == bool(forward.offset) else not back.offset


def _ahead(step: Step, bare: Files, files: Files, made: Fit | tuple[Misfit, ...]) -> Standing:
    """How a patch stands that is not there as a whole, on the files with those before it; `bare` are without them."""
    back = apply(step.change.reversed(), files)
    if isinstance(made, Fit):
        there = isinstance(back, Fit) and _leads(step.change, files, back)
        return Standing(State.AMBIGUOUS if there is None else State.APPLIED if there else State.PRISTINE,
                        offset=made.offset)  # fmt: skip
    if isinstance(back, Fit):  # on top of what an earlier patch has made
        upstream = isinstance(apply(step.change.reversed(), bare, fuzz=_ALL), Fit)
        return Standing(State.APPLIED, offset=back.offset, behind=not upstream)
    if not isinstance(step.change, Diff):
        return Standing(State.CONFLICT, made)
    found = tuple(parts(step.change, files))
    fits = all(part.forward or part.backward for part in found)
    return Standing(State.PARTLY if fits and len(found) > 1 else State.CONFLICT, made, found)


def changed(before: Files, after: Files) -> dict[str, tuple[Blob | None, Blob | None]]:
    """The files that differ, by path, as they are and as they become; one that is odd never does."""
    pairs = {path: (before.get(path), after.get(path)) for path in {**before, **after}}
    return {
        path: (old, new)
        for path, (old, new) in sorted(pairs.items())
        if old != new and not isinstance(old, Odd) and not isinstance(new, Odd)
    }


def as_upstream(standing: Standing) -> Standing:
    """A standing on the pinned tree itself: what is there, upstream has put there, or a patch before it."""
    taken = standing.state is State.APPLIED and not standing.behind
    return standing._replace(state=State.SUPERSEDED) if taken else standing


def paths(steps: Iterable[Step]) -> list[str]:
    """Every file that the series may touch."""
    return list(dict.fromkeys(path for step in steps for path in step.paths))
