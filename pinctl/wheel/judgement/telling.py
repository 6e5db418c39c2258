"""How findings about one wheel file are made."""

from collections.abc import Collection
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.model import Pin, Variant
from pinctl.wheel.context import Library
from pinctl.wheel.survey import Survey

_MOST = 5
"""Names that one message lists."""


class Wanted(NamedTuple):
    """What a wheel is held against beside itself.

    variant   whose wheel it is to be; None: not known
    pin       which dependency it is to be built from; None: not known
    files     globs of members that it must have, by fnmatch
    limit     bytes that it may have; None: as where it goes to says
    excludes  libraries that no wheel may bring
    """

    variant: Variant | None = None
    pin: Pin | None = None
    files: tuple[str, ...] = ()
    limit: int | None = None
    excludes: tuple[Library, ...] = ()


class Telling(NamedTuple):
    """A wheel that is judged. `wheel(...)` makes a finding about it; `member` becomes its selector."""

    found: Survey
    wanted: Wanted

    def __call__(
        self,
        code: str,
        message: str,
        member: str | None = None,
        *,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        pin = self.wanted.pin.name if self.wanted.pin else None
        return finding(code, message, file=self.found.filename, pin=pin, selector=member, expected=expected,
                       found=found, hint=hint, severity=severity)  # fmt: skip


def some(names: Collection[str]) -> str:
    """`names` in a message: the first few, and how many more."""
    shown = list(names)[:_MOST]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
