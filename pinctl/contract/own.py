"""Which names of a surface a package means to be its own. Pure."""

from pinctl.contract.model import Sort, Surface, Symbol


def is_private(name: str) -> bool:
    """Whether a dotted name has a part below its root that begins with an underscore."""
    return any(part.startswith("_") for part in name.split(".")[1:])


def is_own(symbol: Symbol, surface: Surface) -> bool:
    """Whether a package means a name to be its own: no import from outside, no other name of a module, no method that
    Python calls for itself."""
    leaf = symbol.name.rpartition(".")[2]
    if symbol.sort is Sort.MODULE and symbol.target:
        return False
    held = surface.symbols.get(symbol.name.rpartition(".")[0])
    if held is not None and held.sort is Sort.CLASS and leaf.startswith("__"):
        return False
    return not _is_foreign(symbol, surface)


def _is_foreign(symbol: Symbol, surface: Surface) -> bool:
    """Whether a name is another name of something outside of the tree."""
    seen = {symbol.name}
    while symbol.target:
        inner = surface.symbols.get(symbol.target)
        if inner is None or inner.name in seen:
            return inner is None
        seen.add(inner.name)
        symbol = inner
    return False
