"""The target `pypi` of `publish`: PyPI, and indexes that take files by its interface."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pinctl.codes import finding
from pinctl.commands.publish_parcels import Checked, Job, Parcel, Row, Sight, by_project, holes, listed, taken
from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import publish_pypi
from pinctl.finding import Finding
from pinctl.index import pypi_rules
from pinctl.publish.clients import Wanted
from pinctl.publish.listing import Listing
from pinctl.publish.settings import PyPI
from pinctl.publish.uploads import upload
from pinctl.urls import redact


@dataclass(frozen=True, slots=True)
class ToPyPI:
    """Files are sent one by one, and each is there at once; what breaks off goes on at the first that is missing."""

    job: Job
    where: PyPI
    parcels: Sequence[Parcel]

    @property
    def place(self) -> str:
        """As `Target.place`."""
        return redact(self.where.repository)

    @property
    def wait(self) -> int:
        """As `Target.wait`."""
        return self.where.wait

    def check(self) -> Checked:
        """As `Target.check`: the rules of PyPI, and what its index has under the same names."""
        if self.job.write:
            publish_pypi.demand_twine()
        has = self._has()
        uploads = [self._upload(parcel, has.get(parcel.name.project)) for parcel in self.parcels]
        told = [finding(refusal.code, f"{refusal.filename} {refusal.what}", hint=refusal.fix)
                for refusal in pypi_rules.refusals(uploads, _today(), largest=self.where.largest)]  # fmt: skip
        if self.where.url is None:
            told.append(self._unread())
        rows = []
        for parcel in self.parcels:
            row = self._row(parcel, has.get(parcel.name.project))
            if isinstance(row, Row):
                rows.append(row)
            else:
                told.append(row)
        old = [listed(name, self.parcels[0].variant) for found in has.values() for name in found.links
               if any(parcel.name.version == _version(name) for parcel in self.parcels)]  # fmt: skip
        settled = {row.filename for row in rows if row.there}  # a release that is closed is closed for new files alone
        told = [one for one in told if one.code != "PIN725" or one.message.partition(" ")[0] not in settled]
        return Checked((*told, *holes(self.job, self.parcels, old)), tuple(rows))

    def send(self) -> None:
        """As `Target.send`. Where the answer to an upload is no success, what the index then has tells whether it
        arrived, or whether another file has its name."""
        has = self._has()
        for parcel in self.parcels:
            if not self._there(parcel, has.get(parcel.name.project)):
                try:
                    publish_pypi.send(parcel.wheel.path, parcel.sha256, self.where, self.job.profile)
                except ExternalError:
                    now = publish_pypi.has(self.where, parcel.name.project, self.job.profile)
                    if not self._there(parcel, now):
                        raise

    def sights(self) -> list[Sight]:
        """As `Target.sights`."""
        if self.where.url is None:
            return []
        return [Sight(Wanted(parcel.filename, parcel.sha256, page_set=self.where.url), parcel.name.project)
                for parcel in self.parcels]  # fmt: skip

    def _has(self) -> Mapping[str, Listing]:
        found: dict[str, Listing] = {}
        for project in by_project(self.parcels):
            one = publish_pypi.has(self.where, project, self.job.profile)
            found |= {} if one is None else {project: one}
        return found

    def _row(self, parcel: Parcel, has: Listing | None) -> Row | Finding:
        link = has.links.get(parcel.filename) if has else None
        if link is None:
            signed = ", with an attestation" if publish_pypi.attests(self.where) else ""
            return Row(parcel.filename, f"send to {self.place}{signed}")
        digest = publish_pypi.sha256(link, self.where, self.job.profile) or "none"
        if digest != parcel.sha256:
            return taken(parcel.filename, self.place, wanted=parcel.sha256, has=digest)
        return Row(parcel.filename, "is there already", there=True)

    def _there(self, parcel: Parcel, has: Listing | None) -> bool:
        """Raises WriteRefused where other bytes have the name."""
        row = self._row(parcel, has)
        if isinstance(row, Row):
            return row.there
        raise WriteRefused(row.message, hint=row.hint)

    def _upload(self, parcel: Parcel, has: Listing | None) -> pypi_rules.Upload:
        identity = parcel.wheel.identity
        opened = has.opened(parcel.filename) if has else None
        return upload(parcel.filename, identity.size, identity.metadata, variant=parcel.variant, opened=opened)

    def _unread(self) -> Finding:
        hint = "give --index-url URL, or `url` in [publish.pypi] of the policy file"
        return finding("PIN726", f"nothing says which index {self.place} fills: no name and no digest can be compared",
                       hint=hint)  # fmt: skip


def _version(filename: str) -> object:
    from pinctl.index import names

    name = names.parse(filename)
    return name.version if name else None


def _today() -> date:
    return datetime.now(UTC).date()
