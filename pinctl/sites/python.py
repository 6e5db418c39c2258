"""Site language: Python.

Selectors:

    NAME                    the string or number that is assigned to NAME, wherever that is
    NAME:-                  the default of `NAME = os.environ.get("X", "default")`, or os.getenv
    NAME[key]               an entry of a dictionary
    NAME[]                  a list, tuple or set
    NAME[src / *]           its elements of that shape, such as `src / "a/b"`, `str(src / "a/b")`; `*` is the string
    call("first").keyword   a keyword argument of the call with this first argument (or name=); `call().keyword` too
    requirement NAME        the version in a string `NAME==version`; `specifier NAME` and `url NAME` as in pyproject
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pinctl.plan import Edit, apply
from pinctl.sites import pep508
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, Value
from pinctl.sites.python_literals import encode, escape
from pinctl.sites.python_reader import EXPRESSION, INNER, Home, Layout, Reader

NAME = "python"
COMMENT = ("# ", "")

_CALL = re.compile(
    r"""(?s)(?P<call>[\w.]+)\((?:"(?P<a>[^"]*)"|'(?P<b>[^']*)'|(?P<c>[^"'()]*))\)(?P<rest>\.\w+(?:\[.*\])?)"""
)
_NAMED = re.compile(r"(?s)(?P<name>\w+)(?::-|(?P<rest>\[.*\]))?")
_QUOTED_KEY = re.compile(r"""\[(?P<quote>["'])([^"'\[\]]*)(?P=quote)\]""")
_COMMENT = re.compile(rb"[ \t]*(?P<comma>,?)[ \t]*#[^\n]*?(?=\r?(?:\n|\Z))")
_REST = re.compile(rb"[ \t]*,?[ \t]*(?:#[^\n]*|\r)?(?:\n|\Z)")
_COMMA = re.compile(rb"[ \t]*,[ \t]*")
_NEXT_COMMA = re.compile(rb"(?:\s|#[^\n]*)*,")
_GAP = re.compile(rb"\s*,\s*")


def parse(source: bytes) -> "Python":
    """The document of any bytes; what is no Python is told in its `errors`."""
    reader = Reader(source)
    return Python(source=source, errors=reader.errors, reader=reader)


@dataclass(slots=True, kw_only=True)
class Python(Document):
    """A parsed Python file."""

    reader: Reader

    def slots(self) -> Iterator[Slot]:
        """Every literal and list by all of its selectors, but the shapes of elements, which `find` reads."""
        yield from self.reader.slots()

    def find(self, selector: str) -> list[Hit]:
        """See `Document`; also `LIST[pattern]`. Quotes around a call's first argument or a key may be left out."""
        plain = _normal(selector)
        hits = self.index().get(plain, [])
        if hits or not plain.endswith("]"):
            return hits
        for match in re.finditer(r"\[", plain):
            lists, pattern = self.index().get(f"{plain[: match.start()]}[]", []), plain[match.end() : -1]
            if lists and "*" in pattern:
                if pattern.count("*") > 1:
                    raise BadSelector(f"in [{pattern}] one `*` stands for the string, and there are several")
                shaped = [self.reader.shaped(slot, pattern) for hit in lists for slot in hit]
                return [(slot,) for slot in shaped if slot]
        return []

    # --- writing ---

    def edits(self, slot: Slot, value: Value) -> list[Edit]:
        """See `Document`; the comma that makes a tuple of one element is kept or put."""
        edits = Document.edits(self, slot, value)
        layout = self.reader.homes[slot.tokens[0].start].layout if slot.many and slot.tokens else None
        if layout is None or layout.kind != "tuple" or not any(edit.new == b"" for edit in edits):
            return edits
        gone = [edit for edit in edits if edit.new == b""]
        left = [
            item.end_byte for item in layout.items
            if not any(edit.start <= item.start_byte and item.end_byte <= edit.end for edit in gone)
        ]  # fmt: skip
        for at in left if len(left) == 1 else ():
            behind = [Edit(edit.start - at, edit.end - at, edit.new) for edit in edits if edit.start >= at]
            if not _NEXT_COMMA.match(apply(self.source[at : layout.end], behind)):
                edits.append(Edit(at, at, b","))
        return edits

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        """See `Document`. A new element of a list is its last neighbour's text with another literal."""
        if token is None:
            return self._element(slot, len(slot.tokens) - 1, value)
        if token.style == EXPRESSION:
            raise Unwritable(f"`{token.value}` is no literal; name the elements that are meant: NAME[src / *]")
        if token.style in pep508.KINDS:
            return pep508.checked(token.style, value).encode()
        if token.style.startswith(INNER):
            return escape(value, token.style.removeprefix(INNER))
        return encode(value, token.style)

    def _element(self, slot: Slot, beside: int, value: str) -> bytes:
        """A new element in the shape of the literal nearest to the token `beside`."""
        literals = [n for n, token in enumerate(slot.tokens) if token.style != EXPRESSION]
        if not literals:
            return encode(value, '"')
        token = slot.tokens[min(literals, key=lambda n: abs(n - beside))]
        home = self.reader.homes[token.start]
        head, tail = self.source[home.start : token.start], self.source[token.end : home.end]
        return head + self.encode(slot, token, value) + tail

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        """Elements, not literals, are what stands in a list; a comment behind one stays with it."""
        home = self.reader.homes[slot.tokens[max(at - 1, 0)].start]
        words = [self._element(slot, max(at - 1, 0), value) for value in new]
        gap = self._gap(home)
        if at == 0:
            return Edit(home.start, home.start, b"".join(word + gap for word in words))
        comment = _COMMENT.match(self.source, home.end)
        if comment is None:
            return Edit(home.end, home.end, b"".join(gap + word for word in words))
        line = gap.lstrip(b", \t") if b"\n" in gap else self._new_line(home.start) or b"\n"
        if comment["comma"]:
            return Edit(comment.end(), comment.end(), b"".join(line + word + b"," for word in words))
        text = b"," + self.source[home.end : comment.end()]
        return Edit(home.end, comment.end(), text + b",".join(line + word for word in words))

    def _gap(self, home: Home) -> bytes:
        """What stands between two elements of a list: as behind this one, or elsewhere in it."""
        items = home.layout.items
        gaps = [self.source[a.end_byte : b.start_byte] for a, b in pairwise(items)]
        for gap in gaps[home.index : home.index + 1] + gaps[::-1]:
            if _GAP.fullmatch(gap):
                line = gap.rfind(b"\n")
                return gap if gap.count(b"\n") < 2 else b"," + gap[line - (gap[line - 1 : line] == b"\r") :]
        line_break = next((b for item in reversed(items) if (b := self._new_line(item.start_byte))), b"")
        return b"," + (line_break or b" ")

    def _new_line(self, at: int) -> bytes:
        """The line break and indentation before `at`; nothing where something else stands before it on its line."""
        line = self.source.rfind(b"\n", 0, at)
        before = self.source[line + 1 : at]
        if line < 0 or before.strip(b" \t"):
            return b""
        return (b"\r\n" if self.source[line - 1 : line] == b"\r" else b"\n") + before

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        """Whole elements go, each with its comma, its line and the comment behind it; other comments stay."""
        gone = slot.tokens[first:stop]
        if any(token.style == EXPRESSION for token in gone):
            raise Unwritable("an element that is no literal would go; name those that are meant: NAME[src / *]")
        homes = [self.reader.homes[token.start] for token in gone]
        layout, indexes = homes[0].layout, [home.index for home in homes]
        runs: list[tuple[int, int]] = []
        for index in indexes:
            beside = bool(runs) and runs[-1][1] == index - 1
            runs.append((runs.pop()[0] if beside else index, index))
        for low, high in runs:
            yield from self._cut(layout, low, high)

    def _cut(self, layout: Layout, low: int, high: int) -> Iterator[Edit]:
        """The edits that take the elements `low` to `high` out. Not all of them may go."""
        items = layout.items
        around = items[max(low - 1, 0) : high + 2]
        gaps = [self.source[a.end_byte : b.start_byte] for a, b in pairwise(around)]
        if not _COMMENT.match(self.source, items[high].end_byte) and all(_GAP.fullmatch(gap) for gap in gaps):
            start, end = items[low].start_byte, items[high].end_byte
            yield Edit(items[low - 1].end_byte, end, b"") if low else Edit(start, items[high + 1].start_byte, b"")
            return
        spans: list[tuple[int, int]] = []
        for item in items[low : high + 1]:
            beside = bool(spans) and _COMMA.fullmatch(self.source, spans[-1][1], item.start_byte) is not None
            spans.append((spans.pop()[0] if beside else item.start_byte, item.end_byte))
        yield from (Edit(*self._around(start, end), b"") for start, end in spans)

    def _around(self, start: int, end: int) -> tuple[int, int]:
        """What goes with elements that have comments around them: their line if nothing else is on it, else a comma
        and blanks."""
        line = self.source.rfind(b"\n", 0, start) + 1
        before = self.source[line:start]
        comma = _COMMA.match(self.source, end)
        if before.strip(b" \t"):
            return line + len(before.rstrip(b" \t")), comma.start() + comma[0].index(b",") + 1 if comma else end
        rest = _REST.match(self.source, end)
        return (line, rest.end()) if rest else (start, comma.end() if comma else end)

    def fill(self, slot: Slot, values: Sequence[str]) -> list[Edit]:
        inside = self.source[slot.start + 1 : slot.end - 1]
        if inside.strip():
            raise Unwritable("the list is empty but for a comment")
        words = b", ".join(encode(value, '"') for value in values)
        lone = len(values) == 1 and self.source[slot.start : slot.start + 1] == b"("
        return [Edit(slot.start + 1, slot.end - 1, words + b"," * lone)]

    def empty(self, slot: Slot) -> list[Edit]:
        layout = self.reader.homes[slot.tokens[0].start].layout
        inside = self.source[layout.start + 1 : layout.end - 1]
        if len(slot.tokens) < len(layout.items) or slot.style or layout.kind == "set":
            raise Unwritable("the list would become empty, or lose its last element of that shape")
        if b"#" in inside or any(token.style == EXPRESSION for token in slot.tokens):
            raise Unwritable("the list has comments, or elements that are no literals")
        return [Edit(layout.start + 1, layout.end - 1, b"")]


def _normal(selector: str) -> str:
    """A selector with its quotes as `names` have them. Raises BadSelector where it has none of the forms."""
    requirement = pep508.selector(selector)
    if requirement is not None:
        return requirement
    if call := _CALL.fullmatch(selector):
        key = next((call[group] for group in "abc" if call[group]), None)
        head = f'{call["call"]}("{key}")' if key is not None else f"{call['call']}()"
        return head + _plain_keys(call["rest"])
    named = _NAMED.fullmatch(selector)
    if named is None or not named["name"].isidentifier():
        raise BadSelector(
            f"{selector!r} is no selector of a Python file: expected NAME, NAME[], NAME[key], NAME[src / *], NAME:-, "
            'call("first argument").keyword or `requirement NAME`'
        )
    return _plain_keys(selector)


def _plain_keys(selector: str) -> str:
    """`[key]` for `["key"]`, but nothing of a pattern changes."""
    return selector if "*" in selector else _QUOTED_KEY.sub(r"[\2]", selector)
