"""The `#include` lines of a C, C++ or CUDA source. Comments, strings and what Linux compiles out are no includes.

A scanner after the phases of translation of the C++ standard (ISO C++, [lex.phases], [cpp]): lines are spliced,
comments are white space, and a directive is a `#` that stands first on its line. Linear in the size of the source.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pinctl.upstream.conditions import Conditions

SOURCES = frozenset(".c .cc .cpp .cppm .cu .cuh .cxx .c++ .h .hh .hpp .hxx .h++ .inc .inl .ipp .ixx .tcc .tpp".split())
"""The endings of files that are scanned, in small letters."""

_SPLICE = rb"\\[ \t]*\r?\n"
_BLOCK = rb"/\*[\s\S]*?(?:\*/|\Z)"
_TO_END = rb"//(?:[^\n\\]++|" + _SPLICE + rb"|\\)*+"
_REST = rb"(?:[^\n/\\]++|" + _SPLICE + rb"|" + _BLOCK + rb"|" + _TO_END + rb"|[/\\])*+"
_WORDS = rb"include_next|include|define|ifndef|ifdef|if|elifndef|elifdef|elif|else|endif"
# Every alternative begins with one of six characters, so that the engine jumps from one of these to the next. What
# stands before that character (a digit separator, `FOUR"x"`) is looked at behind it for the same reason.
LEXEME = re.compile(
    rb"/(?:" + _BLOCK[1:] + rb"|" + _TO_END[1:] + rb")"
    rb"|\"(?:[^\"\\\n]++|\\[\s\S])*+\"?"
    rb"|'(?<![0-9A-KM-TV-Za-tv-z_]')(?:[^'\\\n]++|\\[\s\S])*+'?"
    rb"|R(?<![0-79A-KM-TV-Za-tv-z_]R)(?<![^u]8R)(?<![0-9A-Za-z_][uUL]R)\"(?P<mark>[^()\\\s\"]{0,16})\([\s\S]*?(?:\)(?P=mark)\"|\Z)"
    rb"|(?P<directive>\#)(?:[ \t]++|" + _BLOCK + rb")*+(?P<word>" + _WORDS + rb")\b(?P<rest>" + _REST + rb")"
)
"""A comment, a string, a character, or what may be a directive: `directive`, where it stands first on its line."""
_COMMENT = re.compile(_BLOCK + rb"|" + _TO_END + rb"|" + _SPLICE)
_TARGET = re.compile(rb"\s*(?:<([^>\"\\\n]+)>|\"([^\"\n]+)\")")
_LONGEST = 500


class Include(NamedTuple):
    """One `#include`: `name` as written, `angled` for `<name>`; `guarded` by a `__has_include`, `condition` the `#if`
    that may keep it out of a build; `line` counts from 1."""

    name: str
    line: int
    angled: bool
    guarded: bool = False
    condition: str | None = None


def scan(source: bytes) -> list[Include]:
    """The includes of `source` in order. A name that a macro gives is not seen."""
    found: list[Include] = []
    conditions = Conditions()
    line, counted = 1, 0
    for word, rest, start in _directives(source):
        if not word.startswith(b"include"):
            conditions.directive(word.decode(), plain(rest))
            continue
        target = _TARGET.match(_COMMENT.sub(b" ", rest) if b"/*" in rest or b"\\" in rest else rest)
        if target and not conditions.dead:
            line += source.count(b"\n", counted, start)
            counted = start
            name = (target[1] or target[2]).decode("utf-8", "replace").strip()[:_LONGEST]
            found.append(Include(name, line, target[1] is not None, conditions.guarded, conditions.open))
    return found


def _directives(source: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """The directives of `source` up to the last include: word, what follows it, and where they begin."""
    behind = 0  # the end of the last comment or string
    last = source.rfind(b"include")  # in most sources that is near their beginning
    for match in LEXEME.finditer(source):
        if match.start() > last:
            return
        if match["directive"]:
            line = max(source.rfind(b"\n", behind, match.start()) + 1, behind)
            if not source[line : match.start()].strip():
                yield match["word"], match["rest"], match.start()
        behind = match.end()


def plain(rest: bytes) -> str:
    """The rest of a directive without comments, on one line."""
    return _COMMENT.sub(b" ", rest).decode("utf-8", "replace").strip()
