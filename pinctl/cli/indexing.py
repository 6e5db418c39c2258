"""The flags of the verbs of the wheel index."""

from typing import Annotated

import typer

from pinctl.cli.app import WHEELS, Transports, app, run

_HELP = "Build the wheel index, take over another, verify, prune."

index = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(index, name="index", rich_help_panel=WHEELS, help=_HELP, short_help=_HELP)

Records = Annotated[
    str | None, typer.Option("--records", metavar="FILE", help="The records; else as pins.toml says, or wheels.jsonl.")
]
Write = Annotated[bool, typer.Option("--write", help="Write the records; else only tell.")]


@index.command()
def build(
    ctx: typer.Context,
    out: Annotated[str | None, typer.Option("--out", metavar="DIR", help="Write the index to DIR.")] = None,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="FILE", help="A wheel, or a folder of wheels; may be repeated.")
    ] = None,
    channel: Annotated[str | None, typer.Option("--channel", help="The channel of what is added.")] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="Its variant; else the one of its label.")] = None,
    files_url: Annotated[
        str | None, typer.Option("--files-url", metavar="URL", help="Where its files are served; else in the index.")
    ] = None,
    sidecars: Annotated[
        bool, typer.Option("--sidecars", help="Each file's .metadata lies beside it at --files-url.")
    ] = False,
    uploaded: Annotated[
        str | None, typer.Option("--uploaded", metavar="TIME", help="When it was uploaded: 2026-07-01T12:00:00Z.")
    ] = None,
    files: Annotated[
        list[str] | None, typer.Option("--files", metavar="DIR", help="Has files of the index; may be repeated.")
    ] = None,
    records: Records = None,
) -> None:
    """Build the whole static index from the records, and from wheels that are added to them."""
    from pinctl.commands import index_build as verb

    adding = verb.Adding(tuple(add or ()), channel, variant, files_url, sidecars, uploaded)
    run(ctx, verb.run, out=out, adding=adding, file=records, sources=tuple(files or ()))


@index.command()
def verify(
    ctx: typer.Context,
    place: Annotated[str, typer.Argument(metavar="DIR|URL", help="The root of an index.")],
    links: Annotated[bool, typer.Option("--links", help="Ask servers whether each file is there.")] = False,
    fetch: Annotated[bool, typer.Option("--fetch", help="Download each file, and hash it.")] = False,
    allow_transport: Transports = None,
) -> None:
    """Find what is wrong with an index: digests, labels, links, metadata, names, holes."""
    from pinctl.commands import index_verify as verb

    run(ctx, verb.run, place=place, links=links, fetch=fetch, allow_transport=tuple(allow_transport or ()))


@index.command("import")
def import_(
    ctx: typer.Context,
    place: Annotated[str, typer.Argument(metavar="DIR|URL", help="The root of an index.")],
    write: Write = False,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download files that have several digests, or none, to say which is right.")
    ] = False,
    records: Records = None,
    allow_transport: Transports = None,
) -> None:
    """Take over an index: every published URL and digest is kept."""
    from pinctl.commands import index_import as verb

    run(ctx, verb.run, place=place, write=write, file=records, fetch=fetch,
        allow_transport=tuple(allow_transport or ()))  # fmt: skip


@index.command()
def decide(
    ctx: typer.Context,
    filename: Annotated[str, typer.Argument(metavar="FILENAME")],
    sha256: Annotated[str, typer.Option("--sha256", metavar="DIGEST", help="The digest that is right.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the records.")],
    records: Records = None,
) -> None:
    """Say which of several digests of a file is right."""
    from pinctl.commands import index_decide as verb

    run(ctx, verb.run, filename=filename, sha256=sha256, reason=reason, file=records)


@index.command()
def yank(
    ctx: typer.Context,
    filename: Annotated[str, typer.Argument(metavar="FILENAME")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; clients show it.")],
    records: Records = None,
) -> None:
    """Let nobody choose a file any more but who asks for exactly it."""
    from pinctl.commands import index_yank as verb

    run(ctx, verb.run, filename=filename, reason=reason, file=records)


@index.command()
def prune(
    ctx: typer.Context,
    write: Write = False,
    at: Annotated[str | None, typer.Option("--at", metavar="DATE", help="As of this day; else today (UTC).")] = None,
    records: Records = None,
) -> None:
    """Withdraw what is older than its channel keeps files, but for what a pin uses."""
    from pinctl.commands import index_prune as verb

    run(ctx, verb.run, write=write, at=at, file=records)
