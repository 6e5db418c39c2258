"""`pinctl diff`: what lies between two commits of a pin. Reads remotes, and writes nothing but the cache."""

from collections.abc import Sequence
from contextlib import ExitStack

from pinctl.commands import comparing, network, targets
from pinctl.commands.evidence import gather
from pinctl.commands.network import Asking, chosen
from pinctl.commands.targets import Wish
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError, UsageError
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome
from pinctl.upstream import narrative
from pinctl.upstream.comparison import Side
from pinctl.upstream.evidence import Evidence, Reach


def run(
    options: Options,
    name: str,
    commits: Sequence[str] = (),
    *,
    upstream: bool = False,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """The first of `commits` beside the second. With one, the pinned commit stands beside it; with none, beside what
    the pin follows. `upstream`: the second is one of the repository that the pin's forks.

    Raises ManifestError, UsageError, ExternalError.
    """
    workspace = Workspace.open(options)
    pin = chosen(workspace.manifest.pins, [name])[0]
    if pin.repo is None:
        raise UsageError(f"{name} has no git repository")
    if len(commits) < 2 and (pin.commit is None or pin.unresolved):
        raise UsageError(f"the commit of {name} is not known", hint=f"run: pinctl bump {name} --resolve")
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    with ExitStack() as stack, options.progress("diff", 2) as step:
        asking = Asking(profile, stack, options.offline)
        first = _at(pin, Wish(commits[0]), asking) if len(commits) == 2 else pin
        second = commits[-1] if commits else None
        there = _at(pin, Wish(second, upstream=upstream), asking)
        known = gather([first._replace(submodules=_all(pin)), there._replace(submodules=_all(pin))], asking, step)
        for side, evidence in zip((first, there), known, strict=True):
            _demand(side, evidence)
        seen = comparing.compare(Side(first, known[0]), Side(there, known[1]), asking)
    tables = tuple(narrative.tables(seen))
    return Outcome(
        command="diff",
        root=workspace.root,
        result=narrative.data(seen),
        summary="; ".join((narrative.summary(seen), *seen.notes)),
        body=tables,
        document=tables,
    )


def _all(pin: Pin) -> tuple[str, ...] | None:
    """All submodules, unless the pin needs none."""
    return () if pin.submodules == () else None


def _at(pin: Pin, wish: Wish, asking: Asking) -> Pin:
    target = targets.resolve(pin, wish, asking)
    return pin._replace(repo=target.repo, commit=target.commit, tag=target.tag, track=target.track)


def _demand(side: Pin, evidence: Evidence) -> None:
    """Raises ExternalError where the tree of a side could not be had."""
    if evidence.forest is None:
        gone = f"{side.repo} does not have {side.commit}" if evidence.reach is Reach.GONE else ""
        raise ExternalError(evidence.failure or gone or f"the tree of {side.commit} cannot be read", hint=evidence.hint)
