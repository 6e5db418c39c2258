"""What the calls of a file do, and what they may return."""

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence

from pinctl.contract.uses.containers import Containers
from pinctl.contract.uses.facts import OPAQUE, Given
from pinctl.contract.uses.frame import Columns, Known

_BUILTINS = frozenset(dir(builtins))
_MOST_KEYWORDS = 256
_SAME = ("functools.cache", "functools.lru_cache", "typing.cast", "staticmethod", "classmethod", "list", "tuple")
"""Functions that give back what they are given last."""
_HARMLESS = _BUILTINS | {"functools.wraps", "functools.update_wrapper"}
_PATCHES = frozenset({"patch", "object", "setattr", "delattr", "resolve_name", "spy"})
"""The last names of functions that look an attribute up by its whole name, or by its owner and its name."""
_NO_NUMBERS = (
    ast.Compare, ast.UnaryOp, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.ListComp,
)  # fmt: skip


class Calls(Containers):
    """Evaluates calls. `signatures` are the functions of the file by what calls them: the scope of their code, and
    their parameters by position."""

    def __init__(self, known: Known, sought: Iterable[str], columns: Columns) -> None:
        super().__init__(known, sought, columns)
        self.signatures: dict[str, tuple[str, tuple[str, ...]]] = {}

    def _call(self, node: ast.Call) -> int:
        func = node.func
        if isinstance(func, ast.Attribute):
            base = self.handle(func.value)
            callee = self.table.attribute(base, func.attr)
            if (done := self.method(node, func, base)) is not None:
                return done
        else:
            callee = self.value(func)
        spelled = self.table.dotted(callee)
        if not spelled and isinstance(func, ast.Name) and self.lookup(func.id) is None:
            spelled = func.id
        if spelled in self._known and (node.args or spelled == "dict"):
            return self._known[spelled](self, node)
        if (getattr(func, "attr", None) or getattr(func, "id", None)) in _PATCHES:
            self._patch(node, raises=spelled != "setattr")
            return self.evaluated(node)
        return self._plain(node, callee, harmless=spelled in _HARMLESS)

    def _plain(self, node: ast.Call, callee: int, *, harmless: bool) -> int:
        """A call of which only the arguments are known."""
        variants = self._given(node)
        first = variants[0]
        kept = [value for value in (*first.args, *first.named) if self.table.kept(value)]
        if harmless:
            return OPAQUE
        for value in kept if self.table.operation(callee) not in ("name", "def", "var") else ():
            self.event("pass", value, node.lineno, node.col_offset)
        leads = self.table.kept(callee) or bool(kept and self.table.operation(callee) in ("name", "def"))
        if not leads and self.table.operation(callee) != "def":
            return OPAQUE
        number = len(self.events)
        for given in variants:
            self.call(callee, node, given)
        return self.table.row("call", callee, number, kept=True) if leads else OPAQUE

    def call(self, callee: int, node: ast.expr, given: Given) -> None:
        """Write down that `callee` is called."""
        if self.table.kept(callee):
            self.frame.hands_on = self.frame.hands_on or given.own_rest or given.own_keywords
            self.frame.matters = self.frame.matters or given.passes
        self._heat(callee, given)
        self.event("call", callee, node.lineno, node.col_offset, given=given, forced=True)

    def _heat(self, callee: int, given: Given) -> None:
        """Remember which parameters of a function of this file are given what is looked for."""
        scope, names = self.signatures.get(self.table.own(callee), ("", ()))
        given_to = (*zip(names, given.args, strict=False), *zip(given.keywords, given.named, strict=True))
        if scope:
            self.known.hot.update((scope, name) for name, value in given_to if self.table.kept(value))

    # --- arguments ----------------------------------------------------------------------------------------------------

    def _given(self, node: ast.Call) -> list[Given]:
        """The arguments of a call: once for each set of keywords that a `**x` in it may stand for."""
        variants = [self._positional(node.args)]
        if len(node.keywords) > _MOST_KEYWORDS:
            self.evaluated(node)
            return [variants[0]._replace(keyword_rest=True)]
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is None:
                variants = [two for one in variants for two in self._spread(one, value)]
                continue
            zero = (keyword.arg,) if _swallows_zero(keyword.value) else ()
            passes = self._is_parameter(keyword.value)
            variants = [_with(one, {keyword.arg: value}, zero, passes=passes) for one in variants]
        return list(dict.fromkeys(variants))

    def _positional(self, nodes: Sequence[ast.expr]) -> Given:
        args: list[int] = []
        rest = own = passes = False
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node)
            elements = self.table.elements(value)
            if not isinstance(node, ast.Starred):
                args.append(value)
                passes = passes or self._is_parameter(node)
            elif elements is not None:
                args += elements
            else:
                own = own or self.table.operation(value) == "rest"
                rest = rest or self.table.operation(value) != "rest"
        return Given(len(args), rest=rest, args=tuple(args), own_rest=own, passes=passes)

    def _spread(self, given: Given, value: int) -> list[Given]:
        """`given` with what `**value` adds."""
        if self.table.operation(value) == "keywords":
            own = _with(given, dict.fromkeys(self.table.rows[value][1], OPAQUE))
            return [own._replace(own_keywords=True, popped=tuple(self.frame.popped))]
        maps = self.table.mappings(value) or [({}, True)]
        return [_with(given, entries)._replace(keyword_rest=given.keyword_rest or more) for entries, more in maps]

    def _is_parameter(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in (*self.frame.parameters, *self.frame.keyword_only)

    # --- attributes by their names ------------------------------------------------------------------------------------

    def _asked(self, node: ast.Call) -> int:
        """The attribute that `getattr` or `hasattr` asks for; OPAQUE where that is not known."""
        base = self.handle(node.args[0])
        asked = self.value(node.args[1]) if len(node.args) > 1 else OPAQUE
        text = self.table.literal(asked)
        if text is not None and (not self.table.kept(base) or isinstance(node.args[1], ast.Constant)):
            return self.table.attribute(base, text)
        if asked == OPAQUE or not self.table.kept(base):
            self.event("computed", base, node.lineno, node.col_offset)
            return OPAQUE
        self.frame.matters = self.frame.matters or text is None
        return self.table.row("get", base, asked, kept=True)

    def _getattr(self, node: ast.Call) -> int:
        value = self._asked(node)
        default = len(node.args) > 2
        got = self.event("read", value, node.lineno, node.col_offset, default=default)
        if not default:
            return got
        with self.within(*((("not", got),) if self.table.kept(got) else ())):
            other = self.value(node.args[2])
        self.choice((got, other))
        return got if other == OPAQUE else self.table.union((got, other))

    def _hasattr(self, node: ast.Call) -> int:
        return self._probe(node, self._asked(node))

    def _probe(self, node: ast.Call, value: int) -> int:
        self.event("probe", value, node.lineno, node.col_offset)
        return self.table.row("probe", value, kept=True) if self.table.kept(value) else OPAQUE

    def _patch(self, node: ast.Call, *, raises: bool) -> None:
        """`patch("a.b.c")`, `patch.object(b, "c")`, `monkeypatch.setattr(b, "c", x)`; the builtin `setattr` asks for
        nothing."""
        texts = [self.fold(argument) for argument in node.args[:2]]
        tolerant = any(
            isinstance(k.value, ast.Constant) and (k.arg, k.value.value) in (("create", True), ("raising", False))
            for k in node.keywords
        )
        value = OPAQUE
        if texts[:1] != [None] and texts and "." in (texts[0] or ""):
            value = self.table.name(texts[0] or "")
        elif raises and len(texts) > 1 and texts[1] is not None:
            value = self.table.attribute(self.handle(node.args[0]), texts[1])
        self.event("patch", value, node.lineno, node.col_offset, default=tolerant)

    # --- modules by their names ---------------------------------------------------------------------------------------

    def _module(self, node: ast.Call) -> int:
        """The module that the first argument names."""
        asked = self.value(node.args[0])
        for argument in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
            self.value(argument)
        text = self.table.literal(asked)
        if text is not None and (isinstance(node.args[0], ast.Constant) or not self.table.kept(asked)):
            return self.table.name(_absolute(text, self._anchor(node)) if text.startswith(".") else text)
        if self.table.operation(asked) in ("text", "var", "any"):
            self.frame.matters = True
            return self.table.row("module", asked, kept=True)
        self.event("computed", self._beginning(node.args[0]), node.lineno, node.col_offset)
        return OPAQUE

    def _beginning(self, node: ast.expr) -> int:
        """The package in which a computed name begins."""
        while isinstance(node, ast.BinOp):
            node = node.left
        text = self.fold(node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node) or ""
        return self.table.name(text.rpartition(".")[0]) if "." in text else OPAQUE

    def _anchor(self, node: ast.Call) -> str | None:
        """The package that a relative name of `import_module` is meant from; None where it is not said in letters."""
        named = next((keyword.value for keyword in node.keywords if keyword.arg == "package"), None)
        said = named or (node.args[1] if len(node.args) == 2 else None)
        return None if said is None else self.fold(said)

    def _import(self, node: ast.Call) -> int:
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        value = self._module(node)
        got = self.event("import", value, node.lineno, node.col_offset, default=name == "importorskip")
        whole = self.table.dotted(value) if name == "__import__" and not _has_fromlist(node) else ""
        return self.table.name(whole.partition(".")[0]) if whole else got

    def _find_spec(self, node: ast.Call) -> int:
        return self._probe(node, self._module(node))

    # --- functions that give what they are given ----------------------------------------------------------------------

    def _partial(self, node: ast.Call) -> int:
        callee = self.value(node.args[0])
        given = self._given(ast.Call(func=node.func, args=node.args[1:], keywords=node.keywords))[0]
        if not self.table.kept(callee):
            return OPAQUE
        return self.table.row("partial", callee, self.given.setdefault(given, len(self.given)), kept=True)

    def _same(self, node: ast.Call) -> int:
        for keyword in node.keywords:
            self.value(keyword.value)
        return [self.value(argument) for argument in node.args][-1]

    _known: Mapping[str, Callable[..., int]] = {
        "getattr": _getattr, "hasattr": _hasattr, "dict": Containers.made_dict, "functools.partial": _partial,
        "importlib.util.find_spec": _find_spec, "importlib.import_module": _import, "__import__": _import,
        "pytest.importorskip": _import, **dict.fromkeys(_SAME, _same),
    }  # fmt: skip
    readers: Mapping[type[ast.expr], Callable[..., int]] = {**Containers.readers, ast.Call: _call}


def _with(given: Given, entries: dict[str, int], zero: tuple[str, ...] = (), *, passes: bool = False) -> Given:
    """`given` with keywords added; one that it has already stays where it is."""
    added = {name: value for name, value in entries.items() if name not in given.keywords}
    return given._replace(
        keywords=(*given.keywords, *added), named=(*given.named, *added.values()), zero=(*given.zero, *zero),
        passes=given.passes or passes,
    )  # fmt: skip


def _absolute(name: str, package: str | None) -> str:
    """A relative name as seen from `package` (importlib.util.resolve_name); as it is where that is not known."""
    rest = name.lstrip(".")
    outer = (package or "").split(".")
    outer = outer[: len(outer) - (len(name) - len(rest) - 1)]
    return ".".join([*outer, rest]) if package and outer else name


def _has_fromlist(node: ast.Call) -> bool:
    """Whether `__import__` gives the module of the whole name: its fourth argument is not empty."""
    named = next((keyword.value for keyword in node.keywords if keyword.arg == "fromlist"), None)
    given = named or (node.args[3] if len(node.args) > 3 else None)
    empty = isinstance(given, ast.Tuple | ast.List) and not given.elts
    return not empty and given is not None and not (isinstance(given, ast.Constant) and not given.value)


def _swallows_zero(node: ast.expr) -> bool:
    """Whether an argument is `a or b` where a zero for a means something: none of both is a truth, text or list."""
    if not isinstance(node, ast.BoolOp) or not isinstance(node.op, ast.Or):
        return False
    texts = [value.value for value in node.values if isinstance(value, ast.Constant)]
    return not any(isinstance(value, _NO_NUMBERS) for value in node.values) and not any(
        isinstance(text, bool | str | bytes) for text in texts
    )
