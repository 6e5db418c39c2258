"""A wheel's shared libraries: what the dynamic loader will ask of the machine, against what the tags promise."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath

from pinctl.finding import Finding, Severity
from pinctl.wheel import abi3, policy
from pinctl.wheel.elf import Elf
from pinctl.wheel.judgement.telling import Telling, some
from pinctl.wheel.names import Name

_TORCH = re.compile(r"lib(?:torch|c10)\w*\.so.*")
_EXTENSION = re.compile(r"\.(?:(?P<cpython>cpython-(?P<python>[0-9]{2,4}t?)-)|(?P<abi3>abi3\.))[\w.-]*so$")
_CP = re.compile(r"cp([0-9])([0-9]{1,3})")


def judge(say: Telling) -> Iterator[Finding]:
    name = say.found.name
    for member, content in say.found.contents.items():
        if isinstance(content.elf, str):
            yield say("PIN617", f"{member} begins as an ELF file, and cannot be read: {content.elf}", member)
    yield from _unrepaired(say)
    for member, elf in say.found.elves.items():
        if isinstance(name, Name):
            yield from _platform(say, name, member, elf)
            yield from _python(say, name, member, elf)
        yield from _bundled(say, member, elf)
        yield from _runpath(say, member, elf)
        yield from _libstdcxx(say, member, elf)


def _unrepaired(say: Telling) -> Iterator[Finding]:
    """PIN608."""
    name = say.found.name
    for tag in name.platforms if isinstance(name, Name) else ():
        if tag.startswith("linux_"):
            fits = policy.least(say.found.needs, tag.removeprefix("linux_"))
            yield say("PIN608", f"the platform tag {tag} promises nothing of other machines, and PyPI refuses it",
                      expected=fits or "a manylinux tag", found=tag,
                      hint=f"run: auditwheel repair --only-plat --plat {fits or 'TAG'} FILE")  # fmt: skip


def _platform(say: Telling, name: Name, member: str, elf: Elf) -> Iterator[Finding]:
    """PIN607 for symbol versions above a tag's promise, PIN610 for another machine than the tag's."""
    for tag in name.platforms:
        machine = policy.architecture(tag)
        if machine is not None and machine != elf.machine:
            yield say("PIN610", f"{member} is for another machine than the tag {tag} says", member, expected=machine,
                      found=elf.machine,
                      hint="build each platform by itself; a folder of another build was left over")  # fmt: skip
        promise = policy.promise(tag)
        above = policy.above(elf.versions, promise.versions) if promise else {}
        if promise and above:
            fits = policy.least(say.found.needs, elf.machine) or "a later tag"
            yield say("PIN607", f"{member} needs newer system libraries than {tag} promises", member,
                      expected=", ".join(f"{family}_{promise.versions[family]} at most" for family in above),
                      found=", ".join(f"{family}_{version}" for family, version in above.items()),
                      hint=f"build it in an image that is as old as the tag, or repair it for {fits}; a new name alone"
                      " mends nothing")  # fmt: skip
            return


def _bundled(say: Telling, member: str, elf: Elf) -> Iterator[Finding]:
    """PIN612: a library that the driver, CUDA's packages or torch bring."""
    name = say.found.name
    distribution = name.distribution if isinstance(name, Name) else ""
    patterns = dict(say.wanted.excludes)
    for library in (basename(member), elf.soname or ""):
        pattern = policy.brings(library, distribution, patterns)
        if pattern is not None:
            yield say("PIN612", f"{member} is a copy of a library that the wheel may not bring: {patterns[pattern]}",
                      member, found=library, hint=f"run: auditwheel repair --exclude '{pattern}' ...")  # fmt: skip
            return


def _runpath(say: Telling, member: str, elf: Elf) -> Iterator[Finding]:
    """PIN613: directories that are not below site-packages, as seen from where the member is installed."""
    folder = dirname(member)
    if ".data/" in f"{folder}/":
        if "/platlib" not in folder and "/purelib" not in folder:
            return  # programs, which are installed we do not know where
        folder = re.sub(r"^[^/]+\.data/(?:platlib|purelib)/?", "", folder)
    wrong = [path for path in elf.runpath if not _stays(folder, path)]
    if wrong:
        yield say("PIN613", f"{member} looks for its libraries outside of the place where it is installed", member,
                  expected="$ORIGIN/...", found=":".join(wrong),
                  hint="run: patchelf --set-rpath '$ORIGIN/...' on it, or build it with"
                  " CMAKE_BUILD_WITH_INSTALL_RPATH")  # fmt: skip


def _stays(folder: str, path: str) -> bool:
    origin = re.fullmatch(r"\$(?:ORIGIN|\{ORIGIN\})(/.*)?", path)
    return origin is not None and not f"{normpath(join(folder, '.' + (origin[1] or '')))}/".startswith("../")


def _libstdcxx(say: Telling, member: str, elf: Elf) -> Iterator[Finding]:
    """PIN618: a second libstdc++ in a process that has torch's."""
    meta = say.found.metadata
    with_torch = any(_TORCH.fullmatch(library) for library in elf.needed)
    beside = bool(elf.python) and meta is not None and any(_is_torch(text) for text in meta.requires)
    if elf.static_cxx and (with_torch or beside):
        yield say("PIN618", f"{member} holds a libstdc++ of its own, and is loaded beside torch's", member,
                  expected="NEEDED libstdc++.so.6", found="libstdc++ linked in",
                  severity=None if with_torch else Severity.WARNING,
                  hint="link without -static-libstdc++")  # fmt: skip


def _is_torch(requirement: str) -> bool:
    return re.match(r"torch\b(?!-)", requirement.strip(), re.IGNORECASE) is not None


# --- Python ---------------------------------------------------------------------------------------------------------


def _python(say: Telling, name: Name, member: str, elf: Elf) -> Iterator[Finding]:
    """PIN614 to PIN616: an extension for another Python, or one that leaves the stable ABI."""
    extension = _EXTENSION.search(member)
    if extension is not None and extension["python"]:
        yield from _one_python(say, name, member, f"cp{extension['python'].removesuffix('t')}")
    elif elf.python:
        oldest = min((_number(tag) for tag in name.tags if "-abi3-" in tag), default=None)
        if oldest is not None:
            yield from _stable(say, member, elf, f"{oldest[0]}.{oldest[1]}")


def _number(tag: str) -> tuple[int, int]:
    """The Python of a tag: (3, 11) of `cp311-abi3-any`; (0, 0) of `py3-none-any`."""
    match = _CP.match(tag)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _one_python(say: Telling, name: Name, member: str, only: str) -> Iterator[Finding]:
    """PIN614 for an extension of the Python `only`, where the wheel is for others, too."""
    wide = [tag for tag in name.tags if "-abi3-" in tag or _number(tag) == (0, 0)]
    pythons = {tag.partition("-")[0] for tag in name.tags}
    if pythons == {only} and not wide:
        return
    admitted = only in pythons or any(_number(tag) <= _number(only) for tag in wide)
    yield say("PIN614", f"{member} is an extension of one Python alone, and the wheel is for others", member,
              expected=some(sorted({"-".join(tag.split("-")[:2]) for tag in name.tags})), found=f"{only}-{only}",
              severity=Severity.WARNING if admitted else None,
              hint="build it for the stable ABI, or a wheel for each Python from a clean folder")  # fmt: skip


def _stable(say: Telling, member: str, elf: Elf, python: str) -> Iterator[Finding]:
    try:
        outside = abi3.outside(elf.python, python)
    except abi3.Missing:
        yield say("PIN616", f"whether {member} keeps to the stable ABI was not looked at", member,
                  hint="run: pip install 'pinctl[wheels]'")  # fmt: skip
        return
    if outside:
        names = [f"{one.symbol} (since {one.since})" if one.since else one.symbol for one in outside]
        yield say("PIN615", f"{member} uses names that are not in the stable ABI of Python {python}", member,
                  expected=f"the stable ABI of Python {python}", found=some(names),
                  hint=f"compile with Py_LIMITED_API of Python {python}, or tag the wheel for a later one")  # fmt: skip
