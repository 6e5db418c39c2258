"""The cached repositories that this process holds: each once, however many stores of it are open in its threads.

flock(2) ties a lock to an open file. Were there one a store, who makes a broken repository anew would wait for other
stores of its own process, which wait for it. So there is one for all, which keeps other processes away. Among
themselves the stores read and fetch without one: whoever does so looks before and after at `turn`, which tells that
the repository was made anew meanwhile.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pinctl.external import bare
from pinctl.external.locks import Lock, alone


class Held:
    """The bare repository in `folder`, as all stores of it in this process know it.

    `lock` keeps other processes away, or is None where none knows the folder; `mutex` is held while it is made anew,
    and while what was lost by that is fetched again. `turn` counts how often it was, from the moment at which that
    begins. `here` are ids of objects that are known to be here; `blank`: no blobs are but those. `fetched` is what the
    stores had fetched (wants, filter, depth), `lost` what of it is to be fetched again.
    """

    def __init__(self, folder: str, lock: Lock | None = None) -> None:
        """Hold `folder`; as an open repository of the cache, use `hold`."""
        self.folder, self.lock = folder, lock
        self.mutex = threading.RLock()
        self.holders = 0
        self.turn = 0
        self.here: set[str] = set()
        self.blank = False
        self.fetched: list[tuple[tuple[str, ...], str | None, int | None]] = []
        self.lost: list[tuple[tuple[str, ...], str | None, int | None]] = []

    def remake(self, patience: float, *, sha256: bool | None = None) -> None:
        """Make the repository anew and empty, of the same object format where none is given, unless another process
        does so first. Fetches that run are waited for, `patience` seconds at most. Raises ExternalError."""
        with self.mutex:
            self.turn += 1
            sha256 = bare.is_sha256(self.folder) if sha256 is None else sha256
            if self.lock is None:
                shutil.rmtree(self.folder)
                os.mkdir(self.folder, 0o700)
                bare.fill(self.folder, sha256)
            else:
                self._replace(self.lock, patience, sha256)
            self.here.clear()
            self.blank = bare.is_empty(self.folder)
            self.lost = list(dict.fromkeys(self.fetched))

    def _replace(self, lock: Lock, patience: float, sha256: bool) -> None:
        before = _inode(self.folder)

        def replaced() -> bool:
            return bare.whole(self.folder) and _inode(self.folder) != before

        try:
            if lock.exclusive(unless=replaced) and not replaced():
                with alone(f"{self.folder}.fetch", patience):
                    bare.make(self.folder, sha256)
        finally:
            lock.shared()


_MUTEX = threading.Lock()
_HELD: dict[str, Held] = {}


@contextmanager
def hold(folder: str) -> Iterator[Held]:
    """The repository of the cache in `folder`, which may not exist yet. The lock is given back with the last holder.
    Raises ExternalError where there can be no lock file."""
    with _MUTEX:
        held = _HELD.get(folder) or Held(folder, Lock(f"{folder}.lock"))
        _HELD[folder] = held
        held.holders += 1
    try:
        yield held
    finally:
        with _MUTEX:
            held.holders -= 1
            if not held.holders:
                del _HELD[folder]
                if held.lock is not None:
                    held.lock.close()


def _inode(folder: str) -> int | None:
    """The number of a folder: another one for one that was made while this one was there."""
    try:
        return os.lstat(folder).st_ino
    except FileNotFoundError:
        return None
