"""The flags of the verbs about one wheel file."""

from typing import Annotated

import typer

from pinctl.cli.app import WHEELS, app, run

wheel = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(wheel, name="wheel", rich_help_panel=WHEELS, help="Look into wheel files, verify and relabel them.",
              short_help="Look into wheel files, verify and relabel them.")  # fmt: skip

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Wheel files, also ones that others built.")]


@wheel.command()
def inspect(ctx: typer.Context, files: Files) -> None:
    """Say what wheels say of themselves: names, tags, libraries, GPUs, provenance."""
    from pinctl.commands import wheel_inspect as verb

    run(ctx, verb.run, paths=tuple(files))


@wheel.command()
def verify(
    ctx: typer.Context,
    files: Files,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="V", help="The variant that they are to be; else as they say.")
    ] = None,
    pin: Annotated[
        str | None, typer.Option("--pin", metavar="PIN", help="The pin that they are built from; else as they say.")
    ] = None,
    max_size: Annotated[
        float | None, typer.Option("--max-size", metavar="MIB", min=0, help="How large they may be; else as PyPI says.")
    ] = None,
) -> None:
    """Hold wheels against themselves, their tags, and pins.toml; exit 1 if anything is wrong."""
    from pinctl.commands import wheel_verify as verb

    run(ctx, verb.run, paths=tuple(files), asked=verb.Asked(variant, pin, max_size))


@wheel.command()
def relabel(
    ctx: typer.Context,
    files: Files,
    label: Annotated[str, typer.Option("--label", metavar="LABEL", help="Such as cu129; empty for none.")],
    out: Annotated[str | None, typer.Option("--out", metavar="DIR", help="Where to; else beside the file.")] = None,
) -> None:
    """Give wheels another local version label, in their names and all that is in them."""
    from pinctl.commands import wheel_relabel as verb

    run(ctx, verb.run, paths=tuple(files), label=label, out=out)
