"""What pins.toml says wrongly of patches, beyond the structure of one:

- `when` is a condition on the version, which the pin must have, by PEP 440 (PIN103, PIN104)
- a patch does not supersede itself, nor is a text exchanged for itself (PIN103)
- a build has no patch twice (PIN103)
- a backport is of a repository (PIN104)
"""

from collections.abc import Iterator

from pinctl.manifest.shapes import Problem, named
from pinctl.model import KeyPath, Patch, Pin
from pinctl.patches.conditions import when_problem
from pinctl.versions import is_version


def problems(pin: Pin) -> Iterator[Problem]:
    """Everything that is wrong with the patches of `pin`."""
    for n, patch in enumerate(pin.patches):
        key: KeyPath = ("pins", pin.name, "patches", n)
        if patch.when is not None:
            yield from _when(pin, patch.when, (*key, "when"))
        if patch.backport and pin.repo is None:
            what = f"{named((*key, 'backport'))}: the pin has no `repo` of which it could be a commit"
            yield Problem("PIN104", (*key, "backport"), what, "say of which repository")
        yield from _itself(patch, key)
        earlier = next((m for m, other in enumerate(pin.patches[:n]) if _is_again(patch, other)), None)
        if earlier is not None:
            what = f"{named((*key, 'file'))}: {patch.file} is `patches[{earlier}]` already"
            yield Problem("PIN103", (*key, "file"), what, "drop one of the two")


def _is_again(patch: Patch, other: Patch) -> bool:
    """Whether both are one file, for one condition, and some build has both."""
    shared = patch.variants is None or other.variants is None or not set(patch.variants).isdisjoint(other.variants)
    return patch.file is not None and (patch.file, patch.when) == (other.file, other.when) and shared


def _when(pin: Pin, when: str, key: KeyPath) -> Iterator[Problem]:
    if problem := when_problem(when):
        yield Problem("PIN103", key, f"{named(key)}: {problem}", 'write it as "version < 2.8"')
    elif pin.version is None:
        what = f"{named(key)} asks for the version of {pin.name}, which is not known"
        yield Problem("PIN104", key, what, f"give {pin.name} its `version`")
    elif not is_version(pin.version.removeprefix("v")):
        what = f"{named(key)}: the version {pin.version!r} of {pin.name} cannot be compared (PEP 440)"
        yield Problem("PIN103", key, what, "drop `when`")


def _itself(patch: Patch, key: KeyPath) -> Iterator[Problem]:
    if patch.file in patch.supersedes:
        at = (*key, "supersedes", patch.supersedes.index(str(patch.file)))
        yield Problem(
            "PIN103", at, f"{named(at)}: {patch.file} supersedes itself", "keep the older form in its own file"
        )
    if patch.target and patch.search == patch.replace:
        yield Problem("PIN103", (*key, "replace"), f"{named((*key, 'replace'))}: it is what is searched for")
