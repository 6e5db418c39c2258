"""Brings the pages of an index: of a folder, or of a server, from its root down and never out of it."""

import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from pinctl.errors import ExternalError, PinctlError, UsageError
from pinctl.external import files
from pinctl.external.parallel import each
from pinctl.external.web import PAGE, Web, demand, host_of
from pinctl.index import reading
from pinctl.index.reading import Page
from pinctl.upstream.simple import JSON
from pinctl.urls import check_url, redact

ACCEPT = "application/vnd.pypi.simple.v1+html, text/html;q=0.9, application/vnd.pypi.simple.v1+json;q=0.1"
"""HTML is what a static index has, and what all clients read."""

_MOST_PAGES = 5_000
_DEEPEST = 6
_KINDS = {"index.html": "text/html", "index.v1_html": "text/html", "index.v1_json": JSON, "index.json": JSON}
"""What a page of a folder may be called. The first of a form counts."""


def is_url(place: str) -> bool:
    return "://" in place


def of_folder(folder: str, also: str | None = None) -> list[Page]:
    """The pages below `folder`, sorted by their paths; links that lead to the URL `also`, where the index is to lie,
    are of the folder too. Links of the file system are not followed. Raises UsageError, ExternalError."""
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        raise UsageError(f"{folder}: no such folder")
    try:
        found = {path for path in files.walk(root) if path.rpartition("/")[2] in _KINDS}
    except files.Unreadable as error:
        raise ExternalError(f"{folder} {error.reason}") from error
    if len(found) > 4 * _MOST_PAGES:
        raise ExternalError(f"{folder} has more than {_MOST_PAGES} pages")
    url = f"{Path(root).as_uri()}/"
    pages: dict[tuple[str, str], Page] = {}
    for path in sorted(found, key=lambda path: (path.rpartition("/")[0], list(_KINDS).index(path.rpartition("/")[2]))):
        page = _local(root, path, url, also)
        pages.setdefault((page.path, page.form), page)
    return list(pages.values())


def _local(root: str, path: str, url: str, also: str | None) -> Page:
    where, _, name = path.rpartition("/")
    try:
        body = files.read_site(root, path, PAGE)
    except files.Unreadable as error:
        return Page(where, odd=(f"it {error.reason}",), form="json" if _KINDS[name] == JSON else "html")
    return reading.read(body, _KINDS[name], where, url, also)


def admit(url: str, web: Web) -> str:
    """`url` as the root of an index, with a `/` at its end. Raises ExternalError for one that may not be asked."""
    if reason := _reason(url, web):
        raise ExternalError(f"the index {redact(url)} is not asked: {reason}")
    return f"{url.removesuffix('index.html').rstrip('/')}/"


def _reason(url: str, web: Web) -> str | None:
    if reason := check_url(url, transports=("https", "http")):
        return reason
    parts = urlsplit(url)
    if parts.scheme == "http" and "http" not in web.profile.transports and not _is_loopback(parts.hostname):
        return "http is not safe; --allow-transport http allows it"
    if parts.query or parts.fragment:
        return "it has a query or a fragment"
    return web.profile.policy.host_refusal(url) if web.profile.policy else None


def _is_loopback(host: str | None) -> bool:
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return host == "localhost"


def of_server(url: str, web: Web) -> list[Page]:
    """The pages of the index at `url`, sorted by their paths: its root, and those that lie below it and that a page
    leads to. Raises ExternalError where one cannot be had."""
    root = admit(url, web)
    found: dict[str, Page] = {}
    wanted: Sequence[str] = ("",)
    for _ in range(_DEEPEST):
        answers = each(wanted, lambda path: _asked(root, path, web))
        for path, page in zip(wanted, answers, strict=True):
            if isinstance(page, PinctlError):
                raise page
            found[path] = page
        below = dict.fromkeys(folder for path in wanted for folder in found[path].folders)
        wanted = [path for path in below if path not in found]
        if len(found) + len(wanted) > _MOST_PAGES:
            raise ExternalError(f"{host_of(url)} has an index of more than {_MOST_PAGES} pages")
        if not wanted:
            return [found[path] for path in sorted(found)]
    raise ExternalError(f"{host_of(url)} has an index of more than {_DEEPEST} folders in each other")


def _asked(root: str, path: str, web: Web) -> Page:
    answer = web.get(f"{root}{path}/" if path else root, headers={"Accept": ACCEPT})
    demand(answer)
    if answer.absent:
        if not path:
            raise ExternalError(f"there is no index at {redact(root)}")
        return Page(path, odd=("a page leads to it, and it is not there",))
    return reading.read(answer.body, answer.headers.get("Content-Type", ""), path, root)
