"""Breaks as findings, and as the plain data that scripts read."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from pinctl.codes import finding
from pinctl.contract.breaks.model import Break
from pinctl.contract.model import Place
from pinctl.finding import Finding, Location, Severity, Span
from pinctl.outcome import counted

_MOST_PLACES = 12
"""Further places that a finding lists."""


def findings(breaks: Iterable[Break], pin: str) -> list[Finding]:
    """One finding for all places at which the same is wrong; of what was wrong before, none."""
    alike = groupby(sorted((b for b in breaks if not b.baseline), key=_alike), _alike)
    return [_finding(list(group), pin) for _, group in alike]


def _alike(one: Break) -> tuple[str, str, str]:
    return one.code, one.symbol, one.what


def _finding(group: Sequence[Break], pin: str) -> Finding:
    first = min(group, key=lambda b: b.place)
    others = sorted({b.place for b in group} - {first.place})
    dependents = sorted({d for b in group for d in b.dependents} - {b.place for b in group})
    related = [*(_related(p, "here, too") for p in others), *(_related(p, "goes through it") for p in dependents)]
    when = f", {first.when.value} time" if first.when and first.kind.fails else ""
    more = f" ({counted(len(group), 'place')})" if len(group) > 1 else ""
    return finding(
        first.code,
        f"{first.kind.value}{when}: {first.what}{more}",
        file=first.place.file,
        span=span(first.place),
        pin=pin,
        selector=first.symbol,
        expected=first.before,
        found=first.after,
        hint=first.hint,
        related=tuple(related[:_MOST_PLACES]),
    )


def _related(place: Place, message: str) -> Location:
    return Location(place.file, span(place), message)


def span(place: Place) -> Span | None:
    """The place as findings have it; None where the line is not known."""
    return Span(place.line, place.column or 1) if place.line else None


def baseline(breaks: Sequence[Break], pin: str) -> list[Finding]:
    """The one finding that tells how much was wrong before, and where."""
    old = [b for b in breaks if b.baseline]
    if not old:
        return []
    names = sorted({b.symbol for b in old})
    told = ", ".join(f"`{name}`" for name in names[:5]) + (" ..." if len(names) > 5 else "")
    what = f"{counted(len(old), 'use')} {'was' if len(old) == 1 else 'were'} as wrong before: {told}"
    related = tuple(Location(b.place.file, span(b.place), f"{b.kind.value}: {b.what}") for b in old[:_MOST_PLACES])
    return [finding("PIN416", what, pin=pin, related=related, severity=Severity.INFO)]


def row(one: Break) -> dict[str, object]:
    """A break as scripts read it."""
    return {
        "class": one.kind.value,
        "code": one.code,
        "symbol": one.symbol,
        "subject": one.subject or None,
        "what": one.what,
        "file": one.place.file,
        "line": one.place.line,
        "column": one.place.column,
        "when": one.when.value if one.when else None,
        "before": one.before,
        "after": one.after,
        "hint": one.hint,
        "dependents": [f"{place.file}:{place.line}" for place in one.dependents],
        "baseline": one.baseline,
    }
