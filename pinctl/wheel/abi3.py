"""The stable ABI of CPython: whether an extension keeps to it (PEP 384, PEP 425's tag `abi3`)."""

from collections.abc import Iterable
from typing import NamedTuple


class Missing(Exception):
    """The package `abi3info`, which knows the stable ABI, is not installed."""


class Outside(NamedTuple):
    """A name that an extension uses and may not; `since` is the Python that first has it in the stable ABI, "" where
    none has."""

    symbol: str
    since: str


def outside(symbols: Iterable[str], python: str) -> list[Outside]:
    """The names of CPython among `symbols` that are not of the stable ABI of `python` ("3.9"). Raises Missing."""
    try:
        from abi3info import DATAS, FUNCTIONS
        from abi3info.models import PyVersion, Symbol
    except ImportError as error:
        raise Missing from error
    oldest = PyVersion.parse_dotted(python)
    found = []
    for name in symbols:
        symbol = Symbol(name)
        known = FUNCTIONS.get(symbol) or DATAS.get(symbol)
        if known is None:
            found.append(Outside(name, ""))
        elif known.added > oldest:
            found.append(Outside(name, str(known.added)))
    return found
