"""The target `index` of `publish`: the whole static index, made anew of its records, in the place of the one there."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from random import uniform
from time import monotonic, sleep
from typing import NamedTuple

from pinctl.commands import index_build
from pinctl.commands.index_build import Adding
from pinctl.commands.index_faults import Place, findings
from pinctl.commands.publish_parcels import Checked, Job, Parcel, Row, Sight, holes
from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import publish_branch, publish_shelf
from pinctl.external.index_tree import Hosted
from pinctl.external.publish_shelf import Shelf
from pinctl.finding import Finding, failed
from pinctl.index import ledger, names, records
from pinctl.index.judge import Fault
from pinctl.index.records import Record
from pinctl.publish import joining, releases
from pinctl.publish.clients import Wanted
from pinctl.publish.settings import GitHub, Index

_PATIENCE = 900.0
"""Seconds in which others may be first, again and again."""
_LONGEST = 5.0
"""Seconds between two tries, at most."""


class _Made(NamedTuple):
    """An index that could take the place of the one that is there; `fresh` are the names of files that it adds."""

    records: list[Record]
    fresh: set[str]
    findings: list[Finding]
    pages: dict[str, bytes]
    hosted: list[Hosted]


@dataclass(frozen=True, slots=True)
class ToIndex:
    """`releases` is where the wheels themselves lie; None: in the index."""

    job: Job
    where: Index
    parcels: Sequence[Parcel]
    releases: GitHub | None = None

    @property
    def place(self) -> str:
        """As `Target.place`."""
        return self.where.place

    @property
    def wait(self) -> int:
        """As `Target.wait`."""
        return self.where.wait

    def check(self) -> Checked:
        """As `Target.check`: the index is made, and thrown away."""
        with self._shelf(writing=False) as shelf:
            made = self._made(shelf)
            more = (shelf.records or b"") != records.dump(made.records).encode()
        rows = [Row(parcel.filename, self._what(parcel) if parcel.filename in made.fresh else "is there already",
                    there=parcel.filename not in made.fresh) for parcel in self.parcels]  # fmt: skip
        return Checked(tuple(made.findings), tuple(rows), more)

    def send(self) -> None:
        """As `Target.send`: where another was first, the index is made anew of what is there then."""
        end, pause = monotonic() + _PATIENCE, 0.05
        while True:
            with self._shelf(writing=True) as shelf:
                made = self._made(shelf)
                if failed(made.findings):
                    first = next(one for one in made.findings if failed([one]))
                    raise WriteRefused(first.message, hint=first.hint)
                if shelf.put(made.pages, made.hosted):
                    self._remember(made.records)
                    return
            if monotonic() > end:
                raise ExternalError(f"others published to {self.place} first, each time", hint="run this again")
            sleep(uniform(pause / 2, pause))  # noqa: S311 - so that those who wait do not meet again
            pause = min(pause * 2, _LONGEST)

    def sights(self) -> list[Sight]:
        """As `Target.sights`."""
        if self.where.url is None:
            return []
        folder = self.job.setup.layout.folder
        return [Sight(Wanted(parcel.filename, parcel.sha256,
                             page_set=f"{self.where.url}{folder(self.job.channel, parcel.variant)}/"),
                      parcel.name.project) for parcel in self.parcels]  # fmt: skip

    @contextmanager
    def _shelf(self, *, writing: bool) -> Iterator[Shelf]:
        where, profile = self.where, self.job.profile
        if where.folder:
            path = os.path.join(self.job.options.directory, where.folder)
            with publish_shelf.folder(path, writing=writing) as folder:
                yield folder
        elif where.repository:
            message = f"Publish {', '.join(sorted(parcel.filename for parcel in self.parcels)[:5])}"
            with publish_branch.branch(where.repository, where.branch, profile, message) as branch:
                yield branch
        else:
            with publish_shelf.store(where, profile, writing=writing) as store:
                yield store

    def _made(self, shelf: Shelf) -> _Made:
        """The index with the parcels in it. Raises WriteRefused, PinctlError."""
        setup = self.job.setup
        published = _read(shelf, self.place)
        before = joining.join(published, setup.load(), seed=not shelf.filled)
        publish_shelf.demand_known(shelf, before, self.place)
        all_, faults = before, list[Fault]()
        fresh = {parcel.filename for parcel in self.parcels} - {record.filename for record in published}
        for parcel in self.parcels:
            all_, more, refused = index_build.added(all_, [parcel.wheel], self._adding(parcel), setup)
            fresh, faults = fresh | {record.filename for record in more}, faults + refused
        faults += [one for one in ledger.problems(all_, setup.layout, setup.known) if one.code != "PIN712"]
        told = findings(faults, lambda _: Place(), every=self.job.options.verbose > 0)
        told += holes(self.job, self.parcels, [one for one in all_ if one.channel == self.job.channel])
        if failed(told):
            return _Made(all_, fresh, told, {}, [])
        pages = index_build.pages_of(all_, setup) | {records.FILE: records.dump(all_).encode()}
        hosted = index_build.hosted_of(all_, [parcel.wheel for parcel in self.parcels], ())
        publish_shelf.demand_files(shelf, hosted, self.place)
        return _Made(all_, fresh, told, pages, hosted)

    def _adding(self, parcel: Parcel) -> Adding:
        url = None
        if self.releases is not None:
            url = releases.address(self.releases, parcel.filename).removesuffix(f"/{names.in_url(parcel.filename)}")
        return Adding((parcel.wheel.path,), self.job.channel, parcel.variant or None, url, self.releases is not None,
                      _now())  # fmt: skip

    def _what(self, parcel: Parcel) -> str:
        page = self.job.setup.layout.folder(self.job.channel, parcel.variant)
        file = "a link to its release" if self.releases else "the file"
        return f"{file} and a line on {page}/{parcel.name.project} of {self.place}"

    def _remember(self, published: Sequence[Record]) -> None:
        """Where the checkout has records, let them have those of these files, too: its images are pinned by them."""
        if not os.path.exists(self.job.setup.path):
            return
        sent = {parcel.filename for parcel in self.parcels}
        with self.job.setup.locked():
            ours = self.job.setup.load()
            new = joining.join([one for one in published if one.filename in sent], ours, seed=True)
            if set(map(records.line, new)) != set(map(records.line, ours)):
                self.job.setup.save(new)


def _read(shelf: Shelf, place: str) -> list[Record]:
    """The records that are published. Raises WriteRefused where a line is none."""
    try:
        found, broken = records.load((shelf.records or b"").decode("utf-8"))
    except UnicodeDecodeError as error:
        raise WriteRefused(f"the records at {place} are not UTF-8 (byte {error.start})") from error
    if broken:
        raise WriteRefused(f"the records at {place} cannot be read: line {broken[0].line} {broken[0].clause}")
    return found


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
