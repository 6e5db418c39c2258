"""Asks the remotes of a pin what they hold of it: where its commit stands, its tree, the trees of its submodules.

A cache that knows a commit proves nothing of the remote. The commit stands on the tracked branch where the branch's
present tip, as the remote names it, leads to it; else a store that has never seen it must be given it by its id.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from pinctl.commands.network import Asking
from pinctl.errors import ExternalError, PinctlError
from pinctl.external import cache
from pinctl.external.parallel import each
from pinctl.external.store import Gone, Hostile, Store
from pinctl.model import Pin
from pinctl.options import Step
from pinctl.upstream import submodules
from pinctl.upstream.evidence import Evidence, Module, Reach
from pinctl.upstream.scans import Scans
from pinctl.upstream.submodules import Submodule
from pinctl.upstream.tree import Tree

_DEEPEST = 4
"""Levels of submodules in submodules."""

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def at_once(
    items: Sequence[_Item],
    work: Callable[[_Item], _Made],
    step: Step = lambda _: None,
    meanwhile: Callable[[], object] | None = None,
) -> list[_Made]:
    """What `work` makes of each of `items`, several at a time. `step` and `meanwhile` are those of `parallel.each`.
    Raises what one of them raised."""
    if len(items) == 1 and meanwhile is None:  # threads take time to load
        made = [work(items[0])]
        step(1)
        return made
    made = []
    for one in each(items, work, step, meanwhile=meanwhile) if items else ():
        if isinstance(one, PinctlError):
            raise one
        made.append(one)
    return made


def gather(
    pins: Sequence[Pin],
    asking: Asking,
    step: Step = lambda _: None,
    meanwhile: Callable[[], object] | None = None,
    also: "Also" = lambda _pin, _tree: (),
) -> list[Evidence]:
    """What the remotes say of each of `pins`, which have a repository and a commit. What fails is in the evidence of
    its pin; `step` is called for each pin whose own remote was asked; `meanwhile` is done while they are; `also` gives
    further files of a tree that will be read."""
    if not pins:
        return []
    scans = _known_scans(pins, asking)
    roots = at_once(pins, partial(_root, asking=asking, scans=scans, also=also), step, meanwhile)
    wanted = [module for number, root in enumerate(roots) for module in root.wanted(number)]
    found = _modules(wanted, asking, lambda: _scan(roots, scans))
    return [root.evidence if root.tree is None else _whole(root, root.tree, found.get(number, {}), scans)
            for number, root in enumerate(roots)]  # fmt: skip


Also = Callable[[Pin, Tree], Iterable[str]]
"""Paths of the tree of a pin."""

_Scans = Mapping[str, Scans]
"""What is known of the sources of a repository and its submodules, by its URL."""


def _known_scans(pins: Sequence[Pin], asking: Asking) -> _Scans:
    """What earlier runs have kept; what this one learns is kept when its stores are closed."""
    version = cache.scanners()
    found = {}
    for url in {pin.repo or "" for pin in pins}:
        found[url] = scans = Scans(cache.load(url, cache.SCANS).get(version))
        asking.stack.callback(_keep, url, version, scans)
    return found


def _keep(url: str, version: str, scans: Scans) -> None:
    if scans.learned:
        cache.save(url, {version: scans.entries()}, cache.SCANS)


def _scan(roots: "Sequence[_Root]", scans: _Scans) -> None:
    """Scan what was read of the roots."""
    from pinctl.upstream import headers

    for root in roots:
        if root.tree is not None:
            headers.prepare(root.tree, scans[root.pin.repo or ""])


class _Root(NamedTuple):
    """What is known of a pin before its submodules are asked for."""

    pin: Pin
    evidence: Evidence
    tree: Tree | None = None

    def wanted(self, number: int) -> "list[_Wanted]":
        """The submodules that the pin, which has this `number`, uses."""
        used = self.pin.submodules
        modules = self.evidence.listing.submodules.items()
        return [_Wanted(number, self.pin.recursive, m) for path, m in modules if used is None or path in used]


def _root(pin: Pin, asking: Asking, scans: _Scans, also: Also) -> _Root:
    evidence = Evidence()
    try:
        store = asking.open(pin.repo or "")
        evidence = replace(_commit(pin, store, asking), age=store.age if asking.offline else None)
        if evidence.reach is Reach.GONE:
            return _Root(pin, evidence)
        if evidence.reach is not Reach.BRANCH:
            store.fetch(pin.commit or "", depth=1)
        tree = asking.tree(store, pin.commit or "")
        _read(tree, scans[pin.repo or ""], also(pin, tree))
    except Gone as gone:
        lost = replace(evidence, reach=Reach.GONE)
        return _Root(pin, lost if gone.wanted == pin.commit else _failed(pin, evidence, asking, gone))
    except ExternalError as error:
        return _Root(pin, _failed(pin, evidence, asking, error))
    listing = submodules.read(tree, pin.repo or "", transports=asking.profile.transports)
    return _Root(pin, replace(evidence, listing=listing), tree)


def _read(tree: Tree, scans: Scans, also: Iterable[str]) -> None:
    """Read in one batch what `verify` will look into, but for sources that were scanned before."""
    from pinctl.upstream.verify import reading

    tree.read([*(path for path in reading(tree) if tree.files[path] not in scans), *also])


def _whole(root: _Root, tree: Tree, found: "Mapping[str, _Found]", scans: _Scans) -> Evidence:
    """The evidence of a pin with that of its submodules."""
    from pinctl.upstream.forest import Forest

    forest = Forest(
        tree,
        {path: inner for path, (_, inner) in found.items()},
        scans[root.pin.repo or ""],
        lambda read, parts: at_once(parts, read),
    )
    return replace(root.evidence, forest=forest, modules={path: module for path, (module, _) in found.items()})


def _failed(pin: Pin, evidence: Evidence, asking: Asking, error: ExternalError) -> Evidence:
    """`evidence` with why there is no more of it, and what git's configuration has to do with that."""
    from pinctl.external import insteadof
    from pinctl.upstream import rewrites

    if isinstance(error, Hostile):
        return replace(evidence, failure=str(error), hint=error.hint, refused=True)
    advice = rewrites.advice(pin.repo or "", insteadof.rules(asking.profile))
    return replace(evidence, failure=str(error), hint="; ".join(filter(None, (error.hint, advice))) or None)


# --- the commit ---------------------------------------------------------------------------------------------------


def _commit(pin: Pin, store: Store, asking: Asking) -> Evidence:
    """Where the commit of `pin` stands, and what its tag leads to."""
    commit, tag = pin.commit or "", f"refs/tags/{pin.tag}"
    branch = f"refs/heads/{pin.track}" if pin.track and "*" not in pin.track else None
    if branch and not pin.tag and not asking.offline:
        refs = _fetched(store, branch)
    else:
        wanted = [branch] if branch else ["HEAD", "refs/heads/*"]
        refs = store.refs(*wanted, *([tag] if pin.tag else []))
    peeled = refs.get(f"{tag}^{{}}", refs.get(tag))
    followed = branch or _default(refs)
    evidence = Evidence(tag=peeled, tag_asked=bool(pin.tag) and not asking.offline,
                        branch=followed.removeprefix("refs/heads/") if followed else None)  # fmt: skip
    tip = refs.get(followed or "HEAD")
    if tip and _leads(store, followed, tip, commit):
        return replace(evidence, reach=_proven(store, Reach.BRANCH))
    if asking.offline:
        return evidence
    return replace(evidence, reach=_proven(store, _by_id(store, commit, asking)))


def _proven(store: Store, reach: Reach) -> Reach:
    """`reach`, where the remote itself was asked; a mirror proves no branch."""
    return Reach.MIRROR if store.mirror and reach is not Reach.GONE else reach


def _fetched(store: Store, branch: str) -> Mapping[str, str]:
    """The branch as the remote has it now, with its history: fetched at once, since to ask for it first would cost
    another request."""
    try:
        store.fetch(branch)
    except Gone:
        return {}
    return store.known_refs(branch)


def _default(refs: Mapping[str, str]) -> str | None:
    """The branch that HEAD is; of several at its commit, the one of the usual name."""
    same = [name for name, id_ in refs.items() if id_ == refs.get("HEAD") and name.startswith("refs/heads/")]
    usual = [name for name in ("refs/heads/main", "refs/heads/master") if name in same]
    return next(iter((*usual, *same)), None)


def _leads(store: Store, branch: str | None, tip: str, commit: str) -> bool:
    """Whether the branch, which the remote has at `tip`, leads to `commit`."""
    store.fetch(branch if branch and not store.has(tip) else tip)  # where its history is not known, again
    return store.has(commit) and store.is_ancestor(commit, tip)


def _by_id(store: Store, commit: str, asking: Asking) -> Reach:
    """Whether the remote gives `commit` to a store that has not seen it."""
    with ExitStack() as own:
        asked = store
        if store.has(commit):
            asked = own.enter_context(Store.open(store.url, profile=asking.profile, fresh=True))
        try:
            asked.fetch(commit, filter="tree:0", depth=1)
        except Gone:
            return Reach.GONE
        return Reach.ID if asked.has(commit) else Reach.GONE


# --- its submodules -----------------------------------------------------------------------------------------------


class _Wanted(NamedTuple):
    """A submodule, with a path from the root, that the pin of this number uses."""

    number: int
    recursive: bool
    submodule: Submodule


_Found = tuple[Module, Tree | None]


def _modules(
    wanted: Sequence[_Wanted], asking: Asking, meanwhile: Callable[[], object] | None
) -> dict[int, dict[str, _Found]]:
    """Each submodule with its tree, by the number of its pin and by its path; those in submodules where they are asked
    for. `meanwhile` is done while the first are asked for."""
    found: dict[int, dict[str, _Found]] = {}
    level = list(wanted)
    for _ in range(_DEEPEST):
        done = at_once([one.submodule for one in level], partial(_module, asking=asking), meanwhile=meanwhile)
        inner = []
        for one, (module, tree) in zip(level, done, strict=True):
            mine = found.setdefault(one.number, {})
            mine[one.submodule.path] = module, tree
            if one.recursive and tree is not None and len(mine) < submodules.MOST:
                inner += [one._replace(submodule=nested) for nested in _inner(one.submodule, tree, asking)]
        level, meanwhile = inner[: submodules.MOST], None
        if not level:
            break
    return found


def _inner(outer: Submodule, tree: Tree, asking: Asking) -> list[Submodule]:
    """The submodules of a submodule, with paths from the root."""
    listing = submodules.read(tree, outer.url or "", transports=asking.profile.transports)
    return [nested._replace(path=f"{outer.path}/{nested.path}") for nested in listing.submodules.values()]


def _module(submodule: Submodule, asking: Asking) -> _Found:
    """A submodule as its remote has it. A commit that the cache knows is asked of a store that does not."""
    if submodule.problem or submodule.url is None:
        return Module(submodule), None
    try:
        store = asking.open(submodule.url)
        reach = None if asking.offline else _by_id(store, submodule.commit, asking)
        if reach is Reach.GONE:
            return Module(submodule, reach), None
        store.fetch(submodule.commit, depth=1)
        tree = asking.tree(store, submodule.commit)
    except Gone:
        return Module(submodule, Reach.GONE), None
    except ExternalError as error:
        return Module(submodule, failure=str(error), refused=isinstance(error, Hostile)), None
    return Module(submodule, reach and _proven(store, reach)), tree
