"""What stands under a name, as a person reads it."""

from pinctl.contract.breaks.binding import Binding
from pinctl.contract.breaks.lookup import Found, Lookup, Standing
from pinctl.contract.shown import at, parameters

_MOST_OVERLOADS = 3


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
