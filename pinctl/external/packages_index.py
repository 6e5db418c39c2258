"""Asks the places that pip would look at for the files of a package (PEP 503, PEP 691, --find-links)."""

import os
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name

from pinctl.errors import ExternalError
from pinctl.external import pip_config
from pinctl.external.gitcli import Profile
from pinctl.external.pip_config import Place, Settings
from pinctl.external.remote import Hostile
from pinctl.external.web import Web, demand, host_of, local_path
from pinctl.upstream import simple
from pinctl.upstream.availability import Offer
from pinctl.upstream.simple import File

_PLAIN = "http is not safe"


def settings(profile: Profile) -> Settings:
    """Where packages are looked for: as the user's pip has it; in the untrusted profile on PyPI alone, or on what the
    policy has in its place. Raises UsageError."""
    return pip_config.read() if Web(profile).trusted else Settings()


def ask(place: Place, package: str, web: Web) -> Offer:
    """What `place` has of `package`. Whatever fails is in the offer."""
    try:
        shown = host_of(place.url)
        files, barred = _files(place, package, web)
    except ValueError:
        return Offer(package, "(a malformed URL)", failure="an index of pip's configuration has a malformed URL")
    except ExternalError as error:
        refused = isinstance(error, Hostile)
        return Offer(package, shown, place.is_index, failure=str(error), hint=error.hint, refused=refused)
    return Offer(package, shown, place.is_index, tuple(files), tuple(barred))


def _files(place: Place, package: str, web: Web) -> tuple[list[File], list[str]]:
    """The files, and hosts of others that the policy does not allow. Raises ExternalError, ValueError (a malformed
    URL)."""
    url = f"{place.url.rstrip('/')}/{canonicalize_name(package)}/" if place.is_index else place.url
    policy = web.profile.policy
    mirror = policy.mirror(url, "index") if policy else None
    _admit(url, web, mirrored=mirror is not None)
    asked = mirror or url
    if (path := local_path(asked)) and os.path.isdir(path):
        if not place.is_index:
            return _listed(path), []
        asked = Path(path, "index.html").as_uri()
    answer = web.get(asked, headers={"Accept": simple.ACCEPT})
    demand(answer)
    if answer.absent:
        return [], []
    try:
        files = simple.read(answer.body, answer.headers.get("Content-Type", ""), answer.url)
    except simple.PageError as error:
        raise Hostile(f"{host_of(answer.url)} sends a page that cannot be used: {error}") from error
    own = host_of(answer.url)
    barred = {host_of(file.url) for file in files if policy and policy.host_refusal(file.url)} - {own}
    return [file for file in files if host_of(file.url) not in barred], sorted(barred)


def _admit(url: str, web: Web, *, mirrored: bool) -> None:
    """Raises ExternalError for a place that the policy bars, or that, where no mirror is asked for it, pip would not
    ask either."""
    reason = None if mirrored else _unsafe(url, web)
    hint = f"pip's --trusted-host {urlsplit(url).hostname} allows it" if reason == _PLAIN and web.trusted else None
    policy = web.profile.policy
    if policy and not reason and not local_path(url):
        reason = policy.host_refusal(f"https://{host_of(url)}/")
    if reason:
        raise ExternalError(f"the index at {host_of(url)} is not asked: {reason}", hint=hint)


def _unsafe(url: str, web: Web) -> str | None:
    """What is wrong with the transport of a URL. pip takes http from this machine, and where it is told to trust."""
    parts = urlsplit(url)
    port, host = parts.port, parts.hostname or ""  # a malformed port raises
    if parts.scheme == "http":
        named = not {host, f"{host}:{port}"}.isdisjoint(web.access.insecure)
        return None if web.trusted and (named or _is_loopback(host)) else _PLAIN
    return None if parts.scheme in ("https", "file") else "it is neither an https URL nor a path"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listed(folder: str) -> list[File]:
    """The files in a folder. Raises ExternalError."""
    try:
        names = sorted(os.listdir(folder))[: simple.MOST]
    except OSError as error:
        raise ExternalError(f"{folder}: {error.strerror}") from error
    return [File(name, Path(folder, name).as_uri()) for name in names]
