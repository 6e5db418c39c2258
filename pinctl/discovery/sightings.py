"""One file's literals, and which of them pin something."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from posixpath import basename

from pinctl import blocks, sites
from pinctl.discovery import fetches, literals, names, patterns, values
from pinctl.discovery.downloads import Download
from pinctl.discovery.hints import Hints
from pinctl.discovery.literals import BARE, VALUE, Literal, What
from pinctl.discovery.spans import Spans
from pinctl.finding import Span
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Value
from pinctl.sites.pep508 import normal


class Weight(StrEnum):
    """How much a sighting says.

    FIRM       it may found a pin
    OVERRIDE   an argument that overrides a default, so it may differ: a pin of its own where it does
    LOCKED     written by another tool: it joins a pin that agrees with it
    """

    FIRM = "firm"
    OVERRIDE = "override"
    LOCKED = "locked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One literal that pins something.

    span      where it stands; None for a gitlink, and for what the text says without a literal of its own
    selector  finds it, and only it, in `file`; "" where no literal says it
    form      what stands in the place, with VALUE, or BARE for a version without its v, where the value does
    about     the dependency by its squashed name, "" where unknown
    packages  the packages whose version it is
    calls     sightings of one call share one: a repository and its ref
    part      its part of a compound selector, "" for a plain one
    elements  those of a list
    """

    what: What
    file: str
    value: str
    span: Span | None = None
    selector: str = ""
    form: str = VALUE
    about: str = ""
    packages: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    part: str = ""
    weight: Weight = Weight.FIRM
    elements: tuple[str, ...] = ()


_MOST = 2000
"""More pins than that are in no file that a person wrote."""
_MOST_PATTERNS = 100
"""So many are tried in one file: each reads all of it."""
_LONGEST = 300
"""No pin, and no selector of one, has more characters."""
_AROUND = 8
"""So many slots before an address are asked whether they hold it: values lie in values only that deep."""
_CHOSEN = re.compile(r"(?:^|[./])(?:matrix|with)[./]")
_NUMBERED = re.compile(r"(?:^|[./])[0-9]+(?:[./:]|\Z)")


def sightings(file: str, document: Document, hints: Hints, *, locked: bool = False) -> list[Sighting]:
    """Every literal of `document` that pins something; `hints` is what the text of the file says around them.

    `locked`: another tool wrote the file, so that only its requirements count, and those lightly.
    """
    reader = _Reader(file, document, hints)
    if locked:
        return [replace(seen, weight=Weight.LOCKED) for seen in islice(reader.asked(), _MOST)]
    ways = (reader.compounds, reader.downloads, reader.asked, reader.named, reader.quoted)
    found = list(islice((seen for way in ways for seen in way()), _MOST))
    return [*found, *reader.hearsay()] if found else []


class _Reader:
    """Reads one file. What is told once, or stands in a generated block, is not told again by another selector."""

    def __init__(self, file: str, document: Document, hints: Hints) -> None:
        self.file, self.document, self.hints = file, document, hints
        self.slots = _slots(document)
        self.selectors = _selectors(document)
        self.patterns = 0
        self.taken = Spans()
        for start, end in blocks.all_blocks(document.source):
            self.taken.add(start, end)

    # --- literals ---

    def compounds(self) -> Iterator[Sighting]:
        """The parts of the calls that hold a repository and a ref."""
        seen: set[int] = set()
        for name, hits in self.document.index().items():
            for n, hit in enumerate(hits, 1):
                if hit[0].group >= 0 and hit[0].part and hit[0].group not in seen and not self._is_taken(hit[0]):
                    seen.add(hit[0].group)
                    yield from self._compound(hit, name if len(hits) == 1 else f"{name}#{n}")

    def _compound(self, hit: Hit, selector: str) -> Iterator[Sighting]:
        """Where a part has several literals (branches of an `if`), each on its own, paired in the order of the file."""
        refs = [slot for slot in hit if slot.part == "ref"]
        repos = [slot for slot in hit if slot.part == "repo"]
        several = len(refs) > 1 or len(repos) > 1
        about = names.squash(_key(selector))
        for n, (repo, ref) in enumerate(_paired(repos, refs)):
            lists = [slot for slot in hit if slot.part == "submodules"] if not several else []
            for slot in (repo, ref, *lists):
                told = self._sighting(
                    _part(slot), slot, self._selector(slot) if several else selector,
                    about=about, calls=(f"{self.file}:{slot.group}:{n}",),
                )  # fmt: skip
                elements = tuple(token.value for token in slot.tokens) if slot.many else ()
                yield replace(told, part="" if several else slot.part, elements=elements)

    def asked(self) -> Iterator[Sighting]:
        """The versions of packages that are asked for by name."""
        for slot in self._singles():
            package = literals.requirement(slot.selector)
            if package is not None and values.is_version(slot.tokens[0].value):
                selector = self._selector(slot)
                yield self._sighting(What.VERSION, slot, selector, about=names.squash(package), packages=(package,))

    def named(self) -> Iterator[Sighting]:
        """What variables, keys and arguments pin by their name, their command or their value."""
        for slot in self._singles():
            literal = Literal.of(slot, self.hints.packages_of(names.identifier(slot.selector)))
            found = fetches.digest(slot, self.document.index()) or literal.meaning()
            if found is None or (found.what is What.VERSION and _is_range(self.file, slot)):
                continue
            told = self._sighting(
                found.what, slot, self._selector(slot), form=found.form, packages=found.packages,
                about=fetches.name(slot.selector) or literals.about(found, literal, slot.selector),
                calls=() if literal.override else self._calls(slot, literal.name),
            )  # fmt: skip
            yield replace(told, value=found.value, weight=Weight.OVERRIDE if literal.override else Weight.FIRM)

    def _calls(self, slot: Slot, name: str) -> tuple[str, ...]:
        own = self._keyword(slot.selector)
        return own or (*self.hints.calls_of(name), *self.hints.calls_at(slot.start, slot.end))

    def _keyword(self, selector: str) -> tuple[str, ...]:
        """What the URL, the digest and the folder of one download share."""
        call = fetches.call(selector)
        return (f"{self.file}:{call}",) if call else ()

    def _singles(self) -> Iterator[Slot]:
        """The literals that are told by nothing yet."""
        for slot in self.slots:
            if slot.group < 0 and _is_single(slot) and not self._is_taken(slot):
                yield slot

    def _selector(self, slot: Slot) -> str:
        """The selector that finds `slot` alone: one by number (`steps.3.run`), which means another place as soon as one
        is added above, only where there is no other."""
        found = self.selectors.get((slot.start, slot.end, slot.value), ())
        return min(found, key=lambda name: ("#" in name, _NUMBERED.search(name) is not None), default=slot.selector)

    # --- what the text says ---

    def downloads(self) -> Iterator[Sighting]:
        """The refs in addresses: each as a part of the literal that holds the address, else found by a pattern."""
        for n, download in enumerate(self.hints.downloads):
            what, value = _downloaded(download)
            if what is not None:
                yield from self._download(download, what, value, f"{self.file}:url:{n}")

    def _download(self, download: Download, what: What, value: str, call: str) -> Iterator[Sighting]:
        packages = (download.wheel[0],) if download.wheel else ()
        called = packages[0] if packages else download.repo.rpartition("/")[2]
        for slot, selector, form in self._places(download, value):
            about, calls = fetches.name(selector) or names.squash(called), (call, *self._keyword(selector))
            told = self._sighting(what, slot, selector, form=form, about=about, packages=packages, calls=calls)
            yield replace(told, value=value)
            yield from self._prefix(replace(told, value=value))
        if not packages:
            yield Sighting(what=What.REPO, file=self.file, value=download.repo, calls=(call,))

    def _places(self, download: Download, value: str) -> Iterator[tuple[Slot, str, str]]:
        """What holds the ref of an address, its selector and its form."""
        slot = self._holding(download)
        if slot is not None:
            yield slot, self._selector(slot), patterns.form(slot.tokens[0].value, value)
            return
        address = self.document.source[download.start : download.end].decode("utf-8", "replace")
        for pattern in patterns.of_address(address, value):
            found = self._found(pattern.selector)
            if found is not None and found.value == pattern.text:
                yield found, pattern.selector, pattern.form

    def _prefix(self, url: Sighting) -> Iterator[Sighting]:
        """The ref of an address in the name of the folder that its archive holds."""
        for slot, *_ in self.document.index().get(fetches.prefix(url.selector) or "", ()):
            form = patterns.form(slot.tokens[0].value, url.value) if _is_single(slot) else ""
            if (VALUE in form or BARE in form) and not self._is_taken(slot):
                told = self._sighting(url.what, slot, self._selector(slot), form=form, about=url.about, calls=url.calls)
                yield replace(told, value=url.value)

    def _holding(self, download: Download) -> Slot | None:
        """The literal that is an address, perhaps behind `git+` or `name @`, and hardly more."""
        at = bisect_right(self.slots, download.start, key=lambda slot: slot.start)
        for slot in self.slots[max(at - _AROUND, 0) : at]:
            if download.end <= slot.end and _is_single(slot) and slot.group < 0 and not self._is_taken(slot):
                return slot if not re.search(r"\s", slot.tokens[0].value) else None
        return None

    def quoted(self) -> Iterator[Sighting]:
        """Packages that are asked for where no command is seen: `$PIP install torch==2.1`, a script in quotes."""
        for asked in self.hints.requirements:
            if values.is_version(asked.version) and not self._overlaps(asked.start, asked.end):
                selector = patterns.of_requirement(asked.package)
                slot, package = self._found(selector), normal(asked.package)
                if slot is not None:
                    yield self._sighting(What.VERSION, slot, selector, about=names.squash(package), packages=(package,))

    def _found(self, selector: str) -> Slot | None:
        """The one place that a pattern finds."""
        self.patterns += 1
        if self.patterns > _MOST_PATTERNS:
            return None
        try:
            hits = sites.find(self.document, selector)
        except BadSelector:
            return None
        return hits[0][0] if len(hits) == 1 else None

    def hearsay(self) -> Iterator[Sighting]:
        """The repositories that the file's commands and addresses name for its variables, and what they clone of it."""
        for what, said in ((What.REPO, self.hints.repos), (What.BRANCH, self.hints.branches)):
            for value, call in said:
                yield Sighting(what=what, file=self.file, value=value, calls=(call,))

    # --- making them ---

    def _sighting(
        self, what: What, slot: Slot, selector: str, *, form: str = VALUE, about: str = "",
        packages: tuple[str, ...] = (), calls: tuple[str, ...] = (),
    ) -> Sighting:  # fmt: skip
        self.taken.add(slot.start, slot.end)
        return Sighting(
            what=what, file=self.file, selector=selector, value="" if slot.many else slot.tokens[0].value,
            span=Span.of(self.document.source, slot.start, slot.end), form=form, about=about, packages=packages,
            calls=calls,
        )  # fmt: skip

    def _is_taken(self, slot: Slot) -> bool:
        return self._overlaps(slot.start, slot.end)

    def _overlaps(self, start: int, end: int) -> bool:
        return bool(self.taken.overlapping(start, end))


def _slots(document: Document) -> list[Slot]:
    """The slots of the index, in the order of the file."""
    found = {id(slot): slot for hits in document.index().values() for hit in hits for slot in hit}
    return sorted(found.values(), key=lambda slot: slot.start)


def _selectors(document: Document) -> dict[tuple[int, int, Value], list[str]]:
    """For the bytes of each slot and what they mean there, the selectors that find it alone."""
    found: defaultdict[tuple[int, int, Value], list[str]] = defaultdict(list)
    for name, hits in document.index().items():
        for n, hit in enumerate(hits, 1):
            if len(hit) == 1 and not hit[0].part:
                found[hit[0].start, hit[0].end, hit[0].value].append(name if len(hits) == 1 else f"{name}#{n}")
    return found


def _key(call: str) -> str:
    """What stands between the parentheses of `FetchContent(NAME)`."""
    return call.partition("(")[2].rpartition(")")[0]


def _paired(repos: Sequence[Slot], refs: Sequence[Slot]) -> list[tuple[Slot, Slot]]:
    """Each ref with the repository that belongs to it: one for all, or one each."""
    return [(repos[n % len(repos)], ref) for n, ref in enumerate(refs)] if repos else []


def _part(slot: Slot) -> What:
    """What a part of a compound pins."""
    if slot.part == "ref":
        value = slot.tokens[0].value
        if values.is_commit(value) or values.is_short(value):
            return What.COMMIT
        return What.TAG if values.is_tag(value) else What.BRANCH
    return What.REPO if slot.part == "repo" else What.SUBMODULES


def _is_single(slot: Slot) -> bool:
    """Whether it holds one value that may be a pin; a list of one only where it is the URL of a download."""
    short = len(slot.tokens) == 1 and len(slot.tokens[0].value) <= _LONGEST and len(slot.selector) <= _LONGEST
    return short and (not slot.many or fetches.is_url(slot.selector))


def _is_range(file: str, slot: Slot) -> bool:
    """Whether a version is none that is pinned: a set of them in Cargo.toml, one of many in a matrix, or an input of an
    action."""
    return basename(file) == "Cargo.toml" or _CHOSEN.search(slot.selector) is not None


def _downloaded(download: Download) -> tuple[What | None, str]:
    """What the ref of an address pins, and its value; (None, "") for a branch and a variable."""
    if download.wheel is not None:
        version = download.wheel[1].replace("%2B", "+")
        return (What.VERSION, version) if values.is_version(version) else (None, "")
    ref = download.ref
    if values.is_commit(ref) or values.is_short(ref):
        return What.COMMIT, ref
    return (What.VERSION if values.is_version(ref) else What.TAG, ref) if values.is_tag(ref) else (None, "")
