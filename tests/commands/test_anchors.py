"""Edits of the pinned source in `verify` and `bump`, on real repositories served by a git daemon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from commands.bumping import World
from pinctl.commands import verify
from pinctl.external.store import Store
from pinctl.options import Options

EDIT = """\
file(READ "${deepgemm_SOURCE_DIR}/csrc/api.cpp" TEXT)
string(REPLACE "int one;" "long one;" TEXT "${TEXT}")
file(WRITE "${deepgemm_SOURCE_DIR}/csrc/api.cpp" "${TEXT}")
"""
SCRIPT = """\
git clone https://git.example/DeepGEMM
cd DeepGEMM && sed -i "s/from ${OLD}/from new/" setup.py
sed -i 's/import setup/import find_packages, setup/' setup.py
"""
PATCH = """\
--- a/deep_gemm/__init__.py
+++ b/deep_gemm/__init__.py
@@ -1 +1 @@
-__version__ = '2.6'
+__version__ = '2.6+ours'
"""
ALLOW = """
[[pins.deepgemm.allow]]
code   = "PIN350"
path   = "cmake/*"
reason = "needed until 2.6 alone"
"""


@pytest.fixture
def engine(world: World) -> World:
    """The engine, which pins 2.6 as it has one line more, with edits of its source."""
    world.first = world.release("2.6", ("cutlass", "fmt"), "#include <fmt/fmt.h>\nint one;\n")
    world.consume()
    return world


def anchors(row: Any) -> list[tuple[str, int, str, str, int | None]]:
    return [(one["file"], one["line"], one["path"], one["state"], one["matches"]) for one in row["anchors"]]


def told(run: Any) -> list[tuple[str, str, str, int]]:
    """Code, severity, file and line of what is said of edits."""
    return [(f["code"], f["severity"], f["file"], f["line"]) for f in run.document["findings"] if f["code"] >= "PIN350"]


def test_verify_lists_them_with_their_states(engine: World) -> None:
    apply = "FetchContent_Declare(deepgemm PATCH_COMMAND git apply ${CMAKE_SOURCE_DIR}/patches/version.patch)\n"
    engine.engine.commit(
        "edits", {"cmake/edit.cmake": EDIT + apply, "tools/build.sh": SCRIPT, "patches/version.patch": PATCH}
    )
    run = engine.run("verify", "--format", "json")
    assert (run.code, told(run)) == (0, [("PIN352", "info", "tools/build.sh", 2)])
    (row,) = run.document["result"]["pins"]
    assert anchors(row) == [
        ("cmake/edit.cmake", 2, "csrc/api.cpp", "matches", 1),
        ("cmake/edit.cmake", 4, "deep_gemm/__init__.py", "matches", 1),
        ("tools/build.sh", 2, "setup.py", "unknown", None),
        ("tools/build.sh", 3, "setup.py", "matches", 1),
    ]
    assert row["anchors"][0] | {"line": 0} == {
        "file": "cmake/edit.cmake", "line": 0, "path": "csrc/api.cpp", "kind": "cmake-replace", "pattern": "int one;",
        "state": "matches", "matches": 1, "why": None,
    }  # fmt: skip
    table = engine.run("verify", "-v").out
    assert "3 of 4" in table
    assert "cmake/edit.cmake:2" in table
    assert "cannot be told: its script is not plain" in table


def test_an_edit_that_finds_nothing_is_an_error_that_can_be_waived(engine: World) -> None:
    engine.engine.commit("edits", {"cmake/edit.cmake": EDIT.replace("int one", "int two")})
    run = engine.run("verify", "--format", "json")
    assert (run.code, told(run)) == (1, [("PIN350", "error", "cmake/edit.cmake", 2)])
    engine.consume(pins=ALLOW)
    run = engine.run("verify", "--format", "json")
    assert (run.code, told(run)) == (0, [])
    assert run.document["result"]["pins"][0]["anchors"][0]["state"] == "missing"
    engine.consume(pins=ALLOW.replace('"cmake/*"', '"tools/*"'))
    run = engine.run("verify", "--format", "json")
    assert (run.code, told(run)) == (1, [("PIN350", "error", "cmake/edit.cmake", 2)])


def test_a_bump_refuses_what_it_would_break(engine: World) -> None:
    engine.engine.commit("edits", {"cmake/edit.cmake": EDIT})
    before = engine.text("pins.toml")
    last = engine.release("2.7", ("cutlass", "fmt"), "#include <fmt/fmt.h>\nint two;\n")
    run = engine.bump("deepgemm")
    assert (run.code, told(run)) == (1, [("PIN350", "error", "cmake/edit.cmake", 2)])
    assert "it does at the pinned one" in run.document["findings"][0]["message"]
    assert engine.text("pins.toml") == before
    run = engine.bump("deepgemm", "--accept", "PIN350")
    assert (run.code, told(run)) == (0, [("PIN350", "warning", "cmake/edit.cmake", 2)])
    assert last in engine.text("pins.toml")


def test_a_bump_goes_on_where_an_edit_found_nothing_before(engine: World) -> None:
    engine.engine.commit("edits", {"cmake/edit.cmake": EDIT.replace("int one", "int two")})
    engine.release("2.7", ("cutlass", "fmt"), "#include <fmt/fmt.h>\nint three;\n")
    run = engine.bump("deepgemm")
    assert (run.code, told(run)) == (0, [("PIN350", "warning", "cmake/edit.cmake", 2)])
    assert "nor does it at the pinned one" in run.document["findings"][0]["message"]


def test_two_edits_of_one_script_are_told_apart(engine: World) -> None:
    script = "git clone https://git.example/DeepGEMM\ncd DeepGEMM && sed -i 's/int one/x/; s/nowhere/y/' csrc/api.cpp\n"
    engine.engine.commit("edits", {"tools/build.sh": script})
    engine.release("2.7", ("cutlass", "fmt"), "#include <fmt/fmt.h>\nint two;\n")
    run = engine.bump("deepgemm")
    found = [(f["severity"], f["message"].rpartition("commit")[2]) for f in run.document["findings"]]
    assert found == [("error", "; it does at the pinned one"), ("warning", ", nor does it at the pinned one")]


def test_what_upstream_has_made_is_told(engine: World) -> None:
    engine.engine.commit("edits", {"cmake/edit.cmake": EDIT})
    engine.release("2.7", ("cutlass", "fmt"), "#include <fmt/fmt.h>\nlong one;\n")
    run = engine.bump("deepgemm")
    assert (run.code, told(run)) == (0, [("PIN351", "warning", "cmake/edit.cmake", 2)])


def test_of_a_tree_that_cannot_be_had_they_are_listed(engine: World) -> None:
    engine.engine.commit("edits", {"cmake/edit.cmake": EDIT})
    engine.consume(repo="https://git.example/gone")
    run = engine.run("verify", "--format", "json")
    assert (run.code, told(run)) == (4, [])
    assert run.document["result"]["pins"][0]["anchors"][0]["why"] == "the tree was not fetched"


def test_their_files_are_fetched_with_the_others(engine: World, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.engine.commit("edits", {"tools/build.sh": SCRIPT.replace("setup.py", "notes.txt")})
    engine.up.commit("notes", {"notes.txt": "import setup\n"})
    engine.first = engine.up.git("rev-parse", "HEAD")
    engine.consume()
    asked: list[Sequence[str]] = []
    blobs = Store.blobs

    def seen(store: Store, ids: Sequence[str], limit: int) -> Any:
        asked.append(ids)
        return blobs(store, ids, limit)

    monkeypatch.setattr(Store, "blobs", seen)
    verify.run(Options(directory=str(engine.root)), [])
    notes, setup = (engine.up.git("rev-parse", f"HEAD:{path}") for path in ("notes.txt", "setup.py"))
    assert [setup in ids for ids in asked if notes in ids] == [True]
