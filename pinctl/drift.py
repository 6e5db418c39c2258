"""What to say of a slot that does not hold what it should. Pure."""

from enum import StrEnum

from pinctl.compare import Verdict
from pinctl.finding import Finding, Location, Severity
from pinctl.model import KeyPath, Manifest, Mode
from pinctl.reconcile import Observation, about


class Newer(StrEnum):
    """Which side of a drift changed last.

    BORN: the pin is younger, since it was just written, and has never agreed with the site. UNKNOWN: without history,
    and where one commit made both.
    """

    SITE = "site"
    PIN = "pin"
    BORN = "born"
    UNKNOWN = "unknown"


def describe(
    observation: Observation, manifest: Manifest, newer: Newer = Newer.UNKNOWN, origin: Location | None = None
) -> Finding:
    """The finding of one differing slot; `origin` is where pins.toml states the value."""
    code, message = _what(observation)
    found = about(observation, code, message, _mend(observation, newer, manifest))
    return found._replace(related=(origin._replace(message="pins.toml states it here"),)) if origin else found


def _what(observation: Observation) -> tuple[str, str]:
    site, of = observation.site, f" ({observation.part})" if observation.part else ""
    name = f"`{site.selector}`{of}"
    if observation.verdict is Verdict.ABBREVIATED:
        return "PIN204", f"{name} names the pinned commit in another length than the template asks for"
    if observation.found is None:
        return "PIN201", f"{name} is not stated, and pins.toml states it"
    if isinstance(observation.found, tuple) and isinstance(observation.wanted, tuple):
        return _lists(name, observation.found, observation.wanted, site.mode)
    return "PIN201", f"{name} differs from pins.toml"


def _lists(name: str, found: tuple[str, ...], wanted: tuple[str, ...], mode: Mode) -> tuple[str, str]:
    missing = [v for v in wanted if v not in found]
    extra = [v for v in found if v not in wanted]
    if mode is Mode.CONTAINS and extra and not missing:
        return "PIN215", f"{name} still holds what pins.toml dropped: {', '.join(extra)}"
    told = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has {', '.join(extra)} too many"] * bool(extra)
    return "PIN201", f"{name} {' and '.join(told) or 'has another order than pins.toml'}"


def _mend(observation: Observation, newer: Newer, manifest: Manifest) -> str:
    site = observation.site
    if not observation.expected.resolved:
        return f"the pin's commit is not known in full: write it into {manifest.path}, and drop `unresolved` there"
    adopt = _adopt(observation, manifest)
    if observation.unwritable:
        by_hand = observation.unwritable.mend
        return _either(f"run: {by_hand}", adopt) if by_hand else f"edit it by hand ({observation.unwritable})"
    if newer is Newer.PIN:
        return "the pin changed last; run: pinctl sync"
    if site.mode is Mode.CONTAINS:
        return "run: pinctl sync"
    if newer is Newer.SITE:
        return "the site changed last; " + _either(adopt, "pinctl sync --force (overwrites it)")
    if newer is Newer.BORN:
        return "the pin is new, so decide; " + _either(adopt, "pinctl sync --force (writes the pin's value)")
    return _either("run: pinctl sync (writes the pin's value)", adopt)


def _either(*ways: str | None) -> str:
    """The ways there are, the first as an order: "run: A, or: B"."""
    text = ", or: ".join(way for way in ways if way)
    return text if text.startswith("run: ") else f"run: {text}"


def _adopt(observation: Observation, manifest: Manifest) -> str | None:
    """The command that takes the site's value over; None where no fact follows from what the site holds."""
    from shlex import quote

    from pinctl.adoption import fact_value

    if isinstance(fact_value(observation, manifest), Finding):
        return None
    return f"pinctl adopt {quote(observation.site.file)} (takes it into {manifest.path})"


def lowered(finding_: Finding, since: str) -> Finding:
    """A drift that was there already at `since`: told, but no failure."""
    return finding_._replace(severity=Severity.WARNING, message=f"{finding_.message} (already so at {since})")


def origin_keys(observation: Observation) -> tuple[KeyPath, ...]:
    """The keys of pins.toml that the expected value was made of."""
    return tuple(key for key in observation.expected.facts if key)
