"""What a tar archive says of itself, read while it comes in: the commit that git made it of, its one top folder, and
what is in it.

git-archive(1) writes the commit's id into the `comment` of a pax header that stands for the whole archive, where
git-get-tar-commit-id(1) finds it; forges make theirs so. Nothing is unpacked and no more is kept than a header of
64 KiB and a digest a file, so that an archive may be any stranger's.
"""

import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pinctl.commits import is_full
from pinctl.model import NOTHING

UNPACKED = 8 * 1024**3
"""Bytes that an archive may unpack to and still be looked through."""
MOST_FILES = 200_000
"""Files that an archive may hold and still be looked through."""

_BLOCK = 512
_PIECE = 1024 * 1024
_LONGEST_EXTRA = 64 * 1024
_FOLDER = ord("5")
_WITHOUT_DATA = frozenset(b"123456")  # links, devices, folders, FIFOs
_RECORD = re.compile(rb"(\d{1,5}) ([^=\n]{1,200})=")
_GZIP = b"\x1f\x8b"


class Contents(NamedTuple):
    """`commit`: the id that git left in it, if it did. `folder`: the one that holds every file; None where there are
    several, or files beside it. `files`: each path, without its top folder, with a digest of all that git knows of a
    file: its kind, whether it can be run, its bytes or what it links to."""

    commit: str | None
    folder: str | None
    files: Mapping[str, bytes] = NOTHING


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
        return Contents(self._reader.commit, folder, self._reader.files)

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
        self.files: dict[str, bytes] = {}
        self._held = bytearray()
        self._skip = 0
        self._name: str | None = None
        """What an extra header says of the name of the next file."""
        self._link: str | None = None
        """The same of what it links to."""
        self._now: _Now | None = None

    def feed(self, data: bytes) -> bool:
        """The next bytes; whether more are wanted."""
        passed = min(self._skip, len(data))
        self._skip -= passed
        self._pass(memoryview(data)[:passed])
        if passed == len(data):
            return True
        self._held += memoryview(data)[passed:]
        while len(self._held) >= _BLOCK and not self.ended and (taken := self._entry()):
            self._skip = max(taken - len(self._held), 0)
            self._pass(bytes(self._held[_BLOCK:taken]))
            del self._held[:taken]
        return not self.ended

    def _pass(self, data: bytes | memoryview) -> None:
        """More of the bytes of the present file, and of what fills its last block."""
        if self._now and self._now.take(data):
            self.files[self._now.path] = self._now.digest.digest()
            self._now = None

    def _entry(self) -> int:
        """Read the entry that begins what is held: the bytes that it has, or 0 where more of it is needed."""
        header = bytes(self._held[:_BLOCK])
        if not any(header):
            self.ended = True
            return _BLOCK
        _check(header)
        kind, size = header[156], _number(header[124:136])
        whole = _BLOCK + (0 if kind in _WITHOUT_DATA else -(-size // _BLOCK) * _BLOCK)
        if kind in b"gxLK":
            if size > _LONGEST_EXTRA:
                raise ValueError("a header of its own size")
            if len(self._held) < whole:
                return 0
            self._extra(kind, bytes(self._held[_BLOCK : _BLOCK + size]))
        else:
            self._file(header, kind, size if kind not in _WITHOUT_DATA else 0)
            self._name = self._link = None
        return whole

    def _extra(self, kind: int, body: bytes) -> None:
        if kind in b"LK":
            text = _text(body.rstrip(b"\0"))
            self._name, self._link = (text, self._link) if kind == ord("L") else (self._name, text)
            return
        records = dict(_records(body))
        if kind == ord("g"):
            comment = _text(records.get(b"comment", b""))
            self.commit = comment if is_full(comment) else self.commit
        else:
            self._name = _text(records[b"path"]) if b"path" in records else self._name
            self._link = _text(records[b"linkpath"]) if b"linkpath" in records else self._link

    def _file(self, header: bytes, kind: int, size: int) -> None:
        is_folder = kind == _FOLDER
        top, slash, path = (self._name or _named(header)).removeprefix("./").partition("/")
        if top and (slash or is_folder):
            if len(self.tops) < 2:
                self.tops.add(top)
        elif top:
            self.loose = True
        if not is_folder:
            if len(self.files) >= MOST_FILES:
                raise ValueError("more files than can be looked at")
            self._now = _Now(path or top, size, _told(kind, header, self._link))
            self._pass(b"")


class _Now:
    """The file that passes: its `path`, the bytes of it that are yet to come, what is known of it."""

    def __init__(self, path: str, left: int, told: str) -> None:
        self.path, self.left, self.digest = path, left, hashlib.sha256(f"{told}\0".encode("utf-8", "replace"))

    def take(self, data: bytes | memoryview) -> bool:
        """The next bytes; whether that was all of it."""
        self.digest.update(data[: self.left])
        self.left -= min(self.left, len(data))
        return not self.left


def _told(kind: int, header: bytes, link: str | None) -> str:
    """What git, too, knows of a file beside its bytes (git-ls-tree(1): 100644, 100755, 120000)."""
    if kind in b"0\0":
        return "program" if _number(header[100:108]) & 0o100 else "file"
    return f"{chr(kind)} {link or _text(header[157:257].split(bytes(1))[0])}"


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
