"""How far each pin is from what it follows, and a fork from what it forks, as the servers are now."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.commands import network, targets
from pinctl.commands.network import Asking
from pinctl.commands.targets import Wish
from pinctl.commands.workspace import Workspace
from pinctl.errors import PinctlError
from pinctl.external import history
from pinctl.external.parallel import each
from pinctl.external.store import Store
from pinctl.finding import Finding, Severity
from pinctl.model import Pin
from pinctl.options import Options, Step


class Distance(NamedTuple):
    """Commits that the pin has alone, and commits that the other has alone; of a pin that goes by versions: none, and
    how many newer ones there are."""

    ahead: int
    behind: int


class Standing(NamedTuple):
    """How a pin stands: `newest` is what it follows, a tag, a commit, a version or a digest; `fork` how far it is from
    its upstream."""

    newest: str
    distance: Distance
    fork: Distance | None = None


def standings(workspace: Workspace, options: Options) -> tuple[dict[str, Standing], list[Finding]]:
    """The standing of each pin of which a server tells what is newer, by its name, and why others have none: warnings,
    since that says nothing against them. Offline it is what the cache knows, which is nothing but commits. Raises
    UsageError."""
    pins = [pin for pin in workspace.manifest.pins.values() if not pin.unresolved]
    by_commit = [pin for pin in pins if pin.repo and pin.commit and (options.offline or not pin.packages)]
    released = [] if options.offline else [pin for pin in pins if pin not in by_commit and _is_listed(pin)]
    if not (by_commit or released):
        return {}, []
    profile = network.profile(options, workspace.root)
    with ExitStack() as stack, options.progress("status", len(by_commit) + len(released)) as step:
        asking = Asking(profile, stack, options.offline)
        found = each(by_commit, partial(_standing, asking=asking), step)
        found += _released(released, workspace, asking, step) if released else []
    pairs = list(zip([*by_commit, *released], found, strict=True))
    known = {pin.name: one for pin, one in pairs if isinstance(one, Standing)}
    lost = [(pin, one) for pin, one in pairs if isinstance(one, PinctlError) and not options.offline]
    return known, [_failure(workspace, *pair) for pair in lost]


def _is_listed(pin: Pin) -> bool:
    """Whether a server lists the releases of a pin."""
    from pinctl.commands import courses

    return courses.leads(pin) and bool(pin.packages or not pin.repo)


def _released(pins: Sequence[Pin], workspace: Workspace, asking: Asking, step: Step) -> list[Standing | PinctlError]:
    """How pins stand that go by versions, or by the tag of an image. Of a group each is told by itself."""
    from pinctl.commands.courses import Order, Plotter
    from pinctl.commands.indexes import Indexes

    plotter = Plotter(workspace, Order(), asking, {}, Indexes(asking.profile))

    def standing(pin: Pin) -> Standing:
        (course,) = plotter.family([pin])
        goal = course.goal
        there = goal.there if goal else pin
        newer = Distance(0, goal.newer if goal else 0)
        return Standing(there.digest or there.version or there.image or "", newer, _fork(pin, asking))

    return each(pins, standing, step)


def _standing(pin: Pin, asking: Asking) -> Standing:
    target = targets.resolve(pin, Wish(), asking)
    own = asking.open(target.repo)
    commit = pin.commit or ""
    distance = _distance(own, commit, own, target.commit)
    return Standing(target.tag or target.commit, distance, _fork(pin, asking))


def _fork(pin: Pin, asking: Asking) -> Distance | None:
    """How far a fork is from what it forks."""
    if pin.repo is None or pin.commit is None or pin.upstream is None:
        return None
    theirs = asking.open(pin.upstream.repo)
    return _distance(asking.open(pin.repo), pin.commit, theirs, targets.tip(theirs, pin.upstream.track))


def _distance(own: Store, commit: str, other: Store, tip: str) -> Distance:
    if commit == tip:
        return Distance(0, 0)
    own.fetch(commit)
    other.fetch(tip)
    also: Sequence[str] = [other.folder] if other.folder != own.folder else ()
    return Distance(*history.counts(own.folder, commit, tip, also=also))


def _failure(workspace: Workspace, pin: Pin, error: PinctlError) -> Finding:
    at = pins_toml.locate(workspace.manifest, ("pins", pin.name, "track"))
    return finding(
        "PIN320", error.headline, file=at.file, span=at.span, pin=pin.name, hint=error.hint, severity=Severity.WARNING
    )
