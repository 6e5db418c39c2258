"""Where a bump leads: a wish such as a tag, a branch or "the latest" made the full id of a commit of a remote."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pinctl.commands.network import Asking
from pinctl.commits import is_full, is_short
from pinctl.errors import UsageError
from pinctl.external import history
from pinctl.external.store import Store
from pinctl.model import Pin
from pinctl.upstream import releases
from pinctl.urls import check_url, redact, same_repo
from pinctl.versions import is_same

if TYPE_CHECKING:
    from packaging.version import Version

    from pinctl.upstream.choosing import Tags

_MOST_NAMED = 5


class Wish(NamedTuple):
    """What is asked for: `to` a full id, a unique short one, a tag or a branch, None for the latest; `repo` another
    repository; `upstream` the one that the pin's forks; `pre`: pre-releases count."""

    to: str | None = None
    repo: str | None = None
    upstream: bool = False
    pre: bool = False


class Target(NamedTuple):
    """Where it leads. `tag` leads to the commit there; `track` is what the pin follows there."""

    repo: str
    commit: str
    tag: str | None
    track: str | None


def here(pin: Pin) -> Target:
    """The commit that `pin` has."""
    return Target(pin.repo or "", pin.commit or "", pin.tag, pin.track)


def resolve(pin: Pin, wish: Wish, asking: Asking) -> Target:
    """What `wish` means for `pin`, as its remote has it now. Raises UsageError for what the remote does not have,
    ExternalError."""
    repo, track = _home(pin, wish, asking)
    store = asking.open(repo)
    if wish.to is None:
        by_tag = pin.tag or "*" in (track or "")
        commit, tag = _newest(store, pin, track, pre=wish.pre) if by_tag else (tip(store, track), None)
        return Target(repo, commit, tag, track)
    commit, ref = _named(store, wish.to)
    tag = ref.removeprefix("refs/tags/") if ref.startswith("refs/tags/") else None
    branch = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None
    if track and "*" not in track and not pin.tag:
        return Target(repo, commit, None, track)  # it goes on following its branch
    if pin.tag and tag is None and branch is None:
        tag = _tag_of(store, commit, pin)
    return Target(repo, commit, tag, branch if branch and "*" in (track or "*") else track)


def _home(pin: Pin, wish: Wish, asking: Asking) -> tuple[str, str | None]:
    """The repository, and what the pin follows in it. Raises UsageError."""
    if wish.upstream and pin.upstream is None:
        raise UsageError(f"{pin.name} has no `upstream`", hint="give the repository: --repo URL")
    if pin.repo is None:
        raise UsageError(f"{pin.name} has no repository to be bumped in")
    if wish.repo and (problem := check_url(wish.repo, transports=asking.profile.transports)):
        raise UsageError(f"--repo {redact(wish.repo)}: {problem}")
    repo = pin.upstream.repo if wish.upstream and pin.upstream else wish.repo or pin.repo
    if pin.upstream and same_repo(repo, pin.upstream.repo):
        return repo, pin.upstream.track or None
    return repo, pin.track


def tip(store: Store, track: str | None) -> str:
    """The commit of the branch `track`, None for the default branch. Raises UsageError where there is none."""
    name = f"refs/heads/{track}" if track else "HEAD"
    refs = store.refs(name, *(() if track else ("refs/heads/*",)))
    if name not in refs:
        raise UsageError(f"{redact(store.url)} has no {f'branch {track}' if track else 'default branch'}",
                         hint="set `track` to the branch to follow")  # fmt: skip
    return refs[name]


def _newest(store: Store, pin: Pin, track: str | None, *, pre: bool) -> tuple[str, str]:
    refs = store.refs("refs/tags/*")
    tags = _tags(refs)
    pattern = track if "*" in (track or "") else None
    tag = releases.newest(tags, like=pin.tag, pattern=pattern, pre=pre)
    if tag is None:
        like = pattern or f"such as {pin.tag}"
        raise UsageError(f"{redact(store.url)} has no release tag {like}", hint="name the commit or tag: --to REF")
    return tags[tag] if tags[tag] == pin.commit else commit_of(store, tags[tag], f"refs/tags/{tag}"), tag


def _tags(refs: Mapping[str, str]) -> dict[str, str]:
    """Each tag with the commit that it leads to."""
    names = (name for name in refs if name.startswith("refs/tags/") and not name.endswith("^{}"))
    return {name.removeprefix("refs/tags/"): refs.get(f"{name}^{{}}", refs[name]) for name in names}


def tagged(pin: Pin, asking: Asking) -> "Tags":
    """The release tags of the pin's repository, spelled as the pin's tag is and of the pattern that it tracks. Raises
    ExternalError."""
    from pinctl.upstream.choosing import Tags

    pattern = pin.track if "*" in (pin.track or "") else None
    names = (tag for tag in _tags(asking.open(pin.repo or "").refs("refs/tags/*"))
             if pattern is None or fnmatchcase(tag, pattern))  # fmt: skip
    return Tags.read(names, redact(pin.repo or ""), partial(releases.version_of, like=pin.tag))


def at_version(pin: Pin, version: "Version", tags: "Tags", asking: Asking) -> Target:
    """The commit of the release `version`. Raises UsageError where `tags` do not tell which, ExternalError."""
    names = tags.tags.get(version, ())
    found = [resolve(pin, Wish(to=f"refs/tags/{name}"), asking) for name in names]
    if len({target.commit for target in found}) != 1:
        raise UsageError(f"{', '.join(names) or 'no tag'} of {tags.where} would be the version {version}",
                         hint=f"name the tag: pinctl bump {pin.name} --to TAG")  # fmt: skip
    return found[0]


def _tag_of(store: Store, commit: str, pin: Pin) -> str | None:
    """The pin's tag where it leads to `commit`, else a release tag of its kind that does."""
    same = [tag for tag, id_ in _tags(store.refs("refs/tags/*")).items() if id_ == commit]
    return pin.tag if pin.tag in same else releases.newest(same, like=pin.tag, pre=True)


def _named(store: Store, name: str) -> tuple[str, str]:
    """The commit that `name` is, and the ref that it names, "" for none. A full id is never looked up as a name, nor is
    a name that means several things guessed at (gitrevisions(7) would take one of them)."""
    if is_full(name.lower()):
        return commit_of(store, name.lower()), ""
    prefixes = ("",) if name.startswith("refs/") else ("refs/tags/", "refs/heads/")
    refs = store.refs("refs/tags/*", "refs/heads/*")
    found = {f"{p}{name}": refs.get(f"{p}{name}^{{}}", refs[f"{p}{name}"]) for p in prefixes if f"{p}{name}" in refs}
    if len(set(found.values())) > 1:
        raise UsageError(f"{name} is a tag and a branch of {redact(store.url)}, and they differ",
                         hint=f"write which: --to refs/tags/{name}, --to refs/heads/{name}")  # fmt: skip
    for ref, commit in found.items():
        if is_short(name) and not commit.startswith(name):
            raise UsageError(f"{name} is a ref of {redact(store.url)}, and may be meant as an id",
                             hint=f"write --to {ref}, or the full id")  # fmt: skip
        return commit_of(store, commit, ref) if ref.startswith("refs/tags/") else commit, ref
    if is_short(name):
        return by_prefix(store, name), ""
    raise UsageError(f"{redact(store.url)} has no tag, branch or commit {redact(name)}", hint=_likely(name, refs))


def _likely(name: str, refs: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    names = {ref.partition("/")[2].partition("/")[2] for ref in refs if not ref.endswith("^{}")}
    close = get_close_matches(name, names, n=_MOST_NAMED, cutoff=0.6)
    return f"there are: {', '.join(close)}" if close else None


def commit_of(store: Store, id_: str, ref: str = "") -> str:
    """`id_` itself, which the remote must give, by `ref` or by itself, and which must be a commit: the id of another
    object would be written into gitlinks and checked out as something else. Raises UsageError, ExternalError."""
    store.fetch(ref or id_, depth=1)
    store.fetch(id_, depth=1)
    kind, commit = store.peel(id_)
    if kind != "commit":
        what = f"{ref} leads to" if ref else f"{id_} is"
        raise UsageError(f"{what} a {kind} of {redact(store.url)}, and no commit",
                         hint=f"it leads to {commit}" if commit else None)  # fmt: skip
    return id_


def by_prefix(store: Store, short: str) -> str:
    """The one commit on a branch or tag of the remote whose id begins with `short`. Raises UsageError where there is
    none, or several; ExternalError."""
    store.fetch("refs/heads/*", "refs/tags/*")
    refs = store.refs("refs/heads/*", "refs/tags/*")
    tips = dict.fromkeys(refs.get(f"{name}^{{}}", id_) for name, id_ in refs.items() if not name.endswith("^{}"))
    # What the cache has seen may be more than the remote still has.
    found = [id_ for id_ in history.by_prefix(store.folder, short) if history.leads(store.folder, tips, id_)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no commit on a branch or tag of {redact(store.url)} begins with {short}",
                         hint="write the full id")  # fmt: skip
    raise UsageError(f"{short} begins the ids of {len(found)} commits of {redact(store.url)}",
                     hint=f"write the full id: {', '.join(found[:_MOST_NAMED])}")  # fmt: skip


def unresolved(pin: Pin, asking: Asking) -> Target:
    """What `init` or `adopt` has left open: the commit of a tag, or the full id of a short one.

    Raises UsageError where nothing tells which commit is meant, ExternalError.
    """
    if pin.repo is None:
        raise UsageError(f"{pin.name} has no repository in which its commit could be found",
                         hint=f"write repo = \"https://…\" below [pins.{pin.name}]")  # fmt: skip
    store = asking.open(pin.repo)
    if isinstance(pin.unresolved, str):
        return Target(pin.repo, by_prefix(store, pin.unresolved), pin.tag, pin.track)
    if pin.tag:
        tags = _tags(store.refs(f"refs/tags/{pin.tag}"))
        if pin.tag not in tags:
            raise UsageError(f"{redact(pin.repo)} has no tag {pin.tag}")
        return Target(pin.repo, commit_of(store, tags[pin.tag], f"refs/tags/{pin.tag}"), pin.tag, pin.track)
    if pin.version:
        return _released(store, pin, pin.repo, pin.version)
    raise UsageError(f"nothing says which commit of {pin.name} is meant", hint=f"run: pinctl bump {pin.name} --to REF")


def _released(store: Store, pin: Pin, repo: str, version: str) -> Target:
    """The commit of the one tag that spells `version`."""
    found = {tag: id_ for tag, id_ in _tags(store.refs("refs/tags/*")).items()
             if (said := releases.version_of(tag)) and is_same(said, version)}  # fmt: skip
    if len(set(found.values())) != 1:
        raise UsageError(f"{len(found) or 'no'} tags of {redact(repo)} are the version {version}",
                         hint=f"run: pinctl bump {pin.name} --to REF")  # fmt: skip
    tag, commit = next(iter(found.items()))
    return Target(repo, commit_of(store, commit, f"refs/tags/{tag}"), tag, pin.track)
