"""What an image says of itself: OCI's labels, and one label for each pin.

org.opencontainers.image.title      the image's name in pins.toml
org.opencontainers.image.revision   the consumer's commit, where its work tree is at one
dev.pinctl.version                  the pinctl that built it
dev.pinctl.variant                  the variant whose wheels are in it
dev.pinctl.pin.NAME                 the pin: its commit, else its version, else the digest of its archive or image
"""

from collections.abc import Iterable, Iterator, Mapping

from pinctl.codes import finding
from pinctl.finding import Finding
from pinctl.model import Image, Pin

OURS = "dev.pinctl."
_PIN = f"{OURS}pin."


def identity(pin: Pin) -> str | None:
    """What tells one state of a pin from another; None where pins.toml does not hold it."""
    digest = f"sha256:{pin.sha256}" if isinstance(pin.sha256, str) else None
    return pin.commit or pin.version or digest or pin.digest or (pin.image or "").partition("@")[2] or None


def labels(image: Image, pins: Iterable[Pin], pinctl: str, revision: str | None = None) -> dict[str, str]:
    """The labels of an image that is built from `pins`, sorted."""
    said = {
        "org.opencontainers.image.title": image.name,
        "org.opencontainers.image.revision": revision,
        f"{OURS}version": pinctl,
        f"{OURS}variant": image.variant,
        **{f"{_PIN}{pin.name}": identity(pin) for pin in pins},
    }
    return {name: value for name, value in sorted(said.items()) if value}


def judge(image: Image, pins: Iterable[Pin], found: Mapping[str, str], where: str) -> Iterator[Finding]:
    """What the labels of the image `where` say otherwise than pins.toml: PIN830 none at all, PIN831 another pin."""
    again = f"run: pinctl image {image.name}"
    if not any(name.startswith(OURS) for name in found):
        yield finding("PIN830", f"{where} has no labels of pinctl: nothing says what it was built from", hint=again)
        return
    if image.variant and found.get(f"{OURS}variant") != image.variant:
        yield _other(where, "variant", image.variant, found.get(f"{OURS}variant"), None, again)
    for pin in pins:
        wanted = identity(pin)
        if wanted and found.get(f"{_PIN}{pin.name}") != wanted:
            yield _other(where, pin.name, wanted, found.get(f"{_PIN}{pin.name}"), pin.name, again)


def _other(where: str, what: str, wanted: str, found: str | None, pin: str | None, hint: str) -> Finding:
    return finding("PIN831", f"{where} was built from another {what} than pins.toml says", pin=pin, expected=wanted,
                   found=found or "none", hint=hint)  # fmt: skip
