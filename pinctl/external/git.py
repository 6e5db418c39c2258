"""What the consumer's own repository says: tracked files, old contents, submodule links, who changed a line last.

Local reads alone: nothing here reaches a server, writes, or runs what the repository names (see `gitcli`). Paths are
relative to the given folder `root`, which may lie anywhere in a work tree. Works in shallow clones, in linked work
trees and before the first commit.

Who changed a line last is asked of HEAD's lines alone, matched with those of the work tree here: `git blame` of a
work tree would run the filters that the repository's attributes name.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import sha1, sha256
from typing import NamedTuple

from pinctl.errors import ExternalError
from pinctl.external import files
from pinctl.external.gitcli import call, toplevel
from pinctl.external.linemap import kept, span_before, split
from pinctl.external.process import CommandFailed
from pinctl.model import NOTHING

MOST_FILES = 200_000
"""Entries that an index or a tree may have."""
MOST_VERSIONS = 1000
"""Versions of one file that are looked through."""

_BATCH = 50
_FILE_MODES = ("100644", "100755")
_GITLINK = "160000"
_SHA1 = 40  # letters of an id
_LATEST = 253_402_300_799  # the last second of the year 9999: a commit may claim any date


class IndexEntry(NamedTuple):
    """One tracked path: `mode` in octal as git prints it ("100755", "120000" a link, "160000" a submodule);
    `conflict` where a merge left several."""

    path: str
    mode: str
    id: str
    conflict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GitlinkState:
    """The commit of a submodule in HEAD, in the index and as checked out; None where there is none."""

    head: str | None
    index: str | None
    checkout: str | None


class Change(NamedTuple):
    """The last change of some lines: its commit, and that one's time in Unix seconds."""

    commit: str | None
    time: int


UNCOMMITTED = Change(commit=None, time=0)
"""A change of the work tree. It has no time: that of its file says nothing of its lines."""


def resolve(root: str, revision: str) -> str | None:
    """The full id of the commit that `revision` names; None if it names none. Raises ExternalError."""
    if not _is_revision(revision):
        return None
    asked = f"{revision}^{{commit}}"
    try:
        done = call(root, "rev-parse", "--verify", "--quiet", "--end-of-options", asked, accept=(0, 1))
    except CommandFailed as error:
        if error.hint is not None or error.result.code != 128:
            raise
        call(root, "rev-parse", "--git-dir")  # fails where git cannot read the repository at all
        return None  # `@{u}` without a branch, a malformed expression
    found = done.stdout.decode("ascii", "replace").strip()
    return found if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", found) else None


def _is_revision(text: str) -> bool:
    """Whether git may be given `text` for a revision: it is no option, and no more than one word."""
    return bool(text) and not text.startswith("-") and not any(c <= " " or c == "\x7f" for c in text)


def is_shallow(root: str) -> bool:
    """Whether the repository lacks a part of its history (git-clone(1), --depth). Raises ExternalError."""
    return call(root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"


def head(root: str) -> str | None:
    """The id of the commit at HEAD; None before the first commit. Raises ExternalError, also where HEAD is broken."""
    if (found := resolve(root, "HEAD")) is not None:
        return found
    call(root, "symbolic-ref", "HEAD")  # before the first commit HEAD names a branch that is not there yet
    if call(root, "rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1)).stdout:
        raise ExternalError(f"the commit at HEAD is missing from the repository {toplevel(root)}", hint="run: git fsck")
    return None


def is_ancestor(root: str, earlier: str, later: str) -> bool:
    """Whether the commit id `earlier` is `later` or lies in its history."""
    done = call(root, "merge-base", "--is-ancestor", earlier, later, accept=(0, 1))
    return done.code == 0


def ls_files(root: str, under: str = ".") -> list[str]:
    """The tracked files below the folder `under`, sorted as git sorts; also those deleted in the work tree."""
    return list(dict.fromkeys(_records(call(root, "ls-files", "-z", "--", under).stdout)))


def index(root: str, paths: Sequence[str] = (".",)) -> list[IndexEntry]:
    """The entries of the index at or below `paths`; a path in conflict counts once. Raises ExternalError."""
    done = call(root, "ls-files", "-z", "--stage", "--", *paths)
    entries: dict[str, IndexEntry] = {}
    for record in _records(done.stdout):
        fields, _, path = record.partition("\t")
        mode, id_, stage = fields.split(" ")
        entries.setdefault(path, IndexEntry(path=path, mode=mode, id=id_, conflict=stage != "0"))
    return list(entries.values())


def _records(output: bytes) -> list[str]:
    """The records of a `-z` output as text; names that are not UTF-8 keep their bytes as surrogates."""
    if output.count(b"\0") > MOST_FILES:
        raise ExternalError(f"the repository has more than {MOST_FILES} files")
    return os.fsdecode(output).split("\0")[:-1]


def gitlinks(root: str, paths: Iterable[str]) -> dict[str, GitlinkState]:
    """For each path of a submodule, its commit in HEAD, in the index (none of a conflict) and in the checkout.

    Raises ExternalError.
    """
    wanted = list(paths)
    entries = index(root, wanted) if wanted else []
    indexed = {e.path: e.id for e in entries if e.mode == _GITLINK and not e.conflict}
    tree = tree_links(root, "HEAD", wanted)
    return {
        path: GitlinkState(head=tree.get(path), index=indexed.get(path), checkout=_checkout(root, path))
        for path in wanted
    }


def tree_links(root: str, revision: str, paths: Sequence[str]) -> dict[str, str]:
    """The commits of the submodules that `revision` has at any of `paths`; {} for an unknown revision.

    Raises ExternalError.
    """
    return {e.path: e.id for e, _ in _ls_tree(root, revision, paths) if e.mode == _GITLINK} if paths else {}


def _checkout(root: str, path: str) -> str | None:
    """The commit checked out at the submodule `path`; None where it is not checked out."""
    folder = os.path.join(os.path.realpath(root), *files.components(path))
    if toplevel(folder) != folder:
        return None
    try:
        return head(folder)
    except ExternalError:  # its folder in .git/modules is gone
        return None


def _ls_tree(root: str, revision: str, paths: Sequence[str]) -> list[tuple[IndexEntry, int]]:
    """The entries that `revision` has at `paths`, each with its size in bytes, 0 for what has none; [] for an unknown
    revision. Raises ExternalError."""
    if not _is_revision(revision):
        return []
    try:
        done = call(root, "ls-tree", "-z", "-l", f"{revision}^{{commit}}", "--", *paths)
    except CommandFailed as error:
        if error.hint is not None or error.result.code != 128 or resolve(root, revision) is not None:
            raise
        return []
    found = []
    for record in _records(done.stdout):
        fields, _, path = record.partition("\t")
        mode, _, id_, size = fields.split()
        found.append((IndexEntry(path=path, mode=mode, id=id_), int(size) if size.isdecimal() else 0))
    return found


def show(root: str, revision: str, path: str, known: bytes | None = None) -> bytes | None:
    """The bytes of the file `path` at `revision`; None where there is no such revision or no such regular file. Where
    they are those `known`, git is not asked for them.

    Raises ExternalError, also for a file larger than `files.LIMIT`.
    """
    return show_many(root, revision, [path], NOTHING if known is None else {path: known}).get(path)


def show_many(root: str, revision: str, paths: Sequence[str], known: Mapping[str, bytes] = NOTHING) -> dict[str, bytes]:
    """The bytes of those of `paths` that are regular files at `revision`; {} for an unknown revision. Of files that are
    as `known` has them, git is not asked for more than their ids.

    A link has no bytes here. Raises ExternalError.
    """
    names = {"/".join(files.components(path)): path for path in paths}
    listed = _ls_tree(root, revision, list(names)) if names else []
    sized = {names[e.path]: (e.id, size) for e, size in listed if e.mode in _FILE_MODES}
    found = {path: known[path] for path, (id_, _) in sized.items() if path in known and _is_blob(known[path], id_)}
    wanted = {path: pair for path, pair in sized.items() if path not in found}
    if large := [path for path, (_, size) in wanted.items() if size > files.LIMIT]:
        raise ExternalError(f"{', '.join(large)}: larger than {files.LIMIT} bytes at {revision}")
    blobs = _cat(root, [id_ for id_, _ in wanted.values()])
    return found | {path: data for path, data in zip(wanted, blobs, strict=True) if data is not None}


def _is_blob(data: bytes, id_: str) -> bool:
    """Whether `data` is the blob `id_` (git-hash-object(1)); the longer ids are of SHA-256."""
    kind = sha1 if len(id_) == _SHA1 else sha256
    return kind(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest() == id_


def _cat(root: str, objects: Sequence[str]) -> list[bytes | None]:
    """The contents of blobs, by id or as COMMIT:./PATH without line ends; None for what is missing or no blob."""
    if not objects:
        return []
    names = "".join(f"{name}\n" for name in objects)
    output = call(root, "cat-file", "--batch", stdin=os.fsencode(names)).stdout
    contents, at = list[bytes | None](), 0
    for _ in objects:
        end = output.index(b"\n", at)
        fields = output[at:end].split(b" ")
        at = end + 1
        if len(fields) != 3 or not fields[2].isdigit():  # `NAME missing`, `NAME ambiguous`
            contents.append(None)
            continue
        stop = at + int(fields[2])
        contents.append(output[at:stop] if fields[1] == b"blob" else None)
        at = stop + 1
    return contents


def history_of(root: str, path: str) -> Iterator[tuple[str, bytes]]:
    """The versions that the file `path` had in the history of HEAD, newest first, each with the commit that made it.

    At most MOST_VERSIONS; those of a shallow clone end where it ends. Raises ExternalError.
    """
    if "\n" in path:
        raise ExternalError(f"{path!r}: a name with a line end has no history here")
    if head(root) is None:
        return
    done = call(root, "log", f"--max-count={MOST_VERSIONS}", "--format=%H", "HEAD", "--", path)
    commits = done.stdout.decode("ascii").split()
    for start in range(0, len(commits), _BATCH):
        batch = commits[start : start + _BATCH]
        blobs = _cat(root, [f"{commit}:./{path}" for commit in batch])
        yield from ((commit, blob) for commit, blob in zip(batch, blobs, strict=True) if blob is not None)


def last_change(root: str, path: str, first: int, last: int) -> Change | None:
    """The latest change of the lines `first` to `last` (from 1, both included) of `path` as it lies in the work tree.

    None where there is no such file or line. Raises ExternalError.
    """
    return last_changes(root, path, [(first, last)])[0]


def last_changes(root: str, path: str, ranges: Sequence[tuple[int, int]]) -> list[Change | None]:
    """As `last_change`, for several ranges of one file at the cost of one."""
    try:
        now = split(files.read_site(root, path))
    except files.Unreadable:
        return [None] * len(ranges)
    same = kept(split(show(root, "HEAD", path) or b""), now)
    spans = {span: span_before(same, *span) for span in ranges if 1 <= span[0] <= span[1] <= len(now)}
    blamed = blame(root, "HEAD", path, [span for span in spans.values() if span is not None])
    changes = {span: UNCOMMITTED if before is None else blamed[before] for span, before in spans.items()}
    return [changes.get(span) for span in ranges]


def blame(root: str, revision: str, path: str, spans: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Change]:
    """For each of `spans` (lines from 1, both included, that `path` has at `revision`), the latest commit that wrote
    one of its lines, as seen from `revision`. Raises ExternalError."""
    lines = _blame(root, revision, path, spans)
    return {span: latest(root, dict.fromkeys(lines[line] for line in range(span[0], span[1] + 1))) for span in spans}


def latest(root: str, changes: Iterable[Change]) -> Change:
    """The latest of `changes`, which are not none; the first of those whose order cannot be told."""
    return reduce(lambda a, b: later(root, a, b) or a, changes)


def changed_lines(root: str, path: str) -> frozenset[int]:
    """The lines (from 1) of `path` in the work tree that HEAD does not hold; line ends alone do not count.

    Raises files.Unreadable, ExternalError.
    """
    return news(root, {path: files.read_site(root, path)}).get(path, frozenset())


def news(root: str, sources: Mapping[str, bytes]) -> dict[str, frozenset[int]]:
    """As `changed_lines`, of files whose bytes in the work tree are given, by path; those without any are left out.

    Raises ExternalError.
    """
    before = show_many(root, "HEAD", list(sources), sources)
    found = {}
    for path, source in sources.items():
        if (old := before.get(path, b"")) != source:
            now = split(source)
            found[path] = frozenset(range(1, len(now) + 1)) - kept(split(old), now).keys()
    return {path: lines for path, lines in found.items() if lines}


def is_dirty(root: str, path: str) -> bool:
    """Whether `path` is another in the work tree than in HEAD: changed, new or deleted. Raises as `changed_lines`."""
    before = show(root, "HEAD", path)
    try:
        now = files.read_site(root, path)
    except files.Missing:
        return before is not None
    return before is None or split(before) != split(now)


def later(root: str, a: Change, b: Change) -> Change | None:
    """The later of two changes; None where that cannot be told (one commit made both, or the same second).

    What is not committed is later than every commit; of two commits the one that has the other in its history is,
    since a rebase gives a whole branch one date; only unrelated ones are told by their date.
    """
    if a.commit is not None and b.commit is not None and a.commit != b.commit:
        if is_ancestor(root, a.commit, b.commit):
            return b
        if is_ancestor(root, b.commit, a.commit):
            return a
    elif (a.commit is None) != (b.commit is None):
        return a if a.commit is None else b
    if a.time == b.time:
        return None
    return a if a.time > b.time else b


def _blame(root: str, revision: str, path: str, spans: Sequence[tuple[int, int]]) -> dict[int, Change]:
    """For each line within `spans` of the file at `revision`, the commit that wrote it (git-blame(1), "porcelain")."""
    if not spans:
        return {}
    ranges = [word for first, last in spans for word in ("-L", f"{first},{last}")]
    # Its configuration must not hide a commit, nor can `-c` say so: git reads the files that it names in their order.
    done = call(
        root, "blame", "--no-ignore-revs-file", "--line-porcelain", "--no-textconv", *ranges, revision, "--", path
    )
    header = re.compile(rb"([0-9a-f]{40,64}) [0-9]+ ([0-9]+)(?: [0-9]+)?")
    found: dict[int, Change] = {}
    commit, line = "", 0
    for text in done.stdout.split(b"\n"):
        if match := header.fullmatch(text):
            commit, line = match[1].decode(), int(match[2])
        elif text.startswith(b"committer-time "):
            time = min(max(int(text.split()[1]), 0), _LATEST)
            found[line] = Change(commit=commit, time=time)
    return found
