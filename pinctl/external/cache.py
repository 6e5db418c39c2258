"""What runs remember between them, in the user's cache: only ever a saving of time, so no failure here is one."""

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from pinctl.plan import digest

SLOTS = "slots"
"""The shelf of what selectors found in the files of a tree, by the tree's root."""
SCANS = "scans"
"""The shelf of what was found in the sources of an upstream repository, by its URL."""

_LARGEST = 16 * 1024 * 1024


def home() -> str:
    """pinctl's cache folder: `PINCTL_CACHE`, else below `XDG_CACHE_HOME`, else `~/.cache`; it may not exist yet."""
    chosen = os.environ.get("PINCTL_CACHE", "")
    if os.path.isabs(chosen):
        return chosen
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "pinctl")


def _file(name: str, shelf: str) -> str:
    return os.path.join(home(), "v1", shelf, f"{digest(os.fsencode(name))}.json")


def load(name: str, shelf: str = SLOTS) -> Mapping[str, Any]:
    """What was kept under `name`, such as the root of a tree; {} where there is nothing, or it is not ours alone."""
    path = _file(name, shelf)
    try:
        if not _is_ours(os.lstat(os.path.dirname(path)), stat.S_IFDIR):
            return {}
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if not _is_ours(status, stat.S_IFREG) or status.st_size > _LARGEST:
                return {}
            with open(descriptor, "rb", closefd=False) as file:
                kept = json.loads(file.read())
        finally:
            os.close(descriptor)
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) and all(isinstance(entry, dict) for entry in kept.values()) else {}


def _is_ours(status: os.stat_result, kind: int) -> bool:
    """Whether a file of that kind is ours, and nobody else may write to it."""
    return stat.S_IFMT(status.st_mode) == kind and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def save(name: str, kept: Mapping[str, Any], shelf: str = SLOTS) -> None:
    """Keep `kept` under `name`, in place of what was kept before."""
    path = _file(name, shelf)
    folder, file_name = os.path.split(path)
    temporary = f"{path}.{os.getpid()}"
    with suppress(OSError):
        _make(folder)
        if not _is_ours(os.lstat(folder), stat.S_IFDIR):
            return
        _sweep(folder, f"{file_name}.")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                json.dump(kept, file, separators=(",", ":"))
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)


def _make(folder: str) -> None:
    """Make `folder` and the parents that it lacks, each for us alone: os.makedirs gives parents the usual mode."""
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _sweep(folder: str, beginning: str) -> None:
    """Take away what runs that were stopped left half written. One that still writes then keeps nothing, no more."""
    for entry in os.listdir(folder):
        if entry.startswith(beginning) and entry.removeprefix(beginning).isdecimal():
            with suppress(OSError):
                os.unlink(os.path.join(folder, entry))


def readers() -> str:
    """Text that changes when pinctl's readers of site files, or the grammars under them, do: the names, sizes and times
    of their files. Asking importlib.metadata for versions would take half of a check's time."""
    from pinctl import sites

    told = [sys.version, *stamps(os.path.dirname(sites.__file__), ".py")]
    for folder in sys.path:
        with suppress(OSError):
            for package in sorted(name for name in os.listdir(folder) if name.startswith("tree_sitter")):
                told += stamps(os.path.join(folder, package), ".so")
    return "\n".join(told)


def scanners() -> str:
    """A digest that changes when pinctl's modules that scan upstream sources do."""
    from pinctl import upstream

    return digest("\n".join(stamps(os.path.dirname(upstream.__file__), ".py")).encode())


def stamps(folder: str, ending: str) -> Iterator[str]:
    """Name, size and time of the files of `folder` whose names end so. Raises OSError."""
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as entries:
        found = [(e.name, e.stat()) for e in entries if e.name.endswith(ending)]
    for name, status in sorted(found, key=lambda pair: pair[0]):
        yield f"{name} {status.st_size} {status.st_mtime_ns}"
