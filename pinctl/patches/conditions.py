"""For which versions and variants of a pin a patch is: `when = "version < 2.8"`, `variants = ["cu12"]`."""

import re

from pinctl.model import Patch, Pin
from pinctl.versions import fits, is_version, specifier_problem

_WHEN = re.compile(r"version *([<>=!~].*)")


def when_problem(when: str) -> str | None:
    """What is wrong with a condition, as a clause; None if it is well-formed."""
    match = _WHEN.fullmatch(when)
    if match is None:
        return f'{when!r} is no condition such as "version < 2.8"'
    return specifier_problem(_plain(match[1]))


def is_for_version(patch: Patch, version: str | None) -> bool:
    """Whether `patch` is for `version` of its pin; one that cannot be compared, or is not known, is for none that is
    asked for."""
    if patch.when is None:
        return True
    match = _WHEN.fullmatch(patch.when)
    plain = (version or "").removeprefix("v")
    return match is not None and is_version(plain) and fits(plain, _plain(match[1]))


def of_source(pin: Pin, variant: str | None = None) -> list[str]:
    """The files of the diffs that are for the pinned version and for a build of `variant`, None: of every one, in their
    order: what is applied to a source. Texts exchanged in installed files are not."""
    return [patch.file for patch in pin.patches
            if patch.file and is_for_variant(patch, variant) and is_for_version(patch, pin.version)]  # fmt: skip


def is_for_variant(patch: Patch, variant: str | None) -> bool:
    """Whether `patch` is for a build of `variant`; None: for one of no variant."""
    return patch.variants is None or variant in patch.variants


def _plain(specifier: str) -> str:
    return re.sub(r"([<>=!~]) +", r"\1", specifier.strip())
