"""The archive that a forge makes of a commit, made here from the commit itself.

GitHub and its like pack with `git archive` and gzip(1): 11 of 11 digests that were tried came out equal. git's own
compression gives other bytes, and so may a gzip that is not GNU's.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory

from pinctl.external import objects, process
from pinctl.external.store import Store
from pinctl.upstream.archives import Archive
from pinctl.upstream.tarball import Tarball

_PIECE = 1024 * 1024


def repack(store: Store, commit: str, folder: str, packing: str | None, hashes: Sequence[str]) -> Archive:
    """The archive of `commit` whose files lie in `folder`: its contents and, where `packing` is "gzip" or "" (plain
    tar), its size and its digests by `hashes` (names of hashlib's).

    Files that are not in the cache are fetched. Raises Unreachable, ExternalError.
    """
    store.complete(commit)
    with TemporaryDirectory(prefix="pinctl-") as made:
        path = os.path.join(made, "archive.tar")
        objects.read(store.folder, "archive", "--format=tar", f"--prefix={folder}/", f"--output={path}", commit)
        tarball = Tarball()
        for piece in _pieces(path):
            tarball.feed(piece)
        if packing is None:
            return Archive(contents=tarball.contents)
        if packing:
            process.run(["gzip", "-n", "--", path])
            path += ".gz"
        digests = {name: hashlib.new(name, usedforsecurity=False) for name in hashes}
        for piece in _pieces(path):
            for one in digests.values():
                one.update(piece)
        found = {name: one.hexdigest() for name, one in digests.items()}
        return Archive(os.path.getsize(path), found, tarball.contents)


def _pieces(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            yield piece
