"""What `allow` of pins.toml accepts of the warnings of `check`. Pure.

A waiver of a pin holds for findings of that pin, one of the whole file for all. Errors are never waived: who accepts
a drift takes its site out of pins.toml.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.model import Manifest, Waiver

_SEARCH = "PIN214"
"""The code that only a search of the whole tree can find."""


def apply(findings: Iterable[Finding], manifest: Manifest, *, searched: bool) -> list[Finding]:
    """`findings` without the warnings that are accepted, and with one (PIN123) for each waiver that accepts nothing.

    `searched`: the tree was searched for unguarded mentions, so that a waiver of those is known to be of use or not.
    """
    waivers = dict.fromkeys(_in_force(manifest), False)
    kept = []
    for found in findings:
        accepting = next((waiver for waiver in waivers if _accepts(*waiver, found)), None)
        if accepting:
            waivers[accepting] = True
        else:
            kept.append(found)
    unused = (waiver for (waiver, _), used in waivers.items() if not used)
    return kept + [_stale(waiver, manifest) for waiver in unused if searched or waiver.code not in (None, _SEARCH)]


def _in_force(manifest: Manifest) -> list[tuple[Waiver, str | None]]:
    """The waivers that `check` judges, each with its pin; those that have ended are told elsewhere."""
    commits = {pin.commit for pin in manifest.pins.values()}
    every: list[tuple[Waiver, str | None]]
    every = [(waiver, None) for waiver in manifest.allow if waiver.until not in commits or waiver.until is None]
    for pin in manifest.pins.values():
        every += [(waiver, pin.name) for waiver in pin.allow if waiver.until is None or waiver.until != pin.commit]
    return [(w, pin) for w, pin in every if w.symbol is None and (w.code is None or w.code.startswith("PIN2"))]


def _accepts(waiver: Waiver, pin: str | None, found: Finding) -> bool:
    return (
        found.severity is Severity.WARNING
        and waiver.code in (None, found.code)
        and pin in (None, found.pin)
        and (waiver.path is None or (found.file is not None and fnmatchcase(found.file, waiver.path)))
    )


def _stale(waiver: Waiver, manifest: Manifest) -> Finding:
    at = pins_toml.locate(manifest, waiver.key)
    what = " in ".join(word for word in (waiver.code, waiver.path) if word)
    return finding(
        "PIN123", f"the waiver for {what} accepts nothing", file=at.file, span=at.span, hint=f"drop it from {at.file}"
    )
