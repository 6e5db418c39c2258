import json
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import jsonschema
import pytest
from hypothesis import given, settings

from pinctl.codes import finding
from pinctl.codes.table import CODES
from pinctl.finding import Location, Severity, Span
from pinctl.outcome import Outcome
from pinctl.report.common import place
from pinctl.report.sarif import render

from .samples import DRIFT, HOSTILE, OUTCOMES

HERE = place("/repo sitory", None)


@cache
def schema() -> jsonschema.Draft4Validator:
    """The official schema, with its formats checked too (URI references need `jsonschema[format]`)."""
    text = (Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")
    return jsonschema.Draft4Validator(json.loads(text), format_checker=jsonschema.FormatChecker())


def log(*findings: Any, **more: Any) -> dict[str, Any]:
    document = json.loads(render(Outcome(command="check", findings=findings, **more), HERE))
    schema().validate(document)
    run: dict[str, Any] = document["runs"][0]
    return run


def test_the_schema_is_one_that_refuses() -> None:
    document = json.loads(render(Outcome(command="check", findings=(DRIFT,)), HERE))
    document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] = "a b"
    with pytest.raises(jsonschema.ValidationError, match="a b"):
        schema().validate(document)


def test_a_result() -> None:
    [result] = log(DRIFT)["results"]
    assert result.pop("partialFingerprints").keys() == {"pinctl/v1"}
    assert result == {
        "ruleId": "PIN201",
        "ruleIndex": 0,
        "level": "error",
        "message": {
            "text": "deepgemm: `ARG DEEPGEMM_REF` differs from pins.toml\n"
            "expected: ad1f1726aa540a76c1d26d6a120effb8de21eaa4\n"
            "found: ad1f1726aa540a76c1d26d6a120effb8de21ee44\n"
            "run: pinctl sync"
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "docker/Dockerfile", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 12, "startColumn": 18, "endLine": 12, "endColumn": 58},
                }
            }
        ],
        "relatedLocations": [
            {
                "id": 1,
                "message": {"text": "the pin's commit"},
                "physicalLocation": {
                    "artifactLocation": {"uri": "pins.toml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 4, "startColumn": 10},
                },
            }
        ],
    }


def test_rules_are_those_of_the_table() -> None:
    run = log(finding("PIN204", "m"), finding("PIN801", "m"), finding("PIN204", "m", severity=Severity.INFO))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["PIN204", "PIN801"]
    assert rules[0]["fullDescription"]["text"] == CODES["PIN204"].text
    assert rules[0]["help"]["text"].startswith(CODES["PIN204"].fix)
    assert rules[0]["helpUri"].endswith("docs/codes.md#pin204")
    assert rules[0]["defaultConfiguration"] == {"level": "warning"}
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    assert sorted(r["level"] for r in run["results"]) == ["error", "note", "warning"]


def test_every_rule_is_valid() -> None:
    rules = log(*(finding(code, "m") for code in CODES))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(CODES)
    assert all(rule["name"].isalnum() for rule in rules)


def test_a_clean_run_tells_that_all_is_fixed() -> None:
    run = log()
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["automationDetails"] == {"id": "pinctl/check/"}
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///repo%20sitory/"}}


def test_a_run_that_did_not_end_says_so() -> None:
    assert log(finding("PIN101", "m"), status=3)["invocations"] == [{"executionSuccessful": False}]
    assert log(finding("PIN201", "m"))["invocations"] == [{"executionSuccessful": True}]


def print_of(**changes: Any) -> str:
    fields: dict[str, Any] = {"file": "f", "pin": "p", "selector": "s", "span": Span(line=3), "found": "1"}
    [result] = log(finding("PIN201", changes.pop("message", "m"), **{**fields, **changes}))["results"]
    fingerprint: str = result["partialFingerprints"]["pinctl/v1"]
    return fingerprint


def test_a_fingerprint_stays_when_the_line_moves_or_the_value_changes() -> None:
    assert print_of() == print_of(span=Span(line=99)) == print_of(found="2", message="n")
    assert len({print_of(), print_of(file="g"), print_of(pin="q"), print_of(selector="t")}) == 4
    assert print_of(selector=None) != print_of(selector=None, message="n")


def test_two_alike_have_their_own_fingerprints() -> None:
    twice = [finding("PIN203", "m", file="f", selector="s", span=Span(line=n)) for n in (3, 9)]
    assert len({r["partialFingerprints"]["pinctl/v1"] for r in log(*twice)["results"]}) == 2


@pytest.mark.parametrize(
    "file",
    ["a b#c", "a%20b", "javascript:alert(1)", "C:/x", "//evil.example/x", "?q", "é/日本", "a\\b", "[x]", "a\udcff"],
)
def test_a_path_is_a_path_whatever_it_holds(file: str) -> None:
    [result] = log(finding("PIN201", "m", file=file))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    split = urlsplit(uri)
    assert (split.scheme, split.netloc, split.query, split.fragment) == ("", "", "", "")
    path = unquote(urlsplit(urljoin("file:///root/", uri)).path, errors="surrogateescape")
    assert path == "/root/" + file.removeprefix("//")


def test_a_message_holds_no_link() -> None:
    bad = finding(
        "PIN201", "[x](javascript:alert(1)) [y](0)", file="f", related=(Location(file="g", message="[z](1)"),)
    )
    [result] = log(bad)["results"]
    assert result["message"]["text"] == "[x] (javascript:alert(1)) [y] (0)"
    assert result["relatedLocations"][0]["message"]["text"] == "[z] (1)"


def test_hostile_values_one_by_one() -> None:
    for text in HOSTILE:
        [result] = log(finding("PIN201", text, file=text, pin=text, expected=text, hint=text))["results"]
        assert result["message"]["text"].replace("\n", "").replace("\t", "").isprintable(), text


@settings(max_examples=50)
@given(OUTCOMES)
def test_it_is_valid_whatever_the_values(outcome: Outcome) -> None:
    page = render(outcome, HERE)
    document = json.loads(page)
    schema().validate(document)
    assert page.isascii()
    assert len(document["runs"][0]["results"]) == len(outcome.findings)
