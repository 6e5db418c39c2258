"""The paths below a pinned source that the consumer's own build files name: they need not be declared to be verified.

In CMake `${x_SOURCE_DIR}/path`, x being what FetchContent calls the dependency; in Python `src / "path"` and
`f"{src}/path"`, in a file that is a site of the pin or is named after it.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from posixpath import basename, normpath
from typing import NamedTuple

from pinctl.finding import Span
from pinctl.model import Pin
from pinctl.sites import cmake_lexer

_LARGEST = 256 * 1024
"""Bytes of a Python file that is read: `ast` takes hundreds of bytes for each."""

_SCRIPT = re.compile(r".*\.(?:sh|bash)|(?:.*\.)?(?:Dockerfile|Containerfile)(?:[._-].*)?|.*\.dockerfile", re.IGNORECASE)
_CALLED = re.compile(r"(?:FetchContent|CPM\w*|ExternalProject\w*)\((?:.*:)?([\w.-]+)\)")
_WRITES = frozenset("WRITE APPEND TOUCH TOUCH_NOCREATE MAKE_DIRECTORY REMOVE REMOVE_RECURSE GENERATE CONFIGURE".split())
_SILENT = frozenset({"message", "configure_file", "unset"})
_SOURCE_NAMES = frozenset({"src", "source", "src_dir", "source_dir", "srcdir", "source_root", "src_root"})


class Reference(NamedTuple):
    """`path` below the source of a pin, as `file` of the consumer names it. `glob`: None for one path, else whether the
    pattern is matched at any depth."""

    path: str
    file: str
    span: Span
    glob: bool | None = None


def read(pin: Pin, sources: Mapping[str, bytes]) -> list[Reference]:
    """What the files `sources`, by path, name below the source of `pin`; each path once a file."""
    found: dict[tuple[str, str], Reference] = {}
    for file, source in sorted(sources.items()):
        if not concerns(file, pin):
            continue
        for reference in (_cmake if is_cmake(file) else _python)(file, source, pin):
            if reference.path not in (".", "") and not reference.path.startswith(("../", "/")):
                found.setdefault((file, reference.path), reference)
    return list(found.values())


def is_cmake(file: str) -> bool:
    """Whether `file` is CMake code by its name."""
    return file.endswith(".cmake") or basename(file) == "CMakeLists.txt"


def is_script(file: str) -> bool:
    """Whether `file` is a shell script or a Dockerfile by its name."""
    return _SCRIPT.fullmatch(basename(file)) is not None


def is_shell(file: str) -> bool:
    """Of a script, whether it is none for Docker."""
    return file.endswith(("sh", "bash"))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def concerns(file: str, pin: Pin) -> bool:
    """Whether a file may name paths of `pin`: CMake code; Python that is one of its sites, or is named after it."""
    if not file.endswith(".py"):
        return is_cmake(file)
    return any(site.file == file for site in pin.sites) or _slug(pin.name) in _slug(basename(file))


def called(pin: Pin) -> set[str]:
    """What FetchContent and its kin call the dependency, as it is and in small letters."""
    selectors = (match[1] for site in pin.sites if (match := _CALLED.search(site.selector)))
    names = {pin.name, pin.name.replace("-", "_"), *selectors}
    return names | {name.lower() for name in names}


def _cmake(file: str, source: bytes, pin: Pin) -> Iterator[Reference]:
    pattern = _variables(tuple(sorted(called(pin))))
    if not pattern.search(source):
        return
    for call in cmake_lexer.lex(source)[0]:
        words = [source[arg.start : arg.end].decode("utf-8", "replace") for arg in call.args]
        action = words[0] if call.name == "file" and words else ""
        if call.name in _SILENT or action in _WRITES:
            continue
        for arg in call.args:
            for match in pattern.finditer(source, arg.start, arg.end):
                yield _reference(file, source, match, recursive=action == "GLOB_RECURSE")


@cache
def _variables(names: tuple[str, ...]) -> re.Pattern[bytes]:
    """`${NAME_SOURCE_DIR}/path`; the path ends before what CMake or a generator expression would take for its own."""
    words = b"|".join(re.escape(name.encode()) for name in names)
    return re.compile(rb"\$\{(?:" + words + rb")_SOURCE_DIR\}/+([^\s;\"'<>$()\\]+)(\$)?")


def _reference(file: str, source: bytes, match: "re.Match[bytes]", *, recursive: bool) -> Reference:
    path = match[1].decode("utf-8", "replace")
    if match[2]:  # what follows is another variable
        path = path.rpartition("/")[0]
    glob = recursive if re.search(r"[*?\[]", path) else None
    return Reference(normpath(path), file, Span.of(source, match.start(1), match.end(1)), glob)


def _python(file: str, source: bytes, pin: Pin) -> Iterator[Reference]:
    tree = parsed(source)
    try:
        yield from (Reference(path, file, span) for path, span in (_joined(tree, pin) if tree else ()))
    except (RecursionError, MemoryError):
        return


def source_names(pin: Pin) -> frozenset[str]:
    """What Python code calls the folder of the dependency's source, in small letters."""
    return _SOURCE_NAMES | {
        f"{name.lower().replace('-', '_')}{end}"
        for name in called(pin)
        for end in ("", "_src", "_dir", "_root", "_src_dir", "_source", "_source_dir")
    }


def parsed(source: bytes) -> ast.Module | None:
    """The syntax of a Python file; None of one that is too large, or no Python."""
    if len(source) > _LARGEST:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _joined(tree: ast.AST, pin: Pin) -> Iterator[tuple[str, Span]]:
    names = source_names(pin)
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):  # breadth first: a chain is met before the shorter one in it
        parts = None if node in inner else _chain(node, names, inner)
        if parts:
            line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
            yield normpath("/".join(parts)), Span(line=line, column=column + 1)


def _chain(node: ast.AST, names: Iterable[str], inner: set[ast.AST]) -> list[str] | None:
    """The literal parts of `src / "a" / "b"` or `f"{src}/a"`; None for anything else."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        first, second = node.values
        source = first.value if isinstance(first, ast.FormattedValue) else None
        text = second.value if isinstance(second, ast.Constant) else None
        known = isinstance(source, ast.Name) and source.id.lower() in names
        return [text[1:]] if known and isinstance(text, str) and re.fullmatch(r"/[\w./+-]+", text) else None
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        inner.add(node)
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, str):
            parts.insert(0, node.right.value)
        else:
            parts.clear()  # what follows a part that is not known
        node = node.left
    return parts if isinstance(node, ast.Name) and node.id.lower() in names and parts else None
