"""Small trees of files, written as texts, and what `init` makes of them without a disk."""

from collections.abc import Iterable, Mapping

from pinctl import sites
from pinctl.discovery import telling
from pinctl.discovery.groups import Group
from pinctl.discovery.hints import Hints, hints
from pinctl.discovery.joins import group
from pinctl.discovery.proposal import Proposed, propose
from pinctl.discovery.sightings import Sighting, sightings

OLD, NEW, OTHER = "8b1392b978f5cc6770bd45141008bf0ab0bde5c2", "b2" * 20, "c3d4" * 10
"""Commit ids."""
DIGEST = "0123456789abcdef" * 4

Tree = Mapping[str, str]
"""The texts of files by their paths."""


def hinted(file: str, text: str) -> Hints:
    """The hints in one file."""
    source = text.encode()
    language = sites.language_of(file, source)
    return hints(file, language, sites.parse(language, source))


def seen(file: str, text: str) -> list[Sighting]:
    """The sightings in one file."""
    source = text.encode()
    document = sites.parse(sites.language_of(file, source), source)
    return sightings(file, document, hinted(file, text), locked=telling.is_locked(source))


def told(file: str, text: str) -> list[tuple[str, str, str]]:
    """Selector, kind and value of the sightings in one file that have a place."""
    return [(s.selector, s.what.value, s.value) for s in seen(file, text) if s.selector]


def grouped(tree: Tree) -> list[Group]:
    return group(sighting for file, text in tree.items() for sighting in seen(file, text))


def pins(tree: Tree) -> dict[str, Proposed]:
    """The pins that are proposed for a tree, by name."""
    return {pin.name: pin for pin in propose(grouped(tree))}


def places(pin: Proposed) -> dict[tuple[str, str], str]:
    """The templates of a pin by file and selector."""
    return {(place.file, place.selector): place.template for place in pin.places}


def files(groups: Iterable[Group]) -> list[set[str]]:
    """The files that each group has places in."""
    return [{s.file for s in one.sightings if s.selector} for one in groups]
