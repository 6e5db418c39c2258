"""What functions and classes take once their decorators and bases are known."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinctl.contract.model import Kind, Parameter, Signature
from pinctl.contract.surface.facts import Binding, How
from pinctl.contract.surface.tables import Tables

_FOLLOWED = 20
_DEEPEST = 50

_OF_TORCH = (
    "no_grad inference_mode enable_grad compile compiler.disable compiler.allow_in_graph _dynamo.disable jit.ignore"
    " jit.unused library.custom_op library.triton_op cuda.nvtx.range"
)
KEEPING = frozenset(
    "staticmethod classmethod functools.lru_cache functools.cache functools.wraps functools.total_ordering"
    " functools.singledispatch contextlib.contextmanager contextlib.asynccontextmanager abc.abstractmethod"
    " typing.overload typing.final typing.override typing.no_type_check typing.runtime_checkable enum.unique"
    " typing_extensions.deprecated typing_extensions.override typing_extensions.final typing_extensions.overload"
    " warnings.deprecated dataclasses.dataclass atexit.register".split()
).union(f"torch.{name}" for name in _OF_TORCH.split())
"""Decorators of others that keep what a function, or a class's constructor, takes."""

PLAIN = frozenset("object abc.ABC typing.Generic typing.Protocol typing_extensions.Protocol typing.NamedTuple".split())
"""Bases that give a class no names and no constructor of their own."""

CLOSED = frozenset(
    "enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag typing.TypedDict typing_extensions.TypedDict".split()
)
"""Bases of which only the constructor is not known."""


class Defined(NamedTuple):
    """A function or class where it is defined."""

    module: str
    binding: Binding

    @property
    def name(self) -> str:
        return f"{self.module}.{self.binding.name}"


class Definitions:
    """Finds definitions, and what they take."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._members: dict[str, dict[str, tuple[Defined, Binding]]] = {}
        self._fields: dict[str, tuple[Parameter, ...] | None] = {}

    def find(self, dotted: str) -> Defined | None:
        """The function or class that a dotted name leads to; None where that is not in the tree's Python."""
        for _ in range(_FOLLOWED):
            module, _, name = dotted.rpartition(".")
            names = self.tables.table(module).get(name) if module in self.tables.facts else None
            if not names:
                return None
            target = names[-1].target
            if target is None or target == dotted:
                known = names[-1].binding.how in (How.FUNCTION, How.CLASS)
                return Defined(module, names[-1].binding) if known else None
            dotted = target
        return None

    def absolute(self, module: str, spelled: str) -> str:
        """What a name means in a module; a builtin's own name where the module does not bind it."""
        return self.tables.absolute(module, spelled) or spelled

    def takes(self, module: str, binding: Binding) -> tuple[Signature, ...]:
        """The signatures of a function below its decorators; () where one is not known to keep them."""
        added = self.added(module, binding.decorators)
        if added is None:
            return ()
        return tuple(_with(signature, added) for signature in binding.signatures)

    def added(self, module: str, decorators: Sequence[str]) -> tuple[Parameter, ...] | None:
        """The parameters that decorators add; None where one may change more."""
        found: list[Parameter] = []
        for decorator in decorators:
            dotted = self.absolute(module, decorator)
            if dotted in KEEPING:
                continue
            made = self.find(dotted)
            if made is None or made.binding.keeps is None:
                return None
            found += made.binding.keeps
        return tuple(found)

    # --- classes ---

    def bases(self, class_: Defined) -> Iterator[tuple[str, Defined | None]]:
        """The bases of a class: dotted names, and their definitions where they are in the tree."""
        for base in class_.binding.bases:
            dotted = self.absolute(class_.module, base)
            yield dotted, self.find(dotted)

    def constructor(self, class_: Defined, depth: int = 0) -> tuple[Signature, ...]:
        """What a class takes when it is called; () where that is not known."""
        if depth > _DEEPEST or self.added(class_.module, class_.binding.decorators) is None:
            return ()
        own = [m for m in class_.binding.members if m.name in ("__init__", "__new__")]
        if own:
            chosen = [m for m in own if m.name == "__init__"] or own
            return tuple(s for m in chosen[-1:] for s in self.takes(class_.module, m))
        if class_.binding.fields is not None:
            fields = self.fields(class_)
            return () if fields is None else (Signature(_in_order(fields)),)
        for dotted, base in self.bases(class_):
            if base is not None:
                return self.constructor(base, depth + 1)
            if dotted not in PLAIN:
                return ()
        return (Signature(),)

    def fields(self, class_: Defined, depth: int = 0) -> tuple[Parameter, ...] | None:
        """The parameters of a generated constructor, those of the bases first (PEP 557); None where not known."""
        if class_.name not in self._fields and depth < _DEEPEST:
            self._fields[class_.name] = None  # of a class that is its own base
            self._fields[class_.name] = self._all_fields(class_, depth)
        return self._fields.get(class_.name)

    def _all_fields(self, class_: Defined, depth: int) -> tuple[Parameter, ...] | None:
        found: dict[str, Parameter] = {}
        for dotted, base in reversed(list(self.bases(class_))):
            inner = self.fields(base, depth + 1) if base is not None else ()
            if inner is None or (base is None and dotted not in PLAIN):
                return None
            found.update({parameter.name: parameter for parameter in inner})
        found.update({parameter.name: parameter for parameter in class_.binding.fields or ()})
        return tuple(found.values())

    def openness(self, class_: Defined) -> str:
        """Why a class may have more names than are known; "" where it has not."""
        if class_.binding.source:
            return class_.binding.source
        for decorator in class_.binding.decorators:
            if self.added(class_.module, [decorator]) is None:
                return f"its decorator {decorator} may change it"
        for dotted, base in self.bases(class_):
            if base is None and dotted not in PLAIN | CLOSED:
                return f"its base {dotted} is not in the tree" if dotted != "?" else "a base is computed"
        return ""

    def members(self, class_: Defined, depth: int = 0) -> dict[str, tuple[Defined, Binding]]:
        """Every name of a class, with the class that gives it and where: its own before those of its bases."""
        if class_.name in self._members:
            return self._members[class_.name]
        found = {m.name: (class_, m) for m in class_.binding.members if m.how is not How.DELETE}
        self._members[class_.name] = found
        for _, base in self.bases(class_):
            if base is not None and depth < _DEEPEST:
                for name, inner in self.members(base, depth + 1).items():
                    found.setdefault(name, inner)
        return found


def _with(signature: Signature, added: Sequence[Parameter]) -> Signature:
    """`signature` with keywords that a decorator adds."""
    names = {parameter.name for parameter in signature.parameters}
    return Signature(_in_order((*signature.parameters, *(p for p in added if p.name not in names))))


def _in_order(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Parameters as Python wants them: those by keyword alone after the others, `**kwargs` last."""
    late = (Kind.KEYWORD, Kind.KEYWORD_REST)
    return tuple(sorted(parameters, key=lambda p: late.index(p.kind) + 1 if p.kind in late else 0))
