"""What a tar archive says of itself, read while it comes in: the commit that git made it of, and its one top folder.

git-archive(1) writes the commit's id into the `comment` of a pax header that stands for the whole archive, where
git-get-tar-commit-id(1) finds it; forges make theirs so. Nothing is unpacked and no more is kept than a header of
64 KiB, so that an archive may be any stranger's.
"""

import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from pinctl.commits import is_full

UNPACKED = 8 * 1024**3
"""Bytes that an archive may unpack to and still be looked through."""

_BLOCK = 512
_PIECE = 1024 * 1024
_LONGEST_EXTRA = 64 * 1024
_WITHOUT_DATA = frozenset(b"123456")  # links, devices, folders, FIFOs
_RECORD = re.compile(rb"(\d{1,5}) ([^=\n]{1,200})=")
_GZIP = b"\x1f\x8b"


class Contents(NamedTuple):
    """`commit`: the id that git left in it, if it did. `folder`: the one that holds every file; None where there are
    several, or files beside it."""

    commit: str | None
    folder: str | None


class Tarball:
    """Takes an archive piece by piece: `feed` each, then ask for its `contents`."""

    def __init__(self) -> None:
        self._gzip: zlib._Decompress | None = None
        self._reader: _Reader | None = _Reader()
        self._begun = False
        self._unpacked = 0

    def feed(self, data: bytes) -> None:
        """The next bytes of the archive. What cannot be read is not told before `contents`."""
        if self._reader is None or self._reader.ended or not data:  # what follows the end is padding
            return
        if not self._begun:
            self._begun = True
            self._gzip = _gunzip() if data.startswith(_GZIP[: len(data)]) else None
        try:
            for piece in self._unpack(data):
                self._unpacked += len(piece)
                if self._unpacked > UNPACKED:
                    raise ValueError("a bomb")
                if not self._reader.feed(piece):
                    return
        except (ValueError, zlib.error):
            self._reader = None

    @property
    def contents(self) -> Contents | None:
        """None for what is no tar archive, by gzip or plain, is broken, or unpacks to more than UNPACKED."""
        if self._reader is None or not self._reader.ended or not self._reader.tops:
            return None
        folder = next(iter(self._reader.tops)) if len(self._reader.tops) == 1 and not self._reader.loose else None
        return Contents(self._reader.commit, folder)

    def _unpack(self, data: bytes) -> Iterator[bytes]:
        if self._gzip is None:
            yield data
            return
        while data and self._gzip is not None:
            yield self._gzip.decompress(data, _PIECE)
            data = self._gzip.unconsumed_tail
            if self._gzip.eof:  # gzip(1): members may follow each other
                data = self._gzip.unused_data
                self._gzip = _gunzip()


def _gunzip() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)


class _Reader:
    """Headers of a tar file (POSIX.1-2017, pax, "ustar Interchange Format"), and GNU's long names. Methods raise
    ValueError for what is none."""

    def __init__(self) -> None:
        self.commit: str | None = None
        self.tops: set[str] = set()
        self.loose = False
        """Whether a file lies beside the folders."""
        self.ended = False
        self._held = bytearray()
        self._skip = 0
        self._name: str | None = None
        """What an extra header says of the name of the next file."""

    def feed(self, data: bytes) -> bool:
        """The next bytes; whether more are wanted."""
        passed = min(self._skip, len(data))
        self._skip -= passed
        if passed == len(data):
            return True
        self._held += memoryview(data)[passed:]
        while len(self._held) >= _BLOCK and not self.ended and (taken := self._entry()):
            self._skip = max(taken - len(self._held), 0)
            del self._held[:taken]
        return not self.ended

    def _entry(self) -> int:
        """Read the entry that begins what is held: the bytes that it has, or 0 where more of it is needed."""
        header = bytes(self._held[:_BLOCK])
        if not any(header):
            self.ended = True
            return _BLOCK
        _check(header)
        kind, size = header[156], _number(header[124:136])
        whole = _BLOCK + (0 if kind in _WITHOUT_DATA else -(-size // _BLOCK) * _BLOCK)
        if kind in b"gxL":
            if size > _LONGEST_EXTRA:
                raise ValueError("a header of its own size")
            if len(self._held) < whole:
                return 0
            self._extra(kind, bytes(self._held[_BLOCK : _BLOCK + size]))
        elif kind != ord("K"):  # a link's target
            self._file(self._name or _named(header), is_folder=kind == ord("5"))
            self._name = None
        return whole

    def _extra(self, kind: int, body: bytes) -> None:
        if kind == ord("L"):
            self._name = _text(body.rstrip(b"\0"))
            return
        records = dict(_records(body))
        if kind == ord("g"):
            comment = _text(records.get(b"comment", b""))
            self.commit = comment if is_full(comment) else self.commit
        elif b"path" in records:
            self._name = _text(records[b"path"])

    def _file(self, name: str, *, is_folder: bool) -> None:
        top, slash, _ = name.removeprefix("./").partition("/")
        if top and (slash or is_folder):
            if len(self.tops) < 2:
                self.tops.add(top)
        elif top:
            self.loose = True


def _check(header: bytes) -> None:
    """A header's sum is that of its bytes, its own eight as spaces."""
    if _number(header[148:156]) != sum(header) - sum(header[148:156]) + 8 * ord(" "):
        raise ValueError("not a header")


def _number(field: bytes) -> int:
    """Octal digits, or GNU's base 256."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b"\0 ") or b"0"
    if not digits.isdigit():
        raise ValueError("not a number")
    return int(digits, 8)


def _named(header: bytes) -> str:
    name, prefix = (_text(part.split(b"\0")[0]) for part in (header[:100], header[345:500]))
    return f"{prefix}/{name}" if prefix and header[257:263] == b"ustar\0" else name


def _records(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The records of a pax header: "LENGTH KEY=VALUE" and a line feed, where the length is that of all of it."""
    at = 0
    while at < len(body):
        match = _RECORD.match(body, at)
        if match is None or (end := at + int(match[1])) > len(body) or end <= match.end():
            raise ValueError("no record")
        yield match[2], body[match.end() : end - 1]
        at = end


def _text(source: bytes) -> str:
    return source.decode("utf-8", "replace")
