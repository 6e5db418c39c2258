"""What a wheel was built of, written down inside it: `pinctl-provenance.json` in its .dist-info."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

FILE = "pinctl-provenance.json"
SCHEMA = 1
LIMIT = 1024 * 1024
"""Bytes that the file may have."""

_TEXTS = ("pin", "repo", "commit", "version", "variant", "cuda", "torch", "image", "key", "pinctl")


class PatchDigest(NamedTuple):
    """A patch that was applied: its path in the consumer's repository, and the sha256 of its bytes in hex."""

    file: str
    sha256: str


class Provenance(NamedTuple):
    """What a wheel was built of; "" where it is not known.

    submodules  path to commit
    torch       the version that it was compiled against
    image       the digest of the image that it was built in
    key         the key of the build cell
    pinctl      the version that built it
    """

    pin: str
    repo: str = ""
    commit: str = ""
    version: str = ""
    submodules: Mapping[str, str] = MappingProxyType({})
    patches: tuple[PatchDigest, ...] = ()
    variant: str = ""
    cuda: str = ""
    torch: str = ""
    image: str = ""
    key: str = ""
    pinctl: str = ""


class BadProvenance(Exception):
    """The file is there and cannot be read; `str(error)` says why, as a clause."""


def render(provenance: Provenance) -> bytes:
    """The file: the same bytes for the same provenance."""
    return (json.dumps(plain(provenance), indent=2, sort_keys=True) + "\n").encode("ascii")


def plain(provenance: Provenance) -> dict[str, Any]:
    """`provenance` as plain data, with the schema's number."""
    data = provenance._asdict() | {
        "schema": SCHEMA,
        "submodules": dict(provenance.submodules),
        "patches": [patch._asdict() for patch in provenance.patches],
    }
    return {key: value for key, value in data.items() if value != ""}


def read(data: bytes) -> Provenance:
    """What the file says; keys that are not known are passed over. Raises BadProvenance."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadProvenance(f"it is no JSON ({error})") from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or not found.get("pin"):
        raise BadProvenance(f"it is no object of schema {SCHEMA} with a pin")
    submodules, patches = found.get("submodules", {}), found.get("patches", [])
    if not _is_texts(submodules) or not isinstance(patches, list):
        raise BadProvenance("its submodules or patches have another shape")
    texts = {key: found.get(key, "") for key in _TEXTS}
    if not _is_texts(texts):
        raise BadProvenance("a value of it is no text")
    return Provenance(**texts, submodules=submodules, patches=tuple(map(_patch, patches)))


def _patch(found: object) -> PatchDigest:
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in PatchDigest._fields):
        raise BadProvenance("a patch of it has no file and sha256")
    return PatchDigest(found["file"], found["sha256"])


def _is_texts(value: object) -> bool:
    """Whether `value` maps texts to texts."""
    return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)
