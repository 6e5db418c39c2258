"""`pinctl build`: the wheels of the matrix, built in containers, each kept in a cache under the key of all its inputs.

What is in the cache is delivered without a container. pinctl is no scheduler: a large matrix runs on many machines from
what `--plan` says, or on a builder of docker's own from what `--bake` writes.
"""

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands import building, building_run, network
from pinctl.commands.building import Job, Planning
from pinctl.commands.building_run import CACHED, FAILED, Done, Site, Told
from pinctl.commands.workspace import Workspace
from pinctl.errors import PinctlError, UsageError
from pinctl.external import build_cache, build_context, docker, outputs
from pinctl.external.docker import Client
from pinctl.external.parallel import each
from pinctl.external.process import ToolMissing
from pinctl.finding import Finding
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, Text, counted
from pinctl.policy import Policy
from pinctl.wheel import context, share
from pinctl.wheel.matrix import Asked

Board = Callable[[Sequence[str]], AbstractContextManager[Told]]
"""Shows what cells do: made with their names; inside the context, called with a name and what that cell does now."""

_SHORT = 12


def silent(_: Sequence[str]) -> AbstractContextManager[Told]:
    """A `Board` that shows nothing."""
    return nullcontext(lambda _cell, _what: None)


class How(NamedTuple):
    """How wheels are built: see the options of the command line."""

    out: str = "dist"
    cache: str | None = None
    builder: str | None = None
    jobs: int | None = None
    compare: bool = False
    board: Board = silent
    allow_transport: tuple[str, ...] = ()


def run(
    options: Options,
    *,
    asked: Asked = Asked(),  # noqa: B008
    how: How = How(),  # noqa: B008
    plan: bool = False,
    explain_key: bool = False,
    bake: str | None = None,
) -> Outcome:
    """Build the cells `asked`; or say what would be done (`plan`), what goes into their keys (`explain_key`), or write
    a bake file (`bake`). Raises UsageError, ManifestError, ExternalError."""
    if options.is_untrusted and not (plan or explain_key):
        raise UsageError("a build runs code of the checkout, and this one is a stranger's",
                         hint="give --trusted where the checkout is yours")  # fmt: skip
    workspace = Workspace.open(options)
    base = os.path.realpath(os.path.join(options.directory, how.cache)) if how.cache else build_cache.home()
    fetch_images = not (plan or explain_key or options.offline or how.builder)
    planning = building.plan(workspace, asked, base, fetch_images=fetch_images)
    if plan or explain_key:
        return _planned(workspace, planning, explain=explain_key)
    if bake is not None:
        return _baked(options, workspace, planning, how, bake)
    return _built(options, workspace, planning, asked, how, base)


def _planned(workspace: Workspace, planning: Planning, *, explain: bool) -> Outcome:
    rows = [job.planned.row for job in planning.jobs]
    columns = ("cell", "key", "state", "why")
    cells = [
        (job.cell.name, job.planned.key[:_SHORT], "cached" if job.planned.cached else "to build", job.planned.reason)
        for job in planning.jobs
    ]
    cells += [(left.cell.name, "-", "excluded", left.reason) for left in planning.left]
    keys = [
        Text(json.dumps(job.planned.inputs, indent=1), title=f"{job.cell.name} {job.planned.key}")
        for job in planning.jobs if explain
    ]  # fmt: skip
    missing = sum(not job.planned.cached for job in planning.jobs)
    inputs = {"inputs": {job.cell.name: dict(job.planned.inputs) for job in planning.jobs}} if explain else {}
    left = [{"cell": left.cell.name, "reason": left.reason} for left in planning.left]
    return Outcome(
        command="build",
        root=workspace.root,
        findings=planning.findings,
        result={"cells": rows, "excluded": left, **inputs},
        summary=f"{counted(len(rows), 'cell')}: {missing} to build, {len(rows) - missing} in the cache",
        body=(Table(columns, tuple(cells)), *keys),
    )


def _baked(options: Options, workspace: Workspace, planning: Planning, how: How, path: str) -> Outcome:
    """Write the bake file, with the contexts of its targets in a folder beside it."""
    file = os.path.join(options.directory, path)
    outputs.demand_place(file)
    beside = f"{os.path.realpath(file)}.contexts"
    site = _site(options, workspace, planning, how, base="", scratch=beside, secrets={}, told=lambda _c, _w: None)
    client = None if how.builder else _client()
    targets = {}
    for job in planning.jobs:
        folder, _ = site.context(job)
        image = building_run.image_name(client, job.cell.variant.image or "", job.materials.image)
        targets[job.cell.name] = (os.path.relpath(folder, os.path.dirname(beside)), job.cell, image)
    outputs.write(file, (json.dumps(context.bake(targets), indent=2) + "\n").encode())
    return Outcome(
        command="build",
        root=workspace.root,
        findings=planning.findings,
        result={"bake": path, "targets": list(targets)},
        summary=f"{path} has {counted(len(targets), 'target')}; run: docker buildx bake -f {shlex.quote(path)}",
    )


def _client() -> Client | None:
    """A docker client; None where there is none: a bake file may be for another machine."""
    try:
        return docker.find()
    except ToolMissing:
        return None


def _site(
    options: Options, workspace: Workspace, planning: Planning, how: How, *, base: str, scratch: str,
    secrets: dict[str, str], told: Told,
) -> Site:  # fmt: skip
    def client() -> Client:
        found = docker.find()
        if how.builder is None:
            docker.demand_engine(found)
        return found

    return Site(
        base=base, out=os.path.join(options.directory, how.out), scratch=scratch, file=workspace.manifest.path,
        profile=network.profile(options, workspace.root, allow=how.allow_transport), shipped=planning.shipped,
        find_client=client, secrets=secrets, told=told, builder=how.builder, offline=options.offline,
    )  # fmt: skip


def _built(options: Options, workspace: Workspace, planning: Planning, asked: Asked, how: How, base: str) -> Outcome:
    here = docker.native()
    everywhere = bool(asked.platforms or how.builder)
    jobs = [job for job in planning.jobs if everywhere or job.cell.platform == here]
    others = [job for job in planning.jobs if job not in jobs]
    silent_site = _site(options, workspace, planning, how, base=base, scratch="", secrets={}, told=lambda _c, _w: None)
    found: dict[int, Done] = {}
    if not how.compare:
        ready = ((n, building_run.deliver(silent_site, job)) for n, job in enumerate(jobs))
        found = {n: one for n, one in ready if one is not None}
    todo = [(n, job) for n, job in enumerate(jobs) if n not in found]
    if todo:
        found |= _run(options, workspace, planning, how, base, todo)
    done = [found[n] for n in range(len(jobs))]
    findings = [*planning.findings, *(told for one in done for told in one.findings), *_same_names(done)]
    findings += _elsewhere(others)
    return Outcome(
        command="build",
        root=workspace.root,
        findings=tuple(findings),
        result={"cells": [_row(one) for one in done]},
        summary=_summary(done),
        body=Table(("cell", "state", "seconds", "wheel"), tuple(map(_cells, done))) if done else None,
        status=4 if any(told.code in ("PIN301", "PIN320", "PIN802") for told in findings) else None,
    )


def _run(
    options: Options, workspace: Workspace, planning: Planning, how: How, base: str, todo: Sequence[tuple[int, Job]]
) -> dict[int, Done]:
    """Build what is to do. Cells that have one key are built one after the other: the first compiles for all."""
    from pinctl.external.build_secrets import secrets

    profile = network.profile(options, workspace.root)
    groups: dict[str, list[tuple[int, Job]]] = {}
    for n, job in todo:
        groups.setdefault(job.planned.key, []).append((n, job))
    _demand_reachable(options, profile.policy, (job for _, job in todo))
    build_cache.demand(base)
    most = how.jobs or (1 if how.builder else _at_once([job for _, job in todo], len(groups)))
    with (
        build_context.temporary() as scratch,
        secrets(profile.policy) as files,
        how.board([job.cell.name for _, job in todo]) as told,
    ):
        site = _site(options, workspace, planning, how, base=base, scratch=scratch, secrets=files, told=told)
        site.share = min(most, len(groups))
        work = building_run.compare if how.compare else building_run.build

        def group(members: Sequence[tuple[int, Job]]) -> list[tuple[int, Done]]:
            return [(n, _attempt(site, job, work)) for n, job in members]

        ended = each(list(groups.values()), group, most=most)
    if (error := next(iter(ended))) and all(isinstance(one, PinctlError) for one in ended):
        assert isinstance(error, PinctlError)  # noqa: S101 - all are
        raise error
    return dict(pair for one, members in zip(ended, groups.values(), strict=True) for pair in _ended(one, members))


def _ended(one: list[tuple[int, Done]] | PinctlError, members: Sequence[tuple[int, Job]]) -> Iterator[tuple[int, Done]]:
    """How the cells of a group ended; where something outside of them failed, with that as the finding of each."""
    if not isinstance(one, PinctlError):
        yield from one
        return
    for n, job in members:
        what = finding(network.code(one), f"{job.cell.name}: {one}", pin=job.cell.pin.name, hint=one.hint)
        yield n, Done(job, FAILED, findings=(what,))


def _attempt(site: Site, job: Job, work: Callable[[Site, Job], Done]) -> Done:
    done = work(site, job)
    site.told(job.cell.name, done.state)
    return done


def _demand_reachable(options: Options, policy: Policy | None, jobs: Iterable[Job]) -> None:
    """Raises UsageError where the run may not reach what a build reaches."""
    if options.offline:
        raise UsageError(
            "there are wheels to build, and a build reaches package servers", hint="run it without --offline"
        )
    for url in {job.cell.variant.index_url for job in jobs} - {None}:
        if policy is not None and url and (reason := policy.host_refusal(url)):
            raise UsageError(f"{url}: {reason}")


def _at_once(jobs: Sequence[Job], cells: int) -> int:
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024**3
    return share.at_once(cells, os.cpu_count() or 1, gib, max(job.recipe.gib_per_job for job in jobs))


def _same_names(done: Sequence[Done]) -> Iterator[Finding]:
    """PIN663: cells whose wheels have one file name, of which the last took the place of the others."""
    names: dict[str, list[Done]] = {}
    for one in done:
        if one.wheel is not None:
            names.setdefault(os.path.basename(one.wheel), []).append(one)
    for name, ones in names.items():
        if len(ones) > 1:
            cells = ", ".join(one.job.cell.name for one in ones)
            hint = "it is for several Pythons: build it for the oldest alone, and exclude the others"
            yield finding(
                "PIN663", f"{cells} gave wheels of one name: {name}", pin=ones[0].job.cell.pin.name, hint=hint
            )


def _elsewhere(jobs: Sequence[Job]) -> Iterator[Finding]:
    """PIN662, one for each platform."""
    platforms = {job.cell.platform: sum(other.cell.platform == job.cell.platform for other in jobs) for job in jobs}
    for platform, number in platforms.items():
        what = f"{counted(number, 'cell')} of {platform} left out: this machine is {docker.native()}"
        yield finding("PIN662", what, hint=f"run it there, or give --platform {platform} with a builder that has it")


def _row(done: Done) -> dict[str, object]:
    wheel = os.path.basename(done.wheel) if done.wheel else None
    more = {"state": done.state, "path": done.wheel, "log": done.log, "seconds": round(done.seconds, 3)}
    return {**done.job.planned.row, "cached": done.state == CACHED, "wheel": wheel, **more}


def _cells(done: Done) -> tuple[str, ...]:
    return (done.job.cell.name, done.state, f"{done.seconds:.1f}", done.wheel or "-")


def _summary(done: Sequence[Done]) -> str:
    states = [
        f"{sum(one.state == state for one in done)} {state}" for state in dict.fromkeys(one.state for one in done)
    ]
    return f"{counted(len(done), 'wheel')}: {', '.join(states)}" if done else "no wheel to build here"
