from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from repositories import GitRepository

from commands.patched_engine import API, FILE, V2, Engine
from pinctl.external import patched

ENTRY = '[[pins.dg.patches]]\nfile = "my patches/{}.patch"\n'


def history(engine: Engine) -> GitRepository:
    """The engine's own history, in which the pin stood at `start` and then at `moved`."""
    own = GitRepository(engine.root)
    own.git("init", "-q", "-b", "main", ".")
    engine.pins()
    own.commit("one")
    engine.pins(at="moved")
    own.commit("two")
    return own


def test_a_patch_follows_its_lines(patching: Engine) -> None:
    done = patching.json("refresh", "dg", "--to", patching.commits["moved"])
    assert (done.code, done.codes) == (0, [])
    assert done.document["result"]["patches"] == [{"file": "my patches/one.patch", "state": "rebased"}]
    assert "@@ -6,7 +6,7 @@" in patching.text()
    assert patching.text().startswith(f"diff --git a/{FILE} b/{FILE}\nindex ")
    patching.pins(at="moved")
    (patch,) = patching.json("status").document["result"]["pins"][0]["places"][0]["patches"]
    assert (patch["state"], patch["offset"]) == ("pristine", 0)
    again = patching.json("refresh", "dg")
    assert again.document["result"]["patches"][0]["state"] == "as it is"
    assert again.document["result"]["files"] == []


def test_upstream_has_renamed_the_file(patching: Engine) -> None:
    patching.up.git("mv", FILE, "csrc/renamed.cpp")
    to = patching.up.commit("rename alone", {"csrc/renamed.cpp": "// head\n" + API})
    assert patching.states("dg", "--at", to) == ["conflict"]
    assert patching.json("refresh", "dg", "--to", to).codes == []
    assert "+++ b/csrc/renamed.cpp" in patching.text()
    assert patching.states("dg", "--at", to) == ["pristine"]


def test_context_that_changed_is_no_conflict(patching: Engine) -> None:
    to = patching.up.commit("near", {FILE: API.replace("line 3\n", "line three\n").replace("line 9\n", "")})
    patching.patch("one.patch", V2.replace("@@ -4,5 +4,5 @@\n", "@@ -1,9 +1,9 @@\n line 1\n line 2\n line 3\n")
                   + " line 9\n")  # fmt: skip
    assert patching.states("dg", "--at", to) == ["conflict"]
    assert patching.json("refresh", "dg", "--to", to).codes == []
    assert patching.states("dg", "--at", to) == ["pristine"]


def test_what_upstream_has_is_told_and_left(patching: Engine) -> None:
    before = patching.text()
    done = patching.run("patch", "refresh", "dg", "--to", patching.commits["taken"])
    assert done.code == 0
    assert "my patches/one.patch is superseded: drop its entry" in done.out
    assert patching.text() == before


def test_a_conflict_goes_to_a_folder_of_its_own(
    patching: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patched.tempfile, "tempdir", str(tmp_path))
    two = V2.replace("-4,5 +4,5", "-14,5 +14,5")
    for n in range(4, 9):
        two = two.replace(f"line {n}", f"line 1{n}")
    patching.patch("two.patch", two)
    patching.pins(ENTRY.format("two") + ENTRY.format("one"))
    before = {name: patching.text(f"my patches/{name}.patch") for name in ("one", "two")}
    done = patching.json("refresh", "dg", "--to", patching.commits["rewritten"])
    assert (done.code, done.codes) == (1, ["PIN504"])
    result = done.document["result"]
    assert [row["state"] for row in result["patches"]] == ["rebased", "conflict"]
    assert result["files"] == []
    assert {name: patching.text(f"my patches/{name}.patch") for name in ("one", "two")} == before
    scratch = Path(result["scratch"])
    (found,) = done.document["findings"]
    assert str(scratch) in found["hint"]
    assert f"{FILE} has 1 conflict" in found["message"]
    marked = (scratch / "b" / FILE).read_text()
    assert "<<<<<<< the new commit\nline six\n" in marked
    assert ">>>>>>> the patch\n" in marked
    # what a person does then, with the command that is told
    head, _, rest = marked.partition("<<<<<<< the new commit\n")
    (scratch / "b" / FILE).write_text(head + "line six, patched again\n" + rest.partition(">>>>>>> the patch\n")[2])
    command = found["hint"].splitlines()[1]
    assert command.endswith("> 'my patches/one.patch'")
    subprocess.run(["bash", "-c", command], cwd=patching.root, check=False)
    assert patching.states("dg", "--at", patching.commits["rewritten"]) == ["pristine", "pristine"]


def test_of_a_patch_that_collides_in_one_file_the_others_are_kept(
    patching: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patched.tempfile, "tempdir", str(tmp_path))
    other = "--- a/dg/__init__.py\n+++ b/dg/__init__.py\n@@ -1 +1 @@\n-__version__ = '2.7'\n+__version__ = '2.7+ours'\n"
    patching.patch("one.patch", V2 + other)
    done = patching.json("refresh", "dg", "--to", patching.commits["rewritten"])
    scratch = Path(done.document["result"]["scratch"])
    (scratch / "b" / FILE).write_text((scratch / "a" / FILE).read_text().replace("line six", "line six, patched"))
    (found,) = done.document["findings"]
    subprocess.run(["bash", "-c", found["hint"].splitlines()[1]], cwd=patching.root, check=False)
    assert "+__version__ = '2.7+ours'" in patching.text()
    assert patching.states("dg", "--at", patching.commits["rewritten"]) == ["pristine"]


def test_without_to_the_pin_has_moved_already(patching: Engine) -> None:
    patching.patch("one.patch", V2.replace("@@ -4,5 +4,5 @@\n", "@@ -3,6 +3,6 @@\n line 3\n"))
    own = history(patching)
    near = patching.up.commit("near", {FILE: API.replace("line 3\n", "line three\n")})
    patching.pins(at=near)
    own.commit("three")
    assert patching.json("status").codes == ["PIN504"]
    done = patching.json("refresh", "dg")
    assert done.codes == []
    assert (done.document["result"]["from"], done.document["result"]["to"]) == (patching.commits["moved"], near)
    assert patching.json("status").codes == []


def test_a_series_is_rebased_in_its_order(patching: Engine) -> None:
    patching.patch("two.patch", V2.replace("-line 6\n+line 6, patched again", "-line 6, patched again\n+line 6, twice"))
    patching.pins(ENTRY.format("one") + ENTRY.format("two"))
    assert patching.json("refresh", "dg", "--to", patching.commits["moved"]).codes == []
    patching.pins(ENTRY.format("one") + ENTRY.format("two"), at="moved")
    assert patching.states() == ["pristine", "pristine"]
    assert patching.json("refresh", "dg").document["result"]["files"] == []


def test_shown_and_not_written(patching: Engine) -> None:
    before = patching.text()
    done = patching.run("patch", "refresh", "dg", "--to", patching.commits["moved"], "--diff")
    assert done.out.startswith("diff --git a/my patches/one.patch b/my patches/one.patch\n")
    assert patching.text() == before


def test_a_patch_that_applies_nowhere_has_no_base(patching: Engine) -> None:
    patching.patch("one.patch", V2.replace("-line 6", "-nothing"))
    done = patching.json("refresh", "dg", "--to", patching.commits["moved"])
    assert done.codes == ["PIN504"]
    assert done.document["findings"][0]["hint"] == "say where the patches apply: --from COMMIT"
    patching.patch("one.patch", "nonsense\n")
    assert patching.json("refresh", "dg").codes == ["PIN502"]
    patching.pins("")
    assert patching.run("patch", "refresh", "dg").code == 2
