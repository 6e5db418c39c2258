"""What was found in the consumer's files, kept between runs in the user's cache: never for a stranger's checkout.

The uses of all files are known by a stamp of these files, as git's index knows a file: by name, size, times and inode.
A file that changed a moment ago may change again without another time (git's "racily clean" entries), so that there is
no stamp then. The facts of single files are known by their bytes.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from pinctl import __version__, contract
from pinctl.contract.model import Uses
from pinctl.contract.surface.plain import decoder
from pinctl.external import cache

_WHOLE, _FACTS = "uses", "uses-facts"
_USES = decoder(Uses)
_MOMENT = 1.0
"""Seconds in which a file may change twice at one time, whatever the file system counts in."""


def stamp(root: str, paths: Iterable[str]) -> str | None:
    """What is another text when one of the files `paths` below `root` has changed; None where one changed just now, or
    `root` cannot be entered."""
    told = [_salt()]
    newest = 0
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for path in paths:
                try:
                    status = os.stat(path, dir_fd=folder)
                except OSError as error:
                    told.append(f"{path}\0{error.errno}")
                    continue
                written, changed = status.st_mtime_ns, status.st_ctime_ns
                newest = max(newest, written, changed)
                told.append(f"{path}\0{status.st_size} {written} {changed} {status.st_ino}")
        finally:
            os.close(folder)
    except OSError:
        return None
    digest = hashlib.sha256(os.fsencode("\0".join(told))).hexdigest()
    return digest if newest < (time.time() - _MOMENT) * 1e9 else None


def _salt() -> str:
    """Text that changes when the readers do: the names, sizes and times of their files."""
    home = os.path.dirname(contract.__file__)
    told = (line for folder in (home, os.path.join(home, "uses")) for line in cache.stamps(folder, ".py"))
    return "\n".join((__version__, sys.version, *told))


def recall(key: str, stamp: str) -> Uses | None:
    """The uses that were kept under `key` for files of this `stamp`; None where there are none."""
    entry = cache.load(key, _WHOLE).get(stamp)
    try:
        return None if entry is None else _USES(entry["uses"])
    except (TypeError, ValueError, LookupError):
        return None


def keep(key: str, stamp: str, uses: Uses) -> None:
    """Keep the uses of files of this `stamp`, in the place of those that were kept under `key` before."""
    cache.save(key, {stamp: {"uses": json.loads(json.dumps(uses, default=dict))}}, _WHOLE)


class Facts(dict[str, bytes]):
    """The memory of single files; `used` are the entries that this run asked for, and `learned` tells of new ones."""

    def __init__(self, known: dict[str, bytes]) -> None:
        super().__init__(known)
        self.used: set[str] = set()
        self.learned = False

    def get(self, name: str, default: Any = None) -> Any:
        self.used.add(name)
        return super().get(name, default)

    def __setitem__(self, name: str, value: bytes) -> None:
        self.learned = True
        super().__setitem__(name, value)


def facts(key: str) -> Facts:
    """The memory of single files that was kept under `key`."""
    entry = cache.load(key, _FACTS).get(hashlib.sha256(_salt().encode()).hexdigest(), {})
    return Facts({name: text.encode() for name, text in entry.items() if isinstance(text, str)})


def keep_facts(key: str, memory: Facts) -> None:
    """Keep under `key` what this run used of the memory of single files, where it learned something."""
    if memory.learned:
        entry = {name: text.decode() for name, text in memory.items() if name in memory.used}
        cache.save(key, {hashlib.sha256(_salt().encode()).hexdigest(): entry}, _FACTS)
