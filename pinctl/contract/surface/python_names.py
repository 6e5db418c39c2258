"""The names of a module while it is read: what binds them, and what computes them.

A name that is given as a string is known where the string is: in `globals()["f"] = g`, and in a loop over a constant
list. Any other makes the module open.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager

import pinctl.contract.surface.python_values as values
from pinctl.contract.surface.facts import Binding, How, Operator
from pinctl.contract.surface.python_functions import dotted
from pinctl.contract.surface.schema import arguments, parse

_NAMESPACES = frozenset({"globals", "locals", "vars"})
_COMPUTED = "__all__ is computed"


class Names:
    """The bindings of a module, or of a class body with `inner`, and the condition under which the next one stands."""

    def __init__(self, *, stub: bool, inner: bool = False) -> None:
        self.stub, self.inner = stub, inner
        self.bindings: list[Binding] = []
        self.operators: list[Operator] = []
        self.imports: dict[str, None] = {}
        self.exports: tuple[str, ...] | None = None
        self.open = ""
        self.guards: tuple[str, ...] = ()
        self.attempt = self.attempts = 0
        self.constants = values.Constants()
        self.libraries: dict[str, str] = {}
        self.selves: set[str] = set()
        self.typing = False

    @contextmanager
    def under(self, guard: str, attempt: int | None = None) -> Iterator[None]:
        """Read what stands under a condition."""
        before = self.guards, self.attempt
        self.guards = (*self.guards, guard) if guard else self.guards
        self.attempt = self.attempt if attempt is None else attempt
        yield
        self.guards, self.attempt = before

    def bind(self, name: str, how: How, node: ast.AST, source: str = "", **more: object) -> None:
        line = getattr(node, "lineno", 0)
        made = Binding(name, how, line, self.guards, source, self.attempt, **more)  # type: ignore[arg-type]
        self.bindings.append(made)

    def opened(self, node: ast.AST, reason: str) -> None:
        """Its names cannot all be known."""
        self.open = self.open or f"line {getattr(node, 'lineno', 0)}: {reason}"

    def imported(self, module: str) -> None:
        if not self.typing:
            self.imports[module] = None

    def export(self, names: tuple[str, ...] | None, node: ast.AST) -> None:
        if names is None:
            self.exports = None
            self.opened(node, _COMPUTED)
        else:
            self.exports = names

    def export_more(self, value: ast.expr, node: ast.AST) -> None:
        """`__all__ += value`"""
        more = values.exports(value, self.constants)
        if self.exports is None and self.open.endswith(_COMPUTED):
            return
        self.export(None if more is None else (*(self.exports or ()), *more), node)

    def note(self, name: str, value: ast.expr) -> None:
        """Remember what a variable holds: this module itself, a torch library."""
        if self.is_module(value):
            self.selves.add(name)
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "Library" and value.args:
            first = value.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                self.libraries[name] = first.value

    def is_module(self, node: ast.expr) -> bool:
        """`sys.modules[__name__]`"""
        if isinstance(node, ast.Subscript):
            return dotted(node.value) == "sys.modules" and dotted(node.slice) == "__name__"
        calls = ("sys.modules.get", "importlib.import_module", "import_module")
        return (
            isinstance(node, ast.Call)
            and dotted(node.func) in calls
            and [dotted(a) for a in node.args[:1]] == ["__name__"]
        )

    def is_self(self, node: ast.expr) -> bool:
        return self.is_module(node) or (isinstance(node, ast.Name) and node.id in self.selves)

    def set_item(self, target: ast.Subscript, value: ast.expr | None, node: ast.stmt) -> None:
        """`globals()["name"] = value`"""
        if is_namespace(target.value) or (isinstance(target.value, ast.Attribute) and target.value.attr == "__dict__"
                                           and self.is_self(target.value.value)):  # fmt: skip
            self.set_name(target.slice, value or ast.Constant(None), node)
        elif self.is_module(target):
            self.opened(node, "another object takes the module's place")

    def set_name(self, name: ast.expr, value: ast.expr, node: ast.AST) -> None:
        """Bind a name that is given as a string; in a loop over constants, one a turn."""
        names = self.constants.names(name)
        if names is None:
            self.opened(node, "a name is computed")
            return
        sources = self.constants.sources(value, len(names))
        for one, source in zip(names, sources, strict=True):
            self.bind(one, How.ALIAS if source else How.VALUE, node, source)

    def is_own(self, node: ast.expr) -> bool:
        """`globals()`, or the `__dict__` of this module."""
        return is_namespace(node) or (
            isinstance(node, ast.Attribute) and node.attr == "__dict__" and self.is_self(node.value)
        )

    def update(self, call: ast.Call, node: ast.stmt) -> None:
        """`globals().update(...)`"""
        for keyword in call.keywords:
            if keyword.arg is None:
                self._merge(keyword.value, node)
            else:
                self.set_name(ast.Constant(keyword.arg), keyword.value, node)
        for argument in call.args:
            self._merge(argument, node)

    def _merge(self, value: ast.expr, node: ast.stmt) -> None:
        """Bind what a mapping holds."""
        if isinstance(value, ast.Dict):
            for name, item in zip(value.keys, value.values, strict=True):
                if name is None:
                    self._merge(item, node)
                else:
                    self.set_name(name, item, node)
        elif isinstance(value, ast.DictComp) and len(value.generators) == 1:
            self._comprehended(value, node)
        elif isinstance(value, ast.Name) and value.id in self.constants.tables:
            for key, item in self.constants.tables[value.id].items():
                self.set_name(ast.Constant(key), item, node)
        elif held := _held(value):
            self.bind("*", How.STAR, node, f"={held}")
        else:
            self.opened(node, "names are taken from a mapping")

    def _comprehended(self, value: ast.DictComp, node: ast.stmt) -> None:
        """`{name: getattr(m, name) for name in NAMES}`; over `dir(m)`, all of another module's names."""
        loop = value.generators[0]
        over = loop.iter
        if isinstance(over, ast.Call) and dotted(over.func) == "dir" and over.args and dotted(over.args[0]):
            self.bind("*", How.STAR, node, f"={dotted(over.args[0])}")
            return
        outer = dict(self.constants.loop), dict(self.constants.values)
        if not loop.ifs and self.constants.enter(loop.target, over):
            self.set_name(value.key, value.value, node)
        else:
            self.opened(node, "names are set in a loop")
        self.constants.loop, self.constants.values = outer

    def defined(self, call: ast.Call, name: str) -> None:
        """`LIBRARY.define("name(Tensor a) -> Tensor")`, or torch's `define("space::name", "(Tensor a) -> ()")`."""
        texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        held = self.libraries.get(name.rpartition(".")[0])
        if not texts or (held is None and not name.endswith("library.define")):
            return
        schema = parse(texts[0])
        space = held or (schema.namespace if schema else None)
        if schema and space:
            signature = schema.signature or (arguments(texts[1].strip()) if len(texts) > 1 else None)
            self.operators.append(Operator(f"{space}::{schema.name}", call.lineno, signature, self.guards))


def is_namespace(node: ast.expr) -> bool:
    """`globals()` and its kin."""
    return isinstance(node, ast.Call) and dotted(node.func) in _NAMESPACES and not node.args


def _held(value: ast.expr) -> str:
    """The module whose names `vars(m)` or `m.__dict__` are; "" for anything else."""
    if isinstance(value, ast.Call) and dotted(value.func) == "vars" and len(value.args) == 1:
        return dotted(value.args[0])
    return dotted(value.value) if isinstance(value, ast.Attribute) and value.attr == "__dict__" else ""
