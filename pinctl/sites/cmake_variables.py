"""What the variables of a CMake file are set to, where that can be known from the file alone.

A variable is followed to its `set()` calls only if nothing else in the file can give it a value, and if each of them
can be in force where it is used. In doubt it is not followed: a value that is not found is told, one that is not in
force would be taken for the truth.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pinctl.sites.cmake_lexer import BARE, BRACKET, Arg, Call

_MOST_SETS = 16
"""How many `set()` of one variable are still plain enough to follow."""
_READERS = frozenset(
    {"else", "elseif", "endif", "endwhile", "if", "mark_as_advanced", "message", "set_property", "while"}
)
"""Commands that take the name of a variable and leave its value alone."""
_SCOPES = frozenset({"block", "function", "macro"})
"""Commands that open what a `set()` may not reach out of."""
_SCOPE_ENDS = frozenset(f"end{command}" for command in _SCOPES)

Span = tuple[int, int]


class _Set(NamedTuple):
    values: list[Arg]
    reach: Span


class Variables:
    """The variables of one file. `harmless` are further commands whose arguments are never set."""

    def __init__(self, source: bytes, calls: Sequence[Call], harmless: Collection[str] = ()) -> None:
        self._source = source
        self._sets: dict[str, list[_Set]] = {}
        self._written: set[str] = set()
        self._prefixes: tuple[str, ...] = ()
        for call, end in zip(calls, _scope_ends(calls, len(source)), strict=True):
            if call.name == "set" and call.args:
                self._add(call, end)
            elif call.name not in _READERS and call.name not in harmless:
                self._written.update(self._name(arg) for arg in call.args)
            if call.name == "cmake_parse_arguments":
                self._prefixes += tuple(f"{self._name(arg)}_" for arg in call.args)

    def values(self, name: str, at: int) -> list[list[Arg]]:
        """What each `set(name ...)` gives `name`, for its use at the byte `at`; none where it is not all that may."""
        sets = self._sets.get(name, [])
        known = len(sets) <= _MOST_SETS and name not in self._written and not name.startswith(self._prefixes)
        return [s.values for s in sets] if known and all(s.reach[0] <= at < s.reach[1] for s in sets) else []

    def _add(self, call: Call, end: int) -> None:
        name = self._name(call.args[0])
        if any(self._name(arg) == "PARENT_SCOPE" for arg in call.args[-1:]):
            self._written.add(name)
        self._sets.setdefault(name, []).append(_Set(set_values(self._source, call), (call.end, end)))

    def _name(self, arg: Arg) -> str:
        raw = self._source[arg.start : arg.end].decode("utf-8", "surrogateescape")
        return raw if arg.kind == BRACKET else raw.strip('"')


def set_values(source: bytes, call: Call) -> list[Arg]:
    """What a `set(X value... [CACHE type doc [FORCE]] [PARENT_SCOPE])` sets X to."""
    words = [source[arg.start : arg.end] if arg.kind == BARE else b"" for arg in call.args]
    if b"CACHE" in words[1:]:
        return call.args[1 : words.index(b"CACHE", 1)]
    return call.args[1:-1] if words[-1] == b"PARENT_SCOPE" else call.args[1:]


def _scope_ends(calls: Sequence[Call], end: int) -> Iterator[int]:
    """For each call where the innermost function, macro or block around it ends; `end` for what stands in none."""
    ends, opened = dict.fromkeys(range(len(calls)), end), [list[int]()]
    for n, call in enumerate(calls):
        if call.name in _SCOPE_ENDS and opened[1:]:
            ends.update(dict.fromkeys(opened.pop(), call.start))
        opened[-1].append(n)
        if call.name in _SCOPES:
            opened.append([])
    return iter(ends.values())
