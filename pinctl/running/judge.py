"""An environment, or what is installed in an image, against pins.toml."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.model import Manifest, Pin, Variant
from pinctl.running import pairing
from pinctl.running.model import Environment, Installed
from pinctl.versions import is_same
from pinctl.wheel import policy
from pinctl.wheel.judgement.against import differences
from pinctl.wheel.provenance import Provenance


class Wanted(NamedTuple):
    """What an environment is held against: pins, those of them that must be there, and the variant, where one is
    meant. `manager` is the command that installs."""

    manifest: Manifest
    pins: Sequence[Pin]
    needed: Collection[str] = ()
    variant: Variant | None = None


def judge(found: Environment, wanted: Wanted) -> Iterator[Finding]:
    """What is wrong."""
    for pin in wanted.pins:
        distributions = pairing.found(pin, found)
        yield from _missing(pin, distributions, found, wanted)
        for one in distributions:
            yield from _installed(pin, one, found, wanted)
        yield from _twins(pin, found)
    yield from _torch(found, wanted)


def _missing(pin: Pin, distributions: Sequence[Installed], found: Environment, wanted: Wanted) -> Iterator[Finding]:
    if not (pin.name in wanted.needed or pin.packages or pin.wheel or pairing.roots(pin)):
        return  # another package brings it along; the import tells
    there = {one.project for one in distributions}
    lacking = [name for name in pairing.projects(pin) if name not in there] if pin.packages or not there else []
    for name in lacking:
        severity = Severity.ERROR if pin.name in wanted.needed else None
        version = f"=={pin.version}" if pin.version and pin.packages else ""
        hint = f"run: pip install {name}{version}" if pin.packages else f"install the wheel of {pin.name}"
        yield finding("PIN810", f"{name} is not installed in {found.where}", pin=pin.name, severity=severity, hint=hint)


def _installed(pin: Pin, one: Installed, found: Environment, wanted: Wanted) -> Iterator[Finding]:
    exact = f"run: pip install {one.project}=={pin.version}"
    again = exact if pin.packages and pin.version else f"install the wheel of {pin.name} that pins.toml means"
    if pin.version and not is_same(one.public, pin.version):
        yield finding("PIN811", f"{one.name} is of another version than pins.toml says", pin=pin.name,
                      expected=pin.version, found=one.version, hint=again)  # fmt: skip
    yield from _origin(pin, one, wanted, again)
    yield from _libraries(pin, one, found)
    for clause in one.unread:
        yield finding("PIN822", f"{one.name}: {clause}", pin=pin.name, hint=f"look at it in {one.place}")


def _origin(pin: Pin, one: Installed, wanted: Wanted, again: str) -> Iterator[Finding]:
    ours = one.provenance
    if isinstance(ours, str):
        yield finding("PIN812", f"{one.name}: its provenance cannot be read: {ours}", pin=pin.name, hint=again)
    elif ours is not None:
        variant = wanted.variant or wanted.manifest.variants.get(ours.variant)
        for what, expected, said in differences(ours, pin, variant):
            yield finding("PIN812", f"{one.name} was built of another {what} than pins.toml says", pin=pin.name,
                          expected=expected, found=said or "none", hint=again)  # fmt: skip
    elif one.commit and pin.commit:
        if one.commit != pin.commit:
            yield finding("PIN812", f"{one.name} was built of another commit than pins.toml says", pin=pin.name,
                          expected=pin.commit, found=one.commit, hint=again)  # fmt: skip
    elif pin.commit:
        yield finding("PIN813", f"{one.name} {one.version} does not say which commit it was built from", pin=pin.name,
                      hint=f"pinctl build {pin.name} writes it down" if pin.wheel else None)  # fmt: skip


def _libraries(pin: Pin, one: Installed, found: Environment) -> Iterator[Finding]:
    """PIN814 where an extension needs another CUDA than torch has, PIN815 where it was compiled for another torch."""
    if found.torch_cuda:
        for library, needed in one.needed.items():
            others = [n for n in needed if policy.cuda_of(n) not in (None, found.torch_cuda.partition(".")[0])]
            if others:
                yield finding("PIN814", f"{library} of {one.name} asks for another CUDA than torch was built for",
                              pin=pin.name, expected=f"CUDA {found.torch_cuda}", found=", ".join(others),
                              hint=f"install the wheel of {pin.name} for CUDA {found.torch_cuda}")  # fmt: skip
    torch, ours = found.of("torch"), one.provenance
    compiled = ours.torch.partition("+")[0] if isinstance(ours, Provenance) else ""
    if torch and compiled and not is_same(torch.public, compiled):
        yield finding("PIN815", f"{one.name} was compiled for another torch than is installed", pin=pin.name,
                      expected=compiled, found=torch.version,
                      hint=f"install torch {compiled}, or build {pin.name} for this one")  # fmt: skip


def _torch(found: Environment, wanted: Wanted) -> Iterator[Finding]:
    """The torch that is there against the variant's."""
    torch, variant = found.of("torch"), wanted.variant
    if torch is None or variant is None:
        return
    if variant.torch and not is_same(torch.public, variant.torch):
        yield finding("PIN815", f"torch is of another version than that of {variant.name}", expected=variant.torch,
                      found=torch.version, hint=f"install torch {variant.torch}")  # fmt: skip
    if variant.cuda and found.torch_cuda is not None and not _same_cuda(variant.cuda, found.torch_cuda):
        yield finding("PIN814", f"torch was built for another CUDA than that of {variant.name}",
                      expected=f"CUDA {variant.cuda}", found=f"CUDA {found.torch_cuda}" if found.torch_cuda else "none",
                      hint=f"install torch for CUDA {variant.cuda}")  # fmt: skip


def _same_cuda(one: str, other: str) -> bool:
    return one.split(".")[:2] == other.split(".")[:2]


def _twins(pin: Pin, found: Environment) -> Iterator[Finding]:
    """PIN816: two distributions that bring one name of the pin; and two copies of one distribution."""
    distributions = pairing.found(pin, found)
    for name in pairing.roots(pin):
        for one in [first for first in distributions if name in first.imports][:1]:
            bringing = [other for other in found.beside(one) if name in other.imports]
            if len({other.project for other in bringing}) > 1:
                which = " and ".join(dict.fromkeys(f"{other.name} {other.version}" for other in bringing))
                yield finding("PIN816", f"{which} both bring {name}", pin=pin.name,
                              hint=f"uninstall all but one: pip uninstall {bringing[-1].name}")  # fmt: skip
    for one in distributions:
        copies = [other for other in found.beside(one) if other.project == one.project]
        if len(copies) > 1:
            places = " and ".join(f"{copy.version} in {copy.place}" for copy in copies)
            what = f"{one.name} is installed several times: {places}"
            yield finding("PIN816", what, pin=pin.name,
                          hint=f"uninstall all of them, and install one: pip uninstall {one.name}")  # fmt: skip
