"""What values lead to, when they are followed from file to file."""

from typing import NamedTuple

from pinctl.contract.uses.facts import Given

Where = tuple[str, int]
"""An event, by the path of its file and its number."""
Scope = tuple[str, str]
"""A function or class of the consumer, by the path of its file and its scope in it."""
Tags = frozenset[tuple[Scope, Where]]
"""Under which calls a result holds: of each function whose arguments it comes from, the call that gave them. Results
that hold under different calls of one function do not go together."""

ALWAYS: Tags = frozenset()


class Text(NamedTuple):
    """A string literal, where it stands, and whether that is evaluated when its file is imported."""

    text: str
    path: str
    line: int
    column: int
    at_import: bool
    tags: Tags = ALWAYS


class Symbol(NamedTuple):
    """A name of the package: `fresh` where the expression itself asks for it, else it was got at the last of `origins`.
    `literal` is where its name stands, where not in the expression."""

    name: str
    origins: tuple[Where, ...] = ()
    fresh: bool = True
    literal: Text | None = None
    tags: Tags = ALWAYS


class Definition(NamedTuple):
    """A function or class of the consumer; `bound` to an instance or its class, which takes the first parameter."""

    path: str
    scope: str
    bound: bool = False
    tags: Tags = ALWAYS


class Instance(NamedTuple):
    """An instance of a class of the consumer."""

    path: str
    scope: str
    tags: Tags = ALWAYS


class Module(NamedTuple):
    """A module of the consumer or of others, or something in one of which nothing is known."""

    dotted: str
    tags: Tags = ALWAYS


class Partial(NamedTuple):
    """A function with some of its arguments."""

    target: Symbol | Definition
    given: Given
    tags: Tags = ALWAYS


class Made(NamedTuple):
    """What a call of a symbol returned."""

    symbol: str
    tags: Tags = ALWAYS


class Probe(NamedTuple):
    """Whether a symbol is there."""

    symbol: str
    tags: Tags = ALWAYS


Result = Text | Symbol | Definition | Instance | Module | Partial | Made | Probe


def together(one: Tags, other: Tags) -> Tags | None:
    """The calls under which two results hold both; None where there are none."""
    if not one or not other:
        return one or other
    calls = dict(one)
    if any(calls.setdefault(function, call) != call for function, call in other):
        return None
    return frozenset(calls.items())


def under(found: Result, tags: Tags) -> Result | None:
    """A result where it holds under the calls `tags` as well; None where it does not."""
    both = together(found.tags, tags)
    return None if both is None else found._replace(tags=both) if both != found.tags else found


def returned(found: Result, function: Scope, call: Where) -> Result | None:
    """A result of a function's code as `call` of it returns it; None where it holds under another call. A function
    inside it goes on to hold under this one alone."""
    calls = dict(found.tags)
    if calls.pop(function, call) != call:
        return None
    if isinstance(found, Definition | Instance) and _is_inside((found.path, found.scope), function):
        calls[function] = call
    return found._replace(tags=frozenset(calls.items()))


def _is_inside(scope: Scope, function: Scope) -> bool:
    return scope[0] == function[0] and scope[1].startswith(f"{function[1]}.")


def symbol_of(found: Result) -> Symbol | None:
    """The symbol that a result is, or is a part of a call of."""
    found = found.target if isinstance(found, Partial) else found
    return found if isinstance(found, Symbol) else None
