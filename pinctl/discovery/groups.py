"""Groups of sightings, and how their values compare."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pinctl.compare import agree
from pinctl.discovery import values
from pinctl.discovery.literals import What
from pinctl.discovery.sightings import Sighting, Weight
from pinctl.urls import identity

REFS = (What.COMMIT, What.TAG, What.VERSION)
"""What is bumped."""
_DIGITS = 7
"""git's default abbreviation (core.abbrev)."""


@dataclass(slots=True)
class Group:
    """Sightings of one dependency. `variant` is what tells it from others of its name: an accelerator, a version."""

    sightings: list[Sighting] = field(default_factory=list)
    variant: str = ""

    def of(self, *whats: What) -> list[Sighting]:
        """The sightings of those kinds."""
        return [s for s in self.sightings if s.what in whats]

    @property
    def firm(self) -> list[Sighting]:
        """The refs that speak for the group's value."""
        return [s for s in self.of(*REFS) if s.weight is Weight.FIRM]

    @property
    def said(self) -> set[str]:
        """The refs that a person wrote, each as `spelled`."""
        return {spelled(s.value) for s in self.of(*REFS) if s.weight is not Weight.LOCKED}

    @property
    def refs(self) -> set[str]:
        """All the refs, each as `spelled`."""
        return {spelled(s.value) for s in self.of(*REFS)}

    @property
    def repos(self) -> Counter[str]:
        return Counter(identity(s.value) for s in self.of(What.REPO))

    @property
    def packages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p for s in self.sightings for p in s.packages))

    @property
    def abouts(self) -> set[str]:
        return {s.about for s in self.sightings if s.about}

    @property
    def files(self) -> set[str]:
        return {s.file for s in self.sightings}


def spelled(value: str) -> str:
    """A ref in the one spelling in which two are compared: a commit by its first digits, a version without its v and
    its label."""
    is_id = values.is_short(value[:39]) and not values.is_version(value)
    return value[:_DIGITS] if is_id else values.bare(value)


def like(value: str, main: str) -> bool:
    """Whether two spellings name one value: with a label or a leading v, a commit by its first digits."""
    return spelled(value) == spelled(main) and (not values.is_short(value[:39]) or agree(value, main))


def is_series(value: str, other: str) -> bool:
    """Whether one of two versions is the series of the other: 13.0 and 13.0.3."""
    shorter, longer = sorted((values.bare(value).split("."), values.bare(other).split(".")), key=len)
    return len(shorter) < len(longer) and longer[: len(shorter)] == shorter


def main_value(groups: Iterable[Group], of_all: Iterable[Group] = ()) -> str | None:
    """The value that most files of `groups` hold, without v and label; of those with equally many, the one that most
    files `of_all` do. None where no group says any."""
    overall = _files_by_value(of_all)
    counts = _files_by_value(groups) or overall
    return max(sorted(counts), key=lambda value: (counts[value], overall[value]), default=None)


def _files_by_value(groups: Iterable[Group]) -> Counter[str]:
    held = {(values.bare(s.value), s.file) for group in groups for s in group.firm}
    return Counter(value for value, _ in held)


Keys = Callable[[int], Iterable[tuple[str, str]]]
"""What the nth of some things has in common with others."""


def joined(count: int, keys: Keys) -> list[list[int]]:
    """`count` things by number, those with a key in common together (union-find with path halving)."""
    parent = list(range(count))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    first: dict[tuple[str, str], int] = {}
    for at in range(count):
        for key in keys(at):
            parent[root(at)] = root(first.setdefault(key, at))
    gathered: defaultdict[int, list[int]] = defaultdict(list)
    for at in range(count):
        gathered[root(at)].append(at)
    return list(gathered.values())


def units(seen: Sequence[Sighting]) -> list[Group]:
    """What one call says is one unit; anything else is one by itself."""
    together = joined(len(seen), lambda at: [("call", call) for call in seen[at].calls])
    return [Group([seen[at] for at in members]) for members in together]
