"""The flags of the verbs that ask upstream."""

from typing import Annotated

import typer

from pinctl.cli.app import UPSTREAM, Transports, app, run


@app.command(rich_help_panel=UPSTREAM)
def verify(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins.")] = None,
    images: Annotated[bool, typer.Option("--images", help="Also ask registries where image tags lead.")] = False,
    allow_transport: Transports = None,
) -> None:
    """Prove pins against what their repositories, package indexes and servers hold."""
    from pinctl.commands import verify as verb

    run(ctx, verb.run, names=tuple(pins or ()), images=images, allow_transport=tuple(allow_transport or ()))


@app.command(rich_help_panel=UPSTREAM)
def diff(
    ctx: typer.Context,
    pin: Annotated[str, typer.Argument(metavar="PIN")],
    commits: Annotated[
        list[str] | None,
        typer.Argument(metavar="[A] [B]", help="Commits, tags or branches; the pinned one and what it follows."),
    ] = None,
    upstream: Annotated[bool, typer.Option("--upstream", help="B is of the repository that the pin's forks.")] = False,
    body: Annotated[str | None, typer.Option("--body", metavar="FILE", help="Also write it as Markdown.")] = None,
    allow_transport: Transports = None,
) -> None:
    """What lies between two commits of a pin: log, fork, submodules, headers, files."""
    from pinctl.commands import diff as verb

    run(ctx, verb.run, body=body, name=pin, commits=tuple(commits or ()), upstream=upstream,
         allow_transport=tuple(allow_transport or ()))  # fmt: skip


@app.command(rich_help_panel=UPSTREAM)
def surface(
    ctx: typer.Context,
    pin: Annotated[str, typer.Argument(metavar="PIN")],
    commit: Annotated[
        str | None, typer.Argument(metavar="[COMMIT]", help="A commit, tag or branch; else the pinned one.")
    ] = None,
    allow_transport: Transports = None,
) -> None:
    """What a pin's tree exports to Python: names, signatures, conditions."""
    from pinctl.commands import surface as verb

    run(ctx, verb.run, name=pin, commit=commit, allow_transport=tuple(allow_transport or ()))


@app.command(rich_help_panel=UPSTREAM)
def contract(
    ctx: typer.Context,
    pin: Annotated[str, typer.Argument(metavar="PIN")],
    commits: Annotated[
        list[str] | None,
        typer.Argument(metavar="[A] [B]", help="Commits, tags or branches; the one pinned at HEAD and the pinned one."),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Put what the code uses under `requires`.")] = False,
    lint: Annotated[bool, typer.Option("--lint", help="Also tell what would fail in silence the next time.")] = False,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="FILE", help="A file of known breaks, which do not fail.")
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Make that file anew of all that breaks.")
    ] = False,
    allow_transport: Transports = None,
) -> None:
    """Hold this repository's calls against what a pin's tree offers: what breaks?"""
    from pinctl.commands import contract as verb

    asked = verb.Asked(write, lint, baseline, write_baseline)
    run(ctx, verb.run, name=pin, commits=tuple(commits or ()), asked=asked,
        allow_transport=tuple(allow_transport or ()))  # fmt: skip


@app.command(rich_help_panel=UPSTREAM)
def fetch(
    ctx: typer.Context,
    pins: Annotated[list[str] | None, typer.Argument(metavar="[PIN]...", help="Only these pins.")] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DIR", help="Where to; else a folder of the pin's name.")
    ] = None,
    patches: Annotated[bool, typer.Option("--patches", help="Apply the pin's patches.")] = False,
    allow_transport: Transports = None,
) -> None:
    """Fetch the source at a pin, with exactly the declared submodules."""
    from pinctl.commands import fetch as verb

    run(ctx, verb.run, pins=tuple(pins or ()), to=to, patches=patches, allow_transport=tuple(allow_transport or ()))
