import io
import re
import subprocess
import sys

import pytest

from pinctl.report.progress import progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(
    stream: io.StringIO, steps: list[float], total: int | None = 10, quiet: bool = False, label: str = "reading"
) -> str:
    """What is shown of work whose steps take so many seconds each."""
    clock = Clock()
    with progress(label, total, stream, quiet, clock) as step:
        for seconds in steps:
            clock.now += seconds
            step(1)
    return stream.getvalue()


def test_quiet_says_nothing() -> None:
    assert run(io.StringIO(), [60.0] * 3, quiet=True) == ""
    assert run(Terminal(), [60.0] * 3, quiet=True) == ""


def test_a_log_gets_a_line_every_few_seconds() -> None:
    assert run(io.StringIO(), [1.0] * 12) == "reading: 5 of 10\nreading: 10 of 10\n"
    assert run(io.StringIO(), [1.0] * 6, total=None) == "reading: 5\n"
    assert run(io.StringIO(), [0.1] * 6) == ""


def test_a_label_is_no_command() -> None:
    assert run(io.StringIO(), [9.0], label="::error::\x1b[2J") == ": :error::\\x1b[2J: 1 of 10\n"


def test_short_work_shows_no_bar() -> None:
    assert run(Terminal(), [0.1, 0.1]) == ""


@pytest.mark.parametrize("total", [10, None])
def test_long_work_shows_a_bar_and_takes_it_away(total: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = run(Terminal(), [0.6, 0.01, 0.2], total=total, label="[red]reading")
    assert "[red]reading" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    drawn = re.findall(r"(\d+)/(10|\?)", plain)
    assert drawn[0] == ("1", str(total or "?"))
    assert drawn[-1] == ("3", str(total or "?"))
    assert ("2", str(total or "?")) not in drawn, "drawn again too soon"
    assert shown.endswith("\x1b[2K")


def test_the_bar_is_taken_away_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream, clock = Terminal(), Clock()

    def fail() -> None:
        with progress("reading", 2, stream, False, clock) as step:
            clock.now += 1
            step(1)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert stream.getvalue().endswith("\x1b[2K")


def test_rich_is_not_loaded_for_short_work() -> None:
    code = (
        "import io, sys\nfrom pinctl.report.progress import progress\n"
        "class T(io.StringIO):\n    isatty = lambda self: True\n"
        "with progress('x', 1, T(), False) as step:\n    step(1)\n"
        "print('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
