"""The consumer's tree as git remembers it."""

from pinctl import manifest
from pinctl.commands.workspace import Workspace
from pinctl.errors import ManifestError
from pinctl.external import git, resources
from pinctl.external.gitcli import toplevel
from pinctl.model import Manifest


def manifest_at(workspace: Workspace, revision: str) -> Manifest | None:
    """pins.toml as it stood at `revision`; None where there was none, or it was invalid. Raises ExternalError."""
    if toplevel(workspace.root) is None:
        return None
    now = workspace.manifest
    text = git.show(workspace.root, revision, now.path, now.text.encode())
    if text is None or (text == now.text.encode() and not now.bases):
        return now if text else None
    try:
        return manifest.parse(
            text.decode("utf-8", "replace"),
            path=now.path,
            load=lambda path: (git.show(workspace.root, revision, path) or b"").decode("utf-8", "replace"),
        )
    except ManifestError:
        return None


def at(workspace: Workspace, before: Manifest, revision: str) -> Workspace:
    """The workspace as it stood at `revision`, where its manifest was `before`. Raises ExternalError."""
    paths = {s.file for s in before.all_sites} | {g.file for g in before.all_generated}
    paths |= {g.recipe for g in before.all_generated if resources.is_own(g.recipe)}
    from pinctl.reconcile import Content, Problem

    sources: dict[str, Content] = {path: Problem("PIN205", f"{path} does not exist") for path in paths}
    sources.update(git.show_many(workspace.root, revision, sorted(paths)))
    return Workspace(root=workspace.root, manifest=before, sources=sources)
