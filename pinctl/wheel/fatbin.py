"""CUDA fat binaries: for which GPUs an ELF file holds code.

nvcc puts one container after another into the section `.nv_fatbin` (`__nv_relfatbin` before the device link). NVIDIA
documents neither; the layout is as the headers of nvcc 12.8 and 13.0 show it, and `cuobjdump --list-elf --list-ptx`
lists the same: a container has a magic number, its header's size and its own; each entry in it has a kind, the size of
its header and of its data (which may be compressed, unlike the header), an architecture such as 90, and flags that tell
90 from 90a and 100 from 100f.
"""

import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
MOST_ENTRIES = 200_000

_MAGIC = 0xBA55ED50
_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<H2xIQ12xI8xQ")
"""Kind, header size, data size, architecture, flags."""
_PTX, _ELF = 1, 2
_SPECIFIC, _FAMILY = 0x100000, 0x200000

Read = Callable[[int, int], bytes]
"""The bytes at an offset, of a length; fewer where the file ends."""


class BadFatbin(Exception):
    """The section is not made of fat binaries as we know them; `str(error)` says where."""


class Device(NamedTuple):
    """Code for one architecture: `arch` as nvcc writes it ("90a", "100f"); `ptx`: source that the driver compiles."""

    arch: str
    ptx: bool = False

    def __str__(self) -> str:
        return f"{'compute' if self.ptx else 'sm'}_{self.arch}"


def devices(read: Read, start: int, size: int) -> tuple[Device, ...]:
    """What the section at `start` of `size` bytes holds code for, each once, by architecture. Raises BadFatbin."""
    found: set[Device] = set()
    at, end, count = start, start + size, 0
    while at + _CONTAINER.size <= end:
        magic, _, header, length = _CONTAINER.unpack(_exactly(read, at, _CONTAINER.size))
        entry, after = at + header, at + header + length
        if magic != _MAGIC or header < _CONTAINER.size or after > end:
            raise BadFatbin(f"no fat binary begins at byte {at - start}")
        while entry < after:
            kind, header, length, arch, flags = _ENTRY.unpack(_exactly(read, entry, _ENTRY.size))
            entry, count = entry + header + length, count + 1
            if header < _ENTRY.size or entry > after or count > MOST_ENTRIES:
                raise BadFatbin(f"an entry leaves its fat binary before byte {after - start}")
            if kind in (_PTX, _ELF):
                found.add(Device(f"{arch}{_suffix(flags)}", kind == _PTX))
        at = after + -(after - start) % 8
    return ordered(found)


def ordered(found: Iterable[Device]) -> tuple[Device, ...]:
    """Machine code before PTX, each by the number of its architecture."""
    return tuple(sorted(found, key=lambda device: (device.ptx, len(device.arch.rstrip("af")), device.arch)))


def _suffix(flags: int) -> str:
    return "a" if flags & _SPECIFIC else "f" if flags & _FAMILY else ""


def _exactly(read: Read, at: int, length: int) -> bytes:
    data = read(at, length)
    if len(data) != length:
        raise BadFatbin("it is cut off")
    return data
