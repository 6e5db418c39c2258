"""What the consumer says it needs of a package: names, or calls with their keywords, held against one surface.

    requires = ["mega_mhc", "mega.fp8_mega_moe(activation_alpha, activation_beta)"]

A name is meant from the package's root, unless it begins with the name of the package. Keywords are met by one overload
that takes all of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from pinctl.contract.breaks import hints
from pinctl.contract.breaks.binding import takes
from pinctl.contract.breaks.lookup import Found, Lookup
from pinctl.contract.breaks.model import Break, Class
from pinctl.contract.breaks.standing import standing
from pinctl.contract.model import Place, Sort, Surface, Uses

MOST_COMMITS = 400
"""Commits that are looked at for the first one that meets a requirement."""


class Requirement(NamedTuple):
    """A dotted name, and the keywords that a call of it gives."""

    name: str
    keywords: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.keywords)})" if self.keywords else self.name


class Unmet(NamedTuple):
    """A requirement that a surface does not meet, and why. `open`: what is missing may be there all the same."""

    requirement: Requirement
    why: str
    hint: str | None = None
    open: bool = False
    found: Found | None = None


def parse(text: str) -> Requirement:
    """The requirement that an entry of `requires` says, whose form the manifest has checked."""
    name, *keywords = re.findall(r"[\w.]+", text)
    return Requirement(name, tuple(keywords))


def unmet(requirements: Iterable[Requirement], surface: Lookup) -> list[Unmet]:
    """Those of `requirements` that `surface` does not meet."""
    return [why for requirement in requirements if (why := _why(requirement, surface)) is not None]


def _why(requirement: Requirement, surface: Lookup) -> Unmet | None:
    found = _found(requirement.name, surface)
    if found.symbol is None:
        if not found.missing:
            return Unmet(requirement, f"`{requirement.name}` may not be there: {found.reason}", open=True)
        hint = hints.of_name(_absolute(requirement.name, surface)[-1], None, surface)
        return Unmet(requirement, f"`{requirement.name}` is not there", hint)
    signatures = surface.signatures(found.symbol)
    lacking = [[k for k in requirement.keywords if not takes(one, k)] for one in signatures]
    if not lacking or not all(lacking):
        return None
    words = ", ".join(f"`{keyword}`" for keyword in min(lacking, key=len))
    return Unmet(requirement, f"`{requirement.name}` takes no {words}", found=found)


def _found(name: str, surface: Lookup) -> Found:
    """What stands under the first reading of `name` that is not missing; else that it is missing."""
    found = [surface.at_run_time(one) for one in _absolute(name, surface)]
    return next((one for one in found if not one.missing), found[-1])


def _absolute(name: str, surface: Lookup) -> list[str]:
    """The full names that `name` may mean."""
    roots = dict.fromkeys(symbol.partition(".")[0] for symbol in surface.surface.symbols)
    if name.partition(".")[0] in roots:
        return [name]
    return [f"{root}.{name}" for root in roots if root != "torch"] or [name]


def broken(one: Unmet, place: Place, surface: Lookup) -> Break:
    """The break that an unmet requirement, which stands at `place`, is."""
    kind = Class.MAYBE if one.open else Class.SILENT
    what = f"{one.why}, and `requires` asks for it"
    after = standing(surface, one.found)
    return Break(kind, one.requirement.name, what, place, after=after, hint=one.hint, required=not one.open)


def derive(uses: Uses, surface: Lookup, written: Sequence[str]) -> list[str]:
    """What `requires` says when everything that `uses` asks for and `surface` has is required: the entries `written`
    there already, less those that a new one says too, then the new ones by name."""
    known = {text: _canonical(parse(text), surface) for text in written}
    new = [r for r in _used(uses, surface) if not any(_says(old, r) for old in known.values())]
    left = [text for text, old in known.items() if not any(_says(r, old) for r in new)]
    return [*left, *(str(_short(r, surface)) for r in sorted(new))]


def _used(uses: Uses, surface: Lookup) -> Iterator[Requirement]:
    """The names that the consumer cannot do without and the keywords that it gives them, where `surface` has them."""
    asked: dict[str, dict[tuple[str, ...], None]] = {}
    for use in uses.uses:
        symbol = surface.find(use.symbol).symbol
        if symbol is not None and symbol.sort is not Sort.MODULE and not use.probe and not use.alternatives:
            asked.setdefault(use.symbol, {})[tuple(sorted(use.call.keywords)) if use.call else ()] = None
    for name, calls in asked.items():
        every = Requirement(name, tuple(sorted({keyword for keywords in calls for keyword in keywords})))
        apart = [Requirement(name, keywords) for keywords in calls if keywords]
        wanted = [every] if _why(every, surface) is None else apart  # one overload need not take all of them
        yield from (r for r in wanted if _why(r, surface) is None)


def _says(one: Requirement, other: Requirement) -> bool:
    """Whether `one` asks for all that `other` does."""
    return one.name == other.name and set(one.keywords) >= set(other.keywords)


def _canonical(requirement: Requirement, surface: Lookup) -> Requirement:
    """With its full name."""
    names = _absolute(requirement.name, surface)
    return requirement._replace(name=next((n for n in names if surface.find(n).symbol is not None), names[-1]))


def _short(requirement: Requirement, surface: Lookup) -> Requirement:
    """With the name from the package's root, where that says the same."""
    short = requirement.name.partition(".")[2]
    names = _absolute(short, surface) if short else []
    return requirement._replace(name=short) if names == [requirement.name] else requirement


def first_with(requirement: Requirement, commits: Iterable[str], surface_of: Callable[[str], Surface]) -> str | None:
    """The first of `commits`, which are in order from the oldest, whose surface meets `requirement`; None if none of
    the first MOST_COMMITS does. What was there may go again, so that they are looked at one by one."""
    for number, commit in enumerate(commits):
        if number == MOST_COMMITS:
            break
        if _why(requirement, Lookup(surface_of(commit))) is None:
            return commit
    return None
