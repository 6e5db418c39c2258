"""The matrix of wheels: one cell for each pin, variant, Python and platform."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from pinctl.codes import finding
from pinctl.finding import Finding
from pinctl.model import Exclude, Manifest, Pin, SystemPackage, Variant, Wheel

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""What Python and ELF call Docker's architectures, where they differ."""

_NEEDED = ("image", "python", "platforms", "manylinux")
"""What a variant must say before anything can be built for it."""

_DEFAULTED = ("image", "manylinux", "index_url", "python", "platforms", "packages")
"""What a variant that comes with pinctl says in the place of one of that name. CUDA, label and the place of publication
tell wheels apart for every verb, so pins.toml itself says them."""
_OF_IMAGE = ("packages", "manylinux", "index_url")
"""What a variant that comes with pinctl says for its image alone."""


class Cell(NamedTuple):
    """One wheel to build. `python` is "3.12" or "3.13t", `platform` as Docker names it."""

    pin: Pin
    variant: Variant
    python: str
    platform: str

    @property
    def wheel(self) -> Wheel:
        """How the pin's wheels are built."""
        assert self.pin.wheel is not None  # noqa: S101 - the matrix is of such pins
        return self.pin.wheel

    @property
    def name(self) -> str:
        """The cell for people, and for files: `deepgemm-cu12-cp312-amd64`."""
        return (
            f"{self.pin.name}-{self.variant.name}-cp{self.python.replace('.', '')}-{self.platform.rpartition('/')[2]}"
        )

    @property
    def machine(self) -> str:
        """The architecture as platform tags name it."""
        architecture = self.platform.rpartition("/")[2]
        return _MACHINES.get(architecture, architecture)

    @property
    def platform_tag(self) -> str:
        """The tag that the wheel is repaired for: `manylinux_2_28_x86_64`."""
        return f"{self.variant.manylinux}_{self.machine}"

    def system_packages(self, when: str) -> list[str]:
        """What the variant's package manager installs for a build ("build") or a run ("run")."""
        wanted = [package for package in self.pin.system_packages if package.when in (when, "both")]
        return list(dict.fromkeys(name for package in wanted if (name := _package(package, self.variant.packages))))


class Left(NamedTuple):
    """A cell that is not built, and why."""

    cell: Cell
    reason: str


class Matrix(NamedTuple):
    """The cells in the order of pins.toml, those that are left out, and what is wrong."""

    cells: tuple[Cell, ...]
    left: tuple[Left, ...] = ()
    findings: tuple[Finding, ...] = ()


class Asked(NamedTuple):
    """What part of the matrix is asked for; empty: all."""

    pins: Sequence[str] = ()
    variants: Sequence[str] = ()
    pythons: Sequence[str] = ()
    platforms: Sequence[str] = ()


def matrix(manifest: Manifest, shipped: Mapping[str, Mapping[str, object]], asked: Asked = Asked()) -> Matrix:  # noqa: B008
    """The matrix of `manifest`. `shipped` holds what the variants that come with pinctl say, by name: it counts where
    pins.toml's variant of that name is silent."""
    cells: list[Cell] = []
    left: list[Left] = []
    findings: list[Finding] = []
    variants = {name: defaulted(variant, shipped.get(name, {})) for name, variant in manifest.variants.items()}
    for pin in manifest.pins.values():
        if pin.wheel is None or (asked.pins and pin.name not in asked.pins):
            continue
        used = [variants[name] for name in pin.wheel.variants or variants if name in variants]
        findings += [*_unbuildable(pin, used, manifest.path), *_twins(pin, used, manifest.path)]
        findings += _idle(pin, used, manifest.path)
        for cell in _cells(pin, used):
            excluded = next((item for item in pin.wheel.exclude if _covers(item, cell)), None)
            if excluded is not None:
                left.append(Left(cell, excluded.reason))
            elif _wanted(cell, asked):
                cells.append(cell)
    findings += _confused(cells, manifest.path)
    return Matrix(tuple(cells), tuple(item for item in left if _wanted(item.cell, asked)), tuple(findings))


def defaulted(variant: Variant, shipped: Mapping[str, object]) -> Variant:
    """`variant` with what `shipped` says of the keys that it leaves out."""
    known = {key: value for key, value in shipped.items() if key in _DEFAULTED}
    said: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in known.items()}
    silent = {key: value for key, value in said.items() if not getattr(variant, key)}
    if variant.image is not None and variant.image != said.get("image"):
        silent = {key: value for key, value in silent.items() if key not in _OF_IMAGE}
    return variant._replace(**silent)


def _package(package: SystemPackage, manager: str | None) -> str | None:
    """The package's name; microdnf's is dnf's where it has none of its own."""
    if manager == "microdnf" and manager not in package.managers:
        manager = "dnf"
    return package.managers.get(manager or "")


def _cells(pin: Pin, variants: Sequence[Variant]) -> Iterator[Cell]:
    for variant in variants:
        for python in variant.python:
            for platform in variant.platforms:
                yield Cell(pin, variant, python, platform)


def _covers(item: Exclude, cell: Cell) -> bool:
    pairs = ((item.variant, cell.variant.name), (item.python, cell.python), (item.platform, cell.platform))
    return all(said is None or said == is_ for said, is_ in pairs)


def _wanted(cell: Cell, asked: Asked) -> bool:
    pairs = ((asked.variants, cell.variant.name), (asked.pythons, cell.python), (asked.platforms, cell.platform))
    return all(not some or is_ in some for some, is_ in pairs)


def _unbuildable(pin: Pin, variants: Sequence[Variant], file: str) -> Iterator[Finding]:
    """PIN650: what is not known, without which nothing can be built."""
    if not pin.repo or not pin.commit or pin.unresolved:
        what = f"{pin.name} has no full commit to build from" if pin.repo else f"{pin.name} has no repository"
        yield finding("PIN650", what, file=file, pin=pin.name, hint="run: pinctl bump --resolve")
    for variant in variants:
        lacks = [key for key in _NEEDED if not getattr(variant, key)]
        if not variant.packages and any(package.when != "run" for package in pin.system_packages):
            lacks.append("packages")
        if lacks:
            keys = ", ".join(f"`{key}`" for key in lacks)
            what = f"{pin.name} cannot be built for {variant.name}: [variants.{variant.name}] lacks {keys}"
            yield finding("PIN650", what, file=file, pin=pin.name, hint="see docs/building.md")


def _twins(pin: Pin, variants: Sequence[Variant], file: str) -> Iterator[Finding]:
    """PIN651: variants whose wheels would have one file name: nothing in a name but the label tells them apart."""
    for one, other in combinations(variants, 2):
        shared = set(one.python) & set(other.python), set(one.platforms) & set(other.platforms)
        if one.label == other.label and all(shared):
            named = f"the label {one.label}" if one.label else "no label"
            what = f"{pin.name}: the wheels of {one.name} and {other.name} would have the same names: both have {named}"
            yield finding(
                "PIN651", what, file=file, pin=pin.name, hint=f'variants.{other.name}.label = "{_label(other)}"'
            )


def _confused(cells: Sequence[Cell], file: str) -> Iterator[Finding]:
    """PIN651: cells with one name, as of the pin `a` for `b-c` and of `a-b` for `c`: their logs and files have it."""
    seen: dict[str, Cell] = {}
    for cell in cells:
        first = seen.setdefault(cell.name, cell)
        if first is not cell:
            one, other = (f"{c.pin.name} for {c.variant.name}" for c in (first, cell))
            what = f"the cells of {one} and of {other} have one name: {cell.name}"
            yield finding("PIN651", what, file=file, pin=cell.pin.name, hint="call a pin or a variant otherwise")


def _label(variant: Variant) -> str:
    return "cu" + "".join((variant.cuda or variant.name).split(".")[:2]) if variant.cuda else variant.name


def _idle(pin: Pin, variants: Sequence[Variant], file: str) -> Iterator[Finding]:
    """PIN657: excludes that leave out nothing: the matrix moved on, or they were misspelt."""
    cells = list(_cells(pin, variants))
    for item in pin.wheel.exclude if pin.wheel else ():
        if not any(_covers(item, cell) for cell in cells):
            of = ", ".join(word for word in (item.variant, item.python, item.platform) if word)
            what = f"{pin.name} excludes {of}, and the matrix has no such cell"
            yield finding("PIN657", what, file=file, pin=pin.name, hint="drop the exclude")
