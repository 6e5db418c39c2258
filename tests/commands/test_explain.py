import json

import pytest

from pinctl.codes.table import CODES
from pinctl.commands import explain
from pinctl.errors import UsageError
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, Text
from pinctl.report.json import render


def run(code: str | None = None) -> Outcome:
    return explain.run(Options(), code=code)


@pytest.mark.parametrize("code", ["PIN201", "pin201", " 201 "])
def test_one_code(code: str) -> None:
    outcome = run(code)
    assert outcome.body == Text(
        "PIN201: drift (error)\n"
        "\n"
        "A site holds another value than pins.toml: what is built there is not what is pinned.\n"
        "\n"
        "Example:\n"
        '    pins.toml:          commit = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"\n'
        "    docker/Dockerfile:  ARG DEEPGEMM_REF=477618cd51baffca09c4b0b87e97c03fe827ef03\n"
        "\n"
        "To mend it:\n"
        "    `pinctl sync` writes the pin's value into every site; `pinctl adopt FILE` takes the\n"
        "    site's into pins.toml.\n"
    )
    assert outcome.exit_code == 0


@pytest.mark.parametrize("code", list(CODES))
def test_every_code_has_a_page(code: str) -> None:
    outcome = run(code)
    assert isinstance(outcome.body, Text)
    assert outcome.body.text.startswith(f"{code}: ")
    result = json.loads(render(outcome))["result"]
    assert result["code"] == code
    assert result["fix"] == CODES[code].fix


@pytest.mark.parametrize("code", [None, ""])
def test_without_a_code_all_are_listed(code: str | None) -> None:
    outcome = run(code)
    assert isinstance(outcome.body, Table)
    assert [row[0] for row in outcome.body.rows] == list(CODES)
    assert [item["code"] for item in json.loads(render(outcome))["result"]["codes"]] == list(CODES)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("PIN2011", "PIN201 (drift)"),
        ("PIM201", "PIN201 (drift)"),
        ("credential", "close to it: PIN119 (looks like a credential)"),
        ("xyzzy", "run: pinctl explain (lists all codes)"),
    ],
)
def test_an_unknown_code_is_answered_with_the_likely_ones(code: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"there is no code '{code}'") as caught:
        run(code)
    assert hint in str(caught.value.hint)
