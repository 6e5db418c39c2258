import io
import itertools
from collections.abc import Callable

from pinctl.report.board import board


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ticking() -> Callable[[], float]:
    seconds = itertools.count(step=10)
    return lambda: float(next(seconds))


def test_a_line_for_each_change_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    with board(["a", "b"], out, quiet=False, clock=ticking()) as told:
        told("a", "compiles")
        told("b", "imports\x1b[31m the\nwheel")
    assert out.getvalue() == "[   10.0 s] a: compiles\n[   20.0 s] b: imports\\x1b[31m the wheel\n"


def test_a_row_for_each_on_a_terminal() -> None:
    out = Terminal()
    with board(["a", "b"], out, quiet=False) as told:
        told("a", "compiles [link=https://evil.example]")
    text = out.getvalue()
    assert "compiles [link=https://evil.example]" in text, "what is told is no markup"
    assert "waits" in text


def test_nothing_where_quiet() -> None:
    out = io.StringIO()
    with board(["a"], out, quiet=True) as told:
        told("a", "compiles")
    with board([], out, quiet=False) as told:
        told("a", "compiles")
    assert out.getvalue() == ""
