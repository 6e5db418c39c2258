"""`wheel verify`: wheel files held against themselves and against pins.toml."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from pinctl.commands import network
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import files, resources, wheelfile
from pinctl.finding import Finding
from pinctl.model import Manifest, Pin, Variant
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.wheel import context, recipe
from pinctl.wheel.archive import Malformed
from pinctl.wheel.judgement import Wanted, judge, malformed
from pinctl.wheel.matrix import defaulted
from pinctl.wheel.names import Name
from pinctl.wheel.provenance import Provenance
from pinctl.wheel.shown import cudas, plain
from pinctl.wheel.survey import Survey, devices

FILES = "requires_files"
"""The key of a pin's `wheel.options`: globs of members that its wheels must have."""


class Asked(NamedTuple):
    """What the wheels are held against: names of pins.toml, and the size that they may have in MiB. Without a name the
    wheel's own provenance gives it, or the variant that has its label alone."""

    variant: str | None = None
    pin: str | None = None
    most: float | None = None


def run(options: Options, *, paths: Sequence[str], asked: Asked = Asked()) -> Outcome:  # noqa: B008 - immutable
    """The files at `paths`, relative to `-C`, each read once. pins.toml is read where there is one.

    Raises ManifestError, UsageError, ExternalError.
    """
    workspace = _workspace(options, needed=asked.variant is not None or asked.pin is not None)
    excludes = context.libraries(resources.docker("excludes.toml"))
    findings: list[Finding] = []
    results: list[dict[str, object]] = []
    rows: list[tuple[str, ...]] = []
    with options.progress("verify", len(paths)) as step:
        for path in paths:
            place = os.path.join(options.directory, path)
            try:
                found = wheelfile.survey(place)
            except Malformed as error:
                told = [malformed(os.path.basename(path), error)]
            else:
                wanted = against(found, workspace, asked)._replace(excludes=excludes)
                told = judge(found, wanted)
                results.append(plain(found) | _held(wanted))
                rows.append(_row(found, wanted))
            findings += [one._replace(file=path) for one in told]
            step(1)
    columns = ("wheel", "size", "variant", "pin", "CUDA", "needs", "GPUs")
    return Outcome(command="wheel verify", findings=tuple(findings), result={"wheels": results},
                   summary=f"{counted(len(results), 'wheel')} verified",
                   body=Table(columns, tuple(rows)) if rows else None, root=options.directory)  # fmt: skip


def _workspace(options: Options, *, needed: bool) -> Workspace | None:
    """The tree with pins.toml; None where there is none and nothing of it is asked for. Raises ManifestError,
    UsageError."""
    try:
        return Workspace.open(options)
    except UsageError:
        if needed or options.pins is not None:
            raise
        return None


def against(found: Survey, workspace: Workspace | None, asked: Asked) -> Wanted:
    """What a wheel is held against. Raises UsageError for a name that pins.toml does not have."""
    most = None if asked.most is None else int(asked.most * 1024**2)
    if workspace is None:
        return Wanted(limit=most)
    ours = found.provenance if isinstance(found.provenance, Provenance) else None
    pin = _pin(workspace.manifest, asked.pin, ours)
    return Wanted(
        variant=_variant(workspace.manifest, asked.variant, ours, found.name),
        pin=pin,
        files=() if pin is None else (*_of_recipe(pin, workspace.root), *required(pin)),
        limit=most,
    )


def required(pin: Pin) -> tuple[str, ...]:
    """The globs of members that `wheel.options` of a pin asks for."""
    own = pin.wheel.options.get(FILES, ()) if pin.wheel is not None else ()
    return tuple(map(str, own)) if isinstance(own, list | tuple) else (str(own),)


def _of_recipe(pin: Pin, root: str) -> tuple[str, ...]:
    """Those that its recipe asks for; none where the recipe builds no wheels. Raises UsageError."""
    if pin.wheel is None:
        return ()
    try:
        return recipe.parse(resources.wheel_recipe(pin.wheel.recipe, root)[0], pin.wheel.recipe).files
    except files.Unreadable:
        return ()


def _pin(manifest: Manifest, asked: str | None, ours: Provenance | None) -> Pin | None:
    if asked is not None:
        return network.chosen(manifest.pins, [asked])[0]
    return manifest.pins.get(ours.pin) if ours else None


def _variant(manifest: Manifest, asked: str | None, ours: Provenance | None, name: Name | str) -> Variant | None:
    if asked is not None and asked not in manifest.variants:
        raise UsageError(f"there is no variant {asked!r}", hint=f"the variants are: {', '.join(manifest.variants)}")
    label = name.label if isinstance(name, Name) else ""
    named = asked or (ours.variant if ours else "")
    having = [variant for variant in manifest.variants.values() if variant.name == named] if named else [
        variant for variant in manifest.variants.values() if label and variant.label == label]  # fmt: skip
    return defaulted(having[0], resources.variants().get(having[0].name, {})) if len(having) == 1 else None


def _held(wanted: Wanted) -> dict[str, object]:
    return {"held_against": {"variant": wanted.variant.name if wanted.variant else None,
                             "pin": wanted.pin.name if wanted.pin else None}}  # fmt: skip


def _row(found: Survey, wanted: Wanted) -> tuple[str, ...]:
    return (
        found.filename,
        f"{found.size / 1024**2:.1f} MiB",
        wanted.variant.name if wanted.variant else "-",
        wanted.pin.name if wanted.pin else "-",
        " ".join(cudas(found)) or "-",
        f"GLIBC_{found.needs['GLIBC']}" if "GLIBC" in found.needs else "-",
        " ".join(devices(found)) or "-",
    )
