from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.model import Kind, Mechanism, Parameter, Place, Signature, Sort, Surface, Symbol
from pinctl.contract.surface import memory
from pinctl.contract.surface.facts import Binding, CppFacts, Entry, PythonFacts, Scope
from pinctl.contract.surface.memory import Memory
from pinctl.contract.surface.plain import decoder
from pinctl.contract.surface.stored import pack, unpack

DAMAGE = [None, 1, "x", [], {}, [1], [[1]], {"commit": 1}, {"a": {"b": 1}}]


def same(value: Any) -> Any:
    return value


def test_what_is_kept_comes_back() -> None:
    first = Memory(salt="s")
    first.put("k", ["é", 1])
    assert first.get("k", same) == ["é", 1]
    second = Memory(first.kept(), "s")
    assert (second.get("k", same), second.learned, second.has("k"), second.has("z")) == (["é", 1], False, True, False)
    assert Memory(first.kept(), "other").get("k", same) is None


@pytest.mark.parametrize("damage", [{"text": "x"}, {"digest": "x"}, {}, {"text": 1, "digest": 2}])
def test_what_is_damaged_is_nothing(damage: dict[str, Any]) -> None:
    first = Memory()
    first.put("k", [1])
    kept = {"k": {**first.kept()["k"], **damage}} if damage else {"k": {}}
    assert Memory(kept).get("k", same) is None


def test_the_oldest_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Memory({str(n): {"text": "t", "digest": ""} for n in range(10)}, most=5)
    made.put("new", [1])
    assert list(made.kept()) == ["6", "7", "8", "9", "new"]
    monkeypatch.setattr(memory, "MOST_BYTES", 2 + len(made.kept()["new"]["text"]))
    assert list(made.kept()) == ["8", "9", "new"]


TEXT = st.text(max_size=5)
PARAMETERS = st.builds(Parameter, TEXT, st.sampled_from(Kind), st.none() | TEXT, st.none() | TEXT)
SIGNATURES = st.lists(st.builds(Signature, st.lists(PARAMETERS, max_size=2).map(tuple)), max_size=2).map(tuple)
GUARDS = st.lists(TEXT, max_size=2).map(tuple)
SYMBOLS = st.builds(
    Symbol,
    TEXT,
    st.sampled_from(Sort),
    st.sampled_from(Mechanism),
    st.builds(Place, TEXT, st.integers(0, 9)),
    SIGNATURES,
    GUARDS,
    st.none() | TEXT,
)


@given(
    st.lists(SYMBOLS, max_size=4), st.dictionaries(TEXT, TEXT, max_size=2), st.dictionaries(TEXT, GUARDS, max_size=2)
)
def test_a_surface_comes_back(
    symbols: list[Symbol], reasons: dict[str, str], imports: dict[str, tuple[str, ...]]
) -> None:
    import json

    made = Surface("c" * 40, {s.name: s for s in symbols}, reasons, imports, reasons)
    assert unpack(json.loads(json.dumps(pack(made)))) == made


@pytest.mark.parametrize("damage", DAMAGE)
def test_no_damage_makes_a_surface(damage: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        unpack(damage)


def test_facts_come_back() -> None:
    import json

    inner = Binding("m", "function", 2, signatures=(Signature((Parameter("a"),)),))  # type: ignore[arg-type]
    python = PythonFacts((Binding("C", "class", 1, members=(inner,), keeps=None, fields=()),), ("a",), "", ("b",))  # type: ignore[arg-type]
    cpp = CppFacts((Scope("pybind11", "_C", 1),), (Entry(0, "def", "f", 2, ("#if X",), None, "g", "n"),))  # type: ignore[arg-type]
    for made in (python, cpp):
        assert decoder(type(made))(json.loads(json.dumps(made))) == made


@pytest.mark.parametrize("damage", DAMAGE)
def test_no_damage_makes_facts(damage: object) -> None:
    for kind in (CppFacts, PythonFacts):
        with pytest.raises((TypeError, ValueError)):
            decoder(kind)(damage)
