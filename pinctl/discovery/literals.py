"""What one literal pins, by the name it has, by the commands that take it, and by its text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pinctl.discovery import names, values
from pinctl.sites import pep508
from pinctl.sites.base import Slot


class What(StrEnum):
    """What a literal pins."""

    REPO = "repo"
    BRANCH = "branch"
    COMMIT = "commit"
    TAG = "tag"
    VERSION = "version"
    IMAGE = "image"
    URL = "url"
    DIGEST = "digest"
    SUBMODULES = "submodules"


VALUE, BARE = "\0", "\1"
"""In a form, the text of a place: where the value stands, and where it does without its leading v."""

_REQUIREMENT = re.compile(r"(?:.*:)?(?:requirement|pip install) (?P<name>\S+)", re.DOTALL)
_ARGUMENT = re.compile(r"(?:\S+:)?(?!git )\S+ [0-9]+")
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>\S+)")
_HASH = re.compile(r"(?:SHA256=|sha256:)?(?P<digest>[0-9a-fA-F]{64})")
_BRANCH = re.compile(r"[A-Za-z][\w./-]*|[0-9]+_[\w./-]+")
_ARCHIVE = re.compile(r"https?://[^\s${}]+\d[^\s${}]*\.(?:tar\.\w+|tgz|zip|whl|deb|rpm|run)")


class Meaning(NamedTuple):
    """What a literal pins, the value, the form in which that stands in the literal, and whose version it is."""

    what: What
    value: str
    form: str = VALUE
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal with the name of its variable, the selectors that commands give it, and the packages that are asked for
    in its version. `argument`: it is one of a command; `override`: it says a value in place of a default."""

    name: str
    value: str
    roles: frozenset[str] = frozenset()
    packages: tuple[str, ...] = ()
    argument: bool = False
    override: bool = False
    around: str = VALUE

    @classmethod
    def of(cls, slot: Slot, packages: Sequence[str]) -> "Literal":
        """The literal in a slot of one; `packages` are asked for in the version that its variable gives."""
        argument = _ARGUMENT.fullmatch(slot.selector) is not None
        name, value = "" if argument else names.identifier(slot.selector), slot.tokens[0].value
        assigned = _ASSIGNED.fullmatch(value) if argument else None
        if assigned is not None:
            return cls(assigned["name"], assigned["value"], override=True, around=f"{assigned['name']}={VALUE}")
        asked = [package for selector in slot.names if (package := requirement(selector))]
        roles = frozenset(selector.rpartition(":")[2] for selector in slot.names)
        override = "build-arg " in slot.selector
        return cls(name, value, roles, _own((*asked, *packages), name), argument, override)

    def meaning(self) -> Meaning | None:
        """What it pins; None for nothing."""
        found = self._source() or self._ref() or self._other()
        return found and found._replace(form=self.around.replace(VALUE, found.form))

    def _source(self) -> Meaning | None:
        certain = names.is_repo(self.name) or "git clone" in self.roles or self.argument
        if values.is_repo(self.value, certain=certain):
            return Meaning(What.REPO, self.value)
        from_ = any(role.startswith(("FROM", "COPY --from")) for role in self.roles)
        image = (from_ or names.is_image(self.name)) and values.image_name(self.value)
        return Meaning(What.IMAGE, self.value) if image else None

    def _ref(self) -> Meaning | None:
        is_ref = names.is_ref(self.name) or not self.roles.isdisjoint(("git checkout", "git clone --branch"))
        is_version = names.is_version(self.name) or bool(self.packages)
        if (is_ref or is_version) and (values.is_commit(self.value) or values.is_short(self.value)):
            return Meaning(What.COMMIT, self.value)
        if is_version and values.is_long_version(self.value):
            return Meaning(What.VERSION, self.value, packages=self.packages)
        if is_ref and values.is_tag(self.value):
            return Meaning(What.TAG, self.value)
        return Meaning(What.BRANCH, self.value) if is_ref and _BRANCH.fullmatch(self.value) else None

    def _other(self) -> Meaning | None:
        """A requirement that a variable gives, a digest, or the address of an archive that no forge gives."""
        asked = pep508.parse(self.value) if "==" in self.value else None
        if asked is not None and asked.kind == "requirement":
            form = self.value[: asked.start] + VALUE + self.value[asked.end :]
            return Meaning(What.VERSION, self.value[asked.start : asked.end], form, (asked.name,))
        digest = _HASH.fullmatch(self.value) if names.is_digest(self.name) else None
        if digest is not None:
            return Meaning(What.DIGEST, digest["digest"], self.value.replace(digest["digest"], VALUE))
        archive = names.is_repo(self.name) and _ARCHIVE.fullmatch(self.value)
        return Meaning(What.URL, self.value) if archive else None


def requirement(selector: str) -> str | None:
    """The package whose version a selector names (PEP 503); None for any other selector."""
    match = _REQUIREMENT.fullmatch(selector)
    return pep508.normal(match["name"]) if match else None


def about(found: Meaning, literal: Literal, selector: str) -> str:
    """Which dependency a literal is about, by its image, variable or package; "" where none is named."""
    if found.what is What.IMAGE:
        return names.squash((values.image_name(found.value) or "").rpartition("/")[2])
    if literal.name.lower() in ("", "clone", "checkout", "branch", "from"):
        return ""
    named = names.stem(literal.name) if literal.override else names.subject(selector)
    return named or next(map(names.squash, found.packages), "")


def _own(packages: Sequence[str], variable: str) -> tuple[str, ...]:
    """Of several packages, the one that the variable is named after; else all of them."""
    own = [package for package in packages if names.squash(package) == names.stem(variable)]
    return tuple(dict.fromkeys(own or packages))
