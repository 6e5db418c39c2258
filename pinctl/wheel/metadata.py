"""METADATA and WHEEL of a wheel: headers as in an e-mail (core metadata specification; binary distribution format)."""

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from email.message import Message

LIMIT = 1024 * 1024
"""Bytes that METADATA may have, and WHEEL."""

_ONCE = ("Metadata-Version", "Name", "Version", "Requires-Python")


class Metadata(NamedTuple):
    """METADATA. `name` and `version` as they are spelled, "" where they are missing; `faults` say what is wrong with
    the file, each a clause ("Name stands twice")."""

    name: str = ""
    version: str = ""
    metadata_version: str = ""
    requires_python: str | None = None
    requires: tuple[str, ...] = ()
    summary: str = ""
    license: str = ""
    faults: tuple[str, ...] = ()


class WheelInfo(NamedTuple):
    """WHEEL. `purelib` None: it does not say; `tags` as they stand there."""

    version: str = ""
    generator: str = ""
    purelib: bool | None = None
    build: str = ""
    tags: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def read_metadata(data: bytes) -> Metadata:
    """What METADATA says."""
    message, faults = _headers(data, _ONCE)
    faults += [f"{key} is missing" for key in _ONCE[:3] if not message.get(key)]
    return Metadata(
        name=message.get("Name", "").strip(),
        version=message.get("Version", "").strip(),
        metadata_version=message.get("Metadata-Version", "").strip(),
        requires_python=message.get("Requires-Python"),
        requires=tuple(message.get_all("Requires-Dist", [])),
        summary=message.get("Summary", ""),
        license=message.get("License-Expression") or message.get("License", "").partition("\n")[0],
        faults=tuple(faults),
    )


def read_wheel(data: bytes) -> WheelInfo:
    """What WHEEL says."""
    message, faults = _headers(data, ("Wheel-Version", "Root-Is-Purelib", "Build"))
    version, pure = message.get("Wheel-Version", ""), message.get("Root-Is-Purelib", "").lower()
    if version.partition(".")[0] != "1":
        faults.append(f"Wheel-Version is {version!r}, and installers know 1.x alone")
    if pure not in ("true", "false"):
        faults.append("Root-Is-Purelib is neither true nor false")
    return WheelInfo(
        version=version,
        generator=message.get("Generator", ""),
        purelib={"true": True, "false": False}.get(pure),
        build=message.get("Build", ""),
        tags=tuple(message.get_all("Tag", [])),
        faults=tuple(faults),
    )


def _headers(data: bytes, once: tuple[str, ...]) -> "tuple[Message, list[str]]":
    """The headers, and what is wrong with them: bytes that are not UTF-8, lines that are no header, a key of `once`
    that stands more than once."""
    from email.parser import HeaderParser

    faults = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        faults.append(f"it is not UTF-8 (byte {error.start})")
    message = HeaderParser().parsestr(text)
    if message.defects:
        faults.append(f"a line is no header ({type(message.defects[0]).__name__})")
    return message, faults + [f"{key} stands {len(found)} times" for key in once
                              if len(found := message.get_all(key, [])) > 1]  # fmt: skip


def set_version(data: bytes, version: str) -> bytes:
    """METADATA with another Version; no other byte moves. Raises ValueError where there is not exactly one."""
    head, gap, body = _split(data)
    head, count = re.subn(rb"(?im)^(version:[ \t]*)[^\r\n]*", lambda m: m[1] + version.encode(), head)
    if count != 1:
        raise ValueError(f"METADATA has {count} Version headers")
    return head + gap + body


def _split(data: bytes) -> tuple[bytes, bytes, bytes]:
    """The headers, the empty line, and what follows it."""
    blank = re.search(rb"\r?\n\r?\n", data)
    return (data, b"", b"") if blank is None else (data[: blank.start()], blank[0], data[blank.end() :])
