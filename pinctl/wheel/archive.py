"""A wheel's zip archive, read so that no two programs can see different files in it.

zip allows what a reader must guess about: a second directory, bytes before the first member, members that share
bytes, names that leave the folder. A wheel has no need of any of it, so all of it is refused. What is accepted is
tiled: the first member starts at byte 0, each starts where the one before ends, the central directory follows the
last, and the end record is the end of the file. Sources: PKWARE's APPNOTE.TXT 6.3.10 (the sections are named where
they matter) and the specification of the binary distribution format.
"""

import hashlib
import re
import stat
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

STORED, DEFLATED = 0, 8
"""The methods that a wheel may use (APPNOTE 4.4.5)."""

MOST_MEMBERS = 50_000
MOST_BYTES = 8 * 1024**3
"""Bytes of all members, uncompressed."""
HIGHEST_RATIO = 200
"""Bytes of all members for one of the file; deflate alone allows 1,032."""
LONGEST_NAME = 1024
"""Bytes of a member's name."""
PIECE = 1024 * 1024
"""Bytes that are read at once."""

_HARMLESS = 16 * 1024**2
"""Bytes of all members that are no bomb, whatever their ratio."""
_LARGEST_DIRECTORY = 64 * 1024**2

_END = struct.Struct("<4s4H2LH")
_LOCATOR64 = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED = 0x2041
"""Bits 0, 6 and 13 of the general purpose flag (APPNOTE 4.4.4)."""
_DESCRIBED, _UTF8 = 0x0008, 0x0800
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075
"""Extra fields: sizes of 64 bits (APPNOTE 4.5.3), and a second name (4.6.9)."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")


class Malformed(Exception):
    """An archive that is refused; `reason` is a clause ("two members have one name"), `member` the name it is about."""

    def __init__(self, reason: str, member: str | None = None) -> None:
        super().__init__(f"{member}: {reason}" if member else reason)
        self.reason, self.member = reason, member


class Member(NamedTuple):
    """One member. `start` is where its data begins in the file; `stamp` its time and date as MS-DOS keeps them; `mode`
    its permission bits, 0 where the archive says none."""

    name: str
    size: int
    compressed: int
    method: int
    crc: int
    start: int
    stamp: tuple[int, int]
    mode: int

    @property
    def is_folder(self) -> bool:
        return self.name.endswith("/")


class _Entry(NamedTuple):
    """What the central directory says of a member, and the bytes of its name."""

    member: Member
    raw: bytes
    flags: int
    offset: int


class Archive:
    """The members of the zip archive in `file`, a seekable file that nobody else reads meanwhile, in the order in which
    they lie there."""

    def __init__(self, file: BinaryIO) -> None:
        """Raises Malformed, OSError."""
        self.file = file
        self.size = file.seek(0, 2)
        entries, directory = _directory(file, self.size)
        self.members = tuple(_tiled(file, entries, directory))
        _demand_bounds(self.members, self.size)
        _demand_distinct(self.members)
        self._by_name = {member.name: member for member in self.members}

    def find(self, name: str) -> Member | None:
        return self._by_name.get(name)

    def sha256(self) -> str:
        """The digest of the whole file, in hex."""
        digest = hashlib.sha256()
        self.file.seek(0)
        while piece := self.file.read(PIECE):
            digest.update(piece)
        return digest.hexdigest()

    def raw(self, member: Member) -> Iterator[bytes]:
        """The member's bytes as they lie in the file, in pieces."""
        at, left = member.start, member.compressed
        while left:
            piece = _read(self.file, at, min(left, PIECE))
            yield piece
            at, left = at + len(piece), left - len(piece)

    def pieces(self, member: Member) -> Iterator[bytes]:
        """The member's content in pieces of at most PIECE bytes. Raises Malformed where it is not of the size and the
        checksum that the directory says; what came before then is not to be used."""
        size, crc = 0, 0
        for piece in self.raw(member) if member.method == STORED else self._inflated(member):
            size, crc = size + len(piece), zlib.crc32(piece, crc)
            if size > member.size:
                break
            yield piece
        if size != member.size or crc != member.crc:
            what = f"its data is not of the {member.size} bytes and the checksum that the directory says"
            raise Malformed(what, member.name)

    def _inflated(self, member: Member) -> Iterator[bytes]:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            for piece in self.raw(member):
                while piece and not inflate.eof:
                    yield inflate.decompress(piece, PIECE)
                    piece = inflate.unconsumed_tail
            if not inflate.eof or inflate.unused_data:
                raise Malformed("its compressed data does not end where the directory says", member.name)
        except zlib.error as error:
            raise Malformed(f"its compressed data is broken ({error})", member.name) from error

    def read(self, member: Member, limit: int) -> bytes:
        """The member's content. Raises Malformed, also where it has more than `limit` bytes."""
        if member.size > limit:
            raise Malformed(f"it has more than {limit} bytes", member.name)
        return b"".join(self.pieces(member))


def _read(file: BinaryIO, at: int, length: int) -> bytes:
    file.seek(at)
    data = file.read(length)
    if len(data) != length:
        raise Malformed("the file ends too early")
    return data


# --- the end and the central directory -------------------------------------------------------------------------------


def _directory(file: BinaryIO, size: int) -> tuple[list[_Entry], int]:
    """The entries of the central directory, and where it starts."""
    end = _end(file, size)
    _, disk, first_disk, here, count, length, start, _ = _END.unpack(_read(file, end, _END.size))
    ends_at = end
    if end >= _LOCATOR64.size and _read(file, end - _LOCATOR64.size, 4) == b"PK\x06\x07":
        ends_at = end - _LOCATOR64.size - _END64.size
        count, length, start = _wide(file, ends_at, (here, count, length, start))
    elif here == _FULL16 or _FULL32 in (length, start):
        raise Malformed("its ZIP64 end record is missing")
    elif here != count:
        raise Malformed("it is a part of several")
    if disk or first_disk:
        raise Malformed("it is a part of several")
    if count > MOST_MEMBERS:
        raise Malformed(f"it has more than {MOST_MEMBERS} members")
    if length > _LARGEST_DIRECTORY or start + length != ends_at:
        raise Malformed("its directory does not end where the end record begins")
    return list(_entries(_read(file, start, length), count)), start


def _end(file: BinaryIO, size: int) -> int:
    """Where the one end record lies (APPNOTE 4.3.16): its comment must reach the end of the file."""
    if size < _END.size:
        raise Malformed("it is no zip archive")
    base = max(0, size - _END.size - _FULL16)
    tail = _read(file, base, size - base)
    found = []
    at = tail.find(b"PK\x05\x06")
    while at >= 0:
        if at + _END.size <= len(tail) and at + _END.size + _END.unpack_from(tail, at)[-1] == len(tail):
            found.append(base + at)
        at = tail.find(b"PK\x05\x06", at + 1)
    if len(found) != 1:
        raise Malformed("it has two end records" if found else "it is no zip archive, or bytes follow its end")
    return found[0]


def _wide(file: BinaryIO, at: int, narrow: tuple[int, int, int, int]) -> tuple[int, int, int]:
    """Count, length and start of the directory from the ZIP64 end record at `at`, which must agree with the narrow one
    in all that this one can hold (APPNOTE 4.3.14, 4.3.15)."""
    if at < 0:
        raise Malformed("its ZIP64 end record is missing")
    record = _read(file, at, _END64.size + _LOCATOR64.size)
    mark, length, _, _, disk, first_disk, *wide = _END64.unpack_from(record)
    _, end_disk, end_at, disks = _LOCATOR64.unpack_from(record, _END64.size)
    if mark != b"PK\x06\x06" or length != _END64.size - 12 or (end_at, end_disk) != (at, 0) or disks > 1:
        raise Malformed("its ZIP64 locator leads elsewhere")
    full = (_FULL16, _FULL16, _FULL32, _FULL32)
    if any(low not in (most, value) for low, most, value in zip(narrow, full, wide, strict=True)):
        raise Malformed("its two end records disagree")
    if disk or first_disk or wide[0] != wide[1]:
        raise Malformed("it is a part of several")
    return wide[1], wide[2], wide[3]


def _entries(data: bytes, count: int) -> Iterator[_Entry]:
    at = 0
    for _ in range(count):
        if len(data) - at < _CENTRAL.size or data[at : at + 4] != b"PK\x01\x02":
            raise Malformed("its directory has fewer entries than the end record says")
        fields = _CENTRAL.unpack_from(data, at)
        name_size, extra_size, comment_size = fields[10:13]
        at += _CENTRAL.size
        after = at + name_size + extra_size + comment_size
        if after > len(data):
            raise Malformed("its directory is cut off")
        yield _entry(fields, data[at : at + name_size], data[at + name_size : at + name_size + extra_size])
        at = after
    if at != len(data):
        raise Malformed("its directory has more than the end record says")


def _entry(fields: tuple[int, ...], raw: bytes, extra: bytes) -> _Entry:
    _, _, _, flags, method, time, date, crc, compressed, size, _, _, _, disk, _, attributes, offset = fields
    name = _name(raw, flags)
    size, compressed, offset = _widened(extra, (size, compressed, offset), name)
    if flags & _ENCRYPTED:
        raise Malformed("it is encrypted", name)
    if method not in (STORED, DEFLATED):
        raise Malformed(f"its compression (method {method}) is neither stored nor deflate", name)
    if disk not in (0, _FULL16):
        raise Malformed("it lies in another part", name)
    mode = attributes >> 16
    _demand_kind(name, mode, size)
    if method == STORED and size != compressed:
        raise Malformed("it is stored, and has two sizes", name)
    if method == STORED and size and flags & _DESCRIBED:
        raise Malformed("who reads from the start cannot tell where it ends", name)
    member = Member(name, size, compressed, method, crc, 0, (time, date), stat.S_IMODE(mode))
    return _Entry(member, raw, flags, offset)


def _demand_kind(name: str, mode: int, size: int) -> None:
    folder = name.endswith("/")
    if stat.S_IFMT(mode) not in (0, stat.S_IFDIR if folder else stat.S_IFREG):
        raise Malformed("it is a symbolic link" if stat.S_ISLNK(mode) else "it is no regular file", name)
    if folder and size:
        raise Malformed("it is a folder with content", name)


def _name(raw: bytes, flags: int) -> str:
    """A member's name. Raises Malformed for one that programs read differently, or that leaves the folder."""
    try:
        name = raw.decode("utf-8" if flags & _UTF8 else "ascii")
    except UnicodeDecodeError:
        raise Malformed("a name is neither ASCII nor marked as UTF-8", repr(raw[:80])) from None
    if _CONTROL.search(name) or "\\" in name or len(raw) > LONGEST_NAME:
        raise Malformed("its name has a control character or a backslash, or is too long", name[:80])
    parts = name.removesuffix("/").split("/")
    if _DRIVE.match(name) or any(part in ("", ".", "..") for part in parts):
        raise Malformed("its name leaves the folder, or is no plain path", name)
    return name


def _widened(extra: bytes, narrow: tuple[int, ...], name: str) -> tuple[int, ...]:
    """The values of a header, those of 32 bits that are full taken from the ZIP64 extra field, in its order."""
    at, wide = 0, None
    while at < len(extra):
        if len(extra) - at < 4:
            raise Malformed("its extra field is cut off", name)
        kind, length = struct.unpack_from("<2H", extra, at)
        at += 4 + length
        if at > len(extra) or kind == _UNICODE_PATH or (kind == _ZIP64 and wide is not None):
            raise Malformed("its extra field is cut off, doubled, or gives a second name", name)
        if kind == _ZIP64:
            wide = extra[at - length : at]
    full = [n for n, value in enumerate(narrow) if value == _FULL32]
    if len(wide or b"") != 8 * len(full):
        raise Malformed("its ZIP64 field does not fit its header", name)
    values = list(narrow)
    for n, value in zip(full, struct.unpack(f"<{len(full)}Q", wide or b""), strict=True):
        values[n] = value
    return tuple(values)


# --- the members as they lie in the file -----------------------------------------------------------------------------


def _tiled(file: BinaryIO, entries: list[_Entry], directory: int) -> Iterator[Member]:
    """The members with where their data starts. Raises Malformed where their bytes overlap or leave a gap, or a local
    header says something else than the directory."""
    entries = sorted(entries, key=lambda entry: entry.offset)
    at = 0
    for entry, following in zip(entries, [*(e.offset for e in entries[1:]), directory], strict=True):
        name = entry.member.name
        if entry.offset != at:
            raise Malformed("bytes that belong to no member come before it" if entry.offset > at
                            else "it shares bytes with another member", name)  # fmt: skip
        start = _start(file, entry)
        end = start + entry.member.compressed
        if end > following:
            raise Malformed("it shares bytes with what follows", name)
        if entry.flags & _DESCRIBED:
            end = _described(file, entry.member, end, following)
        at = end
        yield entry.member._replace(start=start)
    if at != directory:
        raise Malformed("bytes that belong to no member come before the directory")


def _start(file: BinaryIO, entry: _Entry) -> int:
    """Where the member's data starts, after a local header that agrees with the directory."""
    member = entry.member
    mark, _, flags, method, _, _, crc, compressed, size, name_size, extra_size = _LOCAL.unpack(
        _read(file, entry.offset, _LOCAL.size)
    )
    rest = _read(file, entry.offset + _LOCAL.size, name_size + extra_size)
    if mark != b"PK\x03\x04" or (flags, method, rest[:name_size]) != (entry.flags, member.method, entry.raw):
        raise Malformed("its two headers disagree", member.name)
    size, compressed = _widened(rest[name_size:], (size, compressed), member.name)
    said = (crc, compressed, size)
    if said != (member.crc, member.compressed, member.size) and not (flags & _DESCRIBED and not any(said)):
        raise Malformed("its two headers disagree", member.name)
    return entry.offset + _LOCAL.size + len(rest)


def _described(file: BinaryIO, member: Member, at: int, following: int) -> int:
    """Where the data descriptor of a member ends (APPNOTE 4.3.9): with or without its mark, of 32 or 64 bits."""
    descriptor = _read(file, at, min(following - at, 24))
    for layout in ("<L2L", "<L2Q"):
        plain = _packed(layout, member)
        if plain is not None and descriptor in (plain, b"PK\x07\x08" + plain):
            return at + len(descriptor)
    raise Malformed("what follows its data is not its size and checksum", member.name)


def _packed(layout: str, member: Member) -> bytes | None:
    try:
        return struct.pack(layout, member.crc, member.compressed, member.size)
    except struct.error:  # more than 32 bits
        return None


def _demand_bounds(members: tuple[Member, ...], size: int) -> None:
    total = sum(member.size for member in members)
    if total > MOST_BYTES:
        raise Malformed(f"it unpacks to more than {MOST_BYTES} bytes")
    if total > max(_HARMLESS, HIGHEST_RATIO * size):
        raise Malformed(f"it unpacks to more than {HIGHEST_RATIO} times its size")


def _demand_distinct(members: tuple[Member, ...]) -> None:
    """Raises Malformed for two members of one name, or a file that another member has for a folder."""
    names: set[str] = set()
    for member in members:
        name = member.name.removesuffix("/")
        if name in names:
            raise Malformed("two members have this name", name)
        names.add(name)
    files = {member.name for member in members if not member.is_folder}
    for name in names:
        folder = name.rpartition("/")[0]
        while folder:
            if folder in files:
                raise Malformed("it is a file and a folder", folder)
            folder = folder.rpartition("/")[0]
