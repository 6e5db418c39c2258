"""How pip and uv are told to install one wheel as the machine would that it is for, whatever this machine is: into a
folder, without its dependencies, held to its digest. Nothing of a wheel runs when it is installed so.
"""

import re
from typing import NamedTuple

from pinctl.wheel import names

_CPYTHON = re.compile(r"cp3(\d+)(t?)")
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_(x86_64|aarch64)")
_ALIASES = {"manylinux2014": "manylinux_2_17", "manylinux2010": "manylinux_2_12", "manylinux1": "manylinux_2_5"}
_UV_GLIBC = (17, 28, *range(31, 41))
"""The minor versions of glibc that uv's --python-platform knows."""


class Wanted(NamedTuple):
    """A wheel to install: from `page_set`, or from the URL `link`."""

    filename: str
    sha256: str
    page_set: str | None = None
    link: str | None = None

    @property
    def name(self) -> names.Name:
        return names.parse(self.filename)

    @property
    def requirement(self) -> str:
        """The one line of a file of requirements."""
        name = self.name
        what = f"{name.distribution} @ {self.link}" if self.link else f"{name.distribution}=={name.version}"
        return f"{what} --hash=sha256:{self.sha256}\n"


def pip(wanted: Wanted, target: str, requirements: str) -> list[str]:
    """The words behind `python -m pip`."""
    python, abi, _ = wanted.name.compressed.split("-")
    words = ["--isolated", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-cache-dir",
             "--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes", "--target", target]  # fmt: skip
    words += ["--index-url", wanted.page_set] if wanted.page_set else ["--no-index"]
    for platform in wanted.name.platforms:
        words += ["--platform", platform] if platform != "any" else []
    if version := _version(python):
        words += ["--implementation", "cp", "--python-version", version]
        words += [word for one in abi.split(".") for word in ("--abi", one)]
    return [*words, "--requirement", requirements]


def uv(wanted: Wanted, target: str, requirements: str, python: str) -> list[str] | None:
    """The words behind `uv`; None where it cannot be told of such a machine. `python` is an interpreter."""
    tag, abi, _ = wanted.name.compressed.split("-")
    machine = _machine(wanted.name.platforms)
    if machine is None or abi.endswith("t"):
        return None
    words = ["--no-cache", "--no-config", "pip", "install", "--quiet", "--no-deps", "--no-build", "--require-hashes",
             "--python", python, "--target", target]  # fmt: skip
    words += ["--default-index", wanted.page_set] if wanted.page_set else ["--no-index"]
    words += ["--python-platform", machine] if machine else []
    if version := _version(tag):
        words += ["--python-version", version]
    return [*words, "--requirement", requirements]


def _version(python: str) -> str | None:
    """The Python of a tag: 3.10 for cp310; None where any will do."""
    found = [match for one in python.split(".") if (match := _CPYTHON.fullmatch(one))]
    return f"3.{found[0][1]}" if found else None


def _machine(platforms: tuple[str, ...]) -> str | None:
    """What uv calls one of the platforms; "" for any."""
    for platform in platforms:
        for old, new in _ALIASES.items():
            platform = platform.replace(f"{old}_", f"{new}_", 1)
        if platform == "any":
            return ""
        match = _MANYLINUX.fullmatch(platform)
        if match and (known := [minor for minor in _UV_GLIBC if minor >= int(match[2])]):
            return f"{match[3]}-manylinux_2_{known[0]}"
    return None
