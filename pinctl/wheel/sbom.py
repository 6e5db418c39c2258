"""A CycloneDX 1.6 bill of materials of what a wheel was compiled from, for `.dist-info/sboms/` (PEP 770).

It has no time and no random serial number, and its versions have no local label: the same sources give the same bytes,
also when the wheel is relabelled.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from pinctl.urls import identity
from pinctl.wheel.names import Name
from pinctl.wheel.provenance import Provenance

FILE = "sboms/pinctl.cdx.json"
"""Below .dist-info."""


def render(name: Name, provenance: Provenance) -> bytes:
    """The document for a wheel of this name and provenance."""
    subject = f"pkg:pypi/{name.distribution}@{quote(name.public)}"
    parts = list(_parts(provenance))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "bom-ref": subject, "name": name.distribution, "version": name.public,
                          "purl": subject},
            "tools": {"components": [{"type": "application", "name": "pinctl", "version": provenance.pinctl}]},
            "properties": [
                {"name": f"pinctl:{key}", "value": value}
                for key in ("pin", "variant", "cuda", "image", "key") if (value := getattr(provenance, key))
            ],
        },
        "components": parts,
        "dependencies": [{"ref": subject, "dependsOn": [part["bom-ref"] for part in parts]}],
    }  # fmt: skip
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode("ascii")


def _parts(provenance: Provenance) -> Iterator[dict[str, Any]]:
    """The source, its submodules, and torch."""
    if provenance.commit:
        yield _source(provenance.pin, provenance.repo, provenance.commit, provenance)
    for path, commit in sorted(provenance.submodules.items()):
        yield _source(path, "", commit, None)
    if provenance.torch:
        purl = f"pkg:pypi/torch@{quote(provenance.torch)}"
        yield {"type": "library", "bom-ref": purl, "name": "torch", "version": provenance.torch, "purl": purl,
               "scope": "required"}  # fmt: skip


def _source(name: str, repo: str, commit: str, patched: Provenance | None) -> dict[str, Any]:
    purl = _purl(name, repo, commit)
    part: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": commit, "purl": purl}
    if repo:
        part["externalReferences"] = [{"type": "vcs", "url": repo}]
    if patched is not None and patched.patches:
        part["pedigree"] = {
            "patches": [{"type": "unofficial", "diff": {"url": quote(patch.file)}} for patch in patched.patches],
            "notes": "; ".join(f"{patch.file} sha256:{patch.sha256}" for patch in patched.patches),
        }
    return part


def _purl(name: str, repo: str, commit: str) -> str:
    """The package URL of a commit: `pkg:github/o/r@id` where GitHub has it, else one that names the repository."""
    host, _, path = identity(repo).partition("/") if repo else ("", "", "")
    if host == "github.com" and path.count("/") == 1:
        return f"pkg:github/{quote(path.lower())}@{commit}"
    where = f"?vcs_url=git%2B{quote(repo, safe='')}%40{commit}" if repo else ""
    return f"pkg:generic/{quote(name, safe='')}@{commit}{where}"
