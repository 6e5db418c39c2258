"""Lines of requirements files that hold `--hash` digests: another version goes there with the digests of its files."""

from collections.abc import Mapping, Sequence

from pinctl.reconcile import Observation, Reconciliation
from pinctl.sites.base import Unwritable
from pinctl.sites.requirements import HASHED, parse

Locks = Mapping[tuple[str, str], Sequence[str]]
"""By the selector of a requirement, such as `requirement tilelang`, and what is to stand there: the sha256 of the files
that may then be installed. The selector is "" for the address of a file."""


def renewed(seen: Reconciliation, locks: Locks) -> list[Observation]:
    """The observations of `seen`, with the edits of those lines that `locks` has the digests for."""
    return [_renewed(observation, seen, locks) if _is_locked(observation) else observation
            for observation in seen.observations]  # fmt: skip


def _is_locked(observation: Observation) -> bool:
    return observation.unwritable is not None and observation.slot is not None and observation.slot.style == HASHED


def _renewed(observation: Observation, seen: Reconciliation, locks: Locks) -> Observation:
    slot, value = observation.slot, observation.wanted
    if slot is None or not isinstance(value, str):
        return observation
    name = "" if slot.selector.startswith("url ") else slot.selector
    document = parse(seen.documents[observation.site.file].source)  # which may be known without having been parsed
    try:
        edits = document.relocked(slot, value, locks.get((name, value), ()))
    except Unwritable as error:
        return observation._replace(unwritable=error)
    return observation._replace(edits=tuple(edits), unwritable=None)
