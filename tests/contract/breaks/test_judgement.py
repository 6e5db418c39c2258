from __future__ import annotations

from pinctl.contract.breaks.judgement import Judgement
from pinctl.contract.breaks.model import Break, Class
from pinctl.contract.model import Place, Uses

from ..support import surface, use

A, B = (surface("up.f(a)")._replace(commit=digit * 40) for digit in "ab")
USED = (use("up.f", "1", line=3), use("up.f", "1", line=9), use("up"))


def broken(line: int, kind: Class = Class.HARD, **more: object) -> Break:
    return Break(kind, "up.f", "gone", Place("engine/a.py", line, 5))._replace(**more)


def judged(*breaks: Break, **more: object) -> Judgement:
    return Judgement("up", A, B, Uses(USED), ("up",), breaks)._replace(**more)


def test_a_run_in_which_nothing_fails() -> None:
    assert judged().summary == "3 uses of 2 names of up from aaaaaaaaaa to bbbbbbbbbb: none fails"
    assert judged(before=B).summary == "3 uses of 2 names of up at bbbbbbbbbb: none fails"
    assert judged(accepted=((broken(1), "why"),), known=2).summary.endswith("none fails; 1 accepted; 2 known")


def test_what_fails() -> None:
    breaks = (broken(3), broken(9, Class.TYPE), broken(9, baseline=True))
    assert judged(*breaks).failing == [broken(3)]


def test_the_table_is_one_row_a_class_and_name() -> None:
    (table,) = judged(broken(9), broken(3), broken(4, Class.TYPE), broken(1, baseline=True)).tables
    assert table.rows == (("HARD", "up.f", "2", "engine/a.py:3"), ("TYPE", "up.f", "1", "engine/a.py:4"))
    assert judged(broken(1, baseline=True)).tables == ()


def test_what_could_not_be_seen() -> None:
    here, ever = judged().unseen
    assert here == "not seen here: nothing that was met"
    assert ever.startswith("never seen: computed names, ")
    asked = Uses(USED, unseen={"attributes of what a call returned": 4, "handed on": 0})
    here, _ = judged(uses=asked, after=surface("up.f()", open={"up": "computed"})).unseen
    assert here == (
        "not seen here: 4 attributes of what a call returned; 1 module or class of which not all names are known"
    )


def test_what_scripts_read() -> None:
    result = judged(broken(3), accepted=((broken(4), "why"),), known=1).result
    assert {k: v for k, v in result.items() if k not in ("breaks", "accepted", "unseen")} == {
        "pin": "up", "from": "a" * 40, "to": "b" * 40, "import_names": ["up"], "uses": 3, "symbols": 2, "known": 1,
        "not_followed": {},
    }  # fmt: skip
    assert isinstance(result["breaks"], list)
    assert isinstance(result["accepted"], list)
    assert [row["line"] for row in result["breaks"]] == [3]
    assert [(row["line"], row["reason"]) for row in result["accepted"]] == [(4, "why")]
