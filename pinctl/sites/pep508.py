"""Where the version stands in one requirement, `name[extra] == 1.2 ; marker` (PEP 508).

Shared by every language in which requirements occur: pyproject, requirements files, `pip install` lines.
"""

import re
from dataclasses import dataclass

from pinctl.sites.base import BadSelector, Unwritable

KINDS = ("requirement", "specifier", "url")
"""The words of the selectors: the version of `name==1.2`, the set of `name>=1,<2`, the address of `name @ https://...`."""

_VERSION = r"[A-Za-z0-9][A-Za-z0-9.!+_-]*(?:\.\*)?"
_CLAUSE = rf"(?:~=|===?|!=|<=?|>=?)\s*{_VERSION}"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
# What a URL may hold in all the languages this serves: no quotes, no expansions, no marker.
_URL = r"[A-Za-z][A-Za-z0-9+.-]*:(?:(?![\"'\\`$;<>{}])[!-~])+"
_SET = rf"{_CLAUSE}(?:\s*,\s*{_CLAUSE})*"
_REQUIREMENT = re.compile(
    rf"\s*(?P<name>{_NAME})\s*(?:\[[A-Za-z0-9._,\s-]*\]\s*)?"
    rf"(?:@\s*(?P<url>{_URL})|\(\s*(?P<bracketed>{_SET})(?:\s*,)?\s*\)|(?P<set>{_SET})(?:\s*,)?)"
)
_LONGEST = 1000
_PINNED = re.compile(rf"===?\s*(?P<version>{_VERSION})")
_ADDRESS = re.compile(_URL)
_VCS = re.compile(
    r"git\+[a-z]+://[^/]+/(?:[^@#]*/)?(?P<name>[^/@#]+?)(?:\.git)?/?(?:@[^#]*)?"
    r"(?:#(?:.*&)?egg=(?P<egg>[A-Za-z0-9._-]+).*|#.*)?"
)
_WHEEL = re.compile(r".*/(?P<name>[A-Za-z0-9._]+)-[^/-]+(?:-[^/-]+)?-[^/-]+-[^/-]+-[^/-]+\.whl(?:#.*)?")
_PROBES = {"requirement": "x==", "specifier": "x", "url": "x @ "}
_SELECTOR = re.compile(rf"(?P<kind>{'|'.join(KINDS)}) (?P<name>{_NAME})")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: its name as PEP 503 normalises it, and the characters `start:end` of the text that pin it.

    `kind` is one of KINDS.
    """

    name: str
    kind: str
    start: int
    end: int

    @property
    def selector(self) -> str:
        return f"{self.kind} {self.name}"


def normal(name: str) -> str:
    """A project's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_url(text: str) -> bool:
    """Whether `text` is a URL without quotes, white space or an expansion such as `${TOKEN}`."""
    return _ADDRESS.fullmatch(text) is not None


def parse(text: str) -> Requirement | None:
    """The requirement that `text` is; None where it is none, or says no version, set or literal URL.

    `== 1.2` and `=== 1.2` alone pin a version; `== 1.2.*` and all else is a set of specifiers.
    """
    end = len(text.partition(";")[0].rstrip())
    match = _REQUIREMENT.fullmatch(text, 0, end) if end <= _LONGEST else None
    if match is None:
        return None
    name = normal(match["name"])
    if match["url"] is not None:
        # A semicolon right behind a URL is part of it.
        return Requirement(name, "url", *match.span("url")) if text[end : end + 1] != ";" else None
    span = match.span("set" if match["set"] is not None else "bracketed")
    pinned = _PINNED.fullmatch(text, *span)
    if pinned is not None and not pinned["version"].endswith("*"):
        return Requirement(name, "requirement", *pinned.span("version"))
    return Requirement(name, "specifier", *span)


def vcs(text: str) -> Requirement | None:
    """The requirement that a git URL alone is, `git+https://host/owner/NAME.git@ref` (pip's documentation, "VCS
    Support"): called after its `#egg=`, else after its repository. None for anything else."""
    match = _VCS.fullmatch(text) if len(text) <= _LONGEST and is_url(text) else None
    name = (match["egg"] or match["name"]) if match else ""
    return Requirement(normal(name), "url", 0, len(text)) if re.fullmatch(_NAME, name) else None


def wheel(text: str) -> Requirement | None:
    """The requirement that the address of a wheel alone is, called after the wheel's file (PEP 427). None for anything
    else."""
    match = _WHEEL.fullmatch(text) if len(text) <= _LONGEST and is_url(text) else None
    return Requirement(normal(match["name"]), "url", 0, len(text)) if match else None


def checked(kind: str, value: str) -> str:
    """`value` where it can stand as the version, set or URL (`kind`) of a requirement. Raises Unwritable."""
    probe = _PROBES[kind] + value
    read = parse(probe)
    if read is None or (read.kind, probe[read.start : read.end]) != (kind, value):
        meant = {"requirement": "a version", "specifier": "a set of specifiers other than one `==`", "url": "a URL"}
        raise Unwritable(f"{value!r} is not {meant[kind]} as PEP 508 has it")
    return value


def selector(text: str) -> str | None:
    """A `requirement NAME`, `specifier NAME` or `url NAME` selector with its name normalised; None for any other form.

    Raises BadSelector where the word is one of these and what follows is no project's name.
    """
    match = _SELECTOR.fullmatch(text)
    if match is not None:
        return f"{match['kind']} {normal(match['name'])}"
    word = text.partition(" ")
    if word[0] in KINDS and word[1]:
        raise BadSelector(f"{word[2]!r} is no project's name; expected `{word[0]} NAME` without extras or version")
    return None
