"""Where wheels are sent to: `[publish]` of the policy file, and what the command line says in its place.

No URL that anything is sent to comes from the checkout: whoever can write pins.toml could have wheels, and the login of
who sends them, go elsewhere.

```toml
[publish.pypi]
repository = "https://upload.pypi.org/legacy/"     # what files are sent to (this is the usual one)
url        = "https://pypi.org/simple/"            # the index that it fills: read before and after
largest    = 300                                   # MiB of a file, where PyPI allows the project more than 100
[publish.index]                                    # one of folder, repository and command
folder     = "/srv/wheels"
repository = "https://github.com/example/whl.git"  # a git branch, such as the one of GitHub Pages
branch     = "gh-pages"
command    = ["rclone", "copyto", "{file}", "store:whl/{key}"]
lock       = ["store-lock", "take", "{key}"]       # of a store that several publish to: fails where it is held
unlock     = ["store-lock", "give", "{key}"]
url        = "https://example.github.io/whl/"      # what it is read from
files      = "github"                              # the wheels lie in releases; else in the index itself
[publish.github]
repository = "example/whl"
api        = "https://api.github.com"
web        = "https://github.com"                  # what assets are downloaded from
```

`wait`, of each: the seconds that a page may take to show what was sent, 300 unless said.
"""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pinctl.errors import UsageError
from pinctl.index import pypi_rules
from pinctl.urls import check_url, redact

TARGETS = ("github", "pypi", "index")
"""In the order in which they are served: an index links to releases."""
MIB = 1024 * 1024

_UPLOADS = {
    "https://upload.pypi.org/legacy/": "https://pypi.org/simple/",
    "https://test.pypi.org/legacy/": "https://test.pypi.org/simple/",
}
"""The index that each public upload interface fills."""
_PROJECT = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_WAIT = 300


class PyPI(NamedTuple):
    """`repository` takes files, `url` is the index that they are then in; None: not known."""

    repository: str
    url: str | None
    largest: int = pypi_rules.LARGEST
    wait: int = _WAIT


class Index(NamedTuple):
    """Where an index lies: a `folder`, a `branch` of a git `repository`, or what `command` writes to.

    `url` is what it is read from; None: not known. `in_releases`: its wheels lie in the releases of GitHub.
    """

    folder: str | None = None
    repository: str | None = None
    branch: str = "gh-pages"
    command: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    unlock: tuple[str, ...] = ()
    url: str | None = None
    in_releases: bool = False
    wait: int = _WAIT

    @property
    def place(self) -> str:
        """Where it lies, in a message."""
        if self.folder:
            return self.folder
        return f"{redact(self.repository)} {self.branch}" if self.repository else f"`{self.command[0]}`"


class GitHub(NamedTuple):
    """Releases of the `repository` OWNER/NAME; `api` and `web` without a `/` at their end."""

    repository: str
    api: str = "https://api.github.com"
    web: str = "https://github.com"
    wait: int = _WAIT


class Said(NamedTuple):
    """What the command line says: `repository` as the target takes it, `url` what it is read from."""

    repository: str | None = None
    url: str | None = None


def pypi(policy: Mapping[str, Any], said: Said = Said()) -> PyPI:  # noqa: B008 - immutable
    """Raises UsageError."""
    table = _table(policy, "pypi", ("repository", "url", "largest", "wait"))
    repository = said.repository or table.get("repository") or next(iter(_UPLOADS))
    url = said.url or (None if said.repository else table.get("url")) or _UPLOADS.get(repository)
    largest = _number(table, "pypi", "largest", pypi_rules.LARGEST // MIB)
    return PyPI(_web(repository, "pypi"), _root(url, "pypi"), largest * MIB, _number(table, "pypi", "wait", _WAIT))


def index(policy: Mapping[str, Any], said: Said = Said(), *, known: str | None = None) -> Index:  # noqa: B008 - immutable
    """`known` is the URL that it is read from where nothing else is said. Raises UsageError."""
    keys = ("folder", "repository", "branch", "command", "lock", "unlock", "url", "files", "wait")
    table = dict(_table(policy, "index", keys))
    if said.repository is not None:
        table = {key: value for key, value in table.items() if key not in ("folder", "repository", "command")}
        table |= _place(said.repository)
    places = [key for key in ("folder", "repository", "command") if key in table]
    if len(places) != 1:
        raise UsageError(
            "nothing says where the index lies" if not places else f"the index lies at both {' and '.join(places)}",
            hint="give --repository DIR or URL#BRANCH, or [publish.index] of the policy file",
        )
    if table.get("files", "github") != "github":
        raise UsageError('the policy file: `publish.index.files` can be "github" alone')
    return Index(
        folder=_folder(table, absolute=said.repository is None),
        repository=_text(table, "index", "repository"),
        branch=_branch(table.get("branch", "gh-pages")),
        command=_argv(table, "command", ("{file}", "{key}")),
        lock=_argv(table, "lock", ("{key}",)),
        unlock=_argv(table, "unlock", ("{key}",)),
        url=_root(said.url or table.get("url") or known, "index"),
        in_releases="files" in table,
        wait=_number(table, "index", "wait", _WAIT),
    )


def github(policy: Mapping[str, Any], said: Said = Said()) -> GitHub:  # noqa: B008 - immutable
    """Raises UsageError."""
    table = _table(policy, "github", ("repository", "api", "web", "wait"))
    repository = (said.repository or table.get("repository") or "").removeprefix("https://github.com/").rstrip("/")
    if not repository:
        hint = "give --repository OWNER/NAME, or [publish.github] of the policy file"
        raise UsageError("nothing says whose releases the wheels go to", hint=hint)
    if not _PROJECT.fullmatch(repository) or any(part in (".", "..") for part in repository.split("/")):
        raise UsageError(f"{redact(repository)[:100]}: a repository of GitHub as OWNER/NAME is taken")
    api, web = (_web(table.get(key, usual), "github").rstrip("/") for key, usual in
                (("api", GitHub._field_defaults["api"]), ("web", GitHub._field_defaults["web"])))  # fmt: skip
    return GitHub(repository, api, web, _number(table, "github", "wait", _WAIT))


def _table(policy: Mapping[str, Any], name: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    if unknown := sorted(policy.keys() - set(TARGETS)):
        raise UsageError(f"the policy file: `publish.{unknown[0]}` is not known; {', '.join(TARGETS)} are")
    table = policy.get(name, {})
    if not isinstance(table, dict):
        raise UsageError(f"the policy file: `publish.{name}` must be a table")
    if unknown := sorted(table.keys() - set(keys)):
        raise UsageError(f"the policy file: `publish.{name}.{unknown[0]}` is not known; {', '.join(keys)} are")
    return table


def _place(said: str) -> dict[str, str]:
    """What `--repository` names: a URL is a git repository, with its branch behind a `#`; else a folder."""
    if "://" not in said and not re.match(r"[\w.-]+@[\w.-]+:", said):
        return {"folder": said}
    url, mark, branch = said.partition("#")
    return {"repository": url, **({"branch": branch} if mark else {})}


def _text(table: Mapping[str, Any], name: str, key: str) -> str | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, str) or not value or not value.isprintable()):
        raise UsageError(f"the policy file: `publish.{name}.{key}` must be one line of text")
    return value


def _folder(table: Mapping[str, Any], *, absolute: bool) -> str | None:
    folder = _text(table, "index", "folder")
    if folder is not None and absolute and not os.path.isabs(folder):
        raise UsageError("the policy file: `publish.index.folder` must be an absolute path")
    return folder


def _branch(value: object) -> str:
    bad = ("..", ".lock")
    if not isinstance(value, str) or not _BRANCH.fullmatch(value) or any(part in value for part in bad):
        raise UsageError(f"{str(value)[:100]!r} is no name of a branch")
    return value


def _web(url: object, name: str) -> str:
    """An address that is asked with a login: of https, or of this machine alone."""
    reason = check_url(url, transports=("https", "http")) if isinstance(url, str) else "it is no text"
    plain = isinstance(url, str) and url.startswith("http:")
    if not reason and plain and not re.match(r"http://(?:127\.[0-9.]+|localhost|\[::1\])[:/]", f"{url}/"):
        reason = "http shows the login to everyone on the way"
    if reason:
        raise UsageError(f"the target {name} cannot have the URL {redact(str(url))!r}: {reason}")
    return str(url)


def _root(url: object, name: str) -> str | None:
    """The root of an index, with a `/` at its end; None where none is said."""
    if url is None:
        return None
    reason = check_url(url, transports=("https", "http")) if isinstance(url, str) else "it is no text"
    if reason:
        raise UsageError(f"{name} cannot be read from {redact(str(url))!r}: {reason}")
    return f"{str(url).rstrip('/')}/"


def _argv(table: Mapping[str, Any], key: str, needed: tuple[str, ...]) -> tuple[str, ...]:
    value = table.get(key, [])
    fits: Callable[[object], bool] = lambda word: isinstance(word, str) and "\0" not in word  # noqa: E731
    if not isinstance(value, list) or not all(map(fits, value)):
        raise UsageError(f"the policy file: `publish.index.{key}` must be a list of words")
    if value and not all(any(mark in word for word in value[1:]) for mark in needed):
        raise UsageError(f"the policy file: `publish.index.{key}` must hold {' and '.join(needed)}")
    return tuple(value)


def _number(table: Mapping[str, Any], name: str, key: str, usual: int) -> int:
    value = table.get(key, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 10**6:
        raise UsageError(f"the policy file: `publish.{name}.{key}` must be a number")
    return value
