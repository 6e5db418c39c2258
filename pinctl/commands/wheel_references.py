"""Wheels that the recipe `docker-args` names: which file that is, the records of the index say."""

from collections.abc import Sequence

from pinctl.commands import index_setup
from pinctl.commands.workspace import Workspace
from pinctl.images.references import NoReference, Wanted, reference
from pinctl.index.records import Record
from pinctl.model import Generated, Manifest
from pinctl.quoting import RecipeError

_USUAL = ("", "", "", "linux/amd64")
_FORM = '"NAME=PIN VARIANT [PYTHON [PLATFORM]]", such as "GEMM_WHEEL=deepgemm cu12 3.12 linux/amd64"'


def named(workspace: Workspace, item: Generated) -> list[str]:
    """The option `wheels`, texts of that form, as NAME=REQUIREMENT. Raises RecipeError, UsageError, ManifestError (the
    records cannot be read)."""
    wheels = item.options["wheels"]
    if not isinstance(wheels, Sequence) or isinstance(wheels, str):
        raise RecipeError(f"the option `wheels` is an array of texts: {_FORM}")
    records = index_setup.of(workspace.root, workspace.manifest).load()
    return [_named(str(text), workspace.manifest, records) for text in wheels]


def _named(text: str, manifest: Manifest, records: Sequence[Record]) -> str:
    name, _, said = text.partition("=")
    words = said.split()
    if not 2 <= len(words) <= len(_USUAL):
        raise RecipeError(f"wheels: `{text}` is not of the form {_FORM}")
    pin, variant, python, platform = (*words, *_USUAL[len(words) :])
    if pin not in manifest.pins:
        raise RecipeError(f"wheels: `{text}`: there is no pin {pin}")
    if variant not in manifest.variants:
        raise RecipeError(f"wheels: `{text}`: there is no variant {variant}")
    url = manifest.index.get("url")
    wanted = Wanted(manifest.pins[pin], manifest.variants[variant], python or None, platform, str(url) if url else None)
    try:
        return f"{name}={reference(wanted, records)}"
    except NoReference as error:
        raise RecipeError(f"wheels: `{text}`: {error}; {error.hint}") from error
