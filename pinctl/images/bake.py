"""One build of an image for one platform, and the bake file of all of them for `docker buildx bake`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pinctl.model import Image


class Target(NamedTuple):
    """What is given to docker for one platform. `dockerfile` and `context` are relative to the root of pins.toml."""

    name: str
    dockerfile: str
    context: str
    stage: str | None
    platform: str
    tags: tuple[str, ...]
    arguments: Mapping[str, str]
    labels: Mapping[str, str]


def target(image: Image, platform: str, arguments: Mapping[str, str], labels: Mapping[str, str]) -> Target:
    """The build of `image` for `platform`. Of an image for several platforms each has its own name and tags, with the
    architecture behind: its wheels differ."""
    several = len(image.platforms) > 1
    suffix = f"-{platform.rpartition('/')[2]}" if several else ""
    tags = tuple(_suffixed(tag, suffix) for tag in image.tags)
    return Target(f"{image.name}{suffix}", image.dockerfile, image.context or ".", image.target, platform, tags,
                  arguments, labels)  # fmt: skip


def _suffixed(tag: str, suffix: str) -> str:
    """`tag` with `suffix` behind its own: a:1-amd64, a:latest-amd64."""
    named = ":" in tag.rpartition("/")[2]
    return f"{tag}{suffix}" if named or not suffix else f"{tag}:latest{suffix}"


def bake(targets: Sequence[Target], root: str) -> dict[str, Any]:
    """The bake file, as data for JSON; `root` is the way from its folder to that of pins.toml. Bake expands `${...}`
    in any text of it, so that a `$` is doubled."""
    return {
        "group": {"default": {"targets": [one.name for one in targets]}},
        "target": {one.name: _target(one, root) for one in targets},
    }


def _target(one: Target, root: str) -> dict[str, Any]:
    context = f"{root}/{one.context}" if one.context != "." else root
    up = "/".join(".." for part in one.context.split("/") if part not in ("", "."))
    said: dict[str, Any] = {
        "context": context,
        "dockerfile": f"{up}/{one.dockerfile}" if up else one.dockerfile,
        "target": one.stage,
        "platforms": [one.platform],
        "tags": list(one.tags),
        "args": {name: _plain(value) for name, value in one.arguments.items()},
        "labels": {name: _plain(value) for name, value in one.labels.items()},
    }
    return {key: value for key, value in said.items() if value}


def _plain(text: str) -> str:
    return text.replace("${", "$${").replace("%{", "%%{")
