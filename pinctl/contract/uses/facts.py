"""What one consumer file says, before it is known what its names lead to: plain data that a cache can hold.

A *value* is what an expression may be, as a row of `Facts.values`: an operation and its parts, where parts that are
values are row numbers. OPAQUE stands for all that cannot lead to the package.

| row | is |
|---|---|
| `("name", dotted)` | what `import` makes of a dotted name; leading dots as in a relative import |
| `("via", value, event)` | the value, as it was got at an event |
| `("attr", value, name)` | an attribute |
| `("get", value, text)` | `getattr` with a name that another value tells |
| `("module", text)` | `importlib.import_module` with a name that another value tells |
| `("var", scope, name)` | a variable, wherever it is bound |
| `("def", scope)` | the function or class of that scope |
| `("self", class)` | an instance of a class of this file |
| `("call", value, event)` | what a call, which is that event, returns |
| `("partial", value, given)` | `functools.partial`; `given` is a row of `Facts.given` |
| `("any", values)` | one of them |
| `("text", text, line, column, at_import)` | a string literal |
| `("seq", values)`, `("map", keys, values)` | a display of known elements; of known keys |
| `("probe", value)` | whether the value is there |
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pinctl.model import NOTHING

OPAQUE = -1
"""The value that leads nowhere."""

MODULE, IMPORT, ATTRIBUTE, TYPE, RUNTIME, BROAD = (1 << bit for bit in range(6))
"""What an `except` catches: ModuleNotFoundError, ImportError, AttributeError, TypeError, RuntimeError; all there is."""

Row = tuple[Any, ...]


class Given(NamedTuple):
    """The arguments of a call, as written.

    rest, keyword_rest      whether `*x` or `**x` add some that are not known
    args, named             the values of those by position, and of `keywords`
    own_rest, own_keywords  whether they hold the `*args`, the `**kwargs` of the function that makes the call
    popped                  the keywords that this function takes out of its `**kwargs`
    passes                  whether any argument is a parameter of this function
    zero                    the keywords that are given `a or b`
    """

    positional: int = 0
    keywords: tuple[str, ...] = ()
    rest: bool = False
    keyword_rest: bool = False
    args: tuple[int, ...] = ()
    named: tuple[int, ...] = ()
    own_rest: bool = False
    own_keywords: bool = False
    popped: tuple[str, ...] = ()
    passes: bool = False
    zero: tuple[str, ...] = ()

    def added(self, more: "Given") -> "Given":
        """The arguments of `functools.partial` with `more`, those of a call of it."""
        return more._replace(
            positional=self.positional + more.positional, rest=self.rest or more.rest,
            keywords=tuple(dict.fromkeys((*self.keywords, *more.keywords))),
            keyword_rest=self.keyword_rest or more.keyword_rest, zero=(*self.zero, *more.zero), args=(), named=(),
        )  # fmt: skip


class Event(NamedTuple):
    """Something that a file does with a value.

    kind       "import" a module, "from" a module a name, "read" an attribute, "call", "probe", "patch" by its name;
               "check" for None, "pass" to a call or "keep" where it is not followed, "computed" attribute, "star"
    at_import  whether it happens when the file is imported
    context    the row of `Facts.contexts` that holds what is round it
    given      the row of `Facts.given`, of a call
    default    whether its absence gives a default
    """

    kind: str
    value: int
    line: int
    column: int
    scope: str
    at_import: bool
    context: int = 0
    given: int = OPAQUE
    default: bool = False


class Function(NamedTuple):
    """A function: its parameters by position, those by keyword alone, and what it may return."""

    parameters: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    returns: tuple[int, ...] = ()
    method: bool = False


class Facts(NamedTuple):
    """All that one file says.

    words      the names that were looked for, and those found to lead to them
    contexts   what is round events, the outermost first: ("try", what is caught), ("handler", first event, last event,
               what is caught) of the `try` that it belongs to, ("has", value) and ("not", value) for what was found
               there and missing, ("typing",)
    bindings   by scope and name, what the variable may be: "" is the module's scope, `C()` that of instances of C
    functions  by scope; `classes` by scope, with the values of their bases
    choices    values of which each is tried where those before it are missing
    stars      the modules of `from x import *`
    failure    why the file could not be read, "" where it could
    """

    words: tuple[str, ...] = ()
    values: tuple[Row, ...] = ()
    events: tuple[Event, ...] = ()
    given: tuple[Given, ...] = ()
    contexts: tuple[tuple[Row, ...], ...] = ((),)
    bindings: Mapping[str, Mapping[str, tuple[int, ...]]] = NOTHING
    functions: Mapping[str, Function] = NOTHING
    classes: Mapping[str, tuple[int, ...]] = NOTHING
    choices: tuple[tuple[int, ...], ...] = ()
    stars: tuple[str, ...] = ()
    failure: str = ""


def encode(facts: Facts) -> bytes:
    """`facts` as JSON."""
    return json.dumps(facts, separators=(",", ":"), default=dict).encode()


def decode(data: bytes) -> Facts:
    """What `encode` was given. Raises ValueError for what is no JSON; other JSON than `encode` makes is not looked for:
    the key of an entry tells whose it is."""
    words, values, events, given, contexts, bindings, functions, classes, choices, stars, failure = _tuples(
        json.loads(data)
    )
    return Facts(
        words, values, tuple(Event(*row) for row in events), tuple(Given(*row) for row in given), contexts, bindings,
        {scope: Function(*row) for scope, row in functions.items()}, classes, choices, stars, failure,
    )  # fmt: skip


def _tuples(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(map(_tuples, plain))
    return {key: _tuples(value) for key, value in plain.items()} if isinstance(plain, dict) else plain
