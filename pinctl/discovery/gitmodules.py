"""Submodules: the commit in the index beside the address in .gitmodules."""

from collections.abc import Mapping
from dataclasses import replace

from pinctl.discovery import names, values
from pinctl.discovery.literals import What
from pinctl.discovery.sightings import Sighting
from pinctl.finding import Span
from pinctl.gitlink import SELECTOR
from pinctl.sites.base import Document


def links(file: str, document: Document, commits: Mapping[str, str]) -> list[Sighting]:
    """The submodules that the .gitmodules `document` gives a URL of, each with its commit of `commits` (by path)."""
    found: list[Sighting] = []
    index = document.index()
    for path, commit in commits.items():
        for slot in (hit[0] for hit in index.get(f"{path}.url", [])):
            url = str(slot.value)
            if not values.is_repo(url, certain=True):
                continue
            span = Span.of(document.source, slot.start, slot.end)
            told = Sighting(
                what=What.REPO, file=file, value=url, span=span, selector=f"{path}.url",
                about=names.squash(path.rpartition("/")[2]), calls=(f"{file}:{path}",),
            )  # fmt: skip
            found += [told, replace(told, what=What.COMMIT, file=path, value=commit, span=None, selector=SELECTOR)]
    return found
