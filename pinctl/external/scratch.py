"""Folders to work in, beside the place where the work will lie: on the same file system, and gone afterwards."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pinctl.errors import ExternalError


@contextmanager
def folder(parent: str, prefix: str, *, stale: float | None = None) -> Iterator[str]:
    """A new folder in `parent`, which is made; its name begins with `prefix`, which no one else uses there.

    With `stale`, in seconds, those that are older go, too: runs that were killed have left them. Raises ExternalError.
    """
    try:
        os.makedirs(parent, exist_ok=True)
        if stale is not None:
            _sweep(parent, prefix, stale)
        made = tempfile.mkdtemp(prefix=prefix, dir=parent)
    except OSError as error:
        raise ExternalError(f"{parent}: {error.strerror}") from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _sweep(parent: str, prefix: str, stale: float) -> None:
    for entry in os.scandir(parent):
        if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > stale:
                    shutil.rmtree(entry.path, ignore_errors=True)
