"""The flags of the verbs that set up and help."""

from typing import Annotated

import typer

from pinctl.cli.app import SETUP, app, run


@app.command(rich_help_panel=SETUP)
def init(
    ctx: typer.Context,
    write: Annotated[
        bool, typer.Option("--write", help="Write the proposal to pins.toml; no site is touched.")
    ] = False,
) -> None:
    """Find the pins of a repository and propose a pins.toml for it."""
    from pinctl.commands import init as verb

    run(ctx, verb.run, write=write)


@app.command(rich_help_panel=SETUP)
def explain(
    ctx: typer.Context,
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="A code such as PIN201; all codes without one.")
    ] = None,
) -> None:
    """Say what a finding code means and how to mend it."""
    from pinctl.commands import explain as verb

    run(ctx, verb.run, code=code)


@app.command(rich_help_panel=SETUP)
def schema(ctx: typer.Context) -> None:
    """Print the JSON Schema of pins.toml, for editors."""
    from pinctl.commands import schema as verb

    run(ctx, verb.run)
