"""What a command hands back: findings, the result for scripts, and what a person is shown beside them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pinctl.finding import Finding, failed


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Table(NamedTuple):
    """Rows under named columns. A cell is one line of plain text; no cell is markup."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Diff(NamedTuple):
    """A unified diff in git's form; bytes that are not UTF-8 stand as surrogate escapes. `exact`: a program may read
    it, so where it goes to a pipe, no byte of it is changed to make it fit to print."""

    text: str
    exact: bool = True


class Text(NamedTuple):
    """Plain text of one or more lines, such as a proposed pins.toml."""

    text: str


Body = Table | Diff | Text


class Outcome(NamedTuple):
    """The outcome of one command.

    command   the verb: "check"
    result    plain data (mappings, sequences, strings, numbers, booleans, None) for `--format json`
    summary   the one line of a run without errors: "232 sites of 45 pins agree"
    body      what text and markdown show above the findings
    root      the directory that the findings' files are relative to
    status    the exit status, where the findings alone do not give it: 1 for a pending plan
    """

    command: str
    findings: tuple[Finding, ...] = ()
    result: Mapping[str, object] = MappingProxyType({})
    summary: str = ""
    body: Body | tuple[Body, ...] | None = None
    root: str = "."
    status: int | None = None

    @property
    def parts(self) -> tuple[Body, ...]:
        """The body as a sequence; empty without one."""
        if self.body is None:
            return ()
        return (self.body,) if isinstance(self.body, Table | Diff | Text) else self.body

    @property
    def exit_code(self) -> int:
        """`status` where it is given; else 1 with any finding of severity error, and 0 without."""
        return int(failed(self.findings)) if self.status is None else self.status
