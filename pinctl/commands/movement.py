"""Which side of a drift changed last: by the work tree, then by git's history of the two values.

A line may change while the value in it stays: another pin's value stands beside it, or it was only laid out anew. So
the last change of a line counts only where its side held another value before, and else the one before that.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pinctl import manifest, template
from pinctl.commands import history
from pinctl.commands.workspace import Workspace
from pinctl.compare import Verdict, compare
from pinctl.drift import Newer, origin_keys
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.facts import FactError
from pinctl.finding import Location
from pinctl.model import Manifest
from pinctl.reconcile import Observation, reconcile
from pinctl.template import Expected

_MOST_STEPS = 50
"""So many changes of a line that left its value alone are looked through; the next one counts."""

_Places = list[Location]
_Before = Callable[[Observation, str], _Places | None]
"""Where a side stood at a revision, if it held there what it holds now; None if not."""


@dataclass(slots=True)
class _History:
    """Answers for one workspace: each file is blamed once, and each pair of commits compared once."""

    workspace: Workspace
    changes: dict[Location, git.Change | None] = field(default_factory=dict)
    order: dict[tuple[git.Change, git.Change], git.Change | None] = field(default_factory=dict)
    manifests: dict[str, Manifest | None] = field(default_factory=dict)
    files: dict[tuple[str, str], bytes | None] = field(default_factory=dict)

    def blame(self, places: Iterable[Location]) -> None:
        for file, ranges in _by_file(places).items():
            found = git.last_changes(self.workspace.root, file, list(ranges.values()))
            self.changes.update(zip(ranges, found, strict=True))

    def newer(self, observation: Observation) -> Newer:
        """Which side changed last. UNKNOWN where that cannot be told: one commit made both, or the same second."""
        site = self._latest([_place(observation)])
        pin = self._latest(self.origins(observation))
        if site is None or pin is None:
            return Newer.UNKNOWN
        for _ in range(_MOST_STEPS):
            latest = self._later(site, pin)
            earlier_site = self._earlier(observation, site, self._site_before) if latest != pin else None
            earlier_pin = self._earlier(observation, pin, self._pin_before) if latest != site else None
            if earlier_site is None and earlier_pin is None:
                break
            site, pin = earlier_site or site, earlier_pin or pin
        return self._judged(observation, site, pin)

    def origins(self, observation: Observation) -> _Places:
        """Where pins.toml states what the site should hold."""
        return [manifest.locate(self.workspace.manifest, key) for key in origin_keys(observation)]

    def _judged(self, observation: Observation, site: git.Change, pin: git.Change) -> Newer:
        """The answer, where `site` and `pin` are the last changes of the two values."""
        latest = self._later(site, pin)
        if latest is None and pin != git.UNCOMMITTED:
            return Newer.UNKNOWN
        if latest != site and self._born(observation, pin):
            return Newer.BORN
        if latest == pin:
            return Newer.PIN
        # A site that is new, or of two uncommitted ones, was set by somebody unless it is what the pin gave before.
        told = latest == site and self._site_at(observation, _before(site)) is not None
        return Newer.PIN if not told and self._left_behind(observation, pin) else Newer.SITE

    def _latest(self, places: _Places) -> git.Change | None:
        changes = [change for at in places if (change := self.changes.get(at)) is not None]
        return git.latest(self.workspace.root, changes) if changes else None

    def _later(self, a: git.Change, b: git.Change) -> git.Change | None:
        if (a, b) not in self.order:
            self.order[a, b] = git.later(self.workspace.root, a, b)
        return self.order[a, b]

    def _earlier(self, observation: Observation, change: git.Change, stood: _Before) -> git.Change | None:
        """The change before `change`, if `change` left the value alone."""
        before = _before(change)
        places = stood(observation, before)
        if places is None:
            return None
        found = [
            made
            for file, ranges in _by_file(places).items()
            for made in git.blame(self.workspace.root, before, file, list(ranges.values())).values()
        ]
        return git.latest(self.workspace.root, found) if found else None

    def _site_before(self, observation: Observation, revision: str) -> _Places | None:
        then = self._site_at(observation, revision)
        return [_place(then)] if then is not None and then.found == observation.found else None

    def _site_at(self, observation: Observation, revision: str) -> Observation | None:
        """The slot as it stood at `revision`; None if it was not there."""
        file = observation.site.file
        if (file, revision) not in self.files:
            self.files[file, revision] = git.show(self.workspace.root, revision, file)
        source = self.files[file, revision]
        if source is None:
            return None
        seen = reconcile(self.workspace.manifest, {file: source}, only=[observation.site]).observations
        return next((then for then in seen if then.part == observation.part), None)

    def _pin_before(self, observation: Observation, revision: str) -> _Places | None:
        known, expected = self._manifest(revision), self._expected(observation, revision)
        if known is None or expected is None or expected.value != observation.expected.value:
            return None
        return [manifest.locate(known, key) for key in expected.facts if key]

    def _born(self, observation: Observation, change: git.Change) -> bool:
        """Whether `change` wrote the pin itself, so that pin and site have differed for as long as there is a pin."""
        known = self._manifest(_before(change))
        return known is None or (observation.site.pin is not None and observation.site.pin not in known.pins)

    def _left_behind(self, observation: Observation, pin: git.Change) -> bool:
        """Whether the site holds what pins.toml gave it before `pin`."""
        expected = self._expected(observation, _before(pin))
        if expected is None or observation.slot is None:
            return False
        verdict = compare(expected, observation.slot, observation.site.mode).verdict
        return verdict in (Verdict.SAME, Verdict.ABBREVIATED)

    def _manifest(self, revision: str) -> Manifest | None:
        if revision not in self.manifests:
            self.manifests[revision] = history.manifest_at(self.workspace, revision)
        return self.manifests[revision]

    def _expected(self, observation: Observation, revision: str) -> Expected | None:
        """What pins.toml gave the slot at `revision`; None if nothing."""
        known, site = self._manifest(revision), observation.site
        if known is None:
            return None
        try:
            expected = template.evaluate(template.parse(site.template), known.pins.get(site.pin or ""), known)
        except FactError:
            return None
        return expected if isinstance(expected, Expected) else expected.get(observation.part)


def _before(change: git.Change) -> str:
    """The revision that `change` changed."""
    return "HEAD" if change.commit is None else f"{change.commit}~1"


def _place(observation: Observation) -> Location:
    return Location(file=observation.site.file, span=observation.span)


def _by_file(places: Iterable[Location]) -> dict[str, dict[Location, tuple[int, int]]]:
    """The lines of each place that has any, by file."""
    files: defaultdict[str, dict[Location, tuple[int, int]]] = defaultdict(dict)
    for at in places:
        if at.span is not None:
            files[at.file][at] = (at.span.line, at.span.end_line or at.span.line)
    return files


def movements(workspace: Workspace, observations: Iterable[Observation]) -> dict[int, Newer]:
    """For each differing observation, by `id`, which side changed last; {} without history. Raises ExternalError."""
    if toplevel(workspace.root) is None or git.head(workspace.root) is None:
        return {}
    past, seen = _History(workspace), list(observations)
    past.blame({at for o in seen for at in (_place(o), *past.origins(o))})
    return {id(o): past.newer(o) for o in seen}
