"""The releases of GitHub, by its REST interface (version 2022-11-28): drafts, assets, publication.

The token is that of the environment, goes to the interface and to the server of uploads that belongs to it, and is in
no message. What broke off is looked at anew before it is tried again: an upload may have arrived.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from pinctl.errors import ExternalError, UsageError
from pinctl.external import process
from pinctl.external.gitcli import Profile
from pinctl.external.remote import PAUSES, Unreachable
from pinctl.external.web import host_of
from pinctl.publish import releases
from pinctl.publish.releases import Asset, Release
from pinctl.publish.settings import GitHub
from pinctl.urls import redact

if TYPE_CHECKING:
    import requests

TOKEN = "GH_TOKEN"  # noqa: S105 - the name of a variable

_SILENCE = (15.0, 300.0)
"""Seconds that a connection may take, and that the server may say nothing."""
_PAGE = 100
_MOST_PAGES = 100
_PIECE = 1024 * 1024


class Refused(ExternalError):
    """GitHub does not do what was asked, and would not the next time."""


def token() -> str:
    """The token of the environment. Raises UsageError."""
    found = os.environ.get(TOKEN, "")
    if not found or not found.isascii() or not found.isprintable():
        raise UsageError(f"{TOKEN} is not set, and releases need a login", hint="it needs `contents: write`")
    return found


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases of one repository."""

    where: GitHub
    profile: Profile
    token: str

    def find(self, tag: str) -> Release | None:
        """The release with the tag, be it a draft; None where there is none. Of several drafts, which a broken
        connection may have left, the oldest. Raises ExternalError."""
        found = []
        for page in range(1, _MOST_PAGES + 1):
            listed = self._ask("GET", f"/releases?per_page={_PAGE}&page={page}")
            found += [one for one in listed if isinstance(one, dict) and one.get("tag_name") == tag]
            if len(listed) < _PAGE:
                break
        made = sorted(map(self._release, found), key=lambda release: (release.draft, release.id))
        return self._with_assets(made[0]) if made else None

    def draft(self, tag: str, *, name: str, prerelease: bool) -> Release:
        """A new draft. Raises ExternalError."""
        said = {"tag_name": tag, "name": name, "draft": True, "prerelease": prerelease}
        commit = os.environ.get("GITHUB_SHA") if os.environ.get("GITHUB_REPOSITORY") == self.where.repository else None
        try:
            made = self._ask("POST", "/releases", json={**said, **({"target_commitish": commit} if commit else {})})
        except Unreachable:
            if found := self.find(tag):
                return found
            raise
        ours = self._release(made)
        first = self.find(tag)
        if first is None or first.id == ours.id:
            return ours
        self._ask("DELETE", f"/releases/{ours.id}")  # another made a draft at the same moment
        return first

    def publish(self, release: Release, *, prerelease: bool) -> None:
        """Let everyone see a draft. It does not become the repository's latest release, which may be of another
        package. Raises ExternalError."""
        said = {"draft": False, "prerelease": prerelease, "make_latest": "false"}
        self._ask("PATCH", f"/releases/{release.id}", json=said)

    def delete(self, asset: Asset) -> None:
        """Remove what is left of an upload that broke off. Raises ExternalError."""
        self._ask("DELETE", f"/releases/assets/{asset.id}")

    def send(self, release: Release, asset: Asset, content: str | bytes) -> None:
        """Upload `content`, a path or the bytes, as `asset`, and see that it is there as it was sent.

        Raises Refused where GitHub keeps something else, ExternalError.
        """
        for pause in (*PAUSES, None):
            try:
                self._demand(asset, self._upload(release, asset, content))
                return
            except Unreachable as failure:
                had = self._with_assets(release).assets.get(asset.name)
                if had is not None and had.whole:
                    self._demand(asset, had)
                    return
                if had is not None:
                    self.delete(had)
                if not failure.transient or pause is None:
                    raise
                sleep(pause)

    def _demand(self, asset: Asset, found: Asset) -> None:
        if clause := releases.differs(asset, found):
            raise Refused(f"{asset.name} {clause}", hint="delete that asset, and run this again")
        if not found.whole:
            raise Unreachable(f"{asset.name} did not arrive whole", transient=True)

    def _upload(self, release: Release, asset: Asset, content: str | bytes) -> Asset:
        sent, server = urlsplit(release.upload), urlsplit(self.where.api)
        if (
            sent.netloc not in (server.netloc, server.netloc.replace("api.", "uploads.", 1))
            or sent.scheme != server.scheme
        ):
            raise Refused(
                f"{host_of(self.where.api)} wants uploads to go to {host_of(release.upload)}, which is another"
            )
        url = f"{release.upload}?name={quote(asset.name, safe='')}"
        headers = {"Content-Type": "application/octet-stream"}
        made = self._request("POST", url, data=_pieces(asset, content), headers=headers)
        try:
            return releases.read_asset(made)
        except ValueError:
            raise Unreachable(f"{host_of(url)} answers with something else than an asset") from None

    def _with_assets(self, release: Release) -> Release:
        """The release with all its assets: the list of releases has a part of them."""
        found: dict[str, Asset] = {}
        for page in range(1, _MOST_PAGES + 1):
            listed = self._ask("GET", f"/releases/{release.id}/assets?per_page={_PAGE}&page={page}")
            found |= {asset.name: asset for asset in map(releases.read_asset, listed)}
            if len(listed) < _PAGE:
                break
        return release._replace(assets=found)

    def _release(self, said: Any) -> Release:
        try:
            return releases.read(said)
        except ValueError as error:
            raise Unreachable(f"{host_of(self.where.api)} answers with something else: {error}") from None

    def _ask(self, method: str, path: str, *, json: Mapping[str, object] | None = None) -> Any:
        """What the interface answers. Only what may be done twice is tried again. Raises ExternalError."""
        url = f"{self.where.api}/repos/{self.where.repository}{path}"
        for pause in (*PAUSES, None):
            try:
                return self._request(method, url, json=json)
            except Unreachable as failure:
                if not failure.transient or pause is None or method == "POST":
                    raise
                sleep(pause)
        raise AssertionError  # the last try returns or raises

    def _request(self, method: str, url: str, **more: Any) -> Any:
        import requests

        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json",
                   "X-GitHub-Api-Version": "2022-11-28", **more.pop("headers", {})}  # fmt: skip
        rules = self.profile.policy
        proxies = {"http": rules.proxy, "https": rules.proxy} if rules and rules.proxy else None
        verify = (rules.ca if rules else None) or True
        if process.halted():
            raise KeyboardInterrupt
        try:
            with requests.Session() as session:
                session.auth = _keep  # no .netrc takes the place of the token
                answer = session.request(method, url, headers=headers, timeout=_SILENCE, allow_redirects=False,
                                         proxies=proxies, verify=verify, **more)  # fmt: skip
        except requests.RequestException as error:
            raise Unreachable(f"{host_of(url)}: {type(error).__name__}", transient=True) from None
        return _read(answer, method, url)


def _keep(request: "requests.PreparedRequest") -> "requests.PreparedRequest":
    return request


def _read(answer: "requests.Response", method: str, url: str) -> Any:
    """The body of a success. Raises Unreachable, Refused."""
    if answer.status_code in (429, 500, 502, 503, 504):
        raise Unreachable(f"{host_of(url)} answers with status {answer.status_code}", transient=True)
    if method == "DELETE" and answer.status_code in (204, 404):
        return None
    try:
        said = answer.json()
    except ValueError:
        said = {}
    if answer.status_code not in (200, 201):
        clause = _reason(said)
        if answer.status_code == 422 and "already_exists" in clause:
            raise Unreachable(f"{host_of(url)} says that the name is taken", transient=True)
        hint = f"{TOKEN} needs `contents: write` on the repository" if answer.status_code in (401, 403, 404) else None
        raise Refused(f"{host_of(url)} answers with status {answer.status_code}{clause}", hint=hint)
    return said


def _reason(said: Any) -> str:
    if not isinstance(said, dict):
        return ""
    errors = said.get("errors")
    codes = [str(one.get("code", "")) for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    text = redact(", ".join(filter(None, (str(said.get("message", "")), *codes))))
    return f": {''.join(c for c in text if c.isprintable())[:200]}" if text else ""


def _pieces(asset: Asset, content: str | bytes) -> "bytes | _Reader":
    return content if isinstance(content, bytes) else _Reader(content, asset)


class _Reader:
    """The file at `path`, as it is sent, which must be the one that was judged."""

    def __init__(self, path: str, asset: Asset) -> None:
        self._path, self._asset = path, asset

    def __len__(self) -> int:
        return self._asset.size

    def __iter__(self) -> Iterator[bytes]:
        digest, size = hashlib.sha256(), 0
        with open(self._path, "rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
                size += len(piece)
                self._demand(size <= self._asset.size)
                if size == self._asset.size:  # the last piece goes only where the whole is right
                    self._demand(digest.hexdigest() == self._asset.sha256)
                yield piece

    def _demand(self, fits: bool) -> None:
        if not fits:
            raise ExternalError(f"{self._path} has changed since it was looked at")
