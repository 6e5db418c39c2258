"""The CMake language, read and written by its manual, cmake-language(7).

One compiled pattern cuts the arguments of a command; it follows the rules of CMake's own scanner, the legacy
unquoted arguments (`-Da="b c"`, `$(X)`) among them. Offsets are bytes.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pinctl.sites.base import Unwritable, verbatim

BARE, QUOTED, BRACKET, PAREN = "bare", "quoted", "bracket", "paren"
"""The kinds of argument. PAREN is a nested parenthesis, which CMake hands to the command as an argument of its own."""


class Arg(NamedTuple):
    """One argument: its bytes `start:end`, quotes or brackets included, and its kind."""

    start: int
    end: int
    kind: str


@dataclass(slots=True)
class Call:
    """One command invocation: its lower-case name, the bytes from the name to its `)`, and the arguments."""

    name: str
    start: int
    end: int = 0
    args: list[Arg] = field(default_factory=list)


# CMake drops the CR of a CRLF before it scans; a CR of its own is white space.
_RUN = rb'[^ \0\t\r\n()#"\[=\\$]++'
_CHAR = rb'[^ \0\t\r\n()#"\[=\\]|\\(?!\r?\n)[^\0]'
_WORD = rb"(?:" + _RUN + rb"|\$\([A-Za-z0-9_]*\)|" + _CHAR + rb")"
_LEGACY = rb"(?:" + _WORD + rb'|"(?:' + _WORD + rb'|[ \t\[=])*+")'
_BRACKET = rb"\[(?P<%b>=*)\[[^\0]*?\](?P=%b)\]"
_COMMENT = rb"\#" + _BRACKET % (b"c", b"c") + rb"|\#(?!\[=*\[)[^\n]*+"

_ARGUMENT = re.compile(
    rb"[ \t\r\n]*+(?:"
    rb"(?P<bare>(?:" + _WORD + rb"|=|\[=*+" + _LEGACY + rb")(?:" + _LEGACY + rb"|[\[=])*+)"
    rb'|(?P<quoted>"[^"\\\0]*+(?:\\[^\0][^"\\\0]*+)*+")'
    rb"|(?P<open>\()|(?P<close>\))"
    rb"|(?P<comment>" + _COMMENT + rb")"
    rb"|(?P<bracket>" + _BRACKET % (b"b", b"b") + rb")"
    rb"|(?P<lone>\[(?!=*\[))"
    rb"|(?P<bad>[^ \t\r\n]|\Z))"
)
_KINDS = {"bare": BARE, "quoted": QUOTED, "bracket": BRACKET, "lone": BARE}
_BETWEEN = re.compile(rb"(?:[ \t\r\n]++|" + _COMMENT + rb")*+")
_NAME = re.compile(rb"([A-Za-z_][A-Za-z0-9_]*)[ \t\r]*+\(")
_OPEN_COMMENT = re.compile(rb"\#\[=*\[")
_BOM = b"\xef\xbb\xbf"


def lex(source: bytes) -> tuple[list[Call], list[tuple[int, int]]]:
    """The commands of a file, and the spans that are no CMake. After a bad line reading goes on at the next one; a
    command or comment that never ends takes the rest of the file, as it does for CMake."""
    calls: list[Call] = []
    errors: list[tuple[int, int]] = []
    at = len(_BOM) if source.startswith(_BOM) else 0
    while True:
        between = _BETWEEN.match(source, at)
        start = between.end() if between else at
        if start == len(source):
            return calls, errors
        name = _NAME.match(source, start) if _leads_its_line(source, start) else None
        if name is not None:
            call = Call(name[1].decode().lower(), start)
            if not _arguments(source, name.end(), call):
                return calls, [*errors, (start, len(source))]
            calls.append(call)
            at = call.end
        else:
            line = -1 if _OPEN_COMMENT.match(source, start) else source.find(b"\n", start)
            at = line + 1 or len(source)
            errors.append((start, at))


def _leads_its_line(source: bytes, start: int) -> bool:
    """Whether only white space stands before `start` on its line: CMake wants each command on a line of its own."""
    return not source[source.rfind(b"\n", 0, start) + 1 : start].removeprefix(_BOM).strip(b" \t\r")


def _arguments(source: bytes, at: int, call: Call) -> bool:
    """Fill in the arguments and the end of `call`, whose `(` ends at `at`; False if it has no end."""
    add, kinds, depth = call.args.append, _KINDS, 0
    for match in _ARGUMENT.finditer(source, at):
        group = match.lastgroup or ""
        if group in kinds:
            start, end = match.span(group)
            add(Arg(start, end, kinds[group]))
        elif group == "open":
            depth += 1
            add(Arg(match.end() - 1, match.end(), PAREN))
        elif group == "close":
            if not depth:
                call.end = match.end()
                return True
            depth -= 1
            add(Arg(match.end() - 1, match.end(), PAREN))
        elif group == "bad":
            break
    return False


# --- what an argument means -------------------------------------------------------------------------------------

REFERENCE = re.compile(r"\$(?:ENV|CACHE)?\{[^{}]*\}")
OPENS = re.compile(r"\$(?:ENV|CACHE)?\{")
_AT = re.compile(r"@[A-Za-z0-9_/.+-]+@")
_VARIABLE = re.compile(rb"\$\{([A-Za-z0-9_/.+-]+)\}")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ENCODED = {"t": "\t", "r": "\r", "n": "\n"}


class Text(NamedTuple):
    """What an argument says. `literal`: CMake evaluates nothing in it; otherwise references stand in `value` as
    they are written."""

    value: str
    literal: bool


def text(source: bytes, arg: Arg) -> Text:
    """The text of a bare, quoted or bracket argument."""
    raw = source[arg.start : arg.end].replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
    if arg.kind == BRACKET:
        width = raw.index("[", 1) + 1
        return Text(raw[width:-width].removeprefix("\n"), True)
    return evaluate(raw[1:-1] if arg.kind == QUOTED else raw)


def evaluate(raw: str) -> Text:
    """The text of a quoted argument without its quotes, or of an unquoted one: escape sequences are resolved,
    references kept."""
    if "\\" not in raw:
        return Text(raw, not _evaluated(raw))
    known = all(c in "trn;" or not (c.isascii() and c.isalnum()) for c in _ESCAPE.findall(raw))
    value = _ESCAPE.sub(_unescape, raw)
    return Text(value, known and not _evaluated(_ESCAPE.sub("", raw)) and "$<" not in value)


def _evaluated(raw: str) -> bool:
    """Whether there is a reference, `@X@` (an old policy, and configure_file) or a generator expression."""
    return ("$" in raw and ("$<" in raw or OPENS.search(raw) is not None)) or (
        "@" in raw and _AT.search(raw) is not None
    )


def _unescape(match: re.Match[str]) -> str:
    char = match[1]
    if char == ";":
        return "\\;"  # it stays, until a list is taken apart
    return "" if char == "\n" else _ENCODED.get(char, char)


def is_keyword(word: str) -> bool:
    """Whether an unquoted word is taken for a keyword of its command: capitals, and none of CMake's booleans."""
    return _KEYWORD.fullmatch(word) is not None and word not in _BOOLEANS


_KEYWORD = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_BOOLEANS = frozenset({"FALSE", "IGNORE", "NOTFOUND", "OFF", "TRUE", "YES"})


def variable(source: bytes, arg: Arg) -> str | None:
    """The X of an argument that is `${X}` or `"${X}"` and nothing else."""
    raw = source[arg.start : arg.end]
    match = None if arg.kind == BRACKET else _VARIABLE.fullmatch(raw[1:-1] if arg.kind == QUOTED else raw)
    return match[1].decode() if match else None


def pieces(source: bytes, arg: Arg) -> list[tuple[int, int]]:
    """The spans of the elements of a `;`-list that stands in one argument; a single span where it is no list."""
    quote = arg.kind == QUOTED
    if arg.kind == BRACKET or b";" not in source[arg.start : arg.end]:
        return [(arg.start, arg.end)]
    begin, stop = arg.start + quote, arg.end - quote
    cuts = [m.start() for m in _SEMICOLON.finditer(source, begin, stop) if m[0] == b";"]
    if not cuts:
        return [(arg.start, arg.end)]
    spans = zip([begin, *(cut + 1 for cut in cuts)], [*cuts, stop], strict=True)
    return [(start, end) for start, end in spans if start < end]


# A `;` inside a reference or square brackets, or after a backslash, divides nothing.
_SEMICOLON = re.compile(rb"\\.|\$(?:ENV|CACHE)?\{[^{}]*\}|\[[^\[\]]*\]|;", re.DOTALL)


# --- writing ------------------------------------------------------------------------------------------------------

_CLOSERS = re.compile(r"\]=*\]|\]=+\Z")
_SAFE = re.compile(r"[^\s()#\"\\;$@\[\]]+")
_SPECIAL = re.compile(r'[\\"$]')


def check(value: str, reserved: Collection[str]) -> None:
    """Raises Unwritable where CMake would not take `value` for the one word that is meant."""
    verbatim(value)
    if ";" in value:
        raise Unwritable("CMake would split it at its `;`")
    if "$<" in value or _AT.search(value):
        raise Unwritable("CMake may take a part of it for a generator expression or an `@VARIABLE@`")
    if value.endswith("\\") or _CLOSERS.search(value) or not _balanced(value):
        raise Unwritable("a backslash at its end or its square brackets would run into what stands beside it")
    if value in reserved:
        raise Unwritable(f"the command would take it for its keyword {value}")


def _balanced(value: str) -> bool:
    depth = 0
    for char in value:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            return False
    return depth == 0


def quote(value: str, kind: str, references: Collection[str] = ()) -> bytes:
    """`value` (checked) as an argument of this kind where that can hold it, else as a quoted one. Of what looks like a
    reference in it, `references` are written as such, everything else is escaped."""
    parts = list(_split(value, references))
    if kind == BRACKET and not any(live for _, live in parts):
        return _bracket(value).encode()
    if kind == BARE and fits_bare(value, references):
        return value.encode()
    return f'"{inner(value, references)}"'.encode()


def fits_bare(value: str, references: Collection[str] = ()) -> bool:
    """Whether `value` can stand without quotes."""
    plain = "".join(part for part, live in _split(value, references) if not live)
    return bool(value) and (not plain or _SAFE.fullmatch(plain) is not None) and not is_keyword(value)


def inner(value: str, references: Collection[str] = ()) -> str:
    """`value` as it stands between the quotes of a quoted argument."""
    return "".join(part if live else _SPECIAL.sub(r"\\\g<0>", part) for part, live in _split(value, references))


def _split(value: str, references: Collection[str]) -> Iterator[tuple[str, bool]]:
    """`value` cut into text and the references that are meant as such."""
    at = 0
    for match in REFERENCE.finditer(value) if references else ():
        if match[0] in references:
            yield value[at : match.start()], False
            yield match[0], True
            at = match.end()
    yield value[at:], False


def _bracket(value: str) -> str:
    """A bracket argument: as many `=` as its content, followed by the closer itself, does not hold too early."""
    equals = ""
    while f"]{equals}]" in f"{value}]{equals}":
        equals += "="
    return f"[{equals}[{value}]{equals}]"
