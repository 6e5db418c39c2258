"""Names of container images, and what a registry says of one against its pin."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pinctl.finding import Finding
from pinctl.model import Pin
from pinctl.upstream.telling import Telling

_HUB = "registry-1.docker.io"
_HUB_NAMES = ("docker.io", "index.docker.io")
_TAG = re.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_WORD = re.compile("[A-Za-z0-9_.-]{1,80}")
_CHALLENGE = re.compile(r'([a-z_]{1,30})="([^"]{0,1000})"', re.IGNORECASE)


class Image(NamedTuple):
    """An image name taken apart: `host` of the registry's interface, `name` there, `tag` where one is said or meant."""

    host: str
    name: str
    tag: str | None
    digest: str | None


class Standing(NamedTuple):
    """What a registry says: `tagged` is the digest that the tag leads to now (None: there is no such tag), `held`
    whether it still has the pinned digest (None: not asked), `platforms` those that the image is for, where its index
    was looked into and names any."""

    tagged: str | None = None
    held: bool | None = None
    failure: str | None = None
    hint: str | None = None
    refused: bool = False
    platforms: tuple[str, ...] = ()


def parse(image: str, digest: str | None) -> Image:
    """`image` as Docker reads it: without a host it is on Docker Hub, without tag and digest it is `latest`."""
    rest, _, own = image.partition("@")
    path, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:
        path, tag = rest, ""
    first, slash, name = path.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        first, name = _HUB_NAMES[0], path
    if first in _HUB_NAMES:
        first, name = _HUB, name if "/" in name else f"library/{name}"
    return Image(first, name, tag or (None if own else "latest"), digest or own or None)


def is_tag(text: str) -> bool:
    """Whether `text` is a tag (OCI distribution specification)."""
    return _TAG.fullmatch(text) is not None


def retagged(image: str, tag: str) -> str:
    """The name of `image` with another tag, without a digest."""
    rest = image.partition("@")[0]
    path, colon, old = rest.rpartition(":")
    return f"{path if colon and '/' not in old else rest}:{tag}"


def platforms(index: object) -> tuple[str, ...]:
    """The platforms that an image index names (OCI image specification, "Image Index"), as Docker writes them; none of
    a manifest of another kind. Attestations are of no platform: `unknown`."""
    entries = index.get("manifests") if isinstance(index, dict) else None
    named = [entry.get("platform") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    pairs = ((one.get("os"), one.get("architecture")) for one in named if isinstance(one, dict))
    return tuple(sorted({f"{system}/{machine}" for system, machine in pairs
                         if isinstance(system, str) and isinstance(machine, str) and _WORD.fullmatch(system + machine)
                         and system != "unknown"}))  # fmt: skip


def lacking(say: Telling, image: Image, there: Sequence[str], wanted: Sequence[str]) -> Iterator[Finding]:
    """The platforms that are wanted and that an image for several does not have."""
    for platform in wanted:
        if there and platform not in there:
            what = f"{image.host}/{image.name}:{image.tag} has nothing for {platform}"
            yield say.tell("PIN334", what, "image", hint=f"it is for {', '.join(there)}")


def challenge(header: str) -> Mapping[str, str] | None:
    """The parameters of a Bearer challenge (RFC 6750; distribution, "Token Authentication"); None for another."""
    scheme, _, rest = header.strip().partition(" ")
    return dict(_CHALLENGE.findall(rest)) if scheme.lower() == "bearer" else None


def judge(say: Telling, image: Image, manifest: Standing) -> Iterator[Finding]:
    """What is wrong with an image pin. The digest of an image for several platforms is that of its index."""
    key = "digest" if say.pin.digest else "image"
    shown = f"{image.name}:{image.tag}" if image.tag else image.name
    if manifest.failure:
        yield say.tell("PIN321" if manifest.refused else "PIN320", manifest.failure, "image", hint=manifest.hint)
    elif image.tag and manifest.tagged is None:
        yield say.tell("PIN332", f"{image.host} has no image {shown}", "image", hint=_of_digest(manifest))
    elif manifest.held is False:
        what = f"{image.host} no longer has the pinned digest of {shown}"
        found = manifest.tagged and f"{manifest.tagged} under {image.tag}"
        yield say.tell("PIN332", what, key, expected=image.digest, found=found, hint="pin one that it has")
    elif image.tag and image.digest and manifest.tagged != image.digest:
        what = f"the tag {image.tag} of {image.host}/{image.name} leads to another digest than the pinned one"
        yield say.tell("PIN333", what, key, expected=image.digest, found=manifest.tagged, hint=_of_digest(manifest))


def _of_digest(manifest: Standing) -> str | None:
    return "the pinned digest can still be had; look at what changed, and pin the new one" if manifest.held else None


def row(pin: Pin, manifest: Standing) -> Mapping[str, object]:
    """For scripts; nothing of an image whose registry did not answer."""
    return {} if manifest.failure else {"image": pin.image, "tagged": manifest.tagged, "held": manifest.held}
