"""A tar archive, read as it streams by: the files that are wanted, and nothing is unpacked.

Formats: POSIX ustar and pax (IEEE Std 1003.1, "pax Interchange Format"), and GNU's long names and large sizes (tar's
manual, "Basic Tar Format"); these are what `docker export` and `docker cp` write. Every count is bounded: an image is
hostile until proven otherwise.
"""

from collections.abc import Callable
from typing import NamedTuple

_BLOCK = 512
MOST_MEMBERS = 5_000_000
LARGEST = 256 * 1024**3
"""Bytes that an archive may have."""
KEPT = 384 * 1024**2
"""Bytes of wanted files that are kept at most; later ones count as too large."""
MOST_FILES = 100_000
"""Wanted files."""
_LONGEST_HEADER = 1024**2
"""Bytes of a pax header or of a long name."""

_FILE, _PAX, _LONG_NAME = b"0", b"x", b"L"
_SKIPPED_HEADERS = (b"g", b"K")
_EMPTY = b"\0" * _BLOCK


class BadTar(Exception):
    """The archive cannot be read, or is larger than may be; `str(error)` says why, as a clause."""


class File(NamedTuple):
    """A regular file of the archive. `data` None: it is larger than was wanted. `modified` in seconds since 1970."""

    path: str
    size: int
    modified: float
    data: bytes | None


Wanted = Callable[[str], int]
"""How many bytes of the file at a path are wanted at most; 0: the file is passed over."""


class Reader:
    """Takes an archive piece by piece with `feed`; `close` says that it is over. `files` are those wanted so far."""

    def __init__(self, wanted: Wanted) -> None:
        self.files: list[File] = []
        self._wanted = wanted
        self._buffer = bytearray()
        self._need = _BLOCK
        self._skip = 0
        self._seen = self._kept = self._members = 0
        self._then: Callable[[bytes], None] = self._header
        self._long: dict[str, str] = {}
        self._ended = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes. Raises BadTar."""
        self._seen += len(piece)
        if self._seen > LARGEST:
            raise BadTar(f"it has more than {LARGEST >> 30} GiB")
        view = memoryview(piece)
        while view and not self._ended:
            if self._skip:
                step = min(self._skip, len(view))
                self._skip -= step
                view = view[step:]
                continue
            step = self._need - len(self._buffer)
            self._buffer += view[:step]
            view = view[step:]
            if len(self._buffer) == self._need:
                block = bytes(self._buffer)
                self._buffer.clear()
                self._need = _BLOCK
                self._then(block)

    def close(self) -> None:
        """Raises BadTar where the archive was cut off."""
        if not self._ended:
            raise BadTar("it is cut off")

    def _header(self, block: bytes) -> None:
        if block == _EMPTY:
            self._ended = True
            return
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise BadTar(f"it has more than {MOST_MEMBERS} members")
        if _number(block[148:156]) != sum(block[:148]) + sum(block[156:]) + 8 * 0x20:
            raise BadTar("the checksum of a header is wrong")
        kind, size = block[156:157].replace(b"\0", b"0"), self._size(_number(block[124:136]))
        if kind in (_PAX, _LONG_NAME):
            self._take(size, _LONGEST_HEADER, self._pax if kind == _PAX else self._long_name)
        elif kind in _SKIPPED_HEADERS:
            self._pass(size)
        else:
            self._member(block, kind, size)

    def _size(self, said: int) -> int:
        size = self._long.get("size", "")
        if size and not (size.isascii() and size.isdigit() and len(size) < 20):
            raise BadTar("a size is no number")
        found = int(size) if size else said
        if not 0 <= found <= LARGEST:
            raise BadTar("a member is larger than may be")
        return found

    def _member(self, block: bytes, kind: bytes, size: int) -> None:
        path = self._long.get("path") or _path(block)
        self._long = {}
        path = path.removeprefix("./").lstrip("/")
        most = self._wanted(path) if kind == _FILE else 0
        modified = float(_number(block[136:148]))
        if most and len(self.files) == MOST_FILES:
            raise BadTar(f"it has more than {MOST_FILES} files to look into")
        if not most or size > min(most, KEPT - self._kept):
            if most:
                self.files.append(File(path, size, modified, None))
            self._pass(size if kind in (_FILE, b"7") else 0)
            return
        self._kept += size
        self._take(size, most, lambda data: self.files.append(File(path, size, modified, data)))

    def _take(self, size: int, most: int, then: Callable[[bytes], None]) -> None:
        """Have `then` called with the next `size` bytes."""
        if size > most:
            raise BadTar("a header is larger than may be")

        def whole(block: bytes) -> None:
            self._then = self._header
            then(block[:size])

        if not size:
            then(b"")
            return
        self._need, self._then = _rounded(size), whole

    def _pass(self, size: int) -> None:
        self._skip = _rounded(size)

    def _long_name(self, data: bytes) -> None:
        self._long["path"] = _text(data.rstrip(b"\0"))

    def _pax(self, data: bytes) -> None:
        """`LENGTH KEY=VALUE\\n` records; the length counts the whole record."""
        at = 0
        while at < len(data):
            gap = data.find(b" ", at, at + 12)
            length = data[at:gap] if gap > at else b""
            if (
                not length.isdigit()
                or int(length) <= gap - at
                or data[at + int(length) - 1 : at + int(length)] != b"\n"
            ):
                raise BadTar("a pax header is malformed")
            key, _, value = data[gap + 1 : at + int(length) - 1].partition(b"=")
            if key in (b"path", b"size"):
                self._long[key.decode()] = _text(value)
            at += int(length)


def _rounded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _number(field: bytes) -> int:
    """An octal number; or GNU's form for large ones: base 256 behind a first bit that is set."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    digits = field.strip(b"\0 ")
    if digits.strip(b"01234567"):
        raise BadTar("a number of a header is malformed")
    return int(digits or b"0", 8)


def _path(block: bytes) -> str:
    name, prefix = block[:100].split(b"\0")[0], block[345:500].split(b"\0")[0]
    return _text(prefix + b"/" + name if prefix and block[257:263] == b"ustar\0" else name)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
