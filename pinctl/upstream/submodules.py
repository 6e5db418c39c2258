"""The submodules of a tree: its gitlinks, each with the name and URL that `.gitmodules` gives it (gitmodules(5)).

Both come from a stranger. What git has refused since its advisories (names that leave `.git/modules`, URLs and paths
that are options, CVE-2018-11235, CVE-2018-17456, CVE-2025-48384) is refused here before anything is asked of a server.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinctl.paths import path_problem
from pinctl.sites import gitmodules
from pinctl.upstream.tree import Tree
from pinctl.urls import check_url

MOST = 64
"""Submodules that a tree may have."""

_FILE = ".gitmodules"
_LARGEST = 256 * 1024
_PREFIX = "submodule."


class Submodule(NamedTuple):
    """A gitlink. `url` is absolute, None without an entry; `problem` is a clause that says why it cannot be used."""

    path: str
    commit: str
    name: str | None = None
    url: str | None = None
    problem: str | None = None


class Listing(NamedTuple):
    """The submodules of a tree by path; `stray` are paths that .gitmodules names and that are no gitlinks; `names` is
    where each name stands now."""

    submodules: Mapping[str, Submodule] = {}
    stray: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    problem: str | None = None


def read(tree: Tree, parent: str, *, transports: Sequence[str] = ("https", "ssh")) -> Listing:
    """The submodules of `tree`, which comes from the URL `parent`; URLs may have the schemes `transports`."""
    problem = _file_problem(tree)
    entries = {} if problem else _entries(tree)
    by_path = {entry["path"]: name for name, entry in entries.items() if "path" in entry}
    found = {}
    for path, commit in sorted(tree.gitlinks.items())[:MOST]:
        name = by_path.get(path, path if "path" not in entries.get(path, {"path": ""}) else None)
        url = None if name is None else entries[name].get("url")
        found[path] = _checked(Submodule(path, commit, name, url), parent, transports)
    if problem is None and len(tree.gitlinks) > MOST:
        problem = f"it has {len(tree.gitlinks)} submodules, and {MOST} are looked at"
    stray = tuple(sorted(path for path in by_path if path not in tree.gitlinks))
    return Listing(found, stray, {name: path for path, name in by_path.items()}, problem)


def _file_problem(tree: Tree) -> str | None:
    """`.gitmodules` is read from a regular file alone: a link would lead to any file (CVE-2018-11235)."""
    if _FILE in tree.links:
        return "its .gitmodules is a symbolic link"
    return None


def _entries(tree: Tree) -> dict[str, dict[str, str]]:
    """The settings of each name. Of several values of one key the last holds, as in git-config(1)."""
    source = tree.read([_FILE], _LARGEST).get(_FILE, b"")
    entries: dict[str, dict[str, str]] = {}
    for section, key, token in gitmodules.parse(source).values:
        if section.startswith(_PREFIX):
            entries.setdefault(section.removeprefix(_PREFIX), {})[key] = token.value
    return entries


def _checked(module: Submodule, parent: str, transports: Sequence[str]) -> Submodule:
    """`module` with its URL made absolute, or with what is wrong with it."""
    if problem := path_problem(module.path):
        return module._replace(url=None, problem=f"its path cannot be used: {problem}")
    if module.name is None or module.url is None:
        return module
    if not module.name or ".." in module.name.replace("\\", "/").split("/") or not module.name.isprintable():
        return module._replace(url=None, problem="its name leaves the folder of submodules")
    url = absolute(parent, module.url)
    problem = "its relative URL leaves the parent's" if url is None else check_url(url, transports=transports)
    if problem:
        return module._replace(url=None, problem=f"its URL cannot be used: {problem}")
    return module._replace(url=url)


def absolute(parent: str, url: str) -> str | None:
    """`url` as seen from the repository `parent`, as git resolves it (remote.c, relative_url); None if it cannot be.

    A URL that begins with neither `./` nor `../` stands for itself.
    """
    if not url.startswith(("./", "../")):
        return url
    base, separator = parent.rstrip("/"), "/"
    while url.startswith(("./", "../")):
        if url.startswith("../"):
            chopped = _chopped(base)
            if chopped is None:
                return None
            base, separator = chopped
        url = url.partition("/")[2]
    return f"{base}{separator}{url}".removesuffix("/")


def _chopped(base: str) -> tuple[str, str] | None:
    """`base` without its last part, and what joins the next one to it. A host is never given up."""
    head, slash, _ = base.rpartition("/")
    if slash and not head.endswith(("/", ":")):
        return head, "/"
    host, colon, path = base.rpartition(":")
    return (host, ":") if colon and not path.startswith("//") and "/" not in path else None
