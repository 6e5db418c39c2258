"""Where a published index lies, and how a new one takes its place: a folder, or a store that a command writes to. The
branch of a git repository is in `publish_branch`.

A published index holds its own records, as the file `wheels.jsonl` at its root: they are flipped with the pages, and
whoever publishes next begins with them.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple, Protocol

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import files, index_tree, locks, process
from pinctl.external.gitcli import TRUSTED, Profile
from pinctl.external.index_tree import Hosted
from pinctl.external.web import Web, demand
from pinctl.index import records
from pinctl.publish import order
from pinctl.publish.settings import Index

LOCK = "wheels.lock"
"""The key that a store's lock is asked for."""
PATIENCE = 600.0
"""Seconds to wait for another who publishes to the same folder."""


class Shelf(Protocol):
    """An index where it is published, held while a new one is made of it."""

    @property
    def records(self) -> bytes | None:
        """The file of its records; None where it has none."""

    @property
    def filled(self) -> bool:
        """Whether an index is there already."""

    def has(self, path: str) -> bool:
        """Whether the file `path` of the index is there; True where nothing tells."""

    def put(self, pages: Mapping[str, bytes], hosted: Sequence[Hosted]) -> bool:
        """Let the index of `pages` and the files `hosted` take the place of what is there; False where another was
        first, so that a new one is to be made of what is there now. A `hosted` file without source or body is there.

        Raises ExternalError, WriteRefused, where the old index is as it was."""


class Folder(NamedTuple):
    """A folder, which a server serves."""

    path: str
    records: bytes | None
    filled: bool

    def has(self, path: str) -> bool:
        """As `Shelf.has`."""
        return os.path.isfile(os.path.join(os.path.realpath(self.path), path))

    def put(self, pages: Mapping[str, bytes], hosted: Sequence[Hosted]) -> bool:
        """As `Shelf.put`: by one rename."""
        index_tree.write(self.path, pages, hosted)
        return True


@contextmanager
def folder(path: str, *, writing: bool) -> Iterator[Folder]:
    """The index in the folder `path`, held against others where it is to be written. Raises ExternalError,
    WriteRefused."""
    real = os.path.realpath(path)
    index_tree.demand_place(real)
    parent, name = os.path.split(real)
    with ExitStack() as stack:
        if writing:
            os.makedirs(parent, exist_ok=True)
            stack.enter_context(locks.alone(os.path.join(parent, f".{name}.lock"), PATIENCE))
        try:
            said = files.read_site(real, records.FILE, records.LARGEST) if os.path.isdir(real) else None
        except files.Missing:
            said = None
        except files.Unreadable as error:
            raise ExternalError(f"{path}/{records.FILE} {error.reason}") from error
        yield Folder(path, said, os.path.isfile(os.path.join(real, index_tree.MARK)))


class Store(NamedTuple):
    """Something that a command writes to, a file at a time: an object store. `web` reads it where its URL is known."""

    where: Index
    web: Web | None
    records: bytes | None

    @property
    def filled(self) -> bool:
        return self.records is not None

    def has(self, path: str) -> bool:  # noqa: ARG002 - a store is not asked for each of its files
        """As `Shelf.has`."""
        return True

    def put(self, pages: Mapping[str, bytes], hosted: Sequence[Hosted]) -> bool:
        """As `Shelf.put`, in the order in which nothing is linked to before it is there. What breaks off leaves whole
        pages, old and new, and is made good by the next run."""
        with tempfile.TemporaryDirectory(prefix="pinctl-") as base:
            site = os.path.join(base, "site")
            index_tree.write(site, pages, fresh(hosted))
            for path in order.ordered(files.walk(site)):
                argv = _filled(self.where.command, path, os.path.join(site, path))
                process.run(argv, cwd=base, env=_environment(), timeout=TRUSTED.timeout)
        now = _published(self.where, self.web)
        return now in (None, self.records, pages[records.FILE])


def fresh(hosted: Iterable[Hosted]) -> list[Hosted]:
    """Those of `hosted` that are not where they belong yet."""
    return [one for one in hosted if one.source is not None or one.body is not None]


@contextmanager
def store(where: Index, profile: Profile, *, writing: bool) -> Iterator[Store]:
    """The index in a store, held by the store's own lock where it has one. Raises ExternalError."""
    web = Web(profile) if where.url else None
    locked = writing and bool(where.lock)
    if locked:
        try:
            process.run(_filled(where.lock, LOCK), cwd="/", env=_environment())
        except process.CommandFailed as error:
            hint = "another publishes; where that one was killed, run the command `unlock` of [publish.index] by hand"
            raise process.CommandFailed("did not give the lock of the store", error.result, hint=hint) from None
    try:
        yield Store(where, web, _published(where, web))
    finally:
        if locked and where.unlock:
            process.run(_filled(where.unlock, LOCK), cwd="/", env=_environment())


def _published(where: Index, web: Web | None) -> bytes | None:
    """The records that the store serves now; None where there are none, or nothing says where it is read."""
    if web is None:
        return None
    answer = web.get(f"{where.url}{records.FILE}", limit=records.LARGEST, headers={"Cache-Control": "no-cache"})
    demand(answer)
    return None if answer.absent else answer.body


def _filled(argv: Sequence[str], key: str, file: str = "") -> list[str]:
    return [word.replace("{key}", key).replace("{file}", file) for word in argv]


def _environment() -> dict[str, str]:
    """All of ours: the command is the person's own, from the policy file, and its login is in its variables."""
    return dict(os.environ)


def demand_known(shelf: Shelf, found: Sequence[object], place: str) -> None:
    """Raises WriteRefused where an index lies there of which no record is known: to publish would empty it."""
    if shelf.filled and not found:
        hint = f"take it over: pinctl index import {place} --write"
        raise WriteRefused(f"{place} holds an index, and nothing has its records", hint=hint)


def demand_files(shelf: Shelf, hosted: Sequence[Hosted], place: str) -> None:
    """Raises WriteRefused where a file that stays is not there, and was not named either."""
    for one in hosted:
        if one.source is None and one.body is None and not shelf.has(one.path):
            hint = "name its wheel, too; an index of other files takes other records: --records FILE"
            raise WriteRefused(f"{one.path} is in the records, and not in {place}", hint=hint)
