import re
from urllib.parse import unquote

import pytest
from hypothesis import given

from pinctl.codes import finding
from pinctl.codes.table import CODES
from pinctl.finding import Severity, Span
from pinctl.outcome import Diff, Outcome, Table, Text
from pinctl.report.common import place
from pinctl.report.github import command, render

from .samples import DRIFT, HOSTILE, OUTCOMES, command_lines

HERE = place("/repository", None)


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """A command line as GitHub's runner reads it: level, properties, message."""
    match = re.fullmatch(r"::(\w+) ((?:(?!::).)*)::(.*)", line)
    assert match, line
    properties = dict(pair.split("=", 1) for pair in match[2].split(","))
    return match[1], {k: unquote(v) for k, v in properties.items()}, unquote(match[3])


def test_a_finding_is_an_annotation() -> None:
    assert command(DRIFT, HERE) == (
        "::error file=docker/Dockerfile,line=12,endLine=12,col=18,endColumn=58,title=PIN201 drift::"
        "deepgemm: `ARG DEEPGEMM_REF` differs from pins.toml%0A"
        "expected ad1f1726aa540a76c1d26d6a120effb8de21eaa4%0A"
        "found    ad1f1726aa540a76c1d26d6a120effb8de21ee44%0A"
        "run: pinctl sync"
    )


@pytest.mark.parametrize(("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "notice")])
def test_levels(severity: str, level: str) -> None:
    assert parsed(command(finding("PIN201", "m", severity=Severity(severity)), HERE))[0] == level


def test_what_has_no_place_has_none() -> None:
    assert command(finding("PIN801", "no git", span=Span(line=3)), HERE) == "::error title=PIN801 tool missing::no git"


def test_columns_are_told_within_one_line_alone() -> None:
    over = finding("PIN201", "m", file="f", span=Span(line=3, column=4, end_line=5, end_column=6))
    assert parsed(command(over, HERE))[1] == {"file": "f", "line": "3", "endLine": "5", "title": "PIN201 drift"}
    start = finding("PIN201", "m", file="f", span=Span(line=3, column=4))
    assert parsed(command(start, HERE))[1]["col"] == "4"
    assert "endColumn" not in parsed(command(start, HERE))[1]


def test_properties_and_message_are_escaped() -> None:
    line = command(finding("PIN201", "100%\n::x", file="a,b:c%"), HERE)
    assert line.startswith("::error file=a%2Cb%3Ac%25,title=")
    assert line.endswith("::100%25%0A: :x")


def test_files_are_named_from_the_workspace() -> None:
    assert parsed(command(DRIFT, place("/w/sub", "/w")))[1]["file"] == "sub/docker/Dockerfile"


def test_body_and_conclusion_are_plain_lines() -> None:
    table = Table(columns=("pin", "subject"), rows=(("::error::x", "##[error]y"),))
    parts = (table, Diff("+a\n"), Text("::add-mask::e"))
    page = render(Outcome(command="diff", findings=(DRIFT,), body=parts, summary="::x"), HERE)
    assert page.splitlines()[:4] == ["pin         subject", ": :error::x  # #[error]y", "+a", ": :add-mask::e"]
    assert page.splitlines()[-1] == "1 error in 1 file"


def test_a_clean_run_is_its_summary() -> None:
    assert render(Outcome(command="check", summary="4 sites agree"), HERE) == "4 sites agree\n"
    assert render(Outcome(command="check"), HERE) == ""


@given(OUTCOMES)
def test_there_are_no_commands_but_ours(outcome: Outcome) -> None:
    lines = command_lines(render(outcome, HERE))
    assert len(lines) == len(outcome.findings)
    told = [parsed(line) for line in lines]
    titles = [properties["title"] for _, properties, _ in told]
    assert sorted(titles) == sorted(f"{f.code} {CODES[f.code].title}" for f in outcome.findings)
    assert all("##[" not in line for line in lines)
    assert all(level in ("error", "warning", "notice") for level, _, _ in told)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_subject_starts_no_line(text: str) -> None:
    bad = finding("PIN201", text, file=text.lstrip("/"), pin=text, hint=text, expected=text, found=text)
    page = render(Outcome(command="check", findings=(bad,)), HERE)
    assert len(page.splitlines()) == 2
    assert page.replace("\n", "").isprintable()
    assert len(command_lines(page)) == 1
