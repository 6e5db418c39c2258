"""The flags of the verbs of every day."""

from typing import Annotated

import typer

from pinctl.cli.app import DAILY, Check, Diff, Transports, Workflows, app, run


@app.command(rich_help_panel=DAILY)
def check(
    ctx: typer.Context,
    since: Annotated[str | None, typer.Option(metavar="REF", help="Fail only on drift that is new since REF.")] = None,
    unguarded: Annotated[bool, typer.Option("--unguarded", help="Also look for places that no site covers.")] = False,
) -> None:
    """Hold every site against pins.toml. Offline; writes nothing; exit 1 on drift."""
    from pinctl.commands import check as verb

    run(ctx, verb.run, since=since, unguarded=unguarded)


@app.command(rich_help_panel=DAILY)
def sync(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins' sites.")] = None,
    diff: Diff = False,
    check: Check = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also overwrite sites and blocks that were changed by hand.")
    ] = False,
    allow_workflows: Workflows = False,
    since: Annotated[
        str | None, typer.Option(metavar="REF", help="Also drop what pins.toml dropped since REF.")
    ] = None,
) -> None:
    """Write what pins.toml says to every site, all files or none."""
    from pinctl.commands import sync as verb

    run(
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
def bump(
    ctx: typer.Context,
    pins: Annotated[
        list[str] | None, typer.Argument(metavar="[PIN]...", help="The pins; `variants.NAME`: the image of a variant.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Every pin that a server tells of, and every variant's image.")
    ] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="REF", help="A commit, tag or branch; a version; the tag of an image.")
    ] = None,
    latest: Annotated[  # noqa: ARG001 - what is done without it, too
        bool,
        typer.Option("--latest", help="What the pin follows: its branch's tip, or the newest release tag (default)."),
    ] = False,
    upstream: Annotated[bool, typer.Option("--upstream", help="Go to the repository that the pin's forks.")] = False,
    repo: Annotated[str | None, typer.Option("--repo", metavar="URL", help="Go to another repository.")] = None,
    pre: Annotated[bool, typer.Option("--pre", help="Pre-releases count, too.")] = False,
    rollback: Annotated[bool, typer.Option("--rollback", help="Go back to what pins.toml held before.")] = False,
    resolve: Annotated[bool, typer.Option("--resolve", help="Fill in the commits that are not known yet.")] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A new value of the pin; may be repeated.")
    ] = None,
    accept: Annotated[
        list[str] | None, typer.Option("--accept", metavar="CODE", help="Findings that stop nothing; may be repeated.")
    ] = None,
    drop_patches: Annotated[
        bool, typer.Option("--drop-patches", help="Drop the entries of patches that upstream has taken.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if something newer exists.")] = False,
    diff: Diff = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also overwrite sites that changed later than their pin.")
    ] = False,
    commit: Annotated[bool, typer.Option("--commit", help="Make a git commit of exactly what was written.")] = False,
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="Commit on a new branch (with --commit).")
    ] = None,
    body: Annotated[
        str | None, typer.Option("--body", metavar="FILE", help="Write the body of a pull request, in Markdown.")
    ] = None,
    allow_workflows: Workflows = False,
    allow_transport: Transports = None,
) -> None:
    """Move pins to other commits and releases, proved first, and every site with them."""
    from pinctl.commands import bump as verb
    from pinctl.commands.courses import Order
    from pinctl.commands.landing import How
    from pinctl.commands.targets import Wish

    order = Order(
        names=tuple(pins or ()),
        all=all_,
        wish=Wish(to, repo, upstream, pre),
        sets=tuple(set_ or ()),
        accept=tuple(accept or ()),
        resolve=resolve,
        rollback=rollback,
        check=check,
        allow_transport=tuple(allow_transport or ()),
        drop_patches=drop_patches,
    )
    how = How(diff, commit or branch is not None, branch, force, allow_workflows)
    run(ctx, verb.run, body=body, order=order, how=how)


@app.command(rich_help_panel=DAILY)
def status(ctx: typer.Context) -> None:
    """One row a pin: where it is, its sites, and whether they agree."""
    from pinctl.commands import status as verb

    run(ctx, verb.run)


@app.command(rich_help_panel=DAILY)
def adopt(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The site file whose values are right.")],
    diff: Diff = False,
    check: Check = False,
    force: Annotated[bool, typer.Option("--force", help="Also take back a pin that changed later.")] = False,
    allow_workflows: Workflows = False,
) -> None:
    """Take one site file's values into pins.toml, and into the other sites."""
    from pinctl.commands import adopt as verb

    run(ctx, verb.run, file=file, diff=diff, check=check, force=force, allow_workflows=allow_workflows)
