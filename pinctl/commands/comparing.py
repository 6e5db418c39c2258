"""Compares two commits of a pin by what the stores of their remotes have.

The commits may lie in two repositories, as when a pin goes from a fork to its upstream: git sees both at once, and
nothing is copied.
"""

from collections.abc import Sequence
from functools import partial

from pinctl.commands import contracting, surface, targets
from pinctl.commands.evidence import at_once
from pinctl.commands.network import Asking
from pinctl.contract.changes import Changes, between
from pinctl.errors import ExternalError, PinctlError
from pinctl.external import history
from pinctl.external.store import Store
from pinctl.upstream import difference
from pinctl.upstream.comparison import Comparison, Fork, ModuleLog, Side, Span
from pinctl.upstream.difference import Difference, Move
from pinctl.upstream.log import fold
from pinctl.urls import redact, same_repo


def compare(before: Side, after: Side, asking: Asking) -> Comparison:
    """`before` beside `after`, of both of which the trees are known, with all submodules: what one of them provides is
    not asked of the system. Raises ExternalError."""
    old, new = before.evidence.forest, after.evidence.forest
    assert old is not None  # noqa: S101 - as the caller has seen
    assert new is not None  # noqa: S101
    moves = difference.moves(before.evidence.listing, after.evidence.listing)
    stores = _stores(before, after, asking)
    span = _span(stores, before.commit, after.commit)
    notes: list[str] = []
    return Comparison(
        before=before,
        after=after,
        span=span,
        difference=Difference(
            moves,
            difference.folders(before.pin.include_dirs, old, new),
            difference.needs(old, new, after.pin.system_packages),
            difference.build_files(old.root, new.root),
            tuple(history.renames(stores[-1], before.commit, after.commit, old=stores[0])),
        ),
        fork=_forked(after, asking, notes),
        surface=_surface(before, after, asking, notes),
        modules=tuple(at_once(_logged(moves), partial(_module_log, asking=asking))),
        notes=tuple(notes),
    )


def _surface(before: Side, after: Side, asking: Asking, notes: list[str]) -> Changes | None:
    """What the package exports otherwise, where it is one."""
    forest = after.evidence.forest
    if forest is None or not contracting.concerns(after.pin, forest):
        return None
    try:
        return between(*(surface.take(side.pin, side.commit, asking) for side in (before, after)))
    except PinctlError as error:
        notes.append(f"the names that it exports are not known: {error.headline}")
        return None


def _stores(before: Side, after: Side, asking: Asking) -> list[Store]:
    """The one store of both commits, or the two, with their histories."""
    repos = [after.repo] if same_repo(before.repo, after.repo) else [before.repo, after.repo]
    stores = [asking.open(repo) for repo in repos]
    stores[0].fetch(before.commit)
    stores[-1].fetch(after.commit)
    return stores


def _others(stores: Sequence[Store]) -> list[str]:
    return [store.folder for store in stores[:-1]]


def _span(stores: Sequence[Store], a: str, b: str) -> Span:
    """What lies between `a` and `b`, seen from the last of `stores`."""
    folder, also = stores[-1].folder, _others(stores)
    behind, ahead = history.counts(folder, a, b, also=also)
    gained = fold(history.commits(folder, b, a, also=also), b)
    lost = fold(history.commits(folder, a, b, also=also), a)
    return Span(tuple(gained), tuple(lost), ahead, behind)


def _logged(moves: Sequence[Move]) -> list[Move]:
    return [move for move in moves if move.before and move.after and move.before.commit != move.after.commit]


def _module_log(move: Move, asking: Asking) -> ModuleLog:
    """What lies between the two commits of a submodule. That it cannot be had stops nothing."""
    assert move.before is not None  # noqa: S101 - see _logged
    assert move.after is not None  # noqa: S101
    old, new = move.before, move.after
    urls = dict.fromkeys(url for url in (old.url, new.url) if url)
    try:
        stores = [asking.open(url) for url in urls]
        if not stores:
            return ModuleLog(move, failure=new.problem or "it has no URL")
        stores[0].fetch(old.commit)
        stores[-1].fetch(new.commit)
        return ModuleLog(move, _span(stores, old.commit, new.commit))
    except PinctlError as error:
        return ModuleLog(move, failure=error.headline)


def _forked(side: Side, asking: Asking, notes: list[str]) -> Fork | None:
    upstream = side.pin.upstream
    if upstream is None:
        return None
    try:
        own = asking.open(side.repo)
        own.fetch(side.commit)
        return fork(own, side.commit, upstream.repo, upstream.track, asking, notes)
    except PinctlError as error:
        notes.append(f"upstream {redact(upstream.repo)}: {error.headline}")
        return None


def fork(own: Store, commit: str, repo: str, track: str | None, asking: Asking, notes: list[str]) -> Fork:
    """How `commit`, whose history `own` has, stands to the branch `track` of `repo`; what of it cannot be had goes to
    `notes`. Raises UsageError for a branch that is not there, ExternalError."""
    theirs = asking.open(repo)
    top = targets.tip(theirs, track)
    theirs.fetch(top)
    base = history.merge_base(own.folder, commit, top, also=[theirs.folder])
    ahead, behind = history.counts(own.folder, commit, top, also=[theirs.folder])
    mine = history.commits(own.folder, commit, top, also=[theirs.folder])
    others = history.commits(theirs.folder, top, commit, also=[own.folder])
    try:
        taken = history.taken(own, mine, theirs, others) if mine and others else {}
    except ExternalError as error:  # its files cannot be had, as offline
        notes.append(f"which commits {redact(repo)} has taken is not known: {error.headline}")
        taken = {}
    return Fork(repo, track, base, ahead, behind, tuple(mine), tuple(others), taken)
