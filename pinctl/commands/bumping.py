"""Pins on their way to other commits: what follows from the new trees, and what is wrong with them there.

Everything is learned and judged before anything is written.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from pinctl import waivers
from pinctl.anchors.model import Edit
from pinctl.commands import anchoring, comparing, contracting
from pinctl.commands.anchoring import Anchoring
from pinctl.commands.evidence import at_once, gather
from pinctl.commands.network import Asking
from pinctl.commands.proofs import downloaded
from pinctl.commands.targets import Target
from pinctl.commands.workspace import Workspace
from pinctl.contract.breaks.judgement import Judgement
from pinctl.errors import ExternalError, PinctlError
from pinctl.facts import filled
from pinctl.finding import Finding, Severity
from pinctl.manifest import New
from pinctl.model import NOTHING, KeyPath, Manifest, Pin
from pinctl.options import Step
from pinctl.outcome import counted
from pinctl.sites.toml_edit import rendered
from pinctl.upstream import archives, difference, following, releases
from pinctl.upstream.archives import Archive, Declared
from pinctl.upstream.comparison import Comparison, Side
from pinctl.upstream.difference import Move
from pinctl.upstream.evidence import Evidence
from pinctl.upstream.following import Decision
from pinctl.upstream.references import Reference
from pinctl.upstream.telling import Telling
from pinctl.upstream.verify import gitlinks, verify
from pinctl.urls import same_repo
from pinctl.versions import is_older

_STRICTER = frozenset({"PIN302", "PIN318"})
"""What `verify` warns of and a bump refuses: a commit off its branch, and names that collide."""
_PATH = "PIN405"


class Aim(NamedTuple):
    """A pin, where it is to go, and the values that were given for it, by key below the pin (None: to be removed)."""

    pin: Pin
    target: Target
    given: Mapping[KeyPath, New]
    back: bool = False
    """Whether going back is what is asked for."""
    named: bool = False
    """Whether the target was named, and not found."""
    asked: tuple[str, ...] = ()
    """Paths of gitlinks in the tree that pins.toml asks for, and does not store yet."""

    @property
    def moves(self) -> bool:
        """Whether anything is another there."""
        pin, target = self.pin, self.target
        stays = (target.commit, target.tag) == (pin.commit, pin.tag) and same_repo(target.repo, pin.repo or "")
        return not stays or bool(self.given or pin.unresolved or self.asked)

    @property
    def here(self) -> Pin:
        """The pin as it is, with every submodule unless it declares that it needs none."""
        return self.pin if self.pin.submodules == () else self.pin._replace(submodules=None)

    @property
    def there(self) -> Pin:
        """The same at its new commit."""
        repo, commit, tag, track = self.target
        return self.here._replace(repo=repo, commit=commit, tag=tag, track=track, unresolved=False)


@dataclass(frozen=True, slots=True)
class Bump:
    """What was learned of an aim: what the remotes hold at both commits, the submodules that are others at the new one,
    and the new values of pins.toml."""

    aim: Aim
    before: Evidence
    after: Evidence
    moves: tuple[Move, ...]
    changes: Mapping[KeyPath, New]
    archive: Archive | None = None
    """What the URL of the archive of the new commit gives, where the pin has one."""
    packed: Archive | None = None
    """The same archive as it is made here of the commit."""


def learn(aims: Sequence[Aim], asking: Asking, step: Step, looking: Anchoring | None = None) -> list[Bump]:
    """What the remotes hold of each of `aims`, and what follows from it. What fails is in the evidence. `looking`
    is done meanwhile."""
    known = [n for n, aim in enumerate(aims) if aim.pin.commit and not aim.pin.unresolved]
    both = [*(aims[n].here for n in known), *(aim.there for aim in aims)]
    evidence = gather(both, asking, step, *((looking.look, looking.files) if looking else ()))
    before = dict(zip(known, evidence, strict=False))
    bumps = [_bump(aim, before.get(n, Evidence()), evidence[len(known) + n]) for n, aim in enumerate(aims)]
    return at_once(bumps, partial(_archived, asking=asking))


def _bump(aim: Aim, before: Evidence, after: Evidence) -> Bump:
    known = before.forest is not None and after.forest is not None
    moves = difference.moves(before.listing, after.listing) if known else ()
    return Bump(aim, before, after, moves, _changes(aim, before, after, moves))


def _changes(aim: Aim, before: Evidence, after: Evidence, moves: Sequence[Move]) -> dict[KeyPath, New]:
    """The new values of the keys below the pin."""
    pin, target, given, *_ = aim
    keys: dict[KeyPath, New] = {("commit",): target.commit, ("tag",): target.tag, ("track",): target.track}
    if not same_repo(target.repo, pin.repo or ""):
        keys["repo",] = target.repo
    if pin.upstream and same_repo(target.repo, pin.upstream.repo):
        keys["upstream",] = None
    if pin.unresolved:
        keys["unresolved",] = None
    keys |= {(key,): value for key, value in following.moved_paths(pin, moves, after).items()}
    keys |= {("nested", path): commit for path, commit in following.nested(pin, aim.asked, after).items()}
    roots = (evidence.forest.root if evidence.forest else None for evidence in (before, after))
    if (version := following.version(pin, target.tag, *roots)) is not None:
        keys["version",] = version
    new = {**keys, **given}
    same = {key for key, value in new.items() if len(key) == 1 and getattr(pin, str(key[0]), ...) == value}
    return {("pins", pin.name, *key): value for key, value in new.items() if key not in same}


def stored(aims: Sequence[Aim], asking: Asking, by: Manifest) -> tuple[dict[KeyPath, New], list[Finding]]:
    """The new values of `nested` for the gitlinks that `aims` ask for, and what is wrong with them."""
    lacking = [aim for aim in aims if aim.asked]
    changes: dict[KeyPath, New] = {}
    found: list[Finding] = []
    for aim, root in zip(lacking, gather([aim.there._replace(submodules=()) for aim in lacking], asking), strict=True):
        outer = tuple(link for link in root.links if any(path.startswith(f"{link}/") for path in aim.asked))
        # Submodules are asked for only where one of theirs is.
        deep = gather([aim.there._replace(submodules=outer, recursive=True)], asking) if outer else [root]
        new = following.nested(aim.pin, aim.asked, deep[0])
        changes |= {("pins", aim.pin.name, "nested", path): commit for path, commit in new.items()}
        found += gitlinks(aim.there, by, deep[0])
    return changes, found


def _archived(bump: Bump, asking: Asking) -> Bump:
    """The bump with the archive of the new commit, which is downloaded, and made here of the commit: the one is held
    against the other, and where it cannot be had the digests are those of what was made."""
    pin, target = bump.aim.pin, bump.aim.target
    if "url" not in pin.archive or target.commit == pin.commit or bump.after.forest is None:
        return bump
    new = following.archive(pin, target.commit, target.tag)
    version = bump.changes.get(("pins", pin.name, "version"))
    there = bump.aim.there._replace(version=version) if isinstance(version, str) else bump.aim.there
    url, hashes = filled(new["url"], there), _hashes(pin)
    found = downloaded(Declared(url, ("archive",), dict.fromkeys(hashes, ())), asking.profile)
    if found.contents and found.contents.folder and "prefix" in new:
        new["prefix"] = _like(pin.archive["prefix"], found.contents.folder)
    folder = new.get("prefix", "").strip("/") or archives.folder(url)
    packed = _packed(target, folder, archives.packing(url), hashes, asking) if folder else None
    values = {**new, **(packed.digests if packed and found.failure else found.digests)}
    changes = dict(bump.changes)
    for key in values.keys() & pin.archive.keys():
        changes.setdefault(("pins", pin.name, "archive", key), values[key])
    return replace(bump, archive=found, packed=packed, changes=changes)


def _packed(target: Target, folder: str, packing: str | None, hashes: Sequence[str], asking: Asking) -> Archive:
    from pinctl.external.repack import repack

    try:
        return repack(asking.open(target.repo), target.commit, folder, packing, hashes)
    except ExternalError as error:
        return Archive(failure=error.headline)


def _held_together(bump: Bump, declared: Declared, say: Telling) -> Iterator[Finding]:
    """What is wrong with the archive of the new commit."""
    got, packed = bump.archive or Archive(), bump.packed or Archive(failure="not made")
    if got.failure and not got.refused and not packed.failure and packed.digests.keys() >= declared.digests.keys():
        yield archives.unseen(say, declared, got)
        return
    yield from archives.judge(say, declared, got)
    yield from archives.compared(say, declared, got, packed)


def _hashes(pin: Pin) -> list[str]:
    return [name for name in archives.DIGESTS if name in pin.archive]


def _like(prefix: str, folder: str) -> str:
    """`folder`, with a slash at its end where `prefix` has one."""
    return f"{folder}/" if prefix.endswith("/") else folder


def compared(bumps: Sequence[Bump], pins: Mapping[str, Pin], asking: Asking) -> list[Comparison | str]:
    """The two commits of each bump beside each other, with `pins` as they become; or why that cannot be had."""
    return at_once(list(bumps), partial(_compared, pins=pins, asking=asking))


def _compared(bump: Bump, pins: Mapping[str, Pin], asking: Asking) -> Comparison | str:
    pin = bump.aim.pin
    if bump.before.forest is None or bump.after.forest is None:
        return bump.before.failure or "the commit of before is not there to be compared with"
    try:
        return comparing.compare(Side(pin, bump.before), Side(pins[pin.name], bump.after), asking)
    except PinctlError as error:
        return error.headline


# --- judging ------------------------------------------------------------------------------------------------------


class Judging(NamedTuple):
    """By what a bump is judged: findings stand in `manifest`; those with a code of `accepted` stop nothing."""

    manifest: Manifest
    accepted: Collection[str]
    references: Mapping[str, Sequence[Reference]]
    edits: Mapping[str, Sequence[Edit]] = NOTHING


def judged(bump: Bump, pin: Pin, comparison: Comparison | str, by: Judging) -> list[Finding]:
    """What is wrong with `pin`, as the bump makes it, at its new commit. Raises ExternalError."""
    forest, modules = bump.after.forest, bump.after.modules
    used = {path: module for path, module in modules.items() if _declared(path, pin.submodules)}
    evidence = replace(bump.after, forest=forest and forest.only(pin.submodules), modules=used)
    edits = by.edits.get(pin.name, ())
    found = list(verify(pin, by.manifest, evidence, by.references.get(pin.name, ()), edits).findings)
    found = anchoring.weighed(found, edits, bump.before.forest)
    say = Telling(pin, by.manifest)
    found += _direction(bump, comparison, say)
    if bump.archive and (declared := archives.declared(pin)):
        found += _held_together(bump, declared, say)
    hint = _decided(bump)
    found = weighed((_hinted(one, hint) for one in found), by.accepted)
    return waivers.of_trees(found, by.manifest, judged=())


def _declared(path: str, submodules: Collection[str] | None) -> bool:
    return submodules is None or any(path == outer or path.startswith(f"{outer}/") for outer in submodules)


def weighed(findings: Iterable[Finding], accepted: Collection[str]) -> list[Finding]:
    """The findings as heavy as they are for a bump: some warnings are errors, and what is accepted is none."""
    return [_weighed(found, accepted) for found in findings]


def _weighed(found: Finding, accepted: Collection[str]) -> Finding:
    if found.code in accepted and found.severity is Severity.ERROR:
        asked = f"--accept {found.code}" in (found.hint or "")
        return found._replace(severity=Severity.WARNING, hint=None if asked else found.hint)
    if found.code in _STRICTER and found.code not in accepted:
        accept = f"accept it by name: --accept {found.code}"
        hint = f"{found.hint}; {accept}" if found.hint else accept
        return found._replace(severity=Severity.ERROR, hint=hint)
    return found


def _direction(bump: Bump, comparison: Comparison | str, say: Telling) -> Iterator[Finding]:
    """Whether the bump goes back, or leaves commits behind."""
    pin, target, _, back, named, _ = bump.aim
    if pin.tag and pin.tag == target.tag and pin.commit not in (None, target.commit) and not (back or named):
        what = f"the tag {pin.tag} of {target.repo} leads to another commit than the pinned one"
        hint = f"find out why it moved; to follow it: pinctl bump {pin.name} --to {pin.tag}"
        yield say.tell("PIN303", what, "tag", hint=hint, expected=pin.commit, found=target.commit)
    if back or pin.commit is None or pin.unresolved:
        return
    if isinstance(comparison, str):
        what = f"what lies between {pin.commit} and {target.commit} is not known: {comparison}"
        yield say.tell("PIN323", what, "commit", hint="look at the new commit as at a dependency that is new")
        return
    span, older = comparison.span, _older(bump, say.pin)
    if (span.behind and not span.ahead) or older:
        what = older or f"{target.commit} lies in the history of {pin.commit}"
        hint = f"accept it by name: --accept PIN322; to take the last bump back: pinctl bump {pin.name} --rollback"
        yield say.tell("PIN322", what, "tag" if pin.tag else "commit", hint=hint)
    elif span.behind:
        what = f"{counted(span.behind, 'commit')} of {pin.commit} not in the history of {target.commit}"
        yield say.tell("PIN323", what, "commit", hint=f"look at: {_looking(bump)}")


def _looking(bump: Bump) -> str:
    """The command that shows what is left behind."""
    pin, target, *_ = bump.aim
    if same_repo(target.repo, pin.repo or ""):
        return f"pinctl diff {pin.name} {target.commit}"
    if pin.upstream and same_repo(target.repo, pin.upstream.repo):
        return f"pinctl diff {pin.name} {target.commit} --upstream"
    return "the file that --body FILE writes"


def _older(bump: Bump, after: Pin) -> str | None:
    """Why the version that the bump leads to is an older one; None where it is not, or where versions are not known."""
    pin, target, *_ = bump.aim
    pairs = [(pin.version, after.version)]
    if pin.tag and target.tag:
        pairs.insert(0, (releases.version_of(pin.tag), releases.version_of(target.tag, like=pin.tag)))
    for old, new in pairs:
        if old and new and is_older(new, old):
            return f"the version {new} is older than {old}"
    return None


def contract(bump: Bump, pin: Pin, workspace: Workspace, planned: Mapping[str, bytes]) -> Judgement | None:
    """The consumer's calls against what the package offers at the new commit; None where there is no package.
    `planned` are files of the consumer as they become. Raises ExternalError."""
    old, new = bump.before.forest, bump.after.forest
    if new is None or not contracting.concerns(pin, new):
        return None
    sides = contracting.Sides(old or new, new, bump.aim.pin.repo or "", pin.repo or "", old is not None)
    judged = contracting.judge(workspace, pin, sides, planned=planned)
    # Paths that are not there are told already, as those of the tree.
    return judged._replace(findings=tuple(found for found in judged.findings if found.code != _PATH))


# --- what must be decided -----------------------------------------------------------------------------------------


def decisions(bump: Bump) -> list[Decision]:
    """The lists of the pin, with what is given for them, that name what the new tree does not have."""
    if bump.after.forest is None:
        return []
    pin = bump.aim.pin
    for key, value in bump.changes.items():
        if isinstance(value, tuple) and key[2:] == ("submodules",):
            pin = pin._replace(submodules=value)
        if isinstance(value, tuple) and key[2:] == ("include_dirs",):
            pin = pin._replace(include_dirs=value)
    return list(following.decisions(pin, bump.moves, bump.after.forest))


_DECIDED = {"PIN304": "submodules", "PIN310": "include_dirs"}


def _decided(bump: Bump) -> dict[str, str]:
    """By code, the hint that tells what is new and how to say what takes the place of what is gone."""
    made = decisions(bump)
    if not made:
        return {}
    told = "; ".join(f"{one.key} may be {', '.join(one.offers)} now" for one in made if one.offers)
    text = f"{told or 'nothing of the new tree is like it'}; with the right values run:\n{command(bump, made)}"
    return {code: text for code, key in _DECIDED.items() if any(one.key == key for one in made)}


def command(bump: Bump, made: Sequence[Decision]) -> str:
    """The command that bumps with the values that are suggested, and with those that were given."""
    from shlex import quote

    pin, target, given, *_ = bump.aim
    values: dict[str, New] = {".".join(map(str, key)): value for key, value in given.items()}
    values |= {one.key: one.suggested for one in made}
    words = ["pinctl bump", quote(pin.name), "--to", target.commit]
    words += [] if same_repo(target.repo, pin.repo or "") else ["--repo", quote(target.repo)]
    return " ".join(
        [*words, *(f"--set {quote(f'{key}={rendered(value)}')}" for key, value in values.items() if value is not None)]
    )


def _hinted(found: Finding, hints: Mapping[str, str]) -> Finding:
    return found._replace(hint=hints.get(found.code, found.hint))
