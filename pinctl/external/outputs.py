"""Files that a person asked for by name: wherever they say, written whole or not at all."""

import os
import tempfile
from contextlib import suppress

from pinctl.errors import ExternalError, UsageError


def demand_place(path: str) -> None:
    """Raises UsageError where the file `path` could not be made: looked at before a run, so that none is in vain."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder")
    if not os.path.isdir(folder):
        raise UsageError(f"{path} cannot be written: there is no folder {folder}")


def write(path: str, data: bytes) -> None:
    """Write `data` to the file `path`, in the place of what it held; a link and a device are written through.

    Raises ExternalError.
    """
    real = os.path.realpath(path)
    if os.path.exists(real) and not os.path.isfile(real):  # /dev/stdout
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
