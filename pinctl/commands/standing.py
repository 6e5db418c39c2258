"""How far each pin is from what it follows, and a fork from what it forks, as the remotes are now."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.commands import network, targets
from pinctl.commands.evidence import Asking
from pinctl.commands.targets import Wish
from pinctl.commands.workspace import Workspace
from pinctl.errors import PinctlError
from pinctl.external import history
from pinctl.external.parallel import each
from pinctl.external.store import Store
from pinctl.finding import Finding, Severity
from pinctl.model import Pin
from pinctl.options import Options


class Distance(NamedTuple):
    """Commits that the pin has alone, and commits that the other has alone."""

    ahead: int
    behind: int


class Standing(NamedTuple):
    """How a pin stands: `newest` is what it follows, a tag or a commit; `fork` how far it is from its upstream."""

    newest: str
    distance: Distance
    fork: Distance | None = None


def standings(workspace: Workspace, options: Options) -> tuple[dict[str, Standing], list[Finding]]:
    """The standing of each pin with a known commit by its name, and why others have none: warnings, since that says
    nothing against them. Offline it is what the cache knows. Raises UsageError."""
    pins = [pin for pin in workspace.manifest.pins.values() if pin.repo and pin.commit and not pin.unresolved]
    if not pins:
        return {}, []
    profile = network.profile(options, workspace.root)
    with ExitStack() as stack, options.progress("status", len(pins)) as step:
        asking = Asking(profile, stack, options.offline)
        found = each(pins, partial(_standing, asking=asking), step)
    pairs = list(zip(pins, found, strict=True))
    known = {pin.name: one for pin, one in pairs if isinstance(one, Standing)}
    lost = [(pin, one) for pin, one in pairs if isinstance(one, PinctlError) and not options.offline]
    return known, [_failure(workspace, *pair) for pair in lost]


def _standing(pin: Pin, asking: Asking) -> Standing:
    target = targets.resolve(pin, Wish(), asking)
    own = asking.open(target.repo)
    commit = pin.commit or ""
    distance = _distance(own, commit, own, target.commit)
    fork = None
    if pin.upstream:
        theirs = asking.open(pin.upstream.repo)
        fork = _distance(own, commit, theirs, targets.tip(theirs, pin.upstream.track))
    return Standing(target.tag or target.commit, distance, fork)


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
