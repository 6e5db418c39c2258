"""Where pages lie, whose a label is, how long files are kept: `[index]` and the variants of pins.toml, as data."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pinctl.index import records
from pinctl.model import NOTHING, Manifest, Variant

USUAL = "{channel}/{variant}/"
"""The folder of a page, unless pins.toml says otherwise."""
FILES = "files"
"""The folder of the files that the index itself holds."""
CHANNEL = "release"
"""The channel of a file of which nothing else is said."""


class Layout(NamedTuple):
    """`url` is the address of the root; `folders` the folder of a page by channel, "*" for those not named; `retention`
    the days that a channel's files are kept."""

    url: str | None = None
    folders: Mapping[str, str] = {"*": USUAL}
    channels: tuple[str, ...] = ()
    retention: Mapping[str, int] = NOTHING
    records: str = records.FILE

    def folder(self, channel: str, variant: str) -> str:
        """The folder of the page: `release/cu129`."""
        template = self.folders.get(channel) or self.folders.get("*") or USUAL
        return template.replace("{channel}", channel).replace("{variant}", variant).strip("/")


def layout(manifest: Manifest | None) -> Layout:
    """What `[index]` says; the usual where there is none."""
    said: Mapping[str, Any] = manifest.index if manifest else NOTHING
    folders = said.get("layout", USUAL)
    return Layout(
        url=said.get("url"),
        folders={"*": folders} if isinstance(folders, str) else folders,
        channels=tuple(said.get("channels", ())),
        retention=said.get("retention", NOTHING),
        records=said.get("records", records.FILE),
    )


class Variants(NamedTuple):
    """The variants that pins.toml declares, and the names of pages, which are variants too, whatever made them.

    A label belongs to the variant that declares it, and to the page of that name. A label of neither, such as `+g0a1b2`
    or a date, is nobody's, and can stand anywhere.
    """

    declared: Mapping[str, Variant] = NOTHING
    pages: frozenset[str] = frozenset()

    def with_pages(self, pages: Iterable[str]) -> "Variants":
        return self._replace(pages=self.pages | frozenset(pages))

    def foreign(self, label: str, variant: str) -> str | None:
        """The part of `label` (`cu129`, `g0a1b2.cu129`) that belongs to other variants alone; None where there is
        none."""
        owned = [part for part in label.split(".") if part and self._owners(part)]
        return None if not owned or any(variant in self._owners(part) for part in owned) else owned[0]

    def home(self, part: str) -> str:
        """The variant that a foreign part of a label belongs to: one that has a page, where any has."""
        owners = sorted(self._owners(part), key=lambda name: (name not in self.pages, name))
        return owners[0]

    def of_label(self, label: str) -> str | None:
        """The variant that a file with this label is of; without a label, the one declared variant that has none. None
        where that is not one alone."""
        if label:
            found = {self.home(part) for part in label.split(".") if self._owners(part)}
        else:
            found = {name for name, variant in self.declared.items() if variant.label is None}
        return found.pop() if len(found) == 1 else None

    def _owners(self, part: str) -> frozenset[str]:
        declaring = {name for name, variant in self.declared.items() if variant.label == part}
        return frozenset(declaring | ({part} & (self.pages | self.declared.keys())))
