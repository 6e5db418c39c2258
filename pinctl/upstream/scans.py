"""What was found in sources, by the ids of their blobs: one that was scanned once, at whatever commit, need be neither
fetched nor read again. Entries go to disk as JSON."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pinctl.upstream.includes import Include

POINTER = b"version https://git-lfs.github.com/spec/"
"""What a file begins with that is in the keeping of Git LFS."""

_POINTER = "lfs"


class Scanned(NamedTuple):
    """The includes of a source; `pointer`: it is in the keeping of LFS, and nothing is known of it."""

    includes: tuple["Include", ...] = ()
    pointer: bool = False


class Scans:
    """The sources that were scanned. `kept` are the entries of an earlier run; what has not the shape of one is left
    out. `learned`: whether something was scanned in this one."""

    def __init__(self, kept: Mapping[str, Any] | None = None) -> None:
        self._kept = kept or {}
        self._found: dict[str, Scanned | None] = {}
        self.learned = False

    def __contains__(self, id_: str) -> bool:
        return id_ in self._found or self._recalled(id_)

    def __getitem__(self, id_: str) -> Scanned | None:
        """What was found in the blob `id_`, which is known; None for one that is too large to be looked into."""
        return self._found[id_]

    def learn(self, id_: str, source: bytes | None) -> None:
        """Scan a source; None: it is too large."""
        from pinctl.upstream.includes import scan

        pointer = source is not None and source.startswith(POINTER)
        self._found[id_] = None if source is None else Scanned(() if pointer else tuple(scan(source)), pointer)
        self.learned = True

    def entries(self) -> dict[str, Any]:
        """What this run knew or learned, as JSON holds it."""
        return {id_: _plain(found) for id_, found in self._found.items()}

    def _recalled(self, id_: str) -> bool:
        try:
            self._found[id_] = _read(self._kept[id_])
        except (KeyError, TypeError, ValueError):
            return False
        return True


def _plain(found: Scanned | None) -> object:
    return None if found is None else _POINTER if found.pointer else [list(include) for include in found.includes]


def _read(entry: Any) -> Scanned | None:
    """Raises TypeError, ValueError for what is no entry."""
    if entry is None:
        return None
    if entry == _POINTER:
        return Scanned(pointer=True)
    return Scanned(tuple(_include(*fields) for fields in entry))


def _include(name: object, line: object, angled: object, guarded: object, condition: object) -> "Include":
    from pinctl.upstream.includes import Include

    if not (isinstance(name, str) and isinstance(line, int) and isinstance(condition, str | None)):
        raise TypeError
    return Include(name, line, bool(angled), bool(guarded), condition)
