"""Generated blocks: what a recipe rendered, between two marker lines in a file that otherwise belongs to people.

    # >>> pinctl:PIN RECIPE [NAME] (generated from pins.toml; run `pinctl sync`) sha256:…
    # <<< pinctl:PIN

A block is known by pin, recipe and name. Its digest, of the body without indentation and with LF line ends, tells
a body that pins.toml left behind from one that was edited; whether a block is current is seen by rendering anew. A
wholly generated file has one line `# pinctl:PIN RECIPE …` instead, after what must stand first (a shebang, a
Dockerfile's directives). Two marker lines written by hand, without a digest and with nothing between them, are a
block still to be filled. All functions are pure; offsets count bytes.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from pinctl.plan import Edit

Comment = tuple[str, str]
"""How a comment line begins and ends: a language's COMMENT."""

NOTE = "(generated from pins.toml; run `pinctl sync`)"
_DIGITS = 16
_FIELDS = (
    rb"pinctl:(?P<pin>\S+) (?P<recipe>\S+)(?: (?P<name>[^\s(]\S*))?"
    rb"(?: \([^()\r\n]*\))?(?: sha256:(?P<digest>[0-9a-f]+))?"
)
_ANY_COMMENT = rb"[^\w\s]{0,4}"


class State(StrEnum):
    CURRENT = "current"
    """What the recipe renders now."""
    STALE = "stale"
    """What a recipe rendered before; writing anew loses nothing."""
    EDITED = "edited"
    """Changed by hand, or never generated; writing anew loses that."""


class Identity(NamedTuple):
    """Which block it is. `pin` is None for one of no single pin."""

    pin: str | None
    recipe: str
    name: str = ""

    @property
    def owner(self) -> str:
        return _word(self.pin) if self.pin is not None else "*"

    def __str__(self) -> str:
        return " ".join([f"pinctl:{self.owner}", _word(self.recipe), *([_word(self.name)] if self.name else [])])


class Fault(StrEnum):
    MISSING = "missing"
    """Neither marker of the block is there."""
    DOUBLED = "doubled"
    """The block stands in the file twice."""
    DISORDERED = "disordered"
    """A marker stands without its fellow, or another block begins between the two."""


class BlockError(Exception):
    """A block cannot be located; `offset` is where in the file to look, None where nothing stands."""

    def __init__(self, fault: Fault, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.offset = offset


class Located(NamedTuple):
    """A block in a file: the bytes `start:end` with both markers (the last line end is not in it), the body's
    `body_start:body_end`, the digest in the marker, and how its lines begin and end."""

    start: int
    end: int
    body_start: int
    body_end: int
    digest: str | None
    indent: bytes
    eol: bytes


def markers(comment: Comment, identity: Identity, digest: str | None = None) -> tuple[str, str]:
    """The two marker lines, without line ends; without `digest` those of a block still to be filled."""
    tail = f" sha256:{digest}" if digest else ""
    return _line(comment, f">>> {identity} {NOTE}{tail}"), _line(comment, f"<<< pinctl:{identity.owner}")


def compose(rendered: str, comment: Comment, identity: Identity, *, indent: bytes = b"", eol: bytes = b"\n") -> bytes:
    """The whole block around `rendered`, every line indented by `indent`; without a line end after the last."""
    body = _normal(rendered.encode())
    first, last = markers(comment, identity, digest_of(body))
    lines = [first.encode(), *body.split(b"\n")[:-1], last.encode()]
    return eol.join(indent + line if line else b"" for line in lines)


def locate(source: bytes, comment: Comment, identity: Identity) -> Located:
    """Where the block of `identity` stands in `source`. Raises BlockError."""
    begins, owner = list(_begins(source, comment)), identity.owner.encode()
    ours = [m for m in begins if _is(m, identity)]
    ends = [m for m in _ends(source, comment) if m["pin"] == owner]
    if len(ours) > 1:
        raise BlockError(Fault.DOUBLED, f"the block `{identity}` begins twice", ours[1].start())
    if len(ends) > sum(m["pin"] == owner for m in begins):
        raise BlockError(Fault.DISORDERED, f"`<<< pinctl:{identity.owner}` ends what does not begin", ends[-1].start())
    if not ours:
        raise BlockError(Fault.MISSING, f"the markers of the block `{identity}` are missing")
    begin = ours[0]
    end = next((m for m in ends if m.start() > begin.start()), None)
    if end is None or any(begin.start() < m.start() < end.start() for m in begins):
        raise BlockError(Fault.DISORDERED, f"the block `{identity}` does not end", begin.start())
    return _located(source, begin, end)


def state(source: bytes, located: Located, rendered: str) -> State:
    """How the block stands to what its recipe renders now."""
    body = _dedented(source[located.body_start : located.body_end], located.indent)
    return _state(body, located.digest, rendered)


def renew(located: Located, rendered: str, comment: Comment, identity: Identity) -> Edit:
    """The edit that makes the block what its recipe renders now."""
    new = compose(rendered, comment, identity, indent=located.indent, eol=located.eol)
    return Edit(located.start, located.end, new)


def all_blocks(source: bytes) -> list[tuple[int, int]]:
    """The bytes `start:end` of every block in `source`, whatever its language and pin: no site may lie in one. A block
    that does not end reaches to the end of the file."""
    if b">>> pinctl:" not in source:
        return []
    ends = list(_ends(source, None))
    spans = []
    for begin in _begins(source, None):
        end = next((m for m in ends if m.start() > begin.start() and m["pin"] == begin["pin"]), None)
        spans.append((begin.start(), end.end() if end else len(source)))
    return spans


def compose_file(rendered: str, comment: Comment | None, identity: Identity, *, eol: bytes = b"\n") -> bytes:
    """A wholly generated file; where the language has no comments (`comment` is None), `rendered` alone."""
    body = _normal(rendered.encode())
    if comment is not None:
        header = _line(comment, f"{identity} {NOTE} sha256:{digest_of(body)}").encode()
        at = _after_directives(body)
        body = body[:at] + header + b"\n" + body[at:]
    return body.replace(b"\n", eol)


def file_state(
    source: bytes, comment: Comment | None, identity: Identity, rendered: str, earlier: str | None = None
) -> State:
    """How a wholly generated file stands to what its recipe renders now. Without comments there is no digest, and only
    what the recipe rendered `earlier` counts as stale."""
    if comment is None:
        told = ((State.CURRENT, rendered), (State.STALE, earlier))
        body = _normal(source)
        return next((s for s, text in told if text is not None and body == _normal(text.encode())), State.EDITED)
    headers = [m for m in re.finditer(_pattern(comment, _FIELDS), source) if _is(m, identity)]
    if len(headers) != 1:
        return State.EDITED
    header = headers[0]
    body = source[: header.start()] + source[header.end() :].removeprefix(b"\r").removeprefix(b"\n")
    digest = header["digest"]
    return _state(_normal(body), digest.decode() if digest else None, rendered)


def digest_of(body: bytes) -> str:
    """The digest that a marker carries: the first 16 hex digits of sha256. It finds edits; it proves nothing."""
    import hashlib

    return hashlib.sha256(body).hexdigest()[:_DIGITS]


def _state(body: bytes, digest: str | None, rendered: str) -> State:
    wanted = _normal(rendered.encode())
    if body == wanted and digest == digest_of(wanted):
        return State.CURRENT
    untouched = digest == digest_of(body) if digest is not None else not body
    return State.STALE if untouched or body == wanted else State.EDITED


def _normal(body: bytes) -> bytes:
    """LF line ends, and one after the last line."""
    body = body.replace(b"\r\n", b"\n")
    return body if not body or body.endswith(b"\n") else body + b"\n"


def _dedented(body: bytes, indent: bytes) -> bytes:
    return b"\n".join(line.removeprefix(indent) for line in _normal(body).split(b"\n"))


def _line(comment: Comment, text: str) -> str:
    return f"{comment[0]}{text}{comment[1]}"


def _pattern(comment: Comment | None, fields: bytes) -> bytes:
    """A whole line that holds `fields` in a comment of this style, or of any."""
    if comment is None:
        before, after = _ANY_COMMENT, rb"[ \t]*" + _ANY_COMMENT
    else:
        before, after = (re.escape(part.strip().encode()) for part in comment)
        after = rb"[ \t]*" + after
    return rb"(?m)^(?P<indent>[ \t]*)" + before + rb"[ \t]*" + fields + after + rb"[ \t]*(?=\r?$)"


def _begins(source: bytes, comment: Comment | None) -> Iterator[re.Match[bytes]]:
    return re.finditer(_pattern(comment, rb">>> " + _FIELDS), source)


def _ends(source: bytes, comment: Comment | None) -> Iterator[re.Match[bytes]]:
    return re.finditer(_pattern(comment, rb"<<< pinctl:(?P<pin>\S+)"), source)


def _is(match: re.Match[bytes], identity: Identity) -> bool:
    found = (match["pin"], match["recipe"], match["name"] or b"")
    return found == tuple(word.encode() for word in (identity.owner, _word(identity.recipe), _word(identity.name)))


def _located(source: bytes, begin: re.Match[bytes], end: re.Match[bytes]) -> Located:
    newline = source.index(b"\n", begin.end())
    return Located(
        start=begin.start(),
        end=end.end(),
        body_start=newline + 1,
        body_end=end.start(),
        digest=begin["digest"].decode() if begin["digest"] else None,
        indent=begin["indent"],
        eol=b"\r\n" if source[newline - 1 : newline] == b"\r" else b"\n",
    )


def _word(text: str) -> str:
    """`text` as one word of a marker: what might end the word or the comment is percent-encoded."""
    return re.sub(r"[^A-Za-z0-9._/+-]", lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), text)


_DIRECTIVE = re.compile(
    rb"(?:#![^\n]*\n|<\?xml\b[^\n]*\n)?(?:#[ \t]*(?:syntax|escape|check)[ \t]*=[^\n]*\n)*", re.IGNORECASE
)


def _after_directives(body: bytes) -> int:
    """The end of what must stay first: a shebang (execve(2)), a Dockerfile's parser directives, an XML declaration."""
    match = _DIRECTIVE.match(body)
    return match.end() if match else 0
