"""A surface as plain data and back. Most of it is said many times over, by names that lead to names: signatures,
files and conditions are each written once."""

from collections.abc import Hashable, Iterable
from typing import Any

from pinctl.contract.model import Mechanism, Place, Signature, Sort, Surface, Symbol
from pinctl.contract.surface.plain import decoder

_SIGNATURES = decoder(tuple[Signature, ...])


class _Table:
    """Values by number, each once."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def all(self, values: Iterable[Hashable]) -> list[int]:
        return [self.number(value) for value in values]


def pack(surface: Surface) -> dict[str, Any]:
    """Plain data that `unpack` makes the surface of."""
    signatures, files, guards = _Table(), _Table(), _Table()
    symbols = [
        [s.name, s.sort, s.mechanism, files.number(s.place.file), s.place.line, s.place.column,
         signatures.all(s.signatures), guards.number(s.guards), s.target]
        for s in surface.symbols.values()
    ]  # fmt: skip
    return {
        "commit": surface.commit, "symbols": symbols, "signatures": list(signatures.numbers),
        "files": list(files.numbers), "guards": list(guards.numbers), "open": dict(surface.open),
        "imports": dict(surface.imports), "unread": dict(surface.unread),
    }  # fmt: skip


def unpack(plain: Any) -> Surface:
    """The surface. Raises TypeError or ValueError for what `pack` never made."""
    try:
        signatures, files = _SIGNATURES(plain["signatures"]), plain["files"]
        guards = [tuple(guard) for guard in plain["guards"]]
        sorts, mechanisms = {s.value: s for s in Sort}, {m.value: m for m in Mechanism}
        symbols = {
            name: Symbol(name, sorts[sort], mechanisms[mechanism], Place(files[file], line, column),
                         tuple([signatures[number] for number in numbers]), guards[guard], target)
            for name, sort, mechanism, file, line, column, numbers, guard, target in plain["symbols"]
        }  # fmt: skip
        imports = {file: tuple(others) for file, others in plain["imports"].items()}
        return Surface(plain["commit"], symbols, plain["open"], imports, plain["unread"])
    except (LookupError, AttributeError) as error:
        raise ValueError("no surface") from error
