"""The benchmark counts what it says. What it finds on real repositories is not tested."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pinctl.contract.breaks import Lookup
from pinctl.contract.model import Guard

from .support import call, function, signature, surface, use, uses

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_contract", FOLDER / "contract.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(FOLDER))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


KNOWN = surface("up.f(a, b, c=1)", function("up.g", "x", "x, *, k"))
USED = uses(
    use("up.f", "1, 2", line=1), use("up.f", "1, b=2", line=2), use("up.g", "1, k=2", line=3), use("up.g", line=4)
)


def test_every_kind_of_mutation(bench: ModuleType) -> None:
    made = [(m.kind, m.symbol) for m in bench.mutations(Lookup(KNOWN), USED)]
    assert made == [
        ("delete", "up.f"), ("rename", "up.f"), ("remove", "up.f"), ("remove", "up.f"), ("remove", "up.f"),
        ("add", "up.f"), ("swap", "up.f"),
        ("delete", "up.g"), ("rename", "up.g"), ("remove", "up.g"), ("remove", "up.g"), ("add", "up.g"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "arguments", "expected"),
    [
        ("a, b", "b, a", "1, 2", "moves"),
        ("a, b", "b, a", "1, b=2", "fails"),
        ("a, b", "a, b, c=1", "1, 2", ""),
        ("a, b", "a", "1, 2", "fails"),
        ("a, b", "a", "1, 2, 3", ""),
        ("a, b", "a", "*x", ""),
    ],
)
def test_what_python_makes_of_it(bench: ModuleType, old: str, new: str, arguments: str, expected: str) -> None:
    assert bench.outcome([signature(old)], [signature(new)], call(arguments)) == expected


def test_what_must_be_told_is_counted(bench: ModuleType) -> None:
    must, told, missed = bench.held(KNOWN, USED)
    assert must == told == {"delete": 4, "rename": 2, "remove": 8, "add": 3, "swap": 2}
    assert missed == []
    unseen = USED._replace(uses=(*USED.uses, use("up.f", line=9, guards=[Guard.TYPE_CHECKING])))
    must, told, missed = bench.held(KNOWN, unseen)
    assert (must["delete"], told["delete"], len(missed)) == (5, 4, 1)


def test_harmless_edits(bench: ModuleType) -> None:
    edited = bench.harmless(KNOWN, random.Random(1))  # noqa: S311
    assert set(edited.symbols) > set(KNOWN.symbols)
    assert bench.false_alarms(KNOWN, USED) == 0
