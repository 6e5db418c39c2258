import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.codes import finding
from pinctl.finding import Severity, Span
from pinctl.outcome import Outcome
from pinctl.report.common import conclusion, ordered, place, position, tally

from .samples import FINDINGS


def test_findings_are_told_by_file_line_and_column() -> None:
    at = [("b", 1, 1), ("a", 10, 1), ("a", 2, 9), ("a", 2, 3)]
    findings = [finding("PIN201", "m", file=f, span=Span(line=n, column=c)) for f, n, c in at]
    loose = [finding("PIN801", "no git"), finding("PIN205", "no file", file="a")]
    told = [(f.file, f.span and f.span.line, f.span and f.span.column) for f in ordered([*findings, *loose])]
    assert told == [(None, None, None), ("a", None, None), ("a", 2, 3), ("a", 2, 9), ("a", 10, 1), ("b", 1, 1)]


@given(st.lists(FINDINGS, max_size=4).flatmap(lambda fs: st.tuples(st.just(fs), st.permutations(fs))))
def test_the_order_does_not_depend_on_the_order_found(pair: tuple[list[object], list[object]]) -> None:
    key = lambda f: (f.file, f.span, f.code, f.selector, f.message)  # noqa: E731
    assert [key(f) for f in ordered(pair[0])] == [key(f) for f in ordered(pair[1])]


def test_tally_counts_by_severity_and_file() -> None:
    findings = [
        finding("PIN201", "m", file="a"), finding("PIN201", "m", file="b"), finding("PIN201", "m", file="b"),
        finding("PIN204", "m", file="b"), finding("PIN121", "m"),
    ]  # fmt: skip
    assert tally(findings) == "3 errors, 1 warning, 1 note in 2 files"
    assert tally([finding("PIN801", "m")]) == "1 error"
    assert tally([]) == ""


@pytest.mark.parametrize(
    ("severity", "summary", "told"),
    [
        (None, "4 sites agree", "4 sites agree"),
        (None, "", ""),
        (Severity.ERROR, "4 sites agree", "1 error in 1 file"),
        (Severity.WARNING, "4 sites agree", "4 sites agree (1 warning in 1 file)"),
        (Severity.WARNING, "", "1 warning in 1 file"),
    ],
)
def test_conclusion(severity: Severity | None, summary: str, told: str) -> None:
    findings = (finding("PIN201", "m", file="a", severity=severity),) if severity else ()
    assert conclusion(Outcome(command="check", findings=findings, summary=summary)) == told


@pytest.mark.parametrize(
    ("root", "base", "file", "named"),
    [
        ("/r", "/r", "a/b", "a/b"),
        ("/r/sub", "/r", "a/b", "sub/a/b"),
        ("/r", "/r/a", "a/b", "b"),
        ("/r", "/r/c", "a/b", "../a/b"),
        ("/r", "/elsewhere", "a/b", "a/b"),
        ("/r", "/ro", "a/b", "a/b"),
        ("/r", None, "a/b", "a/b"),
    ],
)
def test_a_file_is_named_from_where_the_reader_is(root: str, base: str | None, file: str, named: str) -> None:
    assert place(root, base).name(file) == named


def test_position_stays_on_its_line() -> None:
    assert position("a  b\nc", Span(line=3, column=4)) == "a  b\\nc:3:4"
    assert position("a", None) == "a"
