"""Site language: CMake.

Selectors:

    FetchContent(NAME)          repo, ref and submodules, or url and hash, of the call that fetches NAME; through set()
    ExternalProject(NAME), CPMAddPackage(NAME), CPMFindPackage(NAME)    the same of their calls
    set(NAME)                   what a variable, cache entry or ENV{NAME} is set to: one value, or a list
    option(NAME)                its value
    file(VAR)                   the patterns of `file(GLOB VAR ...)`
    list(VAR)                   what `list(APPEND VAR ...)` puts there
    target_include_directories(TARGET), include_directories    the directories
    CALL(first).KEYWORD         what follows KEYWORD in the call with this first argument (or NAME, or REPO)
    KEYWORD                     the same, where one call alone has it
    SELECTOR[]                  the value as a list, also when it has one element

Names of commands are case-insensitive. Elements of lists keep their `${...}` as text; a single value with a reference
is none, but one that is all reference is followed to its set(), unless something else may give the variable a value.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pinctl.plan import Edit
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, Value
from pinctl.sites.cmake_lexer import (
    BARE,
    BRACKET,
    OPENS,
    QUOTED,
    REFERENCE,
    Arg,
    check,
    fits_bare,
    inner,
    lex,
    quote,
)
from pinctl.sites.cmake_reader import (
    FLOW,
    IN_BARE,
    IN_QUOTED,
    IN_URI,
    ONE_VALUE,
    RESERVED,
    SOURCES,
    TEXT,
    Reader,
    spelled,
)

NAME = "cmake"
COMMENT = ("# ", "")

_FORM = re.compile(r"(?s)(?P<call>[A-Za-z_]\w*)\((?P<key>.*)\)(?P<keyword>\.[A-Z][A-Z0-9_]*)?")
_PLAIN_FORM = re.compile(r"[A-Z][A-Z0-9_]*|include_directories")
_ESCAPED = re.compile(r"(?s)\\.")
_LINE_COMMENT = re.compile(rb"[ \t\r]*#(?!\[=*\[)[^\n]*?(?=\r?(?:\n|\Z))")
_BLANKS = re.compile(rb"[ \t]*")
_LINE_END = re.compile(rb"[ \t\r]*(?:#(?!\[=*\[)[^\n]*)?(?:\n|\Z)")


def parse(source: bytes) -> "CMake":
    """The document of any bytes; what is no CMake is told in its `errors`."""
    calls, errors = lex(source)
    return CMake(source=source, errors=tuple(errors), reader=Reader(source, calls))


@dataclass(slots=True, kw_only=True)
class CMake(Document):
    """A parsed CMake file."""

    reader: Reader

    def slots(self) -> Iterator[Slot]:
        """Every literal by all of its selectors. One literal may be in several slots: a `set()` that a FetchContent
        call goes through is `set(X)` and a part of `FetchContent(name)`. Parts of a compound selector come first."""
        yield from self.reader.slots()

    def find(self, selector: str) -> list[Hit]:
        """Also: `SELECTOR[]`, the value as a list whatever the number of its elements; and the keywords of commands
        such as `if`, which `slots` leaves out. Command names are case-insensitive, as in CMake."""
        if selector.endswith("[]"):
            return [tuple(_as_list(slot) for slot in hit) for hit in self.find(selector[:-2])]
        form = _FORM.fullmatch(selector)
        if form is None:
            if not _PLAIN_FORM.fullmatch(selector):
                raise BadSelector(
                    f"{selector!r} is no selector of a CMake file: expected FetchContent(NAME), set(NAME), file(VAR), "
                    "list(VAR), CALL(first argument).KEYWORD or KEYWORD"
                )
            return Document.find(self, selector)
        command = spelled(form["call"])
        canonical = f"{command}({form['key']}){form['keyword'] or ''}"
        if command not in FLOW:
            return Document.find(self, canonical)
        calls = [call for call in self.reader.calls if call.name == command]
        return [(slot,) for call in calls for slot in self.reader.keyword_slots(call) if canonical in slot.names]

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        """See `Document`. What looks like a reference is one only where it stands in the list already."""
        style, _, address = (token.style if token else _new_style(slot)).partition(" of ")
        value = _below(address, value)
        references = self._references(slot)
        check(value, RESERVED)
        _check_meaning(slot, value, references)
        if style == IN_QUOTED:
            return inner(value, references).encode()
        if style in (BARE, QUOTED, BRACKET):
            return quote(value, style, references)
        if not fits_bare(value, references) or (style == IN_URI and "#" in value):
            raise Unwritable("it needs quotes, and stands inside of an argument that has no room for them")
        return value.encode()

    def _references(self, slot: Slot) -> Collection[str]:
        """The references that stand in a list."""
        if slot.style != TEXT:
            return ()
        written = (self.reader.raw(Arg(token.start, token.end, BARE)) for token in slot.tokens)
        return {ref for text in written for ref in REFERENCE.findall(_ESCAPED.sub("", text))}

    def separator(self, slot: Slot, before: int) -> bytes:
        """See `Document`. A new element gets a line of its own where its neighbours have one."""
        tokens = slot.tokens
        gaps = [self.source[a.end : b.start] for a, b in pairwise(tokens)]
        for gap in gaps[before : before + 1] + gaps[::-1]:
            if gap and not gap.strip(b" \t\r\n;"):
                return _without_blank_lines(gap)
        if tokens[before].style in (IN_QUOTED, IN_BARE):
            return b";"
        return next((line for token in tokens[::-1] if (line := self._new_line(token.start))), b" ")

    def _new_line(self, at: int) -> bytes:
        """The line break and indentation before `at`; nothing where something else stands before it on its line."""
        line = self.source.rfind(b"\n", 0, at)
        before = self.source[line + 1 : at]
        if line < 0 or before.strip(b" \t"):
            return b""
        return (b"\r\n" if self.source[line - 1 : line] == b"\r" else b"\n") + before

    def _insertion(self, slot: Slot, at: int, new: Sequence[str]) -> Edit:
        """A comment behind an element stays with it: what is new stands after the comment."""
        _refuse_mixed(self.source, slot)
        edit = Document._insertion(self, slot, at, new)
        comment = _LINE_COMMENT.match(self.source, edit.start) if at else None
        if comment is None:
            return edit
        gap = self.separator(slot, at - 1)
        if b"\n" not in gap:
            gap = self._new_line(slot.tokens[at - 1].start) or b"\n"
        words = [self.encode(slot, None, value) for value in new]
        return Edit(comment.end(), comment.end(), b"".join(gap + word for word in words))

    def remove(self, slot: Slot, first: int, stop: int) -> Iterator[Edit]:
        """See `Document`. A comment behind an element goes with it, one on a line of its own stays."""
        _refuse_mixed(self.source, slot)
        tokens = slot.tokens
        around = tokens[max(first - 1, 0) : stop + 1]
        gaps = [self.source[a.end : b.start] for a, b in pairwise(around)]
        comment = _LINE_COMMENT.match(self.source, tokens[stop - 1].end)
        if not comment and not any(gap.strip(b" \t\r\n;") for gap in gaps):
            yield from Document.remove(self, slot, first, stop)
            return
        runs: list[tuple[int, int]] = []
        for token in tokens[first:stop]:
            beside = runs and not self.source[runs[-1][1] : token.start].strip(b" \t")
            runs.append((runs.pop()[0] if beside else token.start, token.end))
        yield from (Edit(*self._cut(start, end), b"") for start, end in runs)

    def _cut(self, start: int, end: int) -> tuple[int, int]:
        """What goes with elements that have comments around them: their line if nothing else is on it, or the blanks
        beside them."""
        line = self.source.rfind(b"\n", 0, start) + 1
        before = self.source[line:start]
        if before.strip(b" \t"):
            return line + len(before.rstrip(b" \t")), end
        if rest := _LINE_END.match(self.source, end):
            return line, rest.end()
        blanks = _BLANKS.match(self.source, end)
        return start, blanks.end() if blanks else end

    def fill(self, slot: Slot, values: Sequence[str]) -> list[Edit]:
        """The empty list is a quoted empty string, which gives way to the elements."""
        words = [self.encode(slot, None, value) for value in values]
        return [Edit(slot.start, slot.end, b" ".join(words))]

    def empty(self, slot: Slot) -> list[Edit]:
        """An empty list is a quoted empty string: without quotes FetchContent takes no element for all (CMP0097)."""
        _refuse_mixed(self.source, slot)
        first = slot.tokens[0]
        if first.style in (IN_QUOTED, IN_BARE):
            return [Edit(slot.start, slot.end, b'""')]
        rest = self.remove(slot, 1, len(slot.tokens)) if slot.tokens[1:] else ()
        return [Edit(first.start, first.end, b'""'), *rest]

    def as_list(self, slot: Slot) -> Slot:
        """See `Document`. Not for keywords and commands that take one value only."""
        one_value = slot.part or slot.selector.startswith("option(") or slot.names[-1] in ONE_VALUE
        return slot if one_value else _as_list(slot)

    def add(self, hit: Hit, part: str, value: Value) -> list[Edit]:
        """See `Document`. A call that fetches by git can be given its GIT_SUBMODULES, after its GIT_TAG."""
        call = next((call for call in self.reader.calls if hit and call.start == hit[0].group), None)
        groups = dict(self.reader.keywords(call)) if call and call.name in SOURCES else {}
        after = groups.get("GIT_TAG") or groups.get("GIT_REPOSITORY")
        if part != "submodules" or call is None or not after:
            raise Unwritable(f"the call says nothing of its {part}; write it there by hand once")
        if groups.get("GIT_SUBMODULES"):
            raise Unwritable("the call's GIT_SUBMODULES are no literals")
        values = (value,) if isinstance(value, str) else value
        words = b" ".join(self.encode(_SUBMODULES, None, v) for v in values) or b'""'
        bare = next((arg for arg in call.args if self.reader.raw(arg) == "GIT_SUBMODULES"), None)
        if bare:
            return [Edit(bare.end, bare.end, b" " + words)]
        line = self._new_line(call.args[call.args.index(after[0]) - 1].start)
        comment = _LINE_COMMENT.match(self.source, after[-1].end) if line else None
        at = comment.end() if comment else after[-1].end
        return [Edit(at, at, (line or b" ") + b"GIT_SUBMODULES " + words)]


_SUBMODULES = Slot(names=("GIT_SUBMODULES",), tokens=(), start=0, end=0, many=True)


def _as_list(slot: Slot) -> Slot:
    """A slot of one value as a list of one element; the empty string is CMake's empty list."""
    tokens = slot.tokens if slot.many or slot.value else ()
    return slot if slot.many else replace(slot, many=True, ordered=True, tokens=tokens)


def _new_style(slot: Slot) -> str:
    """How a new element is quoted: as its neighbours are."""
    styles = [token.style for token in slot.tokens]
    return styles[-1] if styles and QUOTED not in styles else QUOTED


def _below(address: str, value: str) -> str:
    """What is left of a repository's URL, or of a tag, where its beginning is meant without being said. Raises
    Unwritable."""
    if not value.startswith(address):
        raise Unwritable(f"only what begins with {address} can stand here")
    return value.removeprefix(address).removesuffix(".git") if address else value


def _check_meaning(slot: Slot, value: str, references: Collection[str]) -> None:
    """Raises Unwritable for what escapes cannot keep: ExternalProject writes the arguments of a call that fetches into
    scripts of its own, where they are evaluated again."""
    if slot.many and not value:
        raise Unwritable("an empty element cannot be told from none")
    text = REFERENCE.sub(lambda match: "" if match[0] in references else match[0], value)
    if OPENS.search(text):
        raise Unwritable("it holds a variable reference that does not stand there yet; write that by hand once")
    fetches = slot.part or slot.selector.partition("(")[0].lower() in SOURCES
    if fetches and re.search(r'["\\$`]', text):
        raise Unwritable("quotes, backslashes and `$` are evaluated a second time when the source is fetched")


def _refuse_mixed(source: bytes, slot: Slot) -> None:
    """Raises Unwritable for a list of several arguments one of which holds several elements."""
    tokens = slot.tokens
    gaps = [source[a.end : b.start] for a, b in pairwise(tokens)]
    if any(t.style in (IN_QUOTED, IN_BARE) for t in tokens) and any(gap.strip(b" \t\r\n") != b";" for gap in gaps):
        raise Unwritable("its elements stand in several arguments, one of which holds several joined by `;`")


def _without_blank_lines(gap: bytes) -> bytes:
    if gap.count(b"\n") < 2:
        return gap
    line = gap.rfind(b"\n")
    return gap[line - (gap[line - 1 : line] == b"\r") :]
