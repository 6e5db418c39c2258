"""Where pins are to go: by the commits of their repositories, by the releases of their packages, archives and images,
or by both. Pins of one group go to one version."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pinctl import nested
from pinctl.commands import rollback, targets
from pinctl.commands.bumping import Aim
from pinctl.commands.indexes import Indexes
from pinctl.commands.network import Asking
from pinctl.commands.proofs import variants_of
from pinctl.commands.targets import Wish
from pinctl.commands.workspace import Workspace
from pinctl.commits import is_full
from pinctl.errors import UsageError
from pinctl.external.store import Hostile, Unreachable
from pinctl.manifest import New
from pinctl.model import KeyPath, Manifest, Pin
from pinctl.upstream import archives, releases
from pinctl.upstream.telling import image_of
from pinctl.versions import is_version

if TYPE_CHECKING:
    from packaging.version import Version

    from pinctl.upstream.choosing import Choice, Passed, Source, Tags

_RELEASED = ("version", "tag", "commit", "image", "digest", "unresolved")
"""The keys of a release; the digests of archives are known when these have been downloaded."""


class Order(NamedTuple):
    """What is asked of a bump.

    wish      where the pins are to go
    sets      KEY=VALUE for a pin, VALUE in TOML or plain text
    accept    codes that do not stop it
    resolve, rollback   instead of a wish: what is left open; what pins.toml held before
    check     write nothing; exit 1 where something newer exists
    drop_patches   take the entries of patches that upstream has out of pins.toml
    """

    names: Sequence[str] = ()
    all: bool = False
    wish: Wish = Wish()
    sets: Sequence[str] = ()
    accept: Sequence[str] = ()
    resolve: bool = False
    rollback: bool = False
    check: bool = False
    allow_transport: Sequence[str] = ()
    drop_patches: bool = False


class Goal(NamedTuple):
    """The release that a pin is to go to, as a server names it.

    there     the pin with its new version, tag, image and digest
    given     other values for it, by key below the pin
    newer     how many releases there are that it could go to
    passed    those newer than the one that was chosen, and why
    again     that what is pinned is to be looked at also where it stays
    back      that going back is what is asked for
    """

    pin: Pin
    there: Pin
    given: Mapping[KeyPath, New]
    newer: int = 0
    passed: "Sequence[Passed]" = ()
    again: bool = False
    back: bool = False

    @property
    def moves(self) -> bool:
        return self.again or bool(self.changes or self.given)

    @property
    def changes(self) -> dict[KeyPath, New]:
        """The new values of the keys below the pin; those of its repository are the business of git."""
        if self.pin.repo:
            return {}
        new: dict[str, New] = {
            name: getattr(self.there, name)
            for name in _RELEASED
            if getattr(self.there, name) != getattr(self.pin, name)
        }
        return {(name,): value or None for name, value in new.items()}


class Course(NamedTuple):
    """Where one pin is to go: `git` the commit of its repository, `goal` the release of what it has besides."""

    pin: Pin
    git: Aim | None = None
    goal: Goal | None = None

    @property
    def moves(self) -> bool:
        return any(way is not None and way.moves for way in (self.git, self.goal))


def subjects(manifest: Manifest) -> dict[str, Pin]:
    """All that can be bumped, by name: the pins, and the images of variants as `variants.NAME`."""
    images = (image_of(variant) for variant in manifest.variants.values() if variant.image)
    return {**manifest.pins, **{image.name: image for image in images}}


def leads(pin: Pin) -> bool:
    """Whether a server tells what is newer than the pin: of an archive no one does whose URL no forge is known by."""
    return bool(pin.repo or pin.packages or pin.image or (pin.url and archives.forge(pin.url)))


def families(pins: Iterable[Pin], manifest: Manifest) -> list[list[Pin]]:
    """The pins apart, but for those of one group, which are all together with the first of them."""
    found: dict[str, list[Pin]] = {}
    for pin in pins:
        if pin.group is None:
            found[pin.name] = [pin]
        else:  # a name without a colon is a pin's
            found.setdefault(f"group:{pin.group}", [one for one in manifest.pins.values() if one.group == pin.group])
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Plotter:
    """Asks servers where families of pins are to go. `given` are values for the pin that is named."""

    workspace: Workspace
    order: Order
    asking: Asking
    given: Mapping[KeyPath, New]
    indexes: Indexes

    def family(self, pins: Sequence[Pin]) -> list[Course]:
        """The courses of pins that move as one. Raises UsageError where one of them cannot, ExternalError."""
        return [self._asking(course) for course in self._family(pins)]

    def _asking(self, course: Course) -> Course:
        """The course, with the gitlinks that pins.toml asks for and does not store yet."""
        asked = nested.unstored(course.pin, self.workspace.manifest)
        if not asked or not (course.git or course.pin.commit):
            return course
        git = course.git or Aim(course.pin, targets.here(course.pin), {})
        return course._replace(git=git._replace(asked=asked))

    def _family(self, pins: Sequence[Pin]) -> list[Course]:
        if self.order.rollback:
            return [self._back(pin) for pin in pins]
        if self.order.resolve:
            return [self._open(pin) for pin in pins]
        versioned = [pin for pin in pins if self._goes_by_version(pin, grouped=len(pins) > 1)]
        others = [pin for pin in pins if pin not in versioned]
        return [*map(self._apart, others), *(self._by_version(versioned) if versioned else ())]

    def _goes_by_version(self, pin: Pin, *, grouped: bool) -> bool:
        wish = self.order.wish
        if pin.repo is None:
            return bool(pin.packages or pin.url)
        if wish.repo or wish.upstream or (wish.to and _version(wish.to) is None):
            return False
        return bool(pin.packages) or (grouped and (pin.tag is not None or "*" in (pin.track or "")))

    def _given(self, pin: Pin) -> Mapping[KeyPath, New]:
        """The values of `--set`, which are for the pin that is named. Raises UsageError."""
        if tuple(self.order.names) != (pin.name,):
            return {}
        if ("version",) in self.given and pin.repo is None:
            raise UsageError("--set version: where a bump leads is proved", hint="say it with --to")
        return self.given

    # --- one pin ------------------------------------------------------------------------------------------------

    def _apart(self, pin: Pin) -> Course:
        if pin.image:
            return Course(pin, goal=self._image(pin))
        if pin.repo is None:
            raise UsageError(f"{pin.name} has no source, so that nothing tells what is newer",
                             hint="write the new version into pins.toml, then run: pinctl sync")  # fmt: skip
        given = self._given(pin)
        track = given.get(("track",), pin.track)
        here = pin._replace(track=track if isinstance(track, str) else None)
        wish = self.order.wish
        return Course(pin, Aim(pin, targets.resolve(here, wish, self.asking), given, named=wish.to is not None))

    def _image(self, pin: Pin) -> Goal:
        """Where the tag of an image, or the one that is wished for, leads now."""
        from pinctl.external import registry
        from pinctl.upstream import images

        self._demand_no_repository(pin)
        name, tag = pin.image or "", self.order.wish.to
        if tag is not None and not images.is_tag(tag):
            raise UsageError(f"--to {tag}: an image goes to a tag, and this is none")
        wanted = images.parse(images.retagged(name, tag) if tag else name.partition("@")[0], None)
        if not tag and "@" in name and ":" not in name.partition("@")[0].rpartition("/")[2]:
            raise UsageError(f"{pin.name} names no tag, which could lead to another digest",
                             hint=f"name one: pinctl bump {pin.name} --to TAG")  # fmt: skip
        standing = registry.ask(wanted, self.asking.profile)
        if standing.failure:
            raise (Hostile if standing.refused else Unreachable)(standing.failure, hint=standing.hint)
        if standing.tagged is None:
            raise UsageError(f"{wanted.host} has no image {wanted.name}:{wanted.tag}")
        plain = images.retagged(name, tag) if tag else name.partition("@")[0]
        own = "@" in name
        there = pin._replace(image=f"{plain}@{standing.tagged}" if own else plain, unresolved=False,
                             digest=pin.digest if own else standing.tagged)  # fmt: skip
        return Goal(pin, there, self._given(pin), newer=int(there != pin))

    def _demand_no_repository(self, pin: Pin) -> None:
        wish = self.order.wish
        if wish.repo or wish.upstream:
            raise UsageError(f"{pin.name} has no repository to be bumped in")

    def _back(self, pin: Pin) -> Course:
        target, earlier = rollback.earlier(self.workspace, pin)
        given: dict[KeyPath, New] = {(key,): value for key, value in earlier.items()}
        given |= self._given(pin)
        git = Aim(pin, target, given, back=True) if target else None
        return Course(pin, git, Goal(pin, pin, {} if git else given, back=True))

    def _open(self, pin: Pin) -> Course:
        """What was left open: the commit of a pin, the digest of an archive or an image."""
        given = self._given(pin)
        if pin.commit and not pin.unresolved and nested.unstored(pin, self.workspace.manifest):
            return Course(pin, Aim(pin, targets.here(pin), given))
        if pin.repo:
            return Course(pin, Aim(pin, targets.unresolved(pin, self.asking), given))
        if pin.image:
            return Course(pin, goal=self._image(pin))
        if pin.url:
            return Course(pin, goal=Goal(pin, pin._replace(unresolved=False), given))
        return Course(pin, Aim(pin, targets.unresolved(pin, self.asking), given))  # which says what is missing

    # --- by versions --------------------------------------------------------------------------------------------

    def _by_version(self, pins: Sequence[Pin]) -> list[Course]:
        """The courses of pins that have their version in common."""
        from pinctl.upstream import choosing

        for pin in pins:
            if pin.repo is None:
                self._demand_no_repository(pin)
        lists = self._sources(pins)
        wish = self.order.wish
        if wish.to is None:
            present = min((version for pin in pins if (version := _present(pin))), default=None)
            against = choosing.barrier(pins, self.workspace.manifest)
            every = [source for sources in lists.values() for source in sources]
            choice = choosing.choose(every, present, against, pre=wish.pre)
        else:
            choice = choosing.Choice(self._wished(pins, lists, wish.to))
        return [self._versioned(pin, lists[pin.name], choice) for pin in pins]

    def _sources(self, pins: Sequence[Pin]) -> "dict[str, list[Source]]":
        """By the name of the pin where the versions are listed that it may have. Archives follow the packages of their
        group: whether there is one of a version is seen when it is downloaded."""
        packaged = any(pin.packages for pin in pins)
        found: dict[str, list[Source]] = {pin.name: [] for pin in pins}
        for pin in pins:
            if pin.packages:
                found[pin.name].append(self._shelf(pin))
            if pin.repo:
                found[pin.name].append(targets.tagged(pin, self.asking))
            if pin.url and not packaged and self.order.wish.to is None and (tags := self._archived(pin)):
                found[pin.name].append(tags)
        return found

    def _shelf(self, pin: Pin) -> "Source":
        """The packages of a pin. Raises UsageError where there is none of a name, Unreachable, Hostile."""
        from pinctl.upstream import choosing

        offers = self.indexes.offers(pin.packages)
        for offer in offers:
            if offer.failure:
                error = Hostile if offer.refused else Unreachable
                raise error(f"{offer.package}: {offer.failure}", hint=offer.hint)
        shelf = choosing.shelf(pin, offers, variants_of(pin, self.workspace.manifest))
        if missing := [package for package, held in shelf.stock.items() if not held]:
            where = (
                ", ".join(dict.fromkeys(offer.place for offer in offers)) or "pip's configuration, which has no index"
            )
            raise UsageError(f"there is no package {missing[0]} in {where}", hint="see: pip config list")
        return shelf

    def _archived(self, pin: Pin) -> "Tags | None":
        """The releases of an archive, by the tags of the repository that its URL names."""
        from pinctl.upstream.choosing import Tags

        forge = archives.forge(pin.url or "")
        if forge is None:
            return None
        refs = self.asking.open(forge.repo).refs("refs/tags/*")
        names = (name.removeprefix("refs/tags/") for name in refs if not name.endswith("^{}"))
        return Tags.read(names, forge.repo, lambda tag: _spelled(tag, forge.tag, pin.tag))

    def _wished(self, pins: Sequence[Pin], lists: "Mapping[str, Sequence[Source]]", to: str) -> "Version":
        """The version `to`, which every one of the lists must have. Raises UsageError."""
        version = _version(to)
        if version is None:
            raise UsageError(f"--to {to}: {pins[0].name} goes by versions (PEP 440), and this is none")
        for name, source in ((name, source) for name, sources in lists.items() for source in sources):
            if why := source.lacks(version):
                raise UsageError(f"{name} cannot go to {version}: {why}", hint=_near(source, version))
        return version

    def _versioned(self, pin: Pin, sources: "Sequence[Source]", choice: "Choice") -> Course:
        from pinctl.upstream.choosing import Tags

        version, given = choice.version, self._given(pin)
        named = self.order.wish.to is not None
        unknown = named and pin.repo is not None and pin.commit is None
        if version is None or (version == _present(pin) and not unknown):
            again = bool(pin.url and pin.name in self.order.names) or (named and not pin.repo)
            return Course(pin, goal=Goal(pin, pin, given, choice.newer, choice.passed, again))
        tags = next((source for source in sources if isinstance(source, Tags)), None)
        spelled = sources[0].spelled(version) if sources else str(version)
        if pin.repo and tags:
            target = targets.at_version(pin, version, tags, self.asking)
            new: dict[KeyPath, New] = {("version",): spelled} if pin.version and pin.version != spelled else {}
            git = Aim(pin, target, {**new, **given}, named=named)
            return Course(pin, git, Goal(pin, pin._replace(version=spelled), {}, choice.newer, choice.passed))
        if pin.url and archives.is_fixed(pin.url):
            raise UsageError(f"the URL of {pin.name} names no version, so that it leads to no other",
                             hint="write {version} into it")  # fmt: skip
        tag = tags.tags[version][0] if pin.tag and tags else pin.tag
        there = pin._replace(version=spelled, tag=tag, unresolved=False)
        return Course(pin, goal=Goal(pin, there, given, choice.newer, choice.passed))


def _version(text: str) -> "Version | None":
    """The version that a person means by `text`: 0.6.17, v0.6.17, or the name of a release's tag."""
    from packaging.version import Version

    said = None if is_full(text) else text if is_version(text) else releases.version_of(text)
    return Version(said) if said else None


def _present(pin: Pin) -> "Version | None":
    """The version of a pin, or that of its tag."""
    from packaging.version import Version

    said = pin.version or (pin.tag and releases.version_of(pin.tag))
    return Version(said) if said and is_version(said) else None


def _spelled(tag: str, template: str, like: str | None) -> str | None:
    """The version that the tag of a release spells, where a URL names its tag as `template` does."""
    if template == "{tag}":
        return releases.version_of(tag, like)
    before, _, after = template.partition("{version}")
    inner = tag[len(before) : len(tag) - len(after)]
    return inner if tag == f"{before}{inner}{after}" and is_version(inner) else None


def _near(source: "Source", version: "Version") -> str | None:
    """The versions that there are around one that there is not."""
    from pinctl.upstream.availability import near

    return f"it has {near(sorted(source.versions), version)}" if source.versions else None
