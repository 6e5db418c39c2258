"""The target `github` of `publish`: the assets of releases, one release for each version of a package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands.publish_parcels import Checked, Job, Parcel, Row, Sight, holes, listed
from pinctl.errors import UsageError, WriteRefused
from pinctl.external import github
from pinctl.external.github import Releases
from pinctl.index import names
from pinctl.publish import releases
from pinctl.publish.clients import Wanted
from pinctl.publish.releases import SIDECAR, Asset, Release, Work
from pinctl.publish.settings import GitHub


class _Content(NamedTuple):
    """An asset, and where its bytes are: a path, or the bytes themselves."""

    asset: Asset
    source: str | bytes


@dataclass(frozen=True, slots=True)
class ToGitHub:
    """Drafts are filled and compared, all of them, before the first is published."""

    job: Job
    where: GitHub
    parcels: Sequence[Parcel]

    @property
    def place(self) -> str:
        """As `Target.place`."""
        return f"{self.where.web}/{self.where.repository}"

    @property
    def wait(self) -> int:
        """As `Target.wait`."""
        return self.where.wait

    def check(self) -> Checked:
        """As `Target.check`. Without a token what is there is not known, and a dry run says so."""
        try:
            client = self._client()
        except UsageError:
            if self.job.write:
                raise
            client = None
        told, rows, old = [], [], set[str]()
        for tag, contents in self._by_tag().items():
            found = client.find(tag) if client else None
            work = _work(contents, found)
            told += [finding(code, f"{name} {clause}", hint="give the new build a version of its own")
                     for name, (code, clause) in work.refused.items()]  # fmt: skip
            old |= {name for name in (found.assets if found else {}) if names.parse(name)}
            rows += [_row(one.asset.name, tag, work, known=client is not None) for one in contents
                     if one.asset.name not in work.refused and not one.asset.name.endswith(SIDECAR)]  # fmt: skip
        there = [listed(name, self._variant(name)) for name in old]
        return Checked((*told, *holes(self.job, self.parcels, there)), tuple(rows))

    def send(self) -> None:
        """As `Target.send`."""
        client = self._client()
        ready = [self._filled(client, tag, contents) for tag, contents in self._by_tag().items()]
        for release, contents in ready:
            if release.draft:
                client.publish(release, prerelease=_early(contents))

    def sights(self) -> list[Sight]:
        """As `Target.sights`."""
        return [Sight(Wanted(parcel.filename, parcel.sha256, link=releases.address(self.where, parcel.filename)),
                      parcel.name.project) for parcel in self.parcels]  # fmt: skip

    def _filled(self, client: Releases, tag: str, contents: Sequence[_Content]) -> tuple[Release, Sequence[_Content]]:
        """The release of `tag` with all its assets sent, or found. Raises WriteRefused, ExternalError."""
        release = client.find(tag) or client.draft(tag, name=tag, prerelease=_early(contents))
        work = _work(contents, release)
        if work.refused:
            name, (_, clause) = next(iter(work.refused.items()))
            raise WriteRefused(f"{name} {clause}", hint="give the new build a version of its own")
        for asset in work.delete:
            client.delete(asset)
        sources = {one.asset.name: one.source for one in contents}
        with self.job.options.progress(tag, len(work.send)) as step:
            for asset in work.send:
                client.send(release, asset, sources[asset.name])
                step(1)
        return release, contents

    def _client(self) -> Releases:
        return Releases(self.where, self.job.profile, github.token())

    def _by_tag(self) -> Mapping[str, list[_Content]]:
        """What each release is to have, METADATA before wheels."""
        found: dict[str, list[_Content]] = {}
        for parcel in self.parcels:
            identity = parcel.wheel.identity
            sidecar = Asset(f"{parcel.filename}{SIDECAR}", len(identity.metadata), parcel.wheel.metadata_sha256)
            found.setdefault(releases.of_file(parcel.filename), []).extend((
                _Content(sidecar, identity.metadata),
                _Content(Asset(parcel.filename, identity.size, identity.sha256), parcel.wheel.path),
            ))  # fmt: skip
        return found

    def _variant(self, filename: str) -> str:
        """Whose a file is that the release has: an unlabelled one may be of any of ours."""
        known = self.job.setup.known
        return known.of_label(names.known(filename).label) or self.parcels[0].variant


def _work(contents: Sequence[_Content], found: Release | None) -> Work:
    return releases.work([one.asset for one in contents], found.assets if found else {})


def _row(filename: str, tag: str, work: Work, *, known: bool) -> Row:
    if filename in work.kept:
        return Row(filename, f"is in the release {tag} already", there=True)
    unsure = "" if known else f" ({github.TOKEN} is not set: what it has is not known)"
    return Row(filename, f"add to the release {tag}{unsure}")


def _early(contents: Sequence[_Content]) -> bool:
    return releases.is_prerelease(one.asset.name.removesuffix(SIDECAR) for one in contents)
