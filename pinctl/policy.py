"""The policy file: what git may reach, said by who runs pinctl and never by the checkout. Pure text work.

```toml
schema  = 1
hosts   = ["github.com"]                    # absent: any host, in the trusted profile alone
owners  = ["github.com/deepseek-ai"]        # of repositories and archives; absent: every owner on those hosts
ca      = "/etc/ssl/company.pem"
proxy   = "http://proxy.example:3128"
timeout = 300                               # seconds for one remote

[mirrors.git]                               # URL prefix -> what is asked in its place
"https://github.com/" = "https://git.example/mirror/github/"
[mirrors.index]                             # likewise: archive
"https://pypi.org/simple/" = "https://pypi.example/simple/"
[mirrors.image]                             # of the registry's interface: Docker Hub's is at registry-1.docker.io
"https://registry-1.docker.io/v2/" = "https://registry.example/v2/hub/"
[publish]                                   # read by the verbs that publish
```
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from pinctl.errors import UsageError
from pinctl.model import NOTHING
from pinctl.urls import check_url, identity

_KEYS = frozenset(("schema", "hosts", "owners", "ca", "proxy", "timeout", "mirrors", "publish"))
_MIRRORED = frozenset(("git", "index", "archive", "image"))
_LONGEST_WAIT = 24 * 3600


class Policy(NamedTuple):
    """`hosts` and `owners` None: not limited. `timeout` is in seconds. `mirrors` is by kind, then by URL prefix."""

    hosts: tuple[str, ...] | None = None
    owners: tuple[str, ...] | None = None
    ca: str | None = None
    proxy: str | None = None
    timeout: int | None = None
    mirrors: Mapping[str, Mapping[str, str]] = NOTHING
    publish: Mapping[str, Any] = NOTHING

    def refusal(self, url: str) -> str | None:
        """Why the repository at `url` may not be asked, as a clause; None if it may.

        A host matches whole, an owner by the leading parts of the path: "github.com/NVIDIA".
        """
        if reason := self.host_refusal(url):
            return reason
        host, _, path = identity(url).partition("/")
        if self.owners is not None and not any(_within(f"{host}/{path}", owner) for owner in self.owners):
            return f"the policy does not allow the owner of {host}/{path}"
        return None

    def host_refusal(self, url: str) -> str | None:
        """As `refusal`, of a server whose paths name no owner: an index, a registry, where a redirect leads."""
        host = identity(url).partition("/")[0]
        if self.hosts is not None and host not in self.hosts:
            return f"the policy does not allow the host {host}"
        return None

    def mirror(self, url: str, kind: str = "git") -> str | None:
        """What is asked in the place of `url`, by its longest prefix; None where there is no mirror for it."""
        prefixes = [prefix for prefix in self.mirrors.get(kind, {}) if url.startswith(prefix)]
        if not prefixes:
            return None
        longest = max(prefixes, key=len)
        return self.mirrors[kind][longest] + url.removeprefix(longest)


def _within(repository: str, owner: str) -> bool:
    wanted = identity(f"https://{owner}")
    return repository == wanted or repository.startswith(f"{wanted}/")


def parse(text: str, path: str) -> Policy:
    """The policy in `text`, which is the file `path`. An unknown key or a wrong type raises UsageError: a policy that
    is misread would allow what it forbids."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the policy file {path} is no TOML: {error}") from error
    if data.get("schema") != 1:
        raise UsageError(f"the policy file {path} must say `schema = 1`")
    _only(data, _KEYS, path, "")
    mirrors = _table(data, "mirrors", path)
    _only(mirrors, _MIRRORED, path, "mirrors.")
    return Policy(
        hosts=_hosts(_texts(data, "hosts", path)),
        owners=_texts(data, "owners", path),
        ca=_ca(data, path),
        proxy=_proxy(data, path),
        timeout=_timeout(data, path),
        mirrors={kind: _prefixes(mirrors, kind, path) for kind in mirrors},
        publish=_table(data, "publish", path),
    )


def _only(table: Mapping[str, Any], keys: frozenset[str], path: str, prefix: str) -> None:
    for key in table:
        if key not in keys:
            raise UsageError(f"the policy file {path}: `{prefix}{key}` is not known; {', '.join(sorted(keys))} are")


def _hosts(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(name.lower() for name in names)


def _table(data: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"the policy file {path}: `{key}` must be a table")
    return value


def _texts(data: Mapping[str, Any], key: str, path: str) -> tuple[str, ...] | None:
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) and item.isascii() for item in value):
        raise UsageError(f"the policy file {path}: `{key}` must be a list of ASCII texts")
    return tuple(value)


def _text(data: Mapping[str, Any], key: str, path: str) -> str | None:
    value = data.get(key)
    if value is not None and (not isinstance(value, str) or not value.isprintable() or not value):
        raise UsageError(f"the policy file {path}: `{key}` must be one line of text")
    return value


def _ca(data: Mapping[str, Any], path: str) -> str | None:
    value = _text(data, "ca", path)
    if value is not None and not os.path.isabs(value):
        raise UsageError(f"the policy file {path}: `ca` must be an absolute path")
    return value


def _proxy(data: Mapping[str, Any], path: str) -> str | None:
    value = _text(data, "proxy", path)
    if value is not None and (reason := check_url(value, transports=("http", "https"))):
        raise UsageError(f"the policy file {path}: `proxy` cannot be used: {reason}")
    return value


def _timeout(data: Mapping[str, Any], path: str) -> int | None:
    value = data.get("timeout")
    if value is not None and (not isinstance(value, int) or not 1 <= value <= _LONGEST_WAIT):
        raise UsageError(f"the policy file {path}: `timeout` must be a number of seconds, 1 to {_LONGEST_WAIT}")
    return value


def _prefixes(mirrors: Mapping[str, Any], kind: str, path: str) -> Mapping[str, str]:
    table = _table(mirrors, kind, path)
    for prefix, mirror in table.items():
        if not isinstance(mirror, str) or not mirror or not mirror.isprintable() or mirror.startswith("-"):
            raise UsageError(f"the policy file {path}: the mirror of {prefix} must be a URL or an absolute path")
        if "::" in mirror or not prefix.isprintable() or not prefix or "=" in prefix + mirror:
            raise UsageError(f"the policy file {path}: the mirror of {prefix} cannot be written as a setting of git")
    return table
