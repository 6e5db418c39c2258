"""pinctl's own folder for one checkout, outside it, and the lock in it.

`$XDG_STATE_HOME/pinctl/DIGEST`, by default below `~/.local/state` (XDG Base Directory Specification), where DIGEST is
the SHA-256 of the checkout's real path. Its mode is 0700 and it must be ours: what lies in it is written back to the
checkout.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pinctl.errors import ExternalError
from pinctl.plan import digest

PATIENCE = 10.0
"""Seconds to wait for another pinctl that writes to the same checkout."""

_HINT = "set XDG_STATE_HOME to a folder that you may write to"


def home() -> str:
    """The folder that holds the state folders of all checkouts, which may not exist yet."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # "all paths must be absolute; if not, the path is to be ignored"
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "pinctl")


def folder_of(root: str) -> str:
    """The path of the state folder of the checkout `root`, which may not exist yet."""
    return os.path.join(home(), digest(os.fsencode(os.path.realpath(root))))


def make(folder: str) -> None:
    """Make the state folder if need be. Raises ExternalError if it cannot be made or is not ours alone."""
    if not os.path.isabs(folder):
        raise ExternalError("there is no home folder to keep pinctl's state in", hint=_HINT)
    try:
        if not os.path.lexists(folder):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
        status = os.stat(folder, follow_symlinks=False)
    except OSError as error:
        raise ExternalError(f"{error.filename or folder}: {error.strerror}", hint=_HINT) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise ExternalError(f"{folder} is no folder of ours alone (mode 0700)", hint="look at it, and move it away")


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold the lock of an existing state folder. Raises ExternalError where another process has it for too long.

    The kernel gives it back when the process ends, however it ends (flock(2)).
    """
    try:
        descriptor = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ExternalError(f"{error.filename}: {error.strerror}", hint=_HINT) from error
    try:
        end = time.monotonic() + PATIENCE
        while not _take(descriptor):
            if time.monotonic() > end:
                raise ExternalError("another pinctl is writing to this checkout", hint="wait until it has ended")
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def in_use(folder: str) -> bool:
    """Whether another process holds the lock now."""
    try:
        descriptor = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _take(descriptor)
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
