"""Shell text in scalars of YAML: what `run:` of a workflow and `command:` of a pipeline install and build.

Of all that a shell script says, requirements and build arguments are read here: `pip install NAME` and its like as the
shell's own module names them, and `build-arg NAME` for `--build-arg NAME=value`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinctl.sites.base import Slot, Token, Unwritable
from pinctl.sites.shell_words import literal, quote
from pinctl.sites.yaml_scalar import BLOCK, DOUBLE, IN_FLOW, ORDINARY, SINGLE, Piece, check

_REQUIREMENTS = ("pip install ", "requirement ", "specifier ", "url ")
_BUILD_ARG = "build-arg "
_SELECTOR = re.compile(rf"(?:(?P<place>.*):)?(?P<form>(?:{'|'.join((*_REQUIREMENTS, _BUILD_ARG))})\S+)", re.DOTALL)

_EXPRESSION = re.compile(rb"\$\{\{.*?\}\}", re.DOTALL)
"""What GitHub fills in before a shell sees the text; to the grammar it would be a mistake."""
_ARGUMENT = re.compile(rb"(?P<quote>[\"']?)(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_OPTION = re.compile(rb"\s--build-arg(?:\s|\\\r?\n)+\Z")


def split(selector: str) -> tuple[str, str] | None:
    """A selector of what stands in shell text as the scalar that it names, "" for any, and the rest, with a project's
    name as PEP 503 compares it. None for any other selector. Raises BadSelector."""
    match = _SELECTOR.fullmatch(selector)
    if match is None:
        return None
    if match["form"].startswith(_BUILD_ARG):
        return match["place"] or "", match["form"]
    from pinctl.sites import shell

    return match["place"] or "", shell.normal(match["form"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One literal in a shell text: its selectors, the literal with its place in that text, the style of the scalar
    around it, and what writes it: the shell's slot, or for a build argument what stands before the value where the word
    is quoted as a whole."""

    names: tuple[str, ...]
    token: Token
    style: str
    slot: Slot | None = None
    before: str = ""

    def encode(self, value: str) -> bytes:
        """`value` as it must stand in the file. Raises Unwritable."""
        check(value, self.token.value)
        if self.slot is None:
            return _embedded(quote(self.before + value, self.token.style), self.style)
        from pinctl.sites import shell

        return _embedded(shell.encode(self.slot, self.token, value), self.style)


def runs(pieces: Sequence[Piece], style: str) -> Iterator[tuple[Run, int, int]]:
    """What a scalar that is shell text says, each with its bytes in the file."""
    from pinctl.sites import shell

    written = b"".join(piece.meaning for piece in pieces)
    code = _EXPRESSION.sub(lambda match: b"$" + b"_" * (len(match[0]) - 1), written)
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece.meaning))
    for slot in shell.parse(code).slots():
        run = None if slot.many else _requirement(slot, style) or _argument(slot, code, style)
        if run is not None:
            start = _place(pieces, starts, run.token.start)
            yield run, start, _place(pieces, starts, run.token.end - 1, last=True)


def _requirement(slot: Slot, style: str) -> Run | None:
    names = tuple(name for name in slot.names if name.startswith(_REQUIREMENTS))
    return Run(names=names, token=slot.tokens[0], style=style, slot=slot) if names else None


def _argument(slot: Slot, code: bytes, style: str) -> Run | None:
    """A word behind `--build-arg`. The shell's module takes it for an argument like any other."""
    word = code[slot.start : slot.end]
    match = _ARGUMENT.fullmatch(word)
    if match is None or not _OPTION.search(code, max(0, slot.start - 200), slot.start):
        return None
    name, whole = match["name"].decode(), bool(match["quote"])
    read = literal(word if whole else match["value"])
    if read is None or not read[0]:
        return None
    before = f"{name}=" if whole else ""
    start = slot.start + (0 if whole else match.start("value"))
    token = Token(value=read[0].removeprefix(before), start=start, end=slot.end, style=read[1])
    return Run(names=(f"{_BUILD_ARG}{name}",), token=token, style=style, before=before)


def _place(pieces: Sequence[Piece], starts: Sequence[int], at: int, *, last: bool = False) -> int:
    """Where in the file the byte `at` of the shell text begins, or ends."""
    n = bisect_right(starts, at) - 1
    piece = pieces[n]
    if len(piece.meaning) != piece.end - piece.start:
        return piece.end if last else piece.start
    return piece.start + at - starts[n] + last


def _embedded(word: bytes, style: str) -> bytes:
    """A shell word as it must stand in a scalar of that style. Raises Unwritable."""
    if not ORDINARY.fullmatch(word.decode()):
        raise Unwritable(f"{word.decode()!r} holds a character that readers of YAML skip or refuse")
    if style == DOUBLE:
        return word.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    if style == SINGLE:
        return word.replace(b"'", b"''")
    refused = rb": | #|^#|:\Z" if style != IN_FLOW else rb": | #|^#|:\Z|[,\[\]{}?]"
    if style != BLOCK and re.search(refused, word):
        raise Unwritable(f"{word.decode()!r} would end the plain scalar that it stands in")
    return word
