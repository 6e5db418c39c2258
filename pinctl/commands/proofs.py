"""What `verify` proves of a pin beside its git tree: packages in their index, archives by their digest, images where
they are asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinctl.commands.evidence import at_once
from pinctl.errors import ExternalError
from pinctl.external.gitcli import Profile
from pinctl.external.remote import Hostile
from pinctl.finding import Finding
from pinctl.model import Manifest, Pin, Variant
from pinctl.options import Options, Step
from pinctl.outcome import Table
from pinctl.upstream.telling import Telling, image_of

if TYPE_CHECKING:
    from pinctl.upstream.archives import Archive, Declared
    from pinctl.upstream.availability import Stock

_MIB = 1 << 20


@dataclass(slots=True)
class Proofs:
    """Findings, rows for scripts by the name of the pin that was asked about, a line a source for the table. `left`:
    pins of which something was not asked, `why`."""

    findings: list[Finding] = field(default_factory=list)
    rows: dict[str, dict[str, object]] = field(default_factory=dict)
    lines: list[tuple[str, ...]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    why: str = ""

    @property
    def table(self) -> Table | None:
        return Table(("pin", "version", "from", "found"), tuple(self.lines)) if self.lines else None

    def add(self, pin: Pin, findings: Sequence[Finding], row: Mapping[str, object], *cells: str) -> None:
        """What was found out about one source of `pin`."""
        self.findings += findings
        self.rows.setdefault(pin.name, {}).update(row)
        self.lines.append((pin.name, *cells))


def prove(manifest: Manifest, pins: Sequence[Pin], profile: Profile, options: Options, *, images: bool) -> Proofs:
    """Ask indexes, servers of archives and, with `images`, registries about `pins`; offline nobody. Where these are all
    pins, registries are asked about the images of variants, too. What fails is a finding of its pin. Raises UsageError:
    pip's configuration cannot be read."""
    packaged = [pin for pin in pins if pin.packages and pin.version]
    archived = [pin for pin in pins if (pin.url or pin.archive) and not pin.unresolved]
    shown = [pin for pin in pins if pin.image and not pin.unresolved]
    if images and len(pins) == len(manifest.pins):
        shown += [image_of(variant) for variant in manifest.variants.values() if variant.image and variant.digest]
    if options.offline:
        names = {pin.name for pin in (*packaged, *archived, *shown)}
        return Proofs(left=[pin.name for pin in pins if pin.name in names], why="offline")
    proofs = Proofs(left=[] if images else [pin.name for pin in shown], why="without --images")
    if packaged:
        _packages(proofs, manifest, packaged, profile, options)
    if archived:
        _archives(proofs, manifest, archived, profile, options)
    if shown and images:
        _images(proofs, manifest, shown, profile, options)
    return proofs


def _packages(proofs: Proofs, manifest: Manifest, pins: Sequence[Pin], profile: Profile, options: Options) -> None:
    from pinctl.commands.indexes import Indexes
    from pinctl.upstream import availability

    indexes = Indexes(profile)
    packages = list(dict.fromkeys(package for pin in pins for package in pin.packages))
    with options.progress("indexes", indexes.places * len(packages)) as step:
        offers = indexes.offers(packages, step)
    for pin in pins:
        mine = [offer for offer in offers if offer.package in pin.packages]
        stocks, found = availability.judge(Telling(pin, manifest), mine, variants_of(pin, manifest))
        row = {"version": pin.version, **availability.row(stocks)}
        proofs.add(pin, found, row, pin.version or "", _places(stocks), _wheels(stocks))


def variants_of(pin: Pin, manifest: Manifest) -> list[Variant]:
    """The variants that a pin is for: those of its wheel, else all."""
    names = pin.wheel.variants if pin.wheel and pin.wheel.variants else manifest.variants
    return [manifest.variants[name] for name in names]


def _places(stocks: Sequence["Stock"]) -> str:
    return ", ".join(dict.fromkeys(stock.place for stock in stocks if stock.place)) or "-"


def _wheels(stocks: Sequence["Stock"]) -> str:
    """What there is of each package, in a few words."""
    said = []
    for stock in stocks:
        kinds = [*stock.platforms, *(["source"] if stock.has_source else [])]
        name = f"{stock.package}: " if len(stocks) > 1 else ""
        said.append(f"{name}{', '.join(kinds) or 'nothing'}")
    return "; ".join(said)


def _archives(proofs: Proofs, manifest: Manifest, pins: Sequence[Pin], profile: Profile, options: Options) -> None:
    from pinctl.external.web import host_of
    from pinctl.upstream import archives

    wanted = [(pin, want) for pin in pins for want in archives.wanted(pin)]
    if not wanted:
        return
    with options.progress("archives, MiB", None) as step:
        count = mebibytes(step)
        got = at_once([want for _, want in wanted], lambda want: downloaded(want, profile, count))
    for (pin, want), archive in zip(wanted, got, strict=True):
        found = list(archives.judge(Telling(pin, manifest), want, archive))
        digest = next(iter(archive.digests.values()), "-")
        size = archives.sized(archive.size) if archive.digests else "-"
        row = archives.row(want, archive)
        if want.platform:
            known = proofs.rows.get(pin.name, {}).get("archives", {})
            row = {"archives": {**(known if isinstance(known, dict) else {}), want.platform: row.get("archive")}}
        proofs.add(pin, found, row, digest[:10], host_of(want.url), size)


def downloaded(want: "Declared", profile: Profile, step: Step = lambda _: None) -> "Archive":
    """What the URL of `want` gives, with the digests that it names, and what it says of its commit where it should be
    of one; or why it cannot be had."""
    from pinctl.external.download import download
    from pinctl.upstream.archives import Archive

    hashes = tuple(want.digests) or ("sha256",)
    try:
        return download(want.url, profile, hashes=hashes, look=bool(want.key or want.commit), step=step)
    except ExternalError as error:
        return Archive(failure=str(error), hint=error.hint, refused=isinstance(error, Hostile))


def mebibytes(step: Step) -> Step:
    """A step for bytes, from any thread, that makes steps of whole MiB."""
    from threading import Lock

    lock, left = Lock(), 0

    def count(number: int) -> None:
        nonlocal left
        with lock:
            whole, left = divmod(left + number, _MIB)
            if whole:
                step(whole)

    return count


def _images(proofs: Proofs, manifest: Manifest, pins: Sequence[Pin], profile: Profile, options: Options) -> None:
    from pinctl.external import registry
    from pinctl.upstream import images

    wanted = [images.parse(pin.image or "", pin.digest) for pin in pins]
    with options.progress("registries", len(wanted)) as step:
        got = at_once(wanted, lambda image: registry.ask(image, profile), step)
    for pin, image, answer in zip(pins, wanted, got, strict=True):
        found = list(images.judge(Telling(pin, manifest), image, answer))
        told = "-" if answer.failure else "the pinned digest" if answer.held else "another digest"
        proofs.add(pin, found, images.row(pin, answer), image.tag or "-", image.host, told)
