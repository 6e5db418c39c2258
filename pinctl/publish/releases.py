"""Releases of GitHub: what they are called, what they take, and what one that is there already lacks.

GitHub's documentation, "About releases" and "REST API endpoints for release assets": an asset is smaller than 2 GiB, a
release has at most 1,000; a name's special characters become `.` unless the query is percent-encoded; an asset whose
upload broke off stays, in the state "starter", and its name is taken until it is deleted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from packaging.version import Version

from pinctl.index import names
from pinctl.model import NOTHING
from pinctl.publish.settings import GitHub

LARGEST = 2 * 1024**3
"""Bytes that an asset may not reach."""
MOST = 1000
"""Assets of a release."""
SIDECAR = ".metadata"


class Asset(NamedTuple):
    """A file of a release. `sha256` None: GitHub does not say; `whole`: it was uploaded to its end."""

    name: str
    size: int
    sha256: str | None = None
    whole: bool = True
    id: int = 0


class Release(NamedTuple):
    """A release that GitHub has, by its tag; `upload` is the URL that takes its assets."""

    id: int
    tag: str
    draft: bool
    upload: str = ""
    assets: Mapping[str, Asset] = NOTHING


class Work(NamedTuple):
    """What a release needs: assets to send, broken ones to delete before, and why it cannot have others: by file name a
    code and a clause. `kept` are there already, with the same bytes."""

    send: tuple[Asset, ...] = ()
    delete: tuple[Asset, ...] = ()
    kept: tuple[str, ...] = ()
    refused: Mapping[str, tuple[str, str]] = NOTHING


def tag(project: str, version: Version) -> str:
    """`deep-gemm-v2.8.0`: with the package, since one repository releases several, and versions meet."""
    return f"{project}-v{version.public}"


def of_file(filename: str) -> str:
    """The tag of the release that a file is of."""
    name = names.known(filename)
    return tag(name.project, name.version)


def address(where: GitHub, filename: str) -> str:
    """The URL that an asset is downloaded from."""
    return f"{where.web}/{where.repository}/releases/download/{of_file(filename)}/{names.in_url(filename)}"


def work(wanted: Sequence[Asset], there: Mapping[str, Asset]) -> Work:
    """What is to be done for the assets `wanted`, in their order, where `there` are some."""
    send, delete, kept, refused = [], [], [], dict[str, tuple[str, str]]()
    for asset in wanted:
        had = there.get(asset.name)
        if asset.size >= LARGEST:
            refused[asset.name] = "PIN727", f"has {asset.size / 2**30:.2f} GiB, and an asset must be smaller than 2"
        elif had is None or not had.whole:
            send.append(asset)
            delete += [had] if had else []
        elif clause := differs(asset, had):
            refused[asset.name] = "PIN717", clause
        else:
            kept.append(asset.name)
    count = len({*there, *(asset.name for asset in wanted)})
    if count > MOST and send:
        refused[send[-1].name] = "PIN727", f"would be one of {count} assets, and a release has at most {MOST}"
    return Work(tuple(send), tuple(delete), tuple(kept), refused)


def differs(wanted: Asset, found: Asset) -> str | None:
    """Why `found`, which GitHub has, is not `wanted`, as a clause; None where nothing tells them apart."""
    if found.name != wanted.name:
        return f"became {found.name!r} on GitHub"
    if found.size != wanted.size:
        return f"has {wanted.size} bytes, and the asset of this name {found.size}"
    if found.sha256 is not None and found.sha256 != wanted.sha256:
        return f"has the digest {str(wanted.sha256)[:12]}, and the asset of this name {found.sha256[:12]}"
    return None


def read(said: Mapping[str, Any]) -> Release:
    """A release, as the interface describes it. Raises ValueError for what is none."""
    try:
        assets = {asset.name: asset for asset in map(read_asset, said["assets"])}
        upload = str(said["upload_url"]).partition("{")[0]
        return Release(int(said["id"]), str(said["tag_name"]), bool(said["draft"]), upload, assets)
    except (KeyError, TypeError) as error:
        raise ValueError(f"no release: {error}") from error


def read_asset(said: Mapping[str, Any]) -> Asset:
    """An asset, as the interface describes it. Raises ValueError for what is none."""
    try:
        kind, _, digest = str(said.get("digest") or "").partition(":")
        sha256 = digest.lower() if kind == "sha256" else None
        return Asset(str(said["name"]), int(said["size"]), sha256, said.get("state") == "uploaded", int(said["id"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no asset: {error}") from error


def is_prerelease(tags: Iterable[str]) -> bool:
    """Whether the files of these names are of a version that is no final one."""
    return any(names.known(filename).version.is_prerelease for filename in tags)
