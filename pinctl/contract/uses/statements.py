"""What the statements of a file bind, and how what is known goes from one to the next."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from pinctl.contract.uses.calls import Calls
from pinctl.contract.uses.conditions import Signs, caught, hides, is_main, is_type_checking
from pinctl.contract.uses.facts import OPAQUE, Row
from pinctl.contract.uses.frame import Columns, Known
from pinctl.contract.uses.table import below

Environment = dict[str, int]


class Statements(Calls):
    """Reads statements; those that open a scope are read by the class that is built on this one."""

    def __init__(self, known: Known, sought: Iterable[str], columns: Columns) -> None:
        super().__init__(known, sought, columns)
        self.postponed = False
        self._caught: dict[str, int] = {}
        self._after: Signs = ()
        self._exits: list[list[Environment]] = []

    def block(self, nodes: Sequence[ast.stmt]) -> bool:
        """Read statements in their order. Gives whether what follows them is never reached from their end."""
        before, ended = self.context, False
        for node in nodes:
            ended = self.statement(node)
            if ended:
                break
        self.context = before
        return ended

    def statement(self, node: ast.stmt) -> bool:
        """Read one statement; what it leaves known is round those after it."""
        reader = self.statements.get(type(node))
        ended = bool(reader(self, node)) if reader is not None else False
        self.context += self._after
        self._after = ()
        return ended

    # --- simple statements --------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _assignment(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        if isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Name):
            self._caught[node.targets[0].id] = caught([node.value], {})
        for target in node.targets:
            self.assign(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        self.annotation(node.annotation, evaluated=self.frame is self.module or self.frame.is_class)
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def annotation(self, node: ast.expr | None, *, evaluated: bool = True) -> None:
        """Read an annotation; most often it is not evaluated when the code runs (PEP 526, PEP 563)."""
        with self.within(*(() if evaluated and not self.postponed else (("typing",),))):
            self.value(node)

    def _augmented(self, node: ast.AugAssign) -> None:
        value = self.value(node.value)
        if isinstance(node.target, ast.Name):
            held = self._name(node.target)
            merges = isinstance(node.op, ast.BitOr) and self.table.mappings(held) is not None
            self.bind(node.target.id, self.merged(held, value) if merges else OPAQUE)
        else:
            self._parts(node.target)

    def assign(self, target: ast.expr, value: int) -> None:
        """Bind what stands at the left of an assignment."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            elements = self.table.elements(value) or ()
            starred = any(isinstance(element, ast.Starred) for element in target.elts)
            known = len(elements) == len(target.elts) and not starred
            for element, part in zip(target.elts, elements if known else (OPAQUE,) * len(target.elts), strict=True):
                self.assign(element, part)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, OPAQUE)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self.set_item(target, value)

    def _assign_attribute(self, target: ast.Attribute, value: int) -> None:
        base = self.handle(target.value)
        operation = self.table.operation(base)
        if operation in ("self", "def"):
            own = "()" if operation == "self" else ""
            self.bind_attribute(f"{self.table.rows[base][1]}{own}", target.attr, value)
        else:
            self.event("keep", value, target.lineno, target.col_offset)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, OPAQUE)
            elif isinstance(target, ast.Subscript):
                self.remove_item(target)

    def _assert(self, node: ast.Assert) -> None:
        self.test(node.test)
        self.value(node.msg)

    def _return(self, node: ast.Return) -> bool:
        self.give(self.value(node.value))
        return True

    def give(self, value: int) -> None:
        """Note what the function returns: also a function inside it, which may lead where its arguments do."""
        if self.table.kept(value) or self.table.operation(value) in ("def", "self"):
            self.frame.returns[value] = None

    def _raise(self, node: ast.Raise) -> bool:
        self.value(node.exc)
        self.value(node.cause)
        return True

    def _leave(self, _: ast.Break | ast.Continue) -> bool:
        if self._exits:
            self._exits[-1].append(dict(self.frame.env))
        return True

    def _global(self, node: ast.Global) -> None:
        if self.frame is not self.module:
            self.frame.globals.update(node.names)

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        self.frame.nonlocals.update(node.names)

    # --- imports ------------------------------------------------------------------------------------------------------

    def _import_modules(self, node: ast.Import) -> None:
        for alias in node.names:
            value = self.event("import", self.table.name(alias.name), alias.lineno, alias.col_offset)
            top = alias.name.partition(".")[0]
            self.bind(alias.asname or top, value if alias.asname or top == alias.name else self.table.name(top))

    def _import_names(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.postponed = self.postponed or (module == "__future__" and any(a.name == "annotations" for a in node.names))
        for alias in node.names:
            if alias.name == "*":
                self.stars[module] = None
                self.event("star", self.table.name(module), alias.lineno, alias.col_offset)
            else:
                name = self.table.name(below(module, alias.name))
                value = self.event("from", name, alias.lineno, alias.col_offset)
                self.bind(alias.asname or alias.name, value)

    # --- branches -----------------------------------------------------------------------------------------------------

    def branch(self, nodes: Sequence[ast.stmt], env: Environment, *context: Row) -> Environment | None:
        """What the variables are after a block that begins with `env`; None where its end is not reached."""
        self.frame.env = dict(env)
        with self.within(*context):
            ended = self.block(nodes)
        return None if ended else self.frame.env

    def join(self, ends: Iterable[Environment | None], *, chosen: bool = False) -> bool:
        """Go on where several blocks have ended; `chosen` where one does in place of another what that one could not.
        Gives whether none of them comes to its end."""
        reached = [env for env in ends if env is not None]
        if not reached:
            return True
        first, *others = reached
        joined = dict(first)
        for env in others:
            for name, value in env.items():
                held = joined.get(name, value)
                if held != value:
                    if chosen:
                        self.choice((held, value))
                    joined[name] = self.table.union((held, value))
                else:
                    joined[name] = value
        self.frame.env = joined
        return False

    def _if_statement(self, node: ast.If) -> bool:
        if is_type_checking(node.test):
            return self._branches(node, ((("typing",),), ()))
        if is_main(node.test) and self.frame.at_import:
            self.frame.at_import = False
            ended = self._branches(node, ((), ()))
            self.frame.at_import = True
            return ended
        return self._branches(node, self.test(node.test))

    def _branches(self, node: ast.If, signs: tuple[Signs, Signs]) -> bool:
        holds, fails = signs
        before = self.frame.env
        then = self.branch(node.body, before, *holds)
        other = self.branch(node.orelse, before, *fails)
        if self.join((then, other), chosen=bool(holds or fails)):
            return True
        if then is None:
            self._after = _known_after(node.body, fails)
        elif other is None:
            self._after = _known_after(node.orelse, holds)
        return False

    def _match(self, node: ast.Match) -> bool:
        self.value(node.subject)
        before = self.frame.env
        ends: list[Environment | None] = [before]
        for case in node.cases:
            self.frame.env = dict(before)
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchValue | ast.MatchClass):
                    self.value(part.value if isinstance(part, ast.MatchValue) else part.cls)
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.bind(name, OPAQUE)
            holds = self.test(case.guard)[0] if case.guard is not None else ()
            ends.append(self.branch(case.body, self.frame.env, *holds))
        return self.join(ends)

    # --- loops --------------------------------------------------------------------------------------------------------

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        elements = self.rounds(self.value(node.iter))
        before, context = dict(self.frame.env), self.context
        self._exits.append([])
        ended = False
        for element in elements or (OPAQUE,):
            self.assign(node.target, element)
            for statement in node.body:
                ended = self.statement(statement)
                if ended:
                    break
            if ended and not self._exits[-1]:
                break
        self.context = context
        ends = [*self._exits.pop(), *(() if ended else (self.frame.env,))]
        self.join(ends if elements and ends else [before, *ends])
        return self.block(node.orelse)

    def _while(self, node: ast.While) -> bool:
        holds, _ = self.test(node.test)
        before = self.frame.env
        self._exits.append([])
        end = self.branch(node.body, before, *holds)
        self.join([before, *self._exits.pop(), end])
        return self.block(node.orelse)

    # --- exceptions ---------------------------------------------------------------------------------------------------

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        mask = 0
        for handler in node.handlers:
            mask |= caught([handler.type], self._caught) if hides(handler) else 0
        before, first = self.frame.env, len(self.events)
        body = self.branch(node.body, before, *((("try", mask),) if mask else ()))
        last = len(self.events)
        if body is not None and node.orelse:
            body = self.branch(node.orelse, body)
        ends = [body]
        for handler in node.handlers:
            self.value(handler.type)
            begun = dict(before) | ({} if handler.name is None else {handler.name: OPAQUE})
            context = ("handler", first, last, caught([handler.type], self._caught) if hides(handler) else 0)
            ends.append(self.branch(handler.body, begun, context))
        ended = self.join(ends, chosen=True)
        return self.block(node.finalbody) or ended

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        mask = 0
        for item in node.items:
            value = self.value(item.context_expr)
            mask |= self._suppressed(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        with self.within(*((("try", mask),) if mask else ())):
            return self.block(node.body) and not mask

    def _suppressed(self, node: ast.expr) -> int:
        """What `contextlib.suppress` and `pytest.raises` catch."""
        if not isinstance(node, ast.Call):
            return 0
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        return caught(node.args, self._caught) if name in ("suppress", "raises") else 0

    statements: Mapping[type[ast.stmt], Callable[..., bool | None]] = {
        ast.Expr: _expression, ast.Assign: _assignment, ast.AnnAssign: _annotated, ast.AugAssign: _augmented,
        ast.Import: _import_modules, ast.ImportFrom: _import_names, ast.If: _if_statement, ast.For: _for,
        ast.AsyncFor: _for, ast.While: _while, ast.Try: _try, ast.TryStar: _try, ast.With: _with,
        ast.AsyncWith: _with, ast.Return: _return, ast.Raise: _raise, ast.Break: _leave, ast.Continue: _leave,
        ast.Global: _global, ast.Nonlocal: _nonlocal, ast.Delete: _delete, ast.Assert: _assert, ast.Match: _match,
    }  # fmt: skip
    """How statements are read; each tells whether what follows it is never reached."""


def _known_after(nodes: Sequence[ast.stmt], signs: Signs) -> Signs:
    """What is known after a branch that does not come to its end: where it raises, nobody was spared an error."""
    raises = isinstance(nodes[-1], ast.Raise)
    return tuple(sign for sign in signs if not (raises and sign[0] == "has"))
