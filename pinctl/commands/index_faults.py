"""Faults of an index as findings, and as the table that a person is shown."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.codes.table import CODES
from pinctl.finding import Finding, Severity, Span
from pinctl.index.judge import Fault
from pinctl.outcome import Table

_FEW = 3
"""Faults of one kind on one page that are told one by one."""
_APART = frozenset(("PIN702", "PIN704", "PIN713", "PIN717", "PIN718"))
"""What is always told one by one: each needs a decision of its own."""


class Place(NamedTuple):
    """Where a finding points to: a file, relative to the root of the run, and a line of it, 0 for none."""

    file: str | None = None
    line: int = 0


Locate = Callable[[Fault], Place]


def findings(
    faults: Iterable[Fault], locate: Locate, *, every: bool = False, severity: Severity | None = None
) -> list[Finding]:
    """The findings of `faults`. Those of one kind on one page are one, with an example, unless `every` is asked for."""
    groups: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.code, fault.page), []).append(fault)
    told = []
    for (code, _), group in groups.items():
        if every or code in _APART or len(group) <= _FEW:
            told += [_finding(fault, locate, severity) for fault in group]
        else:
            more = f"; there are {len(group) - 1} more like this on the page (-v tells them all)"
            told.append(_finding(group[0], locate, severity, more))
    return told


def _finding(fault: Fault, locate: Locate, severity: Severity | None, more: str = "") -> Finding:
    place = locate(fault)
    name = f"{fault.filename} " if fault.filename else ""
    what = f"{fault.page or 'the root'}: {name}{fault.what}{more}"
    span = Span(place.line) if place.line else None
    said = severity or fault.severity
    return finding(fault.code, what, file=place.file, span=span, hint=fault.fix or None, severity=said)


def plain(faults: Sequence[Fault]) -> list[dict[str, object]]:
    """The faults for scripts."""
    return [{"code": fault.code, "page": fault.page, "filename": fault.filename} for fault in faults]


def table(faults: Iterable[Fault]) -> Table:
    """How many there are of each kind, on how many pages."""
    found = list(faults)
    count = Counter(fault.code for fault in found)
    pages = Counter(code for code, _ in {(fault.code, fault.page) for fault in found})
    rows = tuple((code, CODES[code].title, str(count[code]), str(pages[code])) for code in sorted(count))
    return Table(("code", "fault", "files", "pages"), rows)
