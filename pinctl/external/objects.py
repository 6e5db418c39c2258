"""Reading a bare repository of ours: offline, without any configuration of the user's, by full ids alone.

Ids go to git on standard input where many may be asked for, and paths are never given to it, so that no name in a
tree can be taken for another request. What is large is asked for its size first.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from pinctl.commits import is_full
from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.gitcli import UNTRUSTED
from pinctl.external.process import CommandFailed
from pinctl.external.remote import Hostile
from pinctl.paths import is_git
from pinctl.upstream.tree import Entry

MOST_ENTRIES = 200_000
"""Entries that a tree may have."""
LONGEST_PATH = 1024
"""Bytes of a path in a tree."""

_PIECE = 16 * 1024 * 1024  # bytes of blobs that one git prints
_DAMAGE = (
    rb"corrupt|inflate|packfile|\.pack |\.idx|is empty|unable to (?:read|unpack|open|map)|could not read|truncated"
    rb"|missing (?:blob|tree|commit|object)|loose object|not a git repository|does not match|bad (?:object|tree)"
    rb"|cannot open|failed to read|invalid object|unable to find|could not get object info"
)


def read(
    folder: str, *args: str, stdin: bytes = b"", accept: Sequence[int] = (0,), also: Sequence[str] = ()
) -> process.Result:
    """`git ARGS` in the bare repository `folder`, as a local read; for this one git the objects of the repositories
    `also` are there too (git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES).

    Raises CommandFailed, ToolMissing, ExternalError.
    """
    argv = ["git", "--no-pager", *UNTRUSTED.config(), f"--git-dir={folder}", *args]
    env = UNTRUSTED.environment()
    if also:
        env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(_quoted(f"{other}/objects") for other in also)
    return process.run(argv, cwd=folder, env=env, stdin=stdin, accept=accept, shown=["git", *args])


def _quoted(path: str) -> str:
    """A path of a list of folders, in which a colon would part it (git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES)."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def check_id(id_: str) -> None:
    """Raises ExternalError for anything but a full id."""
    if not is_full(id_):
        raise ExternalError(f"{id_[:80]!r} is no full commit id")


def refs(folder: str) -> list[tuple[str, str]]:
    """Every ref with its id; what an annotated tag leads to stands under NAME^{}."""
    done = read(folder, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", "refs/")
    found = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, id_, peeled = line.split(" ")
        found += [(name, id_), *([(f"{name}^{{}}", peeled)] if peeled else [])]
    return found


def is_damage(error: Exception) -> bool:
    """Whether a reading failed since the repository may be broken."""
    return isinstance(error, CommandFailed) and bool(re.search(_DAMAGE, error.result.stderr))


def is_sound(folder: str) -> bool:
    """Whether refs lead to objects that are here, and packs are what their digests say (git-verify-pack(1)).

    Reads every byte of the repository.
    """
    folder_of_packs = os.path.join(folder, "objects", "pack")
    try:
        packs = [entry.path for entry in os.scandir(folder_of_packs) if entry.name.endswith(".idx")]
        listed = read(folder, "for-each-ref", "--format=%(objecttype)")
        if packs:
            read(folder, "verify-pack", *packs)
    except (CommandFailed, OSError):
        return False
    return not listed.stderr


def sizes(folder: str, ids: Sequence[str]) -> dict[str, int | None]:
    """The bytes of each blob; -1 of another object, None of what is not here (git-cat-file(1), "BATCH OUTPUT").

    Raises CommandFailed also where git meets a broken pack and calls missing what is in it.
    """
    found: dict[str, int | None] = dict.fromkeys(ids)
    if not ids:
        return found
    done = read(folder, "cat-file", "--batch-check", stdin=_lines(ids))
    if b"error: " in done.stderr:
        raise CommandFailed("complains", done)
    for line in done.stdout.decode("ascii", "replace").splitlines():
        fields = line.split(" ")
        if len(fields) == 3 and fields[2].isdigit():
            found[fields[0]] = int(fields[2]) if fields[1] == "blob" else -1
    return found


def contents(folder: str, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """The bytes of blobs that are here, given with their sizes."""
    return {id_: blob for piece in pieces(sizes) for id_, blob in _batch(folder, piece).items()}


def _batch(folder: str, ids: Sequence[str]) -> dict[str, bytes]:
    output = read(folder, "cat-file", "--batch", stdin=_lines(ids)).stdout
    found, at = {}, 0
    for id_ in ids:
        end = output.index(b"\n", at)
        stop = end + 1 + int(output[at:end].rpartition(b" ")[2])
        found[id_] = output[end + 1 : stop]
        at = stop + 1
    return found


def _lines(ids: Sequence[str]) -> bytes:
    return "".join(f"{id_}\n" for id_ in ids).encode()


def pieces(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """The ids in groups of at most _PIECE bytes together, or one by one."""
    group: list[str] = []
    total = 0
    for id_, size in sizes.items():
        if group and total + size > _PIECE:
            yield group
            group, total = [], 0
        group.append(id_)
        total += size
    if group:
        yield group


def missing(folder: str, commit: str) -> list[str]:
    """The blobs in the tree of `commit` that are not here."""
    done = read(folder, "rev-list", "--objects", "--missing=print", "--no-walk", commit, "--")
    return [line[1:] for line in done.stdout.decode("utf-8", "replace").splitlines() if line.startswith("?")]


def peel(folder: str, id_: str) -> tuple[str, str | None]:
    """The type of the object `id_`, and the commit that it is or leads to, None if it leads to none."""
    asked = f"{id_}\n{id_}^{{commit}}\n".encode()
    done = read(folder, "cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=asked)
    first, second = (line.split(" ") for line in done.stdout.decode("ascii", "replace").splitlines())
    return first[0], second[1] if second[0] == "commit" else None


def is_ancestor(folder: str, a: str, b: str) -> bool:
    """Whether commit `a` is `b` or lies in its history, as far as that is here."""
    return read(folder, "merge-base", "--is-ancestor", a, b, accept=(0, 1)).code == 0


def tree(folder: str, commit: str) -> list[Entry]:
    """Every file, link and submodule of a commit, in git's order. Bytes of a path that are not UTF-8 stand as
    surrogates. Raises Hostile for a tree that is too large or names what no checkout may hold."""
    try:
        output = read(folder, "ls-tree", "-r", "-z", "--full-tree", commit).stdout
    except CommandFailed as error:
        if len(error.result.stdout) > process.LIMIT:
            raise Hostile(f"the tree of {commit} is too large") from None
        raise
    if output.count(b"\0") > MOST_ENTRIES:
        raise Hostile(f"the tree of {commit} has more than {MOST_ENTRIES} entries")
    entries = [_entry(record) for record in output.split(b"\0")[:-1]]
    names = {name for entry in entries for name in entry.path.split("/")}
    if odd := {name for name in names if name in ("", ".", "..") or is_git(name)}:
        path = next(entry.path for entry in entries if not odd.isdisjoint(entry.path.split("/")))
        raise Hostile(f"a path of the tree may not be in any checkout: {path!r}")
    return entries


def _entry(record: bytes) -> Entry:
    """An entry of `ls-tree -z`: `MODE TYPE ID<tab>PATH`."""
    fields, _, path = record.partition(b"\t")
    mode, _, id_ = fields.decode("ascii").split(" ")
    name = os.fsdecode(path)
    if len(path) > LONGEST_PATH:
        raise Hostile(f"a path of the tree has more than {LONGEST_PATH} bytes: {name[:80]!r}")
    return Entry(name, mode, id_)


def pack(folder: str, commit: str, base: str) -> None:
    """Write the pack BASE-ID.pack, with its index, of a commit and all of its tree, without its history."""
    listed = read(folder, "rev-list", "--objects", "--no-object-names", "--no-walk", commit, "--").stdout
    read(folder, "pack-objects", "--quiet", "--threads=2", base, stdin=listed)
