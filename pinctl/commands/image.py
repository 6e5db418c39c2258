"""`pinctl image`: Docker images of the consumer, built with what the pins say, and labelled with it."""

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinctl import __version__
from pinctl.codes import finding
from pinctl.commands import network
from pinctl.commands.workspace import Workspace, read
from pinctl.errors import UsageError
from pinctl.external import build_log, docker, git, gitcli, images, outputs
from pinctl.external.process import CommandFailed
from pinctl.finding import Finding, failed
from pinctl.images import arguments, bake, command, dockerfile, labels
from pinctl.images.bake import Target
from pinctl.index.records import Record
from pinctl.model import Image
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, Text, counted
from pinctl.wheel import log


class How(NamedTuple):
    """How images are built: see the options of the command line."""

    platforms: tuple[str, ...] = ()
    builder: str | None = None
    out: str = "dist"


class Made(NamedTuple):
    """What is to be built, and what is wrong with it."""

    targets: tuple[Target, ...]
    findings: tuple[Finding, ...]


def run(
    options: Options, *, name: str | None = None, how: How = How(), plan: bool = False, file: str | None = None  # noqa: B008
) -> Outcome:  # fmt: skip
    """Build the image `name`, or all; say what would run (`plan`), or write a bake file (`file`). Where anything is
    wrong with what goes in, nothing is built. Raises UsageError, ManifestError, ExternalError."""
    if options.is_untrusted and not plan:
        raise UsageError("a build runs code of the checkout, and this one is a stranger's",
                         hint="give --trusted where the checkout is yours")  # fmt: skip
    workspace = Workspace.open(options)
    made = _made(options, workspace, chosen(workspace, name), how, every=plan or file is not None)
    if file is not None and not failed(made.findings):
        return _baked(options, workspace, made, file)
    if plan or failed(made.findings):
        return _planned(workspace, made)
    return _built(options, workspace, made, how)


def chosen(workspace: Workspace, name: str | None) -> list[Image]:
    """The image `name` of pins.toml, or all. Raises UsageError."""
    known = workspace.manifest.images
    if not known:
        raise UsageError(f"{workspace.manifest.path} has no images", hint='write: [images.NAME] dockerfile = "..."')
    if name is not None and name not in known:
        raise UsageError(f"there is no image {name!r}", hint=f"the images are: {', '.join(known)}")
    return list(known.values()) if name is None else [known[name]]


def _made(options: Options, workspace: Workspace, wanted: Sequence[Image], how: How, *, every: bool) -> Made:
    """The builds of the images `wanted`; `every`: for platforms of other machines, too."""
    manifest, here = workspace.manifest, docker.native()
    records = _records(options) if any(image.wheels for image in wanted) else []
    revision = None if options.is_untrusted else _revision(workspace.root)
    targets: list[Target] = []
    told: list[Finding] = []
    for image in wanted:
        image = _named(image, here)
        elsewhere = not (every or how.platforms or how.builder)
        for platform in image.platforms:
            if how.platforms and platform not in how.platforms:
                continue
            if elsewhere and platform != here:
                what = f"image {image.name} for {platform} left out: this machine is {here}"
                hint = f"run it there, or give --platform {platform} with a builder that has it"
                told.append(finding("PIN662", what, hint=hint))
                continue
            values, wrong = arguments.values(image, manifest, platform, records)
            said = labels.labels(image, arguments.pins(image, manifest), __version__, revision)
            targets.append(bake.target(image, platform, values, said))
            told += wrong
        told += _file(workspace, image)
    return Made(tuple(targets), tuple(dict.fromkeys(told)))


def _named(image: Image, here: str) -> Image:
    """The image with what it leaves out: its own name for a tag, and the platform of this machine."""
    return image._replace(tags=image.tags or (image.name.lower(),), platforms=image.platforms or (here,))


def first_tag(image: Image) -> str:
    """The name under which this machine has the image after a build."""
    named = _named(image, docker.native())
    return bake.target(named, docker.native(), {}, {}).tags[0]


def _records(options: Options) -> list[Record]:
    from pinctl.commands import index_setup

    return index_setup.setup(options, None).load()


def _revision(root: str) -> str | None:
    """The consumer's commit; None outside a repository, and where its work tree holds something else."""
    if gitcli.toplevel(root) is None or gitcli.call(root, "status", "--porcelain", "-uno").stdout.strip():
        return None
    return git.head(root)


def _file(workspace: Workspace, image: Image) -> Iterator[Finding]:
    source = read(workspace.root, image.dockerfile)
    if isinstance(source, bytes):
        yield from dockerfile.judge(source, image.dockerfile, {*image.args, *image.wheels})
    else:
        yield finding(source.code, source.message, file=image.dockerfile,
                      hint=f"correct `dockerfile` of images.{image.name}")  # fmt: skip


def _row(target: Target) -> dict[str, object]:
    return {**target._asdict(), "arguments": dict(target.arguments), "labels": dict(target.labels)}


def _planned(workspace: Workspace, made: Made) -> Outcome:
    rows = [(one.name, one.platform, ", ".join(one.tags), one.dockerfile) for one in made.targets]
    words = {one.name: ["docker", "build", *command.options(one, "."), command.context(one, ".")]
             for one in made.targets}  # fmt: skip
    runs = [Text(" \\\n  ".join(map(shlex.quote, argv)), title=name) for name, argv in words.items()]
    return Outcome(
        command="image",
        root=workspace.root,
        findings=made.findings,
        result={"images": [_row(one) | {"command": words[one.name]} for one in made.targets]},
        summary=f"{counted(len(rows), 'image')} to build",
        body=(Table(("image", "platform", "tags", "Docker file"), tuple(rows)), *runs),
    )


def _baked(options: Options, workspace: Workspace, made: Made, file: str) -> Outcome:
    path = os.path.join(options.directory, file)
    outputs.demand_place(path)
    root = os.path.relpath(workspace.root, os.path.realpath(options.directory))
    outputs.write(path, (json.dumps(bake.bake(made.targets, root), indent=2) + "\n").encode())
    return Outcome(
        command="image",
        root=workspace.root,
        findings=made.findings,
        result={"bake": file, "targets": [one.name for one in made.targets]},
        summary=f"{file} has {counted(len(made.targets), 'target')}; run: docker buildx bake -f {shlex.quote(file)}",
    )


def _built(options: Options, workspace: Workspace, made: Made, how: How) -> Outcome:
    from pinctl.external.build_secrets import secrets

    client = docker.find()
    if how.builder is None:
        docker.demand_engine(client)
    told = list(made.findings)
    done: list[dict[str, object]] = []
    with (
        secrets(network.profile(options, workspace.root).policy) as held,
        options.progress("build", len(made.targets)) as step,
    ):
        for one in made.targets:
            path = os.path.join(options.directory, how.out, "logs", f"image-{one.name}.log")
            wrong = None
            with build_log.open_(path, lambda _: None, append=False) as written:
                try:
                    images.build(client, one, workspace.root, held, written.heard, how.builder)
                except CommandFailed:
                    wrong = _failure(one, log.failure(written.lines()), os.path.relpath(path))
            told += [wrong] if wrong else []
            id_ = None if wrong else images.seen(client, one.tags[0]).id
            done.append(_row(one) | {"id": id_, "log": path})
            step(1)
    rows = [(str(row["name"]), str(row["id"] or "failed"), ", ".join(one.tags))
            for one, row in zip(made.targets, done, strict=True)]  # fmt: skip
    return Outcome(
        command="image",
        root=workspace.root,
        findings=tuple(told),
        result={"images": done},
        summary=f"{counted(len(rows), 'image')} built",
        body=Table(("image", "id", "tags"), tuple(rows)) if rows else None,
    )


def _failure(target: Target, why: log.Failure, path: str) -> Finding:
    tail = "".join(f"\n  {line}" for line in why.tail)
    what = f"image {target.name}: it failed while it {why.what}{tail}"
    return finding("PIN673", what, file=target.dockerfile, hint=f"the whole log: {path}")
