"""Writes an index as a folder: whole, beside the old one, and put in its place by one rename. Whatever fails before
leaves the old one as it was, to the byte.

Files that the index itself holds come from the old folder by hard link, or from where they are now, copied and hashed
as they pass. What lies in the folder and is none of the index's is never thrown away: such a folder is refused.
"""

import ctypes
import errno
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import files, scratch

MARK = ".pinctl-index"
"""The file by which a folder is known as an index that was written here: a list of what lies at its top."""
NO_JEKYLL = ".nojekyll"
"""GitHub Pages serves a folder with this file as it is."""

_EXCHANGE = 2
"""renameat2(2): RENAME_EXCHANGE."""
_AT_FDCWD = -100
_SPARE = ".pinctl-"
"""Behind the name of an index: the folder in which the next one is made."""
_STALE = 24 * 3600.0
"""Seconds after which no run still works on one."""
_PIECE = 1024 * 1024


class Hosted(NamedTuple):
    """A file that the index holds. `source` is where it comes from: a path, or None for the old folder; `body` its
    content where it is made here."""

    path: str
    sha256: str
    size: int | None = None
    source: str | None = None
    body: bytes | None = None


def demand_place(out: str) -> None:
    """Raises WriteRefused where the folder `out` holds something else than an index that was written here."""
    real = os.path.realpath(out)
    if not os.path.lexists(real):
        return
    if not os.path.isdir(real):
        raise WriteRefused(f"{out} is no folder")
    strangers = sorted(set(os.listdir(real)) - _ours(real))
    if strangers:
        hint = "give the index a folder of its own, and keep other files beside it"
        raise WriteRefused(f"{out} holds {strangers[0]}, which is not of the index, and would be lost", hint=hint)


def _ours(folder: str) -> set[str]:
    try:
        said = json.loads(files.read_site(folder, MARK))
    except (files.Unreadable, ValueError):
        return set()
    top = said.get("top") if isinstance(said, dict) else None
    return {MARK, *(name for name in top if isinstance(name, str))} if isinstance(top, list) else set()


def write(out: str, pages: Mapping[str, bytes], hosted: Iterable[Hosted] = ()) -> None:
    """Put the index of `pages` (path to content) and the files `hosted` in the place of the folder `out`.

    Raises WriteRefused, and ExternalError, where the old one is left as it was.
    """
    demand_place(out)
    real = os.path.realpath(out)
    parent, name = os.path.split(real)
    with scratch.folder(parent, f".{name}{_SPARE}", stale=_STALE) as spare:
        try:
            _fill(spare, real, pages, hosted)
            os.chmod(spare, 0o755)  # noqa: S103 - a server reads it
            _put(spare, real)
        except OSError as error:
            raise ExternalError(f"{out} cannot be written: {error.strerror}") from error


def _fill(spare: str, old: str, pages: Mapping[str, bytes], hosted: Iterable[Hosted]) -> None:
    top = {NO_JEKYLL}
    made: set[str] = set()
    for path, body in pages.items():
        _create(spare, path, body, made)
        top.add(path.partition("/")[0])
    for file in hosted:
        _place(spare, old, file, made)
        top.add(file.path.partition("/")[0])
    _create(spare, NO_JEKYLL, b"", made)
    mark = {"schema": 1, "top": sorted(top)}
    _create(spare, MARK, (json.dumps(mark) + "\n").encode(), made)


def _folder(root: str, path: str, made: set[str]) -> None:
    folder = path.rpartition("/")[0]
    if folder and folder not in made:
        _folder(root, folder, made)
        os.mkdir(os.path.join(root, folder), 0o755)
        os.chmod(os.path.join(root, folder), 0o755)  # noqa: S103 - whatever the umask, a server reads it
        made.add(folder)


def _create(root: str, path: str, body: bytes, made: set[str]) -> None:
    _folder(root, path, made)
    target = os.path.join(root, path)
    with open(target, "xb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), 0o644)


def _place(spare: str, old: str, file: Hosted, made: set[str]) -> None:
    """Raises ExternalError where the file is missing, or is another one."""
    if file.body is not None:
        _create(spare, file.path, file.body, made)
        return
    _folder(spare, file.path, made)
    target = os.path.join(spare, file.path)
    if file.source is None:
        source = os.path.join(old, file.path)
        if not os.path.isfile(source) or os.path.islink(source):
            hint = "name the folder that has it: --files DIR"
            raise ExternalError(f"{file.path} is not in the index any more", hint=hint)
        if file.size is not None and os.path.getsize(source) != file.size:
            raise ExternalError(f"{file.path} in the index is not of the {file.size} bytes that its record says")
        if _linked(source, target):
            return
        _copy(source, target, file)
    else:
        _copy(file.source, target, file)


def _linked(source: str, target: str) -> bool:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
            return False
        raise
    return True


def _copy(source: str, target: str, file: Hosted) -> None:
    digest = hashlib.sha256()
    with open(source, "rb") as reader, open(target, "xb") as writer:
        while piece := reader.read(_PIECE):
            digest.update(piece)
            writer.write(piece)
        writer.flush()
        os.fsync(writer.fileno())
        os.fchmod(writer.fileno(), 0o644)
    if digest.hexdigest() != file.sha256:
        raise ExternalError(f"{source} is not the file that its record says: its sha256 is {digest.hexdigest()}")


def _put(spare: str, real: str) -> None:
    """Rename `spare` to `real`; what was there is at `spare` afterwards."""
    if not os.path.lexists(real):
        os.rename(spare, real)
        return
    if _exchanged(spare, real):
        return
    aside = f"{spare}.old"
    os.rename(real, aside)
    try:
        os.rename(spare, real)
    except BaseException:
        os.rename(aside, real)
        raise
    with suppress(OSError):
        os.rename(aside, spare)


def _exchanged(one: str, other: str) -> bool:
    """Swap two folders in one step; False where the system cannot (renameat2(2), Linux 3.15 and newer)."""
    if sys.platform != "linux":
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, os.strerror(number))
