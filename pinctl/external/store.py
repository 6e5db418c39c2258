"""What a server's repository holds, from a bare partial repository of ours: in the cache, or a cold one that forgets.

Commits come with their trees and without their blobs; blobs are fetched by their ids in one batch when they are read
(partial-clone(7)). git is given literal URLs and full ids, never names that it would have to guess. A cached
repository that turns out broken is made anew, and what this run had fetched, by any store of it, is fetched again.

Not safe for use by several threads at once; each may open its own (see `held`).
"""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TypeVar

from pinctl.commits import is_full
from pinctl.errors import ExternalError
from pinctl.external import bare, objects, pruning, remote, wanting
from pinctl.external.gitcli import Profile, safe_url
from pinctl.external.held import Held, hold
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
_RICHER = {"tree:0": "blob:none", "blob:none": None}

_T = TypeVar("_T")


class Store:
    """The repository at `url` as it is known here. `cold`: nothing was known when it was opened."""

    def __init__(self, url: str, held: Held, profile: Profile, *, offline: bool) -> None:
        """Use `Store.open`."""
        self.url, self.folder, self.profile, self.offline = url, held.folder, profile, offline
        self._held = held
        with held.mutex:
            self._enter()
            self._turn = held.turn  # the one that this store knows of

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
            folder = bare.scratch()
            try:
                bare.fill(folder)
                yield cls(url, Held(folder), profile, offline=False)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return
        parent = bare.parent()
        if not offline:
            pruning.prune(parent)
        with hold(bare.folder_of(url)) as held:
            yield cls(url, held, profile, offline=offline)

    def _enter(self) -> None:
        """Have a repository that git may read."""
        if self._held.lock is not None:
            self._held.lock.shared()
            self._held.lock.touch()
            if not bare.whole(self.folder):
                if self.offline:
                    message = f"nothing of {redact(self.url)} is in the cache"
                    raise ExternalError(message, hint="run once without --offline")
                self._held.remake(self.profile.timeout)
            bare.enter(self.folder)
        self._held.blank |= bare.is_empty(self.folder)

    @property
    def cold(self) -> bool:
        """Whether this store is one that forgets."""
        return self._held.lock is None

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

        def read() -> dict[str, str]:
            listed = objects.refs(self.folder)
            found = wanting.matching(((wanting.remote(name), id_) for name, id_ in listed), patterns)
            self._held.here.update(found.values())
            return found

        return self._reading([], read)

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
            self._guarded(lambda: self._take_new(asked, filter, depth))
        for id_ in whole:
            self.complete(id_)

    def _settled(self, id_: str, depth: int | None) -> bool:
        return self.has(id_) and (depth is not None or not bare.is_shallow(self.folder))

    def _need_offline(self, missing: Sequence[str]) -> None:
        for want in missing:
            if not (self.has(want) if is_full(want) else self.known_refs(want)):
                message = f"{want} of {redact(self.url)} is not in the cache"
                raise ExternalError(message, hint="run once without --offline")

    def _take_new(self, wants: tuple[str, ...], filter: str | None, depth: int | None) -> None:  # noqa: A002
        """Fetch `wants`, and keep in mind that they are here."""
        self._take(wants, filter, depth)
        self._held.fetched.append((wants, filter, depth))
        self._held.here.update(want for want in wants if is_full(want))

    def _take(self, wants: Sequence[str], filter: str | None, depth: int | None) -> None:  # noqa: A002
        """Fetch `wants` with as little else as the server can be made to send."""
        if wanting.is_sha256(wants) and bare.is_empty(self.folder) and not bare.is_sha256(self.folder):
            self._remake(sha256=True)
        other_format = False
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
                elif refusal.what == "format" and not other_format and bare.is_empty(self.folder):
                    self._remake(sha256=not bare.is_sha256(self.folder))
                    other_format = True
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
        self._held.blank &= filter is not None
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
        return id in self._held.here or self._sizes([id])[id] is not None

    def peel(self, id: str) -> tuple[str, str | None]:  # noqa: A002
        """The type of the object `id` ("commit", "tag"), and the commit that it is or leads to, None if to none."""
        objects.check_id(id)
        return self._reading([id], lambda: objects.peel(self.folder, id))

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
        held = self._held
        sizes = dict.fromkeys(wanted) | self._sizes([id_ for id_ in wanted if not held.blank or id_ in held.here])
        missing = [id_ for id_ in wanted if sizes[id_] is None]
        if missing:
            self._take_blobs(missing)
            sizes.update(self._sizes(missing))
        if lost := [id_ for id_ in wanted if sizes[id_] is None]:
            raise Gone(self.url, lost[0])
        found = {id_: size for id_, size in sizes.items() if size is not None and 0 <= size <= limit}
        if sum(found.values()) > MOST_BYTES:
            raise Hostile(f"the files of {redact(self.url)} have more than {MOST_BYTES} bytes together")
        return self._reading(list(found), lambda: objects.contents(self.folder, found), blobs=True)

    def _sizes(self, ids: Sequence[str]) -> dict[str, int | None]:
        def read() -> dict[str, int | None]:
            found = {} if bare.is_empty(self.folder) else objects.sizes(self.folder, ids)
            self._held.here.update(id_ for id_, size in found.items() if size is not None)
            return dict.fromkeys(ids) | found

        return self._reading([], read)

    # The repair of a broken repository.

    def _reading(self, ids: Sequence[str], work: Callable[[], _T], *, blobs: bool = False) -> _T:
        """`work`, which reads `ids`; they are fetched first where the repository was made anew."""
        known = self._turn

        def read() -> _T:
            if self._turn != known and not self.offline:
                lost = [id_ for id_, size in objects.sizes(self.folder, ids).items() if size is None]
                if blobs:
                    self._take_blobs(lost)
                elif lost:
                    self._take(lost, "blob:none", None)
            return work()

        return self._in_one_turn(read, objects.is_damage)

    def _guarded(self, work: Callable[[], _T]) -> _T:
        """`work`, which fetches. What fails with a sound repository failed at the server, or on the way. Raises
        Unreachable."""

        def is_damage(error: Exception) -> bool:
            return isinstance(error, Damaged) and not self.cold and not objects.is_sound(self.folder)

        try:
            return self._in_one_turn(work, is_damage)
        except Damaged as error:
            raise Unreachable(str(error), hint=error.hint) from None

    def _in_one_turn(self, work: Callable[[], _T], is_damage: Callable[[Exception], bool]) -> _T:
        """`work`, done once more where our repository is broken, after it was made anew, and where another store made
        it anew meanwhile: then neither what it found nor that it failed means anything."""
        mended = False
        while True:
            self._begin()
            try:
                done = work()
            except (ExternalError, OSError) as error:
                if not self._is_behind():
                    if mended or not is_damage(error):
                        raise
                    self._repair(error)
                    mended = True
            else:
                if not self._is_behind():
                    return done

    def _begin(self) -> None:
        """Wait until the repository is not being made anew, and has again what was fetched before it was."""
        held = self._held
        with held.mutex:
            self._turn = held.turn
            lost, held.lost = ([], held.lost) if self.offline else (held.lost, [])
            try:
                for wants, filter_, depth in lost:
                    self._take(wants, filter_, depth)
            except BaseException:
                held.lost = lost
                raise

    def _is_behind(self) -> bool:
        """Whether another store has begun to make the repository anew."""
        return self._turn != self._held.turn

    def _repair(self, error: Exception) -> None:
        """Make the cached repository anew. Raises `error` where that would mend nothing."""
        if self.cold:
            raise error
        if self.offline:
            message = f"what the cache holds of {redact(self.url)} is damaged"
            raise ExternalError(message, hint="run once without --offline") from error
        self._remake()

    def _remake(self, *, sha256: bool | None = None) -> None:
        """Make it anew, unless another store has done so."""
        with self._held.mutex:
            if not self._is_behind():
                self._held.remake(self.profile.timeout, sha256=sha256)
            self._turn = self._held.turn
