from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands.patched_engine import FILE, V1, V2, Engine


def entries(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(engine.text("pins.toml"))["pins"]["dg"].get("patches", [])
    return found


def test_a_diff_from_elsewhere_is_copied(patching: Engine, tmp_path: Path) -> None:
    patching.pins("")
    (tmp_path / "mine.diff").write_text(V2)
    done = patching.json("add", "dg", str(tmp_path / "mine.diff"), "--retire")
    assert (done.code, done.codes) == (0, [])
    assert entries(patching) == [{"file": "patches/dg-mine.diff", "retire": "upstream"}]
    assert patching.text("patches/dg-mine.diff") == V2
    assert patching.states() == ["pristine"]
    assert done.document["result"]["patch"]["state"] == "pristine"


def test_one_of_the_project_stays_where_it_is(patching: Engine) -> None:
    patching.patch("other name.patch", V2)
    patching.pins("")
    assert patching.json("add", "dg", "my patches/other name.patch").codes == []
    assert entries(patching) == [{"file": "my patches/other name.patch"}]
    again = patching.run("patch", "add", "dg", "my patches/other name.patch")
    assert (again.code, "has the patch" in again.err) == (2, True)


def test_a_backport_is_a_commit_of_upstream(patching: Engine) -> None:
    patching.pins("", at="rewritten")
    taken = patching.commits["taken"]
    done = patching.json("add", "dg", taken[:12])
    assert (done.code, done.codes) == (0, [])
    assert entries(patching) == [{"file": "patches/dg-taken.patch", "backport": taken}]
    text = patching.text("patches/dg-taken.patch")
    assert text.startswith(f"From {taken} Mon Sep 17 00:00:00 2001\nFrom: Tester <tester@example.org>\nDate: ")
    assert "\nSubject: taken\n\ndiff --git " in text
    assert f"+++ b/{FILE}\t\n" in text
    assert patching.states() == ["pristine"]
    patching.pins(f'[[pins.dg.patches]]\nfile = "patches/dg-taken.patch"\nbackport = "{taken}"\n', at="taken")
    assert patching.json("status").told == [("PIN506", "warning")]


def test_what_the_pin_has_is_not_added(patching: Engine) -> None:
    patching.pins("", at="taken")
    before = patching.text("pins.toml")
    done = patching.run("patch", "add", "dg", patching.commits["taken"])
    assert done.code == 2
    assert "holds that change already" in done.err
    assert patching.text("pins.toml") == before
    assert not (patching.root / "patches").exists()


def test_what_does_not_apply_is_not_added(patching: Engine, tmp_path: Path) -> None:
    patching.pins("")
    for text, code in ((V1.replace("line 5", "no"), "PIN504"), ("nonsense\n", "PIN502"),
                       (V1.replace("b/csrc", "b/../csrc").replace("a/csrc", "a/../csrc"), "PIN503")):  # fmt: skip
        (tmp_path / "a.diff").write_text(text)
        done = patching.json("add", "dg", str(tmp_path / "a.diff"))
        assert (done.code, done.codes) == (1, [code])
    assert entries(patching) == []
    assert not (patching.root / "patches").exists()


def test_shown_and_not_written(patching: Engine, tmp_path: Path) -> None:
    patching.pins("")
    (tmp_path / "a.diff").write_text(V2)
    done = patching.run("patch", "add", "dg", str(tmp_path / "a.diff"), "--as", "p/x.patch", "--diff")
    assert '+[[pins.dg.patches]]\n+file = "p/x.patch"\n' in done.out
    assert "+++ b/p/x.patch" in done.out
    assert entries(patching) == []


@pytest.mark.parametrize(
    ("source", "why"),
    [("no such file", "is no file, and no commit id"), ("main", "is no file, and no commit id"),
     ("0" * 40, "does not have"), ("abcdef0", "begins with abcdef0")],
)  # fmt: skip
def test_what_is_neither(source: str, why: str, patching: Engine) -> None:
    done = patching.run("patch", "add", "dg", source)
    assert done.code in (1, 2)
    assert why in done.err


def test_another_patch_is_never_overwritten(patching: Engine, tmp_path: Path) -> None:
    patching.pins("")
    (tmp_path / "a.diff").write_text(V2)
    patching.patch("one.patch", V1)
    done = patching.run("patch", "add", "dg", str(tmp_path / "a.diff"), "--as", "my patches/one.patch")
    assert (done.code, "--as FILE" in done.err) == (2, True)
    assert patching.text() == V1


def test_a_merge_is_no_backport(patching: Engine) -> None:
    up = patching.up
    up.git("checkout", "-q", "-b", "side", patching.commits["start"])
    up.commit("side", {"other": "x\n"})
    up.git("checkout", "-q", "main")
    up.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    done = patching.run("patch", "add", "dg", up.git("rev-parse", "HEAD"))
    assert (done.code, "is a merge" in done.err) == (2, True)
