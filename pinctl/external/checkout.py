"""A work tree made from the cache: a repository of its own, with its submodules as git keeps them.

It is made in a folder beside its place and renamed into it when it is whole and proven, so that a run that ends at any
moment leaves the old one, or none. What was made is written down inside; a folder that holds anything else, or that a
person has changed, is not touched. git is run in it only while its configuration is the one written here.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import bare, objects, process, scratch
from pinctl.external.gitcli import UNTRUSTED, Profile
from pinctl.external.locks import alone
from pinctl.external.process import CommandFailed, ToolMissing
from pinctl.external.source import Part
from pinctl.external.store import Store
from pinctl.plan import digest
from pinctl.urls import redact

_MARKER = "pinctl.json"
_SCHEMA = 1
_SHA256 = 64  # digits of an id


class Patch(NamedTuple):
    """A patch to apply: its file as a person names it, and its bytes."""

    file: str
    content: bytes


class Wish(NamedTuple):
    """What a folder is to hold."""

    parts: Sequence[Part]
    patches: Sequence[Patch] = ()
    lfs: bool = False

    def marker(self) -> str:
        """What is written down of it, by which it is known again."""
        parts = [list(part) for part in self.parts]
        patches = [digest(patch.content) for patch in self.patches]
        return json.dumps({"schema": _SCHEMA, "parts": parts, "patches": patches, "lfs": self.lfs}, indent=1) + "\n"


def place(wish: Wish, folder: str, profile: Profile) -> bool:
    """Have `wish` in `folder`; whether anything had to be done. Everything it needs is in the cache.

    Raises WriteRefused where the folder holds what was not made here or was changed since, ExternalError.
    """
    folder = os.path.realpath(folder)
    with _held(folder):
        if _stands(wish, folder):
            return False
        with scratch.folder(os.path.dirname(folder), _prefix(folder)) as temporary:
            made = os.path.join(temporary, "new")
            os.mkdir(made)
            _make(wish, made, profile)
            _put(made, folder, temporary)
    return True


@contextmanager
def _held(folder: str) -> Iterator[None]:
    """The folder is ours for this time; what a killed run left beside it is removed."""
    locks = bare.parent()
    with alone(os.path.join(locks, f"{digest(os.fsencode(folder))}.place")):
        parent, prefix = os.path.dirname(folder), _prefix(folder)
        for name in os.listdir(parent) if os.path.isdir(parent) else ():
            if name.startswith(prefix):
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
        yield


def _prefix(folder: str) -> str:
    return f".{os.path.basename(folder)}.pinctl-"


def _put(made: str, folder: str, temporary: str) -> None:
    """Rename what is made into its place; what stood there goes."""
    try:
        if os.path.lexists(os.path.join(folder, ".git")):
            os.rename(folder, os.path.join(temporary, "old"))
        os.rename(made, folder)
    except OSError as error:
        raise ExternalError(f"{folder}: {error.strerror}") from error


# Is it there already?


def _stands(wish: Wish, folder: str) -> bool:
    """Whether the folder holds `wish`. Raises WriteRefused where it holds what may not be replaced."""
    if not os.path.lexists(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        return False
    before = _text(os.path.join(folder, ".git", _MARKER))
    if before is None:
        raise WriteRefused(f"{folder} was not made by pinctl fetch", hint="choose another folder with --to")
    parts = _parts_of(before)
    if not all(_is_ours(folder, part) for part in parts):
        raise WriteRefused(f"{folder} has another git configuration than it was made with", hint=_hint(folder))
    same = before == wish.marker()
    for part in parts:
        if _differs(folder, part):
            raise WriteRefused(f"files in {os.path.join(folder, part.path)} were changed", hint=_hint(folder))
        if not same and _others(folder, part):
            raise WriteRefused(f"{os.path.join(folder, part.path)} holds files that are not the pin's",
                               hint=_hint(folder))  # fmt: skip
    return same


def _hint(folder: str) -> str:
    return f"keep what you need of it, then remove {folder}, or choose another with --to"


def _parts_of(marker: str) -> list[Part]:
    """The parts that a marker names."""
    try:
        return [
            Part(path, url, commit, tuple((name, address) for name, address in modules))
            for path, url, commit, modules in json.loads(marker)["parts"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise WriteRefused("the folder's .git/pinctl.json is not pinctl's") from error


def _is_ours(folder: str, part: Part) -> bool:
    return _text(os.path.join(_git_dir(folder, part), "config")) == _config(part)


def _differs(folder: str, part: Part) -> bool:
    """Whether HEAD, the index or a file is another than it was made; a submodule with another HEAD counts, too."""
    if _text(os.path.join(_git_dir(folder, part), "HEAD")) != f"{part.commit}\n":
        return True
    done = _git(folder, part, "diff-files", "--quiet", "--ignore-submodules=dirty", accept=(0, 1))
    return done.code != 0


def _others(folder: str, part: Part) -> bool:
    return bool(_git(folder, part, "ls-files", "-z", "--others", "--directory", "--no-empty-directory").stdout)


def _text(path: str) -> str | None:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


# Making it.


def _make(wish: Wish, folder: str, profile: Profile) -> None:
    for part in wish.parts:
        _make_part(folder, part, profile)
    if wish.lfs:
        for part in wish.parts:
            _pull_lfs(folder, part, profile)
    for part in wish.parts:
        if _differs(folder, part):
            raise ExternalError(f"the checkout of {redact(part.url)} is not what its commit says", hint="run it again")
    for patch in wish.patches:
        _apply(folder, wish.parts[0], patch)
    _write(os.path.join(folder, ".git", _MARKER), wish.marker())


def _make_part(folder: str, part: Part, profile: Profile) -> None:
    git_dir, work_tree = _git_dir(folder, part), os.path.join(folder, part.path)
    os.makedirs(os.path.join(git_dir, "objects", "pack"))
    os.mkdir(os.path.join(git_dir, "refs"))
    with Store.open(part.url, profile=profile, offline=True) as store:
        objects.pack(store.folder, part.commit, os.path.join(git_dir, "objects", "pack", "pack"))
    _write(os.path.join(git_dir, "HEAD"), f"{part.commit}\n")
    _write(os.path.join(git_dir, "shallow"), f"{part.commit}\n")
    _write(os.path.join(git_dir, "config"), _config(part))
    if part.path:
        _write(os.path.join(work_tree, ".git"), f"gitdir: {os.path.relpath(git_dir, work_tree)}\n")
    _git(folder, part, "read-tree", "--reset", "-u", part.commit)


def _git_dir(folder: str, part: Part) -> str:
    return os.path.join(folder, _git_dir_name(part))


def _git_dir_name(part: Part) -> str:
    """Where git keeps a part, from the root: submodules by their paths, since their names are a stranger's choice."""
    return f".git/modules/{part.path.replace('%', '%25').replace('/', '%2F')}" if part.path else ".git"


def _config(part: Part) -> str:
    """The whole configuration of a part."""
    sha256 = len(part.commit) == _SHA256
    lines = ["[core]", f"repositoryformatversion = {int(sha256)}", "bare = false"]
    if part.path:
        lines += [f"worktree = {_quoted(os.path.relpath(part.path, _git_dir_name(part)))}"]
    if sha256:
        lines += ["[extensions]", "objectFormat = sha256"]
    lines += ['[remote "origin"]', f"url = {_quoted(part.url)}", "fetch = +refs/heads/*:refs/remotes/origin/*"]
    for name, url in part.modules:
        lines += [f"[submodule {_quoted(name)}]", "active = true", f"url = {_quoted(url)}"]
    return "".join(f"{line}\n" if line.startswith("[") else f"\t{line}\n" for line in lines)


def _quoted(text: str) -> str:
    """As git-config(1) reads it back; no line ends come here."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _git(folder: str, part: Part, *args: str, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> process.Result:
    """git in a part, offline and without the user's configuration; symbolic links are made as such."""
    work_tree = os.path.join(folder, part.path)
    git_dir = _git_dir(folder, part)
    argv = ["git", "--no-pager", *UNTRUSTED.config(), "-c", "core.symlinks=true", f"--git-dir={git_dir}",
            f"--work-tree={work_tree}", *args]  # fmt: skip
    env = UNTRUSTED.environment()
    return process.run(argv, cwd=work_tree, env=env, stdin=stdin, accept=accept, shown=["git", *args])


def _pull_lfs(folder: str, part: Part, profile: Profile) -> None:
    """Put the files of git-lfs in the place of their pointers. Raises ToolMissing, CommandFailed."""
    work_tree = os.path.join(folder, part.path)
    env = {**profile.environment(network=True), "GIT_LFS_SKIP_SMUDGE": "0"}
    argv = ["git", *profile.config(), "-C", work_tree, "lfs", "pull", "origin"]
    try:
        process.run(argv, cwd=work_tree, env=env, timeout=profile.timeout, shown=["git", "lfs", "pull", "origin"])
    except CommandFailed as error:
        if b"is not a git command" in error.result.stderr:
            message = "git-lfs is not installed, and the pin says `lfs = true`"
            raise ToolMissing(message, hint="install git-lfs") from None
        raise


def _apply(folder: str, root: Part, patch: Patch) -> None:
    """Apply one patch to the files and the index; one that the source holds already is left at that. Raises
    WriteRefused where it does not fit or makes odd things."""
    try:
        summary = _git(folder, root, "apply", "--numstat", "--summary", stdin=patch.content).stdout
        if odd := [line for line in summary.split(b"\n") if b"mode 12" in line or b"mode 16" in line]:
            what = odd[0].decode("utf-8", "replace").strip()
            raise WriteRefused(f"{patch.file} makes a symbolic link or a submodule: {what[:120]}")
        _git(folder, root, "apply", "--index", stdin=patch.content)
    except CommandFailed as error:
        back = ("apply", "--check", "--reverse", "--index")
        if _git(folder, root, *back, stdin=patch.content, accept=(0, 1, 128)).code == 0:
            return
        said = error.result.stderr.decode("utf-8", "replace").strip().splitlines()
        line = "".join(c for c in redact(said[0]) if c.isprintable()) if said else "git apply fails"
        raise WriteRefused(
            f"{patch.file} does not apply: {line[:300]}", hint="rebase it: pinctl patch refresh PIN"
        ) from None
    done = _git(folder, root, "diff-index", "--cached", "--quiet", root.commit, accept=(0, 1))
    if done.code == 0:
        raise WriteRefused(f"{patch.file} changes nothing")


def _write(path: str, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o666), "w", encoding="utf-8") as file:
        file.write(text)
