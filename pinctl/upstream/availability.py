"""Packages of a pin, judged by what indexes offer of them: is the version there, is it yanked, has it the wheels that
the variants need."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple
from urllib.parse import urlsplit

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name
from packaging.version import Version

from pinctl.finding import Finding, Severity
from pinctl.model import Pin, Variant
from pinctl.outcome import counted
from pinctl.upstream.simple import File, Release, releases
from pinctl.upstream.telling import Telling

_NEAR = 3
"""Versions that are named on either side of one that is missing."""
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "win32": "386", "i686": "386"}
_SHA256 = re.compile("[0-9a-f]{64}")
_PYPI = frozenset(("pypi.org", "files.pythonhosted.org"))
_SYSTEMS = ("manylinux", "musllinux", "linux", "macosx", "win")


class Offer(NamedTuple):
    """What one place has of a package. `place` is its name for a person, without anything secret; `is_index`: not one
    of pip's --find-links; `files` of every version; `barred` hosts of further files, which the policy does not allow;
    `failure` says why nothing is known of it, and `refused` that what it sent may not be used."""

    package: str
    place: str
    is_index: bool = True
    files: tuple[File, ...] = ()
    barred: tuple[str, ...] = ()
    failure: str | None = None
    hint: str | None = None
    refused: bool = False


class Stock(NamedTuple):
    """The files of one package at the pinned version, and where they are: the first place that has any."""

    package: str
    place: str | None = None
    releases: tuple[Release, ...] = ()

    @property
    def platforms(self) -> tuple[str, ...]:
        """Where its wheels run, as Docker names platforms; "any" for those without machine code."""
        return tuple(sorted({name for one in self.releases for tag in one.tags for name in platforms(tag)}))

    @property
    def has_source(self) -> bool:
        return any(not one.tags for one in self.releases)

    @property
    def digests(self) -> tuple[str, ...]:
        """The sha256 of each file, but of those that are yanked from among others; none where the index does not name
        them all."""
        every = [one.file for one in self.releases]
        files = [file for file in every if file.yanked is None] or every
        known = {file.sha256 for file in files if file.sha256 and _SHA256.fullmatch(file.sha256)}
        return tuple(sorted(known)) if all(file.sha256 in known for file in files) else ()

    @property
    def page(self) -> str | None:
        """The page of the release, where its files are PyPI's own."""
        hosts = {urlsplit(one.file.url).hostname for one in self.releases}
        if not self.releases or not hosts <= _PYPI:
            return None
        return f"https://pypi.org/project/{canonicalize_name(self.package)}/{self.releases[0].version.public}/"


def judge(say: Telling, offers: Sequence[Offer], variants: Iterable[Variant]) -> tuple[list[Stock], list[Finding]]:
    """What there is of each package of a pin, and what is wrong with it. `variants` are those that the pin is for."""
    stocks: list[Stock] = []
    found: list[Finding] = []
    for number, package in enumerate(say.pin.packages):
        mine = [offer for offer in offers if offer.package == package]
        found += _failures(say, mine)
        having = [(offer, held) for offer in mine if (held := _held(offer, say.pin))]
        stock = Stock(package, having[0][0].place, having[0][1]) if having else Stock(package)
        stocks.append(stock)
        if having:
            found += [*_yanked(say, stock), *_wheels(say, stock, variants), *_doubles(say, package, having)]
        elif not any(offer.failure for offer in mine):
            found.append(_missing(say, package, number, mine))
    return stocks, found


def is_of(version: Version, wanted: Version) -> bool:
    """Whether `wanted` as a pin means `version`: without a local label it means every one (PEP 440, `==`)."""
    return version == wanted or (wanted.local is None and Version(version.public) == wanted)


def _held(offer: Offer, pin: Pin) -> tuple[Release, ...]:
    wanted = Version(pin.version or "0")
    return tuple(one for one in releases(offer.files, offer.package) if is_of(one.version, wanted))


# --- what is wrong ------------------------------------------------------------------------------------------------


def _failures(say: Telling, offers: Iterable[Offer]) -> Iterator[Finding]:
    for offer in offers:
        if offer.failure:
            code = "PIN321" if offer.refused else "PIN320"
            yield say.tell(code, f"{offer.package}: {offer.failure}", "packages", hint=offer.hint)


def _missing(say: Telling, package: str, number: int, offers: Sequence[Offer]) -> Finding:
    if not offers:
        return say.tell("PIN325", f"pip has no index here to take {package} from", "packages", number,
                        hint="see `no-index` in: pip config list")  # fmt: skip
    places = list(dict.fromkeys(offer.place for offer in offers))
    lacking = f"none of {', '.join(places)} has" if len(places) > 1 else f"{places[0]} does not have"
    barred = sorted({host for offer in offers for host in offer.barred})
    hint = f"the policy does not allow {', '.join(barred)}, where further files are" if barred else None
    versions = sorted({one.version for offer in offers for one in releases(offer.files, package)})
    if not versions:
        return say.tell("PIN325", f"{lacking} a package {package}", "packages", number, hint=hint)
    what = f"{lacking} {package} {say.pin.version}"
    return say.tell("PIN325", what, "version", hint=hint or f"it has {near(versions, Version(say.pin.version or '0'))}")


def near(versions: Sequence[Version], wanted: Version) -> str:
    """Those of `versions`, which are sorted, that come next to `wanted`."""
    below = [str(version) for version in versions if version < wanted]
    above = [str(version) for version in versions if version > wanted]
    return ", ".join([*below[-_NEAR:], *above[:_NEAR]])


def _yanked(say: Telling, stock: Stock) -> Iterator[Finding]:
    yanked = [one for one in stock.releases if one.file.yanked is not None]
    if not yanked:
        return
    whole = len(yanked) == len(stock.releases)
    told = "" if whole else f" ({len(yanked)} of {counted(len(stock.releases), 'file')})"
    reason = next((one.file.yanked for one in yanked if one.file.yanked), None)
    why = f": {reason}" if reason else ", without a reason"
    what = f"{stock.package} {say.pin.version} is yanked from {stock.place}{told}{why}"
    hint = "it can still be had, and was taken back for a reason: pin another version"
    yield say.tell("PIN326", what, "version", hint=hint, severity=None if whole else Severity.WARNING)


def _doubles(say: Telling, package: str, having: Sequence[tuple[Offer, Sequence[Release]]]) -> Iterator[Finding]:
    """Indexes that both have the version, unless one holds no other bytes than the first does."""
    indexes = [(offer.place, {(one.file.name, one.file.sha256) for one in held})
               for offer, held in having if offer.is_index]  # fmt: skip
    for place, files in indexes[1:]:
        if not files <= indexes[0][1] or any(digest is None for _, digest in files):
            what = f"{package} {say.pin.version} is in {indexes[0][0]} and in {place}, and pip may take either's"
            hint = "where they are not meant to be one package, keep one index, or install by digest"
            yield say.tell("PIN328", what, "packages", hint=hint)


# --- wheels -------------------------------------------------------------------------------------------------------


def _wheels(say: Telling, stock: Stock, variants: Iterable[Variant]) -> Iterator[Finding]:
    """Platforms and Pythons of variants for which there is no wheel: one finding a platform."""
    lacking: dict[str, dict[str, list[str]]] = {}
    for variant in variants:
        for platform, python in product(variant.platforms, variant.python or ("",)):
            if not any(runs(one, platform, python, musl=variant.packages == "apk") for one in stock.releases):
                lacking.setdefault(platform, {}).setdefault(python, []).append(variant.name)
    have = ", ".join(stock.platforms) or "none"
    hint = f"its wheels: {have}" + ("; its source would be built" if stock.has_source else "")
    for platform, pythons in lacking.items():
        numbers = ", ".join(filter(None, pythons))
        for_python = f" with Python {numbers}" if numbers else ""
        names = ", ".join(dict.fromkeys(name for named in pythons.values() for name in named))
        what = f"{stock.package} {say.pin.version} has no wheel for {platform}{for_python} (variant {names})"
        yield say.tell("PIN327", what, "version", hint=hint)


def runs(release: Release, platform: str, python: str, *, musl: bool) -> bool:
    """Whether a wheel runs on `platform` ("linux/arm64") with `python` ("3.12", "3.13t"; "" for any of them)."""
    fitting = {tag for tag in release.tags if _is_for(tag, platform, musl=musl)}
    if not python:
        return bool(fitting)
    return _admits(release.file, python) and any(
        Tag(tag.interpreter, tag.abi, "any" if tag.platform == "any" else "it") in _taken(python) for tag in fitting
    )


def _is_for(tag: Tag, platform: str, *, musl: bool) -> bool:
    other = "manylinux" if musl else "musllinux"
    return not tag.platform.startswith(other) and not {"any", platform}.isdisjoint(platforms(tag))


@cache
def _taken(python: str) -> frozenset[Tag]:
    """The tags that a CPython takes, on a platform that is called `it` here."""
    number = python.removesuffix("t")
    major, minor = map(int, number.split("."))
    abi = f"cp{major}{minor}{python[len(number) :]}"
    return frozenset((*cpython_tags((major, minor), [abi], ["it"]), *compatible_tags((major, minor), abi, ["it"])))


def _admits(file: File, python: str) -> bool:
    """Whether Requires-Python takes some release of `python`."""
    try:
        wanted = SpecifierSet(file.requires_python or "")
    except InvalidSpecifier:
        return True  # as pip has it
    number = python.removesuffix("t")
    return any(wanted.contains(f"{number}.{patch}", prereleases=True) for patch in range(30))


def platforms(tag: Tag) -> tuple[str, ...]:
    """A wheel's platform tag as Docker names platforms: `manylinux_2_28_x86_64` is linux/amd64."""
    system = next((name for name in _SYSTEMS if tag.platform.startswith(name)), None)
    if system is None:
        return (tag.platform,)
    if tag.platform.endswith("universal2"):
        return ("macos/amd64", "macos/arm64")
    machine = "x86_64" if tag.platform.endswith("x86_64") else tag.platform.rpartition("_")[2]
    family = {"macosx": "macos", "win": "windows"}.get(system, "linux")
    return (f"{family}/{_MACHINES.get(machine, machine)}",)


def row(stocks: Sequence[Stock]) -> Mapping[str, object]:
    """For scripts. `platforms` are those for which every package has a wheel."""
    each = [set(stock.platforms) for stock in stocks]
    common = {name for one in each for name in one if all(not other.isdisjoint({name, "any"}) for other in each)}
    return {
        "files": [_file(stock, one) for stock in stocks for one in stock.releases],
        "yanked": any(one.file.yanked is not None for stock in stocks for one in stock.releases),
        "platforms": sorted(common),
    }


def _file(stock: Stock, one: Release) -> dict[str, object]:
    return {
        "package": stock.package,
        "index": stock.place,
        "name": one.file.name,
        "sha256": one.file.sha256,
        "yanked": one.file.yanked,
        "requires_python": one.file.requires_python,
        "platforms": sorted({name for tag in one.tags for name in platforms(tag)}),
    }
