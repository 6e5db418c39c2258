"""Commits that are fetched with GIT_SHALLOW. Pure.

Such a fetch takes the tip of a branch or tag alone (ExternalProject, "GIT_SHALLOW"), which the pinned commit is on the
day of its bump and no longer.
"""

import re
from collections.abc import Iterator

from pinctl.codes import finding
from pinctl.finding import Finding, Span
from pinctl.reconcile import Observation, Reconciliation
from pinctl.sites import split_nth
from pinctl.sites.base import Document, Slot
from pinctl.template import Kind

_COMMANDS = ("FetchContent_Declare", "FetchContent_Populate", "ExternalProject_Add", "CPMAddPackage", "CPMFindPackage")
_NEXT = re.compile(rb"(?P<shallow>GIT_SHALLOW\s+)|\b(?i:FetchContent_|ExternalProject_|CPM)\w+\s*\(")
_TRUE = ("1", "ON", "YES", "TRUE", "Y")


def findings(seen: Reconciliation) -> Iterator[Finding]:
    """A warning (PIN225) for each call of a site that fetches its pinned commit with GIT_SHALLOW."""
    for observation in seen.observations:
        document = seen.documents[observation.site.file]
        slot = _slot(observation, document)
        if slot is not None and isinstance(slot.value, str) and slot.value.upper() in _TRUE:
            yield finding(
                "PIN225",
                f"`{observation.site.selector}` fetches a commit by its id with GIT_SHALLOW",
                file=observation.site.file,
                span=Span.of(document.source, slot.start, slot.end),
                pin=observation.site.pin,
                selector=slot.selector,
                hint="drop GIT_SHALLOW: it fails as soon as the commit is no branch's tip",
            )


def _slot(observation: Observation, document: Document) -> Slot | None:
    """The GIT_SHALLOW of the call that holds the observed ref. Its bytes are looked for first: few files have one."""
    if observation.part != "ref" or observation.slot is None or observation.expected.kind is not Kind.COMMIT:
        return None
    match = _NEXT.search(document.source, observation.slot.group + 1)
    if match is None or match["shallow"] is None:
        return None
    _, bracket, key = split_nth(observation.site.selector)[0].partition("(")
    hits = (hit for command in _COMMANDS for hit in document.find(f"{command}{bracket}{key}.GIT_SHALLOW"))
    return next((hit[0] for hit in hits if hit[0].start == match.end()), None)
