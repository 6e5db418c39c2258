"""What a wheel says of itself: as plain data for scripts, and as tables for a person."""

from collections.abc import Iterator
from typing import Any

from pinctl.outcome import Table
from pinctl.wheel import policy, provenance
from pinctl.wheel.elf import Elf
from pinctl.wheel.names import Name
from pinctl.wheel.provenance import Provenance
from pinctl.wheel.survey import Survey, devices

FAMILIES = ("GLIBC", "GLIBCXX", "CXXABI", "GCC")
"""The symbol versions that are told, by family."""


def plain(found: Survey) -> dict[str, Any]:
    """The survey as plain data. Keys may be added, never taken away."""
    return {
        "filename": found.filename,
        "sha256": found.sha256,
        "size": found.size,
        "unpacked": sum(member.size for member in found.members.values()),
        "files": len(found.contents),
        **_name(found.name),
        **_described(found),
        "cuda": list(cudas(found)),
        "architectures": devices(found),
        "needs": {family: found.needs[family] for family in FAMILIES if family in found.needs},
        "libraries": [_library(member, elf) for member, elf in found.elves.items()],
        "provenance": provenance.plain(found.provenance) if isinstance(found.provenance, Provenance) else None,
        "sboms": list(found.sboms),
    }


def _name(name: Name | str) -> dict[str, Any]:
    if isinstance(name, str):
        return {"name": None, "version": None, "label": None, "build": None, "tags": []}
    return {"name": name.distribution, "version": name.version, "label": name.label or None,
            "build": name.build or None, "tags": list(name.tags)}  # fmt: skip


def _described(found: Survey) -> dict[str, Any]:
    meta, info = found.metadata, found.info
    return {
        "requires_python": meta.requires_python if meta else None,
        "requires_dist": list(meta.requires) if meta else [],
        "license": meta.license or None if meta else None,
        "generator": info.generator or None if info else None,
        "purelib": info.purelib if info else None,
    }


def _library(member: str, elf: Elf) -> dict[str, Any]:
    return {
        "member": member,
        "machine": elf.machine,
        "soname": elf.soname,
        "needed": list(elf.needed),
        "runpath": list(elf.runpath),
        "versions": dict(elf.versions),
        "static_libstdcxx": elf.static_cxx,
        "devices": None if elf.devices is None else [str(device) for device in elf.devices],
    }


def cudas(found: Survey) -> tuple[str, ...]:
    """The major versions of CUDA whose libraries are needed."""
    majors = {policy.cuda_of(library) for elf in found.elves.values() for library in elf.needed}
    return tuple(sorted(filter(None, majors)))


def tables(found: Survey, *, verbose: bool) -> Iterator[Table]:
    """What a person is shown of one wheel: the whole, its libraries, and where asked for the libraries' needs."""
    yield Table(("", ""), tuple(_rows(found)), found.filename)
    if found.elves:
        rows = tuple((member, elf.machine, _highest(elf), " ".join(map(str, elf.devices or ())) or "-")
                     for member, elf in found.elves.items())  # fmt: skip
        yield Table(("library", "machine", "highest", "GPUs"), rows, "Libraries")
    if found.elves and verbose:
        yield Table(("library", "needs", "looks in"), tuple(
            (member, " ".join(elf.needed), ":".join(elf.runpath) or "-") for member, elf in found.elves.items()
        ), "What they load")  # fmt: skip


def _highest(elf: Elf) -> str:
    return " ".join(f"{family}_{elf.versions[family]}" for family in FAMILIES if family in elf.versions)


def _rows(found: Survey) -> Iterator[tuple[str, str]]:
    meta, info, ours = found.metadata, found.info, found.provenance
    yield "sha256", found.sha256
    yield "size", f"{found.size / 1024**2:.1f} MiB, {len(found.contents)} files"
    if isinstance(found.name, Name):
        yield "version", f"{found.name.distribution} {found.name.version}"
        yield "tags", " ".join(found.name.tags)
    if meta is not None:
        yield "requires", "; ".join((f"Python {meta.requires_python or 'any'}", *meta.requires))
    if info is not None:
        yield "made by", info.generator or "-"
    yield "CUDA", ", ".join(cudas(found)) or "-"
    if isinstance(ours, Provenance):
        yield "built of", " ".join(filter(None, (ours.pin, ours.commit, ours.variant, f"torch {ours.torch}" if
                                                 ours.torch else "")))  # fmt: skip
    yield from (("SBOM", name) for name in found.sboms)
