"""What the expressions of a file may be, and what they do with it."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from pinctl.contract.uses.conditions import Conditions, Signs
from pinctl.contract.uses.facts import OPAQUE, Row
from pinctl.contract.uses.frame import Columns, Frame, Known

_MOST_ROUNDS = 2000
"""Rounds of loops over known elements that are followed one by one, in one file."""

Code = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef
Pending = tuple[Code, str, Frame, tuple[Row, ...]]
"""A function whose code is still to be read: it, its scope, the frame and the context in which it is defined."""


class Expressions(Conditions):
    """Evaluates expressions; calls and statements are read by the classes that are built on this one."""

    def __init__(self, known: Known, sought: Iterable[str], columns: Columns) -> None:
        super().__init__(known, sought, columns)
        self.pending: list[Pending] = []
        self._taken = 0

    def value(self, node: ast.expr | None) -> int:
        """What an expression may be. What it reads is written down."""
        if node is None:
            return OPAQUE
        reader = self.readers.get(type(node))
        return self._parts(node) if reader is None else reader(self, node)

    def handle(self, node: ast.expr) -> int:
        """As `value`, of an expression that something is done with: that is written down, not its reading."""
        if isinstance(node, ast.Attribute):
            return self.table.attribute(self.handle(node.value), node.attr)
        return self.value(node)

    def _parts(self, node: ast.AST) -> int:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return OPAQUE

    # --- names and literals -------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> int:
        found = self.lookup(node.id)
        return OPAQUE if found is None else found

    def _attribute(self, node: ast.Attribute) -> int:
        value = self.handle(node)
        if self.table.own(value):
            return value
        return self.event("read", value, node.lineno, node.col_offset)

    def _await(self, node: ast.Await) -> int:
        return self.value(node.value)

    def _constant(self, node: ast.Constant) -> int:
        return self.text(node, node.value) if isinstance(node.value, str) else OPAQUE

    def _folded(self, node: ast.expr) -> int:
        text = self.fold(node)
        return self._parts(node) if text is None else self.text(node, text)

    def text(self, node: ast.expr, text: str) -> int:
        """A string literal, where it may be a name."""
        column = self.columns.of(node.lineno, node.col_offset)
        return self.table.text(text, node.lineno, column, at_import=self.frame.at_import)

    def fold(self, node: ast.expr) -> str | None:
        """The text that an expression of string literals is; None where it is more than that."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.table.literal(self._name(node))
        if isinstance(node, ast.FormattedValue):
            return self.fold(node.value) if node.conversion == -1 and node.format_spec is None else None
        parts: Sequence[ast.expr] = ()
        if isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = (node.left, node.right)
        texts = [self.fold(part) for part in parts]
        return "".join(text for text in texts if text is not None) if texts and None not in texts else None

    # --- choices ------------------------------------------------------------------------------------------------------

    def _boolean(self, node: ast.BoolOp) -> int:
        """`a or b`: b is tried where a is missing; `a and b`: b is asked for where a is there."""
        known: Signs = ()
        values = []
        for operand in node.values:
            with self.within(*known):
                if operand is node.values[-1]:
                    values.append(self.value(operand))
                elif isinstance(operand, ast.UnaryOp | ast.Compare | ast.BoolOp):
                    known += self.test(operand)[isinstance(node.op, ast.Or)]
                else:
                    value = self.checked(operand)
                    values.append(value)
                    sign = "has" if isinstance(node.op, ast.And) else "not"
                    known += ((sign, value),) if self.table.kept(value) else ()
        if isinstance(node.op, ast.Or):
            self.choice(values)
        return self.table.union(values)

    def _if(self, node: ast.IfExp) -> int:
        holds, fails = self.test(node.test)
        with self.within(*holds):
            first = self.value(node.body)
        with self.within(*fails):
            second = self.value(node.orelse)
        if holds or fails:
            self.choice((first, second))
        return self.table.union((first, second))

    def _walrus(self, node: ast.NamedExpr) -> int:
        value = self.value(node.value)
        self.bind(node.target.id, value)
        return value

    # --- functions and loops inside expressions -----------------------------------------------------------------------

    def _lambda(self, node: ast.Lambda) -> int:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            self.value(default)
        return self.define(node, f"<lambda {node.lineno}:{node.col_offset}>", kept=self.concerns(node))

    def define(self, node: Code, name: str, *, kept: bool) -> int:
        """Put off the code of a function, which runs later, and give what it is."""
        scope = f"{self.frame.scope}.{name}".removeprefix(".")
        lasting = tuple(entry for entry in self.context if entry[0] not in ("try", "handler"))
        self.pending.append((node, scope, self.frame, lasting))
        return self.table.row("def", scope, kept=kept)

    def concerns(self, node: Code) -> bool:
        """Whether the code of a function may lead to what is looked for."""
        raise NotImplementedError

    def rounds(self, iterated: int) -> tuple[int, ...] | None:
        """The elements that a loop takes one by one; None where they are not known, or too many."""
        elements = self.table.elements(iterated)
        self._taken += len(elements or ())
        return elements if elements and self._taken <= _MOST_ROUNDS else None

    def assign(self, target: ast.expr, value: int) -> None:
        """Bind what stands at the left of an assignment."""
        raise NotImplementedError

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> int:
        before = dict(self.frame.env)
        made: list[tuple[str | None, int]] = []
        known = self._generate(node, 0, made)
        self.frame.env = before
        if isinstance(node, ast.DictComp):
            entries = {key: value for key, value in made if key is not None}
            return self.table.mapping(entries, more=not known or len(entries) < len(made))
        return self.table.display([value for _, value in made]) if known else OPAQUE

    def _generate(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, depth: int,
        made: list[tuple[str | None, int]],
    ) -> bool:  # fmt: skip
        """Evaluate what a comprehension makes, into `made`, for its generators from `depth` on. Gives whether all its
        elements are known."""
        if depth == len(node.generators):
            if isinstance(node, ast.DictComp):
                made.append((self.fold(node.key), self.value(node.value)))
                self.value(node.key)
            else:
                made.append((None, self.value(node.elt)))
            return True
        generator = node.generators[depth]
        iterated = self.value(generator.iter)
        elements = self.rounds(iterated)
        known = elements is not None
        for element in elements or (OPAQUE,):
            self.assign(generator.target, element)
            holds: Signs = ()
            for condition in generator.ifs:
                with self.within(*holds):
                    holds += self.test(condition)[0]
            with self.within(*holds):
                known = self._generate(node, depth + 1, made) and known
        return known

    readers: Mapping[type[ast.expr], Callable[..., int]] = {
        ast.Name: _name, ast.Attribute: _attribute, ast.Constant: _constant, ast.JoinedStr: _folded,
        ast.BinOp: _folded, ast.BoolOp: _boolean, ast.IfExp: _if, ast.NamedExpr: _walrus, ast.Lambda: _lambda,
        ast.Await: _await, ast.ListComp: _comprehension, ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension, ast.DictComp: _comprehension,
    }  # fmt: skip
    """How expressions are evaluated; those of other kinds by evaluating their parts."""
