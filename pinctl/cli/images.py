"""The flags of the verbs about images and environments."""

from typing import Annotated

import typer

from pinctl.cli.app import WHEELS, app, run


@app.command(rich_help_panel=WHEELS)
def image(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only this image of pins.toml.")] = None,
    reference: Annotated[
        str | None, typer.Argument(metavar="[IMAGE]", help="With --check: the image to look into; else its first tag.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Hold an image's labels and wheels against the pins; build nothing.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would run.")] = False,
    bake: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the images for `docker buildx bake`; build nothing.")
    ] = None,
    platform: Annotated[
        list[str] | None, typer.Option(metavar="OS/ARCH", help="This platform, though the machine be another.")
    ] = None,
    builder: Annotated[str | None, typer.Option(metavar="NAME", help="A builder of docker buildx to build on.")] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Logs go below it.")] = "dist",
) -> None:
    """Build Docker images from the pins and label them, or hold one against them."""
    if check + plan + (bake is not None) > 1:
        raise typer.BadParameter("--check, --plan and --bake exclude each other")
    if reference is not None and not check:
        raise typer.BadParameter("IMAGE is looked into by --check alone")
    if check:
        from pinctl.commands import image_check

        run(ctx, image_check.run, name=name, image=reference)
    from pinctl.commands import image as verb

    how = verb.How(tuple(platform or ()), builder, out)
    run(ctx, verb.run, name=name, how=how, plan=plan, file=bake)


@app.command(rich_help_panel=WHEELS)
def doctor(
    ctx: typer.Context,
    pins: Annotated[
        list[str] | None, typer.Argument(metavar="[PIN]...", help="These pins, which must be there.")
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="A Python, or its virtual environment; else the active one.")
    ] = None,
    image: Annotated[str | None, typer.Option(metavar="IMAGE", help="An image instead; it is never run.")] = None,
    variant: Annotated[str | None, typer.Option(metavar="NAME", help="The variant that it is meant to be.")] = None,
    no_import: Annotated[bool, typer.Option("--no-import", help="Import nothing.")] = False,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="How long one import may take.")] = 60,
) -> None:
    """Hold what is installed in an environment or image against the pins."""
    from pinctl.commands import doctor as verb

    if python is not None and image is not None:
        raise typer.BadParameter("--python and --image exclude each other")
    where = verb.Where(python, image, variant)
    run(ctx, verb.run, pins=tuple(pins or ()), where=where, imports=not no_import, timeout=timeout)
