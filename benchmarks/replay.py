"""Replays a repository's history over groups of sites: when did they drift apart, and does pinctl see it?

    python benchmarks/replay.py PATH [--groups FILE] [--expect FILE]

At every commit of the first-parent history that touched a group's files, the value of the group's first site becomes
a pin, the places that exist become its sites, and pinctl's own `reconcile` holds them against it. A site that is not
there is skipped. See README.md for the form of the groups file.
"""

import argparse
import json
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from history import Change, Commit, History

from pinctl import sites, template
from pinctl.compare import Verdict
from pinctl.model import Manifest, Pin, Site
from pinctl.reconcile import Observation, reconcile, show
from pinctl.sites.base import Unparsable

_PIN = "pin"
_PINS: Mapping[str, Callable[[str, tuple[Site, ...]], Pin]] = {
    "repo": lambda value, sites: Pin(name=_PIN, repo=value, sites=sites),
    "commit": lambda value, sites: Pin(name=_PIN, commit=value, sites=sites),
    "short commit": lambda value, sites: Pin(name=_PIN, unresolved=value, sites=sites),
    "tag": lambda value, sites: Pin(name=_PIN, tag=value, sites=sites),
    "version": lambda value, sites: Pin(name=_PIN, version=value, sites=sites),
}
"""The pin of one value and its sites, by the kind of fact that a group compares. Of two short commits, one may begin
with the other."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way in which history spelled a site: the first of `templates` that fits the value counts."""

    file: str
    selector: str
    templates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Sites that hold one fact. `sites` are in order: the first that exists gives the value."""

    name: str
    fact: str
    sites: tuple[tuple[Spelling, ...], ...]

    @property
    def files(self) -> frozenset[str]:
        return frozenset(spelling.file for site in self.sites for spelling in site)


def load(text: str) -> list[Group]:
    """The groups of a groups file."""
    return [
        Group(table["name"], table["fact"], tuple(tuple(_spellings(site)) for site in table["sites"]))
        for table in tomllib.loads(text)["groups"]
    ]


def _spellings(site: Mapping[str, Any]) -> Iterator[Spelling]:
    for file in site["files"]:
        for selector, templates in site["selectors"].items():
            yield Spelling(file, selector, (templates,) if isinstance(templates, str) else tuple(templates))


@dataclass(frozen=True, slots=True)
class Place:
    """What `reconcile` saw in one place; `site` is the number of its site in the group."""

    site: int
    file: str
    selector: str
    found: str
    offset: int
    same: bool

    def __str__(self) -> str:
        return f"{self.file}  {self.selector}  {self.found}"


@dataclass(slots=True)
class Drift:
    """An interval of so many `commits` in which the places differ; `end` is the first at which they do no more."""

    start: Commit
    places: Sequence[Place]
    end: Commit | None = None
    commits: int = 0


@dataclass(slots=True)
class Outcome:
    """What the replay of one group found. `comparable` counts the commits at which two sites or more held a value."""

    group: Group
    comparable: int = 0
    drifts: list[Drift] = field(default_factory=list)


class Replay:
    """The state of the watched files on the way through the history, and everything read so far, by content."""

    def __init__(self, history: History, groups: Sequence[Group]) -> None:
        self._history = history
        self.outcomes = [Outcome(group) for group in groups]
        self.versions: set[str] = set()
        self._blobs: dict[str, str] = {}
        self._selectors: defaultdict[str, set[str]] = defaultdict(set)
        for group in groups:
            for spelling in (s for site in group.sites for s in site):
                self._selectors[spelling.file].add(spelling.selector)
        self._values: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
        self._seen: dict[tuple[object, ...], tuple[Place, ...]] = {}

    def run(self) -> None:
        """Goes through the history; the outcomes tell what was found."""
        since: dict[str, int] = {}
        for change in self._history.changes(sorted(self._selectors)):
            self._apply(change)
            for outcome in self.outcomes:
                if not outcome.group.files.isdisjoint(change.files):
                    self._step(outcome, change.commit, since)
        total = len(self._history.commits)
        for outcome in self.outcomes:
            self._count(outcome, total, since)
            for drift in outcome.drifts:
                if drift.end is None:
                    drift.commits = total - drift.start.number

    def _apply(self, change: Change) -> None:
        for path, blob in change.files.items():
            if blob is None:
                self._blobs.pop(path, None)
            else:
                self._blobs[path] = blob

    def _step(self, outcome: Outcome, commit: Commit, since: dict[str, int]) -> None:
        self._count(outcome, commit.number, since)
        places = self._compare(outcome.group)
        if _comparable(places):
            since[outcome.group.name] = commit.number
        drifting = not all(place.same for place in places)
        current = outcome.drifts[-1] if outcome.drifts and outcome.drifts[-1].end is None else None
        if drifting and current is None:
            outcome.drifts.append(Drift(commit, places))
        elif current is not None and not drifting:
            current.end = commit
            current.commits = commit.number - current.start.number

    def _count(self, outcome: Outcome, until: int, since: dict[str, int]) -> None:
        start = since.pop(outcome.group.name, None)
        if start is not None:
            outcome.comparable += until - start

    def _compare(self, group: Group) -> tuple[Place, ...]:
        """What pinctl says of the group's places as they stand."""
        found = [(site, fact) for n, spellings in enumerate(group.sites) for site, fact in self._sites(n, spellings)]
        if not found:
            return ()
        fact = (group.fact, found[0][1])
        by_file: defaultdict[str, list[Site]] = defaultdict(list)
        for site, _ in found:
            by_file[site.file].append(site)
        return tuple(place for file, own in by_file.items() for place in self._reconcile(fact, file, tuple(own)))

    def _sites(self, number: int, spellings: Sequence[Spelling]) -> list[tuple[Site, str]]:
        """The places of one site with the fact that they tell, in the first spelling that is there; [] if none is."""
        for spelling in spellings:
            values = self._read(spelling.file).get(spelling.selector, ())
            numbered = [f"{spelling.selector}#{n}" for n in range(1, len(values) + 1)]
            found = [
                (Site(file=spelling.file, selector=selector, template=text, pin=_PIN, key=(number,)), fact)
                for selector, value in zip(numbered if len(values) > 1 else [spelling.selector], values, strict=False)
                for text, fact in _fitting(spelling.templates, value)
            ]
            if found:
                return found
        return []

    def _read(self, file: str) -> dict[str, tuple[str, ...]]:
        """The values that each watched selector of `file` names in the file as it stands."""
        blob = self._blobs.get(file)
        if blob is None:
            return {}
        if (file, blob) not in self._values:
            self.versions.add(blob)
            self._values[file, blob] = dict(_values(file, self._history.read(blob), self._selectors[file]))
        return self._values[file, blob]

    def _reconcile(self, fact: tuple[str, str], file: str, members: tuple[Site, ...]) -> tuple[Place, ...]:
        """What pinctl sees in `file` as it stands, where `members` must hold `fact`, a kind and a value."""
        key = (fact, file, self._blobs[file], members)
        if key not in self._seen:
            kind, value = fact
            manifest = Manifest(path="pins.toml", text="", pins={_PIN: _PINS[kind](value, members)})
            outcome = reconcile(manifest, {file: self._history.read(self._blobs[file])})
            if outcome.findings:
                raise RuntimeError(f"{file} at {self._blobs[file]}: {outcome.findings[0]}")
            self._seen[key] = tuple(_place(observation) for observation in outcome.observations)
        return self._seen[key]


def _values(file: str, source: bytes, selectors: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    try:
        document = sites.load(sites.language_of(file, source[:128])).parse(source)
    except Unparsable:
        return
    for selector in selectors:
        slots = [hit[0] for hit in sites.find(document, selector) if len(hit) == 1]
        yield selector, tuple(slot.value for slot in slots if isinstance(slot.value, str))


def _fitting(templates: Sequence[str], value: str) -> list[tuple[str, str]]:
    """The first of `templates` that `value` fits, with the fact that it tells; [] if none."""
    facts = ((text, template.invert(template.parse(text), value)) for text in templates)
    return [(text, fact) for text, fact in facts if fact is not None][:1]


def _place(seen: Observation) -> Place:
    assert seen.slot is not None
    number, *_ = seen.site.key
    return Place(
        site=int(number),
        file=seen.site.file,
        selector=seen.site.selector,
        found=show(seen.found),
        offset=seen.slot.start,
        same=seen.verdict is Verdict.SAME,
    )


def _comparable(places: Sequence[Place]) -> bool:
    """Whether two sites hold a value, each at a place of its own: a reference to a variable has none."""
    first: dict[int, tuple[str, int]] = {}
    for place in places:
        first.setdefault(place.site, (place.file, place.offset))
    return len(set(first.values())) > 1


def report(outcome: Outcome) -> Iterator[str]:
    """The lines that tell of one group."""
    yield f"{outcome.group.name:<50} comparable commits: {outcome.comparable:>5}, drifts: {len(outcome.drifts)}"
    for drift in outcome.drifts:
        yield f"    {drift.start} .. {drift.end or 'open'}  ({drift.commits} commits)"
        for place in drift.places:
            yield f"        {' ' if place.same else '!'} {place}"


def differences(outcome: Outcome, expected: Mapping[str, Any]) -> Iterator[str]:
    """What the replay found otherwise than a file of known drifts says: missed, found beyond, and the counts."""
    ours = {(d.start.id[:10], d.end.id[:10] if d.end else None, d.commits) for d in outcome.drifts}
    theirs = {(d["start"], d["fix"], d["commits"]) for d in expected["drifts"]}
    for word, intervals in (("missed", theirs - ours), ("beyond", ours - theirs)):
        for start, end, commits in sorted(intervals, key=str):
            yield f"{outcome.group.name}: {word} {start} .. {end or 'open'} ({commits} commits)"
    if outcome.comparable != (comparable := expected["comparable_commits"]):
        yield f"{outcome.group.name}: {outcome.comparable} comparable commits, not {comparable}"


def compare(outcomes: Sequence[Outcome], known: Mapping[str, Any]) -> int:
    """Prints how the outcomes differ from the known drifts; the number of differences."""
    expected = {group["group"]: group for group in known["groups"]}
    told = [(outcome, expected.pop(outcome.group.name)) for outcome in outcomes if outcome.group.name in expected]
    wrong = [line for outcome, group in told for line in differences(outcome, group)]
    print("\n".join([*wrong, *(f"not compared: {name}" for name in expected)]))
    intervals = sum(len(group["drifts"]) for _, group in told)
    print(f"groups compared: {len(told)}, with {intervals} known drifts; differences: {len(wrong)}")
    return len(wrong)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Replay a repository's history over groups of sites.")
    parser.add_argument("path", help="the repository; bare or not; only read")
    parser.add_argument("--groups", type=Path, default=Path(__file__).with_name("groups.toml"), metavar="FILE")
    parser.add_argument("--expect", type=Path, metavar="FILE", help="known drifts to compare with (JSON)")
    parser.add_argument("--revision", default="HEAD", help="whose history (default: HEAD)")
    options = parser.parse_args(argv)
    started = time.perf_counter()
    with History(options.path, options.revision) as history:
        replay = Replay(history, load(options.groups.read_text(encoding="utf-8")))
        replay.run()
    for outcome in replay.outcomes:
        print("\n".join(report(outcome)))
    seconds = time.perf_counter() - started
    print(f"{len(history.commits)} commits, {len(replay.versions)} file versions, {seconds:.1f} s")
    if options.expect is None:
        return 0
    return min(compare(replay.outcomes, json.loads(options.expect.read_text(encoding="utf-8"))), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
