"""The log file of a cell: written as its containers speak, and read again when one has failed."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pinctl.errors import ExternalError

_LONGEST_LINE = 64 * 1024


class Log:
    """A log that grows. `line` is called with each line as it is whole."""

    def __init__(self, path: str, file: BinaryIO, line: Callable[[str], object]) -> None:
        self.path = path
        self._file, self._line = file, line
        self._start = file.tell()
        self._rest = b""

    def heard(self, piece: bytes) -> None:
        """Take what a program said."""
        self._file.write(piece)
        self._file.flush()
        *whole, rest = (self._rest + piece).split(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        for line in whole:
            self._line(line.decode("utf-8", "replace").rstrip("\r"))

    def lines(self) -> Iterator[str]:
        """What was said since it was opened, line by line."""
        with open(self.path, encoding="utf-8", errors="replace", newline="\n") as file:
            file.seek(self._start)
            for line in file:
                yield line.rstrip("\r\n")


@contextmanager
def open_(path: str, line: Callable[[str], object], *, append: bool) -> Iterator[Log]:
    """The log file at `path`, begun anew unless `append`. Raises ExternalError."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = open(path, "ab" if append else "wb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ExternalError(f"{path} cannot be written: {error.strerror}") from error
    with file:
        yield Log(path, file, line)
