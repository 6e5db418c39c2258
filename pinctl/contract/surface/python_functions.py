"""The signatures that Python source gives: of functions, of generated constructors, and of what a decorator returns."""

import ast
from collections.abc import Iterator

from pinctl.contract.model import Kind, Parameter, Signature
from pinctl.contract.surface.spelling import python_type

_DEFERRED = "..."
"""Stands for a default that is made by a call (`field(default_factory=list)`)."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text; "" for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join((node.id, *reversed(parts)))


def default(node: ast.expr) -> str:
    """A default value in one spelling."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, complex):
        return "..." if node.value is ... else repr(node.value)
    return dotted(node) or ast.unparse(node)


def signature(args: ast.arguments, *, skip: int = 0) -> Signature:
    """The signature of a function, without its first `skip` parameters."""
    plain = [*args.posonlyargs, *args.args]
    values: list[ast.expr | None] = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    found = [
        _parameter(arg, Kind.POSITIONAL if number < len(args.posonlyargs) else Kind.EITHER, value)
        for number, (arg, value) in enumerate(zip(plain, values, strict=True))
    ][skip:]
    if args.vararg:
        found.append(_parameter(args.vararg, Kind.REST, None))
    found += [_parameter(a, Kind.KEYWORD, v) for a, v in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        found.append(_parameter(args.kwarg, Kind.KEYWORD_REST, None))
    return Signature(tuple(found))


def _parameter(arg: ast.arg, kind: Kind, value: ast.expr | None) -> Parameter:
    return Parameter(arg.arg, kind, None if value is None else default(value), python_type(arg.annotation))


# --- decorators ----------------------------------------------------------------------------------------------------


def decorators(node: Function | ast.ClassDef) -> tuple[str, ...]:
    """The dotted names of the decorators, the outermost first; "?" for one that has no such name."""
    return tuple(dotted(d.func if isinstance(d, ast.Call) else d) or "?" for d in node.decorator_list)


def keeps(node: Function) -> tuple[Parameter, ...] | None:
    """Of a function that is used as a decorator, the parameters that it adds to those of what it decorates; None where
    what it returns is not known to take the same.

    It takes the same where it returns its argument, or an inner function of `*args, **kwargs`; that function's own
    parameters are added, and the keywords that it takes out of `kwargs`.
    """
    inner = list(_inner(node))
    if any(_returns(function) for function in (node, *inner)):
        return ()
    wrappers = [f for f in inner if f.args.vararg and f.args.kwarg]
    return _added(wrappers[-1]) if wrappers else None


def _inner(node: Function) -> Iterator[Function]:
    """The functions that are defined in a function, however deep in its statements."""
    waiting: list[ast.stmt] = list(node.body)
    while waiting:
        statement = waiting.pop(0)
        if isinstance(statement, Function):
            yield statement
        for name in ("body", "orelse", "finalbody"):
            waiting += getattr(statement, name, [])


def _returns(node: Function) -> bool:
    """Whether the last thing that a function does is to return one of its own arguments, or `lambda x: x`."""
    last = node.body[-1] if node.body else None
    value = last.value if isinstance(last, ast.Return) else None
    args, body = (value.args, value.body) if isinstance(value, ast.Lambda) else (node.args, value)
    return isinstance(body, ast.Name) and body.id in {arg.arg for arg in (*args.posonlyargs, *args.args)}


def _added(wrapper: Function) -> tuple[Parameter, ...]:
    own = [p._replace(kind=Kind.KEYWORD) for p in signature(wrapper.args).parameters if p.default is not None]
    taken = f"{wrapper.args.kwarg.arg if wrapper.args.kwarg else ''}.pop"
    calls = (node for node in ast.walk(wrapper) if isinstance(node, ast.Call) and dotted(node.func) == taken)
    names = (call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant))
    own += [Parameter(str(name), Kind.KEYWORD, _DEFERRED) for name in names]
    return tuple(dict.fromkeys(own))


# --- classes -------------------------------------------------------------------------------------------------------


def fields(node: ast.ClassDef) -> tuple[Parameter, ...] | None:
    """The parameters of the constructor that `@dataclass` or `NamedTuple` makes of a class body; None where none does.

    (PEP 557, PEP 681; dataclasses.KW_ONLY.)
    """
    made = next((d for d in node.decorator_list if _leaf(d) == "dataclass"), None)
    tuple_ = any(_leaf(base) == "NamedTuple" for base in node.bases)
    options = {k.arg: k.value for k in made.keywords} if isinstance(made, ast.Call) else {}
    if (made is None and not tuple_) or _is(options.get("init"), False):
        return None
    kind = Kind.KEYWORD if _is(options.get("kw_only"), True) else Kind.EITHER
    found: list[Parameter] = []
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        annotation = ast.unparse(statement.annotation)
        if annotation.endswith("KW_ONLY"):
            kind = Kind.KEYWORD
        elif "ClassVar" not in annotation:
            found += _field(statement, statement.target.id, kind)
    return tuple(found)


def _field(statement: ast.AnnAssign, name: str, kind: Kind) -> Iterator[Parameter]:
    type_, value = python_type(statement.annotation), statement.value
    if not isinstance(value, ast.Call) or _leaf(value) != "field":
        yield Parameter(name, kind, None if value is None else default(value), type_)
        return
    options = {k.arg: k.value for k in value.keywords}
    if _is(options.get("init"), False):
        return
    given = options.get("default")
    told = default(given) if given is not None else _DEFERRED if "default_factory" in options else None
    yield Parameter(name, Kind.KEYWORD if _is(options.get("kw_only"), True) else kind, told, type_)


def named_tuple(call: ast.Call) -> tuple[Parameter, ...] | None:
    """The fields of `namedtuple("X", ["a", "b"])` or `NamedTuple("X", [("a", int)])`; None where they are computed."""
    if _leaf(call) not in ("namedtuple", "NamedTuple") or len(call.args) < 2:
        return None
    names = _field_names(call.args[1])
    given = next((k.value for k in call.keywords if k.arg == "defaults"), None)
    if names is None:
        return None
    values = [_DEFERRED] * len(names) if given is not None else []
    if isinstance(given, ast.List | ast.Tuple):
        values = [default(element) for element in given.elts]
    spelled = [*[None] * (len(names) - len(values)), *values][-len(names) :] if names else []
    return tuple(Parameter(name, default=value) for name, value in zip(names, spelled, strict=True))


def _field_names(node: ast.expr) -> list[str] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace(",", " ").split()
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    found = [_named(element) for element in node.elts]
    return None if None in found else [name or "" for name in found]


def _named(node: ast.expr) -> str | None:
    first = node.elts[0] if isinstance(node, ast.Tuple) and node.elts else node
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _leaf(node: ast.expr) -> str:
    """The last name of what is called, or named."""
    return dotted(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
