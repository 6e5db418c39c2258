"""Releases of packages, archives and images on their way into pins.toml: what servers hold of them, and what is wrong.

Everything is learned and judged before anything is written.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pinctl import waivers
from pinctl.commands.bumping import weighed
from pinctl.commands.courses import Course, Goal
from pinctl.commands.evidence import at_once
from pinctl.commands.indexes import Indexes
from pinctl.commands.locked import Locks
from pinctl.commands.proofs import downloaded, mebibytes, variants_of
from pinctl.errors import UsageError
from pinctl.external.gitcli import Profile
from pinctl.finding import Finding
from pinctl.manifest import New
from pinctl.model import KeyPath, Manifest, Pin
from pinctl.options import Step
from pinctl.upstream import archives
from pinctl.upstream.archives import Archive, Declared
from pinctl.upstream.telling import Telling, key_of
from pinctl.versions import is_older

if TYPE_CHECKING:
    from pinctl.upstream.availability import Stock
    from pinctl.upstream.images import Standing

_ANY = "0" * 64
_OF_ARCHIVE = ("version", "tag", "url", "sha256")


class Parcel(NamedTuple):
    """What was learned of a goal: the archives at its URL, the image under its tag, and the new values of pins.toml."""

    goal: Goal
    changes: Mapping[KeyPath, New]
    archives: Sequence[tuple[Declared, Archive]] = ()
    image: "Standing | None" = None


def learn(courses: Sequence[Course], profile: Profile, step: Step) -> dict[str, Parcel]:
    """What servers hold of the goals of `courses`, by pin. What fails is in the parcel. Raises UsageError for an
    archive whose digests cannot be told apart."""
    goals = [course.goal for course in courses if course.goal and course.goal.moves]
    known = at_once(goals, partial(_learned, profile=profile, count=mebibytes(step))) if goals else []
    return {parcel.goal.pin.name: parcel for parcel in known}


def _learned(goal: Goal, profile: Profile, count: Step) -> Parcel:
    changes = {**goal.changes, **goal.given}
    if goal.pin.image:
        return Parcel(goal, _from_the_top(goal.pin, changes), image=_image(goal, profile))
    if goal.pin.url is None:
        return Parcel(goal, _from_the_top(goal.pin, changes))
    wanted = _wanted(goal)
    got = at_once(wanted, partial(downloaded, profile=profile, step=count))
    pairs = list(zip(wanted, got, strict=True))
    if not goal.back:
        changes = {**_digests(goal.pin, pairs), **changes}
    return Parcel(goal, _from_the_top(goal.pin, changes), pairs)


def _from_the_top(pin: Pin, changes: Mapping[KeyPath, New]) -> dict[KeyPath, New]:
    return {(*key_of(pin.name), *key): value for key, value in changes.items()}


def _image(goal: Goal, profile: Profile) -> "Standing | None":
    """The image that the goal leads to, with its platforms."""
    from pinctl.external import registry
    from pinctl.upstream import images

    return None if goal.back else registry.ask(images.parse(goal.there.image or "", None), profile, look=True)


def _wanted(goal: Goal) -> list[Declared]:
    """The archives that the pin names as it becomes; their digests are not known yet."""
    given = {str(key[0]): value for key, value in goal.given.items() if key[0] in _OF_ARCHIVE}
    there = Pin(**(goal.there._asdict() | given))
    wanted = archives.wanted(there._replace(sha256=there.sha256 or _ANY))
    if isinstance(there.sha256, Mapping) and len(there.sha256) > 1 and len(wanted) == 1 and not goal.again:
        raise UsageError(f"{there.name} has a digest for each platform, and one URL for them all",
                         hint="write {platform} into the URL, where the names of its digests are to stand")  # fmt: skip
    return wanted


def _digests(pin: Pin, pairs: Sequence[tuple[Declared, Archive]]) -> dict[KeyPath, New]:
    """The digests that are others now."""
    known = pin.sha256 if isinstance(pin.sha256, Mapping) else {}
    found: dict[KeyPath, New] = {}
    for want, archive in pairs:
        digest = archive.digests.get("sha256")
        platform = want.platform or (next(iter(known)) if len(known) == 1 else None)
        if platform and digest and digest != known.get(platform):
            found["sha256", platform] = digest
        elif digest and not known and digest != pin.sha256:
            found["sha256",] = digest
    return found


# --- judging ------------------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """What is wrong with the releases that pins go to, what there is of their packages, and the digests of the files
    that may then be installed."""

    findings: Sequence[Finding]
    stocks: Mapping[str, "Sequence[Stock]"]
    locks: Locks


def judge(
    parcels: Mapping[str, Parcel], names: Sequence[str], after: Mapping[str, Pin], before: Manifest,
    indexes: Indexes, accepted: Collection[str],
) -> Verdict:  # fmt: skip
    """Hold the pins `names`, as they become (`after`), against what servers offer; the findings stand in `before`.
    Those with a code of `accepted` stop nothing."""
    found: list[Finding] = []
    stocks: dict[str, Sequence[Stock]] = {}
    locks: dict[tuple[str, str], Sequence[str]] = {}
    for name in names:
        say, parcel = Telling(after[name], before), parcels.get(name)
        if after[name].packages:
            stocks[name], wrong = _packages(say, indexes)
            found += wrong
            locks |= _locks(stocks[name], after[name])
        if parcel:
            found += _direction(parcel.goal, say)
            found += _archives(parcel, say)
            found += _platforms(parcel, say)
            locks |= {("", want.url): tuple(archive.digests.values()) for want, archive in parcel.archives}
    return Verdict(waivers.of_trees(weighed(found, accepted), before, judged=()), stocks, locks)


def _packages(say: Telling, indexes: Indexes) -> "tuple[Sequence[Stock], list[Finding]]":
    from pinctl.upstream import availability

    return availability.judge(say, indexes.offers(say.pin.packages), variants_of(say.pin, say.manifest))


def _locks(stocks: "Sequence[Stock]", pin: Pin) -> dict[tuple[str, str], Sequence[str]]:
    from packaging.utils import canonicalize_name

    return {(f"requirement {canonicalize_name(stock.package)}", pin.version or ""): stock.digests for stock in stocks}


def _direction(goal: Goal, say: Telling) -> Iterator[Finding]:
    old, new = goal.pin.version, say.pin.version
    if old and new and not goal.back and not goal.pin.repo and is_older(new, old):
        hint = f"accept it by name: --accept PIN322; to take the last bump back: pinctl bump {say.pin.name} --rollback"
        yield say.tell("PIN322", f"the version {new} is older than {old}", "version", hint=hint)


def _archives(parcel: Parcel, say: Telling) -> Iterator[Finding]:
    """An archive at the URL of before must be the one of before; another one is what it is."""
    before = {want.url: want for want in archives.wanted(parcel.goal.pin)}
    after = {want.url: want for want in archives.wanted(say.pin)}
    for want, archive in parcel.archives:
        declared = before.get(want.url) if not parcel.goal.back else None
        yield from archives.judge(say, declared or after.get(want.url, want), archive)


def _platforms(parcel: Parcel, say: Telling) -> Iterator[Finding]:
    from pinctl.upstream import images

    if parcel.image is None:
        return
    scope, name = key_of(say.pin.name)
    variant = say.manifest.variants.get(str(name)) if scope == "variants" else None
    if parcel.image.failure:
        yield say.tell("PIN321" if parcel.image.refused else "PIN320", parcel.image.failure, "image")
    elif variant:
        wanted = images.parse(say.pin.image or "", None)
        yield from images.lacking(say, wanted, parcel.image.platforms, variant.platforms)
