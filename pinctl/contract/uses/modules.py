"""Which file a dotted name of the consumer means."""

from collections.abc import Iterable
from posixpath import basename, dirname


class Modules:
    """The consumer's modules. Each has the name that its packages (folders with an `__init__.py`) give it, and the one
    that its whole path gives it."""

    def __init__(self, files: Iterable[str]) -> None:
        paths = sorted(path for path in files if path.endswith(".py"))
        packages = {dirname(path) for path in paths if basename(path) == "__init__.py"}
        tops = {folder: _top(folder, packages) for folder in {dirname(path) for path in paths}}
        self._names = {path: _dotted(path, tops[dirname(path)]) for path in paths}
        self._paths: dict[str, str] = {}
        for path in paths:
            self._paths.setdefault(self._names[path], path)
        for path in paths:
            self._paths.setdefault(_dotted(path, ""), path)

    def name(self, path: str) -> str:
        """The dotted name of the module in a file."""
        return self._names.get(path, "")

    def absolute(self, dotted: str, path: str) -> str:
        """What a dotted name in the file `path` means; "" where a relative one leads out of all folders."""
        name = dotted.lstrip(".")
        level = len(dotted) - len(name)
        if not level:
            return dotted
        for module in (self.name(path), _dotted(path, "")):
            parts = module.split(".") if basename(path) == "__init__.py" else module.split(".")[:-1]
            kept = len(parts) - level + 1
            if kept > 0:
                return ".".join(filter(None, (*parts[:kept], name)))
        return ""

    def find(self, dotted: str) -> tuple[str, tuple[str, ...]] | None:
        """The file of the longest module in which a dotted name begins, and the names that are left of it."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            path = self._paths.get(".".join(parts[:length]))
            if path is not None:
                return path, tuple(parts[length:])
        return None


def _top(folder: str, packages: set[str]) -> str:
    """The folder that holds the outermost package of a folder of modules."""
    while folder in packages:
        folder = dirname(folder)
    return folder


def _dotted(path: str, top: str) -> str:
    below = path[len(top) + 1 :] if top else path
    return below.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
