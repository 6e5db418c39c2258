"""Surfaces and uses in few words, for tests."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping

from pinctl.contract.model import (
    Call,
    Guard,
    Kind,
    Mechanism,
    Parameter,
    Place,
    Signature,
    Sort,
    Surface,
    Symbol,
    Use,
    Uses,
    When,
)

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: Kind.POSITIONAL,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: Kind.EITHER,
    inspect.Parameter.KEYWORD_ONLY: Kind.KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: Kind.REST,
    inspect.Parameter.VAR_KEYWORD: Kind.KEYWORD_REST,
}


def signature(text: str) -> Signature:
    """The signature that Python reads of `def f(TEXT)`; annotations are types as they are written."""
    made: dict[str, object] = {}
    exec(f"from __future__ import annotations\ndef f({text}): ...", made)  # noqa: S102 - of our own making
    parameters = inspect.signature(made["f"]).parameters.values()  # type: ignore[arg-type]
    return Signature(tuple(_parameter(p) for p in parameters))


def _parameter(p: inspect.Parameter) -> Parameter:
    default = None if p.default is p.empty else repr(p.default)
    return Parameter(p.name, KINDS[p.kind], default, None if p.annotation is p.empty else str(p.annotation))


def unnamed(*types: str) -> Signature:
    """The signature of a binding without names."""
    return Signature(tuple(Parameter("", Kind.POSITIONAL, None, type_) for type_ in types))


def function(name: str, *signatures: str, guards: tuple[str, ...] = (), target: str | None = None) -> Symbol:
    """A function with overloads; its line is the count of letters of its name."""
    place = Place("up/api.py", len(name))
    texts = tuple(map(signature, signatures))
    return Symbol(name, Sort.FUNCTION, Mechanism.PYTHON, place, texts, guards, target)


def module(name: str, file: str | None = None) -> Symbol:
    return Symbol(name, Sort.MODULE, Mechanism.PYTHON, Place(file or f"{name.replace('.', '/')}/__init__.py", 1))


def surface(
    *symbols: Symbol | str,
    open: Mapping[str, str] | None = None,  # noqa: A002
    imports: Mapping[str, tuple[str, ...]] | None = None,
) -> Surface:
    """The surface of a package `up`; `NAME(PARAMETERS)` is a function, `NAME` one of which the parameters are not
    known, `NAME.` a module. Modules on the way come by themselves."""
    made = [_symbol(s) if isinstance(s, str) else s for s in symbols]
    found = {s.name: s for s in made}
    for symbol in made:
        parts = symbol.name.split(".")
        for count in range(1, len(parts)):
            found.setdefault(".".join(parts[:count]), module(".".join(parts[:count])))
    return Surface("c" * 40, found, open or {}, imports or {})


def _symbol(text: str) -> Symbol:
    if text.endswith("."):
        return module(text[:-1])
    name, bracket, rest = text.partition("(")
    return function(name, rest[:-1]) if bracket else function(name)


def call(text: str) -> Call:
    """The call `f(TEXT)`: positional arguments, `k=...`, `*a`, `**k`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    names = [word.partition("=")[0] for word in words if "=" in word and not word.startswith("*")]
    rest, more = (any(w.startswith(s) and not w.startswith(s + "*") for w in words) for s in ("*", "**"))
    return Call(sum("=" not in w and not w.startswith("*") for w in words), tuple(names), rest, more)


def use(
    symbol: str,
    arguments: str | None = None,
    *,
    line: int = 1,
    when: When = When.CALL,
    guards: Iterable[Guard] = (),
    alternatives: tuple[str, ...] = (),
    dependents: Iterable[int] = (),
    probe: bool = False,
    file: str = "engine/a.py",
) -> Use:
    """A use at `line` of the engine, called with `arguments` unless they are None."""
    return Use(
        symbol, Place(file, line, 5), when, None if arguments is None else call(arguments), tuple(guards), alternatives,
        tuple(Place(file, n, 5) for n in dependents), probe,
    )  # fmt: skip


def uses(*found: Use) -> Uses:
    return Uses(found)
