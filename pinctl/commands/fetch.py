"""`pinctl fetch`: the sources at the pins, each with exactly the submodules that are declared.

Everything lands in the cache first, from which the folders are made; a folder that already holds its pin costs no
network, and one that a person changed is left alone.
"""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinctl import manifest
from pinctl.codes import finding
from pinctl.commands import network
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError, PinctlError, UsageError, WriteRefused
from pinctl.external import checkout, files
from pinctl.external.gitcli import Profile
from pinctl.external.parallel import each
from pinctl.external.source import Request, Source, gather
from pinctl.finding import Finding
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted

_LARGEST_PATCH = 1024 * 1024
_SHORT_ID = 10


class _Job(NamedTuple):
    """One pin, where its source goes, and the patches for it."""

    pin: Pin
    folder: str
    patches: tuple[checkout.Patch, ...]


def run(
    options: Options,
    *,
    pins: Sequence[str] = (),
    to: str | None = None,
    patches: bool = False,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """The sources of `pins` (none: of all that have a git commit), below the working directory by the pins' names.

    `to` is the folder of the one pin that is named, else the folder that holds them all. `patches`: the pins' patches
    are applied. Raises ManifestError, UsageError, and the error of a pin where it is the only one.
    """
    workspace = Workspace.open(options)
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    home = os.path.join(options.directory, to or "")
    jobs = [
        _Job(pin, os.path.realpath(home if to and len(pins) == 1 else os.path.join(home, pin.name)),
             _patches(workspace, pin) if patches else ())
        for pin in _chosen(workspace, pins)
    ]  # fmt: skip
    requests = [Request(pin.repo or "", pin.commit or "", pin.submodules, pin.recursive) for pin, _, _ in jobs]
    with options.progress("fetch", 2 * len(jobs)) as step:
        sources = gather(requests, profile, offline=options.offline, step=step)
        placed = each(list(zip(jobs, sources, strict=True)), lambda pair: _place(*pair, profile), step)
    failed = [(job.pin, outcome) for job, outcome in zip(jobs, placed, strict=True) if isinstance(outcome, PinctlError)]
    if failed and len(jobs) == 1:
        raise failed[0][1]
    rows = [_row(*all_) for all_ in zip(jobs, sources, placed, strict=True)]
    return Outcome(
        command="fetch",
        root=workspace.root,
        findings=tuple(_finding(workspace, *pair) for pair in failed),
        body=Table(("pin", "at", "submodules", "folder", "state"), tuple(map(_cells, rows))),
        summary=_summary(rows, sources, options),
        result={"pins": rows},
        status=max((error.exit_code for _, error in failed), default=None),
    )


def _chosen(workspace: Workspace, names: Sequence[str]) -> list[Pin]:
    """Raises UsageError for a pin that is not known, or has no commit to fetch."""
    known = workspace.manifest.pins
    if not names:
        return [pin for pin in known.values() if pin.repo and pin.commit]
    for name in names:
        if name not in known:
            raise UsageError(f"no pin {name!r} in {workspace.manifest.path}; there are {', '.join(known)}")
        if not known[name].repo:
            raise UsageError(f"{name} has no repository to fetch")
        if not known[name].commit:
            raise UsageError(f"the commit of {name} is not known", hint="run: pinctl bump --resolve")
    return [known[name] for name in dict.fromkeys(names)]


def _patches(workspace: Workspace, pin: Pin) -> tuple[checkout.Patch, ...]:
    """The diffs that every build of the pinned version has. Raises ExternalError for one that cannot be read,
    WriteRefused for one that is none, or that is refused."""
    from pinctl.commands import patches
    from pinctl.patches.conditions import of_source
    from pinctl.upstream.telling import Telling

    for found in patches.read(workspace.root, Telling(pin, workspace.manifest)).findings:
        raise (ExternalError if found.code == "PIN501" else WriteRefused)(found.message, hint=found.hint)
    return tuple(checkout.Patch(file, files.read_site(workspace.root, file, _LARGEST_PATCH)) for file in of_source(pin))


def _place(job: _Job, source: Source | PinctlError, profile: Profile) -> bool:
    """Whether the folder had to be made. Raises the error of `source`, ExternalError, WriteRefused."""
    if isinstance(source, PinctlError):
        raise source
    return checkout.place(checkout.Wish(source.parts, job.patches, job.pin.lfs), job.folder, profile)


def _finding(workspace: Workspace, pin: Pin, error: PinctlError) -> Finding:
    where = manifest.locate(workspace.manifest, ("pins", pin.name, "commit"))
    return finding(
        network.code(error), f"{pin.name}: {error}", file=where.file, span=where.span, pin=pin.name, hint=error.hint
    )


def _row(job: _Job, source: Source | PinctlError, placed: bool | PinctlError) -> dict[str, object]:
    parts = () if isinstance(source, PinctlError) else source.parts[1:]
    state = "failed" if isinstance(placed, PinctlError) else "fetched" if placed else "present"
    return {
        "name": job.pin.name,
        "commit": job.pin.commit,
        "folder": job.folder,
        "state": state,
        "submodules": [{"path": part.path, "url": part.url, "commit": part.commit} for part in parts],
        "patches": [patch.file for patch in job.patches],
    }


def _cells(row: Mapping[str, object]) -> tuple[str, ...]:
    modules = row["submodules"]
    return (
        str(row["name"]),
        str(row["commit"])[:_SHORT_ID],
        str(len(modules)) if isinstance(modules, list) else "-",
        str(row["folder"]),
        str(row["state"]),
    )


def _summary(rows: Sequence[Mapping[str, object]], sources: Sequence[Source | PinctlError], options: Options) -> str:
    text = f"{counted(len(rows), 'source')} at {'its pin' if len(rows) == 1 else 'their pins'}"
    if not options.offline:
        return text
    age = max((source.age for source in sources if isinstance(source, Source)), default=0.0)
    return f"{text}; offline: the servers were asked {network.ago(age)}"
