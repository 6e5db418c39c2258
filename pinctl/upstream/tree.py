"""The tree of one commit: its paths by kind, and its blobs by a callable that fetches them in one batch."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import dirname, join, normpath
from typing import NamedTuple

LARGEST = 1024 * 1024
"""Bytes of a source file that is looked into."""

_EXECUTABLE, _LINK, _GITLINK = "100755", "120000", "160000"
_MOST_LINKS = 16
_LONGEST_LINK = 4096

ReadBlobs = Callable[[Sequence[str], int], Mapping[str, bytes]]
"""The blobs of the given ids by id, without those that have more than so many bytes."""


class Entry(NamedTuple):
    """One path of a tree: `mode` in octal as git prints it ("100644", "120000" a link, "160000" a submodule)."""

    path: str
    mode: str
    id: str


@dataclass(frozen=True)
class Tree:
    """The tree of `commit`: regular files, symbolic links and submodules, each path with its id."""

    commit: str
    files: Mapping[str, str]
    links: Mapping[str, str]
    gitlinks: Mapping[str, str]
    reader: ReadBlobs
    known: dict[str, bytes] = field(default_factory=dict, repr=False)
    """What was read, by id: whoever reads many files at once spares the others their requests."""
    executables: frozenset[str] = frozenset()
    """The regular files that may be executed."""

    @classmethod
    def of(cls, commit: str, entries: Iterable[Entry], reader: ReadBlobs) -> "Tree":
        """The tree of `commit` from what `git ls-tree -r` lists of it."""
        files: dict[str, str] = {}
        links: dict[str, str] = {}
        gitlinks: dict[str, str] = {}
        executables = []
        for path, mode, id_ in entries:
            kind = gitlinks if mode == _GITLINK else links if mode == _LINK else files
            kind[path] = id_
            if mode == _EXECUTABLE:
                executables.append(path)
        return cls(commit, files, links, gitlinks, reader, executables=frozenset(executables))

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds something, without a slash at its end."""
        found: set[str] = set()
        for path in (*self.files, *self.links, *self.gitlinks):
            parent = dirname(path)
            while parent and parent not in found:
                found.add(parent)
                parent = dirname(parent)
        return frozenset(found)

    def read(self, paths: Iterable[str], limit: int = LARGEST) -> dict[str, bytes]:
        """The regular files among `paths` that have at most `limit` bytes, fetched in one batch."""
        wanted = {path: self.files[path] for path in paths if path in self.files}
        if missing := [id_ for id_ in dict.fromkeys(wanted.values()) if id_ not in self.known]:
            self.known.update(self.reader(missing, limit))
        found = ((path, self.known.get(id_)) for path, id_ in wanted.items())
        return {path: blob for path, blob in found if blob is not None and len(blob) <= limit}

    def real(self, path: str) -> str | None:
        """`path` with the symbolic links on its way followed; None where one leaves the tree or leads nowhere."""
        for _ in range(_MOST_LINKS):
            link = next((part for part in _upwards(path) if part in self.links), None) if self.links else None
            if link is None:
                return path
            id_ = self.links[link]
            target = self.reader([id_], _LONGEST_LINK).get(id_)
            if target is None:
                return None
            path = normpath(join(dirname(link), target.decode("utf-8", "surrogateescape")) + path[len(link) :])
            if path.startswith(("../", "/")) or path == "..":
                return None
        return None


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = dirname(path)


def twins(tree: Tree) -> list[tuple[str, str]]:
    """The paths that a file system which folds letter case or composes accents takes for another (CVE-2024-32002)."""
    found = []
    seen: dict[str, str] = {}
    for path in (*tree.files, *tree.links, *tree.gitlinks):
        other = seen.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            found.append((other, path))
    return found
