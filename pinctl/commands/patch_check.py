"""What `check` tells of patches: offline, what is wrong with their files, and what upstream has, as far as the cache
of earlier runs knows the pinned trees. What only the cache tells is never an error: another machine has another one."""

from contextlib import ExitStack

from pinctl.commands import network, patches
from pinctl.commands.network import Asking
from pinctl.commands.patches import Series
from pinctl.commands.workspace import Workspace
from pinctl.errors import PinctlError
from pinctl.finding import Finding, Severity
from pinctl.options import Options
from pinctl.patches import judging
from pinctl.upstream.telling import Telling


def findings(workspace: Workspace, options: Options) -> list[Finding]:
    """Those of all pins, in the order of pins.toml."""
    found: list[Finding] = []
    for pin in workspace.manifest.pins.values():
        if pin.patches:
            say = Telling(pin, workspace.manifest)
            series = patches.read(workspace.root, say)
            found += series.findings
            if any(patch.retire or patch.backport for patch in pin.patches):
                found += _held(workspace, series, say, options)
    return found


def _held(workspace: Workspace, series: Series, say: Telling, options: Options) -> list[Finding]:
    """The warnings that upstream has a patch, where the pinned tree is in the cache."""
    pin = say.pin
    if pin.repo is None or pin.commit is None or pin.unresolved:
        return []
    try:
        with ExitStack() as stack:
            asking = Asking(network.profile(options, workspace.root), stack, offline=True)
            (forest,) = patches.forests(pin, [pin.commit], series.paths, asking)
            place = patches.place(forest, series.paths)
            seen = judging.judge(pin, series.steps, place, patches.taken(pin, pin.commit, asking))
    except PinctlError:
        return []
    return [found for found in judging.findings(pin, seen, place, say.tell) if found.severity is Severity.WARNING]
