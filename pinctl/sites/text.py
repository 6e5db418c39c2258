"""Files of plain text that hold a value and nothing else, such as `llvm-hash.txt`.

Selectors: `text` is the one word of the file, `text:N` what stands on line N (from 1). Lines end at a line feed; white
space around a value, a carriage return among it, stays as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, scalar, verbatim

NAME = "text"
COMMENT: tuple[str, str] | None = ("# ", "")

_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(r"text:([1-9][0-9]{0,6})")
_WORD, _WHOLE = "word", "line"


def parse(source: bytes) -> "TextDocument":
    """The document of any bytes."""
    return TextDocument(source=source)


@dataclass(slots=True)
class TextDocument(Document):
    """A text file. Its index has `text` alone; lines are found when asked for, as most texts hold no pins."""

    def slots(self) -> Iterator[Slot]:
        start = len(_BOM) if self.source.startswith(_BOM) else 0
        words = self.source[start:].split(maxsplit=2)
        if len(words) == 1:
            yield self._slot("text", self.source.index(words[0], start), words[0], _WORD)

    def find(self, selector: str) -> list[Hit]:
        match = _LINE.fullmatch(selector)
        if match is not None:
            return [(slot,) for slot in self._line(int(match[1]))]
        if selector != "text":
            raise BadSelector(
                f"{selector!r} is none of a text file; expected `text`, `text:N` (line N) or `regex:...(?P<value>...)`"
            )
        return Document.find(self, selector)

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        style = (token or slot.tokens[0]).style
        text = verbatim(value)
        if not text or text != text.strip() or (style == _WORD and text.split() != [text]):
            raise Unwritable(f"{value!r} is not one {style} of text")
        return text

    def _line(self, number: int) -> Iterator[Slot]:
        lines = self.source.split(b"\n", number)
        if number <= len(lines):
            line = lines[number - 1]
            begin = sum(len(before) + 1 for before in lines[: number - 1])
            if begin == 0 and line.startswith(_BOM):
                begin, line = len(_BOM), line.removeprefix(_BOM)
            content = line.strip()
            if content:
                yield self._slot(f"text:{number}", begin + line.index(content), content, _WHOLE)

    def _slot(self, name: str, start: int, content: bytes, style: str) -> Slot:
        value = content.decode("utf-8", "replace")
        return scalar((name,), Token(value=value, start=start, end=start + len(content), style=style))
