"""What several pieces of long work do, side by side, on standard error: a line each that changes on a terminal, a line
for each change elsewhere, nothing for `-q`."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TextIO

from pinctl.report.sanitize import inert, oneline

if TYPE_CHECKING:
    from rich.table import Table

_A_SECOND = 4
"""Drawings a second, on a terminal."""

Told = Callable[[str, str], object]
"""Called, in whatever thread, with the name of a piece and what it does now."""


@contextmanager
def board(
    names: Sequence[str], stream: TextIO, *, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[Told]:
    """Show what the pieces `names` do while the body runs; `clock` gives seconds. It is taken away at the end."""
    if quiet or not names:
        yield lambda _name, _what: None
        return
    show = _Rows(names, stream, clock) if stream.isatty() else _Lines(stream, clock)
    try:
        yield show.told
    finally:
        show.close()


class _Lines:
    """`[  12.3 s] NAME: WHAT`, a line for each change."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream, self._clock, self._start, self._lock = stream, clock, clock(), Lock()

    def told(self, name: str, what: str) -> None:
        with self._lock:
            self._stream.write(f"[{self._clock() - self._start:7.1f} s] {_plain(name)}: {_plain(what)}\n")
            self._stream.flush()

    def close(self) -> None:
        """Nothing to take away."""


class _Rows:
    """A row for each piece: its name, how long it has done what it does, and that."""

    def __init__(self, names: Sequence[str], stream: TextIO, clock: Callable[[], float]) -> None:
        from rich.console import Console
        from rich.live import Live

        self._clock = clock
        self._rows: dict[str, tuple[str, float]] = {_plain(name): ("waits", clock()) for name in names}
        console = Console(file=stream, markup=False, highlight=False, emoji=False)
        self._live = Live(
            console=console, get_renderable=self._table, refresh_per_second=_A_SECOND, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def told(self, name: str, what: str) -> None:
        self._rows[_plain(name)] = (_plain(what), self._clock())

    def close(self) -> None:
        self._live.stop()

    def _table(self) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for name, (what, since) in list(self._rows.items()):
            table.add_row(Text(name), Text(f"{self._clock() - since:.0f} s"), Text(what))
        return table


def _plain(text: str) -> str:
    return inert(oneline(text))
