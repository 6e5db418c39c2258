"""Env and properties files: `NAME=value` and `export NAME=value`.

The selector is `NAME`. The value begins behind the first `=` and ends before white space with a `#`. Shells and dotenv
libraries differ on what they expand, so only what they read alike is a slot: no expansions, no pieces joined, no
escapes but those of a quote or backslash in double quotes. (Docker's `--env-file` keeps quotes: bare values stay bare.)
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, scalar, verbatim

NAME = "env"
COMMENT: tuple[str, str] | None = ("# ", "")

_BOM = b"\xef\xbb\xbf"
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
_ASSIGNMENT = re.compile(
    rb"[ \t]*(?:export[ \t]+)?(?P<name>" + _NAME.encode() + rb")[ \t]*(?P<equals>=)[ \t]*(?:"
    rb"(?P<single>'[^']*')"
    rb"|(?P<double>\"(?:[^\"\\]|\\[\s\S])*\")"
    # A backslash at the end of a line joins the next one; a comment needs white space before it.
    rb"|(?![\"'])(?P<bare>(?:\\\r?\n|[^\n#]|(?<![ \t])#)*)"
    rb")(?P<rest>[^\n]*)"
)
_COMMENT = re.compile(rb"[ \t\r]*(?:[ \t]#.*)?")
# What no shell and no dotenv library gives a meaning, in each style; in double quotes but for `"` and `\`.
_HOLDS = {
    "bare": re.compile(rb"[A-Za-z0-9_./:@%+,=-]*"),
    "double": re.compile(rb"[^$`\n]*"),
    "single": re.compile(rb"(?:[^'\\\n$]|\$(?!\{))*"),
}
_EXPANDED = re.compile(rb"[$`\\'\"]|^~")
_ESCAPED = re.compile(rb"\\(?P<char>[\"\\])")


def parse(source: bytes) -> "EnvDocument":
    """The document of any bytes."""
    return EnvDocument(source=source)


@dataclass(slots=True)
class EnvDocument(Document):
    """An env file."""

    def slots(self) -> Iterator[Slot]:
        at = len(_BOM) if self.source.startswith(_BOM) else 0
        while at < len(self.source):
            match = _ASSIGNMENT.match(self.source, at)
            token = _token(match) if match else None
            if match and token:
                yield scalar((match["name"].decode(),), token)
            line_end = self.source.find(b"\n", match.end() if match else at)
            at = line_end + 1 if line_end >= 0 else len(self.source)

    def find(self, selector: str) -> list[Hit]:
        if not re.fullmatch(_NAME, selector):
            raise BadSelector(f"{selector!r} is no selector of an env file; expected the `NAME` of an assignment")
        return Document.find(self, selector)

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        text = verbatim(value)
        for style in ((token or slot.tokens[0]).style, "double", "single"):
            if _HOLDS[style].fullmatch(text):
                return _literal(style, text)
        raise Unwritable(f"{value!r} cannot be written so that shells and dotenv libraries take it as it is")


def _literal(style: str, text: bytes) -> bytes:
    if style == "bare":
        return text
    if style == "single":
        return b"'" + text + b"'"
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _token(match: re.Match[bytes]) -> Token | None:
    """The literal of an assignment; None where it is none."""
    style = next(style for style in _HOLDS if match[style] is not None)
    start, raw = match.start(style), match[style]
    if style == "bare":
        raw = raw.rstrip()
        if _EXPANDED.search(raw):
            return None
        # An empty value stands right behind its `=`, so that what is put there keeps clear of a comment.
        start = start if raw else match.end("equals")
        return Token(value=raw.decode("utf-8", "replace"), start=start, end=start + len(raw), style=style)
    inner = raw[1:-1]
    plain = _ESCAPED.sub(b"", inner) if style == "double" else inner
    if b"\\" in plain or not _HOLDS[style].fullmatch(plain) or not _COMMENT.fullmatch(match["rest"]):
        return None
    value = _ESCAPED.sub(rb"\g<char>", inner) if style == "double" else inner
    return Token(value=value.decode("utf-8", "replace"), start=start, end=start + len(raw), style=style)
