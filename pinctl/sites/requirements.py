"""pip's requirements and constraints files, after pip's documentation "Requirements File Format".

Selectors: `requirement NAME` (the version of `NAME==1.2`), `specifier NAME` (any other set of specifiers), `url NAME`
(`NAME @ URL`, and URLs that say `#egg=NAME` or name a wheel), `index-url`, `extra-index-url`, `find-links`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pinctl.plan import Edit
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
_HASH = re.compile(r"(?<!\S)--hash(?:=|\s+)(?P<algorithm>[A-Za-z0-9_]+):(?P<digest>\S+)")
_BETWEEN = re.compile(rb"[\s\\]+")
_SHA256 = re.compile("[0-9a-f]{64}")

HASHED = "hashed"
"""The style of a slot whose line holds digests of files."""


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

    def holds(self, place: int) -> bool:
        """Whether the character at `place` in the file is one of the line's."""
        bounds = [*self.pieces[1:], (len(self.text), 0)]
        return any(
            origin <= place < origin + end - at for (at, origin), (end, _) in zip(self.pieces, bounds, strict=True)
        )


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
            style = HASHED if "--hash" in line.text else ""
            for name, kind, value, start in _found(line.text):
                place = line.place(start, start + len(value))
                if place is not None:
                    offset, seen = offset + (len(text[seen:place].encode()) if wide else place - seen), place
                    token = Token(value=value, start=offset, end=offset + len(value), style=kind)
                    yield Slot(names=(name,), tokens=(token,), start=token.start, end=token.end, style=style)

    def relocked(self, slot: Slot, value: str, digests: Sequence[str]) -> list[Edit]:
        """The edits that put `value` into `slot`, whose line holds digests, and `digests` in their place: the sha256 in
        hex of every file that may be installed. Raises Unwritable."""
        if not digests:
            raise Unwritable("the line has --hash digests, and those of the files of its new version are not known")
        if not all(map(_SHA256.fullmatch, digests)):
            raise Unwritable("what should be a sha256 is none")
        spans, text = self._hashes(slot), [f"--hash=sha256:{digest}".encode() for digest in sorted(digests)]
        gaps = [self.source[a:b] for (_, a), (b, _) in pairwise(spans)] or [self._gap_before(spans[0][0])]
        if not all(map(_BETWEEN.fullmatch, gaps)):
            raise Unwritable("other things stand between the --hash digests of the line")
        version = Edit(slot.start, slot.end, pep508.checked(slot.tokens[0].style, value).encode())
        return [version, Edit(spans[0][0], spans[-1][1], gaps[0].join(text))]

    def _hashes(self, slot: Slot) -> list[tuple[int, int]]:
        """The spans of the `--hash` options of the line of `slot`. Raises Unwritable where one is not of a sha256."""
        text = self.source.decode("utf-8", "replace")
        at = len(self.source[: slot.start].decode("utf-8", "replace"))
        line = next(line for line in _lines(text) if line.holds(at))
        found = list(_HASH.finditer(line.text))
        places = [line.place(*match.span()) for match in found]
        if None in places or any(match["algorithm"] != "sha256" for match in found):
            raise Unwritable("the line has --hash digests of another kind than sha256")
        starts = [len(text[:place].encode()) for place in places if place is not None]
        return [(start, start + len(match[0].encode())) for start, match in zip(starts, found, strict=True)]

    def _gap_before(self, at: int) -> bytes:
        """What stands between the digest at `at` and the word before it."""
        head = self.source[:at].rstrip(b" \t\r\n\\")
        return self.source[len(head) : at]

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
        if slot.style == HASHED:
            raise Unwritable(
                "the line has --hash digests of its present version, and `pinctl bump PIN --to VERSION` alone asks the "
                "index for those of another"
            )
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
    if wheel := pep508.wheel(url):
        return wheel.name
    match = _EGG.search(url) if pep508.is_url(url) else None
    return pep508.normal(match["name"]) if match else None
