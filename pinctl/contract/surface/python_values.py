"""What can be known of an expression without running it: constant lists of names, dotted names, `__all__`."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from pinctl.contract.surface.python_functions import dotted

MOST = 5000
"""Elements of a constant list that are followed."""


@dataclass(slots=True)
class Constants:
    """The lists of strings and the dictionaries that a module has as constants, by name; `loop` holds what the
    variables of the loops around a statement stand for, one element a turn."""

    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Mapping[str, ast.expr]] = field(default_factory=dict)
    loop: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, tuple[ast.expr, ...]] = field(default_factory=dict)

    def learn(self, name: str, value: ast.expr) -> None:
        """Take in `name = value`."""
        self.lists.pop(name, None)
        self.tables.pop(name, None)
        if (table := _table(value)) is not None:
            self.tables[name] = table
        elif (strings := self.strings(value)) is not None:
            self.lists[name] = strings

    def strings(self, node: ast.expr) -> tuple[str, ...] | None:
        """The strings that iterating over `node` gives; None where that is not known."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._elements(node)
        if isinstance(node, ast.Name):
            table = self.tables.get(node.id)
            return tuple(table) if table is not None else self.lists.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.strings(node.left), self.strings(node.right)
            return None if left is None or right is None else (*left, *right)
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            wraps = dotted(node.func) in ("list", "tuple", "set", "sorted", "frozenset", "reversed")
            return self.strings(node.args[0]) if wraps else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            return self.strings(node.func.value) if node.func.attr in ("keys", "copy") else self._split(node)
        table = _table(node)
        return None if table is None else tuple(table)

    def _split(self, node: ast.Call) -> tuple[str, ...] | None:
        """`"a b c".split()`"""
        held = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "split" else None
        return tuple(held.value.split()) if isinstance(held, ast.Constant) and isinstance(held.value, str) else None

    def _elements(self, node: ast.List | ast.Tuple | ast.Set) -> tuple[str, ...] | None:
        found: list[str] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.strings(element.value)
                if inner is None:
                    return None
                found += inner
            elif isinstance(element, ast.Constant) and isinstance(element.value, str):
                found.append(element.value)
            else:
                return None
        return tuple(found[:MOST])

    def names(self, node: ast.expr) -> tuple[str, ...] | None:
        """The strings that `node` is in the turns of the loop around it; one where it is a constant."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return (node.value,)
        if isinstance(node, ast.Name):
            return self.loop.get(node.id)
        if not isinstance(node, ast.JoinedStr):
            return None
        made: tuple[str, ...] = ("",)
        for part in node.values:
            inner = self.names(part.value if isinstance(part, ast.FormattedValue) else part)
            if inner is None or (len(inner) != len(made) and 1 not in (len(inner), len(made))):
                return None
            size = max(len(made), len(inner))
            made = tuple(a + b for a, b in zip(_spread(made, size), _spread(inner, size), strict=True))
        return made

    def enter(self, target: ast.expr, over: ast.expr) -> bool:
        """Begin a loop `for target in over`; False where what it goes over is not known."""
        if isinstance(target, ast.Name):
            strings = self.strings(over)
            if strings is not None:
                self.loop[target.id] = strings
            return strings is not None
        pairs = self._pairs(over) if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
        if pairs is None or not isinstance(target, ast.Tuple):
            return False
        key, value = target.elts
        if isinstance(key, ast.Name) and isinstance(value, ast.Name):
            self.loop[key.id] = tuple(pairs)
            self.values[value.id] = tuple(pairs.values())
        return True

    def _pairs(self, over: ast.expr) -> Mapping[str, ast.expr] | None:
        """`TABLE.items()` or `[("a", f), ("b", g)]`"""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "items":
            held = over.func.value
            return self.tables.get(held.id) if isinstance(held, ast.Name) else _table(held)
        if not isinstance(over, ast.List | ast.Tuple):
            return None
        found: dict[str, ast.expr] = {}
        for element in over.elts:
            if not (isinstance(element, ast.Tuple) and len(element.elts) == 2):
                return None
            key, value = element.elts
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                return None
            found[key.value] = value
        return found

    def sources(self, node: ast.expr, turns: int) -> tuple[str, ...]:
        """What `node` is another name of in each turn of a loop; "" where it is a value of its own."""
        if isinstance(node, ast.Name) and node.id in self.values:
            return _spread(tuple(map(alias, self.values[node.id])), turns)
        if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) >= 2:
            held, names = dotted(node.args[0]), self.names(node.args[1])
            if held and names is not None:
                return _spread(tuple(f"{held}.{name}" for name in names), turns)
        return _spread((alias(node),), turns)


def _spread(values: tuple[str, ...], size: int) -> tuple[str, ...]:
    return values if len(values) == size else values[:1] * size


def alias(node: ast.expr) -> str:
    """The dotted name that `node` is another name of: `a.b`, `getattr(a, "b")`; "" for a value of its own."""
    if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) >= 2:
        held, name = dotted(node.args[0]), node.args[1]
        leaf = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
        return f"{held}.{leaf}" if held and leaf.isidentifier() else ""
    return dotted(node)


def _table(node: ast.expr) -> Mapping[str, ast.expr] | None:
    """A dictionary whose keys are strings."""
    if not isinstance(node, ast.Dict) or len(node.keys) > MOST:
        return None
    keys = [k.value if isinstance(k, ast.Constant) and isinstance(k.value, str) else None for k in node.keys]
    return None if None in keys else {key or "": value for key, value in zip(keys, node.values, strict=True)}


def exports(node: ast.expr, constants: Constants) -> tuple[str, ...] | None:
    """What a value of `__all__` holds: names, `=module` for another module's `__all__`; None where it is computed."""
    if isinstance(node, ast.Attribute) and node.attr == "__all__":
        held = dotted(node.value)
        return (f"={held}",) if held else None
    if isinstance(node, ast.Name) and node.id == "__all__":
        return ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = exports(node.left, constants), exports(node.right, constants)
        return None if left is None or right is None else (*left, *right)
    if isinstance(node, ast.List | ast.Tuple) and any(isinstance(e, ast.Starred) for e in node.elts):
        parts = [exports(e.value if isinstance(e, ast.Starred) else ast.Tuple(elts=[e]), constants) for e in node.elts]
        return None if None in parts else tuple(name for part in parts for name in part or ())
    if isinstance(node, ast.Call) and dotted(node.func) in ("list", "tuple", "sorted") and len(node.args) == 1:
        return exports(node.args[0], constants)
    return constants.strings(node)
