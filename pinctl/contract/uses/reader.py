"""Reads one consumer file: what it asks for, and of whom."""

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, compress

from pinctl.contract.uses.expressions import Code
from pinctl.contract.uses.facts import OPAQUE, Facts, Function, Given, Row
from pinctl.contract.uses.frame import Columns, Frame, Known
from pinctl.contract.uses.statements import Statements

LARGEST = 1024 * 1024
"""Bytes of a file that is read: its syntax tree takes some hundred for each."""

_MOST_READINGS = 12
_MANY = 100
_WORD = re.compile(r"[^\W\d]\w*")


class Source:
    """A file that can be read several times, for the cost of parsing it once."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._lines: dict[str, list[int]] = {}
        self._all: dict[str, list[int]] | None = None
        self._parsed: tuple[str, ast.Module, list[int]] | None = None

    def facts(self, words: Iterable[str]) -> Facts:
        """What the file says of the names `words`; a word with `()` at its end is a function of the file that is given
        what is looked for. A file that cannot be read gives the reason."""
        sought = tuple(sorted(words))
        if len(self._source) > LARGEST:
            return Facts(sought, failure=f"it has {len(self._source)} bytes, more than {LARGEST}")
        try:
            return self._facts(sought)
        except UnicodeDecodeError as error:
            return Facts(sought, failure=f"it is not UTF-8 at byte {error.start}")
        except SyntaxError as error:
            return Facts(sought, failure=f"line {error.lineno or 1}: it is no Python: {error.msg}")
        except ValueError as error:
            return Facts(sought, failure=f"it is no Python: {error}")
        except (RecursionError, MemoryError):
            return Facts(sought, failure="it is nested too deeply")

    def _facts(self, words: Sequence[str]) -> Facts:
        """Read the file until nothing more is found to lead to what is looked for. Raises what `ast.parse` raises."""
        text, tree, _ = self._parse()
        sought = {word.removesuffix("()") for word in words}
        called = {word.removesuffix("()") for word in words if word.endswith("()")}
        known, facts = Known(set(sought)), Facts()
        for _ in range(_MOST_READINGS):
            size = known.size()
            facts = Reader(known, sought, Columns(text), self.lines, called).read(tree)
            if known.size() == size:
                break
        return facts

    def _parse(self) -> tuple[str, ast.Module, list[int]]:
        """The text of the file, with the line ends that `ast` counts; its syntax; where its lines end."""
        if self._parsed is None:
            text = self._source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
            ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
            self._parsed = text, ast.parse(text), ends
        return self._parsed

    def lines(self, word: str) -> Sequence[int]:
        """The lines, from 1, on which a name stands."""
        if len(self._lines) > _MANY:
            return self._index().get(word, ())
        if word not in self._lines:
            text, _, ends = self._parse()
            found, at = list[int](), text.find(word)
            while at >= 0:
                end = at + len(word)
                if not (_is_of_name(text[at - 1 : at]) or _is_of_name(text[end : end + 1])):
                    found.append(bisect_right(ends, at) + 1)
                at = text.find(word, end)
            self._lines[word] = found
        return self._lines[word]

    def _index(self) -> Mapping[str, Sequence[int]]:
        """The lines of all names: quicker than to look for a great many."""
        if self._all is None:
            self._all = {}
            for number, line in enumerate(self._parse()[0].split("\n"), 1):
                for word in _WORD.findall(line):
                    self._all.setdefault(word, []).append(number)
        return self._all


def _is_of_name(character: str) -> bool:
    return character.isalnum() or character == "_"


class Reader(Statements):
    """Reads a file once. Functions that cannot lead to what is looked for are passed over: none of its names, which
    `lines` gives the lines of, stands in them, and nothing of it is given to them."""

    def __init__(
        self, known: Known, sought: Iterable[str], columns: Columns, lines: Callable[[str], Sequence[int]],
        called: Iterable[str],
    ) -> None:  # fmt: skip
        super().__init__(known, sought, columns)
        self._lines = lines
        self._called = frozenset(called)
        self._hits: list[int] = []

    def read(self, tree: ast.Module) -> Facts:
        """What the file says."""
        self._find()
        self.block(tree.body)
        while True:
            self._find()
            hot = {scope for scope, _ in self.known.hot}
            ready = [self._is_inside(one[2]) or one[1] in hot or self.concerns(one[0]) for one in self.pending]
            if not any(ready):
                break
            before = self.pending
            self.pending = [one for one, now in zip(before, ready, strict=True) if not now]
            for one in compress(before, ready):
                self._code(*one)
        self.keep_bindings(self.module)
        return self.facts()

    # --- what is read -------------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Find the lines that hold a name that leads to what is looked for."""
        self._hits = sorted({line for word in self.table.words for line in self._lines(word)})

    def concerns(self, node: Code) -> bool:
        """Whether a name that leads to what is looked for stands in the code of a function."""
        at = bisect_left(self._hits, node.lineno)
        return at < len(self._hits) and self._hits[at] <= (node.end_lineno or node.lineno)

    def _is_inside(self, frame: Frame) -> bool:
        """Whether what is defined in a scope is inside a function."""
        return frame is not self.module and not frame.is_class

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [self._decorator(decorator) for decorator in node.decorator_list]
        kept = node.name in self.table.words or (self._is_inside(self.frame) and self.concerns(node))
        function = self.define(node, node.name, kept=kept)
        scope = self.pending[-1][1]
        self._defaults(node, scope)
        if self.concerns(node):
            for annotation in (*(argument.annotation for argument in _arguments(node.args)), node.returns):
                self.annotation(annotation)
        names = _positional(node.args)[self._is_method(node) :]
        self.signatures[scope] = (scope, names)
        if node.name == "__init__":
            self.signatures[self.frame.scope] = (scope, names)
        is_property = not {"property", "cached_property"}.isdisjoint(decorators)
        self.bind(node.name, self.table.row("call", function, OPAQUE, kept=kept) if is_property else function)

    def _decorator(self, node: ast.expr) -> str:
        """Read a decorator, which is called with what it decorates. Gives its last name."""
        if isinstance(node, ast.Call):
            self.value(node)
            return ""
        callee = self.handle(node)
        if self.table.kept(callee):
            self.call(callee, node, Given(1, args=(OPAQUE,)))
        return str(getattr(node, "attr", None) or getattr(node, "id", ""))

    def _defaults(self, node: Code, scope: str) -> None:
        """Evaluate the defaults of a function, which its parameters then may be."""
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        pairs = list(zip(names[len(names) - len(node.args.defaults) :], node.args.defaults, strict=True))
        pairs += [(a.arg, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
        for name, default in pairs:
            value = self.value(default)
            if self.table.kept(value) and self.table.operation(value) != "text":
                self.known.hot.add((scope, name))
                self.attributes.setdefault(scope, {}).setdefault(name, {})[value] = None

    def _is_method(self, node: Code) -> bool:
        decorators = getattr(node, "decorator_list", ())
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)
        return self.frame.is_class and not static and not isinstance(node, ast.Lambda)

    def _is_of_class(self, node: Code) -> bool:
        decorators = getattr(node, "decorator_list", ())
        return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in decorators)

    def _class(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator)
        bases = [self.value(base) for base in node.bases]
        for keyword in node.keywords:
            self.value(keyword.value)
        outer = self.frame
        scope = f"{outer.scope}.{node.name}".removeprefix(".")
        self.frame = Frame(scope, outer.at_import, outer, is_class=True)
        self.block(node.body)
        self.keep_bindings(self.frame)
        self.frame = outer
        self.classes[scope] = tuple(bases)
        self.bind(node.name, self.table.row("def", scope, kept=node.name in self.table.words))

    def _code(self, node: Code, scope: str, outer: Frame, context: tuple[Row, ...]) -> None:
        """Read the code of a function."""
        self.frame, self.context = outer, context
        method = self._is_method(node)
        self.frame = frame = Frame(
            scope, at_import=False, outer=outer, parameters=_positional(node.args),
            keyword_only=tuple(argument.arg for argument in node.args.kwonlyargs),
        )  # fmt: skip
        self._bind_parameters(node, frame, outer, method=method)
        if isinstance(node, ast.Lambda):
            self.give(self.value(node.body))
        else:
            self.block(node.body)
        self.keep_bindings(frame)
        skips = method and self._is_of_class(node)  # its class is given by whatever it is called through
        self.functions[scope] = Function(
            frame.parameters[skips:], frame.keyword_only, tuple(frame.returns), method and not skips
        )
        self._export(node, frame, outer)
        self.frame, self.context = self.module, ()

    def _bind_parameters(self, node: Code, frame: Frame, outer: Frame, *, method: bool) -> None:
        every = getattr(node, "name", "") in self._called
        for name in (*frame.parameters, *frame.keyword_only):
            hot = every or (frame.scope, name) in self.known.hot
            self.bind(name, self.table.row("var", frame.scope, name, kept=hot))
        if method and frame.parameters:
            kind = "def" if self._is_of_class(node) else "self"
            self.bind(frame.parameters[0], self.table.row(kind, outer.scope, kept=False))
        if node.args.vararg is not None:
            self.bind(node.args.vararg.arg, self.table.row("rest", kept=False))
        if node.args.kwarg is not None:
            self.bind(node.args.kwarg.arg, self.table.row("keywords", (), kept=False))

    def _export(self, node: Code, frame: Frame, outer: Frame) -> None:
        """Look for the name of a function that gives what is looked for, or hands its arguments on to it. Methods that
        only call it are so many, under names so common, that these would lead everywhere."""
        if isinstance(node, ast.Lambda) or not (outer is self.module or outer.is_class):
            return
        kept = [value for value in frame.returns if self.table.kept(value)]
        gives = any(self.table.operation(value) != "call" for value in kept)
        if frame.hands_on or gives or (outer is self.module and (frame.matters or kept)):
            self.table.words.add(node.name)

    statements: Mapping[type[ast.stmt], Callable[..., bool | None]] = {
        **Statements.statements, ast.FunctionDef: _function, ast.AsyncFunctionDef: _function, ast.ClassDef: _class,
    }  # fmt: skip


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _positional(arguments: ast.arguments) -> tuple[str, ...]:
    return tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args))
