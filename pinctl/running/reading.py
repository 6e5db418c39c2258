"""From what was read of an environment, texts and data of strangers, to the model."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pinctl.commits import is_full
from pinctl.running.model import Installed
from pinctl.wheel.provenance import BadProvenance, Provenance
from pinctl.wheel.provenance import read as read_provenance

_NAME = re.compile("[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_LONGEST_NAME = 200
_TORCH_CUDA = re.compile(r"^cuda\b[^=\n]*= *(?:'([0-9.]+)'|\"([0-9.]+)\"|None)", re.MULTILINE)


def installed(said: Mapping[str, Any]) -> Installed:
    """A distribution from what `probes/installed.py` prints of it. Raises KeyError, TypeError."""
    return Installed(
        name=_plain(said["name"]),
        version=_plain(said["version"]),
        place=_plain(said["place"]),
        provenance=provenance(said["provenance"]),
        commit=commit(said["direct_url"]),
        imports=modules(said["tops"]),
        since=said["since"],
    )


def is_name(text: str) -> bool:
    """Whether a distribution may have this name (core metadata specification): it stands in commands of hints."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def modules(tops: Iterable[str]) -> tuple[str, ...]:
    """The names under which files and folders at the top of a distribution are imported, sorted."""
    names = {top.split(".")[0] if top.endswith((".py", ".so")) else top for top in tops}
    return tuple(sorted(name for name in names if name.isidentifier() and name != "__pycache__"))


def _plain(text: object) -> str:
    return "".join(c for c in str(text) if c.isprintable())[:500]


def provenance(text: str | None) -> Provenance | str | None:
    """Our provenance; why it cannot be read; None where there is none."""
    if text is None:
        return None
    try:
        return read_provenance(text.encode("utf-8", "surrogatepass"))
    except BadProvenance as error:
        return str(error)


def commit(text: str | None) -> str:
    """The commit that a direct_url.json names (PEP 610); "" where it names none."""
    try:
        said = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return ""
    info = said.get("vcs_info") if isinstance(said, dict) else None
    found = info.get("commit_id") if isinstance(info, dict) else None
    return found if isinstance(found, str) and is_full(found) else ""


def torch_cuda(text: str | None) -> str | None:
    """The CUDA of a torch/version.py: "" where it was built without; None where that is not told."""
    found = _TORCH_CUDA.search(text or "")
    return None if found is None else found[1] or found[2] or ""
