"""The flags of `pinctl build`."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from pinctl.cli.app import WHEELS, Transports, app, run

if TYPE_CHECKING:
    from pinctl.report.board import Told


@app.command(rich_help_panel=WHEELS)
def build(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins.")] = None,
    variant: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this variant; may be repeated.")
    ] = None,
    python: Annotated[list[str] | None, typer.Option(metavar="X.Y", help="Only this Python; may be repeated.")] = None,
    platform: Annotated[
        list[str] | None, typer.Option(metavar="OS/ARCH", help="This platform, though the machine be another.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="List the cells, what would run, and why.")] = False,
    explain_key: Annotated[bool, typer.Option("--explain-key", help="Show what goes into each cell's key.")] = False,
    bake: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the matrix for `docker buildx bake`; build nothing.")
    ] = None,
    builder: Annotated[str | None, typer.Option(metavar="NAME", help="A builder of docker buildx to build on.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Cells at once; else as CPUs and memory allow.")] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where wheels go, and logs below it.")] = "dist",
    cache: Annotated[str | None, typer.Option(metavar="DIR", help="The cache of wheels; it may be shared.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Build again, and tell what differs.")] = False,
    allow_transport: Transports = None,
) -> None:
    """Build the wheels of pins in Docker, as far as the cache does not have them."""
    from pinctl.commands import build as verb
    from pinctl.wheel.matrix import Asked

    def board(cells: Sequence[str]) -> AbstractContextManager["Told"]:
        from pinctl.report.board import board

        return board(cells, sys.stderr, quiet=ctx.obj.quiet)

    asked = Asked(tuple(pins or ()), tuple(variant or ()), tuple(python or ()), tuple(platform or ()))
    how = verb.How(out, cache, builder, jobs, compare, board, tuple(allow_transport or ()))
    run(ctx, verb.run, asked=asked, how=how, plan=plan, explain_key=explain_key, bake=bake)
