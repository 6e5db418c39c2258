"""Files below the root of a checkout that may be a stranger's: read with bounds, and never outside the root.

Every part of a path is opened by itself, relative to the folder before it and without following links
(openat(2), O_NOFOLLOW), so what is swapped in the meantime cannot lead elsewhere. Only regular files are read:
FIFOs, devices and sockets are refused before they can block.

A symbolic link below the root that points to a regular file below the root may be *read* (a Dockerfile that is a
link to its neighbour); it is never written, and a link that is absolute or leaves the root is not read either.
A file with several hard links may be read and not written, since the other name may lie anywhere.
"""

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress

from pinctl.paths import is_git

LIMIT = 4 * 1024 * 1024
"""Bytes that a site may have."""

MOST_FILES = 200_000
"""Files that a tree outside git may have."""

_LINKS = 16
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class Unreadable(Exception):
    """A file below the root that may not or cannot be read; `reason` completes "FILE ..." ("is a FIFO")."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Missing(Unreadable):
    """There is no such file."""

    def __init__(self) -> None:
        super().__init__("does not exist")


class _Linked(Unreadable):
    """A part of the path is a symbolic link."""

    def __init__(self) -> None:
        super().__init__("is a symbolic link, or lies behind one")


def components(path: str) -> list[str]:
    """The names in a relative path with forward slashes.

    Raises Unreadable for an absolute or empty path, `..`, NUL, and any spelling of `.git` on any file system.
    """
    if path.startswith("/") or "\0" in path:
        raise Unreadable("is an absolute path" if path.startswith("/") else "has a NUL in its name")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if not names or ".." in names:
        raise Unreadable("leaves the root" if names else "is no path of a file")
    if any(is_git(name) for name in names):
        raise Unreadable("lies in git's own folder")
    return names


def read_site(root: str, path: str, limit: int = LIMIT, *, links: bool = True) -> bytes:
    """The bytes of the regular file `path` (relative, forward slashes) below the folder `root`.

    Raises Missing where there is none, Unreadable where it is no regular file, leaves the root, is larger than
    `limit` bytes, may not be opened, or, unless `links`, is or lies behind a link.
    """
    names = components(path)
    try:
        return _read(root, names, limit)
    except _Linked:
        if not links:
            raise
        return _read(root, _follow(root, names), limit)


def _read(root: str, names: Sequence[str], limit: int) -> bytes:
    folder = open_folder(root, names[:-1])
    try:
        descriptor = os.open(names[-1], _FILE, dir_fd=folder)
    except OSError as error:
        raise _why(error, names[-1], folder) from error
    finally:
        os.close(folder)
    try:
        return _read_regular(descriptor, limit)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _read_regular(descriptor: int, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"is {_kind(status.st_mode)}")
    if status.st_size > limit:
        raise Unreadable(f"is larger than {limit} bytes")
    # Not st_size alone: files of /proc say 0, and one may grow while it is read.
    pieces, left = [], limit + 1
    while left > 0 and (piece := os.read(descriptor, min(left, max(status.st_size + 1, 65536)))):
        pieces.append(piece)
        left -= len(piece)
    if left <= 0:
        raise Unreadable(f"is larger than {limit} bytes")
    return b"".join(pieces)


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "no regular file")


def open_folder(root: str, names: Sequence[str]) -> int:
    """A descriptor of the folder `names` below `root`, reached without any link; the caller closes it.

    `root` itself may be reached through links. Raises Missing, Unreadable.
    """
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise Unreadable(f"cannot be reached: {error.strerror}: {root}") from error
    for name in names:
        try:
            inner = os.open(name, _FOLDER, dir_fd=folder)
        except OSError as error:
            raise _why(error, name, folder) from error
        finally:
            os.close(folder)
        folder = inner
    return folder


def _why(error: OSError, name: str, folder: int) -> Unreadable:
    """What failed when `name` was opened in `folder`. Linux says ENOTDIR, macOS ELOOP for a link to a folder."""
    if error.errno == errno.ENOENT:
        return Missing()
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        try:
            linked = stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except OSError:
            linked = False
        return _Linked() if linked else Unreadable("lies below something that is no directory")
    if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
        return Unreadable("is a socket")
    return Unreadable(f"cannot be opened: {error.strerror}")


def _follow(root: str, names: Sequence[str]) -> list[str]:
    """The path without links that `names` lead to. It is opened without links again, so a swap gains nothing."""
    todo, done, links = list(reversed(names)), list[str](), 0
    while todo:
        name = todo.pop()
        if name == "..":
            if not done:
                raise Unreadable("is a symbolic link that leaves the root")
            done.pop()
            continue
        try:
            target = os.readlink(os.path.join(root, *done, name))
        except OSError:
            done.append(name)
            continue
        links += 1
        if target.startswith("/") or links > _LINKS:
            raise Unreadable("is a symbolic link that leaves the root" if links <= _LINKS else "is a loop of links")
        todo += [part for part in reversed(target.split("/")) if part not in ("", ".")]
    return components("/".join(done))


def walk(root: str) -> list[str]:
    """The regular files below `root`, relative and sorted, for a tree that git does not know.

    Links, the folders of version control and what may not be listed are passed over. Raises Unreadable where there are
    more than MOST_FILES.
    """
    found: list[str] = []
    todo = [""]
    while todo:
        folder = todo.pop()
        with suppress(OSError), os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in (".git", ".hg", ".svn"):
                        todo.append(f"{folder}{entry.name}/")
                elif entry.is_file(follow_symlinks=False):
                    found.append(f"{folder}{entry.name}")
        if len(found) > MOST_FILES:
            raise Unreadable(f"has more than {MOST_FILES} files")
    return sorted(found)


def probe(root: str, path: str, *, allow_workflows: bool = False, linked: bool = False) -> str | None:
    """Why the file `path` below `root` may not be written, as a clause ("is read-only"); None if it may.

    A file that does not exist may be made, with the folders it needs. Who is root may not write a read-only file
    either: its mode says that a person does not want it changed. `linked`: a file with several hard links may be
    replaced, since the other name is meant to keep the old content.
    """
    try:
        names = components(path)
        if not allow_workflows and any(name.casefold() == ".github" for name in names):
            return "lies under .github/, which decides what CI runs"
        folder = open_folder(root, names[:-1])
    except Missing:
        return None
    except Unreadable as error:
        return error.reason
    try:
        status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be examined: {error.strerror}"
    finally:
        os.close(folder)
    return _unwritable(status, linked=linked)


def _unwritable(status: os.stat_result, *, linked: bool) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return f"is {_kind(status.st_mode)}"
    if status.st_nlink > 1 and not linked:
        return "has several hard links: the other name would keep the old content"
    if not status.st_mode & stat.S_IWUSR:
        return "is read-only"
    return None
