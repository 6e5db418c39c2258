"""What pins.toml held of a pin before its present commit, as the consumer's git history has it."""

from pinctl import manifest
from pinctl.commands import history
from pinctl.commands.targets import Target
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.manifest import New
from pinctl.model import Manifest, Pin
from pinctl.upstream.telling import image_of, key_of

_KEYS = ("repo", "commit", "tag", "track", "version", "submodules", "recursive", "include_dirs", "header_globs",
         "upstream", "archive", "nested", "system_packages", "facts", "contract", "packages", "url", "sha256", "image",
         "digest")  # fmt: skip
"""The keys that a bump may write."""
_RELEASE = ("version", "url", "sha256", "image", "digest")


def earlier(workspace: Workspace, pin: Pin) -> tuple[Target | None, dict[str, New]]:
    """Where `pin` stood before, None without a repository, and the values of its keys that were others then, None for
    one that was not there.

    Raises UsageError where the history holds no other commit or release of it, ExternalError.
    """
    if toplevel(workspace.root) is None:
        raise UsageError(f"{workspace.root} is no git repository, so it has no history to go back in")
    at = key_of(pin.name)
    file = manifest.locate(workspace.manifest, (*at, "commit" if pin.repo else "version")).file
    now = manifest.written(workspace.manifest, at)
    for commit, _ in git.history_of(workspace.root, file):
        then = history.manifest_at(workspace, commit)
        old = _held(then, pin.name) if then else None
        if then and old and _is_another(old, pin):
            before = manifest.written(then, at)
            changes = {key: _listed(before.get(key)) for key in _KEYS if before.get(key) != now.get(key)}
            target = Target(old.repo, old.commit, old.tag, old.track) if old.repo and old.commit else None
            return target, changes
    kind = "commit" if pin.repo else "release"
    raise UsageError(f"the history of {file} holds no other {kind} of {pin.name}")


def _held(then: Manifest, name: str) -> Pin | None:
    """What `then` held under the name of a pin, or of the image of a variant."""
    scope, inner = key_of(name)
    variant = then.variants.get(str(inner)) if scope == "variants" else None
    return image_of(variant) if variant else then.pins.get(name)


def _is_another(old: Pin, pin: Pin) -> bool:
    """Whether a pin was somewhere else: at another commit, or with none, at another release."""
    if pin.repo and pin.commit:
        return bool(old.repo and old.commit) and (old.repo, old.commit) != (pin.repo, pin.commit)
    return any(getattr(old, key) != getattr(pin, key) for key in _RELEASE)


def _listed(value: New) -> New:
    """A list as a tuple, as `pinctl.model` has it."""
    return tuple(value) if isinstance(value, list) else value
