"""Progress of long work, on standard error: a bar on a terminal, a line now and then elsewhere, nothing for `-q`."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from pinctl.report.sanitize import inert, oneline

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 0.5
"""Seconds of work before a bar appears; shorter work shows nothing and does not load rich."""
_FRAME = 0.1
"""Seconds between two drawings of the bar."""
_PACE = 5.0
"""Seconds between two lines where no bar can be drawn."""

Step = Callable[[int], None]
"""Called with the number of units done since the last call."""


@contextmanager
def progress(
    label: str, total: int | None, stream: TextIO, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[Step]:
    """Show how far work of `total` units (None: not known) has come, while the body runs.

    `clock` gives seconds. The bar is taken away at the end, also after an exception.
    """
    if quiet:
        yield lambda _: None
        return
    label = inert(oneline(label))
    show = _Bar(label, total, stream, clock) if stream.isatty() else _Lines(label, total, stream, clock)
    try:
        yield show.step
    finally:
        show.close()


class _Lines:
    """A line at most every _PACE seconds: `label: 120 of 4000`."""

    def __init__(self, label: str, total: int | None, stream: TextIO, clock: Callable[[], float]) -> None:
        self._label, self._stream, self._clock = label, stream, clock
        self._of = "" if total is None else f" of {total}"
        self._done, self._next = 0, clock() + _PACE

    def step(self, number: int) -> None:
        self._done += number
        now = self._clock()
        if now >= self._next:
            self._next = now + _PACE
            self._stream.write(f"{self._label}: {self._done}{self._of}\n")
            self._stream.flush()

    def close(self) -> None:
        """Nothing to take away."""


class _Bar:
    """rich's bar, drawn from `step` alone: no thread."""

    def __init__(self, label: str, total: int | None, stream: TextIO, clock: Callable[[], float]) -> None:
        self._label, self._total, self._stream, self._clock = label, total, stream, clock
        self._done, self._next = 0, clock() + _PATIENCE
        self._bar: Progress | None = None

    def step(self, number: int) -> None:
        self._done += number
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _FRAME
        self._bar = self._bar or self._started()
        self._bar.update(self._bar.task_ids[0], completed=self._done, refresh=True)

    def close(self) -> None:
        if self._bar:
            self._bar.stop()

    def _started(self) -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        console = Console(file=self._stream, markup=False, highlight=False, emoji=False)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        bar = Progress(*columns, console=console, auto_refresh=False, transient=True)
        bar.start()
        bar.add_task(self._label, total=self._total, completed=self._done)
        return bar
