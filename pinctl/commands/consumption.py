"""What the consumer's files ask of a pinned package and of its tree: read, or remembered where no file has changed.

The readers are imported where something has to be read: a run that remembers all of it does without them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pinctl.commands.workspace import Workspace
from pinctl.contract.breaks.freshness import Freshness
from pinctl.contract.model import BuildUse, Place, Uses
from pinctl.errors import ExternalError
from pinctl.external import files, git, uses_cache
from pinctl.external.gitcli import toplevel
from pinctl.model import NOTHING, Contract, Pin


class Consumer(NamedTuple):
    """The consumer of `pin`, which it imports as any of `names`. `planned` are files as they become, where they are not
    yet written."""

    workspace: Workspace
    pin: Pin
    names: tuple[str, ...]
    planned: Mapping[str, bytes] = NOTHING

    def uses(self, operators: Sequence[str] = ()) -> Uses:
        """What it asks of the package, of `operators` (namespaces of torch.ops), and in its build of the tree.

        Raises ExternalError.
        """
        tracked = self._tracked()
        paths = [path for path in _below(tracked, self._roots("consumer_roots")) if path.endswith(".py")]
        building = sorted({*_below(tracked, self._roots("build_roots")), *(site.file for site in self.pin.sites)})
        stamp = uses_cache.stamp(self.workspace.root, sorted({*paths, *building})) if self.workspace.remembers else None
        key = repr((self.workspace.root, self.names, operators, self.pin.name, self.pin.sites))
        found = uses_cache.recall(key, stamp) if stamp else None
        if found is None:
            found = self._read(key, paths, operators)._replace(build=self._built(building))
            if stamp and not self.planned:
                uses_cache.keep(key, stamp, found)
        elif self.planned:
            found = found._replace(build=self._built(building))
        return found

    def _read(self, key: str, paths: Iterable[str], operators: Sequence[str]) -> Uses:
        """What the Python files at `paths` ask for; the facts of single files are remembered under `key`."""
        from pinctl.contract import uses

        memory = uses_cache.facts(key) if self.workspace.remembers else None
        sources, unread = self.sources(paths)
        groups = _groups(self.names)
        groups[0] += [f"torch.ops.{space}" for space in operators]
        found = _merged([uses.read(sources, group, memory=memory) for group in groups], unread)
        if memory is not None:
            uses_cache.keep_facts(key, memory)
        return found

    def _built(self, paths: Iterable[str]) -> tuple[BuildUse, ...]:
        """The paths of the tree that the build files among `paths` name or copy."""
        from pinctl.contract.uses import build

        wanted = {path for path in paths if build.concerns(path, self.pin)}
        sources, _ = self.sources(sorted(wanted - self.planned.keys()))
        sources |= {path: source for path, source in self.planned.items() if path in wanted}
        return build.read(self.pin, sources)

    def freshness(self, uses: Uses) -> Callable[[Place], bool]:
        """Tells of a place of `uses` whether the last commit does not have it: then it came with the move of the pin.
        Asked of git when it is called first, which may raise ExternalError."""

        @cache
        def fresh() -> Freshness:
            root = self.workspace.root
            if toplevel(root) is None:
                return Freshness({}, {})
            sources, _ = self.sources(sorted({use.place.file for use in uses.uses}))
            news = git.news(root, sources)
            unborn = news.keys() == sources.keys() and git.head(root) is None  # before the first commit
            return Freshness({}, {}) if unborn else Freshness(news, sources)

        return lambda place: fresh()(place)

    def sources(self, paths: Iterable[str]) -> tuple[dict[str, bytes], dict[str, str]]:
        """The files at `paths` that can be read, and why others cannot; those that were deleted are left out."""
        found, unread = dict[str, bytes](), dict[str, str]()
        for path in paths:
            try:
                found[path] = files.read_site(self.workspace.root, path)
            except files.Missing:
                continue
            except files.Unreadable as error:
                unread[path] = f"it {error.reason}"
        return found, unread

    def _tracked(self) -> list[str]:
        """Its files: those that git tracks, or all of them outside a repository. Raises ExternalError."""
        root = self.workspace.root
        try:
            return git.ls_files(root) if toplevel(root) else files.walk(root)
        except files.Unreadable as error:
            raise ExternalError(f"{root} {error.reason}") from error

    def _roots(self, kind: str) -> tuple[str, ...]:
        """Where the pin, else pins.toml for all pins, says that the files are; () for everywhere."""
        said = (self.pin.contract or Contract(), self.workspace.manifest.contract or Contract())
        return next((roots for one in said if (roots := getattr(one, kind))), ())


def _below(paths: Iterable[str], roots: Sequence[str]) -> Iterator[str]:
    """Those of `paths` that are one of `roots` or lie below one; all, where there are no roots."""
    folders = tuple(f"{root.rstrip('/')}/" for root in roots)
    return (path for path in paths if not roots or path in roots or path.startswith(folders))


def _groups(names: Iterable[str]) -> list[list[str]]:
    """The names of each package: `deep_gemm` and `engine.third_party.deep_gemm` are of one, which comes first by the
    name that it gives itself."""
    groups: dict[str, list[str]] = {}
    for name in names:
        leaf = name.rpartition(".")[2]
        group = groups.setdefault(leaf, [leaf])
        group += [name] if name != leaf else []
    return list(groups.values())


def _merged(several: Sequence[Uses], unread: Mapping[str, str]) -> Uses:
    """The uses of several packages as one, with the files that none of them could read."""
    unseen: dict[str, int] = {}
    unread = dict(unread)
    for one in several:
        unread |= one.unread
        for reason, number in one.unseen.items():
            unseen[reason] = unseen.get(reason, 0) + number
    used = tuple(use for one in several for use in one.uses)
    return Uses(used, (), unseen, unread, tuple(use for one in several for use in one.fragile))
