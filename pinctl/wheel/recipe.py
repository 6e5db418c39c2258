"""How a wheel is built: `wheel.toml` of a recipe, as data.

Keys: `version` (an integer, raised when the recipe would build other bytes), `requires`, `torch` (whether the build and
the try need the variant's torch), `env`, `imports`, `files` (globs of members that the wheel must have), `gib_per_job`,
`nvcc_threads`; `[[when]]` tables (`cuda` a version specifier, `reason`, `env`) hold what some variants need besides.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pinctl.errors import UsageError
from pinctl.model import NOTHING, Variant
from pinctl.versions import fits, specifier_problem

_TYPES: Mapping[str, type] = {
    "version": int,
    "requires": list,
    "torch": bool,
    "env": dict,
    "imports": list,
    "files": list,
    "gib_per_job": int,
    "nvcc_threads": int,
    "when": list,
}
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_OF_WHEN: Mapping[str, type] = {"cuda": str, "reason": str, "env": dict}


class When(NamedTuple):
    """What the variants whose CUDA fits the specifier `cuda` need besides."""

    cuda: str
    reason: str
    env: Mapping[str, str] = NOTHING


class Recipe(NamedTuple):
    """A recipe's `wheel.toml`; `smoke` is the text of the smoke test beside it, "" without one."""

    name: str
    version: int = 1
    requires: tuple[str, ...] = ()
    torch: bool = False
    env: Mapping[str, str] = NOTHING
    imports: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    gib_per_job: int = 4
    nvcc_threads: int = 1
    when: tuple[When, ...] = ()
    smoke: str = ""

    def environment(self, variant: Variant) -> dict[str, str]:
        """The settings for a build of `variant`."""
        fitting = [w.env for w in self.when if variant.cuda is not None and fits(variant.cuda, w.cuda)]
        return {name: value for table in (self.env, *fitting) for name, value in table.items()}


def parse(text: str, name: str, smoke: str = "") -> Recipe:
    """The recipe `name`, whose `wheel.toml` holds `text`. Raises UsageError."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the recipe {name} is no TOML: {error}") from error
    _demand(data, _TYPES, f"the recipe {name}")
    for table in data.get("when", ()):
        _demand(table, _OF_WHEN, f"a [[when]] of the recipe {name}")
    when = tuple(When(**table) for table in data.pop("when", ()))
    said: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    return Recipe(name=name, when=when, smoke=smoke, **said)


def _demand(table: Mapping[str, Any], types: Mapping[str, type], what: str) -> None:
    if not isinstance(table, dict):
        raise UsageError(f"{what} is no table")
    for key, value in table.items():
        if key not in types:
            raise UsageError(f"{what} has the key `{key}`; known are {', '.join(types)}")
        texts = list(value) if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else []
        unfit = type(value) is not types[key] or (type(value) is int and value < 1)
        if unfit or (key != "when" and not all(map(_is_line, texts))):
            raise UsageError(f"{what}: `{key}` is not what it must be, {_told(types[key])}")
    for name in table.get("env", {}):
        if not _VARIABLE.fullmatch(name):
            raise UsageError(f"{what}: {name!r} in `env` is no name of a variable")
    if types is _OF_WHEN and not {"cuda", "reason"} <= set(table):
        raise UsageError(f"{what} lacks `cuda` or `reason`")
    if problem := specifier_problem(table.get("cuda", "")):
        raise UsageError(f"{what}: {problem}")


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def _told(kind: type) -> str:
    told = {
        int: "a whole number of 1 or more",
        bool: "true or false",
        str: "a text",
        list: "an array of texts",
        dict: "a table of texts",
    }
    return told[kind]
