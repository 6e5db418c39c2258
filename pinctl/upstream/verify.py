"""A pin held against what its remotes hold: `verify` makes findings of evidence. Every finding has its place in
pins.toml, or, for a path that a build file names, in that file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pinctl import nested
from pinctl.anchors import judging, telling
from pinctl.anchors.model import Anchor, Edit
from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.model import Manifest, Pin
from pinctl.upstream import headers, lfs, shortage, versions
from pinctl.upstream.evidence import Evidence, Module, Reach
from pinctl.upstream.forest import MAGIC, Forest
from pinctl.upstream.headers import Need
from pinctl.upstream.references import Reference
from pinctl.upstream.telling import Telling
from pinctl.upstream.tree import Tree, twins

_MOST_TOLD = 20
"""Findings of one kind that are told of one pin, where each file may have one."""


def reading(tree: Tree) -> list[str]:
    """The files of the tree of a pin that `verify` will read, so that they can be fetched in one batch."""
    names = (".gitmodules", ".gitattributes")
    return [
        path
        for path in tree.files
        if headers.is_source(path) or path.rpartition("/")[2] in names or versions.says_version(path)
    ]


class Report(NamedTuple):
    """What `verify` says of a pin: its findings, the headers that its tree needs from the system, and what the edits
    of its source are that the consumer's build makes."""

    findings: tuple[Finding, ...] = ()
    needs: tuple[Need, ...] = ()
    anchors: tuple[Anchor, ...] = ()


def verify(
    pin: Pin,
    manifest: Manifest,
    evidence: Evidence,
    references: Sequence[Reference] = (),
    edits: Sequence[Edit] = (),
) -> Report:
    """What is wrong with `pin`. `references` are the paths below it that the consumer's build files name, `edits` what
    these do to its source. Raises ExternalError."""
    say = Telling(pin, manifest)
    found = [*_commit(say, evidence), *_tag(say, evidence)]
    forest = evidence.forest
    if forest is None:
        return Report(tuple(found), anchors=tuple(judging.judge(edits, None)))
    found += [*_listing(say, evidence), *_modules(say, evidence.modules.values()), *_nested(say, evidence)]
    found += [*_include_dirs(say, forest), *_globs(say, forest), *_named(say, forest, references)]
    found += [*_version(say, forest), *_twins(say, forest)]
    scan = headers.read(forest)
    needs = headers.needs(scan, pin.system_packages)
    found += [*_pointers(say, forest, references, scan.pointers), *shortage.findings(say, forest, scan, needs)]
    anchors = judging.judge(edits, forest)
    found += telling.findings(pin.name, anchors, {(reference.file, reference.path) for reference in references})
    return Report(tuple(found), tuple(needs), tuple(anchors))


def gitlinks(pin: Pin, manifest: Manifest, evidence: Evidence) -> list[Finding]:
    """What is wrong with the commit of `pin`, and with the gitlinks that pins.toml stores or asks for; nothing else is
    looked at."""
    say = Telling(pin, manifest)
    return [*_commit(say, evidence), *(_nested(say, evidence) if evidence.forest else ())]


# --- the commit ---------------------------------------------------------------------------------------------------


def _commit(say: Telling, evidence: Evidence) -> Iterator[Finding]:
    pin, branch = say.pin, evidence.branch or "any branch"
    if evidence.failure:
        code = "PIN321" if evidence.refused else "PIN320"
        yield say.tell(code, evidence.failure, "repo", hint=evidence.hint)
    if evidence.reach is Reach.GONE:
        what = f"{pin.repo} does not have {pin.commit}: it was force-pushed away, or never pushed"
        yield say.tell("PIN301", what, "commit", hint=f"pin a commit that it has: pinctl bump {pin.name}")
    elif evidence.reach is Reach.ID and not (pin.tag and evidence.tag == pin.commit):
        what = f"{pin.commit} is not on {branch} of {pin.repo}; it is given by its id alone, as a pull request's is"
        hint = f"set `track` to the branch that it is on, or run: pinctl bump {pin.name}"
        yield say.tell("PIN302", what, "commit", hint=hint)


def _tag(say: Telling, evidence: Evidence) -> Iterator[Finding]:
    pin = say.pin
    if not evidence.tag_asked or pin.tag is None or pin.commit is None or evidence.tag == pin.commit:
        return
    if evidence.tag is None:
        hint = "correct the tag, or drop it: the commit alone says what is used"
        yield say.tell("PIN303", f"{pin.repo} has no tag {pin.tag}", "tag", hint=hint)
        return
    what = f"the tag {pin.tag} of {pin.repo} leads to another commit than the pinned one"
    hint = f"find out why it moved; to follow it: pinctl bump {pin.name} --to {pin.tag}"
    yield say.tell("PIN303", what, "tag", hint=hint, expected=pin.commit, found=evidence.tag)


# --- its submodules -----------------------------------------------------------------------------------------------


def _listing(say: Telling, evidence: Evidence) -> Iterator[Finding]:
    listing, declared = evidence.listing, say.pin.submodules
    if listing.problem:
        yield say.tell("PIN309", f"the submodules of the tree cannot be used: {listing.problem}", "commit")
    for number, path in enumerate(declared or ()):
        if path not in listing.submodules and path not in evidence.modules:
            yield _vanished(say, evidence, number, path)
    if declared:
        for path in sorted(listing.submodules.keys() - set(declared)):
            what = f"the tree has a submodule {path}, and the pin does not declare it"
            yield say.tell("PIN305", what, "submodules", hint=f'add "{path}" to `submodules` if the build needs it')
    for path in listing.stray:
        if declared is None or path in declared:
            what = f".gitmodules names {path}, and the tree has no submodule there"
            yield say.tell("PIN307", what, "commit", hint="nothing is cloned there; tell upstream")


def _vanished(say: Telling, evidence: Evidence, number: int, path: str) -> Finding:
    """A declared submodule that the tree lacks, with where it may be now."""
    listing = evidence.listing
    now = listing.names.get(path)
    name = path.rpartition("/")[2]
    moved = [now] if now in listing.submodules else [p for p in listing.submodules if p.rpartition("/")[2] == name]
    what = f"the tree has no submodule {path}"
    if evidence.forest is not None and evidence.forest.root.real(path) in evidence.forest.root.folders:
        what += ", but a folder of its own there"
    others = ", ".join(sorted(listing.submodules)) or "none"
    hint = f'it may be "{moved[0]}" now' if moved else f"its submodules are: {others}"
    return say.tell("PIN304", what, "submodules", number, hint=hint)


def _modules(say: Telling, modules: Iterable[Module]) -> Iterator[Finding]:
    for module in modules:
        path, commit, name, url, problem = module.submodule
        key = _declared_at(say.pin, path)
        if problem:
            yield say.tell("PIN309", f"the submodule {path} cannot be used: {problem}", *key)
        elif url is None:
            what = f"the submodule {path} has no {'URL' if name else 'entry'} in .gitmodules, so it cannot be cloned"
            yield say.tell("PIN306", what, *key, hint="leave it out of `submodules`, or tell upstream")
        elif module.failure:
            code = "PIN321" if module.refused else "PIN320"
            yield say.tell(code, f"the submodule {path}: {module.failure}", *key)
        elif module.reach is Reach.GONE:
            what = f"the submodule {path} wants {commit}, which {url} does not have"
            yield say.tell("PIN308", what, *key, hint="no checkout of this commit can work; pin another one")


def _declared_at(pin: Pin, path: str) -> tuple[str | int, ...]:
    outer = next((n for n, p in enumerate(pin.submodules or ()) if path == p or path.startswith(f"{p}/")), None)
    return ("commit",) if outer is None else ("submodules", outer)


def _nested(say: Telling, evidence: Evidence) -> Iterator[Finding]:
    """The gitlinks that pins.toml stores for its sites, and those that these ask for."""
    links = evidence.links
    asked = dict.fromkeys(nested.asked(say.manifest).get(say.pin.name, ()))
    for path in {**asked, **say.pin.nested}:
        commit = say.pin.nested.get(path)
        outer = evidence.forest.undeclared(path) if evidence.forest and path not in links else None
        if outer:
            what = f"the gitlink {path} was not looked at: it lies in the submodule {outer}, which is not declared"
            yield say.tell("PIN319", what, "nested", path, hint=f'add "{outer}" to `submodules`',
                           severity=Severity.WARNING)  # fmt: skip
        elif path not in links:
            what = f"the tree has no gitlink at {path}"
            used = "correct the path in the templates that ask for it" if path in asked else "drop the entry"
            yield say.tell("PIN319", what, "nested", path, found=commit, hint=_others(path, links) or used)
        elif commit and links[path] != commit:
            what = f"the tree has another commit at {path} than pins.toml"
            yield say.tell("PIN319", what, "nested", path, expected=links[path], found=commit,
                           hint="write the tree's into pins.toml, then run: pinctl sync")  # fmt: skip


def _others(path: str, links: Mapping[str, str]) -> str | None:
    """The gitlinks that may be meant by a path that is none: those of its name, else all."""
    same = [link for link in links if link.rpartition("/")[2] == path.rpartition("/")[2]]
    if same:
        return f"it may be {same[0]} now"
    return f"its gitlinks are: {', '.join(sorted(links)[:_MOST_TOLD])}" if links else None


# --- its paths ----------------------------------------------------------------------------------------------------


def _include_dirs(say: Telling, forest: Forest) -> Iterator[Finding]:
    for number, path in enumerate(say.pin.include_dirs or ()):
        if forest.has_folder(path) is False:
            what = f"the tree has no folder {path}{_why(forest, path)}"
            yield say.tell("PIN310", what, "include_dirs", number, hint=offer(forest, path))


def _globs(say: Telling, forest: Forest) -> Iterator[Finding]:
    """Each glob matches; a warning where another one of its folder does, as `*.h` beside `*.hpp`."""
    globs = say.pin.header_globs or ()
    full = _matched(forest, dict.fromkeys(globs, True))
    for number, glob in enumerate(globs):
        if not forest.unknown(glob) and not _matches(forest, glob, recursive=True):
            what = f"no file of the tree matches {glob}{_why(forest, glob)}"
            severity = Severity.WARNING if _literal(glob) in full else None
            hint = "correct the glob, or drop it"
            yield say.tell("PIN311", what, "header_globs", number, hint=hint, severity=severity)


def _named(say: Telling, forest: Forest, references: Sequence[Reference]) -> Iterator[Finding]:
    """Paths that build files name are there. Of the globs of one folder it is enough that one matches."""
    full = _matched(forest, {r.path: r.glob for r in references if r.glob is not None})
    for path, file, span, glob in references:
        full_folder = glob is not None and _literal(path) in full
        if not full_folder and not forest.unknown(path) and (glob is not None or forest.has(path) is False):
            what = f"{path} is named here, and {say.pin.name} does not have it at its commit{_why(forest, path)}"
            yield finding("PIN312", what, file=file, span=span, pin=say.pin.name, hint=offer(forest, path))


def _matches(forest: Forest, glob: str, *, recursive: bool) -> bool:
    return next(forest.glob(glob, recursive=recursive), None) is not None


def _matched(forest: Forest, globs: Mapping[str, bool]) -> set[str]:
    """The folders of those of `globs`, each with whether it is recursive, that match something."""
    return {_literal(glob) for glob, recursive in globs.items() if _matches(forest, glob, recursive=recursive)}


def _literal(glob: str) -> str:
    """The folder in which a glob begins to be one."""
    return MAGIC.split(glob)[0].rpartition("/")[0]


def _why(forest: Forest, path: str) -> str:
    module = forest.undeclared(path)
    return f": it lies in the submodule {module}, which the pin does not declare" if module else ""


def offer(forest: Forest, path: str) -> str | None:
    """Where a vanished path may be now: folders of the same name, those with most of the path first."""
    parts = path.split("/")
    name, near = parts[-1], set(parts)
    folders = [f"{prefix}{f}" for prefix, tree in forest.trees for f in tree.folders if f.rpartition("/")[2] == name]
    ranked = sorted(folders, key=lambda f: (-len(near & set(f.split("/"))), f.count("/"), f))
    return f"folders of that name: {', '.join(ranked[:5])}" if ranked else None


# --- its version and files ----------------------------------------------------------------------------------------


def _version(say: Telling, forest: Forest) -> Iterator[Finding]:
    version = say.pin.version
    said = versions.stated(forest.root) if version else []
    if version is None or not said or any(versions.agrees(version, one.version) for one in said):
        return
    first = said[0]
    what = f"{first.file}:{first.line} of the tree says another version than the pin"
    hint = f'write version = "{first.version}", or pin the commit of {version}'
    yield say.tell("PIN313", what, "version", expected=first.version, found=version, hint=hint)


def _twins(say: Telling, forest: Forest) -> Iterator[Finding]:
    for one, other in twins(forest.root)[:_MOST_TOLD]:
        what = f"{one!r} and {other!r} of the tree are one file where letter case does not count"
        yield say.tell("PIN318", what, "commit")


def _pointers(say: Telling, forest: Forest, references: Sequence[Reference], read: Sequence[str]) -> Iterator[Finding]:
    """Files that the build uses and that a checkout has as pointers alone, unless the pin asks for LFS."""
    if say.pin.lfs:
        return
    used = set(_used(say.pin, forest, references))
    found = {*lfs.pointers(forest, used), *(path for path in read if path in used or not headers.is_aside(path))}
    for path in sorted(found)[:_MOST_TOLD]:
        key: tuple[str | int, ...] = next(
            (("include_dirs", n) for n, d in enumerate(say.pin.include_dirs or ()) if path.startswith(f"{d}/")),
            ("commit",),
        )
        what = f"{path} is kept in Git LFS, and a checkout without LFS has its pointer alone"
        yield say.tell("PIN314", what, *key, hint="say `lfs = true` in the pin")


def _used(pin: Pin, forest: Forest, references: Sequence[Reference]) -> Iterator[str]:
    folders = [*(pin.include_dirs or ()), *(r.path for r in references if r.glob is None)]
    if folders:
        below = tuple(f"{folder}/" for folder in folders)
        yield from (path for path in forest.files if path in folders or path.startswith(below))
    globs = dict.fromkeys(pin.header_globs or (), True)
    globs |= {reference.path: reference.glob for reference in references if reference.glob is not None}
    for glob, recursive in globs.items():
        yield from forest.glob(glob, recursive=recursive)
