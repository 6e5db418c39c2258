"""Whether a surface has a name: there, missing, or not to be told."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from pinctl.contract.model import Signature, Sort, Surface, Symbol
from pinctl.contract.surface.guards import TYPING

_MOST_ALIASES = 16
"""Names of names that are followed."""

_TORCH_OPS = "torch.ops."
_OF_MODULES = frozenset(
    "__name__ __doc__ __package__ __loader__ __spec__ __path__ __file__ __cached__ __dict__ __class__".split()
)
"""What every module has (the language reference, "Module objects")."""


class Standing(StrEnum):
    """What is known of a name: OPEN where a part of it has names that cannot all be known, BEYOND where it is an
    attribute of something that is looked into no further (a function, a value)."""

    THERE = "there"
    OPEN = "open"
    BEYOND = "beyond"
    MISSING = "missing"


class Found(NamedTuple):
    """`symbol` where it is THERE; `reason` says why it is OPEN."""

    standing: Standing
    symbol: Symbol | None = None
    reason: str = ""

    @property
    def missing(self) -> bool:
        """Whether the name is known not to be there."""
        return self.standing is Standing.MISSING


_MISSING = Found(Standing.MISSING)


class Lookup:
    """Finds names in one surface."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self._known: dict[str, Found] = {}

    @cached_property
    def spaces(self) -> frozenset[str]:
        """The namespaces of torch.ops in which the package registers operators."""
        return frozenset(name.split(".")[2] for name in self.surface.symbols if name.startswith(_TORCH_OPS))

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.surface.symbols if not name.startswith(_TORCH_OPS))

    @cached_property
    def _by_leaf(self) -> Mapping[str, list[str]]:
        found = defaultdict[str, list[str]](list)
        for name in self.surface.symbols:
            found[name.rpartition(".")[2]].append(name)
        return found

    @cached_property
    def _by_parent(self) -> Mapping[str, list[str]]:
        found = defaultdict[str, list[str]](list)
        for name in self.surface.symbols:
            parent, _, leaf = name.rpartition(".")
            found[parent].append(leaf)
        return found

    @cached_property
    def _by_target(self) -> Mapping[str, list[str]]:
        found = defaultdict[str, list[str]](list)
        for name, symbol in self.surface.symbols.items():
            if symbol.target:
                found[symbol.target].append(name)
        return found

    def names_of(self, target: str) -> list[str]:
        """The names of what `target` names, itself included; none where that is not there."""
        return [target, *self._by_target.get(target, ())] if self.find(target).symbol is not None else []

    def named(self, leaf: str) -> Sequence[str]:
        """Every dotted name whose last part is `leaf`."""
        return self._by_leaf.get(leaf, ())

    def below(self, parent: str) -> Sequence[str]:
        """The last parts of the names directly below `parent`."""
        return self._by_parent.get(parent, ())

    def find(self, name: str) -> Found:
        """What the surface has under the dotted `name`; names that lead to other names are followed."""
        if name not in self._known:
            self._known[name] = self._find(_packet(name), 0)
        return self._known[name]

    def at_run_time(self, name: str) -> Found:
        """As `find`, without what only type checkers see (typing.TYPE_CHECKING), unless its module may give it, too."""
        found = self.find(name)
        if found.symbol is None or TYPING not in found.symbol.guards:
            return found
        return found if found.symbol.name.rpartition(".")[0] in self.surface.open else _MISSING

    def _find(self, name: str, depth: int) -> Found:
        if (symbol := self.surface.symbols.get(name)) is not None:
            return Found(Standing.THERE, symbol)
        parent, _, leaf = name.rpartition(".")
        if not parent or depth > _MOST_ALIASES:
            return _MISSING
        outer = self._find(parent, depth + 1)
        if outer.symbol is None:
            return outer
        if outer.symbol.target is not None and outer.symbol.target != parent:
            behind = self._find(f"{outer.symbol.target}.{leaf}", depth + 1)
            if not behind.missing:
                return behind
            if outer.symbol.target.partition(".")[0] not in self._roots:
                return Found(Standing.BEYOND)
        if parent in self.surface.open:
            return Found(Standing.OPEN, reason=self.surface.open[parent])
        return Found(Standing.BEYOND) if _is_beyond(outer.symbol, leaf) else _MISSING

    def signatures(self, symbol: Symbol) -> tuple[Signature, ...]:
        """The overloads of a symbol: its own, else those of what it is another name of; none where not known."""
        for _ in range(_MOST_ALIASES):
            if symbol.signatures or symbol.target is None:
                break
            behind = self.find(symbol.target).symbol
            if behind is None:
                break
            symbol = behind
        return symbol.signatures

    def guards(self, symbol: Symbol) -> tuple[str, ...]:
        """The conditions under which a symbol is there, with those of what it is another name of."""
        found: dict[str, None] = {}
        for _ in range(_MOST_ALIASES):
            found.update(dict.fromkeys(symbol.guards))
            behind = self.find(symbol.target).symbol if symbol.target else None
            if behind is None:
                break
            symbol = behind
        return tuple(found)

    def modules(self, name: str) -> Iterator[Symbol]:
        """The modules on the way to `name`, itself included, the outermost first: importing it runs them all."""
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            symbol = self.find(".".join(parts[:count])).symbol
            if symbol is None or symbol.sort is not Sort.MODULE:
                return
            yield symbol


def _is_beyond(symbol: Symbol, leaf: str) -> bool:
    """Whether `leaf` may be an attribute of what `symbol` names, though the surface does not list it."""
    if symbol.sort in (Sort.FUNCTION, Sort.VALUE):
        return True
    dunder = leaf.startswith("__") and leaf.endswith("__")
    return dunder if symbol.sort is Sort.CLASS else leaf in _OF_MODULES


def _packet(name: str) -> str:
    """The operator of `torch.ops.NAMESPACE.NAME.OVERLOAD`; any other name as it is."""
    return ".".join(name.split(".")[:4]) if name.startswith(_TORCH_OPS) else name


def is_foreign(name: str, *surfaces: Lookup) -> bool:
    """Whether `name` is an operator of a namespace of torch.ops of which none of `surfaces` has anything: another
    library registers it."""
    if not name.startswith(_TORCH_OPS):
        return False
    parts = name.split(".")
    return len(parts) < 3 or not any(parts[2] in lookup.spaces for lookup in surfaces)
