"""Which side of a drift changed last: by the work tree, then by git's history of the two lines."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pinctl import manifest
from pinctl.commands import previous
from pinctl.commands.workspace import Workspace
from pinctl.drift import Newer, origin_keys
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.finding import Location
from pinctl.model import Manifest
from pinctl.reconcile import Observation


@dataclass(slots=True)
class _History:
    """Answers for one workspace: each file is blamed once, and each pair of commits compared once."""

    workspace: Workspace
    changes: dict[Location, git.Change | None] = field(default_factory=dict)
    order: dict[tuple[git.Change, git.Change], git.Change | None] = field(default_factory=dict)
    manifests: dict[str, Manifest | None] = field(default_factory=dict)

    def blame(self, places: Iterable[Location]) -> None:
        by_file: defaultdict[str, dict[Location, tuple[int, int]]] = defaultdict(dict)
        for at in places:
            if at.span is not None:
                by_file[at.file][at] = (at.span.line, at.span.end_line or at.span.line)
        for file, ranges in by_file.items():
            found = git.last_changes(self.workspace.root, file, list(ranges.values()))
            self.changes.update(zip(ranges, found, strict=True))

    def newer(self, observation: Observation) -> Newer:
        """Which side changed last. UNKNOWN where that cannot be told: one commit made both, or the same second."""
        site = self.changes.get(_place(observation))
        pins = [change for at in self.origins(observation) if (change := self.changes.get(at)) is not None]
        if site is None or not pins:
            return Newer.UNKNOWN
        latest = [self._later(site, pin) for pin in pins]
        if all(change is site for change in latest):
            return Newer.SITE
        if None in latest:
            return Newer.UNKNOWN
        return Newer.BORN if all(self._born(observation, pin) for pin in pins) else Newer.PIN

    def origins(self, observation: Observation) -> list[Location]:
        """Where pins.toml states what the site should hold."""
        return [manifest.locate(self.workspace.manifest, key) for key in origin_keys(observation)]

    def _later(self, a: git.Change, b: git.Change) -> git.Change | None:
        if (a, b) not in self.order:
            self.order[a, b] = git.later(self.workspace.root, a, b)
        latest = self.order[a, b]
        return a if latest == a else b if latest == b else None

    def _born(self, observation: Observation, change: git.Change) -> bool:
        """Whether `change` wrote the pin itself, so that pin and site have differed for as long as there is a pin."""
        before = "HEAD" if change.commit is None else f"{change.commit}~1"
        if before not in self.manifests:
            self.manifests[before] = previous.manifest_at(self.workspace, before)
        known = self.manifests[before]
        return known is None or (observation.site.pin is not None and observation.site.pin not in known.pins)


def _place(observation: Observation) -> Location:
    return Location(file=observation.site.file, span=observation.span)


def movements(workspace: Workspace, observations: Iterable[Observation]) -> dict[int, Newer]:
    """For each differing observation, by `id`, which side changed last; {} without history. Raises ExternalError."""
    if toplevel(workspace.root) is None or git.head(workspace.root) is None:
        return {}
    history, seen = _History(workspace), list(observations)
    history.blame({at for o in seen for at in (_place(o), *history.origins(o))})
    return {id(o): history.newer(o) for o in seen}
