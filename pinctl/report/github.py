"""`--format github`: workflow commands, which GitHub shows beside the lines of a pull request.

The escapes are those of the runner (actions/toolkit, packages/core/src/command.ts): `%`, CR and LF in the message, and
`:` and `,` too in a property. Nothing else that is printed can be taken for a command.
"""

from pinctl.codes.table import CODES
from pinctl.finding import Finding, Severity, Span
from pinctl.outcome import Outcome
from pinctl.report.common import Place, conclusion, ordered
from pinctl.report.sanitize import inert, visible

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(outcome: Outcome, place: Place) -> str:
    """A command a finding, after the body and before the conclusion as plain lines."""
    from pinctl.report.text import Look, body

    lines = [*body(outcome, Look()), *(command(f, place) for f in ordered(outcome.findings))]
    last = inert(conclusion(outcome))
    return "".join(f"{line}\n" for line in [*lines, last] if line)


def command(finding: Finding, place: Place) -> str:
    """One finding as `::error file=...,line=...,title=...::message`, without a line end."""
    properties = {"file": place.name(finding.file)} if finding.file else {}
    properties |= _span(finding.span) if finding.file and finding.span else {}
    properties["title"] = f"{finding.code} {CODES[finding.code].title}"
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[finding.severity]} {told}::{_data(_message(finding))}"


def _span(span: Span) -> dict[str, str]:
    """GitHub takes columns only of a place within one line."""
    end_line = span.end_line or span.line
    lines = {"line": str(span.line), "endLine": str(end_line)}
    if end_line != span.line:
        return lines
    columns = {"col": span.column, "endColumn": span.end_column}
    return lines | {name: str(column) for name, column in columns.items() if column is not None}


def _message(finding: Finding) -> str:
    lines = [f"{finding.pin}: {finding.message}" if finding.pin else finding.message]
    lines += [f"expected {finding.expected}"] if finding.expected is not None else []
    lines += [f"found    {finding.found}"] if finding.found is not None else []
    lines += [finding.hint] if finding.hint else []
    return "\n".join(visible(line) for line in lines)


def _data(text: str) -> str:
    return inert(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
