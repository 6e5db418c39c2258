"""What the formats share: the order of findings, their count, and how a file is named to the reader."""

from collections.abc import Callable, Iterable
from posixpath import abspath, commonpath, join, relpath
from typing import NamedTuple

from pinctl.finding import Finding, Severity, Span
from pinctl.outcome import Outcome, counted
from pinctl.report.sanitize import oneline, visible

NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


class Place(NamedTuple):
    """Where the reader stands: `base` is a directory, `name` turns a finding's file into its path from there."""

    base: str
    name: Callable[[str], str]


def place(root: str, base: str | None) -> Place:
    """Findings' files lie in the directory `root`; name them from the directory `base`, if one of the two holds the
    other, else as they are."""
    root = abspath(root)
    base = abspath(base) if base else root
    if commonpath([root, base]) not in (root, base) or root == base:
        return Place(root, str)
    return Place(base, lambda file: relpath(join(root, file), base))


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """By file, line and column; what stands in no file comes first."""
    return sorted(findings, key=lambda f: (f.file or "", *_start(f.span), f.code, f.selector or "", f.message))


def _start(span: Span | None) -> tuple[int, int]:
    return (span.line, span.column) if span else (0, 0)


def position(file: str, span: Span | None) -> str:
    """`file:line:column`, on one line."""
    return visible(file, keep="") + (f":{span.line}:{span.column}" if span else "")


def tally(findings: Iterable[Finding]) -> str:
    """`3 errors, 1 warning in 2 files`; empty without findings."""
    findings = list(findings)
    numbers = [(sum(f.severity is severity for f in findings), noun) for severity, noun in NOUNS.items()]
    text = ", ".join(counted(number, noun) for number, noun in numbers if number)
    files = len({f.file for f in findings if f.file})
    return f"{text} in {counted(files, 'file')}" if files else text


def conclusion(outcome: Outcome) -> str:
    """The last line for a person: the summary, the tally or both; a run with errors has no other summary."""
    told, summary = tally(outcome.findings), oneline(outcome.summary)
    if not told or not summary:
        return told or summary
    return told if any(f.severity is Severity.ERROR for f in outcome.findings) else f"{summary} ({told})"
