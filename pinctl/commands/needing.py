"""Findings of what pins need of each other, and of the gitlinks that are stored for it. Offline."""

from collections.abc import Collection

from pinctl import manifest as pins_toml
from pinctl import needs, nested
from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.model import KeyPath, Manifest
from pinctl.needs import Broken

_CODE = "PIN120"


def findings(manifest: Manifest) -> list[Finding]:
    """Needs that are not met or cannot be judged, and stored gitlinks that nothing asks for."""
    found = [_told(one, manifest) for one in needs.broken(manifest)]
    for key, error in needs.unstored(manifest):
        found.append(_at(manifest, error.code, str(error), key, error.hint))
    for pin, path in nested.unused(manifest):
        what = f"nothing asks for the gitlink {path} of {pin.name}, which pins.toml stores"
        found.append(_at(manifest, "PIN126", what, ("pins", pin.name, "nested", path), "drop it, or use {nested:PATH}"))
    return found


def of_bump(before: Manifest, after: Manifest, names: Collection[str], accepted: Collection[str]) -> list[Finding]:
    """The needs that the bump of the pins `names` breaks, as errors unless they are accepted, and those of theirs that
    it leaves broken, as warnings. They stand where `before` has them."""
    stale = {one.key for one in needs.broken(before)}
    found = []
    for one in needs.broken(after):
        told = _told(one, before)
        if one.key not in stale:
            hint = f"bump the other pin with it; or accept it by name, --accept {_CODE}, and bump that one next"
            told = told._replace(message=f"as it would become: {one.message}", hint=hint)
            found.append(told if _CODE not in accepted else told._replace(severity=Severity.WARNING))
        elif not {one.pin, one.other}.isdisjoint(names):
            found.append(told._replace(severity=Severity.WARNING))
    return found


def _told(one: Broken, manifest: Manifest) -> Finding:
    related = pins_toml.locate(manifest, one.fact)._replace(message=f"{one.other} is pinned here")
    told = _at(manifest, _CODE, one.message, one.key, one.hint)
    return told._replace(expected=one.wanted, found=one.found, related=(related,))


def _at(manifest: Manifest, code: str, message: str, key: KeyPath, hint: str) -> Finding:
    place = pins_toml.locate(manifest, key)
    return finding(code, message, file=place.file, span=place.span, pin=str(key[1]), hint=hint)
