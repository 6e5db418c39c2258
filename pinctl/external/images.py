"""Docker images of the consumer: built, and read without ever being run."""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pinctl.errors import ExternalError, UsageError
from pinctl.external import docker
from pinctl.external.docker import Client
from pinctl.external.process import CommandFailed
from pinctl.images import command
from pinctl.images.bake import Target
from pinctl.images.tar import File, Reader, Wanted

_NEVER_RUN = "/pinctl-reads-this-container-and-never-starts-it"
_CONTAINER = re.compile("[0-9a-f]{12,64}")


class Seen(NamedTuple):
    """An image that the engine has."""

    id: str
    labels: Mapping[str, str]


def build(
    client: Client, target: Target, root: str, secrets: Mapping[str, str], heard: Callable[[bytes], object],
    builder: str | None = None,
) -> None:  # fmt: skip
    """Build the image; `heard` gets the log as it comes. Raises CommandFailed, UsageError, KeyboardInterrupt."""
    if builder is not None and not client.buildx:
        raise UsageError("--builder needs docker's buildx component, which this client lacks")
    words = ["buildx", "build", "--provenance=false"] if client.buildx else ["build"]
    words += ["--load"] if client.buildx else []
    words += [f"--builder={builder}"] if builder is not None else []
    words += [f"--secret=id={name},src={path}" for name, path in secrets.items()]
    shown = ["docker", "build", f"--file={target.dockerfile}", target.context]
    docker.ask(client, *words, "--progress=plain", *command.options(target, root), "--",
               command.context(target, root), timeout=docker.LONGEST, shown=shown, heard=heard)  # fmt: skip


def seen(client: Client, image: str) -> Seen:
    """The image's id and labels. Raises ExternalError where the engine has it not."""
    try:
        said = docker.ask(client, "image", "inspect", "--format", "{{.Id}} {{json .Config.Labels}}", "--", image).stdout
    except CommandFailed:
        raise ExternalError(f"the engine has no image {image}", hint=f"run: docker pull {image}") from None
    id_, _, labels = said.decode("utf-8", "replace").partition(" ")
    found = json.loads(labels) or {}
    return Seen(id_, {str(name): str(value) for name, value in found.items()})


def files(client: Client, image: str, wanted: Wanted) -> list[File]:
    """The files of the image that are wanted, as its whole file system streams by: a container is made of it, handed
    out and taken away, and never started. Raises tar.BadTar, CommandFailed, ExternalError."""
    said = docker.ask(client, "create", "--network=none", "--cap-drop=ALL", "--", image, _NEVER_RUN).stdout
    container = said.decode("ascii", "replace").strip()
    if not _CONTAINER.fullmatch(container):
        raise ExternalError(f"docker made no container of {image}")
    try:
        reader = Reader(wanted)
        docker.ask(client, "export", container, timeout=docker.LONGEST, taken=reader.feed)
        reader.close()
        return reader.files
    finally:
        docker.ask(client, "rm", "--force", "--volumes", container)
