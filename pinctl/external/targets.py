"""One file of a set that is written all or none: put new content in its place in one step, or the old one back.

Content goes to a file beside its target and is renamed over it (rename(2) is atomic), so that who reads the target
sees the old bytes or the new ones. Folders are opened part by part and without links, as for reading (`files`).
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import NamedTuple

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import files
from pinctl.plan import Exchange, FilePlan


class State(Enum):
    """What a target holds now."""

    BEFORE = auto()
    AFTER = auto()
    OTHER = auto()


class Target(NamedTuple):
    """A file to write. `temporary` is a name in its folder; `before` is None for a new file; `mode` are its
    permission bits and `owner` its user and group, None for ours. It goes where `after` is None. `was` are its
    permission bits before, where they change."""

    path: str
    temporary: str
    before: bytes | None
    after: bytes | None
    mode: int
    owner: tuple[int, int] | None
    was: int | None = None


def folder_names(path: str) -> list[str]:
    """The names of the folders that lead to `path`."""
    return files.components(path)[:-1]


@contextmanager
def _folder(root: str, path: str) -> Iterator[int]:
    """The open folder of the file `path`."""
    descriptor = files.open_folder(root, folder_names(path))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def state(root: str, target: Target) -> State:
    """What the target holds now. Links and everything else that cannot be read count as OTHER."""
    longest = max(len(target.before or b""), len(target.after or b""))
    try:
        content: bytes | None = files.read_site(root, target.path, longest, links=False)
    except files.Missing:
        content = None
    except files.Unreadable:
        return State.OTHER
    if target.was is not None and content == target.before == target.after:  # its mode alone changes
        return {target.was: State.BEFORE, target.mode: State.AFTER}.get(_mode(root, target.path), State.OTHER)
    if content == target.after:
        return State.AFTER
    return State.BEFORE if content == target.before else State.OTHER


def _mode(root: str, path: str) -> int:
    """The permission bits of a file; -1 where they cannot be had."""
    try:
        with _folder(root, path) as folder:
            status = os.stat(files.components(path)[-1], dir_fd=folder, follow_symlinks=False)
    except (OSError, files.Unreadable):
        return -1
    return stat.S_IMODE(status.st_mode)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn what fails while `path` is written into an ExternalError that names it."""
    hints = {
        errno.ENOSPC: "make room on the disk",
        errno.EDQUOT: "make room in your quota",
        errno.EROFS: "the file system is mounted read-only",
        errno.EPERM: "the file belongs to another user or group",
    }
    try:
        yield
    except files.Unreadable as error:
        raise ExternalError(f"{path} {error.reason}") from error
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise ExternalError(message, hint=hints.get(error.errno or 0)) from error


def stage(root: str, target: Target, content: bytes) -> None:
    """Write `content` beside the target, with the target's mode and owner, and onto the disk. Raises ExternalError."""
    with writing(target.path), _folder(root, target.path) as folder:
        _create(folder, target, content)


def _create(folder: int, target: Target, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(target.temporary, flags, 0o600, dir_fd=folder)
    try:
        write_all(descriptor, content)
        status = os.fstat(descriptor)
        if target.owner is not None and target.owner != (status.st_uid, status.st_gid):
            os.fchown(descriptor, *target.owner)
        os.fchmod(descriptor, target.mode)  # after the owner, whose change may clear bits; umask has no say
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of `content`: one write(2) may take less."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def swap(root: str, target: Target, expected: State) -> None:
    """Rename the staged content over the target, if the target still holds what is `expected`.

    Raises WriteRefused where it does not, ExternalError.
    """
    if state(root, target) is not expected:
        raise _changed(target)
    with writing(target.path), _folder(root, target.path) as folder:
        os.replace(target.temporary, files.components(target.path)[-1], src_dir_fd=folder, dst_dir_fd=folder)


def remove(root: str, target: Target) -> None:
    """Remove the file, if it still is as it was before. Raises WriteRefused, ExternalError."""
    if state(root, target) is not State.BEFORE:
        raise _changed(target)
    with writing(target.path), _folder(root, target.path) as folder:
        os.unlink(files.components(target.path)[-1], dir_fd=folder)


def _changed(target: Target) -> WriteRefused:
    message = f"{target.path} was changed by another program meanwhile; nothing was written"
    return WriteRefused(message, hint="run the command again")


def restore(root: str, target: Target) -> None:
    """Put the old content back where the target holds the new one. Raises ExternalError."""
    if state(root, target) is not State.AFTER:
        return
    if target.before is not None:
        discard(root, target)
        stage(root, target if target.was is None else target._replace(mode=target.was), target.before)
        swap(root, target, State.AFTER)
        return
    with writing(target.path), _folder(root, target.path) as folder:
        os.unlink(files.components(target.path)[-1], dir_fd=folder)


def discard(root: str, target: Target) -> None:
    """Remove what was staged beside the target, if it is there. Raises ExternalError."""
    with writing(target.path), suppress(FileNotFoundError, files.Unreadable), _folder(root, target.path) as folder:
        os.unlink(target.temporary, dir_fd=folder)


def make_folders(root: str, folders: Iterable[str]) -> None:
    """Make those of `folders` (outer ones first) that are not there, with mode 0755. Raises ExternalError."""
    umask = os.umask(0o022)
    try:
        for path in folders:
            with writing(path), _folder(root, path) as parent, suppress(FileExistsError):
                os.mkdir(os.path.basename(path), dir_fd=parent)
    finally:
        os.umask(umask)


def remove_folders(root: str, folders: Sequence[str]) -> None:
    """Remove those of `folders` that are there and empty."""
    for path in reversed(folders):
        with suppress(OSError, files.Unreadable), _folder(root, path) as parent:
            os.rmdir(os.path.basename(path), dir_fd=parent)


def sync_folders(root: str, paths: Iterable[str]) -> None:
    """Make the new names in the folders of `paths` last: fsync(2) of a file says nothing of its name.

    Raises ExternalError.
    """
    for path in {"/".join(folder_names(path)): path for path in paths}.values():
        with writing(path), suppress(files.Missing), _folder(root, path) as folder:
            sync(folder)


def sync(folder: int) -> None:
    """Sync an open folder, where the file system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


def describe(root: str, plan: FilePlan | Exchange, temporary: str) -> Target:
    """The target for a file as it lies there, or for a new one. Raises ExternalError."""
    path, before, after, executable = plan
    status = None
    with writing(path), suppress(FileNotFoundError, files.Missing), _folder(root, path) as folder:
        status = os.stat(files.components(path)[-1], dir_fd=folder, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode) if status else 0o755 if executable else 0o644
    owner = (status.st_uid, status.st_gid) if status else None
    was = None
    if status and isinstance(plan, Exchange) and executable is not None:
        was, mode = mode, mode | (mode & 0o444) >> 2 if executable else mode & ~0o111  # who may read, may execute
        was = was if was != mode else None
    return Target(path, temporary, before, after, mode, owner, was)
