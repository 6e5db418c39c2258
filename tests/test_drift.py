import pytest

from pinctl.compare import Verdict
from pinctl.drift import Newer, describe, lowered, origin_keys
from pinctl.finding import Location, Severity, Span
from pinctl.model import Manifest, Mode, Site
from pinctl.reconcile import Observation
from pinctl.sites.base import Unwritable, Value
from pinctl.template import Expected

MANIFEST = Manifest(path="pins.toml", text="")
SPAN = Span(line=3, column=8)


def observed(
    found: Value | None,
    wanted: Value,
    *,
    verdict: Verdict = Verdict.DIFFERENT,
    mode: Mode = Mode.AUTO,
    part: str = "",
    resolved: bool = True,
    unwritable: Unwritable | None = None,
) -> Observation:
    return Observation(
        site=Site(file="it's/a file", selector="ARG REF", template="{commit}", mode=mode, pin="dg", key=("k",)),
        part=part,
        expected=Expected(value=wanted, resolved=resolved, facts=(("pins", "dg", "commit"), ())),
        found=found,
        wanted=wanted,
        verdict=verdict,
        span=SPAN,
        unwritable=unwritable,
    )


@pytest.mark.parametrize(
    ("observation", "code", "message"),
    [
        (observed("b", "a"), "PIN201", "`ARG REF` differs from pins.toml"),
        (observed("b", "a", part="ref"), "PIN201", "`ARG REF` (ref) differs from pins.toml"),
        (
            observed(None, ("a",), part="submodules"),
            "PIN201",
            "`ARG REF` (submodules) is not stated, and pins.toml states it",
        ),
        (observed("abc", "abcd", verdict=Verdict.ABBREVIATED), "PIN204", "another length"),
        (observed(("a",), ("a", "b")), "PIN201", "lacks b"),
        (observed(("a", "x", "y"), ("a",)), "PIN201", "has x, y too many"),
        (observed(("a", "x"), ("a", "b")), "PIN201", "lacks b and has x too many"),
        (observed(("b", "a"), ("a", "b")), "PIN201", "has another order than pins.toml"),
        (observed(("a", "x"), ("a",), mode=Mode.CONTAINS), "PIN215", "still holds what pins.toml dropped: x"),
        (observed(("x",), ("a",), mode=Mode.CONTAINS), "PIN201", "lacks a and has x too many"),
    ],
)
def test_what_is_said(observation: Observation, code: str, message: str) -> None:
    found = describe(observation, MANIFEST)
    assert (found.code, found.pin, found.selector, found.span) == (code, "dg", "ARG REF", SPAN)
    assert message in found.message
    assert found.severity is (Severity.WARNING if code == "PIN204" else Severity.ERROR)


def test_both_values_are_shown() -> None:
    found = describe(observed(None, ("a", "b")), MANIFEST)
    assert (found.expected, found.found) == ("a b", "(not stated)")
    found = describe(observed((), "a"), MANIFEST)
    assert (found.expected, found.found) == ("a", "(empty)")


ADOPT = """pinctl adopt 'it'"'"'s/a file' (takes it into pins.toml)"""
WRITE = "pinctl sync (writes the pin's value)"


def adoptable(found: str = "b", **more: object) -> Observation:
    """A site from whose value the fact follows."""
    seen = observed(found, "a", **more)  # type: ignore[arg-type]
    expected = Expected(value="a", resolved=seen.expected.resolved, facts=(("pins", "dg", "version"),))
    return seen._replace(site=seen.site._replace(template="{version}"), expected=expected)


@pytest.mark.parametrize(
    ("observation", "newer", "hint"),
    [
        (adoptable(), Newer.UNKNOWN, f"run: {WRITE}, or: {ADOPT}"),
        (observed("b", "a"), Newer.UNKNOWN, f"run: {WRITE}"),
        (adoptable(), Newer.PIN, "the pin changed last; run: pinctl sync"),
        (adoptable(), Newer.SITE, f"the site changed last; run: {ADOPT}, or: pinctl sync --force (overwrites it)"),
        (observed("b", "a"), Newer.SITE, "the site changed last; run: pinctl sync --force (overwrites it)"),
        (
            adoptable(), Newer.BORN,
            f"the pin is new, so decide; run: {ADOPT}, or: pinctl sync --force (writes the pin's value)",
        ),
        (observed(("b",), ("b", "a"), mode=Mode.CONTAINS), Newer.SITE, "run: pinctl sync"),
        (observed("b", "a", unwritable=Unwritable("no room")), Newer.SITE, "edit it by hand (no room)"),
        (
            adoptable(unwritable=Unwritable("git's", mend="git add x")), Newer.UNKNOWN,
            f"run: git add x, or: {ADOPT}",
        ),
        (
            observed("b", "a", resolved=False), Newer.SITE,
            "the pin's commit is not known in full: write it into pins.toml, and drop `unresolved` there",
        ),
    ],
)  # fmt: skip
def test_what_mends_it(observation: Observation, newer: Newer, hint: str) -> None:
    assert describe(observation, MANIFEST, newer).hint == hint


def test_where_pins_toml_states_the_value() -> None:
    assert origin_keys(observed("b", "a")) == (("pins", "dg", "commit"),)
    found = describe(observed("b", "a"), MANIFEST, origin=Location("pins.toml", SPAN))
    assert found.related == (Location("pins.toml", SPAN, "pins.toml states it here"),)


def test_old_drift() -> None:
    before = describe(observed("b", "a"), MANIFEST)
    after = lowered(before, "v1")
    assert after.severity is Severity.WARNING
    assert after.message == f"{before.message} (already so at v1)"
    assert after._replace(severity=before.severity, message=before.message) == before
