import re

import pytest

from pinctl.codes import build, contract, environment, finding, index, manifest, patches, sites, upstream, wheels
from pinctl.codes.code import Code
from pinctl.codes.table import CODES, FAMILIES
from pinctl.finding import Location, Severity, Span

ALL = list(CODES.values())


def test_no_code_stands_twice() -> None:
    modules = (manifest, sites, upstream, contract, patches, wheels, build, index, environment)
    ids = [code.id for module in modules for code in module.CODES]
    assert ids == sorted(set(ids)) == list(CODES)


@pytest.mark.parametrize("code", ALL, ids=lambda code: code.id)
def test_a_code_is_explained_whole(code: Code) -> None:
    assert re.fullmatch(r"PIN[1-9][0-9]{2}", code.id)
    assert code.family in FAMILIES
    assert re.fullmatch(r"[A-Za-z][A-Za-z.' -]{2,30}", code.title), "a few plain words"
    assert all(re.fullmatch(r"(pins\.toml|[A-Z`]).*\.", text, re.DOTALL) for text in (code.text, code.fix)), (
        "whole sentences"
    )
    assert code.example
    assert code.example == code.example.strip()
    assert (code.text + code.fix + code.example).replace("\n", "").isprintable()


def test_titles_tell_codes_apart() -> None:
    assert len({code.title for code in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("PIN101", "error"),
        ("PIN121", "info"),
        ("PIN123", "warning"),
        ("PIN201", "error"),
        ("PIN204", "warning"),
        ("PIN801", "error"),
    ],
)
def test_severities_people_script_against(code: str, severity: str) -> None:
    assert CODES[code].severity == severity


def test_a_finding_takes_its_codes_severity() -> None:
    where = Location(file="g", span=None, message="there")
    told = finding(
        "PIN204",
        "m",
        file="f",
        span=Span(line=2),
        pin="p",
        selector="s",
        expected="1",
        found="2",
        hint="h",
        related=(where,),
    )
    assert told.severity is Severity.WARNING
    assert (told.code, told.message, told.file, told.pin, told.selector) == ("PIN204", "m", "f", "p", "s")
    assert (told.expected, told.found, told.hint, told.related) == ("1", "2", "h", (where,))
    assert finding("PIN204", "m", severity=Severity.ERROR).severity is Severity.ERROR


def test_an_unknown_code_is_a_bug() -> None:
    with pytest.raises(KeyError):
        finding("PIN000", "m")
