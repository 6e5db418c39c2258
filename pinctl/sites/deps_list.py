"""Lists of downloads, one a line: `name;url;digest`, as in ONNX Runtime's cmake/deps.txt.

Selectors: `NAME.url`, `NAME.sha1` (or md5, sha256, ...: the digest's algorithm, by its length), and `NAME`, which is
url and hash together. CMake splits such lines at `;`, so no column may hold one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pinctl import digests
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, scalar, verbatim

NAME = "deps_list"
COMMENT: tuple[str, str] | None = ("# ", "")

_LINE = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(?P<name>[^\s;#\"\\][^\s;\"\\]*)[ \t]*;[ \t]*(?P<url>[^\s;\"\\]+)[ \t]*;[ \t]*"
    rb"(?P<digest>[0-9A-Fa-f]{32,128})[ \t]*\r?$",
    re.MULTILINE,
)
_SELECTOR = re.compile(r"(?P<name>[^\s;]+?)(?P<column>\.(?:url|md5|sha1|sha256|sha384|sha512))?")
_URL = re.compile(r"[a-z]+://[^\s;\"\\$]+")
_URL_STYLE, _DIGEST_STYLE = "url", "digest"


def parse(source: bytes) -> "DepsList":
    """The document of any bytes; lines that are no `name;url;digest` are passed over."""
    return DepsList(source=source)


@dataclass(slots=True)
class DepsList(Document):
    """A list of downloads."""

    def slots(self) -> Iterator[Slot]:
        """Both columns of each line, alone and as the parts of the whole."""
        for match in _LINE.finditer(self.source):
            name, url, digest = (match[column].decode("utf-8", "replace") for column in ("name", "url", "digest"))
            algorithm = digests.algorithm(digest)
            if algorithm is None:
                continue
            address = Token(url, *match.span("url"), _URL_STYLE)
            hexadecimal = Token(digest, *match.span("digest"), _DIGEST_STYLE)
            tagged = hexadecimal._replace(value=f"{algorithm.upper()}={digest.lower()}")
            yield scalar((name,), address, part="url", group=match.start("name"))
            yield scalar((name,), tagged, part="hash", group=match.start("name"))
            yield scalar((f"{name}.url",), address)
            yield scalar((f"{name}.{algorithm}",), hexadecimal)

    def find(self, selector: str) -> list[Hit]:
        """See `Document`. Raises BadSelector."""
        if not _SELECTOR.fullmatch(selector):
            raise BadSelector(f"{selector!r} is none of a list of downloads; expected NAME, `NAME.url` or `NAME.sha1`")
        return Document.find(self, selector)

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        """See `Document`. A digest stays one of its algorithm."""
        present = token or slot.tokens[0]
        if present.style == _URL_STYLE:
            if not _URL.fullmatch(value):
                raise Unwritable(f"{value!r} is no URL of a list that is split at `;`")
            return verbatim(value)
        algorithm = digests.algorithm(present.value.rpartition("=")[2]) or ""
        digest = value.removeprefix(f"{algorithm.upper()}=") if slot.part else value
        if digests.algorithm(digest) != algorithm:
            raise Unwritable(f"{value!r} is no {algorithm}, and the list holds one")
        return digest.encode()
