"""What is wrong with the pages of an index: faults, each with the code of its finding. See docs/index.md."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from pinctl.finding import Severity
from pinctl.index import names
from pinctl.index.layout import Variants
from pinctl.index.matrix import Hole, projects
from pinctl.index.reading import Link, Page
from pinctl.index.records import Record
from pinctl.model import NOTHING
from pinctl.outcome import counted

_SHOWN = 12
"""Digits of a digest that a message shows."""


class Fault(NamedTuple):
    """`page` is the folder of the page; `what` a clause that goes on after the file's name ("has no digest"), `fix`
    mends it; `line` 0 where there is none; `severity` where it is not the one of its code."""

    code: str
    page: str
    filename: str
    what: str
    fix: str = ""
    line: int = 0
    form: str = "html"
    severity: Severity | None = None


class Seen(NamedTuple):
    """What asking for a file gave; None: it was not asked for, or could not be said.

    `sha256` and `size` of its bytes, `sidecar` the digest of what lies at `.metadata` ("" for nothing), `inner` that of
    the METADATA in the wheel; `barred` why its URL may not be asked, `failed` why its server could not.
    """

    there: bool | None = None
    sha256: str | None = None
    size: int | None = None
    sidecar: str | None = None
    inner: str | None = None
    barred: str | None = None
    failed: str | None = None


def pages(found: Sequence[Page], known: Variants, seen: Mapping[str, Seen] = NOTHING) -> list[Fault]:
    """The faults of the pages `found`, page by page; `seen` is by URL."""
    known = known.with_pages(page.variant for page in found if page.links and page.variant)
    main = _main(found)
    faults = [fault for page in main for fault in _page(page, known, seen)]
    faults += _disagreements(found)
    links = ((page.path, link) for page in main for link in page.links)
    faults += namesakes(Sight(path, link.filename, link.sha256, link.line) for path, link in links)
    faults += _holes(main, known)
    return faults


def _main(found: Sequence[Page]) -> list[Page]:
    """The pages without those in JSON that have HTML beside them: of these it is told whether they say the same."""
    html = {page.path for page in found if page.form == "html"}
    return [page for page in found if page.form == "html" or page.path not in html]


def _page(page: Page, known: Variants, seen: Mapping[str, Seen]) -> Iterator[Fault]:
    for clause in page.odd:
        yield Fault("PIN713", page.path, "", clause, form=page.form)
    if page.links and page.path and not names.is_project(page.project):
        fix = "name the folder as PEP 503 normalizes it: lower case, with `-`"
        yield Fault("PIN709", page.path, "", f"lies in a folder {page.project!r}, which no client asks for", fix)
    by_name: dict[str, list[Link]] = {}
    for link in page.links:
        by_name.setdefault(link.filename, []).append(link)
        for code, what, fix in (*_name(link, page), *_beside(link), *_label(link, page, known),
                                *_bytes(link, seen.get(link.url, Seen()))):  # fmt: skip
            yield Fault(code, page.path, link.filename, what, fix, link.line, page.form)
    for filename, links in by_name.items():
        if len(links) > 1:
            yield _twins(filename, links, page, seen)


Told = tuple[str, str, str]
"""Code, clause, fix."""


def _name(link: Link, page: Page) -> Iterator[Told]:
    if clause := names.problem(link.filename):
        yield "PIN709", clause, ""
    if link.text != link.filename:
        yield "PIN709", f"is shown as {link.text[:80]!r}", "let the link's text be the name of the file"
    name = names.parse(link.filename)
    if name and page.path and name.project != page.project:
        yield "PIN709", f"is of {name.project}, and stands on the page of {page.project}", "move it to its page"
    if "+" in urlsplit(link.href).path:
        yield "PIN706", "has a bare `+` in its link, which object stores read as a space", "write %2B"


def _beside(link: Link) -> Iterator[Told]:
    if link.sha256 is None:
        other = " of sha256, and one of another algorithm" if link.other else ""
        yield "PIN704", f"has no digest{other}", "add #sha256=... to the link"
    elif not names.SHA256.fullmatch(link.sha256):
        yield "PIN704", f"has a sha256 that is none: {link.sha256[:70]!r}", "write its 64 digits in lower case"
    if link.metadata is None and link.old is None:
        if link.filename.endswith(".whl"):
            alone = "" if link.requires_python else " and no requires-python"
            yield "PIN714", f"has no metadata beside it{alone}", "publish it anew with its .metadata"
    elif link.metadata != link.old:
        both = "data-core-metadata and data-dist-info-metadata"
        yield "PIN708", f"has {both} that are not alike", "write both, with one digest (PEP 714)"
    elif not link.metadata:
        yield "PIN708", "has metadata without a digest", "write sha256=..."


def _label(link: Link, page: Page, known: Variants) -> Iterator[Told]:
    name = names.parse(link.filename)
    part = known.foreign(name.label, page.variant) if name and link.yanked is None else None
    if part is not None:
        home = known.home(part)
        what = f"has the label {part} of {home}, and stands on the page of {page.variant}"
        yield "PIN703", what, f"move it to {home}"


def _bytes(link: Link, seen: Seen) -> Iterator[Told]:
    if seen.barred:
        yield "PIN713", f"has a link that is not followed: {seen.barred}", ""
    if seen.failed:
        yield "PIN707", f"cannot be had: {seen.failed}", "run this again; or withdraw the file"
    if seen.there is False:
        yield "PIN707", "is not there: its link is dead", "publish the file, or withdraw it"
    if seen.sha256 and link.sha256 and seen.sha256 != link.sha256:
        yield "PIN711", f"has the digest {_short(link.sha256)}, and its URL gives {_short(seen.sha256)}", ""
    if seen.size is not None and link.size is not None and seen.size != link.size:
        yield "PIN711", f"is said to have {link.size} bytes, and its URL gives {seen.size}", ""
    digest = link.metadata or link.old
    if digest is not None and seen.sidecar == "":
        yield "PIN708", "has no file at .metadata, which its page promises: clients fail", "publish the sidecar"
    elif digest and seen.sidecar and seen.sidecar != digest:
        yield "PIN708", f"has a .metadata of the digest {_short(seen.sidecar)}; its page says {_short(digest)}", ""
    if digest and seen.inner and seen.inner != digest:
        yield "PIN708", "has another METADATA inside than its page says", "publish the sidecar of these very bytes"


def _twins(filename: str, links: Sequence[Link], page: Page, seen: Mapping[str, Seen]) -> Fault:
    """Several links of one name: pip takes the last of them, uv the first."""
    digests = list(dict.fromkeys(link.sha256 or "none" for link in links))
    if len(digests) == 1:
        what = f"stands {len(links)} times on its page"
        return Fault("PIN705", page.path, filename, what, "leave one", links[-1].line, page.form)
    real = {found for link in links if (found := seen.get(link.url, Seen()).sha256)}
    true = "" if not real else f"; its URL gives {', '.join(map(_short, sorted(real)))}"
    what = f"has {counted(len(digests), 'digest')} ({', '.join(map(_short, digests))}){true}"
    fix = f"leave the one of {min(real)}" if real else "pinctl index verify --fetch says which one the URL gives"
    return Fault("PIN702", page.path, filename, what, fix, links[-1].line, page.form)


def decide(filename: str, real: Iterable[str] = ()) -> str:
    """The command that settles which of several digests of a file is right."""
    return f"pinctl index decide {filename} --sha256 {next(iter(real), 'DIGEST')} --reason WHY"


def _short(digest: str) -> str:
    return digest[:_SHOWN]


def _disagreements(found: Iterable[Page]) -> Iterator[Fault]:
    """Where the HTML and the JSON of one folder say different things."""
    forms: dict[str, dict[str, Page]] = {}
    for page in found:
        forms.setdefault(page.path, {})[page.form] = page
    for path, both in forms.items():
        if len(both) > 1:
            html, json = ({_said(link) for link in both[form].links} for form in ("html", "json"))
            for name in sorted({said[0] for said in html ^ json}):
                what = "is not the same in the HTML and in the JSON of its page"
                yield Fault("PIN710", path, name, what, "build the index anew")


def _said(link: Link) -> tuple[str, ...]:
    """What both forms of a page say of a file."""
    said = (link.filename, link.sha256, link.metadata, link.requires_python, link.yanked)
    return tuple("-" if value is None else value for value in said)


class Sight(NamedTuple):
    """A file somewhere: on the page `page`, at `line`."""

    page: str
    filename: str
    sha256: str | None
    line: int = 0


def namesakes(sights: Iterable[Sight]) -> Iterator[Fault]:
    """Files of one name and other bytes on several pages."""
    first: dict[str, Sight] = {}
    told = set()
    for sight in sights:
        if sight.sha256 is None or sight.filename in told:
            continue
        other = first.setdefault(sight.filename, sight)
        if other.sha256 and other.page != sight.page and other.sha256 != sight.sha256:
            told.add(sight.filename)
            digests = f"{_short(sight.sha256)}, {_short(other.sha256)}"
            what = f"is another file than the one of this name on {other.page} ({digests})"
            yield Fault("PIN715", sight.page, sight.filename, what, "give each build a version of its own", sight.line)


def holes(listed: Iterable[Record], known: Variants, page: Callable[[Hole], str]) -> Iterator[Fault]:
    """The holes of the matrix; `page` is the folder of the page that has one."""
    for project in projects(listed):
        for hole in project.holes(known):
            what = f"{hole.project} {hole.version} is missing for {', '.join(hole.missing)}"
            yield Fault("PIN712", page(hole), "", what, "build and publish what is missing")


def _holes(found: Iterable[Page], known: Variants) -> Iterator[Fault]:
    at: dict[tuple[str, str, str], str] = {}
    listed = []
    for page in found:
        if not page.variant:
            continue
        at[page.channel, page.variant, page.project] = page.path
        listed += [
            Record(link.filename, page.channel, page.variant, None, link.url, yanked=link.yanked)
            for link in page.links
            if (name := names.parse(link.filename))
            and name.project == page.project
            and known.foreign(name.label, page.variant) is None
        ]
    yield from holes(listed, known, lambda hole: at[hole.channel, hole.variant, hole.project])
