"""Releases: which of many versions is the next one, and which version a tag spells (PEP 440)."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pinctl.versions import is_version

if TYPE_CHECKING:
    from packaging.version import Version

# A `v` marks a version, the last one if there are several (`cuda-12.8-v1.2`); else its first number begins it.
_MARKED = re.compile(r"(?:.*[-_/.])?v(?=[0-9])", re.IGNORECASE)
_NUMBER = re.compile(r"(?:[^0-9]*[-_/])?(?=[0-9])")


def version_of(tag: str, like: str | None = None) -> str | None:
    """The version that `tag` spells, as it spells it: "2.8.3" of "flash-attn-2.8.3"; None if it spells none.

    With `like`, another tag, what stands before the version must be the same as there.
    """
    prefix = _prefix(tag if like is None else like)
    if prefix is None or not tag.startswith(prefix):
        return None
    version = tag.removeprefix(prefix)
    return version if re.match("[0-9]", version) and is_version(version) else None


def _prefix(tag: str) -> str | None:
    """What stands before the version of `tag`; None if it spells none."""
    match = _MARKED.match(tag) or _NUMBER.match(tag)
    return match[0] if match and is_version(tag[match.end() :]) else None


def eligible(versions: Sequence["Version"], present: "Version | None" = None, *, pre: bool = False) -> list["Version"]:
    """Those of `versions` that a pin at `present` may go to: final and post releases; all of them with `pre`, or where
    `present` is a pre-release that no final release has followed yet."""
    final = [version for version in versions if not version.is_prerelease]
    ahead = present is not None and present.is_prerelease and not any(version > present for version in final)
    return list(versions) if pre or ahead else final


def newest(
    tags: Iterable[str], *, like: str | None = None, pattern: str | None = None, pre: bool = False
) -> str | None:
    """The tag of the newest version among `tags`; None if none is left.

    `like` is the present tag: those count that spell their version as it does. `pattern` is a glob such as "v*".
    Pre-releases count as in `eligible`. What spells no version is passed over.
    """
    from packaging.version import Version

    present = like and version_of(like)
    spelled = ((tag, version_of(tag, like)) for tag in tags if pattern is None or fnmatchcase(tag, pattern))
    found = [(Version(version), tag == like, tag) for tag, version in spelled if version]
    left = set(eligible([version for version, *_ in found], Version(present) if present else None, pre=pre))
    return max((one for one in found if one[0] in left), default=(None, False, None))[2]
