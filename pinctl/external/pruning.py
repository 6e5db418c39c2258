"""The cache forgets: what no run has used for a long time is removed, by a run that uses the cache anyway, once a day.

When a repository was used last is the time of its lock file, which `Store.open` sets. Lock files themselves stay, as
`locks.Lock` wants it; they are empty.
"""

import os
import time
from contextlib import closing, suppress

from pinctl.errors import ExternalError
from pinctl.external import bare, cache
from pinctl.external.locks import Lock

KEPT = 90 * 86_400.0
"""Seconds for which a repository is kept after its last use, and what was found in files after it was written."""
MOST_PACKS = 500
"""Packs of one repository, beyond which it is made anew: each fetch adds one, and git looks through all of them."""

_STAMP = "pruned"
_DAY = 86_400.0
_LOCK = ".lock"


def prune(parent: str) -> None:
    """Remove what is old of the repositories in the folder `parent`, and of what was found in files, unless that was
    tried today. What another holds is left alone, and nothing that fails stops a run."""
    stamp = os.path.join(parent, _STAMP)
    if abs(time.time() - _time(stamp)) < _DAY:
        return
    with suppress(OSError):
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        os.utime(stamp)
        for name in os.listdir(parent):
            if name.endswith(_LOCK):
                _prune(os.path.join(parent, name.removesuffix(_LOCK)))
        for shelf in (cache.SLOTS, cache.SCANS):
            _prune_files(os.path.join(os.path.dirname(parent), shelf))


def _prune(folder: str) -> None:
    """Remove the repository at `folder` if it may go."""
    if not _may_go(folder):
        return
    with suppress(ExternalError), closing(Lock(folder + _LOCK)) as lock:
        if lock.exclusive(unless=lambda: True) and _may_go(folder):
            bare.remove(folder)


def _may_go(folder: str) -> bool:
    if not os.path.lexists(folder):
        return False
    return time.time() - _time(folder + _LOCK) > KEPT or bare.packs(folder) > MOST_PACKS


def _prune_files(folder: str) -> None:
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if time.time() - _time(path) > KEPT:
            os.unlink(path)


def _time(path: str) -> float:
    """When a file was written, in Unix seconds; 0 for none."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0
