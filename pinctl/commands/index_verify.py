"""`pinctl index verify`: what is wrong with an index, ours or another's, in a folder or on a server."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pinctl.commands import index_setup
from pinctl.commands.index_faults import Place, findings, plain, table
from pinctl.commands.index_setup import Setup
from pinctl.errors import ExternalError
from pinctl.external import index_files, index_pages
from pinctl.external.web import Web
from pinctl.index import judge
from pinctl.index.judge import Fault, Seen
from pinctl.index.pages import HTML_PAGE, JSON_PAGE
from pinctl.index.reading import Link, Page
from pinctl.options import Options
from pinctl.outcome import Outcome, counted


def run(
    options: Options,
    *,
    place: str,
    links: bool = False,
    fetch: bool = False,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """The faults of the index at `place`, a folder or a URL. Files that lie in the folder are read; with `links`
    servers are asked whether the others are there, and with `fetch` they are downloaded, hashed and forgotten.

    A link whose server fails is a finding, and the run ends as one that a server failed. Raises UsageError,
    ManifestError, ExternalError.
    """
    setup = index_setup.setup(options)
    remote = index_pages.is_url(place)
    asks = remote or links or fetch
    web = Web(index_setup.profile(options, setup.root, allow_transport)) if asks else None
    folder = os.path.realpath(os.path.join(options.directory, place))
    also = _address(setup)
    pages = index_pages.of_server(place, web) if remote and web else index_pages.of_folder(folder, also)
    seen = {} if remote else index_files.local(folder, _links(pages))
    if web and (links or fetch):
        source = place if remote else Path(folder).as_uri()
        seen |= _asked(pages, seen, source, web, options, fetch=fetch)
    faults = judge.pages(pages, setup.known, seen)
    files = sum(len(page.links) for page in _listing(pages))
    return Outcome(
        command="index",
        root=setup.root if remote else folder,
        findings=tuple(findings(faults, lambda fault: _place(fault, remote=remote), every=options.verbose > 0)),
        result={"files": files, "pages": len({page.path for page in pages}), "faults": plain(faults)},
        body=table(faults) if faults else None,
        summary=f"{counted(files, 'file')} on {counted(len({page.path for page in pages}), 'page')} verified",
        status=ExternalError.exit_code if any(one.failed for one in seen.values()) else None,
    )


def _address(setup: Setup) -> str | None:
    return f"{setup.layout.url.rstrip('/')}/" if setup.layout.url else None


def _links(pages: Sequence[Page]) -> list[Link]:
    return [link for page in pages for link in page.links]


def _listing(pages: Sequence[Page]) -> list[Page]:
    """One page a folder: its HTML, else its JSON."""
    return list({page.path: page for page in sorted(pages, key=lambda page: page.form == "html")}.values())


def _asked(
    pages: Sequence[Page], seen: Mapping[str, Seen], source: str, web: Web, options: Options, *, fetch: bool
) -> dict[str, Seen]:
    """What servers have for the links that were not looked at in the folder."""
    wanted = [link for link in _links(pages) if link.url not in seen and not link.url.startswith("file:")]
    urls = {link.url for link in wanted}
    with options.progress("files", len(urls)) as step:
        return index_files.remote(wanted, source, web, urls if fetch else (), step, silent=True)


def _place(fault: Fault, *, remote: bool) -> Place:
    if remote:
        return Place()
    name = JSON_PAGE if fault.form == "json" else HTML_PAGE
    return Place(f"{fault.page}/{name}".lstrip("/"), fault.line)
