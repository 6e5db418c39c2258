"""The files that patches name, as a pinned tree holds them."""

from collections.abc import Iterable

from pinctl.patches.model import Blob, Files, Odd
from pinctl.upstream.forest import Forest
from pinctl.upstream.tree import Tree

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that is patched."""


def of(forest: Forest, paths: Iterable[str]) -> Files:
    """What stands at each of `paths` in the pinned tree and its submodules, read in one batch a tree."""
    wanted = list(dict.fromkeys(paths))
    read = forest.read(wanted, LARGEST)
    return {path: _at(path, forest, read.get(path)) for path in wanted}


def _at(path: str, forest: Forest, content: bytes | None) -> Blob | Odd | None:
    prefix, tree = forest.of(path)
    if tree is None:
        return Odd(f"lies in the submodule {prefix[:-1]}, whose tree is not known")
    if prefix == f"{path}/":
        return Odd("is a folder")
    inner = path.removeprefix(prefix)
    if content is not None:
        return Blob(content, inner in tree.executables)
    return Odd(f"has more than {LARGEST} bytes") if inner in tree.files else _odd(inner, tree)


def _odd(path: str, tree: Tree) -> Odd | None:
    if path in tree.links:
        return Odd("is a symbolic link")
    if path in tree.gitlinks or path in tree.folders:
        return Odd("is a folder")
    parts = path.split("/")
    for n in range(1, len(parts)):
        above = "/".join(parts[:n])
        if above in tree.gitlinks:
            return Odd(f"lies in the submodule {above}, which is not looked into")
        if above in tree.links or above in tree.files:
            return Odd(f"lies below {above}, which is no folder")
    return None
