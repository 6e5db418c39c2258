"""`--format sarif`: a log for code scanning (OASIS SARIF 2.1.0 with errata 01)."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

from pinctl import __version__
from pinctl.codes.code import Code
from pinctl.codes.table import CODES
from pinctl.finding import Finding, Location, Severity, Span
from pinctl.outcome import Outcome
from pinctl.report.codes_page import HOME, anchor
from pinctl.report.common import Place, ordered
from pinctl.report.sanitize import visible

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "%SRCROOT%"
_FAILED = 2
"""The exit status from which on a run did not come to its end."""

Json = dict[str, object]


def render(outcome: Outcome, place: Place) -> str:
    """The log, ASCII, with a line feed at its end; files are named from `place`, as `%SRCROOT%`."""
    findings = ordered(outcome.findings)
    codes = sorted({finding.code for finding in findings})
    indices = {code: index for index, code in enumerate(codes)}
    prints = _fingerprints(findings)
    run = {
        "tool": {
            "driver": {
                "name": "pinctl",
                "version": __version__,
                "informationUri": HOME,
                "rules": [_rule(CODES[code]) for code in codes],
            }
        },
        "automationDetails": {"id": f"pinctl/{outcome.command}/"},
        "invocations": [{"executionSuccessful": outcome.exit_code < _FAILED}],
        "originalUriBaseIds": {_ROOT: {"uri": f"file://{_path(place.base.rstrip('/'))}/"}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, indices[finding.code], fingerprint, place)
            for finding, fingerprint in zip(findings, prints, strict=True)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: Code) -> Json:
    return {
        "id": code.id,
        "name": "".join(word.capitalize() for word in code.title.replace("'", "").replace("-", " ").split()),
        "shortDescription": {"text": _message(code.title)},
        "fullDescription": {"text": _message(code.text)},
        "help": {"text": _message(f"{code.fix}\n\n{code.example}")},
        "helpUri": f"{HOME}/blob/main/docs/codes.md#{anchor(code)}",
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
    }


def _result(finding: Finding, index: int, fingerprint: str, place: Place) -> Json:
    result: Json = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(_told(finding))},
        "partialFingerprints": {"pinctl/v1": fingerprint},
    }
    if finding.file:
        result["locations"] = [_location(finding.file, finding.span, "", place)]
    if finding.related:
        result["relatedLocations"] = [_related(n, other, place) for n, other in enumerate(finding.related, 1)]
    return result


def _told(finding: Finding) -> str:
    lines = [f"{finding.pin}: {finding.message}" if finding.pin else finding.message]
    lines += [f"expected: {finding.expected}"] if finding.expected is not None else []
    lines += [f"found: {finding.found}"] if finding.found is not None else []
    return "\n".join([*lines, finding.hint] if finding.hint else lines)


def _message(text: str) -> str:
    """`text` as a plain text message, in which nothing is an embedded link (3.11.6).

    Braces stay single, although 3.11.5 would double them: viewers halve them only in a message with `arguments`.
    """
    return visible(text).replace("](", "] (")


def _related(number: int, other: Location, place: Place) -> Json:
    return {"id": number, **_location(other.file, other.span, other.message, place)}


def _location(file: str, span: Span | None, message: str, place: Place) -> Json:
    uri = _path(place.name(file))
    physical: Json = {"artifactLocation": {"uri": f".{uri}" if uri.startswith("/") else uri, "uriBaseId": _ROOT}}
    if span:
        physical["region"] = _region(span)
    return {"physicalLocation": physical, **({"message": {"text": _message(message)}} if message else {})}


def _region(span: Span) -> Json:
    """A SARIF region: as our spans, it counts from 1 and its end column is exclusive (3.30.8)."""
    region: Json = {"startLine": span.line, "startColumn": span.column}
    if span.end_line is not None and span.end_column is not None:
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    return region


def _path(path: str) -> str:
    """A path as a URI reference (RFC 3986): every byte but the unreserved ones and the slash is percent-encoded, so
    that no path is taken for a scheme, a query or a fragment."""
    return quote(path, safe="/", errors="surrogateescape")


def _fingerprints(findings: Iterable[Finding]) -> list[str]:
    """One for each finding, the same when its line moves or its value changes: the code, file, pin and selector (the
    message where there is no selector), and a count for those that would be alike."""
    seen: Counter[str] = Counter()
    prints = []
    for finding in findings:
        told = [finding.code, finding.file, finding.pin, finding.selector or finding.message]
        key = json.dumps(told)
        seen[key] += 1
        prints.append(hashlib.sha256(f"{key}{seen[key]}".encode()).hexdigest())
    return prints
