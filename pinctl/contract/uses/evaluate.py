"""What the values in the facts of several files lead to."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

from pinctl.contract.uses.facts import OPAQUE, Facts, Function
from pinctl.contract.uses.modules import Modules
from pinctl.contract.uses.results import (
    Definition,
    Instance,
    Made,
    Module,
    Partial,
    Probe,
    Result,
    Scope,
    Symbol,
    Tags,
    Text,
    Where,
    returned,
    under,
)  # fmt: skip

_DEEPEST = 100
_MOST_RESULTS = 200
_MOST_STEPS = 300_000
"""Values that are evaluated, and results of them, in all: code that people write takes some tens of thousands."""
_OPS = "torch.ops."
_GIVEN = frozenset({*dir(type), *dir(FunctionType), *dir(ModuleType), "__file__", "__path__", "__cached__"})
"""Attributes that Python gives to what modules hold, and to modules."""


class Evaluator:
    """Follows values through the facts of files. `missing` are the files that it would have to know, with the name in
    each; `given` is what functions are called with: by path, scope and parameter, the calls and the values."""

    def __init__(self, facts: Mapping[str, Facts], modules: Modules, import_names: Sequence[str]) -> None:
        self.facts = facts
        self.modules = modules
        self.missing: dict[tuple[str, str], None] = {}
        self.given: dict[tuple[str, str, str], dict[tuple[Where, int], None]] = {}
        roots = {name: name if f"{name}.".startswith(_OPS) else import_names[0] for name in import_names}
        self._roots = sorted(roots.items(), key=lambda pair: -len(pair[0]))
        self._known: dict[tuple[str, int], tuple[Result, ...]] = {}
        self._open: set[object] = set()
        self._cut = False
        self._steps = 0

    def forget(self) -> None:
        """Evaluate anew, after `given` has grown."""
        self._known.clear()

    def results(self, path: str, value: int) -> tuple[Result, ...]:
        """What a value of a file may be."""
        key = (path, value)
        if value == OPAQUE or path not in self.facts:
            return ()
        if key not in self._known:
            found = self._guarded(key, lambda: self._evaluate(path, value))
            if self._cut and self._open:  # a part of a circle, which is not known before the whole is
                return found
            self._known[key], self._cut = found, False
        return self._known[key]

    @property
    def is_exhausted(self) -> bool:
        """Whether so much had to be followed that the rest is not."""
        return self._steps > _MOST_STEPS

    def _guarded(self, key: object, evaluate: Callable[[], Iterable[Result]]) -> tuple[Result, ...]:
        """What is evaluated, each once; nothing of it where that goes round in a circle, or too deep."""
        self._steps += 1
        if key in self._open or len(self._open) > _DEEPEST or self.is_exhausted:
            self._cut = self._cut or key in self._open
            return ()
        self._open.add(key)
        found = tuple(dict.fromkeys(islice(evaluate(), _MOST_RESULTS)))
        self._steps += len(found)
        self._open.discard(key)
        return found

    def _evaluate(self, path: str, value: int) -> Iterable[Result]:
        operation, *parts = self.facts[path].values[value]
        evaluate = self._operations.get(operation)
        return evaluate(self, path, parts) if evaluate is not None else ()

    def _name(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return self.named(self.modules.absolute(parts[0], path))

    def _via(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return (_got(found, (path, parts[1])) for found in self.results(path, parts[0]))

    def _attr(self, path: str, parts: Sequence[Any]) -> Iterator[Result]:
        for base in self.results(path, parts[0]):
            yield from self._attribute(base, parts[1])

    def _asked(self, path: str, parts: Sequence[Any]) -> Iterator[Result]:
        """`getattr` or `import_module` with a name that stands elsewhere."""
        for text in self.results(path, parts[-1]):
            if not isinstance(text, Text):
                continue
            if len(parts) == 1:
                found = list(self.named(self.modules.absolute(text.text, path)))
            else:
                found = [r for base in self.results(path, parts[0]) for r in self._attribute(base, text.text)]
            for one in found:
                yield from _under(one._replace(literal=text) if isinstance(one, Symbol) else one, text.tags)

    def _var(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return map(_held, self.variable(path, parts[0], parts[1]))

    def _def(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return (Definition(path, parts[0]),)

    def _self(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return (Instance(path, parts[0]),)

    def _any(self, path: str, parts: Sequence[Any]) -> Iterator[Result]:
        for member in parts[0]:
            yield from self.results(path, member)

    def _text(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return (Text(parts[0], path, *parts[1:]),)

    def _partial(self, path: str, parts: Sequence[Any]) -> Iterator[Result]:
        for found in self.results(path, parts[0]):
            given = self.facts[path].given[parts[1]]
            if isinstance(found, Symbol | Definition):
                yield Partial(found, given, found.tags)
            elif isinstance(found, Partial):
                yield found._replace(given=found.given.added(given))

    def _probe(self, path: str, parts: Sequence[Any]) -> Iterable[Result]:
        return (Probe(one.name, one.tags) for one in self.results(path, parts[0]) if isinstance(one, Symbol))

    # --- names --------------------------------------------------------------------------------------------------------

    def symbol(self, dotted: str) -> str | None:
        """The symbol that a dotted name is, None where it is not of the package. An overload of an operator is the
        operator."""
        for name, root in self._roots:
            if dotted == name or dotted.startswith(f"{name}."):
                found = root + dotted[len(name) :]
                return ".".join(found.split(".")[:4]) if found.startswith(_OPS) else found
        return None

    def named(self, dotted: str) -> Iterator[Result]:
        """What an absolute dotted name leads to."""
        found = self.symbol(dotted)
        place = self.modules.find(dotted) if found is None else None
        if found is not None:
            yield Symbol(found)
        elif place is None or not place[1]:
            yield Module(dotted)
        elif place[0] not in self.facts:
            self.missing[place[0], place[1][0]] = None
            yield Module(dotted)
        else:
            path, (first, *rest) = place
            results: Iterable[Result] = map(_held, self.variable(path, "", first))
            for name in rest:
                results = [found for result in results for found in self._attribute(result, name)]
            yield from results

    def variable(self, path: str, scope: str, name: str) -> tuple[Result, ...]:
        """What a variable of a file may be."""
        return self._guarded((path, scope, name), lambda: self._variable(path, scope, name))

    def _variable(self, path: str, scope: str, name: str) -> list[Result]:
        facts = self.facts[path]
        values = [v for own in (scope, f"{scope}()") for v in facts.bindings.get(own, {}).get(name, ())]
        found = [r for value in values for r in self.results(path, value)]
        for site, value in self.given.get((path, scope, name), ()):
            tags: Tags = frozenset({((path, scope), site)})
            found += [one for r in self.results(site[0], value) for one in _under(r, tags)]
        if not found:
            bases = [base for value in facts.classes.get(scope, ()) for base in self.results(path, value)]
            found += [r for base in bases for r in self._attribute(base, name)]
        if not found and not scope:
            found += [r for star in facts.stars for r in self.named(f"{self.modules.absolute(star, path)}.{name}")]
        return found

    def _attribute(self, base: Result, name: str) -> Iterator[Result]:
        match base:
            case Symbol():
                if name not in _GIVEN:
                    whole = self.symbol(f"{base.name}.{name}") if base.name.startswith(_OPS) else f"{base.name}.{name}"
                    yield Symbol(whole or base.name, base.origins, tags=base.tags)
            case Definition() | Instance():
                for found in self.variable(base.path, base.scope, name):
                    if isinstance(found, Definition) and isinstance(base, Instance):
                        yield from _under(found._replace(bound=True), base.tags)
                    else:
                        yield from _under(_held(found), base.tags)
            case Module():
                for found in self.named(f"{base.dotted}.{name}"):
                    yield from _under(found, base.tags)
            case Made():
                yield base

    # --- calls --------------------------------------------------------------------------------------------------------

    def function(self, found: Definition) -> tuple[str, Function, tuple[str, ...]] | None:
        """The scope and the function that a call of a definition runs, and the parameters that its arguments go to;
        None where it was not read."""
        facts = self.facts[found.path]
        is_class = found.scope in facts.classes
        scope = f"{found.scope}.__init__" if is_class else found.scope
        function = facts.functions.get(scope)
        if function is None:
            return None
        return scope, function, function.parameters[function.method and (found.bound or is_class) :]

    def _call(self, path: str, parts: Sequence[Any]) -> Iterator[Result]:
        """What a call returns; its number is that of its event."""
        callee, number = parts
        for found in self.results(path, callee):
            target = found.target if isinstance(found, Partial) else found
            if isinstance(target, Symbol):
                yield Made(target.name, target.tags)
            elif isinstance(target, Definition):
                yield from self._returned(target, (path, number))

    def _returned(self, target: Definition, call: Where) -> Iterator[Result]:
        known = self.function(target)
        scope: Scope = (target.path, known[0] if known is not None else target.scope)
        if target.scope in self.facts[target.path].classes:
            yield Instance(target.path, target.scope, target.tags | {(scope, call)})
            return
        for value in known[1].returns if known is not None else ():
            for found in self.results(target.path, value):
                for one in _under(found, target.tags):
                    back = returned(one, scope, call)
                    if back is not None:
                        yield _held(back)

    _operations: Mapping[str, Callable[["Evaluator", str, Sequence[Any]], Iterable[Result]]] = {
        "name": _name, "via": _via, "attr": _attr, "get": _asked, "module": _asked, "var": _var, "def": _def,
        "self": _self, "call": _call, "any": _any, "text": _text, "partial": _partial, "probe": _probe,
    }  # fmt: skip


def _under(found: Result, tags: Tags) -> tuple[Result, ...]:
    """A result where it holds under `tags` as well."""
    one = under(found, tags)
    return () if one is None else (one,)


def _got(found: Result, event: Where) -> Result:
    """A result as it was got at an event."""
    if isinstance(found, Partial) and isinstance(found.target, Symbol):
        return found._replace(target=_got_symbol(found.target, event))
    return _got_symbol(found, event) if isinstance(found, Symbol) else found


def _got_symbol(found: Symbol, event: Where) -> Symbol:
    return found._replace(origins=(*found.origins, event), fresh=False)


def _held(found: Result) -> Result:
    """A result that was got elsewhere."""
    return found._replace(fresh=False) if isinstance(found, Symbol) else found
