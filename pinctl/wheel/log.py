"""The log of a build, as BuildKit prints it with `--progress=plain`: where it is, and why it failed.

#12 [build 4/9] RUN sh /pinctl/steps/compile ...
#12 3.218 kernel.cpp:3:10: fatal error: elfutils/libdwfl.h: No such file or directory
#12 ERROR: executor failed running [...]: exit code: 1
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from pinctl.upstream import packages

TAIL = 20
"""Last lines of a failed step that are told."""

_LINE = re.compile(r"#([0-9]+) (.*)")
_STEP = re.compile(r"\[(?:[^\]]* )?[0-9]+/[0-9]+\] (.*)")
_SECONDS = re.compile(r"[0-9]+\.[0-9]+ ?")
_SCRIPT = re.compile(r"/pinctl/steps/([a-z]+)")
_TOLD = {
    "packages": "installs system packages",
    "python": "installs what the build needs",
    "compile": "compiles",
    "repair": "repairs the wheel",
    "install": "installs the wheel",
    "try": "imports the wheel",
}
# What gcc, clang, nvcc, ninja, pip and BuildKit say of a process that the kernel killed for its memory.
_KILLED = re.compile(
    r"Killed signal terminated program|died due to signal 9|exit code: (?:137|-9)\b|signal: killed"
    r"|virtual memory exhausted|out of memory allocating|command '[^']*' failed with exit code -9|\bKilled$"
    r"|subprocess\.CalledProcessError: .* died with <Signals\.SIGKILL",
    re.MULTILINE,
)
_ERROR = re.compile(r"\berror:|\bError: |undefined reference|undefined symbol", re.IGNORECASE)
_PIP = "error: subprocess-exited-with-error"
_MOST_ERRORS = 8
_HEADER = re.compile(r"fatal error: '?([A-Za-z0-9_+./-]+?)'?(?:: No such file or directory| file not found)")


class Failure(NamedTuple):
    """Why a build failed: what it was doing, what that step said of it, whether memory ran out, the header that a
    compiler did not find."""

    what: str
    tail: tuple[str, ...]
    killed: bool
    header: str | None


def step(line: str) -> str | None:
    """What the build does now, where a line of the log announces it: "compiles"; None for any other line."""
    match = _LINE.fullmatch(line)
    found = _STEP.fullmatch(match[2]) if match else None
    script = _SCRIPT.search(found[1]) if found else None
    return _TOLD.get(script[1]) if script else None


def _named(instruction: str) -> str:
    """What an instruction does, for people: `runs RUN mkdir -p /build`, or what its script does."""
    script = _SCRIPT.search(instruction)
    return (script and _TOLD.get(script[1])) or f"runs {instruction[:80]}"


class _Vertex:
    """What is seen of one step: its first errors and its last lines."""

    def __init__(self) -> None:
        self.what = ""
        self.errors: list[str] = []
        self.last: deque[str] = deque(maxlen=TAIL)
        self.over = False

    def add(self, line: str) -> None:
        self.over = self.over or _PIP in line
        if self.over:  # pip repeats itself at length
            return
        self.last.append(line)
        if _ERROR.search(line) and len(self.errors) < _MOST_ERRORS:
            self.errors.append(line)

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines, after those errors that scrolled away."""
        away = [line for line in self.errors if line not in self.last]
        return (*away, *(["..."] if away else []), *self.last)


def failure(lines: Iterable[str]) -> Failure:
    """What the log of a failed build says. A log without a failed step is told by its last lines."""
    steps: dict[str, _Vertex] = defaultdict(_Vertex)
    outside = _Vertex()
    failed, killed, header = None, False, None
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            outside.add(line)
            continue
        step_, text = steps[match[1]], match[2]
        if announced := _STEP.fullmatch(text):
            step_.what = _named(announced[1])
        elif text.startswith("ERROR"):
            failed = step_
        elif not text.startswith(("CANCELED", "sha256:", "DONE")):
            step_.add(_SECONDS.sub("", text, count=1) if _SECONDS.match(text) else text)
        killed = killed or _KILLED.search(text) is not None
        missing = _HEADER.search(text)
        header = missing[1] if missing else header
    told = failed or outside
    return Failure(told.what or "starts", tuple(line for line in told.tail if line.strip()), killed, header)


def remedy(header: str, manager: str | None) -> str | None:
    """The line of pins.toml that brings a missing header, where its library is known; that of `manager` first."""
    library = packages.known(header)
    if library is None:
        return None
    told = library.told()
    first = "dnf" if manager == "microdnf" else manager
    ordered = sorted(told.items(), key=lambda item: item[0] != first)
    table = ", ".join(f'{name} = "{package}"' for name, package in ordered)
    return f'system_packages.{library.name} = {{ {table}, header = "{header}", when = "build" }}'


def package(header: str, manager: str | None) -> str | None:
    """The package that brings `header` under `manager`; None where it is not known."""
    library = packages.known(header)
    return library.told().get("dnf" if manager == "microdnf" else manager or "") if library else None
