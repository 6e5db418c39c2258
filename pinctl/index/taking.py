"""Taking over an index: from its pages to records, without breaking a lock file.

Every URL and every digest that was published is in the records afterwards. What a person must decide stays open: a file
with several digests has a record of each, and no page is built until `decide` has settled which one is listed. A file
on the page of another variant is copied to its own, and stays, yanked, where lock files and `==` find it (PEP 592).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pinctl.index import names, records
from pinctl.index.layout import CHANNEL, Layout, Variants
from pinctl.index.reading import Link, Page
from pinctl.index.records import Record

DEFAULT = "default"
"""The variant of a page that lies in no variant's folder."""


class Left(NamedTuple):
    """A link that no record can be made of, and why: a clause."""

    page: str
    link: Link
    clause: str


class Taken(NamedTuple):
    """`records` are all, those before included; `fresh` those that came, `moved` those of them that were copied to the
    page that their label names."""

    records: tuple[Record, ...]
    fresh: tuple[Record, ...] = ()
    moved: tuple[Record, ...] = ()
    left: tuple[Left, ...] = ()


def take(found: Iterable[Page], known: Variants, before: Sequence[Record] = (), *, hosted: bool = False) -> Taken:
    """The records of what the pages `found` list, beside those of `before`, whose decisions stand. `hosted`: files that
    lie below the root of the index come with it; else their URLs are what is kept."""
    chosen = [page for page in _best(found) if page.links]
    known = known.with_pages(page.variant for page in chosen if page.variant)
    fresh: dict[tuple[str, ...], Record] = {}
    moved: dict[tuple[str, ...], Record] = {}
    left: list[Left] = []
    for page in chosen:
        for link in page.links:
            record = _record(link, page, hosted=hosted)
            if isinstance(record, Left):
                left.append(record)
                continue
            home = _home(record, known)
            if home:
                moved.setdefault(_key(home), home)
                why = f"misfiled: a build of {home.variant}, which stands on its page"
                record = record._replace(yanked=why)
            fresh.setdefault(_key(record), record)
    moved = {key: record for key, record in moved.items() if key not in fresh}
    # A link without a digest is told by its name alone: a decision may have given its record one.
    old = {_key(record) for record in before} | {_key(record._replace(sha256=None)) for record in before}
    new = [record for key, record in (fresh | moved).items() if key not in old]
    copies = [record for key, record in moved.items() if key not in old]
    return Taken((*before, *new), tuple(new), tuple(copies), tuple(left))


def _best(found: Iterable[Page]) -> Iterator[Page]:
    """One page a folder: the HTML, which all clients read, else the JSON."""
    by_path: dict[str, dict[str, Page]] = {}
    for page in found:
        by_path.setdefault(page.path, {})[page.form] = page
    for _, forms in sorted(by_path.items()):
        html, json = forms.get("html"), forms.get("json")
        yield html if html and (html.links or json is None) else forms["json"]


def _key(record: Record) -> tuple[str, ...]:
    return record.filename, record.channel, record.variant, record.sha256 or ""


def _record(link: Link, page: Page, *, hosted: bool) -> Record | Left:
    if names.parse(link.filename) is None:
        return Left(page.path, link, "names no wheel and no source distribution")
    url = link.inside if hosted and link.inside else names.escaped(link.url)
    if clause := records.url_problem(url):
        return Left(page.path, link, f"has a URL that cannot be kept: {clause}")
    metadata = link.metadata or link.old or ""
    return Record(
        filename=link.filename,
        channel=_folder(page.channel) or CHANNEL,
        variant=_folder(page.variant) or DEFAULT,
        sha256=link.sha256 if link.sha256 and names.SHA256.fullmatch(link.sha256) else None,
        url=url,
        size=link.size,
        requires_python=_text(link.requires_python),
        metadata=metadata if names.SHA256.fullmatch(metadata) else None,
        uploaded=link.uploaded if link.uploaded and records.is_time(link.uploaded) else None,
        yanked=_text(link.yanked),
    )


def _folder(name: str) -> str:
    """`name` as a folder: `CU_12` is `cu-12`."""
    return "-".join(filter(None, re.sub(r"[^a-z0-9.]", "-", name.lower()).strip("-.").split("-")))


def _text(value: str | None) -> str | None:
    return None if value is None else "".join(c for c in value if c.isprintable())[: records.LONGEST]


def _home(record: Record, known: Variants) -> Record | None:
    """The record on the page that the label names, of a file that stands on another's."""
    part = known.foreign(record.name.label, record.variant) if record.yanked is None else None
    return None if part is None else record._replace(variant=known.home(part))


def layouts(found: Iterable[Page]) -> Mapping[str, str]:
    """The folders of the pages as `layout` of pins.toml says them: channel to template. An index that has them at its
    root keeps them there."""
    made: dict[str, str] = {}
    for page in found:
        if page.links and "/" in page.path:
            above = page.path.rpartition("/")[0].rpartition("/")[0]
            made.setdefault(_folder(page.channel) or CHANNEL, f"{above}/{{variant}}/".lstrip("/"))
    return made


def fits(layout: Layout, wanted: Mapping[str, str], variants: Collection[str]) -> bool:
    """Whether `layout` puts the pages of `variants` where `wanted` has them."""
    return all(
        layout.folder(channel, variant) == template.replace("{variant}", variant).strip("/")
        for channel, template in wanted.items()
        for variant in variants
    )
