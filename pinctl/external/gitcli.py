"""How git is called: hardened against what a repository may hold, under one of two profiles.

*trusted*, the default at a person's terminal: their HOME and configuration serve to reach servers (insteadOf,
credential helpers, proxies, ssh). *untrusted*, for a stranger's pull request: no configuration but ours, no HOME,
no credentials, https alone. In both, nothing that a repository or a configuration names is run: no hooks, no
fsmonitor, no filters of LFS, no pager, no diff drivers. A local read is the same in both: it takes nothing from the
user and reaches no server, not even for the missing objects of a partial clone.

Only commands that read objects or the index are used, never `git status` or `git diff` of a work tree: those run
the filters that .gitattributes and the configuration name (gitattributes(5), "filter").
"""

import os
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.process import CommandFailed
from pinctl.policy import Policy
from pinctl.urls import check_url, redact

_BOTH = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.symlinks=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.autocrlf=false",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "transfer.bundleURI=false",
    "http.followRedirects=false",
    "filter.lfs.clean=",
    "filter.lfs.smudge=",
    "filter.lfs.process=",
    "filter.lfs.required=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_FIXED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_OFFLINE = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
# What serves to reach servers. git's other variables (GIT_DIR, GIT_INDEX_FILE, GIT_TRACE ...) never pass.
_TRANSPORT = (
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "HOME",
    "KRB5CCNAME",
    "LOGNAME",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)


class Profile(NamedTuple):
    """How far git may go. `transports` are the schemes that a declared URL may have, `protocols` those that git may
    use in the end (the user's insteadOf may lead from one to the other), `passed` the variables that git sees.
    `policy` limits the servers further; `timeout` is the seconds that one remote may take."""

    name: str
    transports: tuple[str, ...]
    protocols: tuple[str, ...]
    passed: tuple[str, ...]
    own_environment: tuple[tuple[str, str], ...] = ()
    own_config: tuple[str, ...] = ()
    policy: Policy | None = None
    timeout: float = 900.0

    def environment(self, *, network: bool = False) -> dict[str, str]:
        """The whole environment of a git command; without `network` it can reach no server.

        GIT_ALLOW_PROTOCOL is always set: one inherited would beat every `-c protocol.*` (git(1)).
        """
        passed = (*self.passed, *_numbered_config()) if "GIT_CONFIG_GLOBAL" in self.passed else self.passed
        reach = {"GIT_ALLOW_PROTOCOL": ":".join(self.protocols)} if network else _OFFLINE
        return process.environment(passed, **{**_FIXED, **dict(self.own_environment), **reach})

    def config(self) -> list[str]:
        """The `-c` options of every git command."""
        return [word for setting in (*_BOTH, *self.own_config) for word in ("-c", setting)]


def _numbered_config() -> list[str]:
    """The variables by which CI hands settings to git (git-config(1), GIT_CONFIG_COUNT)."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    numbers = range(min(int(count), 1000)) if count.isdecimal() else range(0)
    return ["GIT_CONFIG_COUNT", *(f"GIT_CONFIG_{part}_{n}" for n in numbers for part in ("KEY", "VALUE"))]


TRUSTED = Profile("trusted", ("https", "ssh"), ("https", "ssh", "git", "http", "file"), _TRANSPORT)
UNTRUSTED = Profile(
    "untrusted",
    ("https",),
    ("https",),
    ("SSL_CERT_DIR", "SSL_CERT_FILE", "SUDO_UID", "TMPDIR"),
    (("HOME", os.devnull), ("GIT_CONFIG_GLOBAL", os.devnull), ("GIT_CONFIG_NOSYSTEM", "1")),
    ("credential.helper=",),
)


def safe_url(url: str, profile: Profile, *, allow: Sequence[str] = ()) -> str:
    """`url` itself, if it may be handed to git under `profile`; `allow` adds schemes. Raises ExternalError."""
    reason = check_url(url, transports=(*profile.transports, *allow))
    if reason := reason or (profile.policy.refusal(url) if profile.policy else None):
        raise ExternalError(f"refused to use the URL {redact(url)!r}: {reason}")
    return url


def toplevel(path: str) -> str | None:
    """The work tree that holds the folder `path`, found upwards by its `.git`; None outside one, and in a bare one.

    No git is started. A linked work tree and a submodule have a file `.git` (gitrepository-layout(5)).
    """
    folder = os.path.realpath(path)
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isfile(marker) or os.path.lexists(os.path.join(marker, "HEAD")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def call(
    root: str, *args: str, stdin: bytes = b"", accept: Sequence[int] = (0,), index: str | None = None
) -> process.Result:
    """`git ARGS` in the folder `root` of a work tree, as a local read: offline, and without the user's configuration,
    which has nothing to say to it; on the index file `index` where one is named.

    git may not look for a repository above that work tree, nor take another folder for it (`core.worktree`), so it
    cannot be led astray. Raises ToolMissing,
    CommandFailed (with what a person can do, for the usual causes), ExternalError.
    """
    top = toplevel(root)
    if top is None:
        raise ExternalError(f"{root} is not in the work tree of a git repository")
    env = {**UNTRUSTED.environment(), "GIT_CEILING_DIRECTORIES": os.path.dirname(top)}
    env |= {"GIT_INDEX_FILE": index} if index else {}
    argv = ["git", "--no-pager", *UNTRUSTED.config(), *_ownership(top), f"--work-tree={top}", "-C", root, *args]
    try:
        return process.run(argv, env=env, stdin=stdin, accept=accept, shown=["git", "-C", root, *args])
    except CommandFailed as error:
        if hint := _hint(error.result.stderr, top):
            raise CommandFailed("failed", error.result, hint=hint) from None
        raise


@cache
def _ownership(top: str) -> tuple[str, ...]:
    """The option that lets git read a work tree of another user, if our user's configuration trusts that one.

    Such a work tree is the rule in CI containers. `safe.directory` is the one setting that a local read takes from the
    user, since it says nothing about what runs; asked only where git would refuse (git-config(1)).
    """
    owners = {os.lstat(path).st_uid for path in (top, os.path.join(top, ".git"))}
    if owners == {os.geteuid()}:
        return ()
    asked = ["git", "config", "--get-all", "safe.directory"]
    done = process.run(asked, cwd="/", env=TRUSTED.environment(), accept=(0, 1))
    return ("-c", f"safe.directory={top}") if {"*", top} & set(os.fsdecode(done.stdout).splitlines()) else ()


def _hint(stderr: bytes, top: str) -> str | None:
    """What mends a failure of git, for those that say nothing to who meets them first."""
    if b"dubious ownership" in stderr:
        return f"another user owns this repository; if you trust it: git config --global --add safe.directory {top}"
    if b"promisor" in stderr or b"transport 'none' not allowed" in stderr:
        return "this is a partial clone; fetch the objects it lacks: git fetch --refetch --no-filter"
    if b"not a git repository" in stderr:
        return f"the .git in {top} is not complete"
    return None
