"""Three-way merging of files: what a patch does to one tree, done to another.

A file that both sides change is merged by its lines, for which `merge_lines` is given (git-merge-file(1) does it).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pinctl.patches.model import Blob, Files, Odd

MergeLines = Callable[[bytes, bytes, bytes], tuple[bytes, int]]
"""Of ours, the base and theirs: the merged text, with marks where the two collide, and how often they do."""


class Merged(NamedTuple):
    """The files of a merge, and why those that collide do, by path; such a file has marks in it, or is as ours is."""

    files: Files
    conflicts: Mapping[str, str]


def merge(ours: Files, base: Files, theirs: Files, merge_lines: MergeLines) -> Merged:
    """`ours` with what becomes of `base` in `theirs`."""
    files: dict[str, Blob | Odd | None] = dict(ours)
    conflicts: dict[str, str] = {}
    for path in sorted({**base, **theirs}):
        sides = ours.get(path), base.get(path), theirs.get(path)
        if sides[1] == sides[2]:
            continue
        made = _file(*sides, merge_lines)
        files[path], why = made
        if why:
            conflicts[path] = why
    return Merged(files, conflicts)


_Side = Blob | Odd | None


def _file(ours: _Side, base: _Side, theirs: _Side, merge_lines: MergeLines) -> tuple[_Side, str]:
    if ours in (base, theirs):
        return theirs, ""
    if isinstance(ours, Odd) or isinstance(theirs, Odd):
        return ours, ours.reason if isinstance(ours, Odd) else "cannot be patched"
    if theirs is None:
        return ours, "" if ours is None else "is to go, and was changed"
    if ours is None:
        return None, "is gone there, and the patch changes it"
    start = base.content if isinstance(base, Blob) else b""
    text, count = merge_lines(ours.content, start, theirs.content)
    changed = isinstance(base, Blob) and base.executable == theirs.executable
    executable = ours.executable if changed else theirs.executable
    return Blob(text, executable), f"has {count} conflict{'s' * (count > 1)}" if count else ""
