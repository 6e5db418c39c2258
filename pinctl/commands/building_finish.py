"""From the wheel that a container made to the one that people get: its label, what it was built of, and the check."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from pinctl import __version__
from pinctl.commands.building import Job
from pinctl.commands.wheel_verify import required
from pinctl.errors import ExternalError
from pinctl.external import build_context, wheelfile
from pinctl.external.build_cache import Entry
from pinctl.finding import Finding
from pinctl.wheel.archive import Malformed
from pinctl.wheel.context import Library
from pinctl.wheel.difference import compare
from pinctl.wheel.judgement import Wanted, judge, malformed
from pinctl.wheel.key import EPOCH
from pinctl.wheel.provenance import PatchDigest, Provenance
from pinctl.wheel.revision import Refused
from pinctl.wheel.survey import Survey


class Finished(NamedTuple):
    """The wheel's path, the modules that it brings, and what is wrong with it."""

    wheel: str
    modules: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def finish(job: Job, entry: Entry, excludes: tuple[Library, ...], folder: str) -> Finished:
    """Finish the compiled wheel `entry` in `folder`: its variant's label, its provenance and bill of materials are
    written into it, and it is held against itself, the pin and the variant. Raises ExternalError."""
    name = os.path.basename(entry.path)
    build_context.write(folder, {})
    try:
        built = _provenance(job, entry)
        wheel = wheelfile.revise(entry.path, folder, label=job.cell.variant.label or "", built=built, epoch=EPOCH)
        found = wheelfile.survey(wheel)
    except Malformed as error:
        return Finished(entry.path, findings=(malformed(name, error),))
    except Refused as error:
        return Finished(entry.path, findings=error.findings)
    files = (*job.recipe.files, *required(job.cell.pin))
    wanted = Wanted(variant=job.cell.variant, pin=job.cell.pin, files=files, excludes=excludes)
    told = tuple(one._replace(pin=job.cell.pin.name) for one in judge(found, wanted))
    return Finished(wheel, tuple(dict.fromkeys(_modules(found))), told)


def difference(one: str, other: str) -> list[str]:
    """How two wheels of one cell differ, a clause for each member. Raises ExternalError."""
    try:
        return [f"{d.member}: {d.how}" for d in compare(wheelfile.survey(one), wheelfile.survey(other))]
    except Malformed as error:
        raise ExternalError(f"{one} and {other} cannot be compared: {error}") from error


def _provenance(job: Job, entry: Entry) -> Provenance:
    pin, variant = job.cell.pin, job.cell.variant
    toolchain = entry.told.get("toolchain", {})
    installed = toolchain.get("installed", {}) if isinstance(toolchain, dict) else {}
    return Provenance(
        pin=pin.name,
        repo=pin.repo or "",
        commit=pin.commit or "",
        version=pin.version or "",
        submodules=entry.told.get("submodules", {}),
        patches=tuple(PatchDigest(file, sha256) for file, sha256 in job.materials.patches),
        variant=variant.name,
        cuda=variant.cuda or "",
        torch=installed.get("torch", "") if job.recipe.torch else "",
        image=job.materials.image,
        key=job.planned.key,
        pinctl=__version__,
    )


def _modules(found: Survey) -> Iterator[str]:
    """The modules and packages at the top of the wheel."""
    for member in found.members:
        top, _, rest = member.partition("/")
        if rest == "__init__.py" or (not rest and top.endswith((".py", ".so"))):
            yield top.partition(".")[0]
