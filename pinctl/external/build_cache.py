"""The cache of wheels: a folder that machines may share, an entry for each key.

    LAYER/ab/abcd.../entry.json    the wheel's name, size, sha256, and what was kept beside it
    LAYER/ab/abcd.../NAME.whl
    cells/ab12....json             the inputs of a cell's last build, by which a plan says what changed

Layers: `compiled` holds the wheels as they come out of the container, `finished` those that people get. An entry is
made beside its place and renamed into it, so that it is whole or not there. Whoever may write to the folder is trusted.
"""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pinctl.errors import ExternalError
from pinctl.external import cache
from pinctl.plan import digest

COMPILED, FINISHED = "compiled", "finished"

_ENTRY = "entry.json"
_SCHEMA = 1
_PIECE = 1024 * 1024
_TURNS = 20


class Entry(NamedTuple):
    """A wheel in the cache: its path, the sha256 of its bytes, and plain data that was kept with it."""

    path: str
    sha256: str
    told: Mapping[str, Any]

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


class Corrupt(Exception):
    """An entry is not what was put there; `str(error)` says in what way."""


def home() -> str:
    """Where the cache is if nothing else is said: `PINCTL_WHEELS`, else below pinctl's own."""
    return os.environ.get("PINCTL_WHEELS") or os.path.join(cache.home(), "v1", "wheels")


def folder(base: str, layer: str, key: str) -> str:
    """The folder of an entry."""
    return os.path.join(base, layer, key[:2], key)


def peek(base: str, layer: str, key: str) -> Entry | None:
    """The entry of a key, its bytes not looked at; None where there is none that can be read."""
    place = folder(base, layer, key)
    try:
        with open(os.path.join(place, _ENTRY), encoding="utf-8") as file:
            said = json.load(file)
        name, sha256 = said["wheel"], said["sha256"]
        whole = said["schema"] == _SCHEMA and os.path.basename(name) == name
        return Entry(os.path.join(place, name), sha256, said["told"]) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load(base: str, layer: str, key: str) -> Entry | None:
    """The entry of a key, its wheel held against its digest; None where there is none. Raises Corrupt."""
    place = folder(base, layer, key)
    entry = peek(base, layer, key)
    if entry is None:
        if os.path.lexists(place):
            raise Corrupt(f"{place} has no entry that can be read")
        return None
    try:
        found = sha256(entry.path)
    except OSError as error:
        raise Corrupt(f"{entry.path} cannot be read: {error.strerror}") from error
    if found != entry.sha256:
        raise Corrupt(f"the sha256 of {entry.path} is {found[:16]}..., and it was kept as {entry.sha256[:16]}...")
    return entry


def demand(base: str) -> None:
    """Raises ExternalError where nothing can be kept: looked at before a build, which may take hours."""
    try:
        os.makedirs(base, exist_ok=True)
        with tempfile.TemporaryFile(dir=base):
            pass
    except OSError as error:
        raise _unwritable(error, base) from error


def store(base: str, layer: str, key: str, wheel: str, told: Mapping[str, Any]) -> Entry:
    """Keep the file `wheel` under `key`, in the place of what was there. Raises ExternalError."""
    place = folder(base, layer, key)
    name = os.path.basename(wheel)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        beside = tempfile.mkdtemp(prefix=f".{key[:16]}.", dir=os.path.dirname(place))
        try:
            os.chmod(beside, 0o755)  # noqa: S103 - machines may share it
            shutil.copyfile(wheel, os.path.join(beside, name))
            entry = {"schema": _SCHEMA, "wheel": name, "sha256": sha256(os.path.join(beside, name)), "told": dict(told)}
            _write(os.path.join(beside, _ENTRY), entry)
            _swap(beside, place)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise _unwritable(error, base) from error
    return Entry(os.path.join(place, name), str(entry["sha256"]), told)


def _swap(beside: str, place: str) -> None:
    """Rename `beside` to `place`; what others have put there meanwhile goes, and the last one stays."""
    old = tempfile.mkdtemp(prefix=".old.", dir=os.path.dirname(place))
    try:
        for turn in range(_TURNS):
            try:
                os.rename(beside, place)
                return
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or turn == _TURNS - 1:
                    raise
            with suppress(FileNotFoundError):  # another took it away
                os.rename(place, os.path.join(old, str(turn)))
    finally:
        shutil.rmtree(old, ignore_errors=True)


def last(base: str, cell: str) -> Mapping[str, Any] | None:
    """The inputs of the last build of `cell`; None where it was never built."""
    with suppress(OSError, ValueError), open(_cell(base, cell), encoding="utf-8") as file:
        found = json.load(file)
        return found if isinstance(found, dict) else None
    return None


def remember(base: str, cell: str, inputs: Mapping[str, object]) -> None:
    """Keep the inputs of a build of `cell`. Raises ExternalError."""
    path = _cell(base, cell)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor, beside = tempfile.mkstemp(prefix=".", dir=os.path.dirname(path))
        os.close(descriptor)
        os.chmod(beside, 0o644)
        _write(beside, inputs)
        os.replace(beside, path)
    except OSError as error:
        raise _unwritable(error, path) from error


def _unwritable(error: OSError, path: str) -> ExternalError:
    """For what cannot be kept; a file that is copied there (`filename2`) is what fails, not the one that is read."""
    return ExternalError(f"the cache of wheels: {error.filename2 or error.filename or path}: {error.strerror}")


def _cell(base: str, cell: str) -> str:
    return os.path.join(base, "cells", f"{digest(cell.encode())[:32]}.json")


def _write(path: str, data: Mapping[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)


def sha256(path: str) -> str:
    """The sha256 of a file, in hex. Raises OSError."""
    import hashlib

    made = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            made.update(piece)
    return made.hexdigest()


def deliver(entry: Entry, out: str) -> str:
    """The path of the entry's wheel in the folder `out`, put there unless it is there already. Raises ExternalError."""
    target = os.path.join(out, entry.name)
    try:
        if os.path.isfile(target) and sha256(target) == entry.sha256:
            return target
        os.makedirs(out, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(prefix=".", suffix=".whl", dir=out)
        os.close(descriptor)
        shutil.copyfile(entry.path, beside)
        os.chmod(beside, 0o644)
        os.replace(beside, target)
    except OSError as error:
        raise ExternalError(f"{target} cannot be written: {error.strerror}") from error
    return target
