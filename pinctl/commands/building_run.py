"""One cell of `pinctl build`: compiled in a container, finished, tried in a clean one, kept. Cells do not know of each
other: one that fails stops no other, and what was built stays built."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands import building_finish
from pinctl.commands.building import Job, Shipped, identity
from pinctl.errors import ExternalError, PinctlError
from pinctl.external import build_cache, build_context, build_log, docker
from pinctl.external.build_cache import COMPILED, FINISHED, Corrupt, Entry
from pinctl.external.docker import Build, Client
from pinctl.external.gitcli import Profile
from pinctl.external.process import CommandFailed
from pinctl.external.source import Request, Source, gather
from pinctl.finding import Finding, Severity
from pinctl.wheel import context, log
from pinctl.wheel.log import Failure

BUILT, CACHED, FAILED, SAME, DIFFERS = "built", "cached", "failed", "the same", "differs"

Told = Callable[[str, str], object]
"""Called with a cell's name and what it does now."""


class Done(NamedTuple):
    """How a cell ended. `wheel` is where its wheel was put; `log` the file with all that its containers said; `seconds`
    what it took; `ready` the cached wheel that was found."""

    job: Job
    state: str
    wheel: str | None = None
    log: str | None = None
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()


@dataclass(slots=True)
class Site:
    """What the cells of a run share. `client` is None until a container must run; `share` cells run at once; `scratch`
    is a folder for their contexts and results."""

    base: str
    out: str
    scratch: str
    file: str
    profile: Profile
    shipped: Shipped
    find_client: Callable[[], Client]
    secrets: dict[str, str]
    told: Told
    builder: str | None = None
    offline: bool = False
    share: int = 1
    _client: Client | None = None
    _lock: Lock = field(default_factory=Lock)
    _contexts: dict[tuple[object, ...], tuple[str, Source]] = field(default_factory=dict)

    @property
    def client(self) -> Client:
        """The docker client, looked for once. Raises ToolMissing, ExternalError."""
        with self._lock:
            if self._client is None:
                self._client = self.find_client()
            return self._client

    def context(self, job: Job) -> tuple[str, Source]:
        """The folder that holds the job's source and the scripts, made once for all cells of it, and the source's
        parts; with the cell's own files in it. Raises PinctlError."""
        pin = job.cell.pin
        key = (pin.name, *job.patches)
        with self._lock:
            if key not in self._contexts:
                folder = os.path.join(self.scratch, f"{len(self._contexts)}-{pin.name}")
                request = Request(pin.repo or "", pin.commit or "", pin.submodules, pin.recursive)
                (found,) = gather([request], self.profile, offline=self.offline, step=lambda _: None)
                if isinstance(found, PinctlError):
                    raise found
                build_context.source(folder, found.parts, job.patches, self.profile, lfs=pin.lfs)
                build_context.write(folder, {name: text.encode() for name, text in self.shipped.steps.items()})
                self._contexts[key] = folder, found
            folder, source = self._contexts[key]
        made = context.build_files(job.cell, job.recipe, job.materials, self.shipped.excludes, self.shipped.tools)
        build_context.write(os.path.join(folder, "cells", job.cell.name), made)
        return folder, source

    def log(self, job: Job) -> str:
        """The file for the log of the job's containers."""
        return os.path.join(self.out, "logs", f"{job.cell.name}.log")


def deliver(site: Site, job: Job) -> Done | None:
    """The job's wheel from the cache, put where it belongs; None where it must be built. No container runs.

    A corrupt entry counts as none; the build will tell.
    """
    started = time.monotonic()
    try:
        entry = build_cache.load(site.base, FINISHED, job.finished)
    except Corrupt:
        return None
    if entry is None:
        return None
    wheel = build_cache.deliver(entry, site.out)
    return Done(job, CACHED, wheel, seconds=time.monotonic() - started)


def build(site: Site, job: Job) -> Done:
    """Build the job's wheel, as far as the cache does not have it. Raises PinctlError for what is no fault of the
    cell: no engine, no network, no room."""
    started = time.monotonic()
    told: list[Finding] = list(_corrupt(site, job))
    entry = _compiled(site, job, told)
    if entry is not None:
        wheel = _finished(site, job, entry, told)
        if wheel is not None:
            return Done(job, BUILT, wheel, site.log(job), time.monotonic() - started, tuple(told))
    return Done(job, FAILED, None, site.log(job), time.monotonic() - started, tuple(told))


def compare(site: Site, job: Job) -> Done:
    """Compile the job's wheel anew, and hold it against the one in the cache, which is made first where there is none.
    Raises PinctlError."""
    started = time.monotonic()
    told: list[Finding] = []
    first = _compiled(site, job, told)
    again = compile_(site, job, told, fresh=True) if first is not None else None
    if first is None or again is None:
        return Done(job, FAILED, None, site.log(job), time.monotonic() - started, tuple(told))
    members = [] if first.sha256 == again.sha256 else building_finish.difference(first.path, again.path)
    if first.sha256 != again.sha256:
        what = f"{job.cell.name}: built twice, {first.name} differs: {'; '.join(members) or 'in how it is packed'}"
        told.append(finding("PIN661", what, pin=job.cell.pin.name))
    state = SAME if first.sha256 == again.sha256 else DIFFERS
    return Done(job, state, None, site.log(job), time.monotonic() - started, tuple(told))


def _corrupt(site: Site, job: Job) -> Iterator[Finding]:
    """PIN658: why the finished wheel has to be made again though there is one."""
    try:
        build_cache.load(site.base, FINISHED, job.finished)
    except Corrupt as error:
        yield finding("PIN658", f"{job.cell.name} is built again: {error}", pin=job.cell.pin.name)


def _compiled(site: Site, job: Job, told: list[Finding]) -> Entry | None:
    """The wheel as it comes out of the container, from the cache or from a container; None where that failed."""
    try:
        if entry := build_cache.load(site.base, COMPILED, job.planned.key):
            return entry
    except Corrupt as error:
        told.append(finding("PIN658", f"{job.cell.name} is compiled again: {error}", pin=job.cell.pin.name))
    return compile_(site, job, told)


def compile_(site: Site, job: Job, told: list[Finding], *, fresh: bool = False) -> Entry | None:
    """Compile the job's wheel in a container and keep it; None where that failed, as `told` then says. `fresh`: it
    is compiled though docker remember it, and what comes is not kept but lies in the scratch folder."""
    site.told(job.cell.name, "fetches the source")
    folder, source = site.context(job)
    to = os.path.join(site.scratch, f"{job.cell.name}{'-again' if fresh else ''}.out")
    image = _image(site, job.cell.variant.image or "", job.materials.image)
    for attempt in (1, 2):
        again = os.urandom(8).hex() if fresh else ""
        arguments = context.build_arguments(job.cell, image, site.share * attempt, again)
        build = Build(os.path.join(folder, context.BUILD_FILE), "wheel", folder, arguments, to, job.cell.platform,
                      site.secrets, site.builder)  # fmt: skip
        failed = _contain(site, job, build, append=attempt == 2 or fresh)
        if failed is None:
            break
        if not failed.killed or attempt == 2:
            told.append(_failure(site, job, failed))
            return None
        what = f"{job.cell.name}: memory ran out while it {failed.what}; it is built again with half the jobs"
        told.append(finding("PIN654", what, pin=job.cell.pin.name))
    wheels = build_context.result(to)
    if len(wheels) != 1:
        raise ExternalError(f"{job.cell.name}: the build brought {len(wheels)} wheels", hint=f"see {site.log(job)}")
    facts = {
        "toolchain": build_context.json_of(os.path.join(to, "toolchain.json")),
        "submodules": {part.path: part.commit for part in source.parts if part.path},
    }
    if fresh:
        return Entry(wheels[0], build_cache.sha256(wheels[0]), facts)
    return build_cache.store(site.base, COMPILED, job.planned.key, wheels[0], facts)


def image_name(client: Client | None, image: str, identity: str) -> str:
    """How a Docker file names the image: by its digest, but by its name where the engine of `client` knows it by its id
    alone (it was imported or built here) or no digest is known."""
    if not identity.startswith("sha256:"):
        return image
    local = docker.image_id(client, image.partition("@")[0]) if client else None
    if local is not None and local[0] == identity:
        return image
    return f"{image.partition('@')[0]}@{identity}"


def _image(site: Site, image: str, identity: str) -> str:
    return image_name(None if site.builder else site.client, image, identity)


def _contain(site: Site, job: Job, build: Build, *, append: bool) -> Failure | None:
    """Run a build with its log in the job's file; why it failed, None where it did not. Raises ExternalError where it
    could not even start."""
    with _logged(site, job, append=append) as written:
        try:
            docker.build(site.client, build, written.heard)
            return None
        except CommandFailed as error:
            failed = log.failure(written.lines())
            if failed.what == "starts" and not failed.tail:
                raise ExternalError(f"{job.cell.name}: {error.headline}", hint=f"see {written.path}") from None
            return failed


@contextmanager
def _logged(site: Site, job: Job, *, append: bool) -> Iterator[build_log.Log]:
    def line(text: str) -> None:
        if (what := log.step(text)) is not None:
            site.told(job.cell.name, what)

    with build_log.open_(site.log(job), line, append=append) as written:
        yield written


def _failure(site: Site, job: Job, failed: Failure) -> Finding:
    """PIN652, or PIN653 where a header is missing whose package is known."""
    path, cell = os.path.relpath(site.log(job)), job.cell
    tail = "".join(f"\n  {line}" for line in failed.tail)
    if failed.header and (remedy := log.remedy(failed.header, cell.variant.packages)):
        package = log.package(failed.header, cell.variant.packages)
        comes = f"it comes with {package} under {cell.variant.packages}" if package else "its package is known"
        what = f"{cell.name}: <{failed.header}> is not in the image; {comes}"
        return finding("PIN653", f"{what}{tail}", file=site.file, pin=cell.pin.name, hint=f"declare it: {remedy}")
    why = "memory ran out twice while it" if failed.killed else "it failed while it"
    return finding(
        "PIN652", f"{cell.name}: {why} {failed.what}{tail}", pin=cell.pin.name, hint=f"the whole log: {path}"
    )


def _finished(site: Site, job: Job, entry: Entry, told: list[Finding]) -> str | None:
    """Where the wheel was put as people get it; None where something is wrong with it, as `told` then says."""
    site.told(job.cell.name, "finishes the wheel")
    made = building_finish.finish(
        job, entry, site.shipped.excludes, os.path.join(site.scratch, f"{job.cell.name}.finished")
    )
    told += made.findings
    if any(found.severity is Severity.ERROR for found in made.findings):
        return None
    found = _tried(site, job, made.wheel, made.modules)
    told += found
    if any(item.severity is Severity.ERROR for item in found):
        return None
    kept = build_cache.store(site.base, FINISHED, job.finished, made.wheel, {"compiled": job.planned.key})
    build_cache.remember(site.base, identity(job.cell), job.planned.inputs)
    return build_cache.deliver(kept, site.out)


def _tried(site: Site, job: Job, wheel: str, modules: Sequence[str]) -> list[Finding]:
    """What installing and importing the wheel in a clean container of its variant shows: PIN659, PIN660."""
    cell = job.cell
    folder = os.path.join(site.scratch, f"{cell.name}.try")
    imports = cell.wheel.imports or job.recipe.imports or modules
    files = context.try_files(cell, job.recipe, job.materials, imports)
    build_context.write(os.path.join(folder, "cell"), files)
    build_context.write(folder, {name: text.encode() for name, text in site.shipped.steps.items()})
    build_context.copy(wheel, os.path.join(folder, "wheel"))
    same = cell.variant.runtime in (None, cell.variant.image)
    image = _image(site, cell.variant.runtime or cell.variant.image or "", job.materials.image if same else "")
    to = os.path.join(site.scratch, f"{cell.name}.seen")
    build = Build(os.path.join(folder, context.TRY_FILE), "seen", folder, context.try_arguments(cell, image), to,
                  cell.platform, site.secrets, site.builder)  # fmt: skip
    failed = _contain(site, job, build, append=True)
    if failed is not None:
        tail = "".join(f"\n  {line}" for line in failed.tail)
        hint = f"the whole log: {os.path.relpath(site.log(job))}"
        return [finding("PIN659", f"{cell.name}: it failed while it {failed.what}{tail}", pin=cell.pin.name, hint=hint)]
    said = build_context.text(os.path.join(to, "smoke.txt")).splitlines()
    return [
        finding("PIN660", f"{cell.name}: {line.removeprefix('skipped:').strip()}", pin=cell.pin.name)
        for line in said if line.startswith("skipped:")
    ]  # fmt: skip
