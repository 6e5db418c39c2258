"""The flags of the verbs of patches."""

from typing import Annotated

import typer

from pinctl.cli.app import UPSTREAM, Check, Diff, Transports, app, run

group = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The patches of a pin: how they stand, and what becomes of them.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(group, name="patch", rich_help_panel=UPSTREAM)

_Name = Annotated[str, typer.Argument(metavar="PIN")]
_In = Annotated[str | None, typer.Option("--in", metavar="DIR", help="A checkout, or where the package is installed.")]


@group.command()
def status(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins.")] = None,
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="COMMIT", help="At this commit, tag or branch; may be repeated.")
    ] = None,
    folder: _In = None,
    allow_transport: Transports = None,
) -> None:
    """Say how the patches of pins stand on their trees."""
    from pinctl.commands import patch_status as verb

    run(ctx, verb.run, names=tuple(pins or ()), at=tuple(at or ()), folder=folder,
        allow_transport=tuple(allow_transport or ()))  # fmt: skip


@group.command()
def apply(
    ctx: typer.Context,
    pin: _Name,
    folder: _In = None,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="NAME", help="Also the patches of this variant alone.")
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Take them back.")] = False,
    fuzz: Annotated[
        int, typer.Option("--fuzz", min=0, max=3, metavar="N", help="N lines around a change may differ.")
    ] = 0,
    diff: Diff = False,
    check: Check = False,
) -> None:
    """Apply the patches of a pin to a folder, all or none."""
    from pinctl.commands import patch_apply as verb

    run(ctx, verb.run, name=pin, folder=folder, variant=variant, reverse=reverse, fuzz=fuzz, diff=diff, check=check)


@group.command()
def refresh(
    ctx: typer.Context,
    pin: _Name,
    to: Annotated[
        str | None, typer.Option("--to", metavar="COMMIT", help="Onto this commit, tag or branch; else the pinned one.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--from", metavar="COMMIT", help="Where the patches apply; else the pinned commit.")
    ] = None,
    diff: Diff = False,
    allow_transport: Transports = None,
) -> None:
    """Rebase the patches of a pin onto another commit."""
    from pinctl.commands import patch_refresh as verb

    run(ctx, verb.run, name=pin, to=to, base=base, diff=diff, allow_transport=tuple(allow_transport or ()))


@group.command()
def add(
    ctx: typer.Context,
    pin: _Name,
    source: Annotated[str, typer.Argument(metavar="FILE|COMMIT", help="A diff, or a commit of upstream to backport.")],
    file: Annotated[str | None, typer.Option("--as", metavar="FILE", help="Where the patch is kept.")] = None,
    upstream: Annotated[bool, typer.Option("--upstream", help="The commit is of what the pin's forks.")] = False,
    retire: Annotated[bool, typer.Option("--retire", help="Tell when the pinned tree holds it.")] = False,
    diff: Diff = False,
    allow_transport: Transports = None,
) -> None:
    """Add a patch to a pin: a diff, or an upstream commit."""
    from pinctl.commands import patch_add as verb

    run(ctx, verb.run, name=pin, source=source, file=file, upstream=upstream, retire=retire, diff=diff,
        allow_transport=tuple(allow_transport or ()))  # fmt: skip
