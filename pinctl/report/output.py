"""The way of an outcome to standard output, and what is done where that is closed or full."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pinctl import report
from pinctl.options import Options
from pinctl.outcome import Outcome


class OutputFailed(Exception):
    """Standard output cannot be written; `str(error)` says why."""


def show(outcome: Outcome, options: Options) -> None:
    """Print `outcome` as `options` ask. Raises OutputFailed; a reader that goes away (`| head`) is no error."""
    if sys.stdout is None:  # what Python makes of `>&-`
        raise OutputFailed("it is closed")
    try:
        report.write(
            outcome,
            options.format,
            sys.stdout,
            color=options.color and sys.stdout.isatty(),
            width=_width(),
            quiet=options.quiet,
            verbose=options.verbose,
            root=outcome.root,
        )
        sys.stdout.flush()
    except BrokenPipeError:
        _discard()
    except OSError as error:
        _discard()
        raise OutputFailed(error.strerror) from error


@contextmanager
def watched() -> Iterator[None]:
    """What is done inside may print by itself, as typer prints help. Raises OutputFailed where that fails."""
    try:
        yield
    except OSError as error:
        if sys.stdout is None or _is_sound():
            raise
        _discard()
        raise OutputFailed(error.strerror) from error


def _is_sound() -> bool:
    """Whether standard output takes one more line end."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True


def _discard() -> None:
    """Let what is still to be printed go nowhere: the interpreter would complain of it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _width() -> int:
    """Columns of the terminal; 0, no limit, where there is none."""
    return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
