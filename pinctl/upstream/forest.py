"""A tree with the trees of its submodules, as a checkout shows them, and the globs that are matched in it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from posixpath import normpath
from typing import NamedTuple

from pinctl.upstream.scans import Scans
from pinctl.upstream.tree import LARGEST, Tree

MAGIC = re.compile(r"[*?\[]")
"""What makes a glob of a path."""


class Part(NamedTuple):
    """Files of one tree of a forest, whose paths begin with `prefix` there."""

    prefix: str
    tree: Tree
    paths: Sequence[str]


Together = Callable[[Callable[[Part], dict[str, bytes]], Sequence[Part]], Iterable[dict[str, bytes]]]
"""As `map`."""


@dataclass(frozen=True)
class Forest:
    """The `root` tree, and below the path of each submodule that is checked out its tree.

    None stands for the tree of a submodule that could not be had: what lies in it is not known. `scans` is what is
    known of its sources without reading them; `together` reads several trees, at once where it can.
    """

    root: Tree
    modules: Mapping[str, Tree | None]
    scans: Scans = field(default_factory=Scans, repr=False)
    together: Together = field(default=map, repr=False)

    def only(self, declared: Sequence[str] | None) -> "Forest":
        """The forest of a checkout that has the `declared` submodules, and what lies in them; None: all of them."""
        if declared is None:
            return self
        kept = {path: tree for path, tree in self.modules.items() if any(_below(path, outer) for outer in declared)}
        return replace(self, modules=kept)

    @cached_property
    def trees(self) -> tuple[tuple[str, Tree], ...]:
        """Each tree that there is, with what its paths begin with."""
        return (("", self.root), *((f"{path}/", tree) for path, tree in self.modules.items() if tree is not None))

    @cached_property
    def files(self) -> frozenset[str]:
        """The regular files and symbolic links of all trees."""
        return frozenset(prefix + path for prefix, tree in self.trees for path in (*tree.files, *tree.links))

    def of(self, path: str) -> tuple[str, Tree | None]:
        """What the path begins with, and the tree that holds it: that of the innermost submodule."""
        inner = [module for module in self.modules if path == module or path.startswith(f"{module}/")]
        if not inner:
            return "", self.root
        module = max(inner, key=len)
        return f"{module}/", self.modules[module]

    def id(self, path: str) -> str | None:
        """The id of the regular file `path`."""
        prefix, tree = self.of(path)
        return tree.files.get(path.removeprefix(prefix)) if tree else None

    def read(self, paths: Iterator[str] | list[str], limit: int = LARGEST) -> dict[str, bytes]:
        """The files among `paths` that have at most `limit` bytes, fetched in one batch a tree."""
        wanted: dict[str, list[str]] = {}
        for path in paths:
            wanted.setdefault(self.of(path)[0], []).append(path)
        parts = [Part(prefix, tree, wanted[prefix]) for prefix, tree in self.trees if prefix in wanted]

        def read(part: Part) -> dict[str, bytes]:
            files = part.tree.read([path.removeprefix(part.prefix) for path in part.paths], limit)
            return {part.prefix + path: blob for path, blob in files.items()}

        return {path: blob for files in self.together(read, parts) for path, blob in files.items()}

    def has_folder(self, path: str) -> bool | None:
        """Whether `path` is a folder; None where that is not known."""
        return self._has(path, folder=True)

    def has(self, path: str) -> bool | None:
        """Whether `path` is a file or a folder; None where that is not known."""
        return self._has(path, folder=False)

    def _has(self, path: str, *, folder: bool) -> bool | None:
        path = normpath(path)
        if path == ".":
            return True
        prefix, tree = self.of(path)
        if tree is None:
            return None
        inner = tree.real(path.removeprefix(prefix)) if f"{path}/" != prefix else ""
        if inner is None:
            return False
        if inner in ("", ".") or inner in tree.folders:
            return True
        if self.of(prefix + inner)[0] != prefix:  # a link into a submodule
            return self._has(prefix + inner, folder=folder)
        return not folder and inner in tree.files

    def undeclared(self, path: str) -> str | None:
        """The submodule that holds `path` and is not checked out; None if it lies in none."""
        return next((link for link in self.root.gitlinks if _below(path, link) and link not in self.modules), None)

    def unknown(self, path: str) -> bool:
        """Whether `path` may lie in a submodule whose tree could not be had."""
        literal = MAGIC.split(path)[0]
        return any(
            tree is None and (_below(literal, module) or module.startswith(literal))
            for module, tree in self.modules.items()
        )

    def glob(self, pattern: str, *, recursive: bool = True) -> Iterator[str]:
        """The files that `pattern` matches as CMake's `file(GLOB_RECURSE)` means it, or its `file(GLOB)`.

        The last part of the pattern is matched with the names of files at any depth below the folders that the parts
        before it match; symbolic links to folders are not followed (cmake-commands(7), policy CMP0009).
        """
        parts = [component(part) for part in pattern.split("/")]
        name, folder = re.compile(parts[-1]), re.compile("".join(f"{part}/" for part in parts[:-1]))
        leads = folder.match if recursive else folder.fullmatch
        for path in self.files:
            at = path.rfind("/") + 1
            if name.fullmatch(path, at) and leads(path[:at]):
                yield path


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


_PIECE = re.compile(r"(\*+)|(\?)|\[([!^]?)(\]?[^\]]*)\]|(.)", re.DOTALL)


def component(pattern: str) -> str:
    """A glob of one path component as a regular expression (KWSys, Glob::PatternToRegex), of linear time."""
    runs = [""]
    for match in _PIECE.finditer(pattern):
        if match[1]:
            runs.append("")
        else:
            runs[-1] += _piece(match)
    if len(runs) == 1:
        return runs[0]
    # What stands between two stars is taken where it comes first, for good: as in fnmatch.translate().
    return f"{runs[0]}{''.join(f'(?>[^/]*?{run})' for run in runs[1:-1])}[^/]*{runs[-1]}"


def _piece(match: re.Match[str]) -> str:
    if match[2]:
        return "[^/]"
    if match[5]:
        return re.escape(match[5])
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", match[4])
    return f"[{'^' if match[3] else ''}{inner}]" if inner else re.escape(match[0])
