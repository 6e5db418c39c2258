"""Pages of an index as they are, ours or others': every link with all that stands beside it, and what a client would
stumble over. Nothing is repaired; what cannot be read is told.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit

from pinctl.index import names
from pinctl.model import NOTHING
from pinctl.paths import path_problem
from pinctl.upstream import simple
from pinctl.upstream.simple import PageError

MOST = 20_000
"""Links of one page that are read."""
LONGEST = 1000
"""Characters of a reason, a version specifier, that are kept."""

_FILES = (".whl", ".tar.gz", ".zip", ".egg", ".tar.bz2", ".exe")
_CHARSET = re.compile(rb"""(?i)<meta\b[^>]{0,200}charset\s{0,20}=\s{0,20}["']?([\w-]{1,40})""")
_START = 4096
"""Bytes in which a page says its encoding (HTML 5: 1,024, and some more)."""


class Link(NamedTuple):
    """A link to a file.

    url       absolute, without its fragment
    href      as it is written
    filename  the last part of the URL's path, unescaped
    text      what a person sees; in JSON the `filename`
    inside    path below the root of the index, where the file lies there
    sha256    as it is written, however malformed; `other`: a digest by another algorithm
    metadata  the digest of PEP 658's attribute, "" where it says that there is one, and none; `old` of the older name
    yanked    the reason, None where it is not
    line      where it stands on the page; 0 in JSON
    """

    url: str
    href: str
    filename: str
    text: str
    inside: str | None = None
    sha256: str | None = None
    other: bool = False
    requires_python: str | None = None
    metadata: str | None = None
    old: str | None = None
    yanked: str | None = None
    size: int | None = None
    uploaded: str | None = None
    line: int = 0


class Page(NamedTuple):
    """`path` is the folder below the root, "" for the root's own page, and `top` the name of the root; `odd` clauses on
    what makes the page unsafe or unreadable ("it has a `<base>`"); `folders` the pages below that it leads to."""

    path: str
    links: tuple[Link, ...] = ()
    folders: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    form: str = "html"
    top: str = ""

    @property
    def project(self) -> str:
        """The project that the page is about, by its folder."""
        return self.path.rpartition("/")[2]

    @property
    def variant(self) -> str:
        """The folder above the project; the root, where that is one page set."""
        return self.path.rpartition("/")[0].rpartition("/")[2] or self.top

    @property
    def channel(self) -> str:
        """The folders above the variant, joined by `-`; "" where there are none."""
        return self.path.rpartition("/")[0].rpartition("/")[0].replace("/", "-")


def read(body: bytes, kind: str, path: str, root: str, also: str | None = None) -> Page:
    """The page with the folder `path` of the index at `root` (a URL that ends in `/`), which a server gave as of the
    content type `kind`. Links to `also`, where the index is to lie, lead into it too."""
    odd = list(_odd(body, kind))
    roots = tuple(filter(None, (root, also)))
    url = f"{root}{path}/" if path else root
    top = unquote(urlsplit(root).path.rstrip("/").rpartition("/")[2])
    media = kind.partition(";")[0].strip().lower()
    if media == simple.JSON:
        try:
            links, folders = _json(body, url, roots)
        except PageError as error:
            return Page(path, odd=(*odd, str(error)), form="json", top=top)
        return Page(path, links, folders, tuple(odd), "json", top)
    if media and media not in ("text/html", "application/vnd.pypi.simple.v1+html"):
        return Page(path, odd=(f"it is {media[:80]}, and no page of an index",), top=top)
    links, folders, clauses = _html(body, url, roots)
    return Page(path, links, folders, (*odd, *clauses), top=top)


def _odd(body: bytes, kind: str) -> Iterator[str]:
    """An encoding other than UTF-8 is a way to hide links: UTF-7's `+ADw-` is a `<` to who believes it."""
    said = [kind.rpartition("charset=")[2]] if "charset=" in kind.lower() else []
    said += [found[1].decode() for found in _CHARSET.finditer(body[:_START])]
    for charset in said:
        if charset.strip(" \"'").lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            yield f"it says that it is {charset[:40]}, and an index is UTF-8"
    try:
        body.decode()
    except UnicodeDecodeError as error:
        yield f"it is not UTF-8 (byte {error.start})"


def _html(body: bytes, url: str, roots: tuple[str, ...]) -> tuple[tuple[Link, ...], tuple[str, ...], list[str]]:
    """The links to files, those to pages below, and what is odd."""
    links: list[Link] = []
    folders: dict[str, None] = {}
    moved, line, at, odd = False, 1, 0, list[str]()
    for number, anchor in enumerate(simple.anchors(body, url)):
        if number == MOST:
            odd.append(f"it has more than {MOST} links")
            break
        if not anchor.href:
            continue
        moved = moved or anchor.address != simple.joined(url, anchor.href)
        if below := _folder(anchor.address, url, roots[0]):
            folders[below] = None
        elif _is_file(anchor.address, anchor.attributes):
            line += body.count(b"\n", at, anchor.offset)
            at = anchor.offset
            links.append(_link(anchor, roots, line))
    if moved:
        odd.append("a `<base>` moves its links, which clients treat differently")
    return tuple(links), tuple(folders), odd


def _folder(address: str, url: str, root: str) -> str | None:
    """The folder of the page that `address` leads to, where it lies below the page `url`."""
    plain = urldefrag(address)[0].removesuffix("index.html")
    if not plain.startswith(url) or plain == url or not plain.endswith("/") or "?" in plain:
        return None
    path = unquote(plain[len(root) : -1])
    return None if path_problem(path) else path


def _is_file(address: str, attributes: Mapping[str, str]) -> bool:
    """Whether a link is meant to be one to a file: by its ending, its digest or what only files have beside them."""
    link, fragment = urldefrag(address)
    return (
        urlsplit(link).path.endswith(_FILES)
        or fragment.startswith(("sha256=", "md5=", "sha1=", "sha512="))
        or any(name.startswith(("data-core-", "data-dist-", "data-yanked", "data-requires")) for name in attributes)
    )


def _link(anchor: simple.Anchor, roots: tuple[str, ...], line: int) -> Link:
    link, fragment = urldefrag(anchor.address)
    algorithm, _, digest = fragment.partition("=")
    said = anchor.attributes
    yanked = said.get("data-yanked")
    return Link(
        url=link,
        href=anchor.href,
        filename=names.of_url(link),
        text=anchor.text,
        inside=inside(link, roots),
        sha256=digest.partition("&")[0][:LONGEST] if algorithm == "sha256" else None,
        other=bool(digest) and algorithm != "sha256",
        requires_python=_kept(said.get("data-requires-python")) or None,
        metadata=_digest(said.get("data-core-metadata")),
        old=_digest(said.get("data-dist-info-metadata")),
        yanked=_kept(yanked),
        line=line,
    )


def inside(address: str, roots: tuple[str, ...]) -> str | None:
    """The path of a file below the root of the index; None for one that lies elsewhere."""
    for root in roots:
        if address.startswith(root):
            path = unquote(address[len(root) :])
            return None if "?" in path or path_problem(path) else path
    return None


def _digest(value: object) -> str | None:
    """Of `sha256=HEX`, `true`, or in JSON `{"sha256": HEX}`, true."""
    if isinstance(value, dict):
        value = f"sha256={value.get('sha256', '')}"
    if value is None or value is False:
        return None
    text = str(value)
    return text.removeprefix("sha256=")[:LONGEST] if text.startswith("sha256=") else ""


def _kept(value: object) -> str | None:
    return " ".join(value.split())[:LONGEST] if isinstance(value, str) else None


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(body: bytes, url: str, roots: tuple[str, ...]) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    try:
        entries = simple.document(body)["files"]
    except PageError as error:
        return (), _projects(body, url.removeprefix(roots[0]), error)
    links = [_entry(entry, url, roots) for entry in entries[:MOST] if isinstance(entry, dict)]
    return tuple(link for link in links if link is not None), ()


def _projects(body: bytes, above: str, error: PageError) -> tuple[str, ...]:
    """The pages of the projects that a root lists. Raises `error` where it is no root either."""
    try:
        entries = simple.document(body, "projects")["projects"]
    except PageError:
        raise error from None
    found = [entry.get("name") for entry in entries[:MOST] if isinstance(entry, dict)]
    return tuple(dict.fromkeys(f"{above}{name}" for name in found if isinstance(name, str) and names.is_project(name)))


def _entry(entry: Mapping[str, Any], url: str, roots: tuple[str, ...]) -> Link | None:
    href, name = entry.get("url"), entry.get("filename")
    address = simple.joined(url, href) if isinstance(href, str) else None
    if address is None or not isinstance(href, str) or not isinstance(name, str):
        return None
    link = urldefrag(address)[0]
    hashes = entry.get("hashes")
    hashes = hashes if isinstance(hashes, dict) else NOTHING
    sha256, yanked, size = hashes.get("sha256"), entry.get("yanked", False), entry.get("size")
    return Link(
        url=link,
        href=href,
        filename=names.of_url(link),
        text=name[:LONGEST],
        inside=inside(link, roots),
        sha256=sha256[:LONGEST] if isinstance(sha256, str) else None,
        other=bool(hashes) and sha256 is None,
        requires_python=_kept(entry.get("requires-python")) or None,
        metadata=_digest(entry.get("core-metadata")),
        old=_digest(entry.get("dist-info-metadata")),
        yanked=_kept(yanked) if isinstance(yanked, str) else "" if yanked is True else None,
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
        uploaded=uploaded if isinstance(uploaded := entry.get("upload-time"), str) else None,
    )
