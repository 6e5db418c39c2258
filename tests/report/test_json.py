import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.outcome import Outcome, Table
from pinctl.report.json import render
from pinctl.report.sanitize import well_formed

from .samples import DRIFT, OUTCOMES, TEXTS


def test_the_document() -> None:
    outcome = Outcome(command="check", findings=(DRIFT,), result={"sites": 4}, body=Table(columns=("a",), rows=()))
    assert json.loads(render(outcome)) == {
        "schema": 1,
        "command": "check",
        "findings": [
            {
                "code": "PIN201",
                "severity": "error",
                "message": "`ARG DEEPGEMM_REF` differs from pins.toml",
                "file": "docker/Dockerfile",
                "line": 12,
                "column": 18,
                "end_line": 12,
                "end_column": 58,
                "pin": "deepgemm",
                "selector": "ARG DEEPGEMM_REF",
                "expected": "ad1f1726aa540a76c1d26d6a120effb8de21eaa4",
                "found": "ad1f1726aa540a76c1d26d6a120effb8de21ee44",
                "hint": "run: pinctl sync",
                "related": [
                    {"file": "pins.toml", "line": 4, "column": 10, "end_line": None, "end_column": None,
                     "message": "the pin's commit"}
                ],
            }
        ],
        "result": {"sites": 4},
    }  # fmt: skip


def test_a_clean_run_has_the_same_keys() -> None:
    assert json.loads(render(Outcome(command="sync"))) == {"schema": 1, "command": "sync", "findings": [], "result": {}}


@given(OUTCOMES, st.dictionaries(TEXTS, st.recursive(TEXTS | st.none() | st.integers(), st.lists), max_size=3))
def test_it_parses_back_and_is_ascii(outcome: Outcome, result: dict[str, object]) -> None:
    page = render(outcome._replace(result=result))
    document = json.loads(page)
    assert page.isascii()
    assert page == render(outcome._replace(result=result))
    assert sorted((f["code"], f["message"]) for f in document["findings"]) == sorted(
        (f.code, well_formed(f.message)) for f in outcome.findings
    )
    assert document == json.loads(page.encode("utf-8"))
    json.dumps(document, ensure_ascii=False).encode("utf-8")


def test_sequences_and_sets_become_arrays() -> None:
    result = {"a": ("x", 1, None, True), "b": frozenset({"z", "y"}), "c": {"d": range(2)}}
    assert json.loads(render(Outcome(command="c", result=result)))["result"] == {
        "a": ["x", 1, None, True], "b": ["y", "z"], "c": {"d": [0, 1]},
    }  # fmt: skip


@pytest.mark.parametrize("result", [{"a": object()}, {"a": b"bytes"}, {"a": {1: 2}}])
def test_what_is_no_plain_data_is_a_bug(result: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        render(Outcome(command="c", result=result))
