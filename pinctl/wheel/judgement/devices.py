"""A wheel's CUDA: the libraries that it needs, and the GPUs that it holds code for, against the variant."""

from collections.abc import Iterator

from pinctl.finding import Finding, Severity
from pinctl.wheel import policy
from pinctl.wheel.elf import Elf
from pinctl.wheel.judgement.telling import Telling, some
from pinctl.wheel.names import Name
from pinctl.wheel.survey import devices


def judge(say: Telling) -> Iterator[Finding]:
    yield from _libraries(say)
    yield from _architectures(say)


def _libraries(say: Telling) -> Iterator[Finding]:
    """PIN611: libraries of another CUDA than the variant's, or the label's, or than each other."""
    by_major: dict[str, dict[str, list[str]]] = {}
    for member, elf in say.found.elves.items():
        for major, libraries in _majors(elf).items():
            by_major.setdefault(major, {})[member] = libraries
    wanted = _wanted(say)
    if wanted is None:
        if len(by_major) > 1:
            told = "; ".join(f"CUDA {major}: {some(list(members))}" for major, members in sorted(by_major.items()))
            yield say("PIN611", "libraries of two CUDAs are needed, and a process can have one", found=told,
                      severity=Severity.WARNING, hint="name the variant: --variant NAME")  # fmt: skip
        return
    for major in sorted(set(by_major) - {wanted.partition(".")[0]}):
        for member, libraries in by_major[major].items():
            yield say("PIN611", f"{member} needs libraries of CUDA {major}, and the wheel is for CUDA {wanted}", member,
                      expected=f"libraries of CUDA {wanted.partition('.')[0]}", found=", ".join(libraries),
                      hint="build it with the variant's toolkit; what another left behind was linked")  # fmt: skip


def _majors(elf: Elf) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for library in elf.needed:
        major = policy.cuda_of(library)
        if major is not None:
            found.setdefault(major, []).append(library)
    return found


def _wanted(say: Telling) -> str | None:
    """The version of CUDA that the wheel is for."""
    variant, name = say.wanted.variant, say.found.name
    if variant is not None and variant.cuda is not None:
        return variant.cuda
    return policy.cuda_of_label(name.label) if isinstance(name, Name) else None


def _architectures(say: Telling) -> Iterator[Finding]:
    """PIN619 for declared architectures without code, PIN620 where there is no GPU code or it cannot be read."""
    unread = [member for member, elf in say.found.elves.items() if elf.devices is None]
    if unread:
        yield say("PIN620", f"the fat binaries of {some(unread)} cannot be read", unread[0],
                  hint="look with cuobjdump --list-elf")  # fmt: skip
    variant = say.wanted.variant
    if variant is None or not variant.arch_list or not say.found.elves:
        return
    there = devices(say.found)
    if not there:
        if not unread:
            yield say("PIN620", f"no GPU code is in the wheel: the architectures of {variant.name} are not held against"
                      " anything", expected=", ".join(variant.arch_list), found="no fat binary",
                      hint="right for kernels that are compiled at run time; else the build left CUDA out")  # fmt: skip
        return
    missing = [arch for arch in variant.arch_list if not set(_devices(arch)) <= set(there)]
    if missing and not unread:
        yield say("PIN619", f"no code for {some(missing)} is in the wheel, and {variant.name} declares it",
                  expected=", ".join(variant.arch_list), found=", ".join(there),
                  hint="quote the list of architectures where the build passes it on: an unquoted one is cut at its"
                  " first `;`")  # fmt: skip


def _devices(arch: str) -> list[str]:
    """What must be there for one entry of an arch list: `9.0a` is sm_90a, `9.0+PTX` also compute_90."""
    number, _, extra = arch.strip().partition("+")
    plain = number.replace(".", "").removeprefix("sm_")
    return [f"sm_{plain}", *([f"compute_{plain}"] if extra else [])]
