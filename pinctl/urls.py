"""URLs of repositories and archives: is one safe to hand to git, and which repository does it name. Pure text work.

git reads three things in the place of a URL: `scheme://…`, ssh's short form `user@host:path`, and
`helper::address`, which starts a program (git-fetch(1), "GIT URLS"; gitremote-helpers(7)). The first two are
taken apart here once, for every check and comparison.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

LONGEST = 2048
"""Characters that a URL may have."""

_SCHEME = re.compile(r"(?s)([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)")
_SCP = re.compile(r"(?s)([^/:]+):(.*)")
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9A-Fa-f]*)")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_PATH = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!&'()*+,;=%{}-]*")  # RFC 3986, and {} for `{version}`
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")

_CASELESS = frozenset({"github.com", "gitlab.com"})
_SAME_HOST = {"www.github.com": "github.com", "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
_DEFAULT_PORTS = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}


class _Parts(NamedTuple):
    scheme: str
    user: str | None
    host: str
    port: str | None
    path: str


def _split(url: str) -> _Parts | None:
    """The parts of a URL or of ssh's short form; None for anything else, such as a local path."""
    if match := _SCHEME.fullmatch(url):
        scheme, authority, path = match.groups()
        user, at, address = authority.rpartition("@")
        host, colon, port = address.partition(":")
        return _Parts(scheme, user if at else None, host, port if colon else None, path)
    if match := _SCP.fullmatch(url):
        user, at, host = match[1].rpartition("@")
        return _Parts("ssh", user if at else None, host, None, match[2])
    return None


def check_url(url: str, *, transports: Sequence[str] = ("https", "ssh")) -> str | None:
    """Why `url` may not be handed to git or a downloader, as a clause such as "it holds a `$`"; None if it may.

    The clause never repeats what may be a secret. `transports` are the schemes allowed; ssh's short form counts
    as `ssh`.
    """
    if reason := _odd_text(url):
        return reason
    parts = _split(url)
    if parts is None:
        return f"it is no URL; {' and '.join(transports)} URLs are taken"
    if parts.scheme not in transports:
        return f"its transport is `{parts.scheme}`; {' and '.join(transports)} may be used"
    return _odd_user(parts) or _odd_host(parts) or _odd_path(parts.path)


def _odd_text(url: str) -> str | None:
    if not url or len(url) > LONGEST:
        return "it is empty" if not url else f"it has more than {LONGEST} characters"
    if any(c <= " " or c == "\x7f" for c in url):
        return "it holds a space or a control character"
    if not url.isascii():
        return "it holds a character outside ASCII, which may look like another"
    if url.startswith("-"):
        return "it starts with `-`, which git reads as an option"
    if _HELPER.match(url):
        return "it names a remote helper (`ext::`, `fd::`), which can run any command"
    if "$" in url:
        return "it holds a `$`, which a tool may replace by an environment variable"
    return None


def _odd_user(parts: _Parts) -> str | None:
    if parts.user is None:
        return None
    if parts.scheme != "ssh":
        return "it holds a user name or a password; leave credentials to git's credential helpers"
    if ":" in parts.user:
        return "it holds a password"
    return None if _USER.fullmatch(parts.user) else "its user name is malformed"


def _odd_host(parts: _Parts) -> str | None:
    host, port = parts.host, parts.port
    if parts.scheme == "file":
        return None if host in ("", "localhost") and port is None else "a file URL has no host"
    if not _HOST.fullmatch(host) or len(host) > 253:
        return "its host is no plain host name"
    if _NUMERIC.fullmatch(host) and not _is_ipv4(host):
        return "its host is a number, which resolvers read as an address"
    if port is not None and (not _PORT.fullmatch(port) or int(port) > 65535):
        return "its port is malformed"
    return None


def _is_ipv4(host: str) -> bool:
    """Whether `host` is a dotted quad in its one plain spelling (resolvers read `010.1` and `0x7f.1` as others)."""
    parts = host.split(".")
    return len(parts) == 4 and all(p.isdigit() and str(int(p)) == p and int(p) < 256 for p in parts)


def _odd_path(path: str) -> str | None:
    if path.startswith("-"):
        return "its path starts with `-`, which the server's git may read as an option"
    if not _PATH.fullmatch(path):
        return "it holds a character that no URL may hold"
    if "%" in _PERCENT.sub("", path):
        return "it holds a `%` that is no escape"
    plain = _decoded(path)
    if any(c < " " or c == "\x7f" for c in plain):
        return "it holds an escaped control character"
    if any(part in (".", "..") for part in re.split(r"[/\\]", re.split(r"[?#]", plain)[0])):
        return "its path holds `.` or `..`"
    if "=" in path and _query_secret().search(path):
        return "its query looks like a credential"
    return None


def _decoded(path: str) -> str:
    return _PERCENT.sub(lambda match: chr(int(match[1], 16)), path)


def identity(url: str) -> str:
    """Which repository `url` names, as "host/org/name": equal for its https, ssh and short forms.

    The host's case, user, default port, doubled and trailing slashes and `.git` do not matter; nor does the path's
    case on github.com and gitlab.com. What is no URL is returned as it stands. Never raises.
    """
    parts = _split(url.removeprefix("git+"))
    if parts is None:
        return url
    host, path = _address(parts), _plain_path(parts)
    return f"{host}/{(path.lower() if host in _CASELESS else path).removesuffix('.git')}"


def page(url: str) -> tuple[str, str] | None:
    """Where a browser finds the repository of an https or ssh URL: host, with its port if it is an odd one of https,
    and path, in its own letter case and without `.git`; None for a URL that `check_url` refuses."""
    parts = _split(url)
    if parts is None or check_url(url):
        return None
    host = _address(parts._replace(port=None) if parts.scheme == "ssh" else parts)
    return host, _plain_path(parts).removesuffix(".git")


def _address(parts: _Parts) -> str:
    """The main name of a host, and the port where it is not the usual one."""
    host = parts.host.lower()
    if main := _SAME_HOST.get(host):
        return main
    return host if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme.lower())) else f"{host}:{parts.port}"


def _plain_path(parts: _Parts) -> str:
    return "/".join(name for name in _decoded(parts.path.partition("#")[0]).split("/") if name)


def same_repo(a: str, b: str) -> bool:
    """Whether two URLs name one repository, whatever their transport and spelling."""
    return identity(a) == identity(b)


def redact(text: str) -> str:
    """`text` (a command, a log) with every credential that can be told by its place or shape shown as `***`.

    These are: userinfo of URLs (but ssh's `git@`), secret-looking query parameters, authorization headers and
    the tokens of well-known services.
    """
    for pattern, replacement in _secrets():
        text = pattern.sub(replacement, text)
    return text


# Compiled when first needed: most runs meet no query and print no command, and these take milliseconds.


@cache
def _query_secret() -> re.Pattern[str]:
    name = r"(?:[\w.-]{0,60}(?:token|secret|password|passwd|signature|credential|api_?key)[\w.-]{0,60}|sig|auth|key)"
    return re.compile(rf"(?i)([?&;]{name}=)[^&;#\s'\"]+")


@cache
def _secrets() -> tuple[tuple[re.Pattern[str], str], ...]:
    # `u:p/w@host` too: a slash in a password ends the authority, but it must not be shown. All lengths are bounded, so
    # that no output of a program takes time that grows with its square.
    userinfo = (
        r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)(?!git@)(?:[^\s/@:'\"]{0,200}:(?!\d+/)[^\s'\"]{0,500}|[^\s/'\"]{0,500})@"
    )
    header = r"(?i)\b((?:proxy-)?authorization\s*[:=]\s*(?:(?:basic|bearer|token|digest)\s+)?)[^\s'\"]+"
    named = r"(?i)\b((?:private|job|deploy|x-auth|x-api)-(?:token|key)\s*[:=]\s*)[^\s'\"]+"
    shape = r"\b(gh[opsur]_|github_pat_|glpat-|hf_|pypi-|xox[abprs]-)[A-Za-z0-9_-]{10,}"
    return (
        (re.compile(userinfo), r"\1***@"),
        (_query_secret(), r"\1***"),
        *((re.compile(pattern), r"\1***") for pattern in (header, named, shape)),
    )
