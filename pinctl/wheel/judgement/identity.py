"""A wheel's names: file name, .dist-info, METADATA and WHEEL must say the same (binary distribution format)."""

from collections import Counter
from collections.abc import Iterator

from pinctl.finding import Finding, Severity
from pinctl.wheel.judgement.telling import Telling, some
from pinctl.wheel.names import Name, normal_name, normal_version

_ANY = "any"
_NAMES = ("METADATA", "WHEEL", "RECORD")


def judge(say: Telling) -> Iterator[Finding]:
    name = say.found.name
    yield from _file_name(say, name)
    yield from _dist_info(say, name)
    yield from _missing(say)
    if isinstance(name, Name):
        yield from _metadata(say, name)
        yield from _wheel(say, name)
    yield from _purelib(say)


def _file_name(say: Telling, name: Name | str) -> Iterator[Finding]:
    if isinstance(name, str):
        yield say("PIN601", f"{say.found.filename} is no name of a wheel: {name}", hint="name it as it was built")
    elif name.filename != name.canonical:
        yield say("PIN601", "the file name is not spelled as its parts are normalised", expected=name.canonical,
                  found=name.filename, severity=Severity.WARNING, hint="build it with a newer backend")  # fmt: skip


def _dist_info(say: Telling, name: Name | str) -> Iterator[Finding]:
    found = say.found
    if found.dist_info is None:
        told = f"there are {len(found.dist_infos)} of them: {some(found.dist_infos)}" if found.dist_infos else "none"
        yield say("PIN602", "a wheel has exactly one .dist-info folder", expected="one", found=told,
                  hint="build it again: installers take the first that they meet")  # fmt: skip
        return
    twins = Counter(member.casefold() for member in found.contents if member.startswith(f"{found.dist_info}/"))
    for twin in [member for member, count in twins.items() if count > 1]:
        yield say("PIN602", f"{twin} is there in two spellings, which are one file on some systems", twin)
    if isinstance(name, Name):
        for suffix, folder in ((".dist-info", found.dist_info), *((".data", top) for top in _data(say))):
            if folder != name.stem + suffix:
                same = _normal(folder, suffix) == (name.distribution, name.version)
                yield say("PIN602", f"the {suffix} folder has another name than the file", folder,
                          expected=name.stem + suffix, found=folder,
                          severity=Severity.WARNING if same and suffix == ".dist-info" else None,
                          hint="run: pinctl wheel relabel   (renames the file and all in it together)")  # fmt: skip


def _data(say: Telling) -> list[str]:
    tops = dict.fromkeys(member.partition("/")[0] for member in say.found.members if "/" in member)
    return [top for top in tops if top.casefold().endswith(".data")]


def _normal(folder: str, suffix: str) -> tuple[str, str]:
    """Distribution and version that a folder's name says, normalised."""
    distribution, _, version = folder.removesuffix(suffix).rpartition("-")
    return normal_name(distribution), normal_version(version)


def _missing(say: Telling) -> Iterator[Finding]:
    folder = say.found.dist_info
    for file in _NAMES:
        if folder is not None and f"{folder}/{file}" not in say.found.contents:
            yield say("PIN602", f"{folder} has no {file}", f"{folder}/{file}", hint="build it again")


def _metadata(say: Telling, name: Name) -> Iterator[Finding]:
    meta, member = say.found.metadata, f"{say.found.dist_info}/METADATA"
    if meta is None:
        return
    for fault in meta.faults:
        yield say("PIN603", f"METADATA is not what installers read alike: {fault}", member)
    for key, said, wanted in (("Name", normal_name(meta.name), name.distribution),
                              ("Version", normal_version(meta.version), name.version)):  # fmt: skip
        if said != wanted:
            yield say("PIN603", f"METADATA and the file name differ in {key}", member, expected=wanted,
                      found=said or "nothing",
                      hint="run: pinctl wheel relabel   (renames the file and all in it together)")  # fmt: skip


def _wheel(say: Telling, name: Name) -> Iterator[Finding]:
    info, member = say.found.info, f"{say.found.dist_info}/WHEEL"
    if info is None:
        return
    for fault in info.faults:
        yield say("PIN604", f"WHEEL is not what installers read alike: {fault}", member)
    tags = sorted({tag for text in info.tags for tag in _expanded(text)})
    if tuple(tags) != name.tags:
        yield say("PIN604", "WHEEL and the file name have other tags", member, expected=" ".join(name.tags),
                  found=" ".join(tags) or "none", hint="retag it with a tool that rewrites both")  # fmt: skip
    if info.build != name.build:
        yield say("PIN604", "WHEEL and the file name have other build tags", member, expected=name.build or "none",
                  found=info.build or "none")  # fmt: skip


def _expanded(tag: str) -> list[str]:
    """The tags that one, which may be compressed, stands for; itself where it is none."""
    from packaging.tags import parse_tag

    if tag.count("-") != 2 or tag.count(".") > len(_NAMES) * 8:
        return [tag]
    return [str(one) for one in parse_tag(tag)]


def _purelib(say: Telling) -> Iterator[Finding]:
    """PIN606: files of one platform go to platlib, and a wheel with them is of a platform. PIN609 for the reverse."""
    info, name, native = say.found.info, say.found.name, list(say.found.elves)
    member = f"{say.found.dist_info}/WHEEL"
    if info is not None and info.purelib and any(".data/platlib/" not in elf for elf in native):
        yield say("PIN606", f"Root-Is-Purelib is true, and there is native code: {some(native)}", member,
                  expected="false", found="true",
                  hint="build it as a platform wheel, or repair it: auditwheel mends the flag")  # fmt: skip
    if not isinstance(name, Name):
        return
    if _ANY in name.platforms and native:
        yield say("PIN606", f"the platform tag is `any`, and there is native code: {some(native)}", native[0],
                  expected="a platform tag", found=name.compressed, hint="build it as a platform wheel")  # fmt: skip
    if name.platforms != (_ANY,) and not native and info is not None and _is_linux(name):
        yield say("PIN609", "the wheel is of one platform, and holds no native code", expected="a shared library",
                  found=f"{len(say.found.contents)} files, none of them ELF",
                  hint="look into the build's log: an extension that is optional was skipped in silence")  # fmt: skip


def _is_linux(name: Name) -> bool:
    return any("linux" in platform for platform in name.platforms)
