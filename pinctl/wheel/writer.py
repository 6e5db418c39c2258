"""Wheels written so that the same content gives the same bytes (APPNOTE.TXT 6.3.10; the specification of wheels).

Members that stay are copied as they are compressed. What is new is stored, since what a compressor makes of it
depends on its version. Modes are 0644 or 0755; times are not after SOURCE_DATE_EPOCH where one is given, and not before
1980, which MS-DOS does not know.
"""

import hashlib
import stat
import struct
import time
import zlib
from typing import BinaryIO

from pinctl.wheel.archive import STORED, Archive, Member

FIRST = (0, 1 << 5 | 1)
"""1980-01-01 00:00 as MS-DOS writes it: time and date."""

_FIRST_SECOND, _LAST_SECOND = 315_532_800, 4_354_819_198
"""1980-01-01 and 2107-12-31 as seconds since 1970."""
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
_UTF8 = 0x0800
_UNIX, _PLAIN, _WIDE = 3 << 8, 20, 45
"""Made on Unix; readable by version 2.0, or 4.5 with ZIP64 (APPNOTE 4.4.2, 4.4.3)."""


def stamp(epoch: int) -> tuple[int, int]:
    """Seconds since 1970 as MS-DOS writes them in UTC: time and date, within 1980 to 2107."""
    at = time.gmtime(min(max(epoch, _FIRST_SECOND), _LAST_SECOND))
    return at.tm_hour << 11 | at.tm_min << 5 | at.tm_sec // 2, (at.tm_year - 1980) << 9 | at.tm_mon << 5 | at.tm_mday


class Writer:
    """A wheel that is written to `out`, which is empty; `epoch` is SOURCE_DATE_EPOCH, None without one."""

    def __init__(self, out: BinaryIO, epoch: int | None = None) -> None:
        self.out = out
        self.latest = None if epoch is None else stamp(epoch)
        self.at = 0
        self.directory: list[bytes] = []

    def copy(self, archive: Archive, member: Member, name: str) -> None:
        """Take over a member under another name, or its own."""
        self._head(member._replace(name=name))
        for piece in archive.raw(member):
            self._put(piece)

    def add(self, name: str, data: bytes, like: Member | None = None) -> None:
        """A file with the content `data`, and the time and mode of the member `like`."""
        when = like.stamp if like else self.latest or FIRST
        mode = like.mode if like else 0
        size = len(data)
        self._head(Member(name, size, size, STORED, zlib.crc32(data), 0, when, mode))
        self._put(data)

    def close(self) -> None:
        """Write the directory."""
        start = self.at
        for entry in self.directory:
            self._put(entry)
        count, length = len(self.directory), self.at - start
        if count >= _FULL16 or length >= _FULL32 or start >= _FULL32:
            end = self.at
            self._put(
                struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, _UNIX | _WIDE, _WIDE, 0, 0, count, count, length, start)
            )
            self._put(struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1))
        narrow, length, start = min(count, _FULL16), min(length, _FULL32), min(start, _FULL32)
        self._put(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, narrow, narrow, length, start, 0))

    def _put(self, data: bytes) -> None:
        self.out.write(data)
        self.at += len(data)

    def _head(self, member: Member) -> None:
        """The local header of a member, and its entry for the directory."""
        name = member.name.encode("utf-8")
        flags = 0 if member.name.isascii() else _UTF8
        when, date = self._stamp(member.stamp)
        sizes = (member.compressed, member.size)
        local = _wide(member.size, member.compressed) if max(sizes) >= _FULL32 else b""
        far = self.at >= _FULL32
        central = _wide(*([member.size, member.compressed] if local else []), *([self.at] if far else []))
        narrow = (_FULL32, _FULL32) if local else sizes
        version = _WIDE if central else _PLAIN
        common = struct.pack("<4H3L2H", flags, member.method, when, date, member.crc, *narrow, len(name), len(central))
        offset = _FULL32 if far else self.at
        self.directory.append(
            struct.pack("<4s2H", b"PK\x01\x02", _UNIX | version, version) + common
            + struct.pack("<3H2L", 0, 0, 0, _attributes(member), offset) + name + central
        )  # fmt: skip
        self._put(
            struct.pack("<4sH", b"PK\x03\x04", version) + common[:-2] + struct.pack("<H", len(local)) + name + local
        )

    def _stamp(self, own: tuple[int, int]) -> tuple[int, int]:
        """The time of a member: its own, within bounds."""
        latest = self.latest or own
        return max(min(own, latest, key=_order), FIRST, key=_order)


def _order(when: tuple[int, int]) -> tuple[int, int]:
    return when[1], when[0]


def _wide(*values: int) -> bytes:
    """The ZIP64 extra field with `values`; nothing without any."""
    return struct.pack(f"<2H{len(values)}Q", 1, 8 * len(values), *values) if values else b""


def _attributes(member: Member) -> int:
    """Kind and mode as Unix has them, and the folder's bit of MS-DOS."""
    if member.is_folder:
        return (stat.S_IFDIR | 0o755) << 16 | 0x10
    return (stat.S_IFREG | (0o755 if member.mode & 0o111 else 0o644)) << 16


def digest(data: bytes) -> bytes:
    """The sha256 that RECORD has of `data`."""
    return hashlib.sha256(data).digest()
