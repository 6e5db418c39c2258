"""The surface that the facts of all files make together.

First every name stands for itself, or for the one name that it is taken from. Then the steps are followed to where a
name is defined, whose signatures it shares; the conditions on the way add up.
"""

from collections.abc import Iterator, Mapping, Sequence

from pinctl.contract.model import Mechanism, Place, Signature, Sort, Surface, Symbol
from pinctl.contract.surface.definitions import Defined, Definitions
from pinctl.contract.surface.facts import How
from pinctl.contract.surface.guards import either, together
from pinctl.contract.surface.native import Made
from pinctl.contract.surface.tables import Name, Tables
from pinctl.errors import ExternalError

MOST = 300_000
"""Symbols that a surface may have."""

_FOLLOWED = 20
_SORTS = {How.FUNCTION: Sort.FUNCTION, How.CLASS: Sort.CLASS}


class TooMany(ExternalError):
    """The surface has more symbols, or longer ways between them, than are followed."""


class Linker:
    """Makes symbols of tables."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.definitions = Definitions(tables)
        self.symbols: dict[str, Symbol] = {}
        self.others: dict[str, tuple[str, ...]] = {}
        """By symbol, what it is another name of where a condition does not hold."""
        self.open: dict[str, str] = {}

    def surface(self, commit: str, unread: Mapping[str, str]) -> Surface:
        """The surface. Raises TooMany."""
        for module in self.tables.facts:
            self.tables.table(module)
        for module in list(self.tables.facts):
            self._module(module)
        self._absent()
        self._native()
        self._operators()
        self.open.update(self.tables.open)
        self.symbols = {name: self._followed(symbol) for name, symbol in self.symbols.items()}
        return Surface(commit, self.symbols, self.open, self._imports(), unread)

    def _add(self, symbol: Symbol) -> None:
        if len(self.symbols) >= MOST:
            raise TooMany(f"it exports more than {MOST} names")
        self.symbols[symbol.name] = symbol

    # --- Python ---

    def _module(self, name: str) -> None:
        module = self.tables.modules[name]
        mechanism = Mechanism.STUB if module.stub else Mechanism.PYTHON
        if name not in self.symbols:
            self._add(Symbol(name, Sort.MODULE, mechanism, Place(module.file, 1)))
        for leaf, names in self.tables.table(name).items():
            dotted = f"{name}.{leaf}"
            if all(made.target == dotted for made in names):
                continue  # `from . import x` in the package itself
            self._named(name, dotted, names, mechanism)

    def _named(self, module: str, dotted: str, names: Sequence[Name], mechanism: Mechanism) -> None:
        """The symbol of a name, which has several places where conditions choose between them."""
        first = names[0]
        file = self.tables.modules[module].file
        signatures = [self._signatures(module, dotted, made) for made in names]
        targets = tuple(made.target for made in names if made.target and made.target != dotted)
        known = tuple(dict.fromkeys(s for part in signatures for s in part)) if all(signatures) else ()
        self._add(Symbol(dotted, _SORTS.get(first.binding.how, Sort.VALUE), mechanism, Place(file, first.binding.line),
                         known, either(made.guards for made in names), first.target if targets else None))  # fmt: skip
        if len(names) > 1:
            self.others[dotted] = targets
        if first.binding.how is How.CLASS and first.target is None:
            self._class(Defined(module, first.binding), mechanism, self.symbols[dotted].guards)

    def _signatures(self, module: str, dotted: str, made: Name) -> tuple[Signature, ...]:
        if made.target not in (None, dotted):
            return ()
        if made.binding.how is How.CLASS:
            return self.definitions.constructor(Defined(module, made.binding))
        return self.definitions.takes(module, made.binding) if made.binding.how is How.FUNCTION else ()

    def _class(self, class_: Defined, mechanism: Mechanism, guards: tuple[str, ...], depth: int = 0) -> None:
        """The names of a class."""
        if reason := self.definitions.openness(class_):
            self.open[class_.name] = f"{self.tables.modules[class_.module].file}:{class_.binding.line}: {reason}"
        for leaf, (owner, member) in self.definitions.members(class_).items():
            inherited = f"{owner.name}.{leaf}" if owner.name != class_.name else None
            place = Place(self.tables.modules[owner.module].file, member.line)
            signatures = self.definitions.takes(owner.module, member) if member.how is How.FUNCTION else ()
            sort, conditions = _SORTS.get(member.how, Sort.VALUE), together(guards, member.guards)
            self._add(Symbol(f"{class_.name}.{leaf}", sort, mechanism, place, signatures, conditions, inherited))
            if member.how is How.CLASS and inherited is None and depth < _FOLLOWED:
                inner = member._replace(name=f"{class_.binding.name}.{leaf}")
                self._class(Defined(class_.module, inner), mechanism, guards, depth + 1)

    def _absent(self) -> None:
        """Modules of the packages that are imported and not in the tree."""
        for name, place in self.tables.absent.items():
            self.symbols.setdefault(name, Symbol(name, Sort.MODULE, Mechanism.PYTHON, place))
            self.open[name] = f"{place.file}:{place.line} imports it, and it is not in the tree: a build may make it"

    # --- C++ ---

    def _native(self) -> None:
        for dotted, made in self._modules():
            self._add(Symbol(dotted, Sort.MODULE, made.mechanism, made.place))
            self._made(dotted, made)
        for space, library in self.tables.operators.items():
            self._made(f"torch.ops.{space}", library)
            self._add(Symbol(f"torch.ops.{space}", Sort.MODULE, library.mechanism, library.place))
        for prefix, made in self.tables.native.registered().items():
            self._made(prefix, made)

    def _modules(self) -> Iterator[tuple[str, Made]]:
        """The extension modules: those that are imported, then those that the build alone names."""
        yield from self.tables.extensions.items()
        seen = {made.place for made in self.tables.extensions.values()}
        for root in self.tables.native.modules:
            leaf = self.tables.native.named(root)
            built = (e.name for e in self.tables.native.extensions if e.name.rpartition(".")[2] == leaf)
            dotted = next(built, leaf)
            made = self.tables.native.module(dotted)
            if made is not None and made.place not in seen:
                seen.add(made.place)
                yield dotted, made

    def _made(self, prefix: str, made: Made) -> None:
        for symbol in made.symbols(prefix):
            self._add(symbol)
        for name, reason in made.open.items():
            self.open[".".join(filter(None, (prefix, name)))] = reason

    def _operators(self) -> None:
        """The torch operators that Python code defines."""
        for module, facts in self.tables.facts.items():
            file = self.tables.modules[module].file
            for operator in facts.operators:
                space, _, name = operator.name.partition("::")
                known = () if operator.signature is None else (operator.signature,)
                for dotted, sort, signatures in (
                    (f"torch.ops.{space}", Sort.MODULE, ()), (f"torch.ops.{space}.{name}", Sort.FUNCTION, known),
                ):  # fmt: skip
                    place = Place(file, operator.line)
                    made = Symbol(dotted, sort, Mechanism.TORCH, place, signatures, operator.guards)
                    self.symbols.setdefault(dotted, made)

    # --- what names lead to ---

    def find(self, dotted: str) -> Symbol | None:
        """The symbol of a dotted name, also through another name of what it belongs to."""
        for _ in range(_FOLLOWED):
            if dotted in self.symbols:
                return self.symbols[dotted]
            held, rest = dotted, ""
            while held and not ((symbol := self.symbols.get(held)) and symbol.target):
                held, _, leaf = held.rpartition(".")
                rest = f".{leaf}{rest}"
            if not held:
                return None
            dotted = f"{self.symbols[held].target}{rest}"
        return None

    def _end(self, symbol: Symbol) -> tuple[Symbol | None, tuple[str, ...]]:
        """Where the names that a symbol leads to end, None for outside of the tree, with the conditions on the way."""
        guards: tuple[str, ...] = ()
        here: Symbol | None = symbol
        for _ in range(_FOLLOWED):
            if here is None or here.target is None:
                break
            here = self.find(here.target)
            guards = together(guards, here.guards) if here else guards
        return (here if here and here.target is None else None), guards

    def _followed(self, symbol: Symbol) -> Symbol:
        """A symbol with what it leads to."""
        if symbol.target is None:
            return symbol
        end, guards = self._end(symbol)
        if end is None:
            return symbol._replace(sort=Sort.VALUE, signatures=())
        if symbol.name not in self.others:
            guards = together(symbol.guards, guards)
            return symbol._replace(sort=end.sort, mechanism=end.mechanism, signatures=end.signatures, guards=guards)
        ends = [self._end(symbol._replace(target=target))[0] for target in self.others[symbol.name]]
        all_known = all(one and one.signatures for one in ends)
        signatures = tuple(dict.fromkeys(s for one in ends if one for s in one.signatures)) if all_known else ()
        return symbol._replace(sort=end.sort, mechanism=end.mechanism, signatures=(*symbol.signatures, *signatures))

    # --- imports ---

    def _imports(self) -> dict[str, tuple[str, ...]]:
        """By file, the files that importing it imports."""
        found = {}
        for name, facts in self.tables.facts.items():
            files: dict[str, None] = {}
            for spelled in facts.imports:
                module, _, leaf = spelled.partition(":")
                for part in _upwards(self.tables.relative(name, module), leaf):
                    if part in self.tables.modules:
                        files[self.tables.modules[part].file] = None
            file = self.tables.modules[name].file
            files.pop(file, None)
            found[file] = tuple(files)
        return found


def _upwards(module: str, leaf: str) -> Iterator[str]:
    """The modules that importing one imports: those above it, itself, and one of its names where that is a module."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])
    if leaf:
        yield f"{module}.{leaf}"
