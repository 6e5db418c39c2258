"""Reads the files of a forest that a surface is made of, each only where its facts are not remembered."""

from collections.abc import Callable, Mapping, Sequence
from posixpath import basename
from typing import NamedTuple

from pinctl.contract.model import Surface
from pinctl.contract.surface.build import Extension, extensions, is_build
from pinctl.contract.surface.cpp import named_functions
from pinctl.contract.surface.cpp import read as read_cpp
from pinctl.contract.surface.declarations import complete, declared, mentions
from pinctl.contract.surface.facts import CppFacts, Declaration, Facts, PythonFacts, Unread
from pinctl.contract.surface.linking import Linker, TooMany
from pinctl.contract.surface.memory import Memory
from pinctl.contract.surface.native import Native
from pinctl.contract.surface.packages import modules as modules_of
from pinctl.contract.surface.packages import roots as roots_of
from pinctl.contract.surface.plain import decoder
from pinctl.contract.surface.python import read as read_python
from pinctl.contract.surface.tables import Tables
from pinctl.upstream.forest import Forest
from pinctl.upstream.headers import is_aside, is_source
from pinctl.upstream.tree import LARGEST

_EXTENSIONS = decoder(tuple[Extension, ...])
_DECLARATIONS = decoder(tuple[Declaration, ...])
_KINDS = {kind.__name__: decoder(kind) for kind in (CppFacts, PythonFacts, Unread)}


def surface(forest: Forest, roots: Sequence[str], memory: Memory) -> Surface:
    """See `surface.read`. Raises TooMany."""
    try:
        return _Reading(forest, memory).surface(roots)
    except RecursionError as error:
        raise TooMany("its modules and classes lead too deep into each other") from error


class _File(NamedTuple):
    """A file that is read: `kind` tells by which reader; `real` is where a symbolic link leads."""

    path: str
    kind: str
    real: str
    id: str

    @property
    def key(self) -> str:
        """Under which its facts are remembered."""
        return " ".join((self.kind, *([basename(self.path)] if self.kind == "build" else []), self.id))


class _Reading:
    """Reads the files of a forest, each only where it is not remembered, all in one batch."""

    def __init__(self, forest: Forest, memory: Memory) -> None:
        self.forest, self.memory = forest, memory
        self.unread: dict[str, str] = {}

    def surface(self, roots: Sequence[str]) -> Surface:
        files = self.forest.files
        found = roots_of(files, roots) or roots_of(files, [name.rpartition(".")[2] for name in roots])
        modules = modules_of(files, found or roots_of(files, ()))
        python_files = [self._file(m.file, "stub" if m.stub else "python") for m in modules.values()]
        cpp_files = [self._file(path, "cpp") for path in self._sources(found)]
        build_files = [self._file(path, "build") for path in sorted(files) if is_build(path) and not is_aside(path)]
        read = [file for file in (*python_files, *cpp_files) if file]
        self._fetch([*read, *(file for file in build_files if file)])
        facts = self._facts(read)
        extensions = self._extensions([file for file in build_files if file])
        cpp_facts = {path: one for path, one in facts.items() if isinstance(one, CppFacts)}
        cpp_facts = self._declared(cpp_facts, [file for file in cpp_files if file])
        unread = (f"{p}: {one.reason}" for p, one in facts.items() if isinstance(one, Unread) and is_source(p))
        native = Native(cpp_facts, extensions, next(unread, ""))
        python_facts = {name: _python(facts.get(module.file)) for name, module in modules.items()}
        return Linker(Tables(modules, python_facts, native)).surface(self.forest.root.commit, self.unread)

    def _file(self, path: str, kind: str) -> _File | None:
        """The file at `path`, a symbolic link followed; None where that leads to no file of its tree."""
        prefix, tree = self.forest.of(path)
        real = tree.real(path.removeprefix(prefix)) if tree else None
        if tree is None or real is None or real not in tree.files:
            return None
        return _File(path, kind, prefix + real, tree.files[real])

    def _sources(self, found: Mapping[str, str]) -> list[str]:
        """The C++ sources that may belong to the packages: of the tree, and of submodules that a package lies in."""
        held = {self.forest.of(f"{folder}/x" if folder else "x")[0] for folder in found.values()} | {""}
        return sorted(
            prefix + path
            for prefix, tree in self.forest.trees if prefix in held
            for path in tree.files if is_source(path) and not is_aside(path)
        )  # fmt: skip

    def _fetch(self, files: Sequence[_File]) -> None:
        """Have what is not remembered of `files` at once: each request takes a process."""
        self._blobs([file for file in files if not self.memory.has(file.key)])

    # --- facts ---

    def _facts(self, files: Sequence[_File]) -> dict[str, Facts]:
        """The facts of files by path. What cannot be read is noted."""
        found: dict[str, Facts] = {}
        for file in files:
            known = self.memory.get(file.key, _decoded)
            if known is not None:
                found[file.path] = known
        missing = [file for file in files if file.path not in found]
        blobs = self._blobs(missing)
        for file in missing:
            if file.path in blobs:
                found[file.path] = _READERS[file.kind](blobs[file.path])
                self.memory.put(file.key, _encoded(found[file.path]))
        self.unread.update({path: one.reason for path, one in found.items() if isinstance(one, Unread)})
        return found

    def _blobs(self, files: Sequence[_File]) -> dict[str, bytes]:
        """The contents of files, in one batch; those that are too large are noted."""
        blobs = self.forest.read([file.real for file in files], LARGEST)
        large = [file.path for file in files if file.real not in blobs]
        self.unread.update(dict.fromkeys(large, f"it has more than {LARGEST >> 20} MiB"))
        return {file.path: blobs[file.real] for file in files if file.real in blobs}

    def _extensions(self, files: Sequence[_File]) -> list[Extension]:
        known = {file.path: self.memory.get(file.key, _EXTENSIONS) for file in files}
        missing = [file for file in files if known[file.path] is None]
        blobs = self._blobs(missing)
        for file in missing:
            known[file.path] = extensions(file.path, blobs.get(file.path, b""))
            self.memory.put(file.key, known[file.path])
        return [extension for made in known.values() for extension in made or ()]

    # --- functions that another source declares ---

    def _declared(self, facts: Mapping[str, CppFacts], files: Sequence[_File]) -> dict[str, CppFacts]:
        """`facts` with the parameters of functions that are registered in one source and declared in another."""
        names = sorted({e.source.rpartition("::")[2] for one in facts.values() for e in named_functions(one)})
        if not names:
            return dict(facts)
        key = " ".join(names)
        found = {file.path: self.memory.get(f"declared {file.id} {key}", _DECLARATIONS) for file in files}
        missing = [file for file in files if found[file.path] is None]
        blobs = self._blobs(missing)
        for file in missing:
            blob = blobs.get(file.path, b"")
            mentioned = mentions(blob, names)
            found[file.path] = tuple(declared(blob, mentioned)) if mentioned else ()
            self.memory.put(f"declared {file.id} {key}", found[file.path])
        known = [declaration for made in found.values() for declaration in made or ()]
        return {path: _completed(one, known) for path, one in facts.items()}


def _completed(facts: CppFacts, known: Sequence[Declaration]) -> CppFacts:
    wanted = frozenset(named_functions(facts))
    if not wanted:
        return facts
    return facts._replace(entries=tuple(complete(e, known) if e in wanted else e for e in facts.entries))


def _python(facts: Facts | None) -> PythonFacts:
    """The facts of a module; one that could not be read is open."""
    if isinstance(facts, PythonFacts):
        return facts
    return PythonFacts(open=facts.reason if isinstance(facts, Unread) else "it could not be read")


_READERS: Mapping[str, Callable[[bytes], Facts]] = {
    "python": read_python,
    "stub": lambda blob: read_python(blob, stub=True),
    "cpp": read_cpp,
}


def _encoded(facts: Facts) -> object:
    return [type(facts).__name__, facts]


def _decoded(plain: object) -> Facts:
    """Facts as they were remembered. Raises TypeError or ValueError for what was never facts."""
    if not isinstance(plain, list) or len(plain) != 2 or plain[0] not in _KINDS:
        raise TypeError("these are no facts")
    made: Facts = _KINDS[plain[0]](plain[1])
    return made
