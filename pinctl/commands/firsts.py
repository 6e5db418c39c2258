"""The first commit of a branch that has what a pinned commit lacks, found among those that may have brought it.

As `git log -S` does, only commits are looked at that bring the wanted word into a source, and of these the surface is
read. What was there may go again, so that nothing is bisected. Bounded: where a branch is too long, nothing is told.
"""

import re
from collections.abc import Iterator, Sequence

from pinctl.commands import surface as verb
from pinctl.commands.network import Asking
from pinctl.commands.targets import tip
from pinctl.contract.requires import Requirement, first_with
from pinctl.errors import PinctlError
from pinctl.external import history
from pinctl.external.history import Change
from pinctl.external.store import Store
from pinctl.model import Pin
from pinctl.upstream.log import Commit
from pinctl.upstream.narrative import date

_SOURCES = re.compile(r".*\.(?:pyi?|c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx)")
_MOST_FILES = 4000
"""Files, old and new, in which the word is looked for."""


def first(pin: Pin, requirement: Requirement, asking: Asking) -> str | None:
    """Which commit of its branch is the first to meet a requirement that `pin` does not meet at its commit, as a hint;
    None where none does, or where that cannot be found out."""
    try:
        return _first(pin, requirement, asking)
    except PinctlError:
        return None


def _first(pin: Pin, requirement: Requirement, asking: Asking) -> str | None:
    assert pin.repo is not None  # noqa: S101 - its tree was read
    assert pin.commit is not None  # noqa: S101
    store = asking.open(pin.repo)
    branch = None if "*" in (pin.track or "*") else pin.track
    top = tip(store, branch)
    store.fetch(top, pin.commit)
    commits = history.commits(store.folder, top, pin.commit)
    if not commits or len(commits) >= history.MOST:
        return None
    when = {commit.id: commit.time for commit in commits}
    able = _bringing(store, commits[::-1], requirement)
    found = first_with(requirement, able, lambda commit: verb.take(pin, commit, asking))
    return f"the first commit of {branch or 'its branch'} that has it: {found} ({date(when[found])})" if found else None


def _bringing(store: Store, commits: Sequence[Commit], requirement: Requirement) -> Iterator[str]:
    """Those of `commits` that have more of a wanted word in their sources than before."""
    words = {requirement.name.rpartition(".")[2], *requirement.keywords}
    pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(word.encode()) for word in sorted(words)) + rb")\b")
    changes = history.changes(store.folder, commits)
    wanted = {side for group in changes.values() for change in group if _is_source(change) for side in _sides(change)}
    if len(wanted) > _MOST_FILES:
        return
    counts = {id_: len(pattern.findall(blob)) for id_, blob in store.blobs(wanted).items()}
    for commit, group in changes.items():
        sources = [change for change in group if _is_source(change)]
        if any(counts.get(change.new, 0) > counts.get(change.old, 0) for change in sources):
            yield commit


def _is_source(change: Change) -> bool:
    return _SOURCES.fullmatch(change.path) is not None


def _sides(change: Change) -> Iterator[str]:
    """The blobs before and after, where there are any."""
    return (id_ for id_ in (change.old, change.new) if id_.strip("0"))
