"""What the name of a file says: project, version, label, tags (PEP 427, PEP 625, PEP 440)."""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from packaging.tags import Tag, parse_tag
from packaging.utils import canonicalize_name, parse_sdist_filename
from packaging.version import Version

from pinctl.wheel import names as wheel_names

FOLDER = r"[a-z0-9]+(?:[._-][a-z0-9]+)*"
"""A channel or a variant, which become folders: a pattern."""
SHA256 = re.compile("[0-9a-f]{64}")

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,300}")
_FOLDER = re.compile(FOLDER)
_SDISTS = (".tar.gz", ".zip")


class Name(NamedTuple):
    """`project` is normalized (PEP 503); `tags` of a wheel, none of a source distribution."""

    project: str
    version: Version
    tags: frozenset[Tag] = frozenset()

    @property
    def label(self) -> str:
        """The local version label: `cu129`, `g0a1b2c3.cu129`; "" without one."""
        return self.version.local or ""


@lru_cache(maxsize=100_000)
def parse(filename: str) -> Name | None:
    """What `filename` says; None for what is no name of a wheel or a source distribution."""
    if not _FILE.fullmatch(filename):
        return None
    try:
        if filename.endswith(".whl"):
            wheel = wheel_names.parse(filename)
            return Name(wheel.distribution, Version(wheel.version), parse_tag(wheel.compressed))
        if filename.endswith(_SDISTS):
            return Name(*parse_sdist_filename(filename))
    except (wheel_names.BadName, ValueError):  # the base of packaging's own errors
        pass
    return None


def known(filename: str) -> Name:
    """As `parse`, for a name that was looked at before. Raises ValueError."""
    name = parse(filename)
    if name is None:
        raise ValueError(filename)
    return name


def problem(filename: str) -> str | None:
    """What is wrong with the spelling of a file's name, as a clause; None where nothing is.

    A client that asks for `sgl-kernel` finds `sgl_kernel-...` alone: the name is normalized, with `_` for `-`, and the
    version has the one spelling of PEP 440 (binary distribution format, "Escaping and Unicode").
    """
    if parse(filename) is None:
        return "is no name of a wheel or a source distribution"
    if not filename.endswith(".whl"):
        return None
    right = wheel_names.parse(filename).canonical
    return None if filename == right else f"is not normalized: it should be {right}"


def is_folder(name: str) -> bool:
    """Whether `name` may be a channel or a variant."""
    return _FOLDER.fullmatch(name) is not None


def is_project(name: str) -> bool:
    """Whether `name` is normalized (PEP 503)."""
    return is_folder(name) and canonicalize_name(name) == name


def escaped(url: str) -> str:
    """`url` with each `+` of its path as `%2B`: object stores read a bare one as a space."""
    path, mark, rest = url.partition("?")
    return path.replace("+", "%2B") + mark + rest


def of_url(url: str) -> str:
    """The name of the file that `url` leads to: the last part of its path, unescaped."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def in_url(filename: str) -> str:
    """`filename` as it stands in a URL."""
    return quote(filename, safe="")
