"""What build files say of extension modules, read as text: nothing of them is run."""

import ast
import re
from collections.abc import Iterator
from posixpath import basename
from typing import NamedTuple

from pinctl.contract.surface.python_functions import dotted
from pinctl.contract.surface.python_values import Constants

LARGEST = 256 * 1024

_EXTENSION = re.compile(r"\w*Extension|\w*extension")
_CMAKE = re.compile(
    r"(?i)\b(?:pybind11_add_module|nanobind_add_module|python3?_add_library|define_\w*extension_target|torch_library)"
    r"\s*\(\s*(\w+)((?:[^()#]|#[^\n]*)*)\)"
)


class Extension(NamedTuple):
    """An extension module: its dotted name, as far as the build file says it, and its sources."""

    name: str
    sources: tuple[str, ...] = ()


def is_build(path: str) -> bool:
    """Whether the file at `path` may declare extensions."""
    return basename(path) in ("setup.py", "CMakeLists.txt")


def extensions(path: str, source: bytes) -> tuple[Extension, ...]:
    """The extensions that the build file `path` declares."""
    text = source[:LARGEST].decode("utf-8", "replace")
    return tuple(_setup(text) if basename(path) == "setup.py" else _cmake(text))


def _cmake(text: str) -> Iterator[Extension]:
    for match in _CMAKE.finditer(text):
        words = re.sub(r"#[^\n]*", "", match[2]).split()
        yield Extension(match[1], tuple(w for w in words if re.search(r"\.(?:cpp|cu|cc|cxx|c)$", w) and "$" not in w))


def _setup(text: str) -> Iterator[Extension]:
    try:
        nodes = list(ast.walk(ast.parse(text)))
        constants = Constants()
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                constants.learn(node.targets[0].id, node.value)
        yield from (made for node in nodes if (made := _extension(node, constants)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _extension(node: ast.AST, constants: Constants) -> Extension | None:
    """`CUDAExtension(name="pkg._C", sources=[...])`"""
    if not isinstance(node, ast.Call) or not _EXTENSION.fullmatch(dotted(node.func).rpartition(".")[2]):
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    name = given.get("name", node.args[0] if node.args else None)
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    sources = given.get("sources", node.args[1] if len(node.args) > 1 else None)
    return Extension(name.value, tuple(_strings(sources, constants)))


def _strings(node: ast.expr | None, constants: Constants) -> Iterator[str]:
    """The strings of a list, also those that stand in a call, as in `[os.path.join(root, "a.cpp")]`."""
    if node is None:
        return
    if (known := constants.strings(node)) is not None:
        yield from known
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
