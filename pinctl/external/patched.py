"""The trees that patches are for, on the disk: files of a folder, texts merged by git, the diff of a commit, and
folders in which a person can look at what collides."""

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping

from pinctl.errors import ExternalError, UsageError
from pinctl.external import files, history, objects, process, targets
from pinctl.external.gitcli import UNTRUSTED
from pinctl.external.store import Store
from pinctl.patches.model import Blob, Files, Odd
from pinctl.patches.trees import LARGEST
from pinctl.plan import Exchange, FilePlan
from pinctl.upstream.log import Commit

_MOST_CONFLICTS = 127
_MAIL = "--format=From %H Mon Sep 17 00:00:00 2001%nFrom: %an <%ae>%nDate: %aD%nSubject: %s%n"


def read(folder: str, paths: Iterable[str]) -> Files:
    """What stands at each of `paths` below a folder. No link is followed."""
    return {path: _at(folder, path) for path in dict.fromkeys(paths)}


def _at(folder: str, path: str) -> Blob | Odd | None:
    try:
        content = files.read_site(folder, path, LARGEST, links=False)
        mode = os.lstat(os.path.join(folder, path)).st_mode
    except files.Missing:
        return None
    except files.Unreadable as error:
        return Odd(error.reason)
    except OSError as error:
        return Odd(f"cannot be examined: {error.strerror}")
    return Blob(content, bool(mode & stat.S_IXUSR))


def merge_lines(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, int]:
    """The three-way merge of texts, with marks where they collide, and how often they do (git-merge-file(1)).

    Raises ExternalError.
    """
    with tempfile.TemporaryDirectory(prefix="pinctl-") as folder:
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            _write(os.path.join(folder, name), content)
        labels = ("-L", "the new commit", "-L", "the old commit", "-L", "the patch")
        argv = ["git", "merge-file", "-p", "--diff3", *labels, "ours", "base", "theirs"]
        accept = tuple(range(_MOST_CONFLICTS + 1))
        done = process.run(argv, cwd=folder, env=UNTRUSTED.environment(), accept=accept, shown=["git", "merge-file"])
    return done.stdout, done.code


def commit_diff(store: Store, commit: str) -> bytes:
    """The diff of a commit against its parent, below its author and subject as a mail has them (git-format-patch(1)).

    Its history is fetched before. Raises UsageError for a merge and for one that changes nothing; ExternalError.
    """
    changed = history.changes(store.folder, [Commit(commit, (), 0, "", "")])
    if commit not in changed:
        raise UsageError(f"{commit} is a merge, or changes nothing", hint="name the commit that makes the change")
    blobs = {id_ for one in changed[commit] for id_ in (one.old, one.new) if id_.strip("0")}
    store.blobs(blobs - {one.new for one in changed[commit] if one.new_mode == "160000"}, limit=0)  # for the fetch
    asked = (
        "-p",
        "-r",
        "--root",
        "-M",
        "--full-index",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-commit-id",
    )
    head = objects.read(store.folder, "log", "-1", _MAIL, commit, "--").stdout
    return head.rstrip(b"\n") + b"\n\n" + objects.read(store.folder, "diff-tree", *asked, commit, "--").stdout


def lay_out(trees: Mapping[str, Files]) -> str:
    """A new folder, which stays, with a folder for each of `trees` by its name; where it is. Raises ExternalError."""
    try:
        folder = tempfile.mkdtemp(prefix="pinctl-refresh-")
    except OSError as error:
        raise ExternalError(f"no folder can be made for what collides: {error.strerror}") from error
    for name, known in trees.items():
        os.mkdir(os.path.join(folder, name))
        for path, one in known.items():
            if isinstance(one, Blob):
                _lay(os.path.join(folder, name), path, one)
    return folder


def _lay(root: str, path: str, blob: Blob) -> None:
    names = files.components(path)  # stays below the root
    targets.make_folders(root, ["/".join(names[: n + 1]) for n in range(len(names) - 1)])
    made = targets.describe(root, Exchange(path, None, blob.content, blob.executable), names[-1])
    targets.stage(root, made, blob.content)


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def plan(root: str, path: str, content: bytes) -> FilePlan:
    """The plan that `content` stands in the file `path` below `root`. Raises ExternalError."""
    try:
        before: bytes | None = files.read_site(root, path, links=False)
    except files.Missing:
        before = None
    except files.Unreadable as error:
        raise ExternalError(f"{path} {error.reason}") from error
    return FilePlan(path, before, content)
