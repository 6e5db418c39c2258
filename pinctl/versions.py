"""Versions and specifiers of PEP 440. The usual forms are read here; `packaging` is imported for the others alone."""

import re

_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_USUAL = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?")
_AT_LEAST = re.compile(r">= *([0-9]+(?:\.[0-9]+)*)")
_LONGEST = 200
"""Characters; Python refuses to read integers of more than 4,300 digits."""


def is_version(text: str) -> bool:
    """Whether `text` is a version of PEP 440."""
    if len(text) > _LONGEST or _USUAL.fullmatch(text):
        return len(text) <= _LONGEST
    from packaging.version import InvalidVersion, Version

    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def specifier_problem(text: str) -> str | None:
    """Why `text` is no specifier such as `>=0.1.11,<2`; None if it is one."""
    if len(text) > _LONGEST:
        return f"a version specifier has at most {_LONGEST} characters"
    if _AT_LEAST.fullmatch(text):
        return None
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return f"{text!r} is no version specifier (PEP 440), such as >=0.1.11"
    return None


def fits(version: str, specifier: str) -> bool:
    """Whether `version` satisfies `specifier`; a pre-release does where its number does. Both must be valid."""
    least = _AT_LEAST.fullmatch(specifier)
    if least and _PLAIN.fullmatch(version):
        return _release(version) >= _release(least[1])
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(specifier).contains(version, prereleases=True)


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a plain version, without the zeros at its end: 1.0 is 1."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def is_older(version: str, than: str) -> bool:
    """Whether one version comes before another by PEP 440; False where either is no version of it."""
    texts = [text.removeprefix("v") for text in (version, than)]
    if not all(map(is_version, texts)):
        return False
    from packaging.version import Version

    return Version(texts[0]) < Version(texts[1])


def is_same(one: str, other: str) -> bool:
    """Whether two texts spell one version of PEP 440, such as 1.0-rc1 and 1.0.0rc1; else whether they are equal."""
    texts = [text.removeprefix("v") for text in (one, other)]
    if one == other or not all(map(is_version, texts)):
        return one == other
    from packaging.version import Version

    return Version(texts[0]) == Version(texts[1])
