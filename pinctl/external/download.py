"""Downloads an archive: its digests, and what it says of itself. It passes through; nothing of it is kept."""

import hashlib
from collections.abc import Callable, Sequence

from pinctl.external.gitcli import Profile
from pinctl.external.web import Web, address, demand
from pinctl.options import Step
from pinctl.upstream.archives import Archive
from pinctl.upstream.tarball import Tarball

LARGEST = 4 * 1024**3
"""Bytes of an archive."""


def download(
    url: str,
    profile: Profile,
    *,
    hashes: Sequence[str] = ("sha256",),
    look: bool = False,
    step: Step = lambda _: None,
) -> Archive:
    """What `url`, or the mirror that the policy has in its place, gives now.

    `hashes` are names of hashlib's; with `look` a tar archive is looked through for its commit and its folder; `step`
    is called with the number of bytes of each piece. Raises Unreachable, Hostile, ExternalError.
    """
    through = _Through(hashes, look=look)

    def start() -> Callable[[bytes], object]:
        nonlocal through
        through = _Through(hashes, look=look)

        def take(piece: bytes) -> None:
            through.take(piece)
            step(len(piece))

        return take

    answer = Web(profile).get(address(url, profile, "archive"), limit=LARGEST, wait=profile.timeout, start=start)
    demand(answer)
    return Archive(gone=True) if answer.absent else through.archive


class _Through:
    """What passes."""

    def __init__(self, hashes: Sequence[str], *, look: bool) -> None:
        self._size = 0
        self._hashes = {name: hashlib.new(name, usedforsecurity=False) for name in hashes}
        self._tarball = Tarball() if look else None

    def take(self, piece: bytes) -> None:
        self._size += len(piece)
        for one in self._hashes.values():
            one.update(piece)
        if self._tarball:
            self._tarball.feed(piece)

    @property
    def archive(self) -> Archive:
        digests = {name: one.hexdigest() for name, one in self._hashes.items()}
        return Archive(self._size, digests, self._tarball.contents if self._tarball else None)
