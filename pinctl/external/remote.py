"""git where it asks a server: with a time limit, with retries where the network failed, and with its failures told
apart by what git and servers say (LC_ALL is C.UTF-8, so git's own words are English)."""

import re
from collections.abc import Sequence
from time import monotonic, sleep
from typing import ClassVar, NoReturn

from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.gitcli import Profile
from pinctl.external.process import CommandFailed
from pinctl.urls import redact

ASK_SECONDS = 60.0
"""Seconds that a server may take to list its refs."""
PAUSES = (0.5, 2.0)
"""Seconds before the second and the third try."""

# The user's settings serve to reach servers; what they say of fetching would change what lands in the cache.
_SETTINGS = (
    "core.bigFileThreshold=16m",  # larger blobs are checked piece by piece, not in memory
    "core.logAllRefUpdates=false",
    "fetch.fsckObjects=true",
    "fetch.prune=false",
    "fetch.pruneTags=false",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "pack.threads=2",
)

_PROMISED = ("promisor", "partialCloneFilter")
_PROMISE = {"PINCTL_PROMISOR": "true", "PINCTL_FILTER": "blob:none"}  # the filter where none is given: git keeps one

# Patterns are compiled where git has failed: that takes longer than to load the rest.
_GONE = r"not our ref ([0-9a-f]{40,64})|couldn't find remote ref (\S+)|no such remote ref (\S+)"
_REFUSED = {
    "ids": r"does not allow request for unadvertised object",
    "filter": r"filter '[^']*' not supported|invalid filter-spec|expected 'tree:|filter .*not allowed",
    "depth": r"does not support (?:shallow|--depth)|does not support .*shallow capabilities",
    "format": r"mismatched algorithms|unknown object format",
}
_FULL = r"No space left on device|Disk quota exceeded|File too large"
_STOPPED = "invalid index-pack output"  # alone: it was ended, as by the limit on the size of a file
_HOSTILE = r"fsck error|unknown object type|hasDot|gitmodules[A-Z]\w+:"
_DENIED = (
    r"Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied"
    r"|returned error: 40[134]|Repository not found|repository '.*' not found|not exported|Host key verification failed"
    r"|does not appear to be a git repository|'.*' not allowed|error: 30[1-8]|unable to update url base"
    r"|certificate|repository not found"
)
_CLOSED = "Could not read from remote repository"  # what the program that connects says stands above it, if anything
_BOILERPLATE = ("Please make sure you have the correct access rights", "and the repository exists.")
_NETWORK = (
    r"(?i)could ?n.t resolve|failed to connect|unable to connect|connection (?:refused|reset|closed)|timed out"
    r"|early eof|unexpected disconnect|hung up unexpectedly|rpc failed|returned error: (?:5\d\d|429)|too slow"
    r"|transfer closed|gnutls|ssl_|empty reply|recv failure|send failure|kex_exchange|ssh: connect|unreachable"
    r"|no route to host|temporary failure|unable to look up|protocol error|bad line length|unable to access"
)


class Unreachable(ExternalError):
    """A server could not be asked. `transient`: it may answer the next time."""

    code: ClassVar[str] = "PIN802"

    def __init__(self, message: str, *, hint: str | None = None, transient: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.transient = transient


class Gone(ExternalError):
    """The server does not have what was asked for: `wanted` is the id or the ref."""

    exit_code: ClassVar[int] = 1

    def __init__(self, url: str, wanted: str, how: str = "") -> None:
        super().__init__(f"{redact(url)} does not have {wanted}{how}")
        self.wanted = wanted


class Hostile(ExternalError):
    """What a server sent, or what a tree holds, may not be used."""

    exit_code: ClassVar[int] = 1


class Refused(Exception):
    """The server takes no filters, no ids, no depth, or has another object format: `what`."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Damaged(ExternalError):
    """git failed for a reason that is not known to be the server's or the disk's: our own repository may be broken."""

    code: ClassVar[str] = "PIN802"


def ask(folder: str, profile: Profile, url: str, args: Sequence[str], *, stdin: bytes = b"", wait: float) -> bytes:
    """What `git ARGS` prints, which asks the server of `url` from the repository `folder`.

    `wait` is the seconds for all tries together. Raises Unreachable, Gone, Hostile, Refused, Damaged, ExternalError.
    """
    argv = ["git", "--no-pager", *profile.config(), *_options(url), f"--git-dir={folder}", *args]
    env = {**profile.environment(network=True), "GIT_NO_LAZY_FETCH": "1", **_PROMISE}
    end = monotonic() + wait
    for pause in (*PAUSES, None):
        left = max(end - monotonic(), 0.0)
        try:
            done = process.run(argv, cwd=folder, env=env, stdin=stdin, timeout=left, shown=["git", *args])
        except CommandFailed as error:
            try:
                _judge(error, url, timed_out=monotonic() >= end, wait=wait)
            except Unreachable as failure:
                if not failure.transient or pause is None or monotonic() + pause >= end:
                    raise
                sleep(pause)
        else:
            return done.stdout
    raise AssertionError  # the last try returns or raises


def _options(url: str) -> list[str]:
    """Our settings, and that `url` promises what it leaves out (partial-clone(7)). The values of the latter come by
    variables, since `-c` would part a key at an `=` of the URL (git(1), --config-env)."""
    promise = [f"--config-env=remote.{url}.{key}={variable}" for key, variable in zip(_PROMISED, _PROMISE, strict=True)]
    return [*promise, *(word for setting in _SETTINGS for word in ("-c", setting))]


def _judge(error: CommandFailed, url: str, *, timed_out: bool, wait: float) -> NoReturn:
    """Raise what a failure of git means."""
    said = error.result.stderr.decode("utf-8", "replace")
    shown = redact(url)
    if timed_out:
        raise Unreachable(f"{shown} did not answer within {wait:g} s", hint="a policy file may set `timeout`") from None
    if match := re.search(_GONE, said):
        raise Gone(url, next(filter(None, match.groups()))) from None
    for what, pattern in _REFUSED.items():
        if re.search(pattern, said):
            raise Refused(what) from None
    if re.search(_FULL, said):
        message = f"the cache cannot take what {shown} sends: {_line(said, _FULL)}"
        raise ExternalError(message, hint="free space") from None
    if re.search(_HOSTILE, said):
        raise Hostile(f"{shown} sends objects that git refuses: {_line(said, _HOSTILE)}") from None
    _judge_way(said, shown)
    if _STOPPED in said:
        limit = process.LARGEST_FILE >> 20
        raise ExternalError(f"the cache cannot take what {shown} sends: more than {limit} MiB at once") from None
    raise Damaged(str(error)) from None


def _judge_way(said: str, shown: str) -> None:
    """Raise Unreachable where the server refused us, or was not reached."""
    if re.search(_DENIED, said):
        raise Unreachable(f"{shown} refuses us: {_line(said, _DENIED)}", hint=_advice(said)) from None
    if re.search(_NETWORK, said):
        raise Unreachable(f"cannot reach {shown}: {_line(said, _NETWORK)}", transient=True) from None
    if _CLOSED in said:
        raise Unreachable(f"cannot reach {shown}: {_last_words(said)}", hint=_advice(said)) from None


def _advice(said: str) -> str:
    """What a person can do about a refusal."""
    if "error: 30" in said or "url base" in said:
        return "the repository has moved; redirects are not followed, so put its new URL into pins.toml"
    if "' not allowed" in said:
        return "--allow-transport allows a transport"
    if "certificate" in said:
        return "the policy file's `ca`, or git's http.sslCAInfo, names your company's certificates"
    return "check the URL, and that git has credentials for it: git ls-remote URL"


def _last_words(said: str) -> str:
    """What the program that connects, such as ssh, said last."""
    lines = [line.strip() for line in said.split("\n")]
    words = [line for line in lines if line and _CLOSED not in line and line not in _BOILERPLATE]
    return _plain(words[-1]) if words else "the connection ended without a word"


def _line(said: str, pattern: str) -> str:
    """The line of git's that `pattern` was found in."""
    return _plain(next(line for line in said.split("\n") if re.search(pattern, line)))


def _plain(line: str) -> str:
    """A line without credentials or control characters."""
    return "".join(c for c in redact(line) if c.isprintable())[:500]
