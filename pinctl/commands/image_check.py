"""`pinctl image --check`: an image that is there, held against pins.toml: its labels, and what is installed in it."""

from collections.abc import Sequence

from pinctl.codes import finding
from pinctl.commands.image import chosen, first_tag
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import docker, images
from pinctl.external.docker import Client
from pinctl.finding import Finding
from pinctl.images import arguments, contents, labels
from pinctl.images.tar import BadTar
from pinctl.model import Image, Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.running import pairing
from pinctl.running.judge import Wanted, judge
from pinctl.running.model import Environment
from pinctl.running.shown import COLUMNS, plain, rows


def run(options: Options, *, name: str | None, image: str | None = None) -> Outcome:
    """Hold the image `image`, or the one that `pinctl image` builds, against the image `name` of pins.toml; all of
    pins.toml without a name. Images are read and never run. Raises UsageError, ManifestError, ExternalError."""
    workspace = Workspace.open(options)
    if image is not None and name is None:
        raise UsageError("which image of pins.toml is it?", hint="run: pinctl image NAME IMAGE --check")
    client = docker.find(builds=False)
    docker.demand_engine(client)
    told: list[Finding] = []
    results = []
    table: list[tuple[str, ...]] = []
    for wanted in chosen(workspace, name):
        where = image or first_tag(wanted)
        seen = images.seen(client, where)
        pins = arguments.pins(wanted, workspace.manifest)
        told += labels.judge(wanted, pins, seen.labels, where)
        environment = environment_of(client, where, pins)
        if isinstance(environment, Finding):
            told.append(environment)
            continue
        told += judge(environment, _wanted(workspace, wanted, pins))
        ours = {key: value for key, value in seen.labels.items() if key.startswith(labels.OURS)}
        results.append({"name": wanted.name, "image": where, "id": seen.id, "labels": ours,
                        **plain(environment, pins)})  # fmt: skip
        table += rows(environment, pins)
    return Outcome(
        command="image",
        root=workspace.root,
        findings=tuple(told),
        result={"images": results},
        summary=f"{counted(len(results), 'image')} of these pins",
        body=Table(COLUMNS, tuple(table)) if table else None,
    )


def environment_of(client: Client, image: str, pins: Sequence[Pin]) -> Environment | Finding:
    """What is installed in an image; PIN832 where it cannot be read."""
    roots = [root for pin in pins for root in pairing.roots(pin)]
    names = [name for pin in pins for name in pairing.projects(pin)]
    try:
        found = images.files(client, image, contents.wanted(contents.tops(names, roots)))
    except BadTar as error:
        return finding("PIN832", f"{image} cannot be read: {error}", hint="look at it with: docker export")
    return contents.environment(found, image)


def _wanted(workspace: Workspace, image: Image, pins: Sequence[Pin]) -> Wanted:
    """Pins whose wheels the image takes must be there; of the others, those that something is installed of count."""
    wheels = frozenset(image.wheels.values())
    judged = [pin for pin in pins if pin.name in wheels or pairing.is_python(pin)]
    return Wanted(workspace.manifest, judged, wheels, workspace.manifest.variants.get(image.variant or ""))
