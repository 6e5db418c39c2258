"""An index on a branch of a git repository, such as the one of GitHub Pages: one commit a publication, never forced.

The branch is fetched without its history and without its files: of what is there only the records are read, and every
wheel that stays is named by its id. Where another was first, the server refuses the push, since it would lose theirs;
then the index is made anew of the records that are there now. The checkout of who publishes is not touched.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import sleep
from typing import NamedTuple
from urllib.parse import urlsplit

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import files, index_tree, process
from pinctl.external.gitcli import Profile, safe_url
from pinctl.external.index_tree import Hosted
from pinctl.external.process import CommandFailed, Result
from pinctl.external.publish_shelf import fresh
from pinctl.external.remote import PAUSES, Unreachable
from pinctl.index import records
from pinctl.index.layout import FILES
from pinctl.urls import redact

_WHO = tuple(f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE"))
_TOKEN = "GH_TOKEN"  # noqa: S105 - the name of a variable
_LOGIN = '!f() { echo username=x-access-token; echo "password=$GH_TOKEN"; }; f'
"""A credential helper that gives the token of the environment, which so stands in no argument and in no file."""


class _Entry(NamedTuple):
    """A file of the branch."""

    mode: str
    id: str


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it was fetched into a repository of ours, for the time of one publication; `tip` "" where there is
    none yet."""

    git: "_Git"
    url: str
    name: str
    tip: str
    entries: Mapping[str, _Entry]
    message: str

    @property
    def records(self) -> bytes | None:
        entry = self.entries.get(records.FILE)
        return self.git.asked("cat-file", "blob", entry.id) if entry else None

    @property
    def filled(self) -> bool:
        return index_tree.MARK in self.entries

    def has(self, path: str) -> bool:
        """As `Shelf.has`."""
        return path in self.entries

    def put(self, pages: Mapping[str, bytes], hosted: Sequence[Hosted]) -> bool:
        """As `Shelf.put`. What lies on the branch and is none of the index's stays, and is never overwritten."""
        kept = self._strangers()
        with tempfile.TemporaryDirectory(prefix="pinctl-") as base:
            site = os.path.join(base, "site")
            index_tree.write(site, pages, fresh(hosted))
            made = self._blobs(site, hosted)
        for path in made:
            if path in kept or any(parent in kept for parent in _parents(path)):
                hint = "give the index a branch of its own"
                raise WriteRefused(f"{path} on {self.name} is not of the index, and would be lost", hint=hint)
        tree = self._tree({**kept, **made})
        if self.tip and tree == self.git("rev-parse", f"{self.tip}^{{tree}}").stdout.decode().strip():
            return True
        return self._pushed(self._commit(tree))

    def _strangers(self) -> dict[str, _Entry]:
        mark, ours = self.entries.get(index_tree.MARK), {index_tree.MARK}
        if mark:
            try:
                ours |= set(json.loads(self.git.asked("cat-file", "blob", mark.id))["top"])
            except (ValueError, KeyError, TypeError) as error:
                raise WriteRefused(f"{index_tree.MARK} on {self.name} was not written here: {error}") from error
        return {path: entry for path, entry in self.entries.items() if path.partition("/")[0] not in ours}

    def _blobs(self, site: str, hosted: Sequence[Hosted]) -> dict[str, _Entry]:
        """The files of the new index: those that were made in the folder `site`, and those that stay."""
        stay = [one.path for one in hosted if one.source is None and one.body is None]
        if missing := [path for path in stay if path not in self.entries]:
            raise ExternalError(f"{missing[0]} is not on {self.name} any more", hint="publish the file again")
        if stay:
            _mark(site, FILES)
        paths = files.walk(site)
        listed = "".join(f"{os.path.join(site, path)}\n" for path in paths).encode()
        ids = self.git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed).stdout.decode().split()
        made = {path: _Entry("100644", id_) for path, id_ in zip(paths, ids, strict=True)}
        return {**{path: self.entries[path] for path in stay}, **made}

    def _tree(self, entries: Mapping[str, _Entry]) -> str:
        lines = "".join(f"{entry.mode} {entry.id}\t{path}\0" for path, entry in sorted(entries.items()))
        self.git("read-tree", "--empty")
        self.git("update-index", "-z", "--add", "--index-info", stdin=lines.encode("utf-8", "surrogateescape"))
        return self.git("write-tree", "--missing-ok").stdout.decode().strip()

    def _commit(self, tree: str) -> str:
        parent = ("-p", self.tip) if self.tip else ()
        if self.git("var", "GIT_COMMITTER_IDENT", accept=(0, 128)).code:
            hint = "set GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL and those of the committer; or git config user.name"
            raise ExternalError("git does not know who publishes, and makes no commit of nobody's", hint=hint)
        return self.git("commit-tree", tree, *parent, "-m", self.message).stdout.decode().strip()

    def _pushed(self, commit: str) -> bool:
        """Push `commit`; False where another came first. What the server has afterwards tells, rather than its words:
        a push may have arrived though the answer did not."""
        for pause in (*PAUSES, None):
            try:
                self.git("push", "--quiet", self.url, f"{commit}:refs/heads/{self.name}", network=True)
                return True
            except CommandFailed as error:
                now = _tip(self.git, self.url, self.name)
                if now != self.tip:
                    return now == commit
                if pause is None:
                    raise _failed(error, self.url) from None
                sleep(pause)  # another may hold the ref, and not have moved it yet
        raise AssertionError  # the last try returns or raises


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _mark(site: str, name: str) -> None:
    """Let the mark in `site` name the folder `name` too, whose files are on the branch alone."""
    path = os.path.join(site, index_tree.MARK)
    with open(path, encoding="utf-8") as file:
        said = json.load(file)
    said["top"] = sorted({*said["top"], name})
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")


class _Git(NamedTuple):
    """git in a bare repository of ours."""

    folder: str
    profile: Profile
    url: str

    def __call__(self, *args: str, stdin: bytes = b"", network: bool = False, accept: Sequence[int] = (0,)) -> Result:
        """Raises CommandFailed, ExternalError."""
        env = self.profile.environment(network=network)
        env |= {name: os.environ[name] for name in _WHO if name in os.environ}
        argv = ["git", "--no-pager", *self.profile.config(), f"--git-dir={self.folder}"]
        if network and _TOKEN in os.environ and urlsplit(self.url).netloc == "github.com":
            env[_TOKEN] = os.environ[_TOKEN]
            argv += [
                "-c",
                "credential.https://github.com.helper=",
                "-c",
                f"credential.https://github.com.helper={_LOGIN}",
            ]
        timeout = self.profile.timeout if network else process.TIMEOUT
        return process.run([*argv, *args], cwd=self.folder, env=env, stdin=stdin, timeout=timeout, accept=accept,
                           shown=["git", *map(redact, args)])  # fmt: skip

    def asked(self, *args: str) -> bytes:
        """What git prints that asks the server and changes nothing there, which may so be tried again. Raises
        Unreachable, ExternalError."""
        for pause in (*PAUSES, None):
            try:
                return self(*args, network=True).stdout
            except CommandFailed as error:
                if pause is None:
                    raise _failed(error, self.url) from None
                sleep(pause)
        raise AssertionError  # the last try returns or raises


@contextmanager
def branch(url: str, name: str, profile: Profile, message: str) -> Iterator[Branch]:
    """The branch `name` of the repository at `url`, as it is now; `message` is that of the commit. Raises Unreachable,
    ExternalError."""
    safe_url(url, profile)
    with tempfile.TemporaryDirectory(prefix="pinctl-") as folder:
        process.run(["git", "init", "--quiet", "--bare", f"--template={os.devnull}", folder], cwd="/",
                    env=profile.environment())  # fmt: skip
        git = _Git(folder, profile, url)
        tip = _tip(git, url, name)
        if tip:
            git("config", "extensions.partialClone", "origin")
            git("config", "remote.origin.url", url)
            git("config", "remote.origin.promisor", "true")
            tip = _fetched(git, f"refs/heads/{name}")
        yield Branch(git, url, name, tip, _entries(git, tip) if tip else {}, message)


def _tip(git: _Git, url: str, name: str) -> str:
    """The commit of the branch; "" where there is none."""
    said = git.asked("ls-remote", "--quiet", url, f"refs/heads/{name}").decode("utf-8", "replace")
    return next((line.split("\t")[0] for line in said.splitlines() if line.endswith(f"\trefs/heads/{name}")), "")


def _fetched(git: _Git, ref: str) -> str:
    """The commit of the branch, fetched."""
    git.asked("fetch", "--quiet", "--depth=1", "--no-tags", "--filter=blob:none", "origin", f"+{ref}:{ref}")
    return git("rev-parse", "--verify", ref).stdout.decode().strip()


def _entries(git: _Git, tip: str) -> dict[str, _Entry]:
    listed = git("ls-tree", "-r", "-z", "--full-tree", tip).stdout.decode("utf-8", "surrogateescape")
    found = {}
    for line in filter(None, listed.split("\0")):
        about, _, path = line.partition("\t")
        mode, _, id_ = about.split()
        found[path] = _Entry(mode, id_)
    return found


def _failed(error: CommandFailed, url: str) -> Unreachable:
    said = error.result.stderr.decode("utf-8", "replace").strip().splitlines() or ["git says nothing"]
    told = next((line for line in said if "rejected" in line or "fatal" in line or "denied" in line), said[-1])
    line = "".join(c for c in redact(told) if c.isprintable())[:200]
    return Unreachable(f"{redact(url)} did not take part: {line}", hint="may this login push there?")
