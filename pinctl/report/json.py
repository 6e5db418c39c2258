"""`--format json`: one document for scripts, the same bytes for the same outcome."""

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from pinctl.finding import Finding, Span
from pinctl.outcome import Outcome
from pinctl.report.common import ordered
from pinctl.report.sanitize import well_formed

SCHEMA = 1
"""The version of the document's shape; keys may be added under one version, never taken away."""


def render(outcome: Outcome) -> str:
    """The document, ASCII, with a line feed at its end. Raises TypeError for a result that is no plain data."""
    document = {
        "schema": SCHEMA,
        "command": outcome.command,
        "findings": [_finding(finding) for finding in ordered(outcome.findings)],
        "result": outcome.result,
    }
    return json.dumps(_plain(document), indent=2, allow_nan=False) + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "file": finding.file,
        **_span(finding.span),
        "pin": finding.pin,
        "selector": finding.selector,
        "expected": finding.expected,
        "found": finding.found,
        "hint": finding.hint,
        "related": [{"file": r.file, **_span(r.span), "message": r.message} for r in finding.related],
    }


def _span(span: Span | None) -> dict[str, int | None]:
    keys = ("line", "column", "end_line", "end_column")
    return {key: getattr(span, key) if span else None for key in keys}


def _plain(value: object) -> Any:
    """`value` as the json module takes it: sets sorted, strings without lone surrogates."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return [_plain(item) for item in sorted(value)]
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item) for item in value]
    return value


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of a result is no string: {key!r}")
    return well_formed(key)
