"""What a call that fits before and after means all the same: another parameter, another default, another type."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pinctl.contract.breaks.binding import Binding, may_fill, takes
from pinctl.contract.breaks.model import Class
from pinctl.contract.model import Call, Kind, Parameter

_KNOWN = frozenset("int float bool str bytes Tensor dtype device None list tuple dict set Optional Union".split())
"""The words of types whose difference is one."""
_MOST = 3
"""Arguments of one call that are told to land elsewhere."""


class Change(NamedTuple):
    """One change. `subject` is the parameter as it was called before."""

    kind: Class
    subject: str
    what: str


def least(call: Call, before: Sequence[Binding], after: Sequence[Binding]) -> tuple[Binding, list[Change]]:
    """Of the overloads that a call fits, the one after in which least is another than in one before; and what is."""
    found = [(new, list(changes(call, old, new))) for old in before for new in after]
    return min(found, key=lambda pair: (any(change.kind.fails for change in pair[1]), len(pair[1])))


def changes(call: Call, before: Binding, after: Binding) -> Iterator[Change]:
    """What is another in the binding `after` of a call than in the one `before`; it fits both."""
    yield from _by_place(before, after)
    yield from _types((name, old, after.named.get(name)) for name, old in before.named.items())
    yield from _defaults(call, before, after)
    yield from _unseen(call, before, after)


def _by_place(before: Binding, after: Binding) -> Iterator[Change]:
    names = {p.name for p in before.signature.parameters}, {p.name for p in after.signature.parameters}
    moved = []
    for number, (old, new) in enumerate(zip(before.placed, after.placed, strict=True), 1):
        if old is None or new is None:
            continue
        if not old.name or not new.name or old.name == new.name:
            yield from _types([(old.name or f"argument {number}", old, new)])
        elif old.name in names[1] or new.name in names[0]:
            moved.append((number, old, new))
        elif Kind.POSITIONAL not in (old.kind, new.kind):
            yield _renamed(number, old, new)
    if moved:
        told = "; ".join(
            f"argument {n}, which was `{old.name}`, lands in `{new.name}`" for n, old, new in moved[:_MOST]
        )
        yield Change(Class.REBIND, moved[0][1].name, f"{told}{' ...' if len(moved) > _MOST else ''}")


def _renamed(number: int, old: Parameter, new: Parameter) -> Change:
    """A parameter of another name, neither of which is elsewhere: renamed, unless it takes something else."""
    if old.type and new.type and not _takes(_base(new.type), _base(old.type)):
        what = f"argument {number} was `{old.name}: {old.type}`, and is `{new.name}: {new.type}` now"
        return Change(Class.REBIND, old.name, what)
    return Change(Class.RENAMED, old.name, f"argument {number}, `{old.name}`, is called `{new.name}` now")


def _base(type_: str) -> str:
    """A type without whether it also takes None."""
    return type_.removeprefix("Optional[").removesuffix("]") if type_.startswith("Optional[") else type_


def _takes(new: str, old: str) -> bool:
    """Whether a parameter of the type `new` may take what one of the type `old` took: what stands behind the names of
    classes and aliases is not known."""
    return new in (old, f"Optional[{old}]") or not _KNOWN.issuperset(re.findall(r"\w+", f"{new} {old}"))


def _types(pairs: Iterable[tuple[str, Parameter, Parameter | None]]) -> Iterator[Change]:
    for name, old, new in pairs:
        if new is not None and old.type and new.type and not _takes(new.type, old.type):
            yield Change(Class.TYPE, name, f"`{name}` was of type `{old.type}`, and is of type `{new.type}` now")


def _defaults(call: Call, before: Binding, after: Binding) -> Iterator[Change]:
    now = {p.name: p.default for p in after.defaulted()}
    for old in before.defaulted():
        new = now.get(old.name)
        if old.name and not may_fill(call, old) and new is not None and new != old.default:
            what = f"`{old.name}`, which the call leaves out, was `{old.default}` by default, and is `{new}` now"
            yield Change(Class.DEFAULT, old.name, what)


def _unseen(call: Call, before: Binding, after: Binding) -> Iterator[Change]:
    """What the call may still give by `*args` or `**kwargs`, and what it now must."""
    names = {p.name for p in after.signature.parameters}
    old = before.signature.parameters
    unfilled = {p.name for p in before.unfilled}
    renamed = [n for n, p in enumerate(old) if p.name in unfilled and p.name not in names]
    for number, new in enumerate(after.signature.parameters):
        if new in after.unfilled and new.name not in unfilled and number not in renamed:
            yield Change(Class.MAYBE, new.name, f"`{new.name}` must be given now, by what the call passes on")
    if call.keyword_rest:
        for gone in old:
            if _is_open(gone, before) and takes(before.signature, gone.name) and not takes(after.signature, gone.name):
                yield Change(Class.MAYBE, gone.name, f"`{gone.name}` is gone, and what the call passes on may give it")


def _is_open(parameter: Parameter, binding: Binding) -> bool:
    """Whether nothing is written out for a parameter that can be named."""
    given = (*binding.placed, *binding.named.values())
    return bool(parameter.name) and not any(parameter is p for p in given)
