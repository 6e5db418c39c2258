"""pip's requirements and constraints files, after pip's documentation "Requirements File Format".

Selectors: `requirement NAME` (the version of `NAME==1.2`), `specifier NAME` (any other set of specifiers), `url NAME`
(`NAME @ URL`, and URLs that say `#egg=NAME` or name a wheel), `index-url`, `extra-index-url`, `find-links`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pinctl.sites import pep508
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable

NAME = "requirements"
COMMENT: tuple[str, str] | None = ("# ", "")

_OPTIONS = {
    "-i": "index-url",
    "--index-url": "index-url",
    "--extra-index-url": "extra-index-url",
    "-f": "find-links",
    "--find-links": "find-links",
}
_OPTION = re.compile(rf"(?:^|\s)(?P<option>{'|'.join(_OPTIONS)})(?:=|\s+)(?P<url>\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:=|\s+)(?P<url>\S+)")
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_EGG = re.compile(r"[#&]egg=(?P<name>[A-Za-z0-9._-]+)")
_WHEEL = re.compile(r"/(?P<name>[A-Za-z0-9._]+)-[^/-]+(?:-[^/-]+)?-[^/-]+-[^/-]+-[^/-]+\.whl(?:#|$)")
_HASHED = "hashed"


class _Line(NamedTuple):
    """A logical line without its comment; `pieces`: where it stands, pairs of an index in `text` and in the file."""

    text: str
    pieces: list[tuple[int, int]]

    def place(self, start: int, end: int) -> int | None:
        """Where `text[start:end]` begins in the file; None if a continuation is inside of it."""
        for at, origin in reversed(self.pieces):
            if at <= start:
                return origin + start - at
            if at < end:
                return None
        return None


def parse(source: bytes) -> "RequirementsDocument":
    """The document of any bytes."""
    return RequirementsDocument(source=source)


@dataclass(slots=True)
class RequirementsDocument(Document):
    """A requirements file."""

    def slots(self) -> Iterator[Slot]:
        text = self.source.decode("utf-8", "replace")
        wide = not self.source.isascii()
        offset = seen = 0
        for line in _lines(text):
            style = _HASHED if "--hash" in line.text else ""
            for name, kind, value, start in _found(line.text):
                place = line.place(start, start + len(value))
                if place is not None:
                    offset, seen = offset + (len(text[seen:place].encode()) if wide else place - seen), place
                    token = Token(value=value, start=offset, end=offset + len(value), style=kind)
                    yield Slot(names=(name,), tokens=(token,), start=token.start, end=token.end, style=style)

    def find(self, selector: str) -> list[Hit]:
        if selector in _OPTIONS.values():
            return Document.find(self, selector)
        named = pep508.selector(selector)
        if named is None:
            forms = ", ".join(f"`{kind} NAME`" for kind in pep508.KINDS)
            raise BadSelector(
                f"{selector!r} is no selector of a requirements file; expected {forms}, `index-url`, "
                "`extra-index-url` or `find-links`"
            )
        return Document.find(self, named)

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        if slot.style == _HASHED:
            raise Unwritable("the line has --hash digests, which hold for its present version: compile the file again")
        return pep508.checked((token or slot.tokens[0]).style, value).encode()


def _lines(text: str) -> Iterator[_Line]:
    """The logical lines: split where pip splits (str.splitlines), joined at a last backslash, comments taken off."""
    joined: list[str] = []
    pieces: list[tuple[int, int]] = []
    length = at = 0
    for line, whole in zip(text.splitlines(), text.splitlines(keepends=True), strict=True):
        begin, at = at, at + len(whole)
        comment = line.lstrip().startswith("#")
        continued = line.endswith("\\") and not comment
        if not (pieces or continued):
            if line and not comment:
                yield _without_comment(line, [(0, begin)])
            continue
        # Like pip: backslashes go from both ends, and a space keeps a comment line one.
        part = line.strip("\\") if continued else " " * comment + line
        shift = len(line) - len(line.lstrip("\\")) if continued else -comment
        joined.append(part)
        pieces.append((length, begin + shift))
        length += len(part)
        if not continued:
            yield _without_comment("".join(joined), pieces)
            joined, pieces, length = [], [], 0
    if pieces:
        yield _without_comment("".join(joined), pieces)


def _without_comment(text: str, pieces: list[tuple[int, int]]) -> _Line:
    match = _COMMENT.search(text) if "#" in text else None
    return _Line(text[: match.start()] if match else text, pieces)


def _found(line: str) -> Iterator[tuple[str, str, str, int]]:
    """What selectors name in a logical line: name, kind (one of pep508.KINDS), value and its index."""
    text = line.lstrip()
    shift = len(line) - len(text)
    if text.startswith("-"):
        for match in _OPTION.finditer(text):
            if pep508.is_url(match["url"]):
                yield _OPTIONS[match["option"]], "url", match["url"], shift + match.start("url")
        editable = _EDITABLE.match(text)
        if editable and (name := _named(editable["url"])):
            yield f"url {name}", "url", editable["url"], shift + editable.start("url")
        return
    # Options of one requirement, such as --hash, begin at a word with a hyphen.
    text = text.partition(" -")[0].rstrip()
    if requirement := pep508.parse(text):
        start, end = requirement.start, requirement.end
        yield requirement.selector, requirement.kind, text[start:end], shift + start
    elif name := _named(text):
        yield f"url {name}", "url", text, shift


def _named(url: str) -> str | None:
    """The project that a literal URL says it holds."""
    match = (_EGG.search(url) or _WHEEL.search(url)) if pep508.is_url(url) else None
    return pep508.normal(match["name"]) if match else None
