"""Looks at the files of an index: those that lie in a folder, and those that servers have."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from pinctl.errors import ExternalError, PinctlError, UsageError
from pinctl.external import files, wheelfile
from pinctl.external.parallel import each
from pinctl.external.web import Web, barred, host_of
from pinctl.external.wheelfile import Identity
from pinctl.index import names
from pinctl.index.judge import Seen
from pinctl.index.reading import Link
from pinctl.options import Step
from pinctl.wheel import metadata as wheel_metadata
from pinctl.wheel import provenance as wheel_provenance
from pinctl.wheel.archive import Archive, Malformed
from pinctl.wheel.survey import dist_infos

SIDECAR = ".metadata"
LARGEST = 8 * 1024**3
"""Bytes of a file that is downloaded."""

_PIECE = 1024 * 1024


class Wheel(NamedTuple):
    """A wheel, read: what an index says of it, and what pinctl, if it built it, wrote into it."""

    path: str
    identity: Identity
    provenance: Mapping[str, object]

    @property
    def filename(self) -> str:
        return self.identity.filename

    @property
    def metadata_sha256(self) -> str:
        return hashlib.sha256(self.identity.metadata).hexdigest()


def wheels(directory: str, given: Iterable[str]) -> list[str]:
    """The paths of the files that are meant by `given`, as seen from `directory`: files, and folders that hold wheels,
    sorted within each. Raises UsageError for a folder without any."""
    found = []
    for path in (os.path.join(directory, one) for one in given):
        if not os.path.isdir(path):
            found.append(path)
            continue
        inside = sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".whl"))
        if not inside:
            raise UsageError(f"{path} holds no wheel")
        found += inside
    return found


def find(folders: Iterable[str], names_: Sequence[str]) -> str | None:
    """The first file of one of these names in one of `folders`."""
    places = (os.path.join(folder, name) for folder in folders for name in names_)
    return next(filter(os.path.isfile, places), None)


def read_wheel(path: str) -> Wheel:
    """What is to be said of the wheel at `path`. Raises UsageError where it is none, or says something else than its
    name; ExternalError."""
    try:
        identity = wheelfile.identify(path)
        with wheelfile.opened(path) as archive:
            provenance = _provenance(archive)
    except Malformed as error:
        hint = f"pinctl wheel verify {os.path.basename(path)} tells more"
        raise UsageError(f"{path} cannot be published: {error}", hint=hint) from error
    if clause := names.problem(identity.filename):
        raise UsageError(f"{path} cannot be published: its name {clause}")
    return Wheel(path, identity, provenance)


def _metadata(archive: Archive) -> bytes:
    """METADATA. Raises Malformed."""
    folders = dist_infos(archive)
    if len(folders) != 1:
        raise Malformed(f"it has {len(folders)} .dist-info folders")
    member = archive.find(f"{folders[0]}/METADATA")
    if member is None:
        raise Malformed("it has no METADATA")
    return archive.read(member, wheel_metadata.LIMIT)


def _provenance(archive: Archive) -> Mapping[str, object]:
    member = archive.find(f"{dist_infos(archive)[0]}/{wheel_provenance.FILE}")
    if member is None:
        return {}
    try:
        return wheel_provenance.plain(wheel_provenance.read(archive.read(member, wheel_provenance.LIMIT)))
    except wheel_provenance.BadProvenance as error:
        raise Malformed(str(error), wheel_provenance.FILE) from error


def _digest(file: BinaryIO) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := file.read(_PIECE):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


@contextmanager
def _opened(root: str, path: str) -> Iterator[BinaryIO]:
    """The regular file `path` below `root`, without following a link. Raises files.Unreadable, OSError."""
    parts = files.components(path)
    folder = files.open_folder(root, parts[:-1])
    try:
        descriptor = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def local(root: str, links: Iterable[Link]) -> dict[str, Seen]:
    """What lies in the folder `root` for those of `links` that lead into it, by URL."""
    return {link.url: _seen(root, link.inside) for link in links if link.inside is not None}


def _seen(root: str, path: str) -> Seen:
    try:
        with _opened(root, path) as file:
            digest, size = _digest(file)
            inner = _inner(file) if path.endswith(".whl") else None
    except (files.Unreadable, OSError):
        return Seen(there=False)
    return Seen(True, digest, size, sidecar(root, path), inner)


def _inner(file: BinaryIO) -> str | None:
    """The digest of the METADATA in a wheel; None where it cannot be read."""
    try:
        return hashlib.sha256(_metadata(Archive(file))).hexdigest()
    except (Malformed, OSError):
        return None


def sidecar(root: str, path: str) -> str:
    """The digest of the METADATA beside the file `path` below `root`; "" where there is none."""
    try:
        return hashlib.sha256(files.read_site(root, path + SIDECAR, wheel_metadata.LIMIT)).hexdigest()
    except files.Unreadable:
        return ""


def remote(
    links: Sequence[Link],
    source: str,
    web: Web,
    download: Collection[str],
    step: Step = lambda _: None,
    *,
    silent: bool = False,
) -> dict[str, Seen]:
    """What servers have for `links`, by URL: whether the file is there; of those in `download` also its digest; and the
    digest of the METADATA beside it, where the page promises one. `source` is the index that gave us the links: only
    what it may lead to is asked. Raises ExternalError where a server cannot be asked; with `silent` that is what was
    seen."""
    wanted = list({link.url: link for link in links}.values())
    answers = each(wanted, lambda link: _asked(link, source, web, whole=link.url in download), step)
    found = {}
    for link, answer in zip(wanted, answers, strict=True):
        if isinstance(answer, ExternalError) and silent:
            answer = Seen(failed=str(answer))
        if isinstance(answer, PinctlError):
            raise answer
        found[link.url] = answer
    return found


def _asked(link: Link, source: str, web: Web, *, whole: bool) -> Seen:
    if reason := barred(link.url, source, web.profile):
        return Seen(barred=reason)
    passed = _Passing()
    answer = web.get(link.url, method="GET" if whole else "HEAD", limit=LARGEST, start=passed.start if whole else None,
                     wait=web.profile.timeout)  # fmt: skip
    if answer.status not in (200, 404, 410):
        raise ExternalError(f"{host_of(answer.url)} answers with status {answer.status} for {link.filename}")
    if answer.absent:
        return Seen(there=False)
    promised = link.metadata is not None or link.old is not None
    beside = _beside(link.url, web) if promised else None
    return Seen(True, passed.digest if whole else None, passed.size if whole else None, beside)


def _beside(url: str, web: Web) -> str:
    answer = web.get(url + SIDECAR, limit=wheel_metadata.LIMIT)
    return hashlib.sha256(answer.body).hexdigest() if answer.status == 200 else ""


class _Passing:
    """The digest and the size of what passes; a further try starts anew."""

    def __init__(self) -> None:
        self._digest, self.size = hashlib.sha256(), 0

    def start(self) -> Callable[[bytes], object]:
        self._digest, self.size = hashlib.sha256(), 0
        return self._take

    def _take(self, piece: bytes) -> None:
        self._digest.update(piece)
        self.size += len(piece)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()
