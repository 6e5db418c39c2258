"""Web addresses of commits, comparisons and pull requests, on the servers whose shapes are known."""

import re
from typing import NamedTuple

from pinctl.commits import is_full
from pinctl.urls import page

_NAME = re.compile(r"[A-Za-z0-9_.+-]+")


class _Forge(NamedTuple):
    """How one kind of server writes its addresses below a repository; `nested`: groups may hold groups."""

    commit: str
    compare: str
    request: str
    nested: bool = False


_GITHUB = _Forge("commit/{}", "compare/{}...{}", "pull/{}")
_GITLAB = _Forge("-/commit/{}", "-/compare/{}...{}", "-/merge_requests/{}", nested=True)
_GITEA = _Forge("commit/{}", "compare/{}...{}", "pulls/{}")
_HOSTS = {"github.com": _GITHUB, "codeberg.org": _GITEA, "gitea.com": _GITEA}
_FIRST_LABELS = {"gitlab": _GITLAB, "gitea": _GITEA, "forgejo": _GITEA}
"""Servers of one's own are told by the first label of their host, such as gitlab.example.com."""


def commit(repo: str, id: str) -> str | None:  # noqa: A002
    """The page of the commit of a full id in the repository at the URL `repo`; None where its server is not known."""
    forge, base = _found(repo)
    return f"{base}/{forge.commit.format(id)}" if forge and is_full(id) else None


def compare(repo: str, a: str, b: str) -> str | None:
    """The page of what commit `b` has and `a` has not, by full ids; None where the server is not known."""
    forge, base = _found(repo)
    return f"{base}/{forge.compare.format(a, b)}" if forge and is_full(a) and is_full(b) else None


def request(repo: str, number: int) -> str | None:
    """The page of a pull or merge request; None where the server is not known."""
    forge, base = _found(repo)
    return f"{base}/{forge.request.format(number)}" if forge and number > 0 else None


def _found(repo: str) -> tuple[_Forge | None, str]:
    """The kind of server that a repository lies on, and the repository's own page."""
    place = page(repo)
    if place is None:
        return None, ""
    host, path = place
    forge = _HOSTS.get(host) or _FIRST_LABELS.get(host.partition(".")[0])
    names = path.split("/")
    fits = len(names) == 2 or (len(names) > 2 and forge is not None and forge.nested)
    if not fits or not all(map(_NAME.fullmatch, names)):
        return None, ""
    return forge, f"https://{host}/{path}"
