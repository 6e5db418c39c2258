"""New values for pins.toml, and what follows from them in every site: the ground of `adopt` and `bump`."""

from collections.abc import Iterable, Mapping

from pinctl import manifest
from pinctl.commands.workspace import Workspace, read_text
from pinctl.errors import ManifestError
from pinctl.manifest import New
from pinctl.model import KeyPath, Manifest
from pinctl.paths import plain
from pinctl.plan import FilePlan

_SOURCES = ("repo", "packages", "url", "image")


def edited(workspace: Workspace, changes: Mapping[KeyPath, New]) -> tuple[Workspace, list[FilePlan]]:
    """The workspace with `changes` in its manifest, and the files that these change: each value goes where it stands
    now, into pins.toml or a file that this extends. Raises ManifestError: it must be as valid as any other."""
    before = workspace.manifest
    texts = {before.path: before.text, **dict(before.bases)}
    after = {path: manifest.edit(text, dict(_of(changes, before, path)), path=path) for path, text in texts.items()}
    return rewritten(workspace, after)


def rewritten(workspace: Workspace, texts: Mapping[str, str]) -> tuple[Workspace, list[FilePlan]]:
    """The workspace with other `texts` of pins.toml and the files that it extends, by path, and the files that change.
    Raises ManifestError: they must be as valid as any others."""
    before = workspace.manifest
    held = {before.path: before.text, **dict(before.bases)}
    after = {**held, **texts}
    try:
        parsed = manifest.parse(
            after[before.path],
            path=before.path,
            load=lambda path: after.get(plain(path)) or read_text(workspace.root, path),
        )
    except ManifestError as error:
        raise ManifestError(error.findings, workspace.root) from None
    files = [FilePlan(path, text.encode(), after[path].encode()) for path, text in held.items()]
    return Workspace(root=workspace.root, manifest=parsed, sources=workspace.sources), files


def _of(changes: Mapping[KeyPath, New], before: Manifest, path: str) -> Iterable[tuple[KeyPath, New]]:
    """The changes of what stands in the file `path`."""
    return ((key, value) for key, value in changes.items() if _file_of(before, key) == path)


def _file_of(before: Manifest, key: KeyPath) -> str:
    """Where a value stands, or is to stand: a new one of a pin goes where the pin's source is."""
    if before.bases and len(key) > 2:
        table = manifest.written(before, key[:2])
        if str(key[2]) not in table:
            key = (*key[:2], next((name for name in _SOURCES if name in table), "repo"))
    return manifest.locate(before, key).file
