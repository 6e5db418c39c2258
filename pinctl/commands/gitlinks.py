"""Submodules as sites: what git says of them, in the work tree or at an earlier commit."""

from collections.abc import Iterable, Iterator

from pinctl import gitlink
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.finding import Finding
from pinctl.gitlink import Gitlink
from pinctl.reconcile import Problem, Reconciliation, Source


def read(root: str, paths: Iterable[str]) -> dict[str, Source]:
    """The submodules at `paths`; a Problem where there is none. Raises ExternalError."""
    paths = list(paths)
    if toplevel(root) is None:
        why = "is read from git's index, and this is no git repository"
        return {path: Problem("PIN206", f"the gitlink {path} {why}") for path in paths}
    return {path: _source(root, path, state) for path, state in git.gitlinks(root, paths).items()}


def _source(root: str, path: str, state: git.GitlinkState) -> Source:
    if state.index is not None:
        return Gitlink(source=b"", path=path, staged=state.index, head=state.head, checkout=state.checkout)
    tracked = git.index(root, [path])
    if any(entry.conflict for entry in tracked):
        return Problem("PIN206", f"the gitlink {path} is in conflict; settle the merge first")
    if tracked:
        kind = "a file" if path == tracked[0].path else "a folder"
        return Problem("PIN206", f"{path} is no submodule: git tracks it as {kind}")
    return Problem("PIN205", f"git's index has no submodule {path}")


def at(root: str, revision: str, paths: Iterable[str]) -> dict[str, Source]:
    """The submodules of those of `paths` that are one at `revision`. Raises ExternalError."""
    links = git.tree_links(root, revision, list(paths))
    return {path: Gitlink(source=b"", path=path, staged=commit, head=commit) for path, commit in links.items()}


def disagreements(seen: Reconciliation) -> Iterator[Finding]:
    """The submodules whose HEAD, index and checkout have gone apart."""
    for observation in seen.observations:
        document = seen.documents[observation.site.file]
        if isinstance(document, Gitlink):
            found = gitlink.disagreement(document, str(observation.wanted), observation.site.pin)
            yield from (found,) if found else ()
