"""The lines of a Dockerfile, joined into instructions as BuildKit joins them.

Rules: the Dockerfile reference (https://docs.docker.com/reference/dockerfile/) and, where that is silent, BuildKit's
frontend/dockerfile/parser: parser.go, split_command.go. The tree-sitter grammars stumble on real Dockerfiles.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from pinctl.sites.packages import Span

_BOM = b"\xef\xbb\xbf"
_DIRECTIVE = re.compile(rb"#\s*(?P<key>[A-Za-z][A-Za-z0-9]*)\s*=\s*(?P<value>.+?)\s*")
_DIRECTIVES = frozenset({b"syntax", b"escape", b"check"})
_KEYWORD = re.compile(rb"\s*(?:(?i:ONBUILD)\s+)*(?P<keyword>[A-Za-z]+)(?:\s+|\Z)")
_QUOTED = rb"'[^']*+'|\"(?:[^\"\\]++|\\.)*+\""
_FLAGS = re.compile(rb"(?:--(?:[^\s'\"\\]++|\\.|%b)*+(?:\s+|\Z))*+" % _QUOTED, re.DOTALL)
_WORD = re.compile(rb"\s*+(?P<word>(?:[^\s'\"\\]++|\\.|%b)++)" % _QUOTED, re.DOTALL)
_HEREDOC = re.compile(rb"[0-9]*<<(?P<tabs>-?)(?P<name>[^<]*)", re.DOTALL)
_WITH_HEREDOCS = frozenset({"RUN", "COPY", "ADD"})

_Line = tuple[int, bytes]
"""Where a line begins in the file, and its bytes without the line end."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its keyword in capitals, and its arguments as one line, with flags and continuations taken out;
    the flags end where `text` begins.

    Of ONBUILD it is the instruction behind it. `offsets` and `places` say where the pieces of `text` begin in it and
    in the file. `heredocs` are the spans of its here-documents, the words that announce them are blank in `text`.
    """

    keyword: str
    text: bytes
    offsets: tuple[int, ...]
    places: tuple[int, ...]
    heredocs: tuple[Span, ...] = ()
    flags: bytes = b""

    def span(self, start: int, end: int) -> Span:
        """The bytes of the file that hold `start:end` of the text: over several lines, with what stands between."""
        return self._place(start), self._place(end - 1) + 1 if end > start else self._place(start)

    def _place(self, at: int) -> int:
        piece = bisect_right(self.offsets, at) - 1
        return self.places[piece] + at - self.offsets[piece]

    @property
    def is_json(self) -> bool:
        """Whether the arguments are a JSON list of strings, the form that no shell sees."""
        if not self.text.startswith(b"["):
            return False
        try:
            words = json.loads(self.text)
        except (ValueError, RecursionError):
            return False
        return all(isinstance(word, str) for word in words)


def instructions(source: bytes) -> tuple[bytes, list[Instruction]]:
    """The file's escape character and its instructions, unknown ones included."""
    lines = list(_lines(source))
    escape, found, n = _escape(lines), [], 0
    while n < len(lines):
        pieces, n = _joined(lines, n, escape)
        instruction = _instruction(pieces) if pieces else None
        if instruction is None:
            continue
        if instruction.keyword in _WITH_HEREDOCS and b"<<" in instruction.text and not instruction.is_json:
            instruction, n = _with_heredocs(instruction, lines, n)
        found.append(instruction)
    return escape, found


def _lines(source: bytes) -> Iterator[_Line]:
    at = len(_BOM) if source.startswith(_BOM) else 0
    while at < len(source):
        end = source.find(b"\n", at)
        end = len(source) if end < 0 else end
        yield at, source[at:end].rstrip(b"\r")
        at = end + 1


def _escape(lines: Sequence[_Line]) -> bytes:
    """What the directive `# escape=` says; directives stand before all else, other comments included."""
    for _, line in lines:
        directive = _DIRECTIVE.fullmatch(line.lstrip())
        if directive is None or directive["key"].lower() not in _DIRECTIVES:
            break
        if directive["key"].lower() == b"escape" and directive["value"] in (b"`", b"\\"):
            return directive["value"]
    return b"\\"


def _joined(lines: Sequence[_Line], n: int, escape: bytes) -> tuple[list[_Line], int]:
    """The pieces of the instruction that begins in line `n`, none for a comment; and the number of the line behind."""
    pieces: list[_Line] = []
    more = True
    while more and n < len(lines):
        place, line = lines[n]
        n += 1
        stripped = line.lstrip()
        if not stripped or stripped.startswith(b"#"):
            # Inside an instruction a comment or an empty line does not end it.
            more = bool(pieces)
            continue
        if not pieces:
            place, line = place + len(line) - len(stripped), stripped
        content = line.rstrip(b" \t")
        more = content.endswith(escape) and not content.endswith(escape * 2)
        pieces.append((place, content[:-1] if more else line))
    return pieces, n


def _instruction(pieces: Sequence[_Line]) -> Instruction | None:
    whole = b"".join(content for _, content in pieces)
    match = _KEYWORD.match(whole)
    if match is None:
        return None
    flags = _FLAGS.match(whole, match.end())
    begin = flags.end() if flags else match.end()
    offsets = accumulate((len(content) for _, content in pieces[:-1]), initial=-begin)
    places = tuple(place for place, _ in pieces)
    return Instruction(match["keyword"].decode().upper(), whole[begin:].rstrip(), tuple(offsets), places,
                       flags=whole[match.end() : begin])  # fmt: skip


def _with_heredocs(instruction: Instruction, lines: Sequence[_Line], n: int) -> tuple[Instruction, int]:
    text, bodies = bytearray(instruction.text), []
    for start, end, name, tabs in _announced(instruction.text):
        last = _terminator(lines, n, name, tabs)
        if last is None:
            break
        bodies.append((lines[n][0], lines[last][0]))
        text[start:end] = b" " * (end - start)
        n = last + 1
    joined = bytes(text).rstrip()
    return replace(instruction, text=joined, heredocs=tuple(bodies)), n


def _announced(text: bytes) -> Iterator[tuple[int, int, bytes, bool]]:
    """The here-documents that the words of `text` announce: the word's span, the end's name, whether tabs may stand
    before it."""
    at = 0
    while word := _WORD.match(text, at):
        at = word.end()
        heredoc = _HEREDOC.fullmatch(word["word"])
        if heredoc is None:
            continue
        name = heredoc["name"]
        if not name and (following := _WORD.match(text, at)):
            at, name = following.end(), following["word"]
        if name and b"<" not in name:
            yield word.start("word"), at, re.sub(rb"\\(.)|['\"]", rb"\1", name), bool(heredoc["tabs"])


def _terminator(lines: Sequence[_Line], n: int, name: bytes, tabs: bool) -> int | None:
    for number in range(n, len(lines)):
        line = lines[number][1]
        if (line.lstrip(b"\t") if tabs else line) == name:
            return number
    return None
