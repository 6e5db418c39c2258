"""What the file name of a wheel says (binary distribution format, "File name convention")."""

import re
from typing import NamedTuple

MOST_TAGS = 32
"""Tags that the three compressed sets of a name may stand for."""


_LABEL = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")


class BadName(Exception):
    """A file name that no wheel may have; `str(error)` says why."""


class Name(NamedTuple):
    """A wheel's file name, read.

    `stem` is the distribution and version as they are spelled, with which the folders in the wheel begin; `version` and
    `distribution` are normalised (PEP 440, PEP 503); `build` is "" without a build tag; `tags` are sorted.
    """

    filename: str
    stem: str
    distribution: str
    version: str
    build: str
    compressed: str
    tags: tuple[str, ...]

    @property
    def public(self) -> str:
        """The version without its local label."""
        return self.version.partition("+")[0]

    @property
    def label(self) -> str:
        """The local label, "" without one."""
        return self.version.partition("+")[2]

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platform tags as they stand in the name."""
        return tuple(self.compressed.split("-")[2].split("."))

    @property
    def canonical(self) -> str:
        """The one file name for what this one says: lower case, `_` in the distribution, a normalised version."""
        return filename(self.distribution, self.version, self.build, self.compressed)


def filename(distribution: str, version: str, build: str, compressed: str) -> str:
    """The file name of a wheel of normalised parts."""
    parts = [distribution.replace("-", "_"), version, *([build] if build else []), compressed]
    return f"{'-'.join(parts)}.whl"


def parse(name: str) -> Name:
    """What the file name `name`, without its folder, says. Raises BadName."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    fields = name.removesuffix(".whl").split("-")
    if not name.endswith(".whl") or len(fields) not in (5, 6):
        raise BadName("a wheel is named DISTRIBUTION-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl")
    compressed = "-".join(fields[-3:])
    count = 1
    for field in fields[-3:]:
        count *= len(field.split("."))
    if count > MOST_TAGS:
        raise BadName(f"it stands for more than {MOST_TAGS} tags")
    try:
        distribution, version, _, tags = parse_wheel_filename(name)
    except InvalidWheelFilename as error:
        raise BadName(str(error)) from error
    build = fields[2] if len(fields) == 6 else ""
    return Name(name, "-".join(fields[:2]), distribution, str(version), build, compressed,
                tuple(sorted(map(str, tags))))  # fmt: skip


def labelled(name: Name, label: str) -> Name:
    """`name` with the local label `label`, or without one where it is empty. Raises BadName for one that is no local
    version label of PEP 440."""
    if label and not _LABEL.fullmatch(label):
        raise BadName(f"{label!r} is no local version label, such as cu129 (PEP 440)")
    version = normal_version(f"{name.public}+{label}") if label else name.public
    return parse(filename(name.distribution, version, name.build, name.compressed))


def agree(name: Name, distribution: str, version: str) -> bool:
    """Whether a distribution and a version, as METADATA spells them, are those of the file name."""
    return (normal_name(distribution), normal_version(version)) == (name.distribution, name.version)


def normal_name(text: str) -> str:
    """`text` normalised as the name of a distribution (PEP 503)."""
    from packaging.utils import canonicalize_name

    return str(canonicalize_name(text))


def normal_version(text: str) -> str:
    """`text` normalised as a version of PEP 440; itself where it is none."""
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(text))
    except InvalidVersion:
        return text
