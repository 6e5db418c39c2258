"""What a pinned tree exports to Python, read from its git objects: nothing is checked out, imported or compiled.

Two layers. Facts of one file depend on its bytes alone, and are remembered by its blob id. Linking puts the facts of
all files together: re-exports, aliases, extension modules; the surface is remembered by commit and configuration.
"""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pinctl.contract.model import Surface
from pinctl.contract.surface.memory import Memory
from pinctl.contract.surface.stored import pack, unpack
from pinctl.upstream.forest import Forest
from pinctl.upstream.tree import Tree

__all__ = ["Memory", "Surface", "read", "remembered"]


def read(source: Tree | Forest, roots: Sequence[str], *, memory: Memory) -> Surface:
    """The surface of the packages `roots` in a tree, or in a tree with its submodules; without roots, of the packages
    that the tree has as its own. Raises what reading the tree's blobs raises, and ExternalError for too many names."""
    forest = source if isinstance(source, Forest) else Forest(source, {})
    key = _configuration(forest.root.commit, roots, forest.modules)
    with _without_collector():
        known = memory.get(key, unpack)
        if known is None:
            from pinctl.contract.surface import reading  # which takes long to load

            known = reading.surface(forest, roots, memory)
            memory.put(key, pack(known))
    return known


def remembered(commit: str, roots: Sequence[str], *, memory: Memory) -> Surface | None:
    """The surface of a tree without submodules, where it was read before: then not even the tree is needed."""
    with _without_collector():
        return memory.get(_configuration(commit, roots, {}), unpack)


def _configuration(commit: str, roots: Sequence[str], modules: Mapping[str, Tree | None]) -> str:
    """Under which a surface is remembered: all that it depends on."""
    commits = [f"{path} {tree.commit if tree else ''}" for path, tree in sorted(modules.items())]
    return "\n".join(("surface", commit, *commits, "", *roots))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Syntax trees have no cycles, and the collector's search for some takes longer than the parser."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
