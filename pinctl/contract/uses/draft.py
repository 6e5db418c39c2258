"""Uses while they are put together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pinctl.contract.model import Call, Guard, Place, Use, When
from pinctl.contract.uses.results import Symbol, Where


@dataclass(slots=True)
class Draft:
    """A use while it is put together: the symbol as it was got, and what is known of the place."""

    symbol: Symbol
    place: Place
    when: When
    call: Call | None
    guards: tuple[Guard, ...]
    probe: bool
    alternatives: dict[str, None] = field(default_factory=dict)
    dependents: dict[Place, None] = field(default_factory=dict)

    def use(self) -> Use:
        """The use."""
        guards = tuple(dict.fromkeys(self.guards))
        alternatives, dependents = tuple(self.alternatives), tuple(sorted(self.dependents))
        name, when = self.symbol.name, self.when
        return Use(name, self.place, when, self.call, guards, alternatives, dependents, self.probe)


class Drafts:
    """The uses so far, by the events that make them."""

    def __init__(self) -> None:
        self._at: dict[Where, list[Draft]] = {}

    def add(self, where: Where, draft: Draft) -> Draft:
        """Add a use that an event makes."""
        self._at.setdefault(where, []).append(draft)
        return draft

    def at(self, where: Where, symbol: str | None = None) -> Iterator[Draft]:
        """The uses that an event makes; those of one symbol."""
        return (draft for draft in self._at.get(where, ()) if symbol in (None, draft.symbol.name))

    def sources(self, symbol: Symbol) -> list[Draft]:
        """The uses by which a symbol was got."""
        found = ([*self.at(origin, symbol.name)] for origin in reversed(symbol.origins))
        return next(filter(None, found), [])

    def all(self) -> Iterator[tuple[Where, Draft]]:
        """All uses, each with its event."""
        return ((where, draft) for where, drafts in self._at.items() for draft in drafts)

    def inherit(self) -> None:
        """What hides that a name is missing where it was got hides it where it is called."""
        for _, draft in self.all():
            sources = [] if draft.symbol.fresh else self.sources(draft.symbol)
            guards = [guard for source in sources for guard in source.guards]
            draft.guards = (*draft.guards, *(guard for guard in guards if guard is not Guard.MISFIT))

    def depend(self, symbol: Symbol, origins: Iterable[Where], place: Place) -> None:
        """Note that the call at `place` goes through the uses by which `symbol` was got, of it or of what it is below
        of."""
        for origin in origins:
            for draft in self.at(origin):
                if f"{symbol.name}.".startswith(f"{draft.symbol.name}.") and draft.place != place:
                    draft.dependents[place] = None

    def uses(self) -> tuple[Use, ...]:
        """All uses by place, each once: a name that is called where it is got is one use."""
        made: dict[tuple[object, ...], Use] = {}
        drafts = [draft for _, draft in self.all()]
        called = {(draft.symbol.name, draft.place) for draft in drafts if draft.call is not None}
        for draft in drafts:
            use = draft.use()
            if use.call is None and not use.probe and (use.symbol, use.place) in called:
                continue
            key = (use.symbol, use.place, use.call, use.probe)
            held = made.get(key, use)
            made[key] = use._replace(
                dependents=tuple(sorted({*held.dependents, *use.dependents})),
                alternatives=tuple(dict.fromkeys((*held.alternatives, *use.alternatives))),
            )
        return tuple(sorted(made.values(), key=lambda use: (use.place, use.symbol, use.probe)))
