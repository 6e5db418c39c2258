"""How `verify` speaks: findings at a key of a pin in pins.toml."""

from dataclasses import dataclass

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.finding import Finding, Location, Severity
from pinctl.model import KeyPath, Manifest, Pin, Variant

_VARIANTS = "variants."


def key_of(name: str) -> KeyPath:
    """Where the pin `name` stands in pins.toml: `pins.NAME`, or `variants.NAME` for the image of a variant."""
    return ("variants", name.removeprefix(_VARIANTS)) if name.startswith(_VARIANTS) else ("pins", name)


def image_of(variant: Variant) -> Pin:
    """The image of a variant as a pin; no pin of pins.toml can have its name, `variants.NAME`."""
    return Pin(f"{_VARIANTS}{variant.name}", image=variant.image, digest=variant.digest)


@dataclass(frozen=True, slots=True)
class Telling:
    """Makes findings of one pin, each at a key of it in pins.toml."""

    pin: Pin
    manifest: Manifest

    def at(self, *key: str | int) -> Location:
        """The place in pins.toml of a key of the pin, or of its nearest parent."""
        return pins_toml.locate(self.manifest, (*key_of(self.pin.name), *key))

    def tell(
        self,
        code: str,
        message: str,
        *key: str | int,
        hint: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding at that place."""
        place = self.at(*key)
        return finding(
            code, message, file=place.file, span=place.span, pin=self.pin.name, hint=hint, expected=expected,
            found=found, severity=severity,
        )  # fmt: skip
