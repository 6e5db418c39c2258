"""What a build would do: for each cell its key, whether its wheel is there, and why or why not."""

from collections.abc import Mapping
from typing import NamedTuple

from pinctl.wheel.key import changes, key
from pinctl.wheel.matrix import Cell

_MOST_REASONS = 3


class Planned(NamedTuple):
    """A cell with the inputs of its key. `wheel` is the file name of the wheel that is there for it, else None;
    `reason` says why it is, or is not."""

    cell: Cell
    inputs: Mapping[str, object]
    key: str
    wheel: str | None
    reason: str

    @property
    def cached(self) -> bool:
        """Whether no container has to run."""
        return self.wheel is not None

    @property
    def row(self) -> dict[str, object]:
        """The cell as scripts read it."""
        return {
            "pin": self.cell.pin.name,
            "variant": self.cell.variant.name,
            "python": self.cell.python,
            "platform": self.cell.platform,
            "key": self.key,
            "cached": self.cached,
            "reason": self.reason,
            "wheel": self.wheel,
        }


def planned(cell: Cell, inputs: Mapping[str, object], wheel: str | None, last: Mapping[str, object] | None) -> Planned:
    """The plan of one cell; `last` are the inputs of its last build, where it was ever built."""
    return Planned(cell, inputs, key(inputs), wheel, _reason(inputs, wheel, last))


def _reason(inputs: Mapping[str, object], wheel: str | None, last: Mapping[str, object] | None) -> str:
    if wheel is not None:
        return "built already"
    if last is None:
        return "never built"
    changed = changes(last, inputs)
    if not changed:
        return "the cache has lost it"
    more = len(changed) - _MOST_REASONS
    return "; ".join(changed[:_MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")
