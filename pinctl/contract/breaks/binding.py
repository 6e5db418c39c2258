"""A call and a signature: which argument goes to which parameter, as Python binds them.

The rules are those of the language reference, "Calls", and of inspect.Signature.bind. What `*args` and `**kwargs` of
the call may still add is not known, so a parameter that they may fill is never missing.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from pinctl.contract.model import Call, Kind, Parameter, Signature

_PLACED = (Kind.POSITIONAL, Kind.EITHER)
_NAMED = (Kind.EITHER, Kind.KEYWORD)


class Fault(StrEnum):
    """Why a call does not fit: each is a TypeError at run time."""

    KEYWORD = "keyword"
    """no parameter takes the keyword"""
    TWICE = "twice"
    """the keyword's parameter has its value by position"""
    POSITIONAL = "positional"
    """more arguments by position than parameters that take one"""
    MISSING = "missing"
    """a parameter without default gets nothing"""


class Misfit(NamedTuple):
    """`name` is the keyword or the parameter; of too many positional arguments, how many are taken."""

    fault: Fault
    name: str


class Binding(NamedTuple):
    """What a call gives a signature. `placed` are the parameters that take an argument by position, in order (None for
    one that `*args` takes), `named` those that take one by keyword; `unfilled` those that get one only if the `*args`
    or `**kwargs` of the call have it."""

    signature: Signature
    misfits: tuple[Misfit, ...]
    placed: tuple[Parameter | None, ...]
    named: Mapping[str, Parameter]
    unfilled: tuple[Parameter, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the call succeeds, as far as its arguments are written out."""
        return not self.misfits

    def defaulted(self) -> Iterable[Parameter]:
        """The parameters that keep their default, as far as the arguments are written out."""
        given = {id(p) for p in (*self.placed, *self.named.values()) if p is not None}
        return (p for p in self.signature.parameters if p.default is not None and id(p) not in given)


def bind(call: Call, signature: Signature) -> Binding:
    """What `call` gives to the parameters of `signature`, and all that does not fit."""
    kinds = {p.kind for p in signature.parameters}
    places = [p for p in signature.parameters if p.kind in _PLACED]
    by_name = {p.name: p for p in signature.parameters if p.kind in _NAMED and p.name}
    misfits = []
    placed: list[Parameter | None] = list(places[: call.positional])
    if call.positional > len(places):
        placed += [None] * (call.positional - len(places))
        if Kind.REST not in kinds:
            misfits.append(Misfit(Fault.POSITIONAL, str(len(places))))
    named = {}
    for keyword in call.keywords:
        parameter = by_name.get(keyword)
        if parameter is None:
            if Kind.KEYWORD_REST not in kinds:
                misfits.append(Misfit(Fault.KEYWORD, keyword))
        elif any(parameter is p for p in placed):
            misfits.append(Misfit(Fault.TWICE, keyword))
        else:
            named[keyword] = parameter
    needing = _needing(signature, placed, named)
    unfilled = tuple(p for p in needing if may_fill(call, p))
    misfits += [Misfit(Fault.MISSING, p.name) for p in needing if not may_fill(call, p)]
    return Binding(signature, tuple(misfits), tuple(placed), named, unfilled)


def _needing(
    signature: Signature, placed: Iterable[Parameter | None], named: Mapping[str, Parameter]
) -> list[Parameter]:
    """The parameters without a default to which no argument is written out."""
    given = {id(p) for p in (*placed, *named.values())}
    return [
        p for p in signature.parameters if p.kind in (*_PLACED, *_NAMED) and p.default is None and id(p) not in given
    ]


def may_fill(call: Call, parameter: Parameter) -> bool:
    """Whether the `*args` or `**kwargs` of a call may hold an argument for a parameter."""
    return (call.rest and parameter.kind in _PLACED) or (call.keyword_rest and parameter.kind in _NAMED)


def bindings(call: Call, signatures: Iterable[Signature]) -> list[Binding]:
    """The bindings to the overloads that `call` fits, where there are any; else to the one that it misses by least."""
    every = [bind(call, signature) for signature in signatures]
    fitting = [binding for binding in every if binding.fits]
    return fitting or sorted(every, key=lambda b: (len(b.misfits), -len(b.placed) + b.placed.count(None)))[:1]


def takes(signature: Signature, keyword: str) -> bool:
    """Whether a call may give an argument by `keyword`."""
    return any(p.kind is Kind.KEYWORD_REST or (p.kind in _NAMED and p.name == keyword) for p in signature.parameters)
