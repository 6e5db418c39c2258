"""The extension modules, torch libraries and tvm-ffi functions that the C++ sources of a tree make, put together.

A module's names are those of its own body, of the helpers that it calls, and of its classes and submodules. Under which
dotted name Python finds it is the build's business, and asked for from there: by the modules that import it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import splitext
from typing import NamedTuple

from pinctl.contract.model import Mechanism, Place, Signature, Sort, Symbol
from pinctl.contract.surface.build import Extension
from pinctl.contract.surface.facts import Act, Area, CppFacts, Entry, Scope
from pinctl.contract.surface.guards import Guards, either, together

MACRO = "TORCH_EXTENSION_NAME"
"""What the build defines as the name of an extension (torch.utils.cpp_extension)."""

_DEEPEST = 16
_MOST_PLACES = 16
"""Places of one name that are told apart."""
_MECHANISMS = {
    Area.PYBIND: Mechanism.PYBIND, Area.NANOBIND: Mechanism.NANOBIND, Area.TORCH: Mechanism.TORCH,
    Area.TVM_FFI: Mechanism.TVM_FFI,
}  # fmt: skip


class Piece(NamedTuple):
    """One place where a name is registered, `name` being relative to its module; `target` likewise."""

    name: str
    sort: Sort
    place: Place
    guards: Guards
    signatures: tuple[Signature, ...] = ()
    target: str | None = None


@dataclass
class Made:
    """The names of one module or library, and why those below a name of it cannot all be known."""

    mechanism: Mechanism
    place: Place
    pieces: list[Piece] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its names, those below a class or submodule with it: `Class.method`."""
        return frozenset(piece.name for piece in self.pieces)

    def symbols(self, prefix: str) -> Iterator[Symbol]:
        """The symbols, below the dotted name `prefix`."""
        places = defaultdict[str, list[Piece]](list)
        for piece in self.pieces:
            places[piece.name].append(piece)
        for name, pieces in places.items():
            pieces = pieces[:_MOST_PLACES]
            first = pieces[0]
            signatures = tuple(dict.fromkeys(s for piece in pieces for s in piece.signatures))
            target = f"{prefix}.{first.target}" if first.target else None
            known = all(piece.signatures for piece in pieces)
            yield Symbol(f"{prefix}.{name}", first.sort, self.mechanism, first.place, signatures if known else (),
                         either(piece.guards for piece in pieces), target)  # fmt: skip


class Root(NamedTuple):
    """A module or library scope: its file and its number there."""

    file: str
    number: int
    scope: Scope


class Native:
    """All C++ sources of a tree."""

    def __init__(self, files: Mapping[str, CppFacts], extensions: Sequence[Extension], unread: str = "") -> None:
        """`unread`: why a source that registers names could not be read."""
        self.extensions, self.unread = extensions, unread
        scopes = [Root(f, n, scope) for f, facts in files.items() for n, scope in enumerate(facts.scopes)]
        self.modules = [root for root in scopes if root.scope.area in (Area.PYBIND, Area.NANOBIND)]
        self.leaves = frozenset(map(self.named, self.modules))
        """What the extension modules are called."""
        self.libraries = [root for root in scopes if root.scope.area is Area.TORCH]
        self.functions = [root for root in scopes if root.scope.area is Area.TVM_FFI]
        self.helpers = defaultdict[str, list[Root]](list)
        self.inner = defaultdict[tuple[str, int], list[Root]](list)
        """The classes and submodules that are in a scope, by its file and number."""
        self.bound: dict[tuple[str, str], str] = {}
        """What Python calls the C++ types that a file binds."""
        for root in scopes:
            if root.scope.area is Area.HELPER:
                self.helpers[root.scope.name.rpartition("::")[2]].append(root)
            if root.scope.parent >= 0:
                self.inner[root.file, root.scope.parent].append(root)
            if root.scope.area is Area.CLASS and root.scope.bases:
                self.bound[root.file, root.scope.bases[0]] = root.scope.name
        self.entries = {file: _by_scope(facts.entries) for file, facts in files.items()}

    # --- names ---

    def named(self, root: Root) -> str:
        """The name of a module or library, with what the build gives its macro."""
        name = root.scope.name
        if MACRO in name and (extension := self._extension(root.file)):
            name = name.replace(MACRO, extension.name.rpartition(".")[2])
        return name

    def _extension(self, file: str) -> Extension | None:
        """The extension that a source belongs to; the only one, where the build file computes its sources."""
        told = next((e for e in self.extensions if any(_same(source, file) for source in e.sources)), None)
        return told or (self.extensions[0] if len({e.name for e in self.extensions}) == 1 else None)

    def module(self, dotted: str) -> Made | None:
        """The extension module that Python imports as `dotted`; None where no source makes it.

        Where several have its last name the build tells them apart; where it does not, all are taken together.
        """
        leaf = dotted.rpartition(".")[2]
        if leaf not in self.leaves:
            return None
        built = [e for e in self.extensions if e.name == dotted] or [e for e in self.extensions if e.name == leaf]
        named = [root for root in self.modules if self.named(root) == leaf]
        told = [root for root in named if any(_same(s, root.file) for e in built for s in e.sources)]
        return self._made(told or named) if named else None

    def operators(self) -> dict[str, Made]:
        """The torch libraries by namespace."""
        found = defaultdict[str, list[Root]](list)
        for root in self.libraries:
            found[self.named(root)].append(root)
        return {space: self._made(roots) for space, roots in found.items()}

    def registered(self) -> dict[str, Made]:
        """The functions of tvm-ffi: under `tvm_ffi` those of the global registry, under the file those of a library."""
        found = defaultdict[str, list[Root]](list)
        for root in self.functions:
            path = splitext(root.file)[0].replace("/", ".")
            found["tvm_ffi" if root.scope.name else f"tvm_ffi.{path}"].append(root)
        return {name: self._made(roots) for name, roots in found.items()}

    # --- what is in them ---

    def _made(self, roots: Sequence[Root]) -> Made:
        first = roots[0]
        made = Made(_MECHANISMS[first.scope.area], Place(first.file, first.scope.line))
        if self.unread:
            made.open[""] = self.unread
        for root in roots:
            self._fill(made, root, "", root.scope.guards, frozenset())
        return made

    def _fill(self, made: Made, root: Root, prefix: str, guards: Guards, above: frozenset[tuple[str, int]]) -> None:
        """Add the names of a scope, and of all below it."""
        if len(above) > _DEEPEST or (root.file, root.number) in above:
            return
        above |= {(root.file, root.number)}
        for entry in self.entries[root.file].get(root.number, ()):
            condition = together(guards, entry.guards)
            if entry.act is Act.OPEN:
                made.open.setdefault(prefix.rstrip("."), f"{root.file}:{entry.line}: {entry.source}")
            elif entry.act is Act.CALL:
                self._called(made, root, entry, prefix, condition, above)
            else:
                made.pieces.append(_piece(root.file, entry, prefix, condition))
        for inner in self.inner.get((root.file, root.number), ()):
            self._below(made, inner, prefix, together(guards, inner.scope.guards), above)

    def _called(
        self, made: Made, root: Root, entry: Entry, prefix: str, guards: Guards, above: frozenset[tuple[str, int]]
    ) -> None:
        """Add the names of the helper that is called."""
        helpers = self._helpers(root.file, entry)
        for helper in helpers:
            self._fill(made, helper, prefix, together(guards, helper.scope.guards), above)
        if not helpers:
            reason = f"{root.file}:{entry.line}: {entry.source}() is not found, and may register names"
            made.open.setdefault(prefix.rstrip("."), reason)

    def _helpers(self, file: str, entry: Entry) -> list[Root]:
        """The functions that a call may mean: of the nearest namespace, and of its own file before others."""
        named = self.helpers.get(entry.source.rpartition("::")[2], [])
        parts = entry.space.split("::") if entry.space else []
        for size in range(len(parts), -1, -1):
            full = "::".join((*parts[:size], entry.source))
            if same := [h for h in named if h.scope.name == full]:
                return [h for h in same if h.file == file] or same
        return [h for h in named if h.scope.name.endswith(f"::{entry.source}")] or named[: len(named) == 1]

    def _below(self, made: Made, root: Root, prefix: str, guards: Guards, above: frozenset[tuple[str, int]]) -> None:
        """Add a class or submodule, with what is in it."""
        scope, name = root.scope, f"{prefix}{root.scope.name}"
        inits = [e for e in self.entries[root.file].get(root.number, ()) if e.name == "__init__"]
        known = tuple(e.signature for e in inits if e.signature is not None)
        sort = Sort.MODULE if scope.area is Area.SUBMODULE else Sort.CLASS
        signatures = known if len(known) == len(inits) else ()
        made.pieces.append(Piece(name, sort, Place(root.file, scope.line), guards, signatures))
        if scope.area is Area.CLASS:
            self._derived(made, root, name)
        self._fill(made, root, f"{name}.", guards, above)

    def _derived(self, made: Made, root: Root, name: str) -> None:
        """A class that is derived from one that is bound elsewhere has that one's names as well."""
        own, *others = root.scope.bases or ("",)
        for base in others:
            if re.match(r"(?:std::)?(?:shared_ptr|unique_ptr)\b", base) or "holder" in base.lower() or base == own:
                continue
            told = f"its base {self.bound.get((root.file, base), base)} may give it more"
            made.open.setdefault(name, f"{root.file}:{root.scope.line}: {told}")


def _piece(file: str, entry: Entry, prefix: str, guards: Guards) -> Piece:
    sort = Sort.VALUE if entry.act in (Act.VALUE, Act.ALIAS) else Sort.FUNCTION
    signatures = () if entry.signature is None else (entry.signature,)
    target = f"{prefix}{entry.source}" if entry.act is Act.ALIAS else None
    return Piece(f"{prefix}{entry.name}", sort, Place(file, entry.line), guards, signatures, target)


def _by_scope(entries: Sequence[Entry]) -> Mapping[int, list[Entry]]:
    found = defaultdict[int, list[Entry]](list)
    for entry in entries:
        found[entry.scope].append(entry)
    return found


def _same(source: str, file: str) -> bool:
    """Whether a build file's `source` is `file` of the tree: the one ends in the other."""
    source = source.lstrip("./")
    return bool(source) and (file == source or file.endswith(f"/{source}"))
