from __future__ import annotations

import os
from pathlib import Path

import pytest

from pinctl.contract.model import BuildUse, Call, Fragile, Guard, Place, Shape, Use, Uses, When
from pinctl.external import cache, uses_cache

PLACE = Place("a.py", 3, 5)
USES = Uses(
    (
        Use("up.f", PLACE, When.CALL, Call(1, ("k",)), (Guard.EXCEPT,), ("up.g",), (PLACE,)),
        Use("up.g", PLACE, When.IMPORT),
    ),
    (BuildUse("up", PLACE, glob=True, without=("tests",)),),
    {"attributes": 2},
    {"b.py": "no Python"},
    (Fragile("up.f", PLACE, Shape.ZERO, "k"),),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n")
        os.utime(tmp_path / name, (1e9, 1e9))
    return tmp_path


@pytest.fixture(autouse=True)
def _long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time at which an inode changed cannot be set: now is later than that."""
    monkeypatch.setattr(uses_cache, "_MOMENT", -3600.0)


def test_what_is_kept_is_recalled(tree: Path) -> None:
    stamp = uses_cache.stamp(str(tree), ["a.py", "b.py"])
    assert stamp is not None
    uses_cache.keep("tree", stamp, USES)
    assert uses_cache.recall("tree", stamp) == USES
    assert uses_cache.recall("tree", "another") is None
    assert uses_cache.recall("elsewhere", stamp) is None


@pytest.mark.parametrize("content", ["x = 2\n", "x = 12\n"])
def test_another_content_is_another_stamp(tree: Path, content: str) -> None:
    before = uses_cache.stamp(str(tree), ["a.py", "b.py"])
    (tree / "b.py").write_text(content)
    assert uses_cache.stamp(str(tree), ["a.py", "b.py"]) != before


def test_the_names_count(tree: Path) -> None:
    assert uses_cache.stamp(str(tree), ["a.py"]) != uses_cache.stamp(str(tree), ["b.py"])


def test_a_file_that_is_gone_counts_too(tree: Path) -> None:
    gone = uses_cache.stamp(str(tree), ["a.py", "gone.py"])
    assert gone is not None
    assert gone == uses_cache.stamp(str(tree), ["a.py", "gone.py"]) != uses_cache.stamp(str(tree), ["a.py"])
    (tree / "gone.py").symlink_to("gone.py")
    looped = uses_cache.stamp(str(tree), ["a.py", "gone.py"])
    assert looped not in (gone, None)


def test_a_file_that_changed_just_now_has_no_stamp(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses_cache, "_MOMENT", 1.0)
    assert uses_cache.stamp(str(tree), ["a.py"]) is None


def test_other_readers_make_another_stamp(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = uses_cache.stamp(str(tree), ["a.py"])
    monkeypatch.setattr(uses_cache, "__version__", "99")
    assert uses_cache.stamp(str(tree), ["a.py"]) != before


@pytest.mark.parametrize("damaged", [{}, {"uses": 1}, {"uses": [[], [], {}, {}]}, {"uses": [[["x"]], [], {}, {}, []]}])
def test_what_is_damaged_is_read_anew(damaged: dict[str, object]) -> None:
    cache.save("tree", {"stamp": damaged}, "uses")
    assert uses_cache.recall("tree", "stamp") is None


def test_the_facts_of_files_are_kept_as_long_as_they_are_used() -> None:
    memory = uses_cache.facts("tree")
    assert memory.get("one") is None
    memory["one"], memory["two"] = b"[1]", b"[2]"
    memory.get("one")
    uses_cache.keep_facts("tree", memory)
    again = uses_cache.facts("tree")
    assert dict(again) == {"one": b"[1]"}
    assert not again.learned


def test_nothing_is_written_where_nothing_was_learned() -> None:
    uses_cache.keep_facts("empty", uses_cache.facts("empty"))
    assert cache.load("empty", "uses-facts") == {}
