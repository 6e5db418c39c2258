"""The folders of bare repositories in the cache: made, owned, cleaned and removed. No git is started.

`HOME/v1/git/KEY`, where HOME is `cache.home()` and KEY the SHA-256 of the URL as it is spelled. What git reads there
was written by git or by us: a folder that others can write to is refused, the configuration is written anew at each
use, and everything that could lead git elsewhere (alternates, hooks, worktree configuration) is taken away, since git
would obey it (gitrepository-layout(5)).
"""

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pinctl.errors import ExternalError
from pinctl.external import cache
from pinctl.external.locks import alone
from pinctl.plan import digest

STAMP = "asked"
"""The file whose time is that of the last answer of the server."""

_KEPT = frozenset(("HEAD", "config", "objects", "refs", "packed-refs", "shallow", STAMP))
_LOCKS = (".lock", ".new")  # a running git's; taken away only where none can run
_TEMPORARY = "tmp-"
_STALE = 24 * 3600.0
_HINT = "look at it, and move it away; PINCTL_CACHE names another folder"
_HEAD = "ref: refs/heads/none\n"


def folder_of(url: str) -> str:
    """The folder of the repository at `url`, which may not exist yet."""
    return os.path.join(cache.home(), "v1", "git", digest(url.encode()))


def parent() -> str:
    """The folder of all repositories, made if need be, ours alone. Raises ExternalError."""
    folder = cache.home()
    for name in ("", "v1", "git"):
        folder = os.path.join(folder, name) if name else folder
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            hint = "set PINCTL_CACHE to a folder that you may write to"
            raise ExternalError(f"{folder}: {error.strerror}", hint=hint) from error
        if mode := _mode(folder) & (stat.S_IWGRP | stat.S_IWOTH):
            os.chmod(folder, _mode(folder) & ~mode)
    return folder


def make(folder: str, sha256: bool = False) -> None:
    """Make an empty repository at `folder`, whole or not at all; what is there goes, after it is made, so that the two
    have different inodes."""
    _sweep_old(os.path.dirname(folder))
    made = scratch(os.path.dirname(folder))
    fill(made, sha256)
    remove(folder)
    os.rename(made, folder)


def scratch(parent: str | None = None) -> str:
    """A new empty folder for us alone, in `parent`, or where temporary files go."""
    from tempfile import mkdtemp

    return mkdtemp(prefix=_TEMPORARY if parent else "pinctl-", dir=parent)


def fill(folder: str, sha256: bool = False) -> None:
    """Make the empty `folder` a repository."""
    os.makedirs(os.path.join(folder, "objects", "pack"))
    os.mkdir(os.path.join(folder, "refs"))
    _write(os.path.join(folder, "HEAD"), _HEAD)
    _write(os.path.join(folder, "config"), config(sha256))


def config(sha256: bool) -> str:
    """The whole configuration of a repository.

    That objects may be missing, since a server promised them (partial-clone(7)), is told to the git that asks the
    server alone (`remote.ask`): one that reads looks through all promises before it calls an object missing.
    """
    form = "[extensions]\n\tobjectFormat = sha256\n" if sha256 else ""
    return f"[core]\n\trepositoryformatversion = 1\n\tbare = true\n{form}"


def enter(folder: str) -> None:
    """Make the existing `folder` safe for git to read."""
    for name in os.listdir(folder):
        if name not in _KEPT and not name.endswith(_LOCKS):
            _delete(os.path.join(folder, name))
    _delete(os.path.join(folder, "objects", "info"))
    path = os.path.join(folder, "config")
    wanted = config(is_sha256(folder))
    if _text(path) != wanted or os.path.islink(path):
        from tempfile import mkstemp

        descriptor, spare = mkstemp(suffix=".new", dir=folder)
        with open(descriptor, "w") as file:
            file.write(wanted)
        os.replace(spare, path)


def whole(folder: str) -> bool:
    """Whether the parts without which git sees no repository are there, no links to elsewhere, and closed to others.

    Raises ExternalError for a folder that is not ours.
    """
    if not os.path.lexists(folder) or _mode(folder) & 0o077:
        return False
    kinds = {"HEAD": stat.S_ISREG, "objects": stat.S_ISDIR, "objects/pack": stat.S_ISDIR, "refs": stat.S_ISDIR}
    try:
        return all(is_kind(os.lstat(os.path.join(folder, name)).st_mode) for name, is_kind in kinds.items())
    except OSError:
        return False


@contextmanager
def fetching(folder: str, patience: float) -> Iterator[None]:
    """The time in which one process alone adds to the repository; a lock that a killed git left there is removed.

    Another may be fetching: it is waited for, `patience` seconds at most. Raises ExternalError.
    """
    with alone(f"{folder}.fetch", patience):
        for base, _, names in os.walk(folder):
            for name in names:
                if name.endswith(_LOCKS) or name.startswith("tmp_"):
                    _delete(os.path.join(base, name))
        yield
        with open(os.path.join(folder, STAMP), "wb"):
            pass


def asked(folder: str) -> float | None:
    """When the server last answered, in Unix seconds; None if it never did."""
    try:
        return os.stat(os.path.join(folder, STAMP)).st_mtime
    except OSError:
        return None


def remove(folder: str) -> None:
    """Remove a repository; it is out of the way at once."""
    away = scratch(os.path.dirname(folder))
    with suppress(FileNotFoundError):
        os.rename(folder, os.path.join(away, "old"))
    shutil.rmtree(away, ignore_errors=True)


def is_sha256(folder: str) -> bool:
    """Whether the ids of its objects have 64 digits."""
    return "objectFormat = sha256" in (_text(os.path.join(folder, "config")) or "")


def is_shallow(folder: str) -> bool:
    """Whether some commits are there without their parents."""
    return bool(shallow(folder))


def shallow(folder: str) -> list[str]:
    """The commits that are there without their parents (gitrepository-layout(5), "shallow")."""
    try:
        with open(os.path.join(folder, "shallow"), encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []


def is_empty(folder: str) -> bool:
    """Whether there are no objects."""
    return packs(folder) == 0


def packs(folder: str) -> int:
    """How many packs there are."""
    try:
        return sum(name.endswith(".idx") for name in os.listdir(os.path.join(folder, "objects", "pack")))
    except OSError:
        return 0


def _mode(folder: str) -> int:
    """The permissions of a folder of ours. Raises ExternalError for anything else."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise ExternalError(f"{folder} is no folder of ours", hint=_HINT)
    return stat.S_IMODE(status.st_mode)


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(65536)
    except OSError:
        return None


def _write(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
        file.write(text)


def _delete(path: str) -> None:
    with suppress(FileNotFoundError):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def _sweep_old(folder: str) -> None:
    """Remove what runs left that were killed while they made or removed a repository."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with suppress(FileNotFoundError):
            if name.startswith(_TEMPORARY) and time.time() - os.lstat(path).st_mtime > _STALE:
                shutil.rmtree(path, ignore_errors=True)
