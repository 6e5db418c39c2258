from __future__ import annotations

import pytest

from pinctl.contract.breaks.freshness import Freshness
from pinctl.contract.model import Place

SOURCE = b"""\
from up import (
    f,
    g,
)
f(
    1,
    g(2),
)
h(3)
"""


@pytest.mark.parametrize(
    ("line", "column", "changed", "fresh"),
    [
        (9, 1, {9}, True),
        (9, 1, {8}, False),
        (5, 1, {6}, True),
        (5, 1, {7}, True),
        (7, 5, {6}, False),
        (1, 1, {3}, True),
        (5, 1, {9}, False),
    ],
)
def test_a_place(line: int, column: int, changed: set[int], *, fresh: bool) -> None:
    tells = Freshness({"a.py": frozenset(changed)}, {"a.py": SOURCE})
    assert tells(Place("a.py", line, column)) is fresh
    assert not tells(Place("b.py", line, column))


@pytest.mark.parametrize("source", [b"f(", b"\0", b"1+" * 100_000 + b"1", b"(" * 100_000, b"#" * 2_000_000])
def test_what_is_no_python_is_told_by_its_lines(source: bytes) -> None:
    tells = Freshness({"a.py": frozenset({1})}, {"a.py": source})
    assert tells(Place("a.py", 1, 1))
    assert not tells(Place("a.py", 2, 1))
