"""Wheel files on disk: opened for reading with all that is refused of them refused, and written whole or not at all."""

import filecmp
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple, cast

from pinctl.errors import ExternalError, UsageError, WriteRefused
from pinctl.wheel import metadata, names
from pinctl.wheel import revision as _revision
from pinctl.wheel.archive import Archive, Malformed
from pinctl.wheel.names import BadName
from pinctl.wheel.provenance import Provenance
from pinctl.wheel.survey import Survey, dist_infos
from pinctl.wheel.survey import survey as _survey

_IN_MEMORY = 64 * 1024**2
"""Bytes of a member that are kept in memory, before a file of the temporary folder takes them."""


class Identity(NamedTuple):
    """What an index must know of a wheel: the file's name, digest (hex) and size in bytes, and its METADATA as it
    stands there; `name` and `version` are normalised."""

    filename: str
    sha256: str
    size: int
    name: str
    version: str
    requires_python: str | None
    metadata: bytes


@contextmanager
def opened(path: str) -> Iterator[Archive]:
    """The archive of the wheel at `path`. Raises UsageError where there is no such regular file, ExternalError where it
    cannot be read, Malformed."""
    file = _open(path)
    with file:
        try:
            yield Archive(file)
        except OSError as error:
            raise ExternalError(f"{path} cannot be read: {error.strerror}") from error


def _open(path: str) -> BinaryIO:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except OSError as error:
        raise ExternalError(f"{path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{path} is no regular file")
    return os.fdopen(descriptor, "rb")


def spool() -> BinaryIO:
    """An empty file for one member's content: in memory, or in the temporary folder where it is large."""
    return cast(BinaryIO, tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))


def survey(path: str) -> Survey:
    """Everything that the wheel at `path` says of itself. Raises as `opened`."""
    with opened(path) as archive:
        return _survey(archive, os.path.basename(path), spool)


def identify(path: str) -> Identity:
    """What an index must know of the wheel at `path`; of its members METADATA alone is read.

    Raises as `opened`; Malformed also where it is not named as a wheel, or has not exactly one METADATA of that name
    and version.
    """
    try:
        name = names.parse(os.path.basename(path))
    except BadName as error:
        raise Malformed(str(error)) from error
    with opened(path) as archive:
        folders = dist_infos(archive)
        member = archive.find(f"{folders[0]}/METADATA") if len(folders) == 1 else None
        if member is None:
            raise Malformed("it has not exactly one .dist-info folder with METADATA")
        data = archive.read(member, metadata.LIMIT)
        size, digest = archive.size, archive.sha256()
    said = metadata.read_metadata(data)
    if said.faults or not names.agree(name, said.name, said.version):
        raise Malformed("METADATA does not say the name and version of the file", member.name)
    return Identity(name.filename, digest, size, name.distribution, name.version, said.requires_python, data)


def revise(
    path: str, folder: str, *, label: str | None = None, built: Provenance | None = None, epoch: int | None = None
) -> str:
    """Write the wheel at `path`, revised as `pinctl.wheel.revision.revise` says, into `folder`; returns the path of the
    new file. `epoch` is SOURCE_DATE_EPOCH.

    Raises as `opened`; Refused, BadName; WriteRefused where another file of the new name is there already, unless it is
    the wheel at `path` itself.
    """
    with opened(path) as archive:
        found = _survey(archive, os.path.basename(path), spool)
        revision = _revision.revise(archive, found, label=label, built=built)
        target = os.path.join(folder, revision.name.filename)
        with _made(target, over=path) as out:
            _revision.write(archive, revision, out, epoch)
    return target


@contextmanager
def _made(path: str, over: str) -> Iterator[BinaryIO]:
    """A new file for `path`, mode 0644, which takes its place when the block ends well.

    Raises ExternalError; WriteRefused where a file is there that is neither `over` nor the same.
    """
    folder, name = os.path.split(os.path.abspath(path))
    spare = None
    try:
        descriptor, spare = tempfile.mkstemp(prefix=f".{name[:40]}.", dir=folder)
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        if os.path.exists(path) and not os.path.samefile(path, over) and not filecmp.cmp(spare, path, shallow=False):
            raise WriteRefused(f"{path} is there already, and is another wheel", hint="name a folder with --out")
        os.replace(spare, path)
    except OSError as error:
        raise ExternalError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        if spare is not None:
            with suppress(FileNotFoundError):
                os.unlink(spare)
