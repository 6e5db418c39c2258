"""What platform tags promise, and which libraries belong to which CUDA: plain tables.

The versions are those of auditwheel's `manylinux-policy.json` (6.8.2), for each tag the highest of all architectures; a
test holds the table against auditwheel. The ABI of a tag `manylinux_2_N` is glibc 2.N by PEP 600, also where the table
has no row.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from pinctl.wheel.elf import numbers

PYPI_LIMIT = 100 * 1024**2
"""Bytes that a file on PyPI may have by default."""
RELEASE_LIMIT = 2 * 1024**3
"""Bytes that an asset of a GitHub release must stay below."""

_ALIASES = {"manylinux1": "manylinux_2_5", "manylinux2010": "manylinux_2_12", "manylinux2014": "manylinux_2_17"}

# glibc: GLIBCXX, CXXABI
_LIBSTDCXX = {
    5: ("3.4.8", "1.3.1"),
    12: ("3.4.13", "1.3.3"),
    17: ("3.4.19", "1.3.7"),
    24: ("3.4.22", "1.3.10"),
    26: ("3.4.24", "1.3.11"),
    27: ("3.4.24", "1.3.11"),
    28: ("3.4.24", "1.3.11"),
    31: ("3.4.28", "1.3.12"),
    34: ("3.4.29", "1.3.13"),
    35: ("3.4.30", "1.3.13"),
    36: ("3.4.30", "1.3.13"),
    37: ("3.4.30", "1.3.13"),
    38: ("3.4.30", "1.3.13"),
    39: ("3.4.33", "1.3.15"),
    40: ("3.4.33", "1.3.15"),
    41: ("3.4.33", "1.3.15"),
}

_OLDEST = 17
"""The glibc of the oldest tag that is proposed: manylinux2014's."""

_MANYLINUX = re.compile(r"manylinux_([0-9]{1,3})_([0-9]{1,3})_(\w+)")
_ARCHITECTURE = re.compile(r"(?:linux|manylinux_\d+_\d+|musllinux_\d+_\d+)_(\w+)")

_OF_CUDA = re.compile(
    r"lib(?:cudart|nvrtc|nvrtc-builtins|cublas|cublasLt|nvblas|nvJitLink|nvfatbin|cupti)\.so\.([0-9]{1,3})(?:\.[0-9]+)*"
)
"""Libraries of the toolkit whose number is that of CUDA; that of cusparse, cusolver, cufft and curand is another."""

_OWNERS = re.compile(r"nvidia-.+|cuda-.+|torch|apache-tvm-ffi")
"""Distributions whose business it is to bring such libraries."""

_GRAFTED = re.compile(r"[-.][0-9a-f]{8}(?=\.so)")
"""What auditwheel adds to the name of a library that it copies in."""

_LABEL = re.compile(r"cu([0-9]{1,2})([0-9])")


_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""What platform tags call Docker's architectures, where they differ."""


class Promise(NamedTuple):
    """The highest symbol versions that a platform tag allows."""

    tag: str
    versions: Mapping[str, str]


def promise(tag: str) -> Promise | None:
    """What a manylinux tag promises; None for other tags."""
    name = next((f"{tag.replace(old, new, 1)}" for old, new in _ALIASES.items() if tag.startswith(f"{old}_")), tag)
    match = _MANYLINUX.fullmatch(name)
    if match is None:
        return None
    versions = {"GLIBC": f"{int(match[1])}.{int(match[2])}"}
    if match[1] == "2" and int(match[2]) in _LIBSTDCXX:
        versions["GLIBCXX"], versions["CXXABI"] = _LIBSTDCXX[int(match[2])]
    return Promise(tag, versions)


def above(needed: Mapping[str, str], promised: Mapping[str, str]) -> dict[str, str]:
    """What of `needed` is higher than `promised` allows, by family of symbols."""
    return {
        family: needed[family]
        for family, most in promised.items()
        if family in needed and numbers(needed[family]) > numbers(most)
    }


def least(needed: Mapping[str, str], machine: str) -> str | None:
    """The tag for the oldest machines that have the symbols `needed`; None where the table ends before it."""
    tags = (promise(f"manylinux_2_{minor}_{machine}") for minor in _LIBSTDCXX if minor >= _OLDEST)
    return next((one.tag for one in tags if one and not above(needed, one.versions)), None)


def architecture(tag: str) -> str | None:
    """The machine of a Linux platform tag: "x86_64"; None for `any` and other systems."""
    for old, new in _ALIASES.items():
        tag = tag.replace(f"{old}_", f"{new}_", 1)
    match = _ARCHITECTURE.fullmatch(tag)
    return match[1] if match else None


def machine(platform: str) -> str:
    """The machine of a platform as Docker names it: "x86_64" for linux/amd64."""
    name = platform.rpartition("/")[2]
    return _MACHINES.get(name, name)


def cuda_of(library: str) -> str | None:
    """The major version of CUDA that a library is of: "12" for libcudart.so.12; None where its name does not tell."""
    match = _OF_CUDA.fullmatch(library)
    return match[1] if match else None


def cuda_of_label(label: str) -> str | None:
    """The version of CUDA in a local label: "12.9" for cu129; None for other labels."""
    match = _LABEL.fullmatch(label)
    return f"{match[1]}.{match[2]}" if match else None


def brings(library: str, distribution: str, patterns: Iterable[str]) -> str | None:
    """The one of `patterns` (SONAMEs as auditwheel's --exclude takes them) that a shared library in a wheel of
    `distribution` falls under, by its file name or SONAME; None where it may be there."""
    if _OWNERS.fullmatch(distribution):
        return None
    plain = _GRAFTED.sub("", library)
    return next((p for p in patterns if fnmatchcase(plain, p) or plain == p.removesuffix(".*")), None)
