from __future__ import annotations

from pinctl import manifest, waivers
from pinctl.codes import finding
from pinctl.finding import Finding, Severity

COMMIT = "a1" * 20
PINS = f"""\
schema = 1
allow = [{{ code = "PIN316", reason = "comes with the image" }}]
[pins.x]
repo = "https://h/o/x"
commit = "{COMMIT}"
unused = true
allow = [{{ code = "PIN305", reason = "not built" }}]
[pins.y]
repo = "https://h/o/y"
commit = "{COMMIT}"
unused = true
"""


def told(code: str, pin: str, severity: Severity = Severity.WARNING) -> Finding:
    return finding(code, "so it is", file="pins.toml", pin=pin, severity=severity)


def test_a_warning_of_a_tree_is_accepted_for_its_pin_alone() -> None:
    parsed = manifest.parse(PINS)
    findings = [told("PIN305", "x"), told("PIN305", "y"), told("PIN316", "y"), told("PIN316", "x", Severity.ERROR)]
    assert waivers.of_trees(findings, parsed, ["x", "y"]) == [findings[1], findings[3]]


def test_a_waiver_that_accepts_nothing_is_told_where_all_it_speaks_of_was_looked_at() -> None:
    parsed = manifest.parse(PINS)

    def stale(*judged: str) -> list[tuple[str, int | None]]:
        return [(f.code, f.span and f.span.line) for f in waivers.of_trees([], parsed, judged)]

    assert stale() == []
    assert stale("y") == []
    assert stale("x") == [("PIN123", 7)]
    assert stale("x", "y") == [("PIN123", 2), ("PIN123", 7)]


def test_check_says_nothing_of_waivers_of_trees() -> None:
    assert waivers.apply([], manifest.parse(PINS), searched=True) == []
