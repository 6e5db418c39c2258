"""What was published, seen from outside: by a plain HTTP client, by pip and by uv, as strangers to the target."""

from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands.index_faults import Place, findings
from pinctl.commands.publish_parcels import Job, Sight, Target
from pinctl.errors import PinctlError
from pinctl.external import index_files, index_pages, publish_clients
from pinctl.external.parallel import each
from pinctl.external.web import Web, demand
from pinctl.finding import Finding, failed
from pinctl.index import judge, reading
from pinctl.index.judge import Seen
from pinctl.index.reading import Link, Page
from pinctl.publish.clients import Wanted

_PAUSE = 5.0
"""Seconds between looks at a page that does not show everything yet."""
_AT_ONCE = 2
"""Clients that run at once: each downloads a whole wheel."""


class Looked(NamedTuple):
    """What was seen of a target: what is wrong, and by whom each file was installed, by name."""

    findings: tuple[Finding, ...] = ()
    installed: Mapping[str, tuple[str, ...]] = {}


def look(job: Job, target: Target, *, wait: float, every_link: bool) -> Looked:
    """Each file of `target` is found on its page or at its link, downloaded, hashed, and installed by pip and by uv
    where they are here; with `every_link` the other files of its page are asked for, too. A page has `wait` seconds to
    show what was sent. Raises PinctlError."""
    sights = target.sights()
    web = Web(job.profile)
    told: list[Finding] = []
    pages = _shown(sights, web, wait)
    for page_set, found in pages.items():
        told += _of_pages(job, found, page_set, web, {sight.wanted.filename for sight in sights}, every_link=every_link)
    for sight in sights:
        clause = _missing(sight.wanted, pages) if sight.wanted.page_set else _of_link(sight.wanted, web)
        told += [_unseen(sight.wanted.filename, clause)] if clause else []
    installed, more = ({}, []) if failed(told) else _installed(job, [sight.wanted for sight in sights])
    return Looked((*told, *more), installed)


def _shown(sights: Sequence[Sight], web: Web, wait: float) -> dict[str, list[Page]]:
    """The page of each project, by its page set, as soon as it shows what was sent, or after `wait` seconds."""
    end = monotonic() + wait
    while True:
        pages: dict[str, list[Page]] = {}
        for page_set, project in dict.fromkeys((one.wanted.page_set, one.project) for one in sights):
            if page_set:
                pages.setdefault(page_set, []).append(_page(page_set, project, web))
        missing = [one for one in sights if one.wanted.page_set and _missing(one.wanted, pages)]
        if not missing or monotonic() + _PAUSE > end:
            return pages
        sleep(_PAUSE)


def _page(page_set: str, project: str, web: Web) -> Page:
    root = index_pages.admit(page_set, web)
    headers = {"Accept": index_pages.ACCEPT, "Cache-Control": "no-cache"}
    answer = web.get(f"{root}{project}/", headers=headers)
    demand(answer)
    if answer.absent:
        return Page(project)
    return reading.read(answer.body, answer.headers.get("Content-Type", ""), project, root)


def _missing(wanted: Wanted, pages: Mapping[str, Sequence[Page]]) -> str | None:
    """Why a file is not on its page as it was sent, as a clause."""
    links = [link for page in pages.get(wanted.page_set or "", ()) for link in page.links
             if link.filename == wanted.filename]  # fmt: skip
    if not links:
        return f"is not on its page below {wanted.page_set}"
    if other := next((link for link in links if link.sha256 not in (None, wanted.sha256)), None):
        return f"has the digest {wanted.sha256[:12]}, and its page says {str(other.sha256)[:12]}"
    return None


def _of_pages(
    job: Job, pages: Sequence[Page], page_set: str, web: Web, ours: set[str], *, every_link: bool
) -> list[Finding]:
    """What is wrong with the pages as a plain client reads them."""
    links = [link for page in pages for link in page.links if every_link or link.filename in ours]
    download = {link.url for link in links if link.filename in ours}
    with job.options.progress("links", len(links)) as step:
        seen = index_files.remote(links, page_set, web, download, step)
    looked = [page._replace(links=tuple(link for link in page.links if link.url in seen)) for page in pages]
    faults = [fault for fault in judge.pages(looked, job.setup.known, seen) if fault.code != "PIN712"]
    told = findings(faults, lambda _: Place(), every=job.options.verbose > 0)
    return told if every_link else [one for one in told if failed([one])]  # how another's index is made is not ours


def _of_link(wanted: Wanted, web: Web) -> str | None:
    """Why the URL of a file does not give it, as a clause."""
    url = str(wanted.link)
    seen = index_files.remote([Link(url, url, wanted.filename, wanted.filename)], url, web, {url}).get(url, Seen())
    if not seen.there:
        return f"is not there: {url}"
    return None if seen.sha256 == wanted.sha256 else f"is another file at {url}: its digest is {str(seen.sha256)[:12]}"


def _unseen(filename: str, clause: str) -> Finding:
    return finding("PIN728", f"{filename} {clause}", hint="run this again, with --verify instead of --yes")


def _installed(job: Job, wanted: Sequence[Wanted]) -> tuple[dict[str, tuple[str, ...]], list[Finding]]:
    """By which clients each file was installed, and what those that failed say."""
    tries = [(one, client) for one in wanted for client in publish_clients.there()]
    with job.options.progress("install", len(tries)) as step:
        done = each(tries, lambda pair: publish_clients.install(pair[1], pair[0], job.profile), step, most=_AT_ONCE)
    installed = {one.filename: tuple(client for (other, client), said in zip(tries, done, strict=True)
                                     if other is one and said is None) for one in wanted}  # fmt: skip
    told = []
    for (one, _), said in zip(tries, done, strict=True):
        if isinstance(said, PinctlError) and not isinstance(said, publish_clients.NotTried):
            raise said
        told += [_unseen(one.filename, said)] if isinstance(said, str) else []
    return installed, told
