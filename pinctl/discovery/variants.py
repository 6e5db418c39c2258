"""What differs and is meant to: images that one file has several of, values for another accelerator, overrides."""

from collections import defaultdict
from collections.abc import Iterator

from pinctl.discovery import names
from pinctl.discovery.groups import Group, is_series, joined, like, main_value, units
from pinctl.discovery.literals import What
from pinctl.discovery.sightings import Sighting, Weight
from pinctl.urls import identity


def by_image(whole: Group) -> list[Group]:
    """Images of one name are one pin, unless one file has several of them: then each is meant."""
    by_file: defaultdict[str, set[str]] = defaultdict(set)
    for sighting in whole.of(What.IMAGE):
        by_file[sighting.file].add(sighting.value)
    if all(len(held) < 2 for held in by_file.values()):
        return [whole]
    seen = whole.sightings
    together = joined(len(seen), lambda at: [("image", seen[at].value)])
    return [Group([seen[at] for at in members]) for members in together]


def by_accelerator(whole: Group, level: int = 0) -> Iterator[Group]:
    """Split off what another accelerator's files pin to another value.

    All that is for that accelerator goes together, and is split once more by what it is for in particular: rocm, then
    gfx1250.
    """
    members = [(unit, _accelerator(unit, level)) for unit in units(whole.sightings)]
    main = main_value([unit for unit, kind in members if not kind], [unit for unit, _ in members])
    apart = {kind for unit, kind in members if kind and main and not all(_fits(s, main) for s in unit.firm)}
    parts: defaultdict[str, Group] = defaultdict(Group)
    for unit, kind in members:
        parts[kind if kind in apart else ""].sightings += unit.sightings
    for kind, part in parts.items():
        part.variant = kind if kind and len(parts) > 1 else whole.variant
        yield from by_accelerator(part, level + 1) if kind else [part]


def _accelerator(unit: Group, level: int) -> str:
    """The accelerator, general (level 0) or special (1), that the unit is for; "" for none."""
    texts = (text for s in unit.sightings if s.selector for text in (s.file, s.selector))
    return next((found[level] for text in texts if len(found := names.accelerators(text)) > level), "")


def _fits(sighting: Sighting, main: str) -> bool:
    return like(sighting.value, main) or is_series(sighting.value, main)


def settled(whole: Group) -> Iterator[Group]:
    """The group without what is weak and disagrees. Overrides that disagree, and versions of other precision (13.0
    beside 13.0.3), are groups by their values."""
    version = main_value([Group(whole.of(What.VERSION))])
    stray = _stray_repos(whole)
    main = Group(variant=whole.variant)
    others: defaultdict[str, Group] = defaultdict(Group)
    for sighting in whole.sightings:
        if sighting.what is What.REPO and identity(sighting.value) in stray:
            continue
        if sighting.what is What.VERSION and version and is_series(sighting.value, version):
            others[sighting.value].sightings.append(sighting)
        elif _belongs(sighting, version):
            main.sightings.append(sighting)
        elif sighting.weight is Weight.OVERRIDE:
            others[sighting.value].sightings.append(sighting)
    if main.sightings:
        yield main
    for value, other in others.items():
        other.variant = value if main.sightings else ""
        yield other


def _belongs(sighting: Sighting, version: str | None) -> bool:
    firm = sighting.weight is Weight.FIRM or sighting.what is What.IMAGE
    return firm or (version is not None and like(sighting.value, version))


def _stray_repos(whole: Group) -> set[str]:
    """Repositories of which only a moving branch is taken, by the same call or by a variable of the same name beside
    it: they are no disagreement with what the group pins."""
    branches = {(s.file, s.about) for s in whole.of(What.BRANCH)} - {(s.file, s.about) for s in whole.firm}
    moving: set[str] = set()
    fixed: set[str] = set()
    for unit in units(whole.sightings):
        beside = any((s.file, s.about) in branches for s in unit.of(What.REPO) if s.about)
        if not unit.refs and (beside or unit.of(What.BRANCH)):
            moving.update(unit.repos)
        elif any(s.weight is Weight.FIRM for s in unit.sightings):
            fixed.update(unit.repos)
    return moving - fixed
