"""What one wheel file says of itself, from one pass over its bytes. What is wrong with it, `judgement` says."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from pinctl.wheel import elf, fatbin, metadata, names, provenance, record
from pinctl.wheel.archive import Archive, Member
from pinctl.wheel.elf import BadElf, Elf
from pinctl.wheel.metadata import Metadata, WheelInfo
from pinctl.wheel.names import BadName, Name
from pinctl.wheel.provenance import BadProvenance, Provenance
from pinctl.wheel.record import Record

SBOMS = "sboms/"

Spool = Callable[[], BinaryIO]
"""Opens an empty file for content that may not fit into memory; closing it takes it away."""


class Content(NamedTuple):
    """What one member holds. `elf` is what the loader would read of it; a clause where it cannot be read."""

    sha256: bytes
    elf: Elf | str | None = None


class Survey(NamedTuple):
    """A wheel file, read.

    sha256      of the whole file, in hex
    name        what the file name says; why it says nothing where it is malformed
    contents    by member, folders left out
    dist_infos  the top folders whose names end in .dist-info
    provenance  ours; why it cannot be read; None: there is none
    """

    filename: str
    size: int
    sha256: str
    name: Name | str
    members: Mapping[str, Member]
    contents: Mapping[str, Content]
    dist_infos: tuple[str, ...]
    metadata: Metadata | None = None
    info: WheelInfo | None = None
    record: Record | None = None
    provenance: Provenance | str | None = None

    @property
    def elves(self) -> Mapping[str, Elf]:
        """The programs and shared libraries, by member."""
        return {name: content.elf for name, content in self.contents.items() if isinstance(content.elf, Elf)}

    @property
    def needs(self) -> dict[str, str]:
        """The highest version of each family of system symbols that some library needs: GLIBC to 2.34."""
        highest: dict[str, str] = {}
        for library in self.elves.values():
            for family, version in library.versions.items():
                highest[family] = max(highest.get(family, version), version, key=elf.numbers)
        return highest

    @property
    def dist_info(self) -> str | None:
        """The one .dist-info folder; None where there is none, or more than one."""
        return self.dist_infos[0] if len(self.dist_infos) == 1 else None

    @property
    def sboms(self) -> tuple[str, ...]:
        """The bills of materials (PEP 770)."""
        return tuple(name for name in self.contents if name.startswith(f"{self.dist_info}/{SBOMS}"))


def survey(archive: Archive, filename: str, spool: Spool) -> Survey:
    """What the archive of the file `filename` says. Raises Malformed, OSError."""
    contents = {member.name: _content(archive, member, spool) for member in archive.members if not member.is_folder}
    found = Survey(
        filename=filename,
        size=archive.size,
        sha256=archive.sha256(),
        name=_name(filename),
        members=MappingProxyType({member.name: member for member in archive.members}),
        contents=MappingProxyType(contents),
        dist_infos=dist_infos(archive),
    )
    folder = found.dist_info
    return found if folder is None else _described(found, archive, folder)


def dist_infos(archive: Archive) -> tuple[str, ...]:
    """The top folders of the archive whose names end in .dist-info, however it is spelled."""
    tops = dict.fromkeys(member.name.partition("/")[0] for member in archive.members if "/" in member.name)
    return tuple(top for top in tops if top.casefold().endswith(".dist-info"))


def _name(filename: str) -> Name | str:
    try:
        return names.parse(filename)
    except BadName as error:
        return str(error)


def _content(archive: Archive, member: Member, spool: Spool) -> Content:
    """The digest of a member, and what it is as an ELF file; its bytes pass by once."""
    digest = hashlib.sha256()
    with ExitStack() as stack:
        copy: BinaryIO | None = None
        for number, piece in enumerate(archive.pieces(member)):
            digest.update(piece)
            if not number and piece.startswith(elf.MAGIC):
                copy = stack.enter_context(spool())
            if copy is not None:
                copy.write(piece)
        return Content(digest.digest(), None if copy is None else _elf(copy))


def _elf(file: BinaryIO) -> Elf | str | None:
    try:
        return elf.read(file)
    except BadElf as error:
        return str(error)


def _described(found: Survey, archive: Archive, folder: str) -> Survey:
    """`found` with what the files of its .dist-info say."""

    def read(name: str, limit: int) -> bytes | None:
        member = archive.find(f"{folder}/{name}")
        return None if member is None else archive.read(member, limit)

    meta, info = read("METADATA", metadata.LIMIT), read("WHEEL", metadata.LIMIT)
    rows, ours = read("RECORD", record.LIMIT), read(provenance.FILE, provenance.LIMIT)
    return found._replace(
        metadata=None if meta is None else metadata.read_metadata(meta),
        info=None if info is None else metadata.read_wheel(info),
        record=None if rows is None else record.read(rows),
        provenance=None if ours is None else _provenance(ours),
    )


def _provenance(data: bytes) -> Provenance | str:
    try:
        return provenance.read(data)
    except BadProvenance as error:
        return str(error)


def devices(found: Survey) -> list[str]:
    """The GPUs that some library of the wheel holds code for, each once: `sm_90a`, `compute_90`."""
    return list(map(str, fatbin.ordered({device for elf in found.elves.values() for device in elf.devices or ()})))
