"""The version that a tree says it has, read as text: nothing of it is run.

Looked at, in this order: the static `version` of pyproject.toml and setup.cfg, a literal `version=` of setup.py,
files named VERSION or version.txt, `__version__` of the packages at the top or below `src` or `python`.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from posixpath import basename
from typing import NamedTuple

from pinctl.upstream.tree import Tree
from pinctl.versions import is_version

_LARGEST = 256 * 1024
_FILES = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|(?i:version)(?:\.txt)?"
    r"|(?:(?:src|python|lib)/)?[A-Za-z_][\w-]*/(?:__init__|_?version|__version__|__about__|_build_meta)\.py"
)
_ORDER = ("pyproject.toml", "setup.cfg", "setup.py", "version", "version.txt")
_DUNDER = re.compile(
    r"(?m)^(?:__version__|VERSION|version)[ \t]*(?::[ \t]*\w+)?[ \t]*=[ \t]*[\"']([^\"'\n]{1,80})[\"']"
)
_CFG = re.compile(r"(?ms)^\[metadata\][^\[]*?^version[ \t]*=[ \t]*(?!attr:|file:)(\S{1,80})")
_MOST_DEPTH = 2000  # of brackets in setup.py: `ast` recurses


class Stated(NamedTuple):
    """A version as the tree says it, and where: `line` counts from 1."""

    version: str
    file: str
    line: int


def stated(tree: Tree) -> list[Stated]:
    """Every version that `tree` says of itself, the most telling first."""
    wanted = sorted(filter(says_version, tree.files), key=_rank)
    texts = {path: blob.decode("utf-8", "replace") for path, blob in tree.read(wanted, _LARGEST).items()}
    found = (Stated(version, path, line) for path, text in texts.items() for version, line in _read(path, text))
    return [one for one in found if is_version(one.version.removeprefix("v"))]


def says_version(path: str) -> bool:
    """Whether the file at `path` is one that may say the version of its tree."""
    return _FILES.fullmatch(path) is not None


def _rank(path: str) -> tuple[int, str]:
    name = path.casefold()
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), path)


def agrees(version: str, says: str) -> bool:
    """Whether the fact `version` is the version that the tree says; local labels (`+cu129`) and a `v` do not count."""
    from packaging.version import InvalidVersion, Version

    try:
        one, other = (Version(text.removeprefix("v")) for text in (version, says))
    except InvalidVersion:
        return version.removeprefix("v") == says.removeprefix("v")
    return Version(one.public) == Version(other.public)


def _read(path: str, text: str) -> Iterator[tuple[str, int]]:
    """The versions that the file `path` says, each with its line."""
    name = basename(path).casefold()
    reader: Callable[[str], Iterator[tuple[str, int]]]
    reader = {"pyproject.toml": _pyproject, "setup.cfg": _config, "setup.py": _setup}.get(
        name, _plain if not name.endswith(".py") else _dunder
    )
    return reader(text)


def _pyproject(text: str) -> Iterator[tuple[str, int]]:
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    tools = data.get("tool", {})
    tables = (data.get("project"), tools.get("poetry") if isinstance(tools, dict) else None)
    for table in tables:
        version = table.get("version") if isinstance(table, dict) else None
        if isinstance(version, str):
            yield version, _line(text, re.search(rf"(?m)^version[^\n]*{re.escape(version)}", text))


def _config(text: str) -> Iterator[tuple[str, int]]:
    if match := _CFG.search(text):
        yield match[1], text.count("\n", 0, match.start(1)) + 1


def _setup(text: str) -> Iterator[tuple[str, int]]:
    """The literal that `setup(version=...)` is given, or the constant of this file that it names."""
    if sum(map(text.count, "([{")) > _MOST_DEPTH:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "version":
            value = node.value
            version = value.value if isinstance(value, ast.Constant) else None
            version = constants.get(value.id) if isinstance(value, ast.Name) else version
            if isinstance(version, str):
                yield version, value.lineno


def _dunder(text: str) -> Iterator[tuple[str, int]]:
    if match := _DUNDER.search(text):
        yield match[1], text.count("\n", 0, match.start(1)) + 1


def _plain(text: str) -> Iterator[tuple[str, int]]:
    """The one line of a file such as VERSION."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        yield lines[0], 1


def _line(text: str, match: "re.Match[str] | None") -> int:
    return text.count("\n", 0, match.start()) + 1 if match else 1
