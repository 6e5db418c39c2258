"""Which version is the next one: what the sources of a pin, or of a group of pins, have in common, what is passed over
on the way to it, and why. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import NamedTuple, Protocol

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pinctl.model import Manifest, Pin, Variant
from pinctl.upstream import releases
from pinctl.upstream.availability import Offer, runs
from pinctl.upstream.simple import Release
from pinctl.versions import is_version, specifier_problem


class Passed(NamedTuple):
    """A version that is newer than the one that was chosen, and what speaks against it."""

    version: str
    why: str


class Source(Protocol):
    """Where the versions of a pin come from."""

    @property
    def versions(self) -> frozenset[Version]: ...

    def lacks(self, version: Version) -> str | None:
        """That it has no such version; None where it has."""

    def objection(self, version: Version) -> str | None:
        """What speaks against `version`, if anything does."""

    def spelled(self, version: Version) -> str:
        """`version` as it is written there."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The packages of a pin, as indexes offer them, and by package the wheels that it needs."""

    stock: Mapping[str, Mapping[Version, Sequence[Release]]]
    needs: Mapping[str, Sequence["_Need"]]

    @property
    def versions(self) -> frozenset[Version]:
        return frozenset(version for held in self.stock.values() for version in held)

    def lacks(self, version: Version) -> str | None:
        without = [package for package, held in self.stock.items() if version not in held]
        return f"there is no {' and no '.join(without)} of it" if without else None

    def objection(self, version: Version) -> str | None:
        against = (why for package in self.stock for why in self._against(package, version))
        return self.lacks(version) or next(against, None)

    def spelled(self, version: Version) -> str:
        return str(version)

    def _against(self, package: str, version: Version) -> Iterator[str]:
        held = self.stock[package][version]
        files = [one for one in held if one.file.yanked is None]
        name = f"{package}: " if len(self.stock) > 1 else ""
        if not files:
            reason = next((one.file.yanked for one in held if one.file.yanked), "")
            yield f"{name}yanked: {reason}" if reason else f"{name}yanked"
        for need in self.needs[package]:
            if files and not need.met(files):
                yield f"{name}no wheel{need}"


class _Need(NamedTuple):
    """A wheel for a platform and a Python; "" for any of them."""

    platform: str = ""
    python: str = ""
    musl: bool = False

    def met(self, files: Sequence[Release]) -> bool:
        if not self.platform:
            return any(one.tags for one in files)
        return any(runs(one, self.platform, self.python, musl=self.musl) for one in files)

    def __str__(self) -> str:
        return (f" for {self.platform}" if self.platform else "") + (
            f" with Python {self.python}" if self.python else ""
        )


def shelf(pin: Pin, offers: Sequence[Offer], variants: Sequence[Variant]) -> Shelf:
    """The packages of `pin`. What counts of its `variants` is what its present version serves: one that never had a
    wheel for a platform does not wait for it. Without variants any wheel counts, if the present version has one."""
    present = Version(pin.version) if pin.version and is_version(pin.version) else None
    stock = {package: _stock(package, offers, present) for package in pin.packages}
    needs = {package: _needs(held.get(_key(present, present), ()) if present else (), variants)
             for package, held in stock.items()}  # fmt: skip
    return Shelf(stock, needs)


def _stock(package: str, offers: Sequence[Offer], present: Version | None) -> dict[Version, list[Release]]:
    from pinctl.upstream.simple import releases as parsed

    found: dict[Version, list[Release]] = {}
    label = present.local if present else None
    for offer in offers:
        if offer.package == package:
            for one in parsed(offer.files, package):
                if label is None or one.version.local == label:
                    found.setdefault(_key(one.version, present), []).append(one)
    return found


def _key(version: Version, present: Version | None) -> Version:
    """`version` as a pin at `present` means it: without a local label every one counts (PEP 440, `==`)."""
    return version if present and present.local else Version(version.public)


def _needs(served: Sequence[Release], variants: Sequence[Variant]) -> list[_Need]:
    wanted = [_Need(platform, python, variant.packages == "apk") for variant in variants
              for platform, python in product(variant.platforms, variant.python or ("",))]  # fmt: skip
    wanted = wanted or ([_Need()] if served else [])
    return [need for need in dict.fromkeys(wanted) if not served or need.met(served)]


@dataclass(frozen=True, slots=True)
class Tags:
    """The release tags of a repository by the version that they spell; `where` names the repository for a person."""

    tags: Mapping[Version, Sequence[str]]
    where: str

    @classmethod
    def read(cls, names: Iterable[str], where: str, spell: Callable[[str], str | None]) -> "Tags":
        """Those of the tags `names` of which `spell` gives a version, the shortest first."""
        found: dict[Version, list[str]] = {}
        for name in sorted(names, key=lambda name: (len(name), name)):
            if spelled := spell(name):
                found.setdefault(Version(spelled), []).append(name)
        return cls(found, where)

    @property
    def versions(self) -> frozenset[Version]:
        return frozenset(self.tags)

    def lacks(self, version: Version) -> str | None:
        return None if version in self.tags else f"{self.where} has no tag of it"

    def objection(self, version: Version) -> str | None:
        return self.lacks(version)

    def spelled(self, version: Version) -> str:
        names = self.tags.get(version)
        return (releases.version_of(names[0]) if names else None) or str(version)


class Choice(NamedTuple):
    """The version to go to, None where there is nothing newer; how many there are that are; what was passed over."""

    version: Version | None
    newer: int = 0
    passed: tuple[Passed, ...] = ()


class Barrier(NamedTuple):
    """What pins.toml says against versions of some pins: those known to be bad, those that another pin cannot take."""

    bad: Mapping[Version, str]
    wanted: Sequence[tuple[str, SpecifierSet]]
    track: str | None = None

    def objection(self, version: Version) -> str | None:
        if version in self.bad:
            return f"known to be bad: {self.bad[version]}"
        unmet = (
            f"{name} needs {wanted}" for name, wanted in self.wanted if not wanted.contains(version, prereleases=True)
        )
        return next(unmet, None)


def barrier(pins: Sequence[Pin], manifest: Manifest) -> Barrier:
    """What stands against versions of `pins`, which move as one."""
    bad = {
        Version(one.version): one.reason for pin in pins for one in pin.bad if one.version and is_version(one.version)
    }
    names = {canonicalize_name(name) for pin in pins for name in (pin.name, *pin.packages)}
    moving = {pin.name for pin in pins}
    wanted = [(other.name, SpecifierSet(needs)) for other in manifest.pins.values() if other.name not in moving
              for name, needs in other.needs.items()
              if canonicalize_name(name) in names and not specifier_problem(needs)]  # fmt: skip
    tracks = (pin.track for pin in pins if not pin.repo and pin.track and "*" in pin.track)
    return Barrier(bad, wanted, next(tracks, None))


def choose(sources: Sequence[Source], present: Version | None, against: Barrier, *, pre: bool = False) -> Choice:
    """The newest version that all `sources` have and nothing speaks against. A pattern of versions that the pin tracks
    leaves the others out of sight."""
    every = frozenset[Version]().union(*(source.versions for source in sources))
    fresh = sorted((version for version in every if present is None or version > present), reverse=True)
    fresh = [version for version in fresh if against.track is None or fnmatchcase(str(version), against.track)]
    said = {version: against.objection(version) or _objection(sources, version) for version in fresh}
    usable = releases.eligible([version for version in fresh if said[version] is None], present, pre=pre)
    best = max(usable, default=None)
    here = best or present
    early = pre or (here is not None and here.is_prerelease)
    passed = (Passed(str(version), why) for version in fresh if (why := said[version]) is not None
              and (best is None or version > best) and (early or not version.is_prerelease))  # fmt: skip
    return Choice(best, len(usable), tuple(passed))


def _objection(sources: Sequence[Source], version: Version) -> str | None:
    return next((why for source in sources if (why := source.objection(version))), None)
