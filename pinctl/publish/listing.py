"""What an index has of a project already: its files with their digests, and the day that a release was opened."""

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from pinctl.index import names
from pinctl.index.reading import Link, Page


class Listing(NamedTuple):
    """The files of a project, by name."""

    links: Mapping[str, Link]

    def opened(self, filename: str) -> date | None:
        """The day of the first file of the release that `filename` is of; None where there is none, or nothing says
        it (HTML does not)."""
        version = names.known(filename).version
        days = [link.uploaded[:10] for link in self.links.values() if link.uploaded and _version(link) == version]
        try:
            return min(map(date.fromisoformat, days), default=None)
        except ValueError:
            return None


def listing(page: Page) -> Listing:
    """What `page` lists. Of several links of one name the last counts, as for pip."""
    return Listing({link.filename: link for link in page.links})


def _version(link: Link) -> object:
    name = names.parse(link.filename)
    return name.version if name else None
