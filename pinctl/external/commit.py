"""The only place that writes to the consumer's git repository: gitlinks into its index, and one commit.

Gitlinks are staged as everything local is asked of git (`gitcli`): nothing that the repository names is run. The
commit is the person's own, as at their prompt: their configuration, identity, filters, signing and hooks, in their
whole environment, since their hooks need what they have there (SKIP, VIRTUAL_ENV, DISPLAY); hooks and a file system
monitor in `git commit` alone. What an outer git hook left in it (GIT_DIR, GIT_INDEX_FILE) never passes. So a commit is
for the trusted profile alone: a stranger's repository names programs that git would run.

The index is changed as git changes it: the new one is made under the name of its lock and renamed into place, so it
is whole at every moment, and two writers cannot meet. Paths are relative to `root`, anywhere in a work tree.
"""

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeGuard

from pinctl.errors import ExternalError
from pinctl.external import files, git, process
from pinctl.external.gitcli import call, toplevel
from pinctl.external.process import CommandFailed, Result

SECONDS = 1800.0
"""How long a commit may take: hooks run linters, and signing may wait for a person."""

_COMMIT = ("commit", "--quiet", "--cleanup=whitespace", "--file=-")
_HOOK_LINES = 150  # of what hooks said that are shown: one of many linters refuses, and seldom the last
_NO_PROGRAMS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
_SCRATCH = "pinctl-"
_GITLINK = "160000"
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# git's variables that say who the person is and how their git is set up, and not where a repository lies.
_PERSONAL = re.compile(
    r"GIT_(?:(?:AUTHOR|COMMITTER)_\w+|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|ASKPASS|SSH\w*)"
)
_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


def stage_links(root: str, links: Mapping[str, str]) -> None:
    """Put the commit of each submodule of `links`, path to full id, into the index; no other entry changes.

    Raises ExternalError, with nothing changed, where a path is no submodule in the index, or the index is locked.
    """
    repository, entries = _stageable(root, links)
    with repository.lock(git.head(root)) as lock:
        repository.stage(lock, entries.links)


def demand_stageable(root: str, links: Mapping[str, str]) -> None:
    """Raises ExternalError for all that `stage_links` would refuse. Nothing changes."""
    _stageable(root, links)


def _stageable(root: str, links: Mapping[str, str]) -> "tuple[_Repository, _Entries]":
    repository = _Repository.of(root)
    repository.refuse_locked()
    return repository, repository.entries((), links)


def dirty(root: str, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that differ from HEAD, in the index or in the work tree: changed, new, ignored or deleted.

    A submodule does where another commit is staged or checked out. Raises ExternalError.
    """
    repository = _Repository.of(root)
    repository.refuse_elsewhere()
    names = {repository.name(path): path for path in paths}
    if not names:
        return []
    shown = ("--untracked-files=all", "--ignored", "--ignore-submodules=dirty", "--no-renames")
    status = ("--no-optional-locks", "--literal-pathspecs", "status", "--porcelain", "-z", *shown)
    told = os.fsdecode(repository.git(*status, "--", *names).stdout).split("\0")
    different = {record[3:] for record in told}
    return [path for name, path in names.items() if name in different]


def demand(root: str, paths: Sequence[str], links: Mapping[str, str], branch: str | None = None) -> None:
    """Raises ExternalError for all that stands in the way of such a `commit` and can be known before: the name of the
    branch, an operation under way, the index locked, paths that git is told not to look at, nobody's identity.

    Nothing changes.
    """
    _committable(root, paths, links, branch)


def _committable(
    root: str, paths: Sequence[str], links: Mapping[str, str], branch: str | None
) -> "tuple[_Repository, _Entries]":
    repository = _Repository.of(root)
    repository.refuse_elsewhere()
    repository.refuse_unfinished()
    repository.refuse_locked()
    repository.refuse_nobody()
    if repository.is_new(branch):
        repository.refuse_branch(branch)
    return repository, repository.entries(paths, links)


def commit(
    root: str,
    paths: Sequence[str],
    message: str,
    *,
    links: Mapping[str, str] | None = None,
    branch: str | None = None,
) -> str:
    """Commit the files `paths` as they lie in the work tree, and the commits of the submodules `links` (path to full
    id), on top of HEAD; the id of the new commit. Every other change stays as it was, staged or not.

    It is `git commit --only` (git-commit(1)), which would take a submodule's commit from its checkout: hooks see an
    index of HEAD and these changes, what they add to it is committed, and the index keeps what was there for
    these paths before the hooks ran. With `branch` the commit is the first of that new branch, which is checked out.

    Raises ExternalError, with HEAD, branch and index as before, where a hook or a signing program refuses, nothing
    would change, or as `demand`. After ^C they are as before, too, or, where it came after the commit, its own.
    """
    repository, entries = _committable(root, paths, links or {}, branch)
    before = git.head(root)
    with repository.on(branch, before), repository.lock(before) as lock, repository.scratch(lock, before) as scratch:
        for index in (lock, scratch):
            repository.add(index, entries.files)
            repository.stage(index, entries.links)
        unchanged = ("diff-index", "--cached", "--quiet", "--ignore-submodules=none", before or "")
        if before and repository.says(*unchanged, index=scratch):
            raise ExternalError("there is nothing to commit: HEAD holds these changes already")
        repository.commit(scratch, message)
    return str(git.head(root))


class _Entries(NamedTuple):
    """What goes into an index, with names from the top of the work tree."""

    files: Sequence[str]
    links: Mapping[str, str]


class _Repository(NamedTuple):
    """A work tree, the way from its top to the given folder ("" or "a/b"), and its index file."""

    top: str
    below: str
    index_file: str

    @classmethod
    def of(cls, root: str) -> "_Repository":
        """The repository of the folder `root`. Raises ExternalError, also where git takes another folder for it."""
        top = toplevel(root)
        if top is None:
            raise ExternalError(f"{root} is not in the work tree of a git repository")
        below = os.path.relpath(os.path.realpath(root), top)
        index = os.fsdecode(call(top, "rev-parse", "--git-path", "index").stdout).removesuffix("\n")
        return cls(top, "" if below == "." else below, os.path.realpath(os.path.join(top, index)))

    def git(self, *args: str, index: str | None = None, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> Result:
        """`git ARGS` at the top as the person has set it up, but for its hooks; on the index file `index` if one is
        given."""
        argv = ["git", "--no-pager", *_NO_PROGRAMS, "-C", self.top, *args]
        env = self._environment(index)
        return process.run(argv, env=env, stdin=stdin, timeout=SECONDS, accept=accept, shown=["git", *args])

    def commit(self, index: str, message: str) -> None:
        """`git commit` of an index, with all that the person's git does then. Raises CommandFailed."""
        argv = ["git", "--no-pager", "-C", self.top, *_COMMIT]
        env, shown = self._environment(index), ["git", "commit"]
        try:
            process.run(argv, env=env, stdin=message.encode(), timeout=SECONDS, shown=shown)
        except CommandFailed as error:
            hint = "mend what it tells of; or run without --commit, and commit by hand"
            raise CommandFailed("failed", error.result, hint=hint, lines=_HOOK_LINES) from None

    def _environment(self, index: str | None) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or _PERSONAL.fullmatch(name)}
        env |= {"PATH": process.environment()["PATH"], "GIT_TERMINAL_PROMPT": "0"}
        return env | ({"GIT_INDEX_FILE": index} if index else {})

    def says(self, *args: str, index: str | None = None) -> bool:
        """Whether `git ARGS`, a question, is answered with yes."""
        return self.git(*args, index=index, accept=(0, 1)).code == 0

    def name(self, path: str) -> str:
        """`path` from the top of the work tree. Raises ExternalError."""
        try:
            return "/".join([*filter(None, [self.below]), *files.components(path)])
        except files.Unreadable as error:
            raise ExternalError(f"{path} {error.reason}") from None

    def entries(self, paths: Sequence[str], links: Mapping[str, str]) -> _Entries:
        """Files and gitlinks as they go into an index. Raises ExternalError for what cannot."""
        entries = _Entries([*map(self.name, paths)], {self.name(path): commit for path, commit in links.items()})
        tracked = {entry.path: entry for entry in git.index(self.top, [*entries.links])} if links else {}
        for path, commit in entries.links.items():
            if path not in tracked or tracked[path].mode != _GITLINK or tracked[path].conflict:
                raise ExternalError(f"{path} is no submodule in git's index")
            if not _ID.fullmatch(commit):
                raise ExternalError(f"{commit!r} is not the full id of a commit")
        for name in self._left_alone(entries.files):
            hint = f"git update-index --no-skip-worktree --no-assume-unchanged {shlex.quote(name)}"
            raise ExternalError(f"git is told not to look at {name} (git-update-index(1))", hint=hint)
        return entries

    def _left_alone(self, names: Sequence[str]) -> list[str]:
        """Those of `names` whose files git would not look at (git-ls-files(1), -v)."""
        told = call(self.top, "ls-files", "-v", "-z", "--", *names).stdout if names else b""
        return [line[2:] for line in os.fsdecode(told).split("\0") if line[:1] == "S" or line[:1].islower()]

    def refuse_elsewhere(self) -> None:
        """Raises ExternalError where the person's git takes another folder for the work tree."""
        seen = os.fsdecode(self.git("rev-parse", "--show-toplevel").stdout).removesuffix("\n")
        if os.path.realpath(seen) != self.top:
            hint = "look for core.worktree in its configuration"
            raise ExternalError(f"git takes {seen} for the work tree of {self.top}", hint=hint)

    def refuse_nobody(self) -> None:
        """Raises ExternalError where git does not know whose commit it would be."""
        for name in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            if self.git("var", name, accept=(0, 128)).code:
                hint = "git config user.name NAME; git config user.email ADDRESS"
                raise ExternalError("git does not know who you are, and makes no commit of nobody's", hint=hint)

    def refuse_unfinished(self) -> None:
        """Raises ExternalError in the middle of a merge, a rebase and the like."""
        folder = os.path.dirname(self.index_file)
        found = [what for name, what in _UNFINISHED.items() if os.path.lexists(os.path.join(folder, name))]
        if not found and call(self.top, "ls-files", "--unmerged").stdout:
            found = ["a merge"]
        if found:
            hint = "finish or abort it, and run this again"
            raise ExternalError(f"{found[0]} is under way in {self.top}", hint=hint)

    @property
    def lock_file(self) -> str:
        return f"{self.index_file}.lock"

    def refuse_locked(self) -> None:
        """Raises ExternalError where the index is locked."""
        if os.path.lexists(self.lock_file):
            raise self._locked()

    def _locked(self) -> ExternalError:
        folder = os.path.dirname(self.index_file)
        ours = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(_SCRATCH))
        hint = f"wait for it; if no git is running, remove {self.lock_file}"
        if ours:
            remove = shlex.join(["rm", "-r", self.lock_file, *ours])
            hint = f"a pinctl that was killed may have left it; if no git and no pinctl is running: {remove}"
        return ExternalError(f"another git process holds the index of {self.top}", hint=hint)

    @contextmanager
    def lock(self, commit: str | None) -> Iterator[str]:
        """The lock of the index: a copy of it to change, which becomes the index in the end. After a failure it does
        only where HEAD has left `commit`: ^C may come while the post-commit hook runs.

        Raises ExternalError where another process holds it.
        """
        lock = self.lock_file
        try:
            os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            raise self._locked() from None
        except OSError as error:
            raise ExternalError(f"{lock}: {error.strerror}") from error
        done = False
        try:
            if os.path.exists(self.index_file):
                shutil.copy2(self.index_file, lock)  # its time tells git which entries to doubt (racy-git.txt)
            else:
                self.git("read-tree", "--empty", index=lock)
            yield lock
            done = True
        finally:
            with suppress(FileNotFoundError):
                os.unlink(f"{lock}.lock")  # of a git that was killed
            try:
                done = done or git.head(self.top) != commit
            finally:
                # Once it has its place, the name of the lock may be another process's.
                os.replace(lock, self.index_file) if done else os.unlink(lock)

    @contextmanager
    def scratch(self, lock: str, commit: str | None) -> Iterator[str]:
        """An index of its own that holds what `commit` does; from the copy `lock`, which knows the unchanged files, so
        that git does not read them all again."""
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=os.path.dirname(self.index_file)) as folder:
            index = os.path.join(folder, "index")
            shutil.copy2(lock, index)
            self.git("read-tree", *(("-i", "-m", commit) if commit else ("--empty",)), index=index)
            yield index

    def stage(self, index: str, links: Mapping[str, str]) -> None:
        """Put gitlinks into an index file; no program runs."""
        words = [word for path, id_ in links.items() for word in ("--cacheinfo", f"{_GITLINK},{id_},{path}")]
        call(self.top, "update-index", "--add", *words, index=index)

    def add(self, index: str, names: Sequence[str]) -> None:
        """Put files into an index file as `git add` stores them, by the person's filters; take out those that are
        gone."""
        stdin = b"".join(os.fsencode(name) + b"\0" for name in names)
        self.git("update-index", "--add", "--remove", "-z", "--stdin", index=index, stdin=stdin)

    @contextmanager
    def on(self, branch: str | None, commit: str | None) -> Iterator[None]:
        """With the new branch checked out, made at `commit` (HEAD); taken back on a failure that left HEAD there.

        Raises ExternalError.
        """
        if not self.is_new(branch):
            yield
            return
        current = self._current()
        try:
            self.git("switch", "--quiet", "--create", branch)
            yield
        except BaseException:
            if git.head(self.top) == commit:
                self._take_back(branch, current, commit)
            raise

    def _current(self) -> str:
        """The full name of the branch that is checked out; "" with a detached HEAD."""
        return self.git("symbolic-ref", "--quiet", "HEAD", accept=(0, 1)).stdout.decode().strip()

    def is_new(self, branch: str | None) -> TypeGuard[str]:
        """Whether `branch` is to be made: it is named, and not the current one."""
        return branch is not None and self._current() != f"refs/heads/{branch}"

    def refuse_branch(self, branch: str) -> None:
        """Raises ExternalError for a name that is none, is another branch's, or cannot stand beside one's."""
        ref = f"refs/heads/{branch}"
        if branch.startswith("-") or branch == "HEAD" or not self.says("check-ref-format", ref):
            raise ExternalError(f"{branch!r} is no name for a branch (git-check-ref-format(1))")
        if self.says("show-ref", "--verify", "--quiet", ref):
            hint = "choose another name, or switch to it first"
            raise ExternalError(f"the branch {branch} exists already", hint=hint)
        if commit := git.head(self.top):  # git-update-ref(1): what is prepared would succeed, such as a/b beside a
            self.git("update-ref", "--stdin", stdin=f"start\ncreate {ref} {commit}\nprepare\nabort\n".encode())

    def _take_back(self, branch: str, current: str, commit: str | None) -> None:
        """HEAD as it was, on `current` or else detached; neither files nor index are looked at."""
        if current:
            self.git("symbolic-ref", "HEAD", current)
        elif commit:
            self.git("update-ref", "--no-deref", "HEAD", commit)
        if commit and self.says("show-ref", "--verify", "--quiet", f"refs/heads/{branch}"):
            self.git("branch", "--quiet", "-D", branch)
