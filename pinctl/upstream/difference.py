"""What of a pinned tree is another at B than at A: submodules, include directories, headers, build files. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pinctl.model import SystemPackage
from pinctl.upstream import headers
from pinctl.upstream.forest import Forest
from pinctl.upstream.headers import Need
from pinctl.upstream.submodules import Listing, Submodule
from pinctl.upstream.tree import Tree

_BUILD = re.compile(
    r"(?:.*/)?(?:CMakeLists\.txt|CMakePresets\.json|[^/]+\.cmake|setup\.(?:py|cfg)|pyproject\.toml|MANIFEST\.in"
    r"|[^/]*requirements[^/]*\.txt|GNUmakefile|[Mm]akefile|[^/]+\.mk|meson\.build|BUILD(?:\.bazel)?|[^/]+\.bzl"
    r"|WORKSPACE(?:\.bazel)?|MODULE\.bazel|[Dd]ockerfile[^/]*|[^/]*\.[Dd]ockerfile|(?:build|install|develop)[^/]*\.sh"
    r"|\.gitmodules)"
)
_HEADER = re.compile(r".*\.(?:h|hh|hpp|hxx|cuh|inl)")
_INCLUDE = "include"


class Move(NamedTuple):
    """A submodule that is not the same at B. `before` is None where it is new, `after` where it is gone; `was`: its
    path at A, where it is at another one now."""

    path: str
    before: Submodule | None
    after: Submodule | None
    was: str | None = None


class Folders(NamedTuple):
    """Include directories: declared ones that B lacks, and folders for one that only B has."""

    gone: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()


class Needs(NamedTuple):
    """Headers that the system must provide at B alone, and at A alone."""

    gained: tuple[Need, ...] = ()
    lost: tuple[Need, ...] = ()


class FileChange(NamedTuple):
    """`state` is added, removed or changed."""

    path: str
    state: str


class Difference(NamedTuple):
    """All of it. `renames` are paths of A with their paths at B, and how alike the two are in per cent."""

    submodules: tuple[Move, ...] = ()
    include_dirs: Folders = Folders()
    headers: Needs = Needs()
    build_files: tuple[FileChange, ...] = ()
    renames: tuple[tuple[str, str, int], ...] = ()


def moves(before: Listing, after: Listing) -> tuple[Move, ...]:
    """The submodules that are not the same in two trees, by path. One that has only moved keeps its name in
    .gitmodules (gitmodules(5))."""
    old, new = before.submodules, after.submodules
    names = {module.name: path for path, module in old.items() if module.name}
    found: list[Move] = []
    taken: set[str] = set()
    for path, module in new.items():
        was = path if path in old else names.get(module.name or "")
        if was is not None and was != path and was in new:
            was = None
        if was is not None:
            taken.add(was)
        earlier = old[was] if was is not None else None
        if earlier is None or was != path or _elsewhere(earlier, module):
            found.append(Move(path, earlier, module, was if was != path else None))
    found += [Move(path, module, None) for path, module in old.items() if path not in taken]
    return tuple(sorted(found))


def _elsewhere(a: Submodule, b: Submodule) -> bool:
    return (a.commit, a.url) != (b.commit, b.url)


def folders(declared: Sequence[str] | None, before: Forest, after: Forest) -> Folders:
    """Which of the `declared` include directories B lacks, and which folders it gained that are one by their name."""
    gone = (path for path in declared or () if before.has_folder(path) is True and after.has_folder(path) is False)
    known = set(_include_folders(before))
    return Folders(tuple(gone), tuple(path for path in _include_folders(after) if path not in known))


def _include_folders(forest: Forest) -> list[str]:
    """The folders called `include` that lie in no other one, outside of tests and examples."""
    every = [f"{prefix}{path}" for prefix, tree in forest.trees for path in tree.folders]
    named = [path for path in every if path.rpartition("/")[2] == _INCLUDE and not headers.is_aside(f"{path}/x")]
    return sorted(path for path in named if f"/{_INCLUDE}/" not in f"/{path.removesuffix(_INCLUDE)}")


def offers(forest: Forest, module: str) -> tuple[str, ...]:
    """The include directories that the submodule `module` offers: its folders of that name; without any, its root and
    those of its folders that hold headers at once."""
    tree = forest.modules.get(module)
    if tree is None:
        return ()
    named = [path for path in _include_folders(forest) if path.startswith(f"{module}/")]
    if named:
        return tuple(named)
    direct = {path.rpartition("/")[0] for path in tree.files if _HEADER.fullmatch(path) and path.count("/") < 2}
    return tuple(sorted(f"{module}/{folder}".rstrip("/") for folder in direct))


def needs(before: Forest, after: Forest, declared: Iterable[SystemPackage]) -> Needs:
    """The headers that the system must provide in one of the two trees alone."""
    packages = tuple(declared)
    old, new = ({need.header: need for need in headers.needs(headers.read(f), packages)} for f in (before, after))
    return Needs(
        tuple(need for name, need in new.items() if name not in old),
        tuple(need for name, need in old.items() if name not in new),
    )


def build_files(before: Tree, after: Tree) -> tuple[FileChange, ...]:
    """The files of a build that were added, removed or changed, outside of tests and examples."""
    return tuple(sorted(_build_files(before.files, after.files)))


def _build_files(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[FileChange]:
    for path in old.keys() | new.keys():
        if old.get(path) != new.get(path) and _BUILD.fullmatch(path) and not headers.is_aside(path):
            yield FileChange(path, "removed" if path not in new else "added" if path not in old else "changed")
