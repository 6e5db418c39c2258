"""Applies a patch to files in memory: all of it, or nothing, with every hunk told that does not fit and why."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pinctl.patches import replacing
from pinctl.patches.model import Blob, Change, Diff, FileChange, Files, Odd, Replacement
from pinctl.patches.placing import Image, Nearest, adapted

EXECUTABLE = "100755"

_MOST_NEAR = 10
"""Hunks of a file of which it is told where they nearly fit."""

ABSENT = "does not exist"
"""Why a patch does not fit at a file that is not there."""


class Misfit(NamedTuple):
    """Why a patch does not fit: at a file as a whole, or at its hunk number `hunk` (from 1) of `hunks`."""

    path: str
    why: str
    hunk: int = 0
    hunks: int = 0
    nearest: Nearest | None = None


class Fit(NamedTuple):
    """What a patch that fits makes of the files: those of its paths that become others, and by how many lines its
    hunks stood elsewhere than it says, all together."""

    files: dict[str, Blob | None]
    offset: int = 0


def apply(change: Change, files: Files, *, fuzz: int = 0) -> Fit | tuple[Misfit, ...]:
    """What `change` makes of `files`, or why it does not fit."""
    if isinstance(change, Replacement):
        exchanged = replacing.apply(change, files.get(change.target))
        if isinstance(exchanged, Blob):
            return Fit({change.target: exchanged})
        return (Misfit(change.target, *exchanged),)
    now = {path: files.get(path) for path in change.paths}
    misfits: list[Misfit] = []
    offset = 0
    for one in change.changes:
        made = _file(one, now, fuzz)
        if isinstance(made, Fit):
            now |= made.files
            offset += made.offset
        else:
            misfits += made
    if misfits:
        return tuple(misfits)
    return Fit({path: one for path, one in now.items() if not isinstance(one, Odd) and one != files.get(path)}, offset)


def _file(change: FileChange, now: Files, fuzz: int) -> Fit | list[Misfit]:
    before = _before(change, now)
    if not isinstance(before, Blob):
        return [Misfit(change.path, before)]
    image, pristine = Image(before.content), None
    hunks = adapted(change.hunks, before.content)
    misfits: list[Misfit] = []
    offset = 0
    for n, hunk in enumerate(hunks, 1):
        moved = image.put(hunk, fuzz)
        if moved is None:
            pristine = pristine or Image(before.content)
            near = pristine.nearest(hunk) if len(misfits) < _MOST_NEAR else None
            lines_around = hunk.leading or hunk.trailing or change.new is None
            if near and near.alike == near.of and not lines_around:  # git-apply(1), --unidiff-zero
                why, near = (
                    "has no lines around its changes, and git puts such a hunk nowhere: make it by diff -U3",
                    None,
                )
            else:
                why = "fits nowhere"
            misfits.append(Misfit(change.path, why, n, len(change.hunks), near))
        else:
            offset += abs(moved)
    if misfits:
        return misfits
    content = image.content
    if change.new is None:
        return [Misfit(change.path, "would go, and holds more than the patch says")] if content else Fit(
            {change.old or "": None}, offset)  # fmt: skip
    after = Blob(content, _executable(change, before))
    gone = {change.old: None} if change.old and change.old != change.new else {}
    return Fit({**gone, change.new: after}, offset)


def _before(change: FileChange, now: Files) -> Blob | str:
    """The file that is changed, an empty one for a new one; or what is wrong with it."""
    if change.new and change.new != change.old and now.get(change.new) is not None:
        there = now[change.new]
        return there.reason if isinstance(there, Odd) else "exists already"
    if change.old is None:
        return Blob(b"")
    there = now.get(change.old)
    if there is None:
        creates = not change.git and all(not hunk.before for hunk in change.hunks)
        return Blob(b"") if creates else ABSENT
    if isinstance(there, Odd):
        return there.reason
    if change.old_mode != change.new_mode and there.executable not in (None, change.old_mode == EXECUTABLE):
        return f"may {'' if there.executable else 'not '}be executed, and the patch says otherwise"
    return there


def _executable(change: FileChange, before: Blob) -> bool | None:
    if change.new_mode is None or (change.old_mode == change.new_mode and change.old):
        return before.executable
    return change.new_mode == EXECUTABLE


# --- what of it is there ------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a patch: a hunk of a file (from 1), or with 0 what is no hunk, and whether it fits `forward` and
    `backward`."""

    path: str
    hunk: int
    forward: bool
    backward: bool


def parts(change: Diff, files: Files) -> Iterator[Part]:
    """Each part of a diff, with whether it is there, or may be put there, seen by itself."""
    for one in change.changes:
        back = one.reversed()
        ways = [isinstance(_file(way, files, 0), Fit) for way in (one, back)]
        if any(ways) or len(one.hunks) < 2:
            yield Part(one.path, 1 if one.hunks else 0, *ways)
            continue
        sides = [_before(way, files) for way in (one, back)]
        fits = [_fitting(way, side) for way, side in zip((one, back), sides, strict=True)]
        for n, pair in enumerate(zip(*fits, strict=True), 1):
            yield Part(one.path, n, *pair)


def _fitting(change: FileChange, before: Blob | str) -> list[bool]:
    if isinstance(before, str):
        return [False] * len(change.hunks)
    image = Image(before.content)
    return [image.fits(hunk) for hunk in adapted(change.hunks, before.content)]


def recognised(change: Diff, files: Files) -> bool | None:
    """By the ids of blobs that a diff of git's form tells, whether `files` are those after the change (True) or before
    it (False); None where they are neither, or nothing is told."""
    for after in (True, False):
        told = [((one.new, one.new_id) if after else (one.old, one.old_id)) for one in change.changes]
        known = [(path, id_) for path, id_ in told if path and id_ and id_.strip("0")]
        if known and len(known) == sum(path is not None for path, _ in told) and _are(known, files):
            return after
    return None


def _are(known: Iterable[tuple[str, str]], files: Files) -> bool:
    return all(isinstance(blob := files.get(path), Blob) and _is(blob.content, id_) for path, id_ in known)


def _is(content: bytes, id_: str) -> bool:
    """Whether a blob has an id that begins with `id_` (git-hash-object(1))."""
    data = b"blob %d\0" % len(content) + content
    return any(hashlib.new(name, data, usedforsecurity=False).hexdigest().startswith(id_) for name in _hashes(id_))


def _hashes(id_: str) -> tuple[str, ...]:
    return {40: ("sha1",), 64: ("sha256",)}.get(len(id_), ("sha1", "sha256"))
