"""Where something that is gone may be found now."""

from collections.abc import Iterator, Sequence

from pinctl.contract.breaks.binding import Binding, Fault
from pinctl.contract.breaks.lookup import Lookup
from pinctl.contract.model import Kind, Parameter, Signature, Sort, Symbol

_MOST_COMPARED = 2000
"""Names of one module that a missing one is compared with."""
_MOST_TOLD = 6
_NEAR = 0.8
"""How alike (difflib) a name must be that was there before, too: it is another thing then."""


def of_name(name: str, before: Lookup | None, after: Lookup) -> str | None:
    """Where the missing `name` may be now: what it was another name of, the same last part elsewhere, the same
    parameters, the nearest name."""
    old = before.find(name).symbol if before else None
    return next(_candidates(name, old, before, after), None)


def _near(name: str, names: Sequence[str], cutoff: float = 0.6) -> list[str]:
    """The one of `names` that is most like `name`, if any is."""
    from difflib import get_close_matches

    return get_close_matches(name, names, 1, cutoff)


def _candidates(name: str, old: Symbol | None, before: Lookup | None, after: Lookup) -> Iterator[str]:
    if old is not None and old.target and (others := sorted(after.names_of(old.target), key=_plainness)):
        yield f"it was another name of `{others[0]}`, which is still there"
    parent, _, leaf = name.rpartition(".")
    if elsewhere := sorted(after.named(leaf), key=_plainness):
        yield f"there is `{elsewhere[0]}`"
    siblings = [s for s in after.below(parent)[:_MOST_COMPARED] if _is_like(old, after.find(f"{parent}.{s}").symbol)]
    new = [leaf for leaf in siblings if before and before.find(f"{parent}.{leaf}").symbol is None]
    alike = _alike(old, [f"{parent}.{leaf}" for leaf in new], before, after)
    near = _near(leaf, new) or _near(leaf, siblings, _NEAR)
    if alike and (not near or f"{parent}.{near[0]}" in alike):
        yield f"`{alike[0]}` is new there, with the same parameters"
    if near:
        yield f"the nearest name there is `{parent}.{near[0]}`"


def _is_like(old: Symbol | None, new: Symbol | None) -> bool:
    """Whether one may have become the other: a module becomes no function."""
    is_module = old is not None and old.sort is Sort.MODULE
    return new is not None and (new.sort is Sort.MODULE) is is_module


def _alike(old: Symbol | None, new: Sequence[str], before: Lookup | None, after: Lookup) -> list[str]:
    """The names of `new` that have the parameters of `old`."""
    if old is None or before is None:
        return []
    wanted = _shape(before.signatures(old))
    if not any(wanted):
        return []
    symbols = ((name, after.find(name).symbol) for name in new)
    return [name for name, symbol in symbols if symbol and _shape(after.signatures(symbol)) == wanted]


def _shape(signatures: Sequence[Signature]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(p.name for p in signature.parameters) for signature in signatures)


def _plainness(name: str) -> tuple[bool, int, str]:
    """Public names first, then short ones."""
    return "._" in name, name.count("."), name


def of_call(binding: Binding, known: Sequence[Signature]) -> str | None:
    """What a call that does not fit may give instead. `known` are the signatures that it fitted before."""
    parameters = binding.signature.parameters
    if any(m.fault is Fault.POSITIONAL for m in binding.misfits):
        return None
    old = {p.name for signature in known for p in signature.parameters}
    new = [p for p in parameters if p.name and p.name not in old and p.kind is not Kind.POSITIONAL] if known else []
    if new:
        return f"new there: {_listed(new)}"
    wrong = next((m.name for m in binding.misfits if m.fault is Fault.KEYWORD), None)
    free = [p for p in parameters if p.name and p.kind in (Kind.EITHER, Kind.KEYWORD) and p not in binding.placed]
    if wrong is None or not free:
        return None
    near = _near(wrong, [p.name for p in free])
    return f"did you mean `{near[0]}`?" if near else f"it takes {_listed(free)}"


def _listed(parameters: Sequence[Parameter]) -> str:
    told = [f"`{p.name}`" for p in parameters[:_MOST_TOLD]]
    return ", ".join(told) + (" ..." if len(parameters) > _MOST_TOLD else "")
