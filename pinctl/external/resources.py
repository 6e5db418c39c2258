"""The recipes and Docker files that come with pinctl, and recipes of the consumer's own.

They lie beside the code in an installed package (`pinctl/data/`), and beside the package in a source checkout.
"""

import os
from functools import cache

from pinctl.errors import ExternalError
from pinctl.external import files

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_PLACES = (os.path.join(_PACKAGE, "data"), os.path.dirname(_PACKAGE))
_TEMPLATE = "template.j2"
_WHEEL = "wheel.toml"
_SMOKE = "smoke.py"
_DOCKERFILES = ("wheel.Dockerfile", "check.Dockerfile")


@cache
def _folder(kind: str) -> str:
    """The folder of the data of a kind: "recipes", "docker". Raises ExternalError."""
    for place in _PLACES:
        folder = os.path.join(place, kind)
        if os.path.isdir(folder):
            return folder
    raise ExternalError(f"pinctl's own {kind} are missing", hint="install pinctl again")


def listing() -> tuple[str, ...]:
    """The names of the bundled recipes, sorted: those that render and those that build wheels. Raises ExternalError."""
    folder = _folder("recipes")
    kinds = (_TEMPLATE, _WHEEL)
    return tuple(
        sorted(
            name
            for name in os.listdir(folder)
            if any(os.path.isfile(os.path.join(folder, name, kind)) for kind in kinds)
        )
    )


def is_own(name: str) -> bool:
    """Whether `name` is the path of a recipe of the consumer's own, `./pins/x.j2`, rather than a bundled one."""
    return "/" in name or name.endswith(".j2")


def recipe(name: str, root: str) -> str:
    """The text of a recipe: a bundled one by its name, or the consumer's own by its path below `root`, `./pins/x.j2`.

    Raises files.Unreadable (Missing, a link that leaves the root, larger than a recipe may be), ExternalError.
    """
    from pinctl.render import LONGEST_RECIPE

    own = is_own(name)
    where, path = (root, name) if own else (_folder("recipes"), f"{name}/{_TEMPLATE}")
    try:
        return files.read_site(where, path, LONGEST_RECIPE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise files.Unreadable(f"is not UTF-8 text (byte {error.start})") from error


def wheel_recipe(name: str, root: str) -> tuple[str, str]:
    """How wheels are built by a recipe, and its smoke test, "" without one: a bundled one by its name, the consumer's
    own by the path of its TOML file below `root`, with the smoke test beside it under the same name with `.py`.

    Raises files.Unreadable (Missing for one that there is not), ExternalError.
    """
    own = is_own(name)
    where, path = (root, name) if own else (_folder("recipes"), f"{name}/{_WHEEL}")
    beside = f"{name.removesuffix('.toml')}.py" if own else f"{name}/{_SMOKE}"
    try:
        text = files.read_site(where, path).decode("utf-8")
        try:
            return text, files.read_site(where, beside).decode("utf-8")
        except files.Missing:
            return text, ""
    except UnicodeDecodeError as error:
        raise files.Unreadable(f"is not UTF-8 text (byte {error.start})") from error


def docker(name: str) -> str:
    """The text of a bundled Docker file: "excludes.toml". Raises files.Unreadable, ExternalError."""
    return files.read_site(_folder("docker"), name).decode("utf-8")


def docker_steps() -> dict[str, str]:
    """The text of the Docker files that build wheels, and of the scripts that they run, by their names."""
    return {name: docker(name) for name in (*_DOCKERFILES, *_files("steps"))}


def variants() -> dict[str, dict[str, object]]:
    """What the variants that come with pinctl say, by their names. Raises ExternalError."""
    import tomllib

    names = {os.path.basename(path).removesuffix(".toml"): path for path in _files("variants")}
    return {name: tomllib.loads(docker(path)) for name, path in names.items()}


def _files(folder: str) -> list[str]:
    """The paths of the files in a folder of the Docker files, sorted. Not `__pycache__`, which an installer makes."""
    with os.scandir(os.path.join(_folder("docker"), folder)) as entries:
        return sorted(f"{folder}/{entry.name}" for entry in entries if entry.is_file())
