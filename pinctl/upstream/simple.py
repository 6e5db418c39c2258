"""Pages of package indexes, read: PEP 503 (HTML) and PEP 691 (JSON), and the plain pages of pip's --find-links.

HTML is scanned with RE2, in linear time: Python's html.parser, and what stands on it, takes minutes for 100 KB of tags
that are never closed, and a page may have 16 MiB. Nothing is believed of a page but names, links and what PEP 592 and
PEP 345 say beside them; what cannot be read is left out, as pip does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import unescape
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

JSON = "application/vnd.pypi.simple.v1+json"
ACCEPT = f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
"""The Accept header of PEP 691: JSON where the index has it."""
MOST = 100_000
"""Files that a page may have."""

_HTML = ("text/html", "application/vnd.pypi.simple.v1+html")
_LONGEST = 200
"""Characters of a reason, and of a version, that are kept."""
_LONGEST_TAG = 16 * 1024
"""Bytes of a tag that is looked at."""
_LONGEST_TEXT = 1024
"""Bytes of the text behind it."""
_SDISTS = (".tar.gz", ".zip")


class PageError(Exception):
    """What was sent is no page of an index; the message is a clause: "it is text/plain"."""


class File(NamedTuple):
    """A file that a page offers. `yanked` is the reason, "" without one, and None where it is not yanked."""

    name: str
    url: str
    sha256: str | None = None
    yanked: str | None = None
    requires_python: str | None = None


class Anchor(NamedTuple):
    """A link of an HTML page: `address` is what it leads to on that page, `href` and `text` as they are written
    (unescaped), `offset` where its tag begins."""

    address: str
    href: str
    text: str
    attributes: Mapping[str, str]
    offset: int


class Release(NamedTuple):
    """A file of one version; `tags` of a wheel, none of a source distribution."""

    file: File
    version: Version
    tags: frozenset[Tag] = frozenset()


def read(body: bytes, content_type: str, url: str) -> list[File]:
    """The files that the page at `url` offers, in its order. Raises PageError."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind != JSON and kind not in _HTML:
        raise PageError(f"it is {kind[:80] or 'of no type'}, and no page of an index")
    files = list(islice(_json(body, url) if kind == JSON else _html(body, url), MOST + 1))
    if len(files) > MOST:
        raise PageError(f"it has more than {MOST} files")
    return files


def releases(files: Iterable[File], package: str) -> list[Release]:
    """Those of `files` that are wheels and source distributions of `package`, by their names (PEP 427, PEP 625)."""
    wanted = canonicalize_name(package)
    found = []
    for file in files:
        try:
            if file.name.endswith(".whl"):
                name, version, _, tags = parse_wheel_filename(file.name)
            elif file.name.endswith(_SDISTS):
                (name, version), tags = parse_sdist_filename(file.name), frozenset()
            else:
                continue
        except ValueError:  # the base of packaging's own errors
            continue
        if name == wanted:
            found.append(Release(file, version, tags))
    return found


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(body: bytes, url: str) -> Iterator[File]:
    for entry in document(body)["files"]:
        if isinstance(entry, dict) and (file := _entry(entry, url)):
            yield file


def document(body: bytes, key: str = "files") -> Mapping[str, Any]:
    """A page of PEP 691, with a list under `key`. Raises PageError."""
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        raise PageError("it says that it is JSON, and is not") from None
    meta = page.get("meta") if isinstance(page, dict) else None
    if not isinstance(meta, dict) or not isinstance(page.get(key), list):
        raise PageError(f"it has no `meta` or no `{key}`, which PEP 691 wants")
    if str(meta.get("api-version", "1.0")).partition(".")[0] != "1":
        raise PageError("it speaks another version of the interface than 1")
    return dict(page)


def _entry(entry: Mapping[str, Any], url: str) -> File | None:
    name, link, yanked = entry.get("filename"), entry.get("url"), entry.get("yanked", False)
    address = joined(url, link) if isinstance(link, str) else None
    if not isinstance(name, str) or address is None:
        return None
    hashes, python = entry.get("hashes"), entry.get("requires-python")
    sha256 = hashes.get("sha256") if isinstance(hashes, dict) else None
    return File(
        name,
        address,
        sha256=sha256 if isinstance(sha256, str) else None,
        yanked=_line(yanked) if isinstance(yanked, str) else "" if yanked is True else None,
        requires_python=python[:_LONGEST] if isinstance(python, str) else None,
    )


# --- HTML ---------------------------------------------------------------------------------------------------------


@cache
def _patterns() -> tuple[Any, Any]:
    """A comment, or a tag `a` or `base` with its attributes; an attribute, and its value in each way of quoting."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    tag = rb"""(?is)<!--.*?(?:-->|\z)|<(a|base)(\s(?:[^>"']|"[^"]*"|'[^']*')*)>"""
    attribute = rb"""(?s)([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?"""
    return re2.compile(tag, options), re2.compile(attribute, options)


def _html(body: bytes, url: str) -> Iterator[File]:
    for anchor in anchors(body, url):
        if name := unquote(urlsplit(anchor.address).path.rpartition("/")[2]):
            yield _anchor(name, anchor.address, anchor.attributes)


def anchors(body: bytes, url: str) -> Iterator[Anchor]:
    """The links of the HTML page at `url` that a file or a page may come from, in its order."""
    base: str | None = None
    for tag in _patterns()[0].finditer(body):
        if tag[1] is None or len(tag[2]) > _LONGEST_TAG:
            continue
        attributes = _attributes(tag[2])
        href = attributes.get("href", "")
        address = joined(base or url, href)
        if address is None:
            continue
        if tag[1].lower() == b"base":
            base = base or address
        else:
            text = body[tag.end() : tag.end() + _LONGEST_TEXT].partition(b"<")[0].decode("utf-8", "replace")
            yield Anchor(address, href, unescape(text).strip(), attributes, tag.start())


def _attributes(source: bytes) -> dict[str, str]:
    """The attributes of a tag, those without a value as ""; the first of a name counts, as in HTML."""
    found: dict[str, str] = {}
    for one in _patterns()[1].finditer(source):
        name = one[1].decode("utf-8", "replace").lower()
        value = next((group for group in (one[2], one[3], one[4]) if group is not None), b"")
        found.setdefault(name, unescape(value.decode("utf-8", "replace")))
    return found


def _anchor(name: str, address: str, attributes: Mapping[str, str]) -> File:
    link, fragment = urldefrag(address)
    algorithm, _, digest = fragment.partition("=")
    yanked, python = attributes.get("data-yanked"), attributes.get("data-requires-python")
    return File(
        name,
        link,
        sha256=digest.partition("&")[0] if algorithm == "sha256" else None,
        yanked=None if yanked is None else _line(yanked),
        requires_python=python[:_LONGEST] if python else None,
    )


def joined(base: str, link: str) -> str | None:
    """`link` as it is meant on the page `base`; None for one that no file can come from: another scheme than the web's,
    or, on a page that is no local file, a local one."""
    try:
        address = urljoin(base, link.strip())
        scheme = urlsplit(address).scheme
    except ValueError:
        return None
    return address if scheme in ("https", "http") or (scheme == "file" and base.startswith("file:")) else None


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
