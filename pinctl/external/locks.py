"""Locks that processes (and threads) share through a file. The kernel gives them back however their holder ends."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinctl.errors import ExternalError

PATIENCE = 60.0
"""Seconds to wait for another holder, where nothing else is said."""

_PAUSE = 0.02


class Lock:
    """A lock file, held shared by many or exclusively by one (flock(2)). The file itself stays: to remove one that
    another waits for would give two holders."""

    def __init__(self, path: str, patience: float | None = None) -> None:
        """`patience`: the seconds to wait for it. Raises ExternalError where the file cannot be made, or is a link."""
        self.path = path
        self.patience = PATIENCE if patience is None else patience
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ExternalError(f"{path}: {error.strerror}") from error

    def shared(self) -> None:
        """Hold it with others; one held exclusively becomes shared. Raises ExternalError after `patience`."""
        import fcntl

        self._take(fcntl.LOCK_SH, lambda: False)

    def exclusive(self, unless: Callable[[], bool] = lambda: False) -> bool:
        """Hold it alone; whether it is. One held shared is given up first, so others may come in between; where one of
        them has done what it was wanted for, as `unless` tells, it is not held at all."""
        import fcntl

        return self._take(fcntl.LOCK_EX, unless)

    def touch(self) -> None:
        """Set the time of the file: that of its last use."""
        os.utime(self._descriptor)

    def close(self) -> None:
        """Give it back."""
        os.close(self._descriptor)

    def _take(self, kind: int, unless: Callable[[], bool]) -> bool:
        import fcntl

        end = time.monotonic() + self.patience
        while True:
            try:
                fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if unless():
                    return False
                if time.monotonic() > end:
                    message = f"another pinctl has held {self.path} for {self.patience:g} s"
                    raise ExternalError(message, hint="wait until it has ended") from None
                time.sleep(_PAUSE)


@contextmanager
def alone(path: str, patience: float | None = None) -> Iterator[None]:
    """Hold the lock `path` exclusively. Raises ExternalError."""
    lock = Lock(path, patience)
    try:
        lock.exclusive()
        yield
    finally:
        lock.close()
