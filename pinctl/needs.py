"""What pins need of each other: a version, or the commit that a pinned tree has of a dependency of its own. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pinctl import nested
from pinctl.compare import agree
from pinctl.facts import UnstoredError
from pinctl.model import KeyPath, Manifest, Pin
from pinctl.versions import fits, is_version


class Broken(NamedTuple):
    """A need that is not met: of the pin `pin`, stated at `key`, of the pin `other`, whose fact is at `fact`. `wanted`
    is the specifier or the commit, `found` what is pinned."""

    pin: str
    key: KeyPath
    other: str
    fact: KeyPath
    wanted: str
    found: str

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        return f"{self.pin} needs {self.other} {self.wanted}, and it is pinned at {self.found}"

    @property
    def hint(self) -> str:
        """What mends it."""
        if self.fact[-1] == "commit":
            return f"run: pinctl bump {self.other} --to {self.wanted}; or bump {self.pin} to a commit that has this one"
        return f"bump one of the two: pinctl bump {self.other}, or pinctl bump {self.pin}"


def providing(name: str, manifest: Manifest) -> Pin | None:
    """The pin that is called `name`, else the one with a package of that name (PEP 503)."""
    plain = _normalized(name)
    having = (pin for pin in manifest.pins.values() if plain in map(_normalized, pin.packages))
    return manifest.pins.get(name) or next(having, None)


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def broken(manifest: Manifest) -> Iterator[Broken]:
    """The needs that are not met. One that asks for a gitlink that is not stored cannot be judged: see `unstored`."""
    for pin in manifest.pins.values():
        for name, need in pin.needs.items():
            other = providing(name, manifest)
            path = nested.path_of(need)
            at = "version" if path is None else "commit"
            wanted = need if path is None else pin.nested.get(path)
            found = getattr(other, at, None) or _short(other)
            if other is not None and wanted and found and not _met(wanted, found, by_version=path is None):
                yield Broken(
                    pin.name, ("pins", pin.name, "needs", name), other.name, ("pins", other.name, at), wanted, found
                )


def _short(pin: Pin | None) -> str | None:
    """The short id of a commit that is not known in full."""
    return pin.unresolved if pin is not None and isinstance(pin.unresolved, str) else None


def _met(wanted: str, found: str, *, by_version: bool) -> bool:
    return agree(wanted, found) if not by_version else not is_version(found) or fits(found, wanted)


def unstored(manifest: Manifest) -> Iterator[tuple[KeyPath, UnstoredError]]:
    """The needs that ask for a gitlink which is not stored."""
    for pin in manifest.pins.values():
        for name, need in pin.needs.items():
            path = nested.path_of(need)
            if path is not None and path not in pin.nested:
                yield ("pins", pin.name, "needs", name), UnstoredError(pin.name, path)
