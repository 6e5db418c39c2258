"""Asks a registry of container images where a tag leads (OCI distribution specification; Docker registry API v2).

Nothing of an image is fetched: HEAD of a manifest names its digest, and registries do not count it as a pull. Only
where the platforms of an image are asked for, its index is read.
"""

import hashlib
import json
import re
from urllib.parse import urlencode

from pinctl.errors import ExternalError
from pinctl.external.gitcli import Profile
from pinctl.external.remote import Hostile, Unreachable
from pinctl.external.web import Answer, Web, address, demand, host_of, onward
from pinctl.upstream.images import Image, Standing, challenge, platforms

_KINDS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_HEADERS = {"Accept": ", ".join(_KINDS), "Accept-Encoding": "identity"}
_LARGEST = 4 * 1024 * 1024
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")  # RFC 6750, section 2.1
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def ask(image: Image, profile: Profile, *, look: bool = False) -> Standing:
    """Where the tag of `image` leads, and whether its digest is still there; with `look` also the platforms that it is
    for. Whatever fails is in the answer."""
    registry = _Registry(image, profile)
    try:
        tagged = registry.digest(image.tag) if image.tag else None
        there = registry.platforms(tagged) if tagged and look else ()
        held = tagged == image.digest or registry.digest(image.digest) is not None if image.digest else None
    except ExternalError as error:
        return Standing(failure=str(error), hint=error.hint, refused=isinstance(error, Hostile))
    return Standing(tagged, held, platforms=there)


class _Registry:
    """The repository of one image, and the token that it gave."""

    def __init__(self, image: Image, profile: Profile) -> None:
        self.image, self.web = image, Web(profile)
        self._token: str | None = None

    def digest(self, reference: str) -> str | None:
        """The digest of the manifest under a tag or a digest; None where there is none. Raises ExternalError."""
        declared = f"https://{self.image.host}/v2/{self.image.name}/manifests/{reference}"
        url = address(declared, self.web.profile, "image")
        answer = self._asked(url, "HEAD")
        if answer.absent:
            return None
        found = answer.headers.get("Docker-Content-Digest")
        if found is None:  # the header is recommended, not required
            found = f"sha256:{hashlib.sha256(self._asked(url, 'GET').body).hexdigest()}"
        if not _DIGEST.fullmatch(found):
            raise Hostile(f"{host_of(url)} names a digest that is none")
        return found

    def platforms(self, digest: str) -> tuple[str, ...]:
        """The platforms that the index under `digest` names; none where it is no index. Raises ExternalError."""
        declared = f"https://{self.image.host}/v2/{self.image.name}/manifests/{digest}"
        url = address(declared, self.web.profile, "image")
        answer = self._asked(url, "GET")
        if answer.absent or f"sha256:{hashlib.sha256(answer.body).hexdigest()}" != digest:
            raise Hostile(f"{host_of(url)} gives another manifest than the one of the digest {digest}")
        try:
            return platforms(json.loads(answer.body))
        except (ValueError, RecursionError):
            raise Hostile(f"{host_of(url)} gives a manifest that is no JSON") from None

    def _asked(self, url: str, method: str) -> Answer:
        answer = self.web.get(url, method=method, headers=_HEADERS, token=self._token, limit=_LARGEST)
        if answer.status == 401 and self._token is None:
            self._token = self._given(url, answer)
            answer = self.web.get(url, method=method, headers=_HEADERS, token=self._token, limit=_LARGEST)
        if answer.status in (401, 403):
            what = f"{self.image.host} shows {self.image.name} to nobody who has not logged in, or has no such image"
            raise Unreachable(what, hint="a login in .netrc serves, in the trusted profile")
        demand(answer)
        return answer

    def _given(self, url: str, answer: Answer) -> str | None:
        """The token that a registry's token service gives to anybody; None where another login is wanted."""
        wanted = challenge(answer.headers.get("WWW-Authenticate", ""))
        if wanted is None or "realm" not in wanted:
            return None
        named = {key: wanted[key] for key in ("service", "scope") if key in wanted}
        query = {"scope": f"repository:{self.image.name}:pull"} | named
        realm = onward(url, wanted["realm"], self.web.profile)
        page = self.web.get(f"{realm}{'&' if '?' in realm else '?'}{urlencode(query)}", limit=_LARGEST)
        demand(page)
        try:
            said = json.loads(page.body)
            token = said.get("token") or said.get("access_token")
        except (ValueError, RecursionError, AttributeError):
            token = None
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise Hostile(f"{host_of(realm)} gives no token")
        return token
