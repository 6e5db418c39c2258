"""Functions of the consumer that hand their arguments on to the package: their calls are calls of the package."""

from collections.abc import Iterator
from typing import NamedTuple

from pinctl.contract.model import Call
from pinctl.contract.uses.evaluate import Evaluator
from pinctl.contract.uses.facts import Function, Given
from pinctl.contract.uses.results import Definition, Partial, Result, Scope, Symbol, Where, returned, under

Calls = dict[Scope, list[tuple[Where, Given, tuple[Result, ...]]]]
"""The calls that the code of each function makes: the event, the arguments, and what may be called."""

_DEEPEST = 8
"""Wrappers of wrappers that are followed."""


class Forward(NamedTuple):
    """A call that a function makes with arguments of its own: of what, with which, and at which event; `whole` where
    its `*args` or `**kwargs` are among them."""

    target: Symbol
    given: Given
    event: Where
    whole: bool


class Wrappers:
    """Finds what functions hand their arguments on to."""

    def __init__(self, evaluator: Evaluator, calls: Calls) -> None:
        self._evaluator = evaluator
        self._calls = calls
        self._known: dict[Scope, tuple[Forward, ...]] = {}
        self._open: set[Scope] = set()

    def of(self, scope: Scope) -> tuple[Forward, ...]:
        """The calls that a function makes with arguments of its own."""
        if scope in self._known:
            return self._known[scope]
        if scope in self._open or len(self._open) >= _DEEPEST:
            return ()
        self._open.add(scope)
        forwards = tuple(dict.fromkeys(self._find(scope)))
        self._open.discard(scope)
        self._known[scope] = forwards
        return forwards

    def _find(self, scope: Scope) -> Iterator[Forward]:
        for event, given, results in self._calls.get(scope, ()):
            own = given.own_rest or given.own_keywords
            for result in results if own or given.passes else ():
                called = isinstance(result, Definition)
                for forward in self.reached(result, given, event):
                    if own or not called:  # a function that calls a wrapper with arguments of its own is none
                        at = forward.event if called else event
                        yield forward._replace(event=at, whole=forward.whole and own)

    def reached(self, result: Result, given: Given, call: Where) -> Iterator[Forward]:
        """The calls of the package that `call`, of `result` with `given`, comes to; their event is that call where the
        package is called at once."""
        if isinstance(result, Symbol):
            yield Forward(result, given, call, whole=True)
        elif isinstance(result, Partial):
            for forward in self.reached(result.target, result.given, call):
                yield forward._replace(given=forward.given.added(given))
        elif isinstance(result, Definition):
            known = self._evaluator.function(result)
            if known is None:
                return
            scope = (result.path, known[0])
            for forward in self.of(scope):
                here = under(forward.target, result.tags)
                back = returned(here, scope, call) if here is not None else None
                if isinstance(back, Symbol):
                    inside = _handed_on(forward.given, known[1], known[2], given)
                    yield forward._replace(target=back, given=inside)


def call(given: Given) -> Call:
    """The arguments of a call in the words of the contract."""
    return Call(
        given.positional, given.keywords, given.rest or given.own_rest, given.keyword_rest or given.own_keywords
    )


def _handed_on(inner: Given, function: Function, parameters: tuple[str, ...], outer: Given) -> Given:
    """The arguments of the call `inner` in a function that is itself called with `outer`."""
    taken = {*parameters, *function.keyword_only, *inner.popped, *inner.keywords}
    further = tuple(k for k in outer.keywords if k not in taken) if inner.own_keywords else ()
    return Given(
        inner.positional + (max(0, outer.positional - len(parameters)) if inner.own_rest else 0),
        (*inner.keywords, *further),
        rest=inner.rest or (inner.own_rest and outer.rest),
        keyword_rest=inner.keyword_rest or (inner.own_keywords and outer.keyword_rest),
        own_rest=inner.own_rest and outer.own_rest,
        own_keywords=inner.own_keywords and outer.own_keywords,
        popped=outer.popped,
        passes=outer.passes,
        zero=(*inner.zero, *(name for name in outer.zero if name in further)),
    )
