"""What a patch may not do: leave the tree, enter git's own folder, bind hands with links, make programs unasked.

A patch is a stranger's text like any other: the paths in it are held to the rules of every path of pins.toml, also
after C-quoting was undone, and links and submodules are refused, since they would lead out of the tree.
"""

from collections.abc import Iterator

from pinctl.patches.applying import EXECUTABLE
from pinctl.patches.model import Change, Diff, FileChange
from pinctl.paths import path_problem

_KINDS = {"12": "a symbolic link", "16": "a submodule"}


def problems(change: Change, *, executables: bool = False) -> Iterator[str]:
    """Why the patch is refused, as sentences without a full stop. `executables`: new programs are meant."""
    for path in dict.fromkeys(change.paths):
        if problem := _bad_path(path):
            yield f"the path {path[:80]!r} cannot be used: {problem}"
    if isinstance(change, Diff):
        for one in change.changes:
            yield from _modes(one, executables)


def _bad_path(path: str) -> str | None:
    problem = path_problem(path)
    # "below the folder of pins.toml": a patch knows another root.
    return problem and problem.replace("; write it as seen from the folder of pins.toml", "").replace(
        "the folder of pins.toml", "the patched tree"
    )


def _modes(change: FileChange, executables: bool) -> Iterator[str]:
    for mode in dict.fromkeys(mode for mode in (change.old_mode, change.new_mode) if mode):
        if mode[:2] in _KINDS:
            yield f"{change.path} is made, or is, {_KINDS[mode[:2]]}"
        elif mode[:3] != "100":
            yield f"{change.path} has the mode {mode}, which no file has"
    if change.new_mode == EXECUTABLE != change.old_mode and change.new and not executables:
        yield f"{change.path} is made a program that may be executed"
