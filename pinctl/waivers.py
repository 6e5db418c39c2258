"""What `allow` of pins.toml accepts: of the warnings of `check` and `verify`, and of the breaks of `contract`. Pure.

A waiver of a pin holds for findings of that pin, one of the whole file for all. Errors of `check` and `verify` are
never waived: who accepts a drift takes its site out of pins.toml. But an edit that need not match has none that could
be taken out: it is accepted by its code. A break is accepted even where it fails, by its code
or its symbol: a person has looked at that one, and says why.
"""

from collections.abc import Collection, Container, Iterable, Iterator
from fnmatch import fnmatchcase

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.model import Manifest, Pin, Waiver

_EDIT = "PIN350"
"""The code of an error that is accepted where a waiver names it."""
_PATCHES = "PIN5"
_SEARCH = "PIN214"
"""The code that only a search of the whole tree can find."""


def apply(findings: Iterable[Finding], manifest: Manifest, *, searched: bool) -> list[Finding]:
    """`findings` without the warnings that are accepted, and with one (PIN123) for each waiver that accepts nothing.

    `searched`: the tree was searched for unguarded mentions, so that a waiver of those is known to be of use or not.
    """
    kept, unused = _sifted(findings, _in_force(manifest, "PIN2", _PATCHES))
    idle = [w for w, _ in unused if not (w.code or "").startswith(_PATCHES)]  # of which the cache alone may not know
    return kept + [stale(waiver, manifest) for waiver in idle if searched or waiver.code not in (None, _SEARCH)]


def of_trees(findings: Iterable[Finding], manifest: Manifest, judged: Collection[str]) -> list[Finding]:
    """As `apply`, of the warnings of `verify`; `judged` are the pins that were looked at to the end."""
    kept, unused = _sifted(
        findings, [(w, pin) for w, pin in _in_force(manifest, "PIN3", _PATCHES) if w.code is not None]
    )
    every = all(pin.name in judged for pin in manifest.pins.values() if pin.repo)
    known = (waiver for waiver, pin in unused if (every if pin is None else pin in judged))
    return kept + [stale(waiver, manifest) for waiver in known]


_Waivers = list[tuple[Waiver, str | None]]
"""Waivers, each with its pin."""


def _sifted(findings: Iterable[Finding], waivers: _Waivers) -> tuple[list[Finding], _Waivers]:
    """The findings that no waiver accepts, and the waivers that accept none."""
    used = dict.fromkeys(waivers, False)
    kept = []
    for found in findings:
        accepting = next((waiver for waiver in waivers if _accepts(*waiver, found)), None)
        if accepting:
            used[accepting] = True
        else:
            kept.append(found)
    return kept, [waiver for waiver, use in used.items() if not use]


def _in_force(manifest: Manifest, *families: str) -> _Waivers:
    """The waivers of the codes of some families, and of no code; those that have ended are told elsewhere."""
    every: _Waivers = [(w, None) for w in _lasting(manifest.allow, _commits(manifest))]
    for pin in manifest.pins.values():
        every += [(waiver, pin.name) for waiver in _lasting(pin.allow, (pin.commit,))]
    return [(w, pin) for w, pin in every if w.symbol is None and (w.code is None or w.code.startswith(families))]


def _lasting(waivers: Iterable[Waiver], commits: Container[str | None]) -> Iterator[Waiver]:
    """Those of `waivers` that do not end at one of `commits`."""
    return (waiver for waiver in waivers if waiver.until is None or waiver.until not in commits)


def _commits(manifest: Manifest) -> set[str | None]:
    return {pin.commit for pin in manifest.pins.values()}


def _accepts(waiver: Waiver, pin: str | None, found: Finding) -> bool:
    return (
        (found.severity is Severity.WARNING or (found.code == waiver.code == _EDIT))
        and waiver.code in (None, found.code)
        and pin in (None, found.pin)
        and (waiver.path is None or (found.file is not None and fnmatchcase(found.file, waiver.path)))
    )


# --- breaks -------------------------------------------------------------------------------------------------------


def of_breaks(manifest: Manifest, pin: Pin, commit: str) -> list[Waiver]:
    """The waivers that hold for breaks of `pin` when it goes to `commit`: its own, then those of the whole file."""
    every = [*_lasting(pin.allow, (commit,)), *_lasting(manifest.allow, _commits(manifest) | {commit})]
    return [waiver for waiver in every if waiver.code is None or waiver.code.startswith("PIN4")]


def accepts(waiver: Waiver, code: str, symbol: str, file: str, *, error: bool) -> bool:
    """Whether `waiver` accepts a break of this code and symbol in `file`; an `error` only by its code or symbol."""
    return (
        waiver.code in (None, code)
        and (waiver.symbol is None or fnmatchcase(symbol, waiver.symbol))
        and (waiver.path is None or fnmatchcase(file, waiver.path))
        and not (error and waiver.code is None and waiver.symbol is None)
    )


def stale(waiver: Waiver, manifest: Manifest) -> Finding:
    """The finding that a waiver accepts nothing."""
    at = pins_toml.locate(manifest, waiver.key)
    what = " in ".join(word for word in (waiver.code, waiver.symbol, waiver.path) if word)
    return finding(
        "PIN123", f"the waiver for {what} accepts nothing", file=at.file, span=at.span, hint=f"drop it from {at.file}"
    )
