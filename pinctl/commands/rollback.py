"""What pins.toml held of a pin before its present commit, as the consumer's git history has it."""

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
         "upstream", "archive", "nested", "system_packages", "facts", "contract")  # fmt: skip
"""The keys that a bump may write."""


def earlier(workspace: Workspace, pin: Pin) -> tuple[Target, dict[str, New]]:
    """Where `pin` stood before, and the values of its keys that were others then, None for one that was not there.

    Raises UsageError where the history holds no other commit of it, ExternalError.
    """
    if toplevel(workspace.root) is None:
        raise UsageError(f"{workspace.root} is no git repository, so it has no history to go back in")
    file = manifest.locate(workspace.manifest, ("pins", pin.name, "commit")).file
    for commit, _ in git.history_of(workspace.root, file):
        then = history.manifest_at(workspace, commit)
        old = then.pins.get(pin.name) if then else None
        if then and old and old.repo and old.commit and (old.repo, old.commit) != (pin.repo, pin.commit):
            before, now = manifest.written(then, pin.name), manifest.written(workspace.manifest, pin.name)
            changes = {key: _listed(before.get(key)) for key in _KEYS if before.get(key) != now.get(key)}
            return Target(old.repo, old.commit, old.tag, old.track), changes
    raise UsageError(f"the history of {file} holds no other commit of {pin.name}")


def _listed(value: New) -> New:
    """A list as a tuple, as `pinctl.model` has it."""
    return tuple(value) if isinstance(value, list) else value
