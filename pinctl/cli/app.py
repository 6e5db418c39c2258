"""The Typer application: its global options, and what every verb does with its flags."""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pinctl import __version__
from pinctl.codes import finding
from pinctl.errors import ExternalError
from pinctl.options import Options, Step, silent
from pinctl.outcome import Outcome
from pinctl.report import output

DAILY = "Every day"
UPSTREAM = "Upstream"
WHEELS = "Wheels and images"
SETUP = "Set-up and help"


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    MARKDOWN = "markdown"


class _Panels(TyperGroup):
    """The verbs in `--help` under the headings of their panels."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in (DAILY, UPSTREAM, WHEELS, SETUP)}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panels[getattr(command, "rich_help_panel", SETUP)].append((name, command.get_short_help_str(limit=80)))
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


def _progress(label: str, total: int | None) -> AbstractContextManager[Step]:
    from pinctl.report.progress import progress

    return progress(label, total, sys.stderr, quiet=False)


def run(ctx: typer.Context, verb: Callable[..., Outcome], /, *, body: str | None = None, **arguments: Any) -> None:
    """Run one verb and report its outcome; its document goes to the file `body`, which is looked at before."""
    options: Options = ctx.obj
    if body is not None:
        from pinctl.commands import document

        document.demand_place(options, body)
    outcome = verb(options, **arguments)
    if body is not None:
        outcome = _documented(outcome, body)
    output.show(outcome, options)
    raise typer.Exit(outcome.exit_code)


def _documented(outcome: Outcome, path: str) -> Outcome:
    """The outcome, after its document was written to the file `path`; one that cannot be is told beside what was done
    by then."""
    from pinctl.external import outputs
    from pinctl.report import markdown

    if not outcome.document:
        return outcome._replace(closing=(*outcome.closing, f"{path} was not written: there is nothing to tell"))
    try:
        outputs.write(path, markdown.document(outcome.document).encode("utf-8", "backslashreplace"))
    except ExternalError as error:
        found = finding("PIN803", f"{error}; what else is told here holds all the same", hint=error.hint)
        return outcome._replace(findings=(*outcome.findings, found), status=error.exit_code)
    return outcome


# Options that several verbs have.

Diff = Annotated[
    bool, typer.Option("--diff", help="Print the changes as a diff that `git apply` takes; write nothing.")
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if something would change.")]
Workflows = Annotated[bool, typer.Option("--allow-workflows", help="Allow writing below .github/.")]
Transports = Annotated[
    list[str] | None,
    typer.Option("--allow-transport", metavar="SCHEME", help="Also http, git or file URLs; may be repeated."),
]
