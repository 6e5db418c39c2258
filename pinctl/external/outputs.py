"""Files that a person asked for by name: wherever they say, written whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from pinctl.errors import ExternalError, UsageError
from pinctl.paths import is_git


def demand_place(path: str) -> None:
    """Raises UsageError where the file `path` could not be made: looked at before a run, so that none is in vain."""
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    if os.path.isdir(real):
        raise UsageError(f"{path} is a folder")
    if not os.path.isdir(folder):
        raise UsageError(f"{path} cannot be written: there is no folder {folder}")
    if not os.access(folder if _is_replaced(real) else real, os.W_OK):
        raise UsageError(f"{path} cannot be written: you may not write there")
    if any(map(is_git, real.split(os.sep))):
        raise UsageError(f"{path} lies in git's own folder")


def demand_other(path: str, root: str, files: Iterable[str]) -> None:
    """Raises UsageError where the file `path` is one of `files`, relative to the folder `root`, however it is spelt."""
    real = os.path.realpath(path)
    for name in files:
        other = os.path.realpath(os.path.join(root, name))
        if other == real or (os.path.exists(real) and os.path.exists(other) and os.path.samefile(real, other)):
            raise UsageError(f"{path} would overwrite {name}, which belongs to the project")


def _is_replaced(real: str) -> bool:
    """Whether another file takes the place of `real`, which has no links; else it is a device or a pipe."""
    return os.path.isfile(real) or not os.path.exists(real)


def write(path: str, data: bytes) -> None:
    """Write `data` to the file `path`, in the place of what it held; a link and a device are written through.

    Raises ExternalError.
    """
    real = os.path.realpath(path)
    if not _is_replaced(real):  # /dev/stdout
        _write(real, data)
        return
    folder, name = os.path.split(real)
    try:
        descriptor, spare = tempfile.mkstemp(prefix=f".{name[:40]}.", dir=folder)
        os.close(descriptor)
    except OSError as error:
        raise ExternalError(f"{path} cannot be written: {error.strerror}") from error
    try:
        _write(spare, data)
        os.chmod(spare, 0o644)
        os.replace(spare, real)
    except OSError as error:
        raise ExternalError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(spare)


def _write(path: str, data: bytes) -> None:
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise ExternalError(f"{path} cannot be written: {error.strerror}") from error
