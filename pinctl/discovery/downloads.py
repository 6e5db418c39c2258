"""Addresses in a file's text that name a repository and a ref of it: archives, release assets, `git+https` of pip.

The ref may be a literal, or hold a variable: then the address says whose version the variable is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.sites.pep508 import normal

_PART = r"[A-Za-z0-9][\w.-]{0,99}"
_HOST = r"(?P<host>[a-z][\w.-]{0,99}|\$\{\w++\})"
_WAY = r"/(?:-/)?(?:archive|releases/download|tarball|tar\.gz|zipball)/(?:refs/tags/)?|@"
_REF = r"(?P<ref>(?:[\w.+-]|%2B|\$\{\w++\}|\$\w++){1,150}?)"
_REST = r"(?P<rest>(?:\.tar\.\w+|\.tgz|\.zip)?(?:/(?:\$\([^)\n]{0,99}\)|[^\s\"'\\<>|;&)]){0,300})?)"
_END = r"(?=[\s\"'\\<>|;&),#]|\Z)"
_DOWNLOAD = re.compile(
    rf"https?://{_HOST}/(?P<owner>{_PART})/(?P<name>{_PART}?)(?:\.git)?(?:{_WAY}){_REF}{_REST}{_END}".encode()
)
_RAW = re.compile(
    rf"https?://raw\.githubusercontent\.com/(?P<owner>{_PART})/(?P<name>{_PART})".encode()
    + rb"/(?P<ref>[0-9a-f]{40}|v\d[\w.-]{0,99})(?P<rest>/[^\s\"'\\<>]{0,300})"
)
_WHEEL = re.compile(r"/(?P<package>[A-Za-z0-9][\w.]*)-(?P<version>[^-/]+)(?:-[^/]*)?\.whl\Z")
_VARIABLE = re.compile(r"\$\{?(\w+)")
_MARK = re.compile(rb"/archive/|/releases/download/|/tarball/|/tar\.gz/|git\+https?://|raw\.githubusercontent\.com/")
_FORGE = {"codeload.github.com": "github.com"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """One address: its repository, its ref and the rest behind that as they are written, its bytes in the file."""

    repo: str
    ref: str
    rest: str
    start: int
    end: int

    @property
    def variables(self) -> list[str]:
        """The variables in the ref; none where it is a literal."""
        return _VARIABLE.findall(self.ref)

    @property
    def wheel(self) -> tuple[str, str] | None:
        """The package and version of the wheel that it gives (PEP 427); None for anything else. Where wheels lie is no
        source of theirs."""
        match = _WHEEL.search(self.rest)
        return (normal(match["package"]), match["version"]) if match else None


def downloads(source: bytes) -> Iterator[Download]:
    """Every such address in `source` that stands in no comment line."""
    if not _MARK.search(source):
        return
    for pattern in (_DOWNLOAD, _RAW):
        for match in pattern.finditer(source):
            host = _host(match)
            if host is None or is_comment(source, match.start()):
                continue
            yield Download(
                repo=f"https://{host}/{match['owner'].decode()}/{match['name'].decode()}",
                ref=match["ref"].decode(),
                rest=match["rest"].decode("utf-8", "replace"),
                start=match.start(),
                end=match.end(),
            )


def is_comment(source: bytes, at: int) -> bool:
    """Whether the line of `at` is a comment, as most languages have them."""
    return source[source.rfind(b"\n", 0, at) + 1 : at].lstrip().startswith((b"#", b"//"))


def repository(address: str) -> str | None:
    """The URL of the repository that a clone's address names, where its host is a variable for a mirror of GitHub."""
    match = re.fullmatch(rf"https?://\$\{{?\w*(?i:github)\w*\}}?/({_PART}/{_PART})", address)
    return f"https://github.com/{match[1]}" if match else None


def _host(match: re.Match[bytes]) -> str | None:
    """The forge's host; a variable in its place that names GitHub is a mirror of it. None for other variables."""
    if match.re is _RAW:
        return "github.com"
    host = match["host"].decode()
    if host.startswith("$"):
        return "github.com" if "github" in host.lower() else None
    return _FORGE.get(host, host)
