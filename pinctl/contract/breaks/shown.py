"""Signatures and places of a surface as a person reads them."""

from pinctl.contract.breaks.binding import Binding
from pinctl.contract.breaks.lookup import Found, Lookup, Standing
from pinctl.contract.model import Kind, Parameter, Place, Signature

_MOST_OVERLOADS = 3
_BARE = {Kind.REST: "*", Kind.KEYWORD_REST: "**"}


def standing(lookup: Lookup, found: Found | None, bound: Binding | None = None) -> str | None:
    """Where a name stands and with which parameters: `csrc/api.cpp:12 f(a, b=None)`; None where it does not.

    `bound` is the overload that is meant, where there are several.
    """
    if found is None or found.symbol is None:
        return f"open: {found.reason}" if found is not None and found.standing is Standing.OPEN else None
    symbol = found.symbol
    name = symbol.name.rpartition(".")[2]
    signatures = (bound.signature,) if bound else lookup.signatures(symbol)
    told = [f"{name}({', '.join(parameters(one))})" for one in signatures[:_MOST_OVERLOADS]]
    more = " ..." if len(signatures) > _MOST_OVERLOADS else ""
    return f"{at(symbol.place)} {' or '.join(told) or name}{more}"


def at(place: Place) -> str:
    """`FILE:LINE`."""
    return f"{place.file}:{place.line}" if place.line else place.file


def parameters(signature: Signature) -> list[str]:
    """The parameters of a signature as Python writes them, with `/` and `*` where they are needed."""
    told: list[str] = []
    kinds = [p.kind for p in signature.parameters]
    for number, parameter in enumerate(signature.parameters):
        if parameter.kind is Kind.KEYWORD and not {Kind.KEYWORD, Kind.REST} & set(kinds[:number]):
            told.append("*")
        told.append(_one(parameter, number))
        if parameter.kind is Kind.POSITIONAL and Kind.POSITIONAL not in kinds[number + 1 :]:
            told.append("/")
    return told


def _one(parameter: Parameter, number: int) -> str:
    name = f"{_BARE.get(parameter.kind, '')}{parameter.name or f'arg{number}'}"
    return name if parameter.default is None else f"{name}={parameter.default}"
