"""The key of a cell: a digest of everything that can change the bytes of its wheel, and of nothing else.

The commit stands for the tree and for the commits of its submodules, which it names; the digest of the image for the
compilers and headers in it. Not in the key: the number of jobs, memory, the host, how much is told, credentials; nor
the label, which is put on afterwards: variants that differ in it alone are compiled once.
"""

import json
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from pinctl.plan import digest
from pinctl.wheel.matrix import Cell
from pinctl.wheel.recipe import Recipe

SCHEMA = 1
"""Raised when a change of pinctl makes other bytes of the same inputs."""

EPOCH = 315_619_200
"""SOURCE_DATE_EPOCH: 1980-01-02 UTC, since a zip file knows no earlier time. It is the same for all: bytes that
depend on the day of a commit would differ for commits that build the same."""

_LONGEST = 24


_OF_THE_TRY = ("check.Dockerfile", "steps/install", "steps/try")


class Materials(NamedTuple):
    """What a cell is made of besides what pins.toml and the recipe say.

    `image` is the digest of the image; `steps` of the Docker file, its scripts and the tools' lock; `lock` the text of
    the requirements file with digests, None without; `patches` are files and their digests, in order; `excludes` the
    libraries that auditwheel leaves out.
    """

    image: str
    steps: str
    excludes: tuple[str, ...] = ()
    lock: str | None = None
    patches: tuple[tuple[str, str], ...] = ()


def steps_digest(steps: Mapping[str, str], tools: str) -> str:
    """One digest of what runs in the container: the Docker file and its scripts by their names, without those of the
    try, which change no wheel, and the lock of the tools."""
    told = {name: digest(text.encode()) for name, text in steps.items() if name not in _OF_THE_TRY}
    return key({**told, "tools": tools})


def requirements(cell: Cell, recipe: Recipe) -> tuple[str, ...]:
    """What the build needs of a package index, where no lock says it."""
    torch = (
        (f"torch=={cell.variant.torch}",) if recipe.torch and cell.variant.torch else ("torch",) if recipe.torch else ()
    )
    return (*recipe.requires, *cell.wheel.requires, *torch, *cell.variant.requires)


def environment(cell: Cell, recipe: Recipe) -> dict[str, str]:
    """The environment of the build; the pin's wins over the variant's, and that over the recipe's."""
    fixed = {
        "SOURCE_DATE_EPOCH": str(EPOCH),
        "NVCC_THREADS": str(recipe.nvcc_threads),
        "PINCTL_GIB_PER_JOB": str(recipe.gib_per_job),
        "PINCTL_CUDA": ".".join((cell.variant.cuda or "").split(".")[:2]),
        "PINCTL_PLATFORM_TAG": cell.platform_tag,
    }
    archs = {"TORCH_CUDA_ARCH_LIST": ";".join(cell.variant.arch_list)} if cell.variant.arch_list else {}
    return {**archs, **recipe.environment(cell.variant), **cell.variant.env, **cell.wheel.env, **fixed}


def inputs(cell: Cell, recipe: Recipe, materials: Materials) -> dict[str, object]:
    """Everything that the key is a digest of, as plain data."""
    pin, variant = cell.pin, cell.variant
    not_bytes = ("PINCTL_GIB_PER_JOB", "NVCC_THREADS")
    return {
        "schema": SCHEMA,
        "recipe": f"{recipe.name} {recipe.version}",
        "repository": pin.repo,
        "commit": pin.commit,
        "submodules": "all" if pin.submodules is None else list(pin.submodules),
        "recursive": pin.recursive,
        "lfs": pin.lfs,
        "patches": [list(patch) for patch in materials.patches],
        "image": materials.image,
        "platform": cell.platform,
        "platform tag": cell.platform_tag,
        "cuda": variant.cuda,
        "python": cell.python,
        "torch": variant.torch if recipe.torch else None,
        "index": variant.index_url,
        "requires": list(requirements(cell, recipe)) if materials.lock is None else digest(materials.lock.encode()),
        "system packages": sorted(cell.system_packages("build")),
        "architectures": list(variant.arch_list),
        "environment": {k: v for k, v in sorted(environment(cell, recipe).items()) if k not in not_bytes},
        "excluded libraries": list(materials.excludes),
        "steps": materials.steps,
    }


def key(told: Mapping[str, object]) -> str:
    """The key of `inputs`: sha256 of their canonical JSON (sorted, no white space, ASCII), in hex."""
    return digest(json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode())


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """What differs between two cells' inputs, one clause each: `commit a1b2c3 -> d4e5f6`."""
    names = [*after, *(name for name in before if name not in after)]
    return tuple(_change(n, before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n))


def _change(name: str, old: object, new: object) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        inner = [n for n in {**old, **new} if old.get(n) != new.get(n)]
        return f"{name}: {', '.join(sorted(inner))}"
    if isinstance(old, list) and isinstance(new, list):
        gone = [f"-{_short(item)}" for item in old if item not in new]
        come = [f"+{_short(item)}" for item in new if item not in old]
        return f"{name}: {' '.join(gone + come) or 'another order'}"
    return f"{name} {_short(old)} -> {_short(new)}"


def _short(value: object) -> str:
    """A value as one word or two: digests and ids by their first digits."""
    text = value if isinstance(value, str) else " ".join(map(str, value)) if isinstance(value, list) else str(value)
    plain = text.removeprefix("sha256:")
    if len(plain) >= 40 and set(plain) <= set("0123456789abcdef"):
        return plain[:10]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def exports(table: Mapping[str, str]) -> str:
    """`table` as a shell script that sets these variables, each value one literal."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(table.items()))
