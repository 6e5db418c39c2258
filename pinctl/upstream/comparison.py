"""Two commits of a pin beside each other, as data: their histories, the fork's distance, and what their trees have
apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pinctl.contract.changes import Changes
from pinctl.model import NOTHING, Pin
from pinctl.upstream.difference import Difference, Move
from pinctl.upstream.evidence import Evidence
from pinctl.upstream.log import Commit, Entry


class Side(NamedTuple):
    """A pin at one of the two commits, and what its remote holds of it."""

    pin: Pin
    evidence: Evidence

    @property
    def repo(self) -> str:
        return self.pin.repo or ""

    @property
    def commit(self) -> str:
        return self.pin.commit or ""


class Span(NamedTuple):
    """What lies between two commits: the commits that only one of them has, each newest first."""

    gained: tuple[Entry, ...] = ()
    lost: tuple[Entry, ...] = ()
    ahead: int = 0
    behind: int = 0


class ModuleLog(NamedTuple):
    """The log of a submodule that moved; `failure` says why there is none."""

    move: Move
    span: Span = Span()
    failure: str | None = None


class Fork(NamedTuple):
    """How a commit stands to the branch of the repository that its own forks: the merge base, how many commits only
    the fork has and only upstream, the newest of them, and which fork-only ones upstream has taken, each by its id."""

    repo: str
    track: str | None
    base: str | None
    ahead: int = 0
    behind: int = 0
    own: tuple[Commit, ...] = ()
    theirs: tuple[Commit, ...] = ()
    taken: Mapping[str, str] = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All of it. `fork` is None for a pin that is none, `surface` for one that exports nothing to Python; `notes` say
    what could not be had."""

    before: Side
    after: Side
    span: Span
    difference: Difference
    fork: Fork | None = None
    modules: tuple[ModuleLog, ...] = ()
    surface: Changes | None = None
    notes: tuple[str, ...] = ()
