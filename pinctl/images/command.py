"""How docker is told to build an image."""

from collections.abc import Iterator, Mapping
from posixpath import join, normpath

from pinctl.images.bake import Target


def options(target: Target, root: str) -> Iterator[str]:
    """The options of `docker build`, without the context; `root` is the folder of pins.toml."""
    yield f"--file={normpath(join(root, target.dockerfile))}"
    yield f"--platform={target.platform}"
    if target.stage is not None:
        yield f"--target={target.stage}"
    yield from (f"--tag={tag}" for tag in target.tags)
    yield from _pairs("--build-arg", target.arguments)
    yield from _pairs("--label", target.labels)


def context(target: Target, root: str) -> str:
    """The folder that the build reads."""
    return normpath(join(root, target.context))


def _pairs(option: str, table: Mapping[str, str]) -> Iterator[str]:
    return (f"{option}={name}={value}" for name, value in table.items())
