"""Where the Python packages of a tree lie, and which modules they hold."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from posixpath import basename, dirname
from typing import NamedTuple

from pinctl.upstream.headers import is_aside

_INIT = re.compile(r"(?:^|/)__init__\.pyi?$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ELSEWHERE = re.compile(
    r"(?:^|/)(?:third[-_]?party|3rdparty|extern(?:al)?s?|submodules?|vendor|scripts?|tools?|ci)(?:/|$)"
)
_HOMES = ("", "src", "python", "lib")


class Module(NamedTuple):
    """A module of a package: its dotted name, its file, whether it is a package, whether a stub file."""

    name: str
    file: str
    package: bool
    stub: bool


def roots(files: Iterable[str], names: Sequence[str]) -> dict[str, str]:
    """The package `names` that lie in the tree, each with the folder that it lies in ("" for the root of the tree);
    without names, those that lie where a project keeps its own."""
    places = _places(files)
    if names:
        return {name: min(places[name], key=_rank) for name in dict.fromkeys(names) if name in places}
    found = {name: min(folders, key=_rank) for name, folders in places.items()}
    return {name: folder for name, folder in found.items() if folder in _HOMES and not is_aside(f"{name}/x")}


def _places(files: Iterable[str]) -> dict[str, list[str]]:
    """The folders in which a package, or a module of one file, of each name lies."""
    files = frozenset(files)
    inits = {dirname(file) for file in files if _INIT.search(file)}
    found = defaultdict[str, list[str]](list)
    for folder in inits:
        if dirname(folder) not in inits and _NAME.fullmatch(basename(folder)):
            found[basename(folder)].append(dirname(folder))
    for file in files:
        name, _, ending = basename(file).rpartition(".")
        if ending in ("py", "pyi") and dirname(file) in _HOMES and _NAME.fullmatch(name) and name not in _SCRIPTS:
            found[name].append(dirname(file))
    return found


_SCRIPTS = frozenset("setup conftest __init__ __main__ noxfile versioneer build_backend".split())


def _rank(folder: str) -> tuple[bool, bool, int, str]:
    aside = is_aside(f"{folder}/x") if folder else False
    return (aside, _ELSEWHERE.search(folder) is not None, folder.count("/") + bool(folder), folder)


def modules(files: Iterable[str], found: Mapping[str, str]) -> dict[str, Module]:
    """The modules of the packages `found` by dotted name. Where there is a source, a stub beside it is left out."""
    made: dict[str, Module] = {}
    bases = {f"{folder}/" if folder else "" for folder in found.values()}
    for file in sorted(file for file in files if file.endswith((".py", ".pyi"))):
        for base in bases:
            module = _module(file, base) if file.startswith(base) else None
            name = module.name.partition(".")[0] if module else ""
            if module and name in found and base == (f"{found[name]}/" if found[name] else ""):
                made.setdefault(module.name, module)
    return made


def _module(file: str, base: str) -> Module | None:
    path, _, ending = file.removeprefix(base).rpartition(".")
    parts = path.split("/")
    package = parts[-1] == "__init__"
    parts = parts[:-1] if package else parts
    if not parts or not all(_NAME.fullmatch(part) for part in parts):
        return None
    return Module(".".join(parts), file, package, ending == "pyi")
