"""The histories in our bare repositories: what lies between two commits, and what became of commits and files.

A fork and its upstream are two repositories; where both have to be seen, the folders of the others are given as
`also`, and git reads their objects without copying any. Whoever asks has fetched the histories of all commits named,
without `depth`, and holds the stores open. All is read offline and by full ids; blobs, where they are needed, are
fetched before in one batch of each store.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from pinctl.commits import is_short
from pinctl.errors import ExternalError
from pinctl.external import bare, objects
from pinctl.external.store import MOST_BYTES, Store
from pinctl.upstream import log
from pinctl.upstream.log import Commit

MOST = 5000
"""Commits that a log tells, the newest."""
MOST_RENAMED = 1000
"""Files, gone and new together, among which likeness is looked for."""
HEAVIEST = 8 * 1024 * 1024
"""Bytes of all files that a commit changes, before and after, beyond which its patch is not computed."""

_EACH = ("-r", "--root", "--no-renames", "--no-ext-diff", "--no-textconv")
# The ids of a binary file are in its patch id, and git abbreviates ids differently in each repository.
_PATCH = ("-p", "--full-index", "--no-color")
_NO_BLOB = ("000000", "160000")  # the modes of nothing and of a submodule

_Key = TypeVar("_Key")


class Change(NamedTuple):
    """What became of one path: `status` is A, D, M, T or R with a likeness in percent (git-diff-tree(1), "RAW OUTPUT
    FORMAT"); `old` and `new` are the ids, zeros where there is none; `target` is the path that it was renamed to."""

    status: str
    path: str
    old_mode: str
    new_mode: str
    old: str
    new: str
    target: str = ""


class Rename(NamedTuple):
    """A file that has another path: `similarity` in percent, 100 for the same blob."""

    old: str
    new: str
    similarity: int


# --- commits ------------------------------------------------------------------------------------------------------


def commits(folder: str, include: str, exclude: str, *, also: Sequence[str] = (), most: int = MOST) -> list[Commit]:
    """The commits that `include` leads to and `exclude` does not, each before its parents, the newest first; of more
    than `most`, the newest. Raises ExternalError."""
    asked = ["log", "-z", f"--format={log.FORMAT}", "--date-order", f"--max-count={most}", "--stdin"]
    _check([include, exclude], [folder, *also])
    return log.parse(objects.read(folder, *asked, stdin=_lines([include, f"^{exclude}"]), also=also).stdout)


def counts(folder: str, a: str, b: str, *, also: Sequence[str] = ()) -> tuple[int, int]:
    """How many commits lead to `a` alone, and how many to `b` alone. Raises ExternalError."""
    _check([a, b], [folder, *also])
    one, other = objects.read(
        folder, "rev-list", "--left-right", "--count", f"{a}...{b}", "--", also=also
    ).stdout.split()
    return int(one), int(other)


def merge_base(folder: str, a: str, b: str, *, also: Sequence[str] = ()) -> str | None:
    """The best common ancestor of two commits; None where their histories have nothing in common. Raises
    ExternalError."""
    _check([a, b], [folder, *also])
    done = objects.read(folder, "merge-base", a, b, accept=(0, 1), also=also)
    return done.stdout.decode("ascii").strip() or None


def leads(folder: str, tips: Iterable[str], commit: str) -> bool:
    """Whether any of `tips`, of which all histories are here, is `commit` or has it in its history. Raises
    ExternalError."""
    tips = list(tips)
    _check([commit, *tips], [folder])
    return _reaches(folder, tips, commit)


def by_prefix(folder: str, short: str, *, also: Sequence[str] = ()) -> list[str]:
    """The commits here, by full id, whose ids begin with the 4 to 63 digits `short`.

    Objects are looked through, and never refs: a tag or branch of that name is nothing to it (gitrevisions(7)). What
    is here is what was fetched at any time, which may be more than the remote still has. Raises ExternalError.
    """
    if not is_short(short):
        raise ExternalError(f"{short[:80]!r} is no short commit id: 4 digits or more, in small letters")
    found = objects.read(folder, "rev-parse", f"--disambiguate={short}", also=also).stdout
    kinds = objects.read(folder, "cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=found, also=also).stdout
    pairs = (line.split(" ") for line in kinds.decode("ascii").splitlines())
    return sorted(id_ for kind, id_ in pairs if kind == "commit")


# --- commits that another history has taken -----------------------------------------------------------------------


def taken(fork: Store, fork_only: Sequence[Commit], upstream: Store, upstream_only: Sequence[Commit]) -> dict[str, str]:
    """Which commits of a fork its upstream has taken meanwhile, by id: the newest one there that makes the same change.

    The same change is the same patch, whatever lines stand around it elsewhere and however white space differs
    (git-patch-id(1)); merges and commits without a change are left out, and those that change more than HEAVIEST bytes
    are known by their blobs alone. Only trees are read of most commits; the blobs of those that change the same paths
    on both sides are fetched. Raises ExternalError, offline also where such a blob is not here.
    """
    ours, theirs = changes(fork.folder, fork_only), changes(upstream.folder, upstream_only)
    same = _paired(ours, theirs)
    wanted = _alike({id_: changes for id_, changes in ours.items() if id_ not in same}, theirs)
    offered = _alike(theirs, wanted)
    return {**same, **_paired(_patch_ids(fork, wanted), _patch_ids(upstream, offered))}


_Changes = Mapping[str, frozenset[Change]]


def changes(folder: str, commits: Iterable[Commit]) -> _Changes:
    """What each commit changes; merges, of which git-diff-tree(1) tells nothing, and those without a change are left
    out."""
    ids = [commit.id for commit in commits]
    _check(ids, [folder])
    found: dict[str, set[Change]] = {}
    listed = objects.read(folder, "diff-tree", "--stdin", "--raw", "-z", *_EACH, stdin=_lines(ids)).stdout
    for id_, change in _raw(listed):
        found.setdefault(id_, set()).add(change)
    return {id_: frozenset(found[id_]) for id_ in ids if id_ in found}


def _paired(ours: Mapping[str, _Key], theirs: Mapping[str, _Key]) -> dict[str, str]:
    """The ids of ours, each with the first of theirs that has the same value."""
    first = {key: id_ for id_, key in reversed(list(theirs.items()))}
    return {id_: first[key] for id_, key in ours.items() if key in first}


def _alike(some: _Changes, others: _Changes) -> _Changes:
    """Those of `some` that do the same to the same paths as one of `others`."""
    known = set(map(_shape, others.values()))
    return {id_: changes for id_, changes in some.items() if _shape(changes) in known}


def _shape(changes: frozenset[Change]) -> frozenset[tuple[str, str]]:
    return frozenset((change.status, change.path) for change in changes)


def _patch_ids(store: Store, changes: _Changes) -> dict[str, str]:
    """The patch id of each commit that is not too heavy, in order; its blobs are fetched."""
    sizes = _have(store, (change for group in changes.values() for change in group))
    weights = {id_: sum(sizes[blob] for blob in _blobs(group)) for id_, group in changes.items()}
    found: dict[str, str] = {}
    for piece in objects.pieces({id_: weight for id_, weight in weights.items() if weight <= HEAVIEST}):
        patches = objects.read(store.folder, "diff-tree", "--stdin", *_PATCH, *_EACH, stdin=_lines(piece)).stdout
        listed = objects.read(store.folder, "patch-id", "--stable", stdin=patches).stdout.decode("ascii").split()
        found.update(zip(listed[1::2], listed[::2], strict=True))
    return found


# --- files that another path has ----------------------------------------------------------------------------------


def renames(store: Store, a: str, b: str, *, old: Store | None = None) -> list[Rename]:
    """The files of commit `a` that have another path in commit `b`, in the order of their new paths.

    `store` has `b`, and `old` has `a` where that is another one. The same blob at another path needs no blob. Likeness
    is git's (git-diff(1), `-M`); for it the files gone and new are fetched, unless they are more than MOST_RENAMED or
    cannot be had: then only equal ones are told. Raises ExternalError.
    """
    objects.check_id(a)
    objects.check_id(b)
    old = old or store
    also = [old.folder] if old is not store else []
    asked = ["diff-tree", "--raw", "-r", "-z", "--no-rename-empty", "--no-ext-diff", "--no-textconv"]
    found = _between(store.folder, [*asked, "-M100%"], a, b, also)
    gone, come = ([change for change in found if change.status == status] for status in "DA")
    if gone and come and len(gone) + len(come) <= MOST_RENAMED and _can_be_had(old, gone, store, come):
        found = _between(store.folder, [*asked, "-M", f"-l{MOST_RENAMED}"], a, b, also)
    return [Rename(c.path, c.target, int(c.status[1:])) for c in found if c.target]


def _between(folder: str, asked: Sequence[str], a: str, b: str, also: Sequence[str]) -> list[Change]:
    return [change for _, change in _raw(objects.read(folder, *asked, a, b, also=also).stdout)]


def _can_be_had(old: Store, gone: Iterable[Change], new: Store, come: Iterable[Change]) -> bool:
    """Whether the files gone and new are here, fetched if need be, and are not too much to compare."""
    try:
        return sum(_have(old, gone).values()) + sum(_have(new, come).values()) <= MOST_BYTES
    except ExternalError:
        return False


# --- how git is asked ---------------------------------------------------------------------------------------------


def _check(ids: Iterable[str], folders: Iterable[str]) -> None:
    """Raises ExternalError for what is no full id, and where the history of one of `ids` was cut: it gives wrong
    answers, not failures."""
    ids = list(ids)
    for id_ in ids:
        objects.check_id(id_)
    for folder in folders:
        for cut in bare.shallow(folder):
            if ids and _reaches(folder, ids, cut):
                raise ExternalError("the history is here in part only, so nothing can be said of it")


def _reaches(folder: str, tips: Iterable[str], commit: str) -> bool:
    """Whether one of `tips`, as far as they are here, is `commit` or leads to it."""
    here = [tip for tip, size in objects.sizes(folder, list(tips)).items() if size is not None]
    asked = _lines([commit, *(f"^{tip}" for tip in here)])
    return not objects.read(folder, "rev-list", "--max-count=1", "--stdin", stdin=asked).stdout


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode("ascii")


def _raw(output: bytes) -> Iterator[tuple[str, Change]]:
    """The changes of `git diff-tree --raw -z`, each with the commit that it stands under, if there is one."""
    words = iter(os.fsdecode(output).split("\0")[:-1])
    commit = ""
    for word in words:
        if not word.startswith(":"):
            commit = word
            continue
        old_mode, new_mode, old, new, status = word[1:].split(" ")
        path = next(words)
        target = next(words) if status[0] == "R" else ""
        yield commit, Change(status, path, old_mode, new_mode, old, new, target)


def _blobs(changes: Iterable[Change]) -> set[str]:
    sides = ((mode, id_) for c in changes for mode, id_ in ((c.old_mode, c.old), (c.new_mode, c.new)))
    return {id_ for mode, id_ in sides if mode not in _NO_BLOB}


def _have(store: Store, changes: Iterable[Change]) -> dict[str, int]:
    """The blobs of `changes` with their sizes, after those that were not here were fetched in one batch."""
    wanted = sorted(_blobs(changes))
    store.blobs(wanted, limit=0)  # for the fetch; nothing is read
    return {id_: size or 0 for id_, size in objects.sizes(store.folder, wanted).items()}
