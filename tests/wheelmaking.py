"""Wheels and ELF files that the tests make themselves."""

from __future__ import annotations

import hashlib
import io
import shutil
import struct
import subprocess
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pinctl.external import wheelfile
from pinctl.wheel.survey import Survey

NAME = "tiny_kernel-1.0-py3-none-any.whl"
LINUX = "tiny_kernel-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
WHEN = (2024, 5, 6, 7, 8, 10)

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler here")


def record(files: Mapping[str, bytes], own: str) -> bytes:
    """RECORD of `files`, written without our own code."""
    rows = [f"{name},sha256={urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
            for name, data in files.items()]  # fmt: skip
    return "\n".join([*rows, f"{own},,", ""]).encode()


def files(
    filename: str = NAME,
    content: Mapping[str, bytes] | None = None,
    *,
    metadata: Sequence[str] = (),
    purelib: bool | None = None,
    tags: Sequence[str] | None = None,
    changed: Mapping[str, bytes | None] | None = None,
) -> dict[str, bytes]:
    """The members of a wheel named `filename`, in order, with a RECORD of them; `changed` are put in after that, and
    None takes one out."""
    distribution, version, python, abi, platform = filename.removesuffix(".whl").split("-")
    folder = f"{distribution}-{version}.dist-info"
    pure = platform == "any" if purelib is None else purelib
    if tags is None:
        tags = [f"{p}-{a}-{w}" for p in python.split(".") for a in abi.split(".") for w in platform.split(".")]
    members = dict(content or {"tiny_kernel/__init__.py": b"answer = 42\n"})
    head = ["Metadata-Version: 2.1", f"Name: {distribution.replace('_', '-')}", f"Version: {version}", *metadata]
    members[f"{folder}/METADATA"] = "\n".join([*head, "", "A kernel.", ""]).encode()
    info = ["Wheel-Version: 1.0", "Generator: by hand", f"Root-Is-Purelib: {str(pure).lower()}"]
    members[f"{folder}/WHEEL"] = "\n".join([*info, *(f"Tag: {tag}" for tag in tags), ""]).encode()
    members[f"{folder}/RECORD"] = record(members, f"{folder}/RECORD")
    for name, data in (changed or {}).items():
        members.pop(name, None)
        if data is not None:
            members[name] = data
    return members


def zipped(members: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED, modes: Mapping[str, int] = {}) -> bytes:
    """The members as a zip archive, by Python's own zipfile."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, WHEN)
            info.compress_type = method
            info.external_attr = (0o100000 | modes.get(name, 0o644)) << 16
            archive.writestr(info, data)
    return out.getvalue()


def put(folder: Path, filename: str = NAME, members: Mapping[str, bytes] | None = None) -> Path:
    """A wheel file in `folder`."""
    path = folder / filename
    path.write_bytes(zipped(files(filename) if members is None else members))
    return path


def read(folder: Path, filename: str = NAME, members: Mapping[str, bytes] | None = None) -> Survey:
    """The survey of a wheel that is written into `folder`."""
    return wheelfile.survey(str(put(folder, filename, members)))


# --- ELF --------------------------------------------------------------------------------------------------------------


def compiled(folder: Path, source: str, *flags: str, compiler: str = "cc", language: str = "c") -> bytes:
    """A shared library of `source` by this machine's compiler."""
    path = folder / f"source.{language}"
    path.write_text(source)
    out = folder / "out.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(out), str(path), *flags], check=True, cwd=folder)
    return out.read_bytes()


def stub(folder: Path, soname: str, source: str = "") -> Path:
    """A shared library of this SONAME to link with."""
    path = folder / soname
    path.write_bytes(compiled(folder, source, f"-Wl,-soname,{soname}"))
    return path


def extension(
    folder: Path, *flags: str, needs: Sequence[str] = (), source: str = "int one(void) { return 1; }"
) -> bytes:
    """A shared library that needs libraries of these SONAMEs, though it uses nothing of them."""
    libraries = [str(stub(folder, soname)) for soname in needs]
    return compiled(folder, source, "-Wl,--no-as-needed", *libraries, *flags)


def fat_entry(arch: int, flags: int = 0, *, kind: int = 2, data: bytes = b"code" * 4) -> bytes:
    """One entry of a fat binary: kind 2 is machine code, 1 is PTX."""
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(data), 0, 0, 7, 1, arch, 0, 0, flags, 0, 0) + data


def fat_binary(*entries: bytes) -> bytes:
    """A container of entries."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def with_fatbin(folder: Path, section: bytes, *flags: str, needs: Sequence[str] = ()) -> bytes:
    """A shared library with this section `.nv_fatbin`."""
    numbers = ",".join(map(str, section))
    source = f'__attribute__((section(".nv_fatbin"), used)) const unsigned char fat[] = {{{numbers}}};\n'
    return extension(folder, *flags, needs=needs, source=source)
