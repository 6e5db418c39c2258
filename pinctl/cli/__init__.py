"""The command line: flags -> command -> report -> exit status. The one place that catches `PinctlError`."""

import os
import sys
from importlib import import_module
from typing import Any

import typer

from pinctl.cli.app import Format, app
from pinctl.errors import ExternalError, ManifestError, PinctlError
from pinctl.options import Options
from pinctl.outcome import Outcome
from pinctl.report import output
from pinctl.report.output import OutputFailed

__all__ = ["app", "furnish", "hoist", "main"]

_ROOMS = {
    "daily": ("check", "sync", "bump", "status", "adopt"),
    "upstream": ("verify", "diff", "contract", "surface", "fetch"),
    "patching": ("patch",),
    "building": ("build",),
    "images": ("image", "doctor"),
    "wheels": ("wheel",),
    "indexing": ("index",),
    "publishing": ("publish",),
    "setup": ("init", "explain", "schema"),
}
"""The modules here, each with the verbs that it defines."""

_VALUED = frozenset({"-C", "--pins", "--format", "--policy"})
_FLAGS = frozenset({"--quiet", "--verbose", "--no-color", "--offline", "--untrusted", "--trusted", "--version"})
_SHORT_FLAGS = frozenset("qv")

# click's ClickException and UsageError, wherever typer keeps them: a package of its own up to typer 0.21, vendored
# since.
_UsageError: Any = typer.BadParameter.__mro__[1]
_CommandLineError: Any = typer.BadParameter.__mro__[2]


_INTERRUPTED = 130


def hoist(arguments: list[str]) -> list[str]:
    """`arguments` with the global options moved before the verb: they may stand on either side of it.

    Raises click's UsageError for one without its value.
    """
    front: list[str] = []
    rest: list[str] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return [*front, *rest, *arguments[at:]]
        step = _step(word)
        if at + step > len(arguments):
            raise _UsageError(f"Option '{word}' requires an argument.")
        (front if step == 2 or _is_global(word) else rest).extend(arguments[at : at + step])
        at += step
    return [*front, *rest]


def _step(word: str) -> int:
    """How many words a word of the command line takes: 2 for a global option whose value follows it."""
    return 2 if word in _VALUED else 1


def _is_global(word: str) -> bool:
    """Whether one word is a whole global option: `-qv`, `--offline`, `-CDIR`, `--format=json`."""
    return bool(_short(word)) or word in _FLAGS or word.startswith("-C") or word.partition("=")[0] in _VALUED


def _short(word: str) -> str:
    """The letters of short flags joined in one word."""
    return word[1:] if word.startswith("-") and _SHORT_FLAGS.issuperset(word[1:]) else ""


def furnish(verb: str) -> None:
    """Define `verb`, or every verb where it is none of ours: what a run does not need takes time to define."""
    rooms = [room for room, verbs in _ROOMS.items() if verb in verbs]
    for room in rooms or _ROOMS:
        import_module(f"pinctl.cli.{room}")


def main(arguments: list[str]) -> int:
    """Run the command line. Returns the exit status: 0 clean, 1 findings, 2 usage, 3 pins.toml invalid, 4 git, Docker,
    files or network failed, 130 interrupted."""
    try:
        with output.watched():
            status = _invoke(hoist(arguments))
    except _CommandLineError as error:
        error.show()
        return 2
    except OutputFailed as error:
        _complain(ExternalError(f"standard output cannot be written: {error}"))
        return ExternalError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    if status == _INTERRUPTED:  # typer, too, makes this status of ^C
        _tell("interrupted; nothing is half written\n")
    return status


def _invoke(words: list[str]) -> int:
    options, verb = _reporting(words)
    furnish(verb)
    try:
        status = app(words, prog_name="pinctl", standalone_mode=False)
    except ManifestError as error:
        output.show(Outcome(command=verb, findings=error.findings, status=error.exit_code, root=error.root), options)
        return error.exit_code
    except PinctlError as error:
        if options.format == "json":
            output.show(
                Outcome(command=verb, result={"error": str(error), "hint": error.hint}, status=error.exit_code), options
            )
        _complain(error)
        return error.exit_code
    return status if isinstance(status, int) else 0


def _complain(error: PinctlError) -> None:
    from pinctl.report.sanitize import inert, visible

    hint = f"  hint: {error.hint}\n" if error.hint else ""
    _tell(inert(visible(f"error: {error}\n{hint}")))


def _tell(text: str) -> None:
    """Say `text` on the error output, where there is one (not `2>&-`)."""
    if sys.stderr is not None:
        sys.stderr.write(text)


def _reporting(words: list[str]) -> tuple[Options, str]:
    """The output options and the verb, read without typer: an error of any moment is reported in the asked format."""
    form, at = Format.TEXT.value, 0
    while at < len(words) and words[at].startswith("-"):
        name, _, value = words[at].partition("=")
        if name == "--format":
            form = value or words[at + 1]
        at += _step(words[at])
    front = words[:at]
    quiet = any(word == "--quiet" or "q" in _short(word) for word in front)
    color = "--no-color" not in front and not os.environ.get("NO_COLOR")
    return Options(format=form, quiet=quiet, color=color), words[at] if at < len(words) else ""
