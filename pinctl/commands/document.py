"""The file that a verb's document goes to: none of the project's own."""

import os

from pinctl.commands import workspace
from pinctl.errors import UsageError
from pinctl.external import git, outputs
from pinctl.external.gitcli import toplevel
from pinctl.options import Options


def demand_place(options: Options, path: str) -> None:
    """Raises UsageError where the file `path` cannot be made, or is one that git tracks, or that pins.toml names or
    is; ManifestError, ExternalError."""
    outputs.demand_place(path)
    root, name = workspace.locate(options)
    manifest = workspace.load(root, name)
    named = [site.file for site in manifest.all_sites] + [made.file for made in manifest.all_generated]
    outputs.demand_other(path, root, (name, *(base for base, _ in manifest.bases), *named))
    folder, file = os.path.split(os.path.realpath(path))
    top = toplevel(root)
    if top is not None and toplevel(folder) == top and git.index(folder, [file]):
        raise UsageError(f"{path} would overwrite a file that git tracks")
