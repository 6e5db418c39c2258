"""The names of each Python module as they are after it is imported: stars spread out, failed imports taken away.

A name is known by where it comes from, one step at a time; `linking` follows the steps.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pinctl.contract.model import Place
from pinctl.contract.surface.facts import Binding, How, PythonFacts
from pinctl.contract.surface.guards import EXCEPT, Guards
from pinctl.contract.surface.native import Made, Native
from pinctl.contract.surface.packages import Module

_DEEPEST = 100
"""Imports of imports that are followed."""
_MOST_PLACES = 16
"""Ways to one name that are told apart."""
_TORCH_OPS = "torch.ops."


class Name(NamedTuple):
    """One way in which a module comes to a name. `target` is the dotted name that it is another name of; `line` counts
    in the file of the module."""

    binding: Binding
    guards: Guards
    target: str | None = None


Table = dict[str, list[Name]]


class Tables:
    """The tables of all modules of a tree; each is made when it is first asked for."""

    def __init__(self, modules: Mapping[str, Module], facts: Mapping[str, PythonFacts], native: Native) -> None:
        self.modules, self.facts, self.native = modules, facts, native
        self.operators = native.operators()
        self.extensions: dict[str, Made] = {}
        """The extension modules that are imported, by dotted name."""
        self.open: dict[str, str] = {}
        self.absent: dict[str, Place] = {}
        """Modules of the packages that are imported and not in the tree, with where: a build may make them."""
        self._tables: dict[str, Table] = {}
        self._filling: set[str] = set()
        self._packages = frozenset(name.partition(".")[0] for name in modules)

    def table(self, module: str) -> Table:
        """The names of a module of the tree; of one that is being read, those so far. The packages that it is in are
        read before it, as they are imported before it."""
        if module not in self._tables and (package := module.rpartition(".")[0]) in self.facts:
            self.table(package)
        if module not in self._tables:
            if len(self._filling) > _DEEPEST:
                self.open.setdefault(module, "its imports nest too deep")
                return {}
            table = self._tables[module] = {}
            self._filling.add(module)
            _Filling(self, module, table).fill()
            self._filling.discard(module)
        return self._tables[module]

    def extension(self, dotted: str) -> Made | None:
        """The extension module that is imported as `dotted`: of a package of the tree, or at the top."""
        if "." in dotted and not self.is_ours(dotted):
            return None
        if dotted not in self.extensions:
            made = self.native.module(dotted)
            if made is None:
                return None
            self.extensions[dotted] = made
            self.open.update({".".join(filter(None, (dotted, n))): reason for n, reason in made.open.items()})
        return self.extensions[dotted]

    def is_ours(self, dotted: str) -> bool:
        """Whether a dotted name lies in a package of the tree."""
        return dotted.partition(".")[0] in self._packages

    def standing(self, importer: str, module: str, name: str) -> bool | None:
        """Whether `from module import name`, in the module `importer`, finds the name; None where that is not known:
        of an open module, of one that is not in the tree or is just being read."""
        dotted = f"{module}.{name}"
        if dotted in self.modules or self.extension(dotted) is not None:
            return True
        if module in self.facts:
            if module != importer and name in self.table(module):
                return True
            return None if module in self.open or module in self._filling else False
        made = self.extension(module)
        if made is None:
            return None
        return True if name in made.names else None if "" in made.open else False

    def public(self, module: str) -> tuple[str, ...] | None:
        """The names that `from module import *` gives; None where they are not known."""
        if module in self.facts:
            return self._exports(module, 0)
        if module.startswith(_TORCH_OPS) and (library := self.operators.get(module.removeprefix(_TORCH_OPS))):
            return tuple(dict.fromkeys(piece.name for piece in library.pieces))
        if made := self.extension(module):
            return tuple(sorted(name for name in made.names if "." not in name and not name.startswith("_")))
        return None

    def _exports(self, module: str, depth: int) -> tuple[str, ...] | None:
        exports = self.facts[module].exports
        if exports is None:
            return tuple(name for name in self.table(module) if not name.startswith("_"))
        found: list[str] = []
        for name in exports:
            other = self.absolute(module, name[1:]) if name.startswith("=") else None
            if not name.startswith("="):
                found.append(name)
            elif other is None or other not in self.facts or depth > _DEEPEST:
                return None
            else:
                inner = self._exports(other, depth + 1)
                if inner is None:
                    return None
                found += inner
        return tuple(dict.fromkeys(found))

    def absolute(self, module: str, expression: str) -> str | None:
        """The dotted name that `expression` means at the end of a module; None where its first name is not known."""
        head, dot, rest = expression.partition(".")
        names = self._tables.get(module, {}).get(head)
        if not names:
            return None
        target = names[-1].target or f"{module}.{head}"
        return f"{target}{dot}{rest}"

    def relative(self, module: str, spelled: str) -> str:
        """The absolute name of a module as it is imported: `..utils` (PEP 328)."""
        name = spelled.lstrip(".")
        level = len(spelled) - len(name)
        if not level:
            return name
        parts = module.split(".")
        up = level - (1 if self.modules[module].package else 0)
        base = parts[: len(parts) - up] if up < len(parts) else []
        return ".".join((*base, *([name] if name else [])))


class _Filling:
    """Makes the table of one module."""

    def __init__(self, tables: Tables, module: str, table: Table) -> None:
        self.tables, self.module, self.table = tables, module, table
        self.facts = tables.facts[module]
        self.failed: set[int] = set()

    def fill(self) -> None:
        for binding in self.facts.bindings:
            if binding.attempt in self.failed:
                continue
            if binding.how is How.DELETE:
                if not binding.guards:
                    self.table.pop(binding.name, None)
            elif binding.how is How.STAR:
                self._star(binding)
            elif binding.how is not How.REGISTRY:
                self._bind(binding)
            else:
                self._registry(binding)
        if self.facts.open:
            self._opened(self.facts.open)

    def _opened(self, reason: str) -> None:
        self.tables.open.setdefault(self.module, f"{self.tables.modules[self.module].file}: {reason}")

    def _bind(self, binding: Binding) -> None:
        target = self._target(binding)
        if target is not None and binding.how is How.FROM:
            module, _, name = target.rpartition(".")
            found = self.tables.standing(self.module, module, name)
            if found is None:
                self._unknown(binding, module, target)
            elif not found and not self._is_submodule(binding) and self._fails(binding, module):
                return
        elif target is not None and binding.how is How.MODULE:
            self._unknown(binding, target, target)
        self._add(binding.name, Name(binding, binding.guards, target))

    def _is_submodule(self, binding: Binding) -> bool:
        """Whether an import is written as that of a module of a package, which a build may make: `from . import x`."""
        return not binding.source.partition(":")[0].strip(".")

    def _fails(self, binding: Binding, module: str) -> bool:
        """Note an import that fails. Where the package itself counts on it, the module is not known in full, rather."""
        if binding.attempt:
            self.failed.add(binding.attempt)
            return True
        file = self.tables.modules[self.module].file
        self.tables.open.setdefault(module, f"{file}:{binding.line} imports {binding.name} of it, which is not found")
        return False

    def _unknown(self, binding: Binding, module: str, target: str) -> None:
        """Note a module of the package that is imported, and is not in the tree."""
        tables = self.tables
        if module in tables.facts and binding.how is How.FROM and not self._is_submodule(binding):
            return  # a name of an open module
        missing = target if module in tables.facts else module
        if missing in tables.modules or not tables.is_ours(missing) or tables.extension(missing) is not None:
            return
        if missing.rpartition(".")[0] in tables.modules:
            tables.absent.setdefault(missing, Place(tables.modules[self.module].file, binding.line))

    def _add(self, name: str, made: Name) -> None:
        """A later binding takes the place of those before it, unless it stands under a condition."""
        before = self.table.get(name, [])
        if _is_overload(made.binding) and before and len(before) < _MOST_PLACES:
            self.table[name] = [*before, made]
        elif not made.guards:
            self.table[name] = [made]
        elif made.binding.how is How.VALUE and made.guards[-1].startswith(EXCEPT) and before:
            return  # `except ImportError: name = None` stands for a name that is not there
        elif len(before) < _MOST_PLACES:
            self.table[name] = [*(b for b in before if b.guards != made.guards), made]

    def _target(self, binding: Binding) -> str | None:
        if binding.how is How.FROM:
            module, _, name = binding.source.partition(":")
            return f"{self.tables.relative(self.module, module)}.{name}"
        if binding.how is How.MODULE:
            return self.tables.relative(self.module, binding.source)
        return self.tables.absolute(self.module, binding.source) if binding.how is How.ALIAS else None

    def _star(self, binding: Binding) -> None:
        held = binding.source.startswith("=")
        spelled = binding.source.removeprefix("=")
        tables = self.tables
        source = tables.absolute(self.module, spelled) if held else tables.relative(self.module, spelled)
        names = None if source is None else self.tables.public(source)
        if source is None or names is None:
            self._opened(f"line {binding.line}: it takes all names of {spelled}, which are not known")
            return
        if source in self.tables.open:
            self._opened(f"line {binding.line}: it takes all names of {source}, which is open")
        for name in names:
            self._add(name, Name(binding, binding.guards, f"{source}.{name}"))

    def _registry(self, binding: Binding) -> None:
        """The functions of the tvm-ffi registry whose names begin with a prefix (tvm_ffi.init_ffi_api)."""
        self._opened(f"line {binding.line}: it takes the functions that are registered as {binding.source}.*")
        library = self.tables.native.registered().get("tvm_ffi")
        for piece in library.pieces if library else ():
            space, _, name = piece.name.rpartition(".")
            if space == binding.source:
                self._add(name, Name(binding, binding.guards, f"tvm_ffi.{piece.name}"))


def _is_overload(binding: Binding) -> bool:
    return any(decorator.rpartition(".")[2] == "overload" for decorator in binding.decorators)
