"""The folder that a build reads: the source at its commit, pinctl's scripts, the files of the cells."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pinctl.errors import ExternalError
from pinctl.external import cache, checkout, scratch
from pinctl.external.gitcli import Profile
from pinctl.external.source import Part

_PREFIX = "context-"
_LONGEST = 7 * 86_400.0
"""Seconds after which no run goes on."""


def temporary() -> AbstractContextManager[str]:
    """A folder for the contexts and results of one run, on the disk of pinctl's cache; it is gone afterwards."""
    return scratch.folder(os.path.join(cache.home(), "v1", "contexts"), _PREFIX, stale=_LONGEST)


def source(
    folder: str, parts: Sequence[Part], patches: Sequence[checkout.Patch], profile: Profile, *, lfs: bool
) -> None:
    """Put the source into the context `folder`; all of it is in the cache. Raises WriteRefused, ExternalError."""
    checkout.place(checkout.Wish(parts, patches, lfs), os.path.join(folder, "source"), profile)


def write(folder: str, files: Mapping[str, bytes]) -> None:
    """Write `files` below `folder`, with the modes that every machine gives them. Raises ExternalError."""
    try:
        os.makedirs(folder, exist_ok=True)
        for name, content in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, 0o644)
    except OSError as error:
        raise ExternalError(f"{error.filename or folder}: {error.strerror}") from error


def result(folder: str) -> tuple[str, ...]:
    """The paths of the wheels that a build left in `folder`; a link that it made there is none."""
    if not os.path.isdir(folder):
        return ()
    with os.scandir(folder) as entries:
        wheels = [e.path for e in entries if e.name.endswith(".whl") and e.is_file(follow_symlinks=False)]
    return tuple(sorted(wheels))


def text(path: str, limit: int = 1024 * 1024) -> str:
    """The text of a file that a build left, at most `limit` bytes of it; "" where there is none."""
    try:
        with open(
            os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8", errors="replace"
        ) as file:
            return file.read(limit)
    except OSError:
        return ""


def json_of(path: str) -> dict[str, Any]:
    """The JSON object in a file that a build left; {} where there is none."""
    try:
        found = json.loads(text(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def copy(path: str, folder: str) -> str:
    """Copy the file at `path` into `folder`; where it is then. Raises ExternalError."""
    try:
        os.makedirs(folder, exist_ok=True)
        return shutil.copy(path, folder)
    except OSError as error:
        raise ExternalError(f"{folder}: {error.strerror}") from error
