"""The flags of `pinctl publish`."""

from typing import Annotated

import typer

from pinctl.cli.app import WHEELS, Transports, app, run


@app.command(rich_help_panel=WHEELS)
def publish(
    ctx: typer.Context,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Wheels, or folders of wheels.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="pypi|index|github", help="Where all go to; else as their variants say.")
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="The target's upload URL; DIR or URL#BRANCH of an index; OWNER/NAME."),
    ] = None,
    index_url: Annotated[
        str | None, typer.Option("--index-url", metavar="URL", help="The index that the target fills, to be read back.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="TARGET", help="Only what goes to this target; may be repeated.")
    ] = None,
    variant: Annotated[str | None, typer.Option(metavar="NAME", help="The variant of all; else as they say.")] = None,
    channel: Annotated[str | None, typer.Option(metavar="NAME", help="The channel of the index.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Publish; else only tell what would be done.")] = False,
    all_or_none: Annotated[
        bool, typer.Option("--all-or-none", help="Publish nothing where one target is blocked.")
    ] = False,
    partial: Annotated[bool, typer.Option("--partial", help="Publish though the matrix has holes.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Send nothing; look from outside at what is published.")
    ] = False,
    records: Annotated[
        str | None, typer.Option(metavar="FILE", help="The records of the checkout; else as pins.toml says.")
    ] = None,
    allow_transport: Transports = None,
) -> None:
    """Publish wheels to PyPI, an index or releases, and look at them from outside."""
    from pinctl.commands import publish as verb
    from pinctl.publish.settings import Said

    how = verb.How(
        target=target, only=tuple(only or ()), variant=variant, channel=channel, said=Said(repository, index_url),
        yes=yes, all_or_none=all_or_none, partial=partial, verify=verify, records=records,
        allow=tuple(allow_transport or ()),
    )  # fmt: skip
    run(ctx, verb.run, paths=tuple(files or ()), how=how)
