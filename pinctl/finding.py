"""Findings: the one way in which a check speaks."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Span(NamedTuple):
    """A place in a text file: lines and columns count from 1, columns in code points; the end is exclusive."""

    line: int
    column: int = 1
    end_line: int | None = None
    end_column: int | None = None

    @classmethod
    def of(cls, source: bytes, start: int, end: int | None = None) -> "Span":
        """The span of the bytes `start:end` of `source` (UTF-8; what does not decode counts one column a byte)."""
        line, column = _position(source, start)
        if end is None:
            return cls(line=line, column=column)
        end_line, end_column = _position(source, end)
        return cls(line=line, column=column, end_line=end_line, end_column=end_column)


def _position(source: bytes, offset: int) -> tuple[int, int]:
    line_start = source.rfind(b"\n", 0, offset) + 1
    column = len(source[line_start:offset].decode("utf-8", "replace")) + 1
    return source.count(b"\n", 0, offset) + 1, column


class Location(NamedTuple):
    """A second place that a finding talks about."""

    file: str
    span: Span | None = None
    message: str = ""


class Finding(NamedTuple):
    """One outcome of a check.

    `code` is a key of `codes.CODES`; `file` is relative to the root of pins.toml, with forward slashes.
    `expected` and `found` are shown aligned under each other; `hint` is the command or edit that mends it.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    span: Span | None = None
    pin: str | None = None
    selector: str | None = None
    expected: str | None = None
    found: str | None = None
    hint: str | None = None
    related: tuple[Location, ...] = ()


def failed(findings: "list[Finding] | tuple[Finding, ...]") -> bool:
    """Whether any of `findings` has severity error."""
    return any(f.severity is Severity.ERROR for f in findings)
