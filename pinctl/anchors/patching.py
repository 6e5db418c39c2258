"""Patches that the consumer's build applies to a pinned source by a command of its own."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename, dirname, normpath

from pinctl.anchors.model import HOLE, Anchor, Edit, PatchFile, Path, State, is_patch
from pinctl.model import Pin
from pinctl.patches import states
from pinctl.patches.applying import Fit, apply
from pinctl.patches.model import Blob, Diff, Files, Odd
from pinctl.patches.reading import PatchError
from pinctl.patches.reading import read as read_diff
from pinctl.patches.states import STUCK, Standing, Step, evaluate
from pinctl.upstream.forest import Forest

_TOLD = {
    states.State.PRISTINE: State.MATCHES,
    states.State.APPLIED: State.REPLACED,
    states.State.AMBIGUOUS: State.UNKNOWN,
}
"""Other states of a patch are those of one that does not fit."""


def read(edits: Iterable[Edit], pin: Pin, sources: Mapping[str, bytes]) -> list[Edit]:
    """`edits` with what their patches say, which are among `sources`. A patch that is applied one does not know where
    is for the pin that it is named after."""
    found = []
    for edit in edits:
        if edit.patch is None:
            found.append(edit)
        elif edit.patch.folder is not None or _is_named_after(edit.patch.name, pin):
            found.append(_read(edit, edit.patch, sources))
    return found


def _is_named_after(name: str, pin: Pin) -> bool:
    repository = basename(pin.repo or "").removesuffix(".git")
    slug, *names = (re.sub(r"[^a-z0-9]", "", text.casefold()) for text in (basename(name), pin.name, repository))
    return any(one and slug.startswith(one) for one in names)


def _read(edit: Edit, patch: PatchFile, sources: Mapping[str, bytes]) -> Edit:
    file = _file(patch.name, edit.file, [source for source in sources if is_patch(source)])
    if file is None:
        return edit._replace(why="its patch is not known")
    edit = edit._replace(pattern=file)
    try:
        diff = read_diff(sources[file])
    except PatchError as error:
        return edit._replace(why=f"{file}:{error.line}: {error}")
    if patch.strip != 1:
        return edit._replace(why=f"it is applied with -p{patch.strip}")
    diff = diff.reversed() if patch.reverse else diff
    paths = tuple(Path(_below(patch, path)) for path in diff.paths)
    return edit._replace(paths=paths, patch=patch._replace(diff=diff))


def _below(patch: PatchFile, path: str) -> str:
    return normpath(f"{patch.folder}/{path}") if patch.folder else path


def _file(name: str, where: str, known: Sequence[str]) -> str | None:
    """The one of the patches `known` that a command in the file `where` calls `name`; None where that is not plain."""
    tail = name.rpartition(HOLE)[2].lstrip("/")
    beside = normpath(f"{dirname(where)}/{tail}".lstrip("/"))
    for candidate in (beside, normpath(tail)):
        if candidate in known:
            return candidate
    same = [file for file in known if basename(file) == basename(tail)]
    return same[0] if len(same) == 1 else None


# --- judging ------------------------------------------------------------------------------------------------------


def judge(edits: Sequence[Edit], forest: Forest, blobs: Mapping[str, bytes]) -> Iterator[Anchor]:
    """What each of `edits`, patches of one build file, is: after those before it, or by itself, for these may stand in
    another branch of the build. `blobs` are the files of the forest that they name."""
    diffs = {n: _moved(e.patch.diff, e.patch) for n, e in enumerate(edits) if e.patch and e.patch.diff}
    files = {path: _at(path, forest, blobs) for diff in diffs.values() for path in diff.paths}
    series = [Step(edits[number].pattern, diff) for number, diff in diffs.items()]
    fuzz = max((edit.patch.fuzz for edit in edits if edit.patch), default=0)
    standings = dict(zip(diffs, evaluate(series, files, fuzz=fuzz).standings, strict=True))
    for number, edit in enumerate(edits):
        if number not in diffs:
            yield Anchor(edit, "", State.UNKNOWN, None, edit.why)
            continue
        standing = standings[number]
        if standing.state in STUCK:
            standing = _alone(diffs[number], files, fuzz)
        yield _anchor(edit, diffs[number], standing, files)


def _alone(diff: Diff, files: Files, fuzz: int) -> Standing:
    """How a patch stands by itself. Back it is taken with the same tolerance as it is applied: a diff without lines
    around its changes fits nowhere else."""
    standing = evaluate([Step("", diff)], files, fuzz=fuzz).standings[0]
    there = fuzz and standing.state in STUCK and isinstance(apply(diff.reversed(), files, fuzz=fuzz), Fit)
    return Standing(states.State.APPLIED) if there else standing


def _moved(diff: Diff, patch: PatchFile) -> Diff:
    """`diff` with paths from the root of the source."""
    changes = (
        change._replace(old=change.old and _below(patch, change.old), new=change.new and _below(patch, change.new))
        for change in diff.changes
    )
    return diff._replace(changes=tuple(changes))


def _at(path: str, forest: Forest, blobs: Mapping[str, bytes]) -> Blob | Odd | None:
    if path in blobs:
        return Blob(blobs[path])
    return None if forest.has(path) is False else Odd("is no file that can be read")


def _anchor(edit: Edit, diff: Diff, standing: Standing, files: Files) -> Anchor:
    misfit = standing.misfits[0] if standing.misfits else None
    path = misfit.path if misfit else diff.changes[0].path
    odd = files.get(path)
    if isinstance(odd, Odd):
        return Anchor(edit, path, State.UNKNOWN, None, f"{path} {odd.reason}")
    state = _TOLD.get(standing.state, State.MISSING)
    if state is State.UNKNOWN:
        return Anchor(edit, path, state, None, "it fits both ways")
    if state is State.MISSING and any(change.old == path and files.get(path) is None for change in diff.changes):
        return Anchor(edit, path, State.GONE)
    hunks = sum(len(change.hunks) for change in diff.changes) if state is State.MATCHES else 0
    hunk = f"hunk {misfit.hunk} of {misfit.hunks} {misfit.why}" if misfit and misfit.hunk else ""
    return Anchor(edit, path, state, hunks, hunk or (f"{path} {misfit.why}" if misfit else ""))
