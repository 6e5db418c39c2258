"""What a server's repository holds, from a bare partial repository of ours: in the cache, or a cold one that forgets.

Commits come with their trees and without their blobs; blobs are fetched by their ids in one batch when they are read
(partial-clone(7)). git is given literal URLs and full ids, never names that it would have to guess. A cached
repository that turns out broken is made anew, and what this run had fetched is fetched again.

Not safe for use by several threads at once; each may open its own.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TypeVar

from pinctl.commits import is_full
from pinctl.errors import ExternalError
from pinctl.external import bare, objects, pruning, remote, wanting
from pinctl.external.gitcli import Profile, safe_url
from pinctl.external.locks import Lock
from pinctl.external.process import CommandFailed
from pinctl.external.remote import Damaged, Gone, Hostile, Refused, Unreachable
from pinctl.upstream.tree import Entry
from pinctl.urls import redact

__all__ = ["Entry", "Gone", "Hostile", "Store", "Unreachable"]

BLOB_LIMIT = 4 * 1024 * 1024
"""Bytes of a blob that is read."""
MOST_BYTES = 256 * 1024 * 1024
"""Bytes of all blobs that are read at once."""

_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-show-forced-updates",
)
_NO_HAVES = ("-c", "fetch.negotiationAlgorithm=noop")
_SHA256 = 64  # digits of an id
_RICHER = {"tree:0": "blob:none", "blob:none": None}
_DAMAGE = re.compile(
    rb"corrupt|inflate|packfile|\.pack |\.idx|is empty|unable to (?:read|unpack|open|map)|could not read|truncated"
    rb"|missing (?:blob|tree|commit|object)|loose object|not a git repository|does not match|bad (?:object|tree)"
    rb"|cannot open|failed to read|invalid object|unable to find|could not get object info"
)

_T = TypeVar("_T")


class Store:
    """The repository at `url` as it is known here. `cold`: nothing was known when it was opened."""

    def __init__(self, url: str, folder: str, profile: Profile, *, offline: bool, lock: Lock | None) -> None:
        """Use `Store.open`."""
        self.url, self.folder, self.profile, self.offline = url, folder, profile, offline
        self._lock = lock
        self._made = os.stat(folder).st_ino
        self._fetched: list[tuple[tuple[str, ...], str | None, int | None]] = []
        self._here: set[str] = set()
        self._blank = bare.is_empty(folder)  # no blobs but those that are in _here

    @classmethod
    @contextmanager
    def open(cls, url: str, *, profile: Profile, offline: bool = False, fresh: bool = False) -> Iterator["Store"]:
        """The store of `url`: the cached one, shared with other processes, or with `fresh` an empty one that is removed
        at the end. `offline`: no server is asked. Raises ExternalError (the URL may not be used, the cache is not ours,
        nothing is cached offline)."""
        safe_url(url, profile)
        if fresh:
            if offline:
                raise ExternalError(f"{redact(url)} cannot be asked offline")
            folder = tempfile.mkdtemp(prefix="pinctl-")
            try:
                bare.fill(folder)
                yield cls(url, folder, profile, offline=False, lock=None)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return
        with cls._cached(url, profile, offline=offline) as store:
            yield store

    @classmethod
    @contextmanager
    def _cached(cls, url: str, profile: Profile, *, offline: bool) -> Iterator["Store"]:
        folder = bare.folder_of(url)
        parent = bare.parent()
        if not offline:
            pruning.prune(parent)
        lock = Lock(f"{folder}.lock")
        try:
            lock.shared()
            lock.touch()
            if not bare.whole(folder):
                if offline:
                    raise ExternalError(f"nothing of {redact(url)} is in the cache", hint="run once without --offline")
                if lock.exclusive(unless=lambda: bare.whole(folder)) and not bare.whole(folder):
                    bare.remove(folder)
                    bare.make(folder)
                lock.shared()
            bare.enter(folder)
            yield cls(url, folder, profile, offline=offline, lock=lock)
        finally:
            lock.close()

    @property
    def cold(self) -> bool:
        """Whether this store is one that forgets."""
        return self._lock is None

    @property
    def mirror(self) -> str | None:
        """What the policy has asked in the place of `url`; None where it is asked itself."""
        return self.profile.policy.mirror(self.url) if self.profile.policy else None

    @property
    def age(self) -> float | None:
        """The seconds since the server last answered; None if it never did."""
        asked = bare.asked(self.folder)
        return None if asked is None else max(time.time() - asked, 0.0)

    # What asks the server.

    def refs(self, *patterns: str) -> dict[str, str]:
        """The refs that match any of `patterns` (HEAD, full names, `*` for any text), each with its id; the commit of
        an annotated tag stands under NAME^{}. Offline: those that were fetched. HEAD is fetched: where it is to be
        listed, git lists every ref, those of all pull requests, too.

        Raises Unreachable, ExternalError.
        """
        if self.offline:
            return self.known_refs(*patterns)
        named = [pattern for pattern in patterns if pattern != wanting.HEAD]
        found = wanting.matching(self._guarded(lambda: self._asked_refs(named)), named) if named else {}
        if wanting.HEAD in patterns:
            with suppress(Gone):
                self.fetch(wanting.HEAD)
                found |= self.known_refs(wanting.HEAD)
        return found

    def known_refs(self, *patterns: str) -> dict[str, str]:
        """As `refs`, of those that were fetched, as they were when they were. Raises ExternalError."""
        listed = self._reading([], lambda: objects.refs(self.folder))
        found = wanting.matching(((wanting.remote(name), id_) for name, id_ in listed), patterns)
        self._here.update(found.values())
        return found

    def _asked_refs(self, patterns: Sequence[str]) -> list[tuple[str, str]]:
        roots = {pattern.partition("/")[2].partition("/")[0] for pattern in patterns}
        flags = [f"--{root}" for root in sorted(roots)] if roots <= {"heads", "tags"} else []
        wait = min(self.profile.timeout, remote.ASK_SECONDS)
        output = remote.ask(self.folder, self.profile, self.url, ["ls-remote", *flags, "--", self.url], wait=wait)
        lines = (line.split("\t", 1) for line in output.decode("utf-8", "replace").splitlines())
        return [(fields[1], fields[0]) for fields in lines if len(fields) == 2 and is_full(fields[0])]

    def fetch(self, *wants: str, filter: str | None = "blob:none", depth: int | None = None) -> None:  # noqa: A002
        """Have the `wants`: HEAD and full refs (a last part may be `*`), which are asked for anew, and full ids, which
        are not where they are here already.

        `filter` is "blob:none", "tree:0" (in a cold store alone: the other tree would seem to be known) or None for all
        blobs. `depth` is a permission: a store that knows the history keeps it. A server that refuses filters, depth
        or ids is asked for more. Raises Unreachable, Gone, Hostile, ExternalError; offline, ExternalError for what is
        not here.
        """
        wanting.check(wants)
        if filter == "tree:0" and not self.cold:
            filter = "blob:none"  # noqa: A001
        present = [want for want in wants if is_full(want) and self._settled(want, depth)]
        if self.offline:
            self._need_offline([want for want in wants if want not in present])
            return
        asked = tuple(want for want in wants if want not in present)
        whole = [want for want in wants if is_full(want)] if filter is None else []
        if whole and not bare.is_empty(self.folder):
            filter = "blob:none"  # noqa: A001 - the blobs that an earlier commit shares are here
        if asked:
            self._guarded(lambda: self._take(asked, filter, depth))
            self._fetched.append((asked, filter, depth))
            self._here.update(want for want in asked if is_full(want))
        for id_ in whole:
            self.complete(id_)

    def _settled(self, id_: str, depth: int | None) -> bool:
        return self.has(id_) and (depth is not None or not bare.is_shallow(self.folder))

    def _need_offline(self, missing: Sequence[str]) -> None:
        for want in missing:
            if not (self.has(want) if is_full(want) else self.known_refs(want)):
                message = f"{want} of {redact(self.url)} is not in the cache"
                raise ExternalError(message, hint="run once without --offline")

    def _take(self, wants: Sequence[str], filter: str | None, depth: int | None) -> None:  # noqa: A002
        """Fetch `wants` with as little else as the server can be made to send."""
        if any(len(want) == _SHA256 and is_full(want) for want in wants) and bare.is_empty(self.folder):
            self._remake(sha256=True)
        while True:
            try:
                self._ask_for([wanting.refspec(want) for want in wants], filter, depth)
                return
            except Refused as refusal:
                if refusal.what == "filter" and filter is not None:
                    filter = _RICHER[filter]  # noqa: A001
                elif refusal.what == "depth" and depth is not None:
                    depth = None
                elif refusal.what == "ids":
                    self._take_all(wants, filter)
                    return
                elif refusal.what == "format" and bare.is_empty(self.folder):
                    self._remake(sha256=True)
                else:
                    raise Unreachable(f"{redact(self.url)} refuses {refusal.what}") from None

    def _take_all(self, wants: Sequence[str], filter: str | None) -> None:  # noqa: A002
        """Fetch all branches and tags from a server that gives no ids (git-config(1), allowAnySHA1InWant)."""
        refs = [want for want in wants if not is_full(want)]
        self._ask_for(
            [wanting.refspec(ref) for ref in dict.fromkeys(("refs/heads/*", "refs/tags/*", *refs))], filter, None
        )
        for want in wants:
            if is_full(want) and not self.has(want):
                raise Gone(self.url, want, " on a branch or tag, and gives nothing else")

    def _ask_for(
        self,
        refspecs: Sequence[str],
        filter: str | None,  # noqa: A002
        depth: int | None,
        *,
        again: bool = False,
    ) -> None:
        """One `git fetch`. What has no ref here, and with `again` everything, comes whatever seems to be here."""
        whole = again or filter is None or ":" not in refspecs[0]
        self._blank &= filter is not None
        head = [*(_NO_HAVES if whole else ()), *_FETCH, f"--filter={filter}" if filter else "--no-filter"]
        tail = [*(["--refetch"] if again else []), "--stdin", "--", self.url]
        stdin = "".join(f"{refspec}\n" for refspec in refspecs).encode()
        with nullcontext() if self.cold else bare.fetching(self.folder, self.profile.timeout):
            reach = self._reach(depth, whole=whole)  # what another has fetched meanwhile counts
            remote.ask(
                self.folder, self.profile, self.url, [*head, *reach, *tail], stdin=stdin, wait=self.profile.timeout
            )

    def _reach(self, depth: int | None, *, whole: bool) -> list[str]:
        """The options of `git fetch` for so much of the history."""
        shallow = bare.is_shallow(self.folder)
        if depth is not None and (shallow or bare.is_empty(self.folder)):
            return [f"--depth={depth}"]
        return ["--unshallow"] if depth is None and shallow and not whole else []

    def complete(self, commit: str) -> None:
        """Have every blob of the tree of `commit`, which is here. Raises as `fetch`."""
        objects.check_id(commit)
        missing = self._reading([commit], lambda: objects.missing(self.folder, commit))
        self._take_blobs(missing)

    def _take_blobs(self, ids: Sequence[str]) -> None:
        """Fetch blobs by their ids, in one request."""
        if not ids:
            return
        if self.offline:
            message = f"{len(ids)} files of {redact(self.url)} are not in the cache"
            raise ExternalError(message, hint="run once without --offline")

        def take() -> None:
            try:
                self._ask_for(ids, "blob:none", None)
            except Refused:
                self._ask_for([wanting.refspec("refs/heads/*"), wanting.refspec("refs/tags/*")], None, None, again=True)

        self._guarded(take)

    # What reads what is here.

    def has(self, id: str) -> bool:  # noqa: A002
        """Whether the object of a full id is here."""
        objects.check_id(id)
        if id not in self._here and not bare.is_empty(self.folder) and self._sizes([id])[id] is not None:
            self._here.add(id)
        return id in self._here

    def peel(self, id: str) -> tuple[str, str]:  # noqa: A002
        """The type of the object `id` ("commit", "tag"), and the commit that it is or leads to.

        Raises ExternalError where it leads to none.
        """
        objects.check_id(id)
        kind, commit = self._reading([id], lambda: objects.peel(self.folder, id))
        if commit is None:
            raise ExternalError(f"{id} of {redact(self.url)} is no commit, and leads to none")
        return kind, commit

    def is_ancestor(self, a: str, b: str) -> bool:
        """Whether commit `a` is `b` or lies in its history. Right where the history was fetched without `depth`."""
        objects.check_id(a)
        objects.check_id(b)
        return a == b or self._reading([a, b], lambda: objects.is_ancestor(self.folder, a, b))

    def tree(self, commit: str) -> list[Entry]:
        """Every file, link and submodule of a commit, in git's order. Bytes of a path that are not UTF-8 stand as
        surrogates. Raises Hostile for a tree that is too large or names what no checkout may hold."""
        objects.check_id(commit)
        return self._reading([commit], lambda: objects.tree(self.folder, commit))

    def blobs(self, ids: Iterable[str], limit: int = BLOB_LIMIT) -> dict[str, bytes]:
        """The contents of blobs by id, without those larger than `limit` bytes and what is no blob. Those that are not
        here are fetched in one batch. Raises Gone for one that the server lacks, Unreachable, ExternalError."""
        wanted = list(dict.fromkeys(ids))
        for id_ in wanted:
            objects.check_id(id_)
        sizes = dict.fromkeys(wanted) | self._sizes([id_ for id_ in wanted if not self._blank or id_ in self._here])
        missing = [id_ for id_ in wanted if sizes[id_] is None]
        if missing:
            self._take_blobs(missing)
            sizes.update(self._sizes(missing))
        if lost := [id_ for id_ in wanted if sizes[id_] is None]:
            raise Gone(self.url, lost[0])
        self._here.update(wanted)
        found = {id_: size for id_, size in sizes.items() if size is not None and 0 <= size <= limit}
        if sum(found.values()) > MOST_BYTES:
            raise Hostile(f"the files of {redact(self.url)} have more than {MOST_BYTES} bytes together")
        return self._reading(list(found), lambda: objects.contents(self.folder, found), blobs=True)

    def _sizes(self, ids: Sequence[str]) -> dict[str, int | None]:
        return self._reading([], lambda: objects.sizes(self.folder, ids))

    # The repair of a broken repository.

    def _reading(self, ids: Sequence[str], work: Callable[[], _T], *, blobs: bool = False) -> _T:
        """`work`, which reads `ids`; where our repository is broken it is made anew, and the work is done once more."""
        try:
            return work()
        except CommandFailed as error:
            if not _DAMAGE.search(error.result.stderr):
                raise
            self._repair(error)
        lost = [id_ for id_, size in objects.sizes(self.folder, ids).items() if size is None]
        if blobs:
            self._take_blobs(lost)
        elif lost:
            self._take(lost, "blob:none", None)
        return work()

    def _guarded(self, work: Callable[[], _T]) -> _T:
        """`work`, which fetches; where our repository is broken it is made anew, and the work is done once more. What
        fails with a sound one failed at the server, or on the way. Raises Unreachable."""
        for mended in (False, True):
            try:
                return work()
            except Damaged as error:
                if mended or self.cold or objects.is_sound(self.folder):
                    raise Unreachable(str(error), hint=error.hint) from None
                self._repair(error)
        raise AssertionError  # the second time returns or raises

    def _repair(self, error: ExternalError) -> None:
        """Make the cached repository anew, with what this run fetched. Raises `error` where that would mend nothing."""
        if self.cold:
            raise error
        if self.offline:
            message = f"what the cache holds of {redact(self.url)} is damaged"
            raise ExternalError(message, hint="run once without --offline") from error
        self._remake()
        for wants, filter_, depth in self._fetched:
            self._take(wants, filter_, depth)

    def _remake(self, *, sha256: bool = False) -> None:
        self._here.clear()
        if self._lock is None:
            shutil.rmtree(self.folder)
            os.mkdir(self.folder, 0o700)
            bare.fill(self.folder, sha256)
            return
        try:
            if self._lock.exclusive(unless=self._was_remade) and not self._was_remade():
                bare.remove(self.folder)
                bare.make(self.folder, sha256)
            self._made = os.stat(self.folder).st_ino
            self._blank = bare.is_empty(self.folder)
        finally:
            self._lock.shared()

    def _was_remade(self) -> bool:
        """Whether another process has made the repository anew."""
        return os.path.isdir(self.folder) and os.stat(self.folder).st_ino != self._made
