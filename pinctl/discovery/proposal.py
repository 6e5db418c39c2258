"""From groups to pins: which values are a pin's facts, and what each place holds in their words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pinctl import digests
from pinctl.compare import agree
from pinctl.discovery import values
from pinctl.discovery.groups import REFS, Group, like
from pinctl.discovery.literals import BARE, VALUE, What
from pinctl.discovery.names import squash
from pinctl.discovery.sightings import Sighting, Weight
from pinctl.finding import Span
from pinctl.urls import check_url, identity
from pinctl.versions import is_version

KINDS = ("git", "packages", "archive", "image", "unknown")
"""Where pins come from, in the order in which they are proposed."""
_DIGITS = 40
_NOWHERE = Span(0)
_LONGEST_IMAGE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One site: what was seen there (several for the parts of one call), and its template."""

    file: str
    selector: str
    template: str
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """One pin of the proposal.

    unresolved  True, or the short id, where the full commit (or an image's or archive's digest) is not known offline
    sha256      of the archive at `url`, or of that of the commit, which is at `archive`; `sha1` of this one alone
    """

    name: str = ""
    repo: str | None = None
    commit: str | None = None
    tag: str | None = None
    version: str | None = None
    image: str | None = None
    url: str | None = None
    sha256: str | None = None
    sha1: str | None = None
    archive: str | None = None
    packages: tuple[str, ...] = ()
    submodules: tuple[str, ...] | None = None
    unresolved: bool | str = False
    places: tuple[Place, ...] = ()

    @property
    def source(self) -> str:
        """One of KINDS."""
        values_ = (self.repo, self.packages, self.url, self.image)
        return next((kind for kind, value in zip(KINDS, values_, strict=False) if value), KINDS[-1])

    @property
    def at(self) -> str:
        """What is pinned, as short as a person would say it."""
        short = self.unresolved if isinstance(self.unresolved, str) else ""
        file = (self.url or "").rpartition("/")[2]
        return self.tag or (self.commit or short)[:12] or self.version or self.image or file


def propose(groups: Iterable[Group]) -> list[Proposed]:
    """The pins, each under a name of its own, by kind and name. Groups that pin nothing are left out."""
    taken: dict[str, Proposed] = {}
    for group in groups:
        pin = _facts(group)
        places = _places(pin, group.sightings) if pin is not None else ()
        if pin is not None and places and _is_worth(pin, places):
            name = _name(group, pin, taken)
            taken[name] = replace(pin, name=name, places=places)
    return sorted(taken.values(), key=lambda pin: (KINDS.index(pin.source), pin.name))


def alone(groups: Iterable[Group], pins: Iterable[Proposed]) -> list[Sighting]:
    """The versions that stand in one place and name no source, and so are no pin."""
    held = {(place.file, place.selector) for pin in pins for place in pin.places}
    found = [s for group in groups if not (group.repos or group.packages) for s in group.of(What.VERSION) if s.about]
    lone = [s for s in found if s.selector and (s.file, s.selector) not in held]
    return sorted(lone, key=lambda s: (s.file, s.span or _NOWHERE))


def _is_worth(pin: Proposed, places: Sequence[Place]) -> bool:
    """A version that no source explains is worth a pin where it must be the same in several places."""
    return pin.source != KINDS[-1] or (pin.version is not None and len(places) > 1)


# --- facts ---


def _facts(group: Group) -> Proposed | None:
    """What is known of the group's dependency; None where that pins nothing."""
    repo = _most(group.repos)
    version = _version(group)
    commit, short, tag = (*_commit(group), _tag(group, version)) if repo else (None, None, None)
    image = _most(Counter(s.value for s in group.of(What.IMAGE)))
    url = None if repo else _most(Counter(s.value for s in group.of(What.URL)))
    if not (commit or short or tag or version or image or url):
        return None
    known = Proposed(
        repo=next((s.value for s in group.of(What.REPO) if identity(s.value) == repo), None),
        commit=commit,
        tag=tag,
        version=version,
        image=image,
        url=url,
        sha256=_digest(group, "sha256") if url or repo else None,
        sha1=_digest(group, "sha1") if repo else None,
        packages=group.packages if version and is_version(version) else (),
        submodules=next((s.elements for s in group.of(What.SUBMODULES)), None),
    )
    archive = _archive(group, known) if repo and (known.sha256 or known.sha1) else None
    return replace(known, archive=archive, unresolved=_unresolved(known, short))


def _unresolved(pin: Proposed, short: str | None) -> bool | str:
    if pin.commit:
        return False
    if short:
        return short
    if pin.source == "image":
        return "@" not in (pin.image or "")
    return pin.source != "packages" and not (pin.url and pin.sha256)


def _version(group: Group) -> str | None:
    """The version that most files hold, of equally many the one that a package is asked for in."""
    said = [s for s in group.of(What.VERSION) if s.weight is not Weight.LOCKED]
    firm = [s for s in said if s.weight is Weight.FIRM] or said
    files = Counter(value for value, _ in {(values.bare(s.value), s.file): None for s in firm})
    asked = {values.bare(s.value) for s in firm if s.packages}
    return max(files, key=lambda value: (files[value], value in asked), default=None)


def _tag(group: Group, version: str | None) -> str | None:
    """The tag that most places hold; None where the version says all of them, too."""
    tags = group.of(What.TAG)
    told = version is not None and all(values.is_version(s.value) and not s.part for s in tags)
    return None if told else _most(Counter(s.value for s in tags))


def _commit(group: Group) -> tuple[str | None, str | None]:
    """The full id, else the short one, that most places hold."""
    ids = [s.value for s in group.of(What.COMMIT)]
    full = Counter(i for i in ids if len(i) == _DIGITS)
    if full:
        support = {i: n + sum(len(o) < _DIGITS and agree(i, o) for o in ids) for i, n in full.items()}
        return _most(support), None
    return None, _most(Counter(ids))


def _digest(group: Group, algorithm: str) -> str | None:
    """The one digest of the group by that algorithm; several are those of several files, and none of them the pin's."""
    found = {_hex(s.value) for s in group.of(What.DIGEST)}
    known = {digest for digest in found if digests.algorithm(digest) == algorithm}
    return known.pop() if len(known) == 1 else None


def _hex(digest: str) -> str:
    return digests.from_sri(digest) or digest.lower()


def _archive(group: Group, pin: Proposed) -> str | None:
    """The URL of the archive whose digest the group has, so that a bump can follow both; None for one that a variable
    is a part of."""
    calls = {call for s in group.of(What.DIGEST) for call in s.calls}
    urls = (s for s in group.of(*REFS) if "://" in s.form and not calls.isdisjoint(s.calls))
    return next((url for s in urls if check_url(url := _filled(s, pin)) is None), None)


def _filled(seen: Sighting, pin: Proposed) -> str:
    """The URL in a place, with its ref in the words of pins.toml where these spell it."""
    words = {pin.commit: "{commit}", pin.tag: "{tag}", pin.version: "{version}", f"v{pin.version}": "v{version}"}
    value, bare = (words.get(text, text) for text in (seen.value, values.bare(seen.value)))
    return seen.form.replace(VALUE, value).replace(BARE, bare)


def _most(counts: Mapping[str, int]) -> str | None:
    return max(counts, key=lambda value: counts[value]) if counts else None


# --- places ---


def _places(pin: Proposed, sightings: Sequence[Sighting]) -> tuple[Place, ...]:
    by_place: dict[tuple[str, str], list[Sighting]] = {}
    for sighting in sorted(sightings, key=lambda s: (s.file, s.span or _NOWHERE)):
        if sighting.selector:
            by_place.setdefault((sighting.file, sighting.selector), []).append(sighting)
    found = [(key, seen, _template(pin, seen)) for key, seen in by_place.items()]
    return tuple(
        Place(file=file, selector=selector, template=template, sightings=tuple(seen))
        for (file, selector), seen, template in found
        if template
    )


def _template(pin: Proposed, seen: Sequence[Sighting]) -> str | None:
    """What a place holds in the words of the pin's facts; None where it has no fact for it."""
    ref = next((s for s in seen if s.part == "ref"), None)
    if ref is not None:
        return _spelled(pin, ref).replace("{commit", "{git").replace("{tag}", "{git:tag}")
    one = seen[0]
    spelled = _spelled(pin, one)
    if one.what is What.DIGEST:
        spelled = _digest_template(pin, one.value)
    bare = "{tag:bare}" if pin.tag and like(pin.tag, one.value) else "{version}"
    form = _again(one.form, one.value.partition("+")[0]) if one.what is What.VERSION else one.form
    return _literal(form).replace(VALUE, spelled).replace(BARE, bare) if spelled else None


def _again(form: str, version: str) -> str:
    """The form of an address with its version also where it stands without its label: in the folder of a release."""
    if "://" not in form:
        return form
    return re.sub(rf"(?<![0-9.]){re.escape(version)}(?![0-9A-Za-z+]|\.[0-9A-Za-z])", BARE, form)


def _digest_template(pin: Proposed, value: str) -> str:
    """What a digest is in the words of the pin, as it is spelled there; "" where the pin has no such."""
    name = digests.algorithm(_hex(value))
    if name is None or getattr(pin, name, None) is None:
        return ""
    codec = ":upper" if value.isupper() else ":sri" if digests.from_sri(value) else ""
    return f"{{{'' if pin.url else 'archive_'}{name}{codec}}}"


def _literal(text: str) -> str:
    """`text` as a template holds it: a brace twice, but in `${...}`, which is literal there."""
    return re.sub(r"(\$\{[^{}]*\})|([{}])", lambda match: match[1] or match[2] * 2, text)


def _spelled(pin: Proposed, sighting: Sighting) -> str:
    """The fact that `sighting` spells, in the spelling that it has there; "" where the pin has none such."""
    value = sighting.value
    match sighting.what:
        case What.COMMIT if pin.commit and len(value) < _DIGITS:
            return f"{{commit:.{len(value)}}}"
        case What.COMMIT:
            return "{commit}" if pin.commit or isinstance(pin.unresolved, str) else ""
        case What.TAG if pin.tag:
            is_bare = values.is_version(value) and pin.tag.startswith("v") and not value.startswith("v")
            return "{tag:bare}" if is_bare and not sighting.part else "{tag}"
        case What.TAG if not values.is_version(value):
            return ""
        case What.TAG | What.VERSION:
            return _version_template(value) if pin.version else ""
        case What.REPO | What.IMAGE | What.URL as what:
            return f"{{{what.value}}}" if getattr(pin, what.value) else ""
    return ""


def _version_template(value: str) -> str:
    label = value.partition("+")[2]
    return ("{version:tag}" if value.startswith("v") else "{version}") + (f"+{label}" if label else "")


# --- names ---


def _name(group: Group, pin: Proposed, taken: Mapping[str, Proposed]) -> str:
    """The repository's, image's or package's own name, with what tells it from others of that name."""
    repo = identity(pin.repo).rpartition("/")[2] if pin.repo else ""
    image = (pin.image or "").partition("@")[0].rpartition("/")[2]
    image = image if len(image) <= _LONGEST_IMAGE else image.partition(":")[0]
    about = next((s.about for s in group.sightings if s.about), "")
    own = repo or _family(pin.packages) or image or about or "pin"
    name = "-".join(_plain(part) for part in (own, group.variant) if part)
    numbered = (f"{name}-{n}" for n in range(2, len(taken) + 3))
    return next(word for word in (name, *_longer(name, pin, about, taken), *numbered) if word not in taken)


def _longer(name: str, pin: Proposed, about: str, taken: Mapping[str, Proposed]) -> Iterator[str]:
    """Longer names of a pin whose name another one has: with the owner of its repository, the name that it goes by
    here, or what it is at."""
    other = taken.get(name)
    if other is None:
        return
    if pin.repo and not (other.repo and identity(other.repo) == identity(pin.repo)):
        yield f"{_plain(identity(pin.repo).split('/')[-2])}-{name}"
    if pin.repo and about not in ("", squash(name)):
        yield f"{name}-{about}"
    yield f"{name}-package" if pin.packages else f"{name}-{_plain(pin.at.rpartition(':')[2])}"


def _family(packages: Sequence[str]) -> str:
    """One package's name, or what several begin with."""
    words = [package.split("-") for package in packages]
    common = [group[0] for group in zip(*words, strict=False) if len(set(group)) == 1]
    return "-".join(common) or "".join(packages[:1])


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "pin"
