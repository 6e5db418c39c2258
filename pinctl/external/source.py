"""The parts of a source: a repository at one commit, and the submodules of it that are wanted, fetched into the cache.

Everything that could make a checkout write or read outside its folder is looked for before one is made: paths, links,
names and URLs come from a stranger (CVE-2018-11235, CVE-2018-17456, CVE-2024-32002, CVE-2025-48384).
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from posixpath import dirname, join
from typing import NamedTuple

from pinctl.errors import ExternalError, PinctlError
from pinctl.external.gitcli import Profile
from pinctl.external.parallel import each
from pinctl.external.remote import Hostile
from pinctl.external.store import Store
from pinctl.upstream import submodules
from pinctl.upstream.submodules import Listing, Submodule
from pinctl.upstream.tree import Tree
from pinctl.urls import redact

DEEPEST = 4
"""Levels of submodules in submodules that are looked at."""
MOST = 64
"""Submodules that a source may have in all."""

_LONGEST_LINK = 4096


class Request(NamedTuple):
    """A source that is wanted. `wanted` None: all submodules; `recursive`: theirs, too."""

    url: str
    commit: str
    wanted: tuple[str, ...] | None
    recursive: bool


class Part(NamedTuple):
    """One repository of a source at one commit: the root at path "", or a submodule at its path from the root.

    `modules` are the submodules in it that are wanted, by the names that .gitmodules gives them, with their URLs.
    """

    path: str
    url: str
    commit: str
    modules: tuple[tuple[str, str], ...] = ()


class Source(NamedTuple):
    """A source that is in the cache: its parts, the root first; `age` is the seconds since a server last answered,
    the most of any part."""

    parts: tuple[Part, ...]
    age: float


class _Facts(NamedTuple):
    """What the tree of a commit says: its submodules, and its symbolic links with their targets."""

    listing: Listing
    links: Mapping[str, str]
    age: float


def gather(
    requests: Sequence[Request], profile: Profile, *, offline: bool, step: Callable[[int], object]
) -> list[Source | PinctlError]:
    """The source of each request, everything of it in the cache afterwards; or why it cannot be had.

    Level by level, all repositories of one level at once. `step` is called with 1 for each request whose root is there.
    """
    seeking = [_Seeking(request) for request in requests]
    known: dict[tuple[str, str], _Facts | PinctlError] = {}

    def fetch(key: tuple[str, str]) -> _Facts:
        return _facts(*key, profile, offline)

    for depth in range(DEEPEST + 2):
        new = list(dict.fromkeys((p.url, p.commit) for s in seeking for p in s.level if (p.url, p.commit) not in known))
        known.update(zip(new, each(new, fetch, (lambda _: None) if depth else step), strict=True))
        for one in seeking:
            one.learn(known)
    return [one.error or Source(tuple(one.parts), one.age) for one in seeking]


def _facts(url: str, commit: str, profile: Profile, offline: bool) -> _Facts:
    """What a commit's tree says, with everything of it in the cache. Raises PinctlError."""
    with Store.open(url, profile=profile, offline=offline) as store:
        store.fetch(commit, filter=None, depth=1)
        kind, _ = store.peel(commit)
        if kind != "commit":
            raise ExternalError(f"{commit} of {redact(url)} is a {kind}, no commit")
        entries = store.tree(commit)
        special = {entry.path for entry in entries if not entry.mode.startswith("100")}
        for a, b in _twins(entry.path for entry in entries):
            if sys.platform == "darwin" or not special.isdisjoint((a, b)):
                raise Hostile(f"{redact(url)} cannot be checked out: some file systems take {a!r} for {b!r}")
        tree = Tree.of(commit, entries, store.blobs)
        targets = store.blobs(tree.links.values(), _LONGEST_LINK)
        links = {path: os.fsdecode(targets.get(id_, b"/")) for path, id_ in tree.links.items()}
        listing = submodules.read(tree, url, transports=profile.transports)
        return _Facts(listing, links, store.age or 0.0)


class _Seeking:
    """A request on its way: `parts` are known, those of `level` are being asked for."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.level = [Part("", request.url, request.commit)]
        self.parts: list[Part] = []
        self.age = 0.0
        self.depth = 0
        self.error: PinctlError | None = None

    def learn(self, known: Mapping[tuple[str, str], _Facts | PinctlError]) -> None:
        """Go one level deeper."""
        level, self.level = self.level, []
        try:
            for part in level:
                self._learn(part, known[part.url, part.commit])
        except PinctlError as error:
            self.error, self.level = error, []
        self.depth += 1

    def _learn(self, part: Part, facts: _Facts | PinctlError) -> None:
        if isinstance(facts, PinctlError):
            raise facts
        self.age = max(self.age, facts.age)
        if link := _leaving(part.path, facts.links):
            raise Hostile(f"{redact(part.url)} cannot be checked out: the symbolic link {link!r} leads out of it")
        modules = [(path, _usable(part, facts.listing, path)) for path in self._wanted(facts.listing)]
        if modules and facts.listing.problem:
            raise Hostile(f"the submodules of {redact(part.url)} cannot be used: {facts.listing.problem}")
        if modules and self.depth >= DEEPEST:
            raise Hostile(f"{redact(self.request.url)} has submodules more than {DEEPEST} deep")
        self.parts.append(part._replace(modules=tuple((name, url) for _, (name, url, _) in modules)))
        self.level += [Part(join(part.path, path), url, commit) for path, (_, url, commit) in modules]
        if len(self.parts) + len(self.level) > MOST + 1:
            raise Hostile(f"{redact(self.request.url)} has more than {MOST} submodules")

    def _wanted(self, listing: Listing) -> list[str]:
        if self.depth == 0:
            return list(listing.submodules) if self.request.wanted is None else list(self.request.wanted)
        return list(listing.submodules) if self.request.recursive else []


def _usable(part: Part, listing: Listing, path: str) -> tuple[str, str, str]:
    """The name, URL and commit of a submodule. Raises Hostile for one that cannot be used."""
    module: Submodule | None = listing.submodules.get(path)
    if module is None:
        raise Hostile(f"{redact(part.url)} has no submodule {path} at {part.commit}")
    if module.problem or module.url is None or module.name is None:
        problem = module.problem or "it has no entry in .gitmodules"
        raise Hostile(f"the submodule {path} of {redact(part.url)} cannot be used: {problem}")
    return module.name, module.url, module.commit


def _twins(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of paths, of files or folders, that are one where letter case is folded or accents are composed."""
    names: dict[str, str] = {}
    seen: set[str] = set()
    for path in paths:
        while path and path not in seen:
            seen.add(path)
            if (twin := names.setdefault(_folded(path), path)) != path:
                yield twin, path
            path = dirname(path)


def _folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def _leaving(path: str, links: Mapping[str, str]) -> str | None:
    """The first link of the part at `path` that may lead out of the source."""
    for link, target in links.items():
        where = dirname(join(path, link))
        if _leaves(target, where.count("/") + 1 if where else 0):
            return join(path, link)
    return None


def _leaves(target: str, depth: int) -> bool:
    """Whether a link that lies `depth` folders deep may lead out. A `..` behind a name is taken for one that does:
    where it leads depends on whether the name is a link."""
    names = [name for name in target.split("/") if name not in ("", ".")]
    ups = next((n for n, name in enumerate(names) if name != ".."), len(names))
    return target.startswith("/") or ups > depth or ".." in names[ups:]
