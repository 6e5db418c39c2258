"""All that comes of holding one consumer against one pin's move: what scripts read, and what a person is shown."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinctl.contract.breaks import telling
from pinctl.contract.breaks.model import Break
from pinctl.contract.model import Surface, Uses
from pinctl.finding import Finding
from pinctl.outcome import Table, counted

_NEVER = (
    "never seen: computed names, attributes of returned objects, shapes, dtypes, packing, numerics, speed, which `#if`"
    " holds, and whether an external or a vendored package is loaded"
)
_SHORT = 10


class Judgement(NamedTuple):
    """What came of it.

    names     under which the package is imported
    breaks    those that are left, the worst first
    accepted  those that pins.toml accepts, each with its reason
    known     how many breaks a baseline file knows
    findings  all that is to be told
    """

    pin: str
    before: Surface
    after: Surface
    uses: Uses
    names: tuple[str, ...]
    breaks: tuple[Break, ...]
    accepted: tuple[tuple[Break, str], ...] = ()
    known: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def symbols(self) -> int:
        """How many names of the package the consumer uses."""
        return len({use.symbol for use in self.uses.uses})

    @property
    def failing(self) -> list[Break]:
        """The breaks over which a bump must not go on."""
        return [one for one in self.breaks if one.kind.fails and not one.baseline]

    @property
    def unseen(self) -> tuple[str, str]:
        """What could not be seen, in two lines: in this run, and ever."""
        told = [f"{number} {reason}" for reason, number in self.uses.unseen.items() if number]
        if self.after.open:
            noun = "module or class" if len(self.after.open) == 1 else "modules or classes"
            told.append(f"{len(self.after.open)} {noun} of which not all names are known")
        return f"not seen here: {'; '.join(told) or 'nothing that was met'}", _NEVER

    @property
    def result(self) -> Mapping[str, object]:
        """What scripts read."""
        return {
            "pin": self.pin,
            "from": self.before.commit,
            "to": self.after.commit,
            "import_names": list(self.names),
            "uses": len(self.uses.uses),
            "symbols": self.symbols,
            "breaks": [telling.row(one) for one in self.breaks],
            "accepted": [{**telling.row(one), "reason": reason} for one, reason in self.accepted],
            "known": self.known,
            "unseen": list(self.unseen),
            "not_followed": dict(self.uses.unseen),
        }

    @property
    def summary(self) -> str:
        """One line, for a run in which nothing fails."""
        asked = f"{counted(len(self.uses.uses), 'use')} of {counted(self.symbols, 'name')} of {self.pin}"
        at = f"at {self.after.commit[:_SHORT]}"
        if self.before.commit != self.after.commit:
            at = f"from {self.before.commit[:_SHORT]} to {self.after.commit[:_SHORT]}"
        told = [f"{asked} {at}: none fails"]
        told += [f"{len(self.accepted)} accepted"] * bool(self.accepted) + [f"{self.known} known"] * bool(self.known)
        return "; ".join(told)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The breaks by class, for a person; none where there are none."""
        rows: dict[tuple[str, str], list[Break]] = {}
        for one in self.breaks:
            if not one.baseline:
                rows.setdefault((one.kind.value, one.symbol), []).append(one)
        cells = tuple((kind, symbol, str(len(some)), _first(some)) for (kind, symbol), some in rows.items())
        return (Table(("class", "what is asked for", "places", "first"), cells),) if cells else ()


def _first(some: Sequence[Break]) -> str:
    place = min(one.place for one in some)
    return f"{place.file}:{place.line}"
