"""A wheel against pins.toml: the variant's label, torch, Pythons and platforms, the pin's commit, and what is asked."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pinctl.finding import Finding, Severity
from pinctl.model import Pin, Variant
from pinctl.urls import same_repo
from pinctl.versions import fits
from pinctl.wheel import policy
from pinctl.wheel.elf import numbers
from pinctl.wheel.judgement.telling import Telling, some
from pinctl.wheel.names import Name, normal_version
from pinctl.wheel.provenance import FILE, Provenance


def judge(say: Telling) -> Iterator[Finding]:
    yield from _size(say)
    yield from _files(say)
    yield from _torch(say)
    variant, pin = say.wanted.variant, say.wanted.pin
    if variant is not None and isinstance(say.found.name, Name):
        yield from _label(say, say.found.name, variant)
        yield from _tags(say, say.found.name, variant)
    yield from _provenance(say, pin, variant)


def _size(say: Telling) -> Iterator[Finding]:
    """PIN621: larger than the place that it goes to takes."""
    name, variant, limit = say.found.name, say.wanted.variant, say.wanted.limit
    labelled = isinstance(name, Name) and bool(name.label)
    to_pypi = not labelled if variant is None else variant.publish == "pypi"
    most = limit if limit is not None else policy.PYPI_LIMIT if to_pypi else policy.RELEASE_LIMIT - 1
    if say.found.size > most:
        sure = limit is not None or (variant is not None and variant.publish is not None)
        yield say("PIN621", "the wheel is larger than it may be", expected=f"at most {_mib(most)}",
                  found=_mib(say.found.size), severity=None if sure else Severity.WARNING,
                  hint="build for fewer architectures, strip the libraries, or ask the index for more")  # fmt: skip


def _mib(size: int) -> str:
    return f"{size / 1024**2:.1f} MiB"


def _files(say: Telling) -> Iterator[Finding]:
    for pattern in say.wanted.files:
        if not any(fnmatchcase(member, pattern) for member in say.found.contents):
            yield say("PIN622", f"nothing in the wheel matches {pattern}, which it must have", pattern,
                      hint="look into the build's log and the package data of its setup")  # fmt: skip


def _label(say: Telling, name: Name, variant: Variant) -> Iterator[Finding]:
    wanted = variant.label or ""
    if name.label != wanted:
        how = f"run: pinctl wheel relabel {name.filename} --label {wanted or repr('')}"
        if not wanted and variant.publish != "pypi":
            how = f'say `label = "{name.label}"` of the variant in pins.toml, or {how}'
        yield say("PIN623", f"the local version label is not that of {variant.name}", expected=wanted or "no label",
                  found=name.label or "no label", hint=how)  # fmt: skip


def _tags(say: Telling, name: Name, variant: Variant) -> Iterator[Finding]:
    """PIN624: for a Python or a platform that the variant does not have, or of a later glibc than it says."""
    pythons = {tag.split("-")[0] for tag in name.tags}
    known = {f"cp{python.replace('.', '').removesuffix('t')}" for python in variant.python}
    if known and "abi3" not in name.compressed and not any(p.startswith("py") for p in pythons) and not pythons & known:
        yield say("PIN624", f"the wheel is for a Python that {variant.name} does not have",
                  expected=some(sorted(known)), found=some(sorted(pythons)))  # fmt: skip
    machines = {policy.architecture(tag) for tag in name.platforms} - {None}
    wanted = {policy.machine(platform) for platform in variant.platforms}
    if wanted and machines and not machines & wanted:
        yield say("PIN624", f"the wheel is for a machine that {variant.name} does not have",
                  expected=some(sorted(wanted)), found=some(sorted(filter(None, machines))))  # fmt: skip
    floor = policy.promise(f"{variant.manylinux}_any") if variant.manylinux else None
    promised = [promise.versions["GLIBC"] for tag in name.platforms if (promise := policy.promise(tag))]
    if floor and promised and numbers(min(promised, key=numbers)) > numbers(floor.versions["GLIBC"]):
        yield say("PIN624", f"the wheel needs a later glibc than {variant.name} says", expected=variant.manylinux,
                  found=some(name.platforms), hint="build it in the variant's image")  # fmt: skip


# --- torch and provenance ---------------------------------------------------------------------------------------------


def _torch(say: Telling) -> Iterator[Finding]:
    """PIN625: nothing tells which torch an extension of it was compiled for, or another one than the variant's."""
    users = [member for member, elf in say.found.elves.items()
             if any(library.startswith(("libtorch", "libc10")) for library in elf.needed)]  # fmt: skip
    ours, specifiers = say.found.provenance, list(_specifiers(say))
    recorded = isinstance(ours, Provenance) and ours.torch
    if users and not specifiers and not recorded:
        yield say("PIN625", f"{users[0]} needs torch, and nothing tells which: there is no Requires-Dist of it, and no"
                  " provenance", users[0], severity=Severity.WARNING,
                  hint='add "torch==X.Y" to the dependencies, or build it with pinctl build')  # fmt: skip
    variant = say.wanted.variant
    for specifier in specifiers if variant is not None and variant.torch is not None else ():
        if variant is not None and variant.torch and not fits(variant.torch, specifier):
            yield say("PIN625", f"METADATA asks for another torch than that of {variant.name}",
                      f"{say.found.dist_info}/METADATA", expected=variant.torch, found=f"torch{specifier}")  # fmt: skip


def _specifiers(say: Telling) -> Iterator[str]:
    """What METADATA asks of torch, outside of extras."""
    from packaging.requirements import InvalidRequirement, Requirement

    for text in say.found.metadata.requires if say.found.metadata else ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.name.lower() == "torch" and "extra" not in str(requirement.marker or ""):
            yield str(requirement.specifier)


def _provenance(say: Telling, pin: Pin | None, variant: Variant | None) -> Iterator[Finding]:
    """PIN626 where it says something else than pins.toml, PIN627 where there is none."""
    ours, member = say.found.provenance, f"{say.found.dist_info}/{FILE}"
    if isinstance(ours, str):
        yield say("PIN626", f"the provenance cannot be read: {ours}", member)
    elif ours is None:
        if pin is not None:
            yield say("PIN627", "the wheel does not say which commit it was built from: it has no provenance of pinctl",
                      member, hint=f"run: pinctl build {pin.name}")  # fmt: skip
    else:
        for what, wanted, found in differences(ours, pin, variant):
            yield say("PIN626", f"the wheel was built of another {what} than pins.toml says", member, expected=wanted,
                      found=found or "none", hint=f"run: pinctl build {ours.pin}")  # fmt: skip
    yield from _version(say, pin)


def differences(ours: Provenance, pin: Pin | None, variant: Variant | None) -> Iterator[tuple[str, str, str]]:
    """What differs, as pins.toml says it, and as the wheel does."""
    if pin is not None:
        yield from _of_pin(ours, pin, variant.name if variant else ours.variant)
    if variant is not None:
        torch = ours.torch.partition("+")[0]
        yield from _unequal(("variant", variant.name, ours.variant), ("CUDA", variant.cuda, ours.cuda),
                            ("torch", variant.torch, torch), ("image", variant.digest, ours.image))  # fmt: skip


def _of_pin(ours: Provenance, pin: Pin, variant: str) -> Iterator[tuple[str, str, str]]:
    yield from _unequal(("pin", pin.name, ours.pin), ("commit", pin.commit, ours.commit))
    if pin.repo and ours.repo and not same_repo(pin.repo, ours.repo):
        yield "repository", pin.repo, ours.repo
    if pin.submodules is not None:
        inner = tuple(f"{path}/" for path in pin.submodules)  # what submodules have for submodules
        built = sorted(path for path in ours.submodules if not path.startswith(inner))
        yield from _unequal(("set of submodules", _listed(sorted(pin.submodules)), _listed(built)))
    patches = [patch.file for patch in pin.patches
               if patch.file and (patch.variants is None or variant in patch.variants)]  # fmt: skip
    yield from _unequal(("list of patches", _listed(patches), _listed([patch.file for patch in ours.patches])))


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _unequal(*triples: tuple[str, str | None, str]) -> Iterator[tuple[str, str, str]]:
    """Those of which pins.toml says something, and the wheel something else."""
    yield from ((what, wanted, found) for what, wanted, found in triples if wanted and wanted != found)


def _version(say: Telling, pin: Pin | None) -> Iterator[Finding]:
    """PIN628: another version than the pin's."""
    name = say.found.name
    if pin is not None and pin.version is not None and isinstance(name, Name) and name.public != _public(pin.version):
        yield say("PIN628", f"the wheel is of another version than {pin.name} in pins.toml",
                  expected=pin.version, found=name.public,
                  hint="pins.toml and the source at the commit say different versions: see pinctl verify")  # fmt: skip


def _public(version: str) -> str:
    return normal_version(version).partition("+")[0]
