from __future__ import annotations

from pinctl.contract.breaks.model import Break, Class
from pinctl.contract.breaks.telling import baseline, findings, row
from pinctl.contract.model import Place, When
from pinctl.finding import Location, Severity, Span


def broken(line: int = 3, *, file: str = "engine/a.py", what: str = "`up.f` is gone", **more: object) -> Break:
    return Break(Class.HARD, "up.f", what, Place(file, line, 5), When.IMPORT)._replace(**more)


def test_a_break_is_a_finding() -> None:
    one = broken(before="up/api.py:1 f(a)", hint="there is `up.g`", dependents=(Place("engine/a.py", 9, 1),))
    (found,) = findings([one], "up")
    assert (found.code, found.severity, found.pin, found.selector) == ("PIN401", Severity.ERROR, "up", "up.f")
    assert found.message == "HARD, import time: `up.f` is gone"
    assert (found.file, found.span) == ("engine/a.py", Span(3, 5))
    assert (found.expected, found.found, found.hint) == ("up/api.py:1 f(a)", None, "there is `up.g`")
    assert found.related == (Location("engine/a.py", Span(9, 1), "goes through it"),)


def test_what_is_wrong_in_several_places_is_one_finding() -> None:
    (found,) = findings([broken(8), broken(3), broken(4, file="engine/b.py")], "up")
    assert found.message == "HARD, import time: `up.f` is gone (3 places)"
    assert [(r.file, r.span and r.span.line) for r in found.related] == [("engine/a.py", 8), ("engine/b.py", 4)]
    assert len(findings([broken(), broken(what="another")], "up")) == 2


def test_what_only_warns_says_no_time() -> None:
    (found,) = findings([broken(kind=Class.PRIVATE)], "up")
    assert (found.message, found.severity) == ("PRIVATE: `up.f` is gone", Severity.WARNING)


def test_a_place_without_a_line() -> None:
    (found,) = findings([broken(place=Place("pins.toml", 0))], "up")
    assert found.span is None


def test_the_baseline_is_one_finding() -> None:
    old = [broken(n, baseline=True) for n in range(1, 4)]
    assert findings(old, "up") == []
    (found,) = baseline(old, "up")
    assert (found.code, found.severity) == ("PIN416", Severity.INFO)
    assert found.message == "3 uses were as wrong before: `up.f`"
    assert [r.message for r in found.related] == ["HARD: `up.f` is gone"] * 3
    assert baseline([broken()], "up") == []


def test_a_row_for_scripts() -> None:
    assert row(broken(subject="k", dependents=(Place("engine/a.py", 9, 1),))) == {
        "class": "HARD", "code": "PIN401", "symbol": "up.f", "subject": "k", "what": "`up.f` is gone",
        "file": "engine/a.py", "line": 3, "column": 5, "when": "import", "before": None, "after": None, "hint": None,
        "dependents": ["engine/a.py:9"], "baseline": False,
    }  # fmt: skip
