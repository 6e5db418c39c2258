"""`.gitmodules`, in the syntax that git-config(1) describes under "Syntax".

Selectors: `submodule.NAME.url`, `.path`, `.branch` and any other `section.name.key` as `git config --get` takes it;
shorter `PATH.url` by the submodule's path. Byte-splicing, since `git config` itself re-indents the lines it writes,
drops their comments, and puts LF into a CRLF file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, scalar, verbatim

NAME = "gitmodules"
COMMENT: tuple[str, str] | None = ("# ", "")

_BOM = b"\xef\xbb\xbf"
_SPACE = rb"[ \t\v\f\r]"
_QUOTED = rb"\"(?:[^\"\\\n]|\\(?:\r?\n|[tbn\"\\]))*\""
_NEXT = re.compile(
    rb"\s*(?:"
    rb"(?P<comment>[#;][^\n]*)"
    rb"|\[(?P<section>[A-Za-z0-9.-]+)(?:" + _SPACE + rb"+\"(?P<name>(?:[^\"\\\n]|\\[^\n])*)\")?\]"
    rb"|(?P<key>[A-Za-z][A-Za-z0-9-]*)[ \t]*"
    rb"(?:(?P<equals>=)" + _SPACE + rb"*(?P<value>(?:" + _QUOTED + rb"|\\(?:\r?\n|[tbn\"\\])|[^\"\\\n#;])*))?"
    rb"|(?P<refused>[^\n]+))?"
)
_PIECE = re.compile(rb"\\(?P<escape>\r?\n|[tbn\"\\])|(?P<quote>\")|[^\\\"]+")
_DOUBTFUL = re.compile(rb"[\t\v\f\r]")
_ESCAPES = {b"t": b"\t", b"b": b"\b", b"n": b"\n", b'"': b'"', b"\\": b"\\", b"\n": b"", b"\r\n": b""}
_BARE = re.compile(rb"[^\s\"\\#;]+(?: +[^\s\"\\#;]+)*")
_SELECTOR = re.compile(r"(?s)(?P<section>.+)\.(?P<key>[A-Za-z][A-Za-z0-9-]*)")


def parse(source: bytes) -> "GitmodulesDocument":
    """The document of any bytes. Lines that git refuses are in `errors`; what follows a refused header is not read."""
    values: list[tuple[str, str, Token]] = []
    errors: list[tuple[int, int]] = []
    section: str | None = None
    at = len(_BOM) if source.startswith(_BOM) else 0
    while at < len(source) and (match := _NEXT.match(source, at)):
        at = match.end()
        if match["section"]:
            section = _section(match)
        elif match["refused"] or (match["key"] and not _ends(match)):
            line_end = source.find(b"\n", at)
            at = len(source) if line_end < 0 else line_end
            errors.append((match.start("refused") if match["refused"] else match.start("key"), at))
            section = None if (match["refused"] or b"").startswith(b"[") else section
        elif match["key"] and section is not None and (token := _token(match)):
            values.append((section, match["key"].decode().lower(), token))
    return GitmodulesDocument(source=source, errors=tuple(errors), values=tuple(values))


def _ends(match: re.Match[bytes]) -> bool:
    """Whether a key is followed by what may follow it: the line's end, after a value a comment too."""
    behind = match.string[match.end() : match.end() + 2]
    return not behind or behind.startswith((b"\n", b"\r\n")) or (bool(match["equals"]) and behind[:1] in (b"#", b";"))


@dataclass(slots=True)
class GitmodulesDocument(Document):
    """A .gitmodules file. `values` are its settings: section with name, key in small letters, and literal."""

    values: tuple[tuple[str, str, Token], ...] = field(default=())

    def slots(self) -> Iterator[Slot]:
        paths = {section: token.value for section, key, token in self.values if key == "path"}
        for section, key, token in self.values:
            names = [f"{section}.{key}"]
            if section in paths:
                names.append(f"{paths[section]}.{key}")
            yield scalar(names, token)

    def find(self, selector: str) -> list[Hit]:
        match = _SELECTOR.fullmatch(selector)
        if match is None:
            raise BadSelector(f"{selector!r} is none of .gitmodules; expected `submodule.NAME.url` or `PATH.url`")
        return Document.find(self, f"{match['section']}.{match['key'].lower()}")

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        text = verbatim(value)
        if (token or slot.tokens[0]).style == "bare" and _BARE.fullmatch(text):
            return text
        return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _section(match: re.Match[bytes]) -> str:
    """A section with its name as `git config` spells it: `[submodule "a\\b"]` is submodule.ab."""
    section = match["section"].decode().lower()
    if match["name"] is None:
        return section
    name = re.sub(rb"\\([^\n])", rb"\1", match["name"])
    return f"{section}.{name.decode('utf-8', 'replace')}"


def _token(match: re.Match[bytes]) -> Token | None:
    """The literal of `key = value`; None for a key alone, and for white space that versions of git read differently."""
    if match["equals"] is None:
        return None
    raw = match["value"].rstrip()
    value = b""
    quoted = False
    for piece in _PIECE.finditer(raw):
        if piece["quote"]:
            quoted = not quoted
        elif piece["escape"]:
            value += _ESCAPES[piece["escape"]]
        elif not quoted and (_DOUBTFUL.search(piece[0]) or (not value and piece[0].startswith(b" "))):
            return None
        else:
            value += piece[0]
    # An empty value stands right behind its `=`, so that what is put there keeps clear of a comment.
    start = match.start("value") if raw else match.end("equals")
    style = "quoted" if raw.startswith(b'"') else "bare"
    return Token(value=value.decode("utf-8", "replace"), start=start, end=start + len(raw), style=style)
