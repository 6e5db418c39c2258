"""What is seen of an environment or an image, as plain data."""

from collections.abc import Mapping
from typing import NamedTuple

from pinctl.model import NOTHING
from pinctl.wheel.names import normal_name
from pinctl.wheel.provenance import Provenance

LARGEST_LIBRARY = 256 * 1024**2
"""Bytes of an extension that is looked into."""


class Installed(NamedTuple):
    """An installed distribution.

    place       its .dist-info folder
    provenance  ours; why it cannot be read; None: there is none
    commit      the commit that pip built it from, as direct_url.json says (PEP 610); "" where it does not
    imports     the names at the top of what it brings
    needed      library to the libraries that it asks the loader for
    unread      libraries that were not looked into, and why
    since       when it was installed, in seconds since 1970; None where that is not known
    """

    name: str
    version: str
    place: str
    provenance: Provenance | str | None = None
    commit: str = ""
    imports: tuple[str, ...] = ()
    needed: Mapping[str, tuple[str, ...]] = NOTHING
    unread: tuple[str, ...] = ()
    since: float | None = None

    @property
    def project(self) -> str:
        """The name as indexes normalise it (PEP 503)."""
        return normal_name(self.name)

    @property
    def public(self) -> str:
        """The version without its local label."""
        return self.version.partition("+")[0]


class Environment(NamedTuple):
    """What was seen. `where` names it for people; `torch_cuda` is what torch was built for: None where torch is not
    there, "" where it has no CUDA. `joined`: all of it is on one path; an image may hold several environments."""

    where: str
    python: str
    installed: tuple[Installed, ...]
    torch_cuda: str | None = None
    joined: bool = True

    def beside(self, one: Installed) -> tuple[Installed, ...]:
        """What is on one path with `one`, itself included."""
        folder = one.place.rpartition("/")[0]
        return tuple(other for other in self.installed if self.joined or other.place.rpartition("/")[0] == folder)

    def of(self, project: str) -> Installed | None:
        """The distribution of a normalised name; the first on the path, which is what is imported."""
        return next((one for one in self.installed if one.project == project), None)
