"""Which uses were written together with the move of the pin: those with a line that the last commit does not have."""

import ast
from collections.abc import Mapping

from pinctl.contract.model import Place

_LARGEST = 1024 * 1024
"""Bytes of a file in which calls of several lines are looked for."""

Changed = Mapping[str, frozenset[int]]
"""By file, the lines that are new in the work tree."""


class Freshness:
    """Tells of a place whether it was written with the move. `sources` are the files of `changed`."""

    def __init__(self, changed: Changed, sources: Mapping[str, bytes]) -> None:
        self.changed = changed
        self._begun = {file: _begun(sources[file], lines) for file, lines in changed.items() if file in sources}

    def __call__(self, place: Place) -> bool:
        lines = self.changed.get(place.file, frozenset())
        return place.line in lines or (place.line, place.column) in self._begun.get(place.file, ())


def _begun(source: bytes, changed: frozenset[int]) -> set[tuple[int, int]]:
    """Where the calls and imports of several lines begin that have a changed line."""
    if len(source) > _LARGEST or not changed:
        return set()
    try:
        nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call | ast.Import | ast.ImportFrom)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {
        (node.lineno, node.col_offset + 1)
        for node in nodes
        if not changed.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    }
