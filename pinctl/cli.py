"""The command line: flags -> command -> report -> exit status. The one place that catches `PinctlError`."""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pinctl import __version__
from pinctl.errors import ExternalError, ManifestError, PinctlError
from pinctl.options import Options, Step, silent
from pinctl.outcome import Outcome
from pinctl.report import output
from pinctl.report.output import OutputFailed

DAILY = "Every day"
UPSTREAM = "Upstream"
SETUP = "Set-up and help"


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    MARKDOWN = "markdown"


class _Panels(TyperGroup):
    """The verbs in `--help` under the heading of their panel, in the order in which they are defined."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                panels.setdefault(panel, []).append((name, command.get_short_help_str(limit=80)))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


app = typer.Typer(
    name="pinctl",
    cls=_Panels,
    help="One pins.toml for an inference engine's kernel dependencies: every place that repeats a pin is held to it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"pinctl {__version__}")
        raise typer.Exit


@app.callback()
def global_options(
    ctx: typer.Context,
    directory: Annotated[str, typer.Option("-C", metavar="DIR", help="Work as if started in DIR.")] = ".",
    pins: Annotated[
        str | None, typer.Option("--pins", metavar="FILE", help="The pins file; else found upwards.")
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="How the result is printed.")] = Format.TEXT,  # noqa: A002
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="One line a finding; none where all is well.")] = False,
    verbose: Annotated[int, typer.Option("-v", "--verbose", count=True, show_default=False, help="More detail.")] = 0,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour (also NO_COLOR).")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="No network.")] = False,
    untrusted: Annotated[
        bool | None,
        typer.Option(
            "--untrusted/--trusted",
            help="Whose checkout this is; a pull request in CI is untrusted.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", envvar="PINCTL_POLICY", metavar="FILE", help="Policy file.")
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback does the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    ctx.obj = Options(
        directory=directory,
        pins=pins,
        format=format.value,
        quiet=quiet,
        verbose=verbose,
        color=not no_color and not os.environ.get("NO_COLOR"),
        offline=offline,
        untrusted=untrusted,
        policy=policy,
        progress=_progress if not quiet else silent,
    )


def _progress(label: str, total: int) -> AbstractContextManager[Step]:
    from pinctl.report.progress import progress

    return progress(label, total, sys.stderr, quiet=False)


def _run(ctx: typer.Context, verb: Callable[..., Outcome], /, **arguments: Any) -> None:
    """Run one verb and report its outcome."""
    options: Options = ctx.obj
    outcome = verb(options, **arguments)
    output.show(outcome, options)
    raise typer.Exit(outcome.exit_code)


@app.command(rich_help_panel=DAILY)
def check(
    ctx: typer.Context,
    since: Annotated[str | None, typer.Option(metavar="REF", help="Fail only on drift that is new since REF.")] = None,
    unguarded: Annotated[bool, typer.Option("--unguarded", help="Also look for places that no site covers.")] = False,
) -> None:
    """Hold every site against pins.toml. Offline; writes nothing; exit 1 on drift."""
    from pinctl.commands import check as verb

    _run(ctx, verb.run, since=since, unguarded=unguarded)


_Diff = Annotated[
    bool, typer.Option("--diff", help="Print the changes as a diff that `git apply` takes; write nothing.")
]
_Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if something would change.")]
_Workflows = Annotated[bool, typer.Option("--allow-workflows", help="Allow writing below .github/.")]


@app.command(rich_help_panel=DAILY)
def sync(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins' sites.")] = None,
    diff: _Diff = False,
    check: _Check = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also overwrite sites and blocks that were changed by hand.")
    ] = False,
    allow_workflows: _Workflows = False,
    since: Annotated[
        str | None, typer.Option(metavar="REF", help="Also drop what pins.toml dropped since REF.")
    ] = None,
) -> None:
    """Write what pins.toml says to every site, all files or none."""
    from pinctl.commands import sync as verb

    _run(
        ctx,
        verb.run,
        pins=pins or (),
        diff=diff,
        check=check,
        force=force,
        allow_workflows=allow_workflows,
        since=since,
    )


@app.command(rich_help_panel=DAILY)
def status(ctx: typer.Context) -> None:
    """One row a pin: where it is, its sites, and whether they agree."""
    from pinctl.commands import status as verb

    _run(ctx, verb.run)


@app.command(rich_help_panel=DAILY)
def adopt(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The site file whose values are right.")],
    diff: _Diff = False,
    check: _Check = False,
    force: Annotated[bool, typer.Option("--force", help="Also take back a pin that changed later.")] = False,
    allow_workflows: _Workflows = False,
) -> None:
    """Take one site file's values into pins.toml, and into the other sites."""
    from pinctl.commands import adopt as verb

    _run(ctx, verb.run, file=file, diff=diff, check=check, force=force, allow_workflows=allow_workflows)


_Transports = Annotated[
    list[str] | None,
    typer.Option("--allow-transport", metavar="SCHEME", help="Also http, git or file URLs; may be repeated."),
]


@app.command(rich_help_panel=UPSTREAM)
def verify(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins.")] = None,
    allow_transport: _Transports = None,
) -> None:
    """Prove git pins against what their repositories hold."""
    from pinctl.commands import verify as verb

    _run(ctx, verb.run, names=tuple(pins or ()), allow_transport=tuple(allow_transport or ()))


@app.command(rich_help_panel=UPSTREAM)
def fetch(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins.")] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DIR", help="Where to; else a folder of the pin's name.")
    ] = None,
    patches: Annotated[bool, typer.Option("--patches", help="Apply the pin's patches.")] = False,
    allow_transport: _Transports = None,
) -> None:
    """Fetch the source at a pin, with exactly the declared submodules."""
    from pinctl.commands import fetch as verb

    _run(ctx, verb.run, pins=tuple(pins or ()), to=to, patches=patches, allow_transport=tuple(allow_transport or ()))


@app.command(rich_help_panel=SETUP)
def init(
    ctx: typer.Context,
    write: Annotated[
        bool, typer.Option("--write", help="Write the proposal to pins.toml; no site is touched.")
    ] = False,
) -> None:
    """Find the pins of a repository and propose a pins.toml for it."""
    from pinctl.commands import init as verb

    _run(ctx, verb.run, write=write)


@app.command(rich_help_panel=SETUP)
def explain(
    ctx: typer.Context,
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="A code such as PIN201; all codes without one.")
    ] = None,
) -> None:
    """Say what a finding code means and how to mend it."""
    from pinctl.commands import explain as verb

    _run(ctx, verb.run, code=code)


@app.command(rich_help_panel=SETUP)
def schema(ctx: typer.Context) -> None:
    """Print the JSON Schema of pins.toml, for editors."""
    from pinctl.commands import schema as verb

    _run(ctx, verb.run)


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
