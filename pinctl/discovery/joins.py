"""Which sightings hold one fact: by the call they share, by repository and ref, by commit, by package, by name.

Units, which are what one call says or one literal by itself, are joined step by step. What a name alone joins and what
then disagrees is a disagreement to be told, unless it is meant so (see `variants`).
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from posixpath import dirname

from pinctl.discovery import names, values
from pinctl.discovery.groups import Group, joined, units
from pinctl.discovery.literals import What
from pinctl.discovery.sightings import Sighting, Weight
from pinctl.discovery.variants import by_accelerator, by_image, settled

_DATA = (".json", ".yaml", ".yml")
_MOST_ALIKE = 4
"""Data files of one folder that say a thing in the same place: more of them are records, not pins."""
_LOOSE_FAMILIES = frozenset("cuda google mypy nvidia py pytest python sphinx tree types".split())
"""First words of package names that many unrelated packages share."""
_TELLING = 5
"""A name of so many letters is hardly another dependency's by chance."""
_MOST_OWNERS = 20
"""So many groups of one name are asked whether they own another one."""


def group(found: Iterable[Sighting]) -> list[Group]:
    """The groups: those with a repository first, then those with packages, and those in the most files first."""
    whole = _joined(units(_without_records(list(found))))
    parts = [part for one in whole for image in by_image(one) for part in by_accelerator(image)]
    return sorted((part for one in _with_names(parts) for part in settled(one)), key=_order)


def _order(group_: Group) -> tuple[bool, bool, int, str, str]:
    first = group_.sightings[0]
    return not group_.repos, not group_.packages, -len(group_.files), first.about, first.value


def _without_records(found: Sequence[Sighting]) -> list[Sighting]:
    """Without what many files of one folder say in the same place: they record what they were made with."""
    places = {(dirname(s.file), s.selector, s.file) for s in found if s.file.endswith(_DATA)}
    files = Counter((folder, selector) for folder, selector, _ in places)
    return [s for s in found if files[dirname(s.file), s.selector] <= _MOST_ALIKE or not s.file.endswith(_DATA)]


# --- by what they say ---


def _joined(parts: Sequence[Group]) -> list[Group]:
    """Units of one commit, package, image or name, and of one repository at one ref."""
    alternatives = _alternatives(parts)
    commits = sorted({s.value for part in parts for s in part.of(What.COMMIT) if values.is_commit(s.value)})
    first = _first_of_repository(parts)

    def keys(at: int) -> Iterator[tuple[str, str]]:
        part = parts[at]
        yield from _keys(part, alone=at in alternatives)
        yield from (("commit", _completed(s.value, commits)) for s in part.of(What.COMMIT))
        for repo in part.repos:
            yield from (("repository at", f"{repo} {ref}") for ref in part.refs)
            if not part.refs:
                yield "unit", str(first.get((repo, *sorted(part.abouts)[:1]), first[repo,]))
        yield "unit", str(at)

    together = joined(len(parts), keys)
    return [Group([s for at in members for s in parts[at].sightings]) for members in together]


def _alternatives(parts: Sequence[Group]) -> set[int]:
    """Units of one name in one file that differ: the branches of an `if`, each of which is meant."""
    by_name: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, part in enumerate(parts):
        if part.repos and part.refs:
            for key in {(s.file, s.about) for s in part.sightings if s.about}:
                by_name[key].append(at)
    return {at for ats in by_name.values() if not set.intersection(*(parts[at].refs for at in ats)) for at in ats}


def _keys(part: Group, *, alone: bool) -> Iterator[tuple[str, str]]:
    """What a unit has in common with others by its names."""
    for sighting in part.sightings:
        if sighting.what is What.IMAGE:
            yield "image", sighting.value
            if (name := names.identifier(sighting.selector)) not in (name.lower(), "FROM", "COPY"):
                yield "image variable", f"{name} {values.image_name(sighting.value)}"
            continue
        if sighting.what is What.URL:
            yield "url", sighting.value
        packages = [names.squash(package) for package in sighting.packages]
        yield from (("version", package) for package in packages)
        if sighting.about and not alone and sighting.about not in packages:
            yield "about", sighting.about
            yield from [("version", sighting.about)] * (sighting.what is What.VERSION)


def _completed(commit: str, full: Sequence[str]) -> str:
    """The first of the sorted full ids that `commit` abbreviates; `commit` itself where there is none."""
    at = bisect_left(full, commit)
    return full[at] if at < len(full) and full[at].startswith(commit) else commit


def _first_of_repository(parts: Sequence[Group]) -> dict[tuple[str, ...], int]:
    """For each repository, and for each with a name, the first unit that says a ref of it; else the first at all."""
    found: dict[tuple[str, ...], int] = {}
    for pinned in (True, False):
        for at, part in enumerate(parts):
            for repo in part.repos if bool(part.refs) is pinned else ():
                for key in ((repo,), *((repo, about) for about in part.abouts)):
                    found.setdefault(key, at)
    return found


# --- by names alone ---


def _with_names(groups: Sequence[Group]) -> list[Group]:
    """Join what only a name connects: packages to their family, a package to its repository, a variable to the one
    repository or package of that name."""
    families = _families(groups)
    packaged = _absorbed(families, lambda whole: bool(whole.packages))
    return _absorbed(packaged, lambda whole: not whole.packages)


def _families(groups: Sequence[Group]) -> list[Group]:
    """Packages of one family at one version in one file are one pin: flashinfer-python and flashinfer-cubin."""

    def keys(at: int) -> Iterator[tuple[str, str]]:
        for s in groups[at].sightings:
            for package in s.packages if s.weight is Weight.FIRM else ():
                family = names.words(package)[0]
                if family not in _LOOSE_FAMILIES:
                    yield "family", f"{family} {s.value} {s.file}"

    together = joined(len(groups), keys)
    return [
        Group([s for at in members for s in groups[at].sightings], groups[members[0]].variant) for members in together
    ]


def _absorbed(groups: Sequence[Group], movable: Callable[[Group], bool]) -> list[Group]:
    """The groups, those `movable` ones that have an owner being a part of it."""
    owners: defaultdict[str, list[Group]] = defaultdict(list)
    for whole in groups:
        for name in _own_names(whole):
            owners[name].append(whole)
    kept = []
    for whole in groups:
        target = _owner(whole, owners) if movable(whole) else None
        if target is None:
            kept.append(whole)
        else:
            target.sightings += whole.sightings
    return kept


def _own_names(group_: Group) -> set[str]:
    """The names that a sourced group goes by: its repository's, its packages', the first word of a package and, where
    that is telling, what follows it (apache-tvm-ffi -> tvmffi)."""
    if group_.repos:
        return {names.squash(repo.rpartition("/")[2]) for repo in group_.repos} | group_.abouts
    found: set[str] = set()
    for package in {p for s in group_.sightings if s.weight is not Weight.LOCKED for p in s.packages}:
        first, *rest = names.words(package)
        found |= {names.squash(package), first, *(["".join(rest)] if len("".join(rest)) >= _TELLING else [])}
    return found - _LOOSE_FAMILIES


def _owner(group_: Group, owners: dict[str, list[Group]]) -> Group | None:
    """The sourced group that `group_` is a part of, by name and by value.

    Variables go to the repository or package that they are named after, of several to the one with their value;
    packages to a repository of their name that has their version.
    """
    if group_.repos or group_.of(What.IMAGE, What.URL):
        return None
    own = _own_names(group_) if group_.packages else group_.abouts
    candidates = [o for name in sorted(own) for o in owners.get(name, ())[:_MOST_OWNERS] if o is not group_]
    candidates.sort(key=lambda o: o.variant != group_.variant)
    said = group_.said
    exact = [o for o in candidates if said & o.said]
    if group_.packages:
        return next((o for o in exact if o.repos), None)
    named = [o for o in candidates if o.repos or group_.abouts & {names.squash(p) for p in o.packages}]
    return next(iter(exact + [o for o in named if o.variant == group_.variant]), None)
