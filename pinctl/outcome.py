"""What a command hands back: findings, the result for scripts, and what a person is shown beside them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pinctl.finding import Finding, failed


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Link(NamedTuple):
    """A cell that leads somewhere: `url` is an https URL of our own making; None: it leads nowhere."""

    text: str
    url: str | None


Cell = str | Link


def cell_text(cell: Cell) -> str:
    """What a cell says, without where it leads."""
    return cell if isinstance(cell, str) else cell.text


class Table(NamedTuple):
    """Rows under named columns, below a title where there is one. A cell is one line of plain text; no cell is
    markup."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""


class Diff(NamedTuple):
    """A unified diff in git's form; bytes that are not UTF-8 stand as surrogate escapes. `exact`: a program may read
    it, so where it goes to a pipe, no byte of it is changed to make it fit to print."""

    text: str
    exact: bool = True


class Text(NamedTuple):
    """Plain text of one or more lines, such as a proposed pins.toml."""

    text: str
    title: str = ""


Body = Table | Diff | Text


class Outcome(NamedTuple):
    """The outcome of one command.

    command   the verb: "check"
    result    plain data (mappings, sequences, strings, numbers, booleans, None) for `--format json`
    summary   the one line of a run without errors: "232 sites of 45 pins agree"
    body      what text and markdown show above the findings
    document  what `--body` writes as Markdown: the body of a pull request
    closing   lines below the conclusion: what a person must know of how far it goes
    root      the directory that the findings' files are relative to
    status    the exit status, where the findings alone do not give it: 1 for a pending plan
    """

    command: str
    findings: tuple[Finding, ...] = ()
    result: Mapping[str, object] = MappingProxyType({})
    summary: str = ""
    body: Body | tuple[Body, ...] | None = None
    document: tuple[Body, ...] = ()
    closing: tuple[str, ...] = ()
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
