"""What the verbs of patches begin with: the patches of a pin, read and looked at, and the trees that they are for."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pinctl.commands.network import Asking
from pinctl.errors import ExternalError, UsageError
from pinctl.external import files
from pinctl.finding import Finding, Location, Span
from pinctl.model import NOTHING, Patch, Pin
from pinctl.patches import safety, states, trees
from pinctl.patches.judging import Place, Steps
from pinctl.patches.model import Change, Replacement
from pinctl.patches.reading import LONGEST, PatchError
from pinctl.patches.reading import read as parsed
from pinctl.patches.states import Step
from pinctl.upstream import submodules
from pinctl.upstream.forest import Forest
from pinctl.upstream.telling import Telling
from pinctl.upstream.tree import Tree

SHORT = 10
"""Digits of a commit that a person is shown."""


class Series(NamedTuple):
    """The patches of a pin that could be read, by their number, and what is wrong with the others."""

    steps: Steps
    findings: tuple[Finding, ...]

    @property
    def paths(self) -> list[str]:
        return states.paths(self.steps.values())


def read(root: str, say: Telling, planned: Mapping[str, bytes] = NOTHING) -> Series:
    """The patches of the pin of `say`, whose files lie below the folder `root` of pins.toml; `planned` are files as
    they become."""
    pin = say.pin
    steps: dict[int, Step] = {}
    told: list[Finding] = []
    for n, patch in enumerate(pin.patches):
        changes = {name: _change(_Source(root, planned), patch, name, n, say, told) for name in _forms(patch)}
        if change := changes.pop(patch.file, None):
            steps[n] = Step(patch.name, change, {str(name): one for name, one in changes.items() if one})
    return Series(steps, tuple(told))


class _Source(NamedTuple):
    root: str
    planned: Mapping[str, bytes]

    def read(self, file: str) -> bytes:
        """Raises files.Unreadable."""
        return self.planned[file] if file in self.planned else files.read_site(self.root, file, LONGEST)


def _forms(patch: Patch) -> tuple[str | None, ...]:
    """The files of a patch, its own first; None for one that is no file."""
    return (patch.file, *patch.supersedes)


def _change(
    source: _Source, patch: Patch, file: str | None, number: int, say: Telling, told: list[Finding]
) -> Change | None:
    """What the patch changes in its form `file`; None where it may not be used, which is told."""
    key = ("patches", number, "file" if file == patch.file else "supersedes")
    if file is None:
        change: Change = Replacement(
            patch.target or "", (patch.search or "").encode(), (patch.replace or "").encode(), patch.times
        )
    else:
        try:
            change = parsed(source.read(file))
        except files.Unreadable as error:
            told.append(say.tell("PIN501", f"the patch {file} {error.reason}", *key))
            return None
        except PatchError as error:
            what = f"{file}, line {error.line}: {error}"
            related = (Location(file, Span(error.line), "here"),)
            told.append(say.tell("PIN502", what, *key)._replace(related=related))
            return None
    refused = [f"{file or patch.name}: {why}" for why in safety.problems(change, executables=patch.executables)]
    told += [say.tell("PIN503", why, *key) for why in refused]
    return None if refused else change


# --- trees --------------------------------------------------------------------------------------------------------


def forests(pin: Pin, commits: Sequence[str], paths: Collection[str], asking: Asking) -> list[Forest]:
    """The trees of `pin` at full ids `commits`, with those submodules in which any of `paths` lie; the blobs of the
    paths are fetched in one batch. Raises UsageError without a repository, ExternalError."""
    if pin.repo is None:
        raise UsageError(f"{pin.name} has no repository", hint="look at an installed copy: --in DIR")
    store = asking.open(pin.repo)
    store.fetch(*dict.fromkeys(commits), depth=1)
    found = [asking.tree(store, commit) for commit in commits]
    wanted = [{tree.files[path] for path in paths if path in tree.files} for tree in found]
    blobs = store.blobs(sorted(set().union(*wanted)), trees.LARGEST)
    for tree, ids in zip(found, wanted, strict=True):
        tree.known.update((id_, blobs[id_]) for id_ in ids if id_ in blobs)
    return [Forest(tree, _modules(tree, pin.repo, paths, asking)) for tree in found]


def _modules(tree: Tree, repo: str, paths: Collection[str], asking: Asking) -> dict[str, Tree | None]:
    """The trees of the submodules in which `paths` lie; None for one that cannot be had."""
    touched = [link for link in tree.gitlinks if any(path.startswith(f"{link}/") for path in paths)]
    if not touched:
        return {}
    listing = submodules.read(tree, repo, transports=asking.profile.transports).submodules
    return {link: _module(listing[link].url if link in listing else None, tree.gitlinks[link], asking)
            for link in touched}  # fmt: skip


def _module(url: str | None, commit: str, asking: Asking) -> Tree | None:
    if url is None:
        return None
    try:
        store = asking.open(url)
        store.fetch(commit, depth=1)
        return asking.tree(store, commit)
    except ExternalError:
        return None


def place(forest: Forest, paths: Collection[str]) -> Place:
    """The pinned tree, or another one of upstream, as patches are held against it. Raises ExternalError."""
    return Place(f"commit {forest.root.commit[:SHORT]}", trees.of(forest, paths))


def taken(pin: Pin, commit: str, asking: Asking) -> set[int]:
    """The numbers of the patches whose upstream commit lies in the history of `commit`. Raises ExternalError."""
    backports = {n: patch.backport for n, patch in enumerate(pin.patches) if patch.backport}
    if not backports or pin.repo is None:
        return set()
    store = asking.open(pin.repo)
    store.fetch(commit)
    return {n for n, id_ in backports.items() if store.has(id_) and store.is_ancestor(id_, commit)}
