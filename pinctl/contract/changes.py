"""What of a package's surface is another at B than at A: for `diff` and the body of a pull request. Pure."""

from typing import NamedTuple

from pinctl.contract.model import Surface, Symbol
from pinctl.contract.own import is_own, is_private
from pinctl.contract.shown import parameters


class Changed(NamedTuple):
    """A name whose signatures are not the same, as a person reads them."""

    name: str
    before: str
    after: str


class Changes(NamedTuple):
    """Public names that B alone has, those that A alone has, and those with other signatures."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()


def between(before: Surface, after: Surface) -> Changes:
    """What of `before` is another in `after`; names that begin with an underscore are nobody's promise."""
    old, new = ({s.name: s for s in surface.symbols.values() if _counts(s, surface)} for surface in (before, after))
    both = [name for name in sorted(old.keys() & new.keys()) if old[name].signatures and new[name].signatures]
    pairs = ((name, _told(old[name]), _told(new[name])) for name in both)
    return Changes(
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(old.keys() - new.keys())),
        tuple(Changed(*pair) for pair in pairs if pair[1] != pair[2]),
    )


def _counts(symbol: Symbol, surface: Surface) -> bool:
    return is_own(symbol, surface) and not is_private(symbol.name)


def _told(symbol: Symbol) -> str:
    leaf = symbol.name.rpartition(".")[2]
    return " or ".join(f"{leaf}({', '.join(parameters(one))})" for one in symbol.signatures)
