"""What pins.toml held of a pin before its present commit, as the consumer's git history has it."""

from collections.abc import Mapping

from pinctl import manifest
from pinctl.commands import history
from pinctl.commands.targets import Target
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.manifest import New
from pinctl.model import Pin

_KEYS = ("repo", "commit", "tag", "track", "version", "submodules", "recursive", "include_dirs", "header_globs",
         "upstream", "archive", "nested")  # fmt: skip
"""The keys that a bump writes."""


def earlier(workspace: Workspace, pin: Pin) -> tuple[Target, dict[str, New]]:
    """Where `pin` stood before, and the values of its keys that were others then, None for one that was not there.

    Raises UsageError where the history holds no other commit of it, ExternalError.
    """
    if toplevel(workspace.root) is None:
        raise UsageError(f"{workspace.root} is no git repository, so it has no history to go back in")
    file = manifest.locate(workspace.manifest, ("pins", pin.name)).file
    for commit, _ in git.history_of(workspace.root, file):
        then = history.manifest_at(workspace, commit)
        old = then.pins.get(pin.name) if then else None
        if old is not None and old.repo and old.commit and (old.repo, old.commit) != (pin.repo, pin.commit):
            return Target(old.repo, old.commit, old.tag, old.track), _changes(pin, old)
    raise UsageError(f"the history of {file} holds no other commit of {pin.name}")


def _changes(now: Pin, old: Pin) -> dict[str, New]:
    return {key: _written(getattr(old, key)) for key in _KEYS if getattr(now, key) != getattr(old, key)}


def _written(value: object) -> New:
    """A field of a pin as it stands in pins.toml."""
    if hasattr(value, "_asdict"):
        return {key: part for key, part in value._asdict().items() if part is not None}
    if isinstance(value, Mapping):
        return {str(key): str(part) for key, part in value.items()} or None
    if isinstance(value, tuple):
        return tuple(map(str, value))
    return value if isinstance(value, str) or value is True else None
