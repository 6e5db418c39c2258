"""`pinctl patch status`: how the patches of pins stand, on the pinned trees, on other commits, or on a folder."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from pinctl.commands import network, patches, targets
from pinctl.commands.network import Asking, chosen
from pinctl.commands.patches import Series
from pinctl.commands.targets import Wish
from pinctl.commands.workspace import Workspace
from pinctl.commits import is_full
from pinctl.errors import PinctlError, UsageError
from pinctl.external import patched
from pinctl.finding import Finding
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.patches import judging
from pinctl.patches.judging import Place, Seen
from pinctl.upstream.telling import Telling

_COLUMNS = ("pin", "patch", "at", "state", "what")


class _Looked(NamedTuple):
    """The patches of a pin on some places; `failure` is why there is none."""

    pin: Pin
    series: Series
    places: list[tuple[Place, list[Seen]]]
    failure: PinctlError | None = None


def run(
    options: Options,
    names: Sequence[str] = (),
    *,
    at: Sequence[str] = (),
    folder: str | None = None,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """The patches of the pins `names`, all without, at their commits; those of one pin `at` other commits, tags or
    branches, or in a `folder`: a checkout or where a package is installed. Nothing is written.

    Raises ManifestError, UsageError, ExternalError.
    """
    workspace = Workspace.open(options)
    pins = [pin for pin in chosen(workspace.manifest.pins, names) if pin.patches]
    if at and folder:
        raise UsageError("--at and --in exclude each other")
    if (at or folder) and len(names or pins) != 1:
        raise UsageError("--at and --in are for one pin", hint="name it: pinctl patch status PIN --at REF")
    root = directory(options, folder) if folder else None
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport)) if root is None else None
    looked = []
    with ExitStack() as stack, options.progress("patch status", len(pins)) as step:
        for pin in pins:
            series = patches.read(workspace.root, Telling(pin, workspace.manifest))
            asking = Asking(profile, stack, options.offline) if profile else None
            looked.append(_look(pin, series, at, asking, root))
            step(1)
    if len(pins) == 1 and (failure := looked[0].failure):
        raise failure
    findings = [found for one in looked for found in _findings(workspace, one, survey=len(at) > 1)]
    rows = [row for one in looked for row in _cells(one)]
    return Outcome(
        command="patch status",
        root=workspace.root,
        findings=tuple(findings),
        body=Table(_COLUMNS, tuple(rows)) if rows else None,
        summary=_summary(looked),
        result={"pins": [_data(one) for one in looked]},
        status=max((one.failure.exit_code for one in looked if one.failure), default=None),
    )


def directory(options: Options, folder: str) -> str:
    """The real path of a folder that is named on the command line. Raises UsageError where it is none."""
    path = os.path.realpath(os.path.join(options.directory, folder))
    if not os.path.isdir(path):
        raise UsageError(f"{folder}: no such directory")
    return path


def _look(pin: Pin, series: Series, at: Sequence[str], asking: Asking | None, root: str | None) -> _Looked:
    if asking is None:
        place = Place(
            f"the folder {os.path.basename(root or '')}", patched.read(root or "", series.paths), upstream=False
        )
        return _Looked(pin, series, [(place, judging.judge(pin, series.steps, place))])
    try:
        commits = [commit(pin, name, asking) for name in at] or [pinned(pin)]
        forests = patches.forests(pin, commits, series.paths, asking)
        seen = []
        for forest in forests:
            reached = forest.root.commit
            place = patches.place(forest, series.paths)._replace(to=reached if reached != pin.commit else None)
            taken = patches.taken(pin, reached, asking)
            seen.append((place, judging.judge(pin, series.steps, place, taken)))
    except PinctlError as error:
        return _Looked(pin, series, [], error)
    return _Looked(pin, series, seen)


def commit(pin: Pin, name: str, asking: Asking) -> str:
    """The full id of what a person names: a commit, tag or branch of the pin's repository. Raises UsageError,
    ExternalError."""
    return name.lower() if is_full(name.lower()) else targets.resolve(pin, Wish(name), asking).commit


def pinned(pin: Pin) -> str:
    """The pinned commit. Raises UsageError where there is none."""
    if pin.repo is None:
        raise UsageError(f"{pin.name} has no repository", hint=f"run: pinctl patch status {pin.name} --in DIR")
    if pin.commit is None or pin.unresolved:
        raise UsageError(f"the commit of {pin.name} is not known", hint=f"run: pinctl bump {pin.name} --resolve")
    return pin.commit


# --- what is told -------------------------------------------------------------------------------------------------


def _findings(workspace: Workspace, one: _Looked, *, survey: bool) -> Iterator[Finding]:
    """What is wrong. A survey of several commits is no fault of the pin's: it stands in the table alone."""
    say = Telling(one.pin, workspace.manifest)
    yield from one.series.findings
    if one.failure:
        yield say.tell(network.code(one.failure), str(one.failure), "patches", hint=one.failure.hint)
    for place, seen in () if survey else one.places:
        yield from judging.findings(one.pin, seen, place, say.tell)


def _cells(one: _Looked) -> Iterator[tuple[str, ...]]:
    for place, seen in one.places:
        for patch in seen:
            name = place.name.removeprefix("commit ").removeprefix("the folder ")
            yield one.pin.name, patch.patch.name, name, patch.word, _what(patch)


def _what(seen: Seen) -> str:
    standing = seen.standing
    if standing is None:
        return "-"
    if standing.older:
        return standing.older
    if seen.stuck and standing.misfits:
        return judging.told(standing.misfits[0])
    return f"{counted(standing.offset, 'line')} off" if standing.offset else "-"


def _summary(looked: Sequence[_Looked]) -> str:
    if not looked:
        return "no pin has patches"
    words = Counter(seen.word for one in looked for _, known in one.places for seen in known)
    places = max(len(one.places) for one in looked)
    told = _patches(looked) + (f" at {places} commits" if places > 1 else "")
    return f"{told}: {', '.join(f'{count} {word}' for word, count in words.most_common())}" if words else told


def _patches(looked: Sequence[_Looked]) -> str:
    number = sum(len(one.pin.patches) for one in looked)
    return f"{number} patch{'es' * (number != 1)} of {counted(len(looked), 'pin')}"


def _data(one: _Looked) -> dict[str, object]:
    """A pin as scripts read it."""
    places = [
        {"at": place.name.partition(" ")[2].removeprefix("folder "), "patches": list(map(judging.data, seen))}
        for place, seen in one.places
    ]
    return {"name": one.pin.name, "places": places}
