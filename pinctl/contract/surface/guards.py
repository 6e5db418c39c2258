"""Conditions under which a name is there: of its several places, the one condition that holds for the name."""

from collections.abc import Iterable

ELSE = "else of "
EXCEPT = "except "
TRY = "try/except "
TYPING = "if TYPE_CHECKING"

Guards = tuple[str, ...]


def either(places: Iterable[Guards]) -> Guards:
    """The condition of what stands in several places, each under its own: nothing where one of them always holds, as
    both branches of an `#if` together do; else what they share, and then one or the other."""
    left = list(dict.fromkeys(places))
    while pair := _pair(left):
        shared = pair[0][:-1]
        left = [*(place for place in left if place not in (*pair, shared)), shared]
    if not left or () in left:
        return ()
    if len(left) == 1:
        return left[0]
    shared = _shared(left)
    rest = [" and ".join(place[len(shared) :]) for place in left]
    return shared if "" in rest else (*shared, " or ".join(dict.fromkeys(rest)))


def _pair(places: list[Guards]) -> tuple[Guards, Guards] | None:
    """Two places of which one holds wherever the other does not."""
    for place in places:
        for other in places:
            if place and other and place[:-1] == other[:-1] and other[-1] == opposite(place[-1]):
                return place, other
    return None


def opposite(guard: str) -> str:
    """The condition of the other branch."""
    return EXCEPT + guard.removeprefix(TRY) if guard.startswith(TRY) else ELSE + guard


def _shared(places: list[Guards]) -> Guards:
    first, *others = places
    size = 0
    while all(len(other) > size and size < len(first) and other[size] == first[size] for other in others):
        size += 1
    return first[:size]


def together(*guards: Guards) -> Guards:
    """All of the conditions, each once."""
    return tuple(dict.fromkeys(guard for part in guards for guard in part))
