"""What the dynamic loader will ask of an ELF file, and for which machine and GPUs it is (System V ABI; GNU symbol
versions after the LSB).

Own reading, since every table is bounded that way and a symbol costs a tenth of what it does in a general parser; the
tests hold it against pyelftools.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from pinctl.wheel import fatbin

MAGIC = b"\x7fELF"
LARGEST_TABLE = 64 * 1024**2
"""Bytes of one table that is read: symbols, strings, read-only data."""
_FARTHEST = 2**62
_MOST_TAGS = 4096
_MOST_VERSIONS = 65_536

_EXECUTABLE, _SHARED = 2, 3
_LOAD, _DYNAMIC = 1, 2
_DYNSYM = 11
_NEEDED, _STRTAB, _SYMTAB, _STRSZ, _SONAME, _RPATH, _RUNPATH = 1, 5, 6, 10, 14, 15, 29
_VERNEED, _VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
_CUDA = 190

_MACHINES = {3: "i686", 20: "ppc", 22: "s390x", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64",
             258: "loongarch64"}  # fmt: skip
"""e_machine as platform tags say it; ppc64 depends on the byte order."""

_VERSION = re.compile(r"(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9]+(?:\.[0-9]+)*)")
_PROVIDERS = {"GLIBCXX": "libstdc++.so.6", "CXXABI": "libstdc++.so.6", "GCC": "libgcc_s.so.1"}
"""Whose versions count: a copy that is bundled has another name."""
_RELR = "GLIBC_ABI_DT_RELR"
"""The version symbol of packed relative relocations, which glibc knows since 2.36."""

_STATIC_LIBSTDCXX = b"\0NSt6locale5facetE\0"
"""The name of std::locale::facet for RTTI: only libstdc++ itself defines it, and no stripping takes it away."""


class BadElf(Exception):
    """A file that begins as ELF and cannot be read; `str(error)` says why."""


class Elf(NamedTuple):
    """A shared library or program.

    machine       as platform tags say it: "x86_64", "aarch64"; "machine N" for others
    runpath       the directories of DT_RUNPATH and DT_RPATH, in their order
    versions      the highest version that is needed of GLIBC, GLIBCXX, CXXABI and GCC, of the system's libraries
    python        names of CPython that it does not define: `PyList_New`
    static_cxx    it holds a copy of libstdc++
    devices       what its fat binaries hold code for; None where they cannot be read
    """

    machine: str
    soname: str | None = None
    needed: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    versions: Mapping[str, str] = MappingProxyType({})
    python: tuple[str, ...] = ()
    static_cxx: bool = False
    devices: tuple[fatbin.Device, ...] | None = ()


def numbers(version: str) -> tuple[int, ...]:
    """`2.28` as numbers, to compare by."""
    return tuple(map(int, version.split(".")))


def read(file: BinaryIO) -> Elf | None:
    """What the ELF file says; None for what no loader of the host takes: object files, GPU code. Raises BadElf."""
    try:
        reader = _Reader(file)
        return reader.elf() if reader.kind in (_EXECUTABLE, _SHARED) and reader.machine != _CUDA else None
    except struct.error as error:
        raise BadElf("it is cut off") from error


class _Layout(NamedTuple):
    """The records of one class of ELF files, and which of their fields are which."""

    header: str
    segment: str
    segment_fields: tuple[int, int, int, int]  # type, offset, address, size in the file
    section: str
    tag: str
    symbol: str
    symbol_section: int


_LAYOUTS = {
    1: _Layout("HHIIIIIHHHHHH", "8I", (0, 1, 2, 4), "10I", "iI", "IIIBBH", 5),
    2: _Layout("HHIQQQIHHHHHH", "IIQQQQQQ", (0, 2, 3, 5), "IIQQQQIIQQ", "qQ", "IBBHQQ", 3),
}


class _Section(NamedTuple):
    name: str
    kind: int
    offset: int
    size: int


class _Reader:
    """The tables of one ELF file."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        ident = self.at(0, 16)
        if ident[:4] != MAGIC or ident[4:5] not in (b"\1", b"\2") or ident[5:6] not in (b"\1", b"\2"):
            raise BadElf("its first bytes are of no ELF file that we know")
        self.wide, self.order = ident[4] == 2, "<" if ident[5] == 1 else ">"
        self.layout = _LAYOUTS[ident[4]]
        header = struct.Struct(self.order + self.layout.header)
        (self.kind, self.machine, _, _, segments, sections, _, _, segment_size, segment_count, section_size,
         section_count, names) = header.unpack(self.at(16, header.size))  # fmt: skip
        self.segments = [self._segment(record) for record in self._table(
            self.layout.segment, segments, segment_size, segment_count)]  # fmt: skip
        self.sections = self._sections(sections, section_size, section_count, names)

    def at(self, offset: int, size: int) -> bytes:
        """Raises BadElf for a table that is too large; shorter than `size` where the file ends."""
        if size > LARGEST_TABLE or offset > _FARTHEST:
            raise BadElf(f"a table has more than {LARGEST_TABLE} bytes, or lies nowhere")
        self.file.seek(offset)
        return self.file.read(size)

    def _table(self, record: str, offset: int, size: int, count: int) -> Iterator[tuple[int, ...]]:
        layout = struct.Struct(self.order + record)
        if count and size != layout.size:
            raise BadElf("its headers have an unknown size")
        return layout.iter_unpack(self.at(offset, size * count))

    def _segment(self, record: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(record[field] for field in self.layout.segment_fields)

    def _sections(self, offset: int, size: int, count: int, names: int) -> list[_Section]:
        found = [(r[0], r[1], r[4], r[5]) for r in self._table(self.layout.section, offset, size, count)]
        strings = self.at(*found[names][2:]) if names < len(found) else b""
        return [_Section(_string(strings, name), kind, start, length) for name, kind, start, length in found]

    def elf(self) -> Elf:
        tags = self._tags()
        strings = self.at(self._offset(tags, _STRTAB), _first(tags, _STRSZ)) if tags else b""

        def named(kind: int) -> list[str]:
            return [_string(strings, value) for tag, value in tags if tag == kind]

        needed = tuple(named(_NEEDED))
        soname = next(iter(named(_SONAME)), None)
        paths = (*named(_RUNPATH), *named(_RPATH))
        return Elf(
            machine=self._machine(),
            soname=soname,
            needed=needed,
            runpath=tuple(part for text in paths if text for part in text.split(":")),
            versions=self._versions(tags, strings),
            python=tuple(sorted(self._python(tags, strings))),
            static_cxx=not any(_is_libstdcxx(name) for name in (*needed, soname or "")) and self._static_cxx(),
            devices=self._devices(),
        )

    def _machine(self) -> str:
        if self.machine == 21:
            return "ppc64le" if self.order == "<" else "ppc64"
        return _MACHINES.get(self.machine, f"machine {self.machine}")

    def _tags(self) -> list[tuple[int, int]]:
        """The entries of the dynamic segment up to its end; none in a static program."""
        for kind, offset, _, size in self.segments:
            if kind == _DYNAMIC:
                record = struct.Struct(self.order + self.layout.tag)
                data = self.at(offset, min(size, _MOST_TAGS * record.size))
                tags = list(record.iter_unpack(data[: len(data) // record.size * record.size]))
                return tags[: next((n for n, tag in enumerate(tags) if tag[0] == 0), len(tags))]
        return []

    def _offset(self, tags: list[tuple[int, int]], kind: int) -> int:
        """Where the table of a tag lies in the file: the tag has its address in memory."""
        address = _first(tags, kind)
        for sort, offset, start, size in self.segments:
            if sort == _LOAD and start <= address < start + size:
                return offset + address - start
        raise BadElf("a table of its dynamic segment lies in no other segment")

    def _versions(self, tags: list[tuple[int, int]], strings: bytes) -> Mapping[str, str]:
        highest: dict[str, str] = {}
        if any(tag == _VERNEED for tag, _ in tags):
            data = self.at(self._offset(tags, _VERNEED), _MOST_VERSIONS * 16)
            for library, name in _needed_versions(data, self.order, strings, _first(tags, _VERNEEDNUM)):
                match = _VERSION.fullmatch("GLIBC_2.36" if name == _RELR else name)
                if match and _PROVIDERS.get(match[1], library) == library:
                    highest[match[1]] = max(highest.get(match[1], "0"), match[2], key=numbers)
        return highest

    def _python(self, tags: list[tuple[int, int]], strings: bytes) -> Iterator[str]:
        """Names that begin as CPython's do, and that the file uses and does not define."""
        if not any(tag == _SYMTAB for tag, _ in tags):
            return
        record = struct.Struct(self.order + self.layout.symbol)
        start = self._offset(tags, _SYMTAB)
        size = next((section.size for section in self.sections if section.kind == _DYNSYM), None)
        if size is None:  # no section headers: linkers put the strings right behind the symbols
            size = max(0, self._offset(tags, _STRTAB) - start)
        data = self.at(start, size)
        for symbol in record.iter_unpack(data[: len(data) // record.size * record.size]):
            if symbol[self.layout.symbol_section] == 0 and strings.startswith((b"Py", b"_Py"), symbol[0]):
                yield _string(strings, symbol[0])

    def _static_cxx(self) -> bool:
        data = next((section for section in self.sections if section.name == ".rodata"), None)
        return data is not None and _STATIC_LIBSTDCXX in self.at(data.offset, min(data.size, LARGEST_TABLE))

    def _devices(self) -> tuple[fatbin.Device, ...] | None:
        found: list[fatbin.Device] = []
        for section in self.sections:
            if section.name in fatbin.SECTIONS:
                try:
                    found += fatbin.devices(self.at, section.offset, section.size)
                except fatbin.BadFatbin:
                    return None
        return tuple(dict.fromkeys(found))


def _needed_versions(data: bytes, order: str, strings: bytes, count: int) -> Iterator[tuple[str, str]]:
    """Library and version symbol, as the records of DT_VERNEED chain them."""
    need, part = struct.Struct(order + "HHIII"), struct.Struct(order + "IHHII")
    at, budget = 0, _MOST_VERSIONS
    for _ in range(min(count, _MOST_VERSIONS)):
        _, parts, library, inner, following = need.unpack_from(data, at)
        inner += at
        for _ in range(parts):
            _, _, _, name, step = part.unpack_from(data, inner)
            yield _string(strings, library), _string(strings, name)
            inner, budget = inner + step, budget - 1
            if not budget:
                raise BadElf(f"it needs more than {_MOST_VERSIONS} versions")
        at += following


def _first(tags: list[tuple[int, int]], kind: int) -> int:
    for tag, value in tags:
        if tag == kind:
            return value
    raise BadElf("its dynamic segment lacks a table")


def _string(strings: bytes, at: int) -> str:
    """The string at an offset of a string table, its first 1,024 bytes."""
    end = strings.find(b"\0", at, at + 1024)
    return strings[at : end if end >= 0 else at + 1024].decode("utf-8", "replace")


def _is_libstdcxx(name: str) -> bool:
    return name.startswith("libstdc++")
