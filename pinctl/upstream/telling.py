"""How `verify` speaks: findings at a key of a pin in pins.toml."""

from dataclasses import dataclass

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.finding import Finding, Location, Severity
from pinctl.model import Manifest, Pin


@dataclass(frozen=True, slots=True)
class Telling:
    """Makes findings of one pin, each at a key of it in pins.toml."""

    pin: Pin
    manifest: Manifest

    def at(self, *key: str | int) -> Location:
        """The place in pins.toml of a key of the pin, or of its nearest parent."""
        return pins_toml.locate(self.manifest, ("pins", self.pin.name, *key))

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
