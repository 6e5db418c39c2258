"""What tests and `except` clauses say of the values round them."""

import ast
from collections.abc import Iterable, Mapping

from pinctl.contract.uses.facts import ATTRIBUTE, BROAD, IMPORT, MODULE, RUNTIME, TYPE, Row
from pinctl.contract.uses.frame import Scribe

Signs = tuple[Row, ...]
"""What is known of values: ("has", value) where one is there, ("not", value) where one is missing."""

_ALL = MODULE | IMPORT | ATTRIBUTE | TYPE | RUNTIME | BROAD
_CAUGHT: Mapping[str, int] = {
    "ModuleNotFoundError": MODULE, "ImportError": MODULE | IMPORT, "AttributeError": ATTRIBUTE, "TypeError": TYPE,
    "RuntimeError": RUNTIME, "Exception": _ALL, "BaseException": _ALL,
}  # fmt: skip
_TRUTH = frozenset({"callable", "bool"})


class Conditions(Scribe):
    """Reads tests. `value` is given by the class that is built on this one."""

    def value(self, node: ast.expr | None) -> int:
        """What an expression may be."""
        raise NotImplementedError

    def test(self, node: ast.expr) -> tuple[Signs, Signs]:
        """What is known where a test holds, and where it does not."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            holds, fails = self.test(node.operand)
            return fails, holds
        if isinstance(node, ast.BoolOp):
            return self._both(node)
        if (inner := _of_none(node)) is not None:
            there, missing = self.test(inner)
            return (there, missing) if isinstance(node.ops[0], ast.IsNot | ast.NotEq) else (missing, there)  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and len(node.args) == 1 and _name(node.func) in _TRUTH:
            return self.test(node.args[0])
        value = self.checked(node)
        return ((("has", value),), (("not", value),)) if self.table.kept(value) else ((), ())

    def _both(self, node: ast.BoolOp) -> tuple[Signs, Signs]:
        """`a and b`: what a says is known in b, and both where all holds; with `or` where all fails."""
        known: Signs = ()
        for operand in node.values:
            with self.within(*known):
                holds, fails = self.test(operand)
            known += holds if isinstance(node.op, ast.And) else fails
        return (known, ()) if isinstance(node.op, ast.And) else ((), known)

    def checked(self, node: ast.expr) -> int:
        """The value of an expression whose truth is asked for."""
        value = self.value(node)
        if self.table.operation(value) != "probe":
            self.event("check", value, node.lineno, node.col_offset)
        return value


def _of_none(node: ast.expr) -> ast.expr | None:
    """What is compared with None; None where nothing is."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    other = node.comparators[0]
    compares = isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq)
    return node.left if compares and isinstance(other, ast.Constant) and other.value is None else None


def _name(node: ast.expr | None) -> str:
    """The last part of a dotted name, "" of anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def caught(nodes: Iterable[ast.expr | None], aliases: Mapping[str, int]) -> int:
    """What clauses that name these exceptions catch; None is a bare `except`. `aliases` are tuples held in a name."""
    found = 0
    for node in nodes:
        if isinstance(node, ast.Tuple):
            found |= caught(node.elts, aliases)
        else:
            found |= _ALL if node is None else _CAUGHT.get(_name(node), aliases.get(_name(node), 0))
    return found


def hides(handler: ast.ExceptHandler) -> bool:
    """Whether a handler goes on as if nothing was wrong: it does not end by raising again."""
    return not isinstance(handler.body[-1], ast.Raise)


def is_type_checking(test: ast.expr) -> bool:
    """Whether a test is `TYPE_CHECKING`: never so when the code runs."""
    return _name(test) == "TYPE_CHECKING"


def is_main(test: ast.expr) -> bool:
    """Whether a test is `__name__ == "__main__"`: not so when the file is imported."""
    return isinstance(test, ast.Compare) and any(_name(side) == "__name__" for side in (test.left, *test.comparators))
