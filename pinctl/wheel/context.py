"""What a build reads beside the source: the files of a cell, and the arguments of the Docker files."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinctl.model import Variant
from pinctl.wheel.key import Materials, environment, exports, requirements
from pinctl.wheel.matrix import Cell
from pinctl.wheel.recipe import Recipe

BUILD_FILE = "wheel.Dockerfile"
TRY_FILE = "check.Dockerfile"

_IMPORTS = '''\
"""Import what the wheel brings: torch first, which loads the libraries that extensions take from it."""

import importlib
import importlib.util
import sys

if importlib.util.find_spec("torch"):
    importlib.import_module("torch")
for name in {names!r}:
    importlib.import_module(name)
    print("imported", name, "from", sys.modules[name].__spec__.origin)
'''


class Library(NamedTuple):
    """A library that wheels do not take along: as auditwheel's --exclude matches it, and why."""

    soname: str
    reason: str


def libraries(text: str) -> tuple[Library, ...]:
    """What `docker/excludes.toml` says."""
    import tomllib

    return tuple(Library(**item) for item in tomllib.loads(text)["exclude"])


def build_files(
    cell: Cell, recipe: Recipe, materials: Materials, excludes: Sequence[Library], tools: str
) -> dict[str, bytes]:
    """The files of `cells/NAME/` for the build; `tools` is the requirements file of what repairs wheels."""
    lines = {
        "packages": cell.system_packages("build"),
        "excludes": [f"{item.soname}\t{item.reason}" for item in excludes],
    }
    texts = {
        "env": exports(environment(cell, recipe)),
        "requires.txt": _requires(cell, recipe, materials.lock),
        "tools.txt": tools,
        **{name: "".join(f"{line}\n" for line in some) for name, some in lines.items()},
    }
    return {name: text.encode() for name, text in texts.items()}


def try_files(cell: Cell, recipe: Recipe, materials: Materials, imports: Sequence[str]) -> dict[str, bytes]:
    """The files of `cell/` for the try of the wheel, which imports the modules `imports`."""
    torch = [f"torch=={cell.variant.torch}" if cell.variant.torch else "torch"] if recipe.torch else []
    run = _index(cell.variant) + "".join(f"{line}\n" for line in (*torch, *cell.variant.requires))
    texts = {
        "packages.run": "".join(f"{name}\n" for name in cell.system_packages("run")),
        "run.txt": run if materials.lock is None else materials.lock,
        "imports.py": _IMPORTS.format(names=list(imports)),
        **({"smoke.py": recipe.smoke} if recipe.smoke else {}),
    }
    return {name: text.encode() for name, text in texts.items()}


def _index(variant: Variant) -> str:
    return f"--extra-index-url {variant.index_url}\n" if variant.index_url else ""


def _requires(cell: Cell, recipe: Recipe, lock: str | None) -> str:
    if lock is not None:
        return f"--require-hashes\n{lock}"
    return _index(cell.variant) + "".join(f"{line}\n" for line in requirements(cell, recipe))


def build_arguments(cell: Cell, image: str, share: int = 1, fresh: str = "") -> dict[str, str]:
    """The ARGs of the build in `image`; it takes 1/`share` of the machine, and compiles anew for another `fresh`."""
    return {
        "IMAGE": image,
        "MANAGER": _manager(cell, "build"),
        "CELL": cell.name,
        "PYTHON": cell.python,
        "COMMIT": cell.pin.commit or "",
        "SHARE": str(share),
        "FRESH": fresh,
    }


def try_arguments(cell: Cell, image: str) -> dict[str, str]:
    """The ARGs of the try in `image`."""
    return {"IMAGE": image, "MANAGER": _manager(cell, "run"), "PYTHON": cell.python}


def _manager(cell: Cell, when: str) -> str:
    """The package manager, where it has anything to do."""
    return (cell.variant.packages or "none") if cell.system_packages(when) else "none"


def bake(targets: Mapping[str, tuple[str, Cell, str]]) -> dict[str, object]:
    """A bake file, as data for JSON: `docker buildx bake` builds every cell, each wheel into `dist/NAME`.

    `targets` is by the cell's name: the folder of its context, the cell, the image.
    """
    return {
        "group": {"default": {"targets": list(targets)}},
        "target": {
            name: {
                "context": folder,
                "dockerfile": BUILD_FILE,
                "target": "wheel",
                "platforms": [cell.platform],
                "args": build_arguments(cell, image),
                "output": [f"type=local,dest=dist/{name}"],
            }
            for name, (folder, cell, image) in targets.items()
        },
    }
