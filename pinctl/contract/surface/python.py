"""The names that a Python module binds, read from its syntax tree: nothing is imported, and nothing is run.

What is bound in functions is left out, and so are the variables of loops and handlers. A name that is computed makes
the module open.
"""

import ast
import warnings
from collections.abc import Callable, Sequence

import pinctl.contract.surface.python_functions as functions
import pinctl.contract.surface.python_values as values
from pinctl.contract.surface.facts import Facts, How, Operator, PythonFacts, Unread
from pinctl.contract.surface.guards import EXCEPT, TRY, TYPING, opposite
from pinctl.contract.surface.python_functions import dotted
from pinctl.contract.surface.python_names import Names, is_namespace

LARGEST = 512 * 1024
"""Bytes of a Python source that is read: `ast` takes hundreds of bytes for each."""

_LONGEST = 80
_TYPING = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"})
_HIDING = frozenset("ImportError ModuleNotFoundError AttributeError Exception BaseException".split())
_REGISTRIES = frozenset({"init_ffi_api", "_init_api", "_init_ffi_api"})


def read(source: bytes, *, stub: bool = False) -> Facts:
    """The facts of a Python module, or of a stub file (PEP 484)."""
    if len(source) > LARGEST:
        return Unread(f"it has more than {LARGEST >> 10} KiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in strings
            tree = ast.parse(source)
        return _Reader(stub=stub).module(tree)
    except SyntaxError as error:
        return Unread(f"it is no Python: {error.msg} (line {error.lineno or 0})")
    except (ValueError, RecursionError, MemoryError) as error:
        return Unread(f"it is no Python that can be read: {type(error).__name__}")


class _Reader(Names):
    """Reads statements."""

    def module(self, tree: ast.Module) -> PythonFacts:
        self.block(tree.body)
        return PythonFacts(tuple(self.bindings), self.exports, self.open, tuple(self.imports), tuple(self.operators))

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            reader = _READERS.get(type(statement))
            if reader is not None:
                reader(self, statement)

    # --- imports ---

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imported(alias.name)
            if alias.asname:
                self.bind(alias.asname, How.MODULE, alias, alias.name)
            else:
                head = alias.name.partition(".")[0]
                self.bind(head, How.MODULE, alias, head)

    def import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        if module == "__future__":
            return
        self.imported(module)
        for alias in node.names:
            if alias.name == "*":
                self.bind("*", How.STAR, node, module)
                continue
            self.imported(f"{module}:{alias.name}")
            self.bind(alias.asname or alias.name, How.FROM, alias, f"{module}:{alias.name}")

    # --- definitions ---

    def function(self, node: functions.Function) -> None:
        wrapped = functions.decorators(node)
        leaves = {name.rpartition(".")[2] for name in wrapped}
        if node.name == "__getattr__":
            self.opened(node, "__getattr__ gives it names")
        if "overload" in leaves and not self.stub:
            return
        if leaves & {"property", "cached_property", "setter", "deleter", "getter"} and self.inner:
            self.bind(node.name, How.VALUE, node)
            return
        bound = self.inner and "staticmethod" not in leaves
        signature = functions.signature(node.args, skip=int(bound))
        added = None if self.inner else functions.keeps(node)
        self.bind(node.name, How.FUNCTION, node, signatures=(signature,), decorators=wrapped, keeps=added)
        self._operator(node)

    def _operator(self, node: functions.Function) -> None:
        """`@custom_op("namespace::name", ...)` and `@triton_op(...)`: torch's, or those of a library."""
        for decorator in node.decorator_list:
            if not isinstance(decorator, ast.Call) or not decorator.args:
                continue
            name, first = dotted(decorator.func), decorator.args[0]
            known = name.endswith(("library.custom_op", "library.triton_op")) or name in self.libraries
            if known and isinstance(first, ast.Constant) and "::" in str(first.value):
                signature = functions.signature(node.args)
                self.operators.append(Operator(str(first.value), node.lineno, signature, self.guards))

    def class_(self, node: ast.ClassDef) -> None:
        inner = _Reader(stub=self.stub, inner=True)
        inner.block(node.body)
        bases = [dotted(b.value if isinstance(b, ast.Subscript) else b) or "?" for b in node.bases]
        bases += [
            "?" for keyword in node.keywords if keyword.arg == "metaclass" and dotted(keyword.value) not in _METAS
        ]
        self.bind(node.name, How.CLASS, node, source=inner.open, decorators=functions.decorators(node),
                  members=tuple(inner.bindings), bases=tuple(bases), fields=functions.fields(node))  # fmt: skip

    # --- assignments ---

    def assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assign(target, node.value, node)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None or self.stub or self.inner:
            self._assign(node.target, node.value, node)

    def _assign(self, target: ast.expr, value: ast.expr | None, node: ast.stmt) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            starred = any(isinstance(element, ast.Starred) for element in target.elts)
            pairs = value.elts if isinstance(value, ast.Tuple | ast.List) and not starred else []
            pairs = pairs if len(pairs) == len(target.elts) else [ast.Constant(None)] * len(target.elts)
            for element, one in zip(target.elts, pairs, strict=True):
                self._assign(element.value if isinstance(element, ast.Starred) else element, one, node)
        elif isinstance(target, ast.Name):
            self._named(target.id, value, node)
        elif isinstance(target, ast.Subscript):
            self.set_item(target, value, node)
        elif isinstance(target, ast.Attribute) and self.is_self(target.value):
            self.opened(node, "its module object is changed") if target.attr == "__class__" else self._named(
                target.attr, value, node
            )

    def _named(self, name: str, value: ast.expr | None, node: ast.stmt) -> None:
        """`name = value`"""
        if name == "__all__" and not self.inner:
            self.export(() if value is None else values.exports(value, self.constants), node)
            return
        if name in ("__getattr__", "__dir__") and not self.inner:
            self.opened(node, f"{name} is assigned")
        if value is None:
            self.bind(name, How.VALUE, node)
            return
        self.constants.learn(name, value)
        self.note(name, value)
        self._value(name, value, node)

    def _value(self, name: str, value: ast.expr, node: ast.stmt) -> None:
        source = values.alias(value)
        if source:
            default = isinstance(value, ast.Call) and len(value.args) > 2
            with self.under("getattr default" if default else ""):
                self.bind(name, How.ALIAS, node, source)
        elif isinstance(value, ast.Lambda):
            self.bind(name, How.FUNCTION, node, signatures=(functions.signature(value.args, skip=int(self.inner)),))
        elif isinstance(value, ast.Call) and (made := functions.named_tuple(value)) is not None:
            self.bind(name, How.CLASS, node, bases=("typing.NamedTuple",), fields=made)
        elif isinstance(value, ast.Call) and (module := _imported(value)):
            self.imported(module)
            self.bind(name, How.MODULE, node, module)
        else:
            self.bind(name, How.VALUE, node)

    def augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id == "__all__":
            self.export_more(node.value, node)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, How.DELETE, node)

    # --- calls ---

    def expression(self, node: ast.Expr) -> None:
        call = node.value
        if not isinstance(call, ast.Call):
            return
        name, leaf = dotted(call.func), _called(call)
        if leaf == "update" and isinstance(call.func, ast.Attribute) and self.is_own(call.func.value):
            self.update(call, node)
        elif name == "setattr" and len(call.args) == 3 and self.is_self(call.args[0]):
            self.set_name(call.args[1], call.args[2], node)
        elif name in ("__all__.extend", "__all__.append") and call.args:
            one = name.endswith("append")
            self.export_more(ast.List(elts=[call.args[0]]) if one else call.args[0], node)
        elif leaf in _REGISTRIES and call.args and isinstance(call.args[0], ast.Constant):
            self.bind("*", How.REGISTRY, node, str(call.args[0].value))
        elif leaf in ("define", "custom_op"):
            self.defined(call, name)
        elif leaf == "exec" or any(is_namespace(argument) for argument in call.args):
            self.opened(node, f"{leaf}() sets names")

    # --- blocks ---

    def if_(self, node: ast.If) -> None:
        test = ast.unparse(node.test)
        if isinstance(node.test, ast.Constant):
            self.block(node.body if node.test.value else node.orelse)
        elif test in _TYPING:
            self._for_types(node.body)
            self.block(node.orelse)
        elif test.removeprefix("not ") in _TYPING:
            self.block(node.body)
        elif not test.startswith("__name__ =="):
            condition = f"if {test}"[:_LONGEST]
            with self.under(condition):
                self.block(node.body)
            with self.under(opposite(condition)):
                self.block(node.orelse)

    def _for_types(self, statements: Sequence[ast.stmt]) -> None:
        before, self.typing = self.typing, True
        with self.under(TYPING):
            self.block(statements)
        self.typing = before

    def try_(self, node: ast.Try) -> None:
        caught = [handler for handler in node.handlers if not _raises(handler)]
        if not caught:
            self.block([*node.body, *node.orelse, *node.finalbody])
            return
        kinds = " ".join(_kinds(handler) or "Exception" for handler in caught)
        hides = bool(_HIDING & set(kinds.replace(".", " ").split()))
        self.attempts += 1
        with self.under(f"{TRY}{kinds}"[:_LONGEST], self.attempts if hides else None):
            self.block([*node.body, *node.orelse])
        for handler in caught:
            with self.under(f"{EXCEPT}{kinds}"[: _LONGEST - len(TRY) + len(EXCEPT)]):
                self.block(handler.body)
        self.block(node.finalbody)

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        suppressed = [
            item.context_expr for item in node.items
            if isinstance(item.context_expr, ast.Call) and _called(item.context_expr) == "suppress"
        ]  # fmt: skip
        if not suppressed:
            self.block(node.body)
            return
        self.attempts += 1
        with self.under(ast.unparse(suppressed[0])[:_LONGEST], self.attempts):
            self.block(node.body)

    def for_(self, node: ast.For) -> None:
        outer = dict(self.constants.loop), dict(self.constants.values)
        self.constants.enter(node.target, node.iter)
        self.block([*node.body, *node.orelse])
        self.constants.loop, self.constants.values = outer

    def while_(self, node: ast.While) -> None:
        self.block([*node.body, *node.orelse])

    def match(self, node: ast.Match) -> None:
        for case in node.cases:
            with self.under(f"match {ast.unparse(node.subject)}"[:_LONGEST]):
                self.block(case.body)


_METAS = frozenset({"ABCMeta", "abc.ABCMeta"})
_READERS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Import: _Reader.import_, ast.ImportFrom: _Reader.import_from, ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function, ast.ClassDef: _Reader.class_, ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotated, ast.AugAssign: _Reader.augmented, ast.Delete: _Reader.delete,
    ast.Expr: _Reader.expression, ast.If: _Reader.if_, ast.Try: _Reader.try_, ast.TryStar: _Reader.try_,
    ast.With: _Reader.with_, ast.AsyncWith: _Reader.with_, ast.For: _Reader.for_, ast.While: _Reader.while_,
    ast.Match: _Reader.match,
}  # fmt: skip


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _imported(call: ast.Call) -> str:
    """The module that `importlib.import_module("name")` gives; "" where that is computed, or nothing is imported."""
    if dotted(call.func) not in ("importlib.import_module", "import_module") or not call.args:
        return ""
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _kinds(handler: ast.ExceptHandler) -> str:
    if handler.type is None:
        return "Exception"
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return " ".join(filter(None, map(dotted, nodes)))


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler lets the import fail after all."""
    return bool(handler.body) and isinstance(handler.body[-1], ast.Raise)
