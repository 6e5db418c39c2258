from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from consumer import Run
from integration.servers import git_http
from repositories import GitRepository

from commands.patched_engine import V1, Engine

ENTRY = '[[pins.dg.patches]]\nfile = "my patches/{}.patch"\n'


def bump(engine: Engine, at: str, *words: str) -> Run:
    return engine.run("bump", "dg", "--to", engine.commits.get(at, at), "--format", "json", *words)


def pin(engine: Engine) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(engine.text("pins.toml"))["pins"]["dg"]
    return found


def codes(done: Run) -> list[str]:
    return [code for code in done.codes if code.startswith("PIN5")]


def test_what_still_applies_goes_along(patching: Engine) -> None:
    done = bump(patching, "moved")
    assert (done.code, codes(done)) == (0, [])
    assert pin(patching)["commit"] == patching.commits["moved"]
    (row,) = done.document["result"]["pins"]
    assert [(one["file"], one["state"], one["offset"]) for one in row["patches"]] == [
        ("my patches/one.patch", "pristine", 3)]  # fmt: skip


def test_a_conflict_stops_it_unless_it_is_accepted(patching: Engine) -> None:
    before = patching.text("pins.toml")
    done = bump(patching, "rewritten")
    assert (done.code, codes(done)) == (1, ["PIN504"])
    assert patching.text("pins.toml") == before
    assert [row["state"] for row in done.document["result"]["pins"]] == ["refused"]
    (hint,) = [one["hint"] for one in done.document["findings"] if one["code"] == "PIN504"]
    to = patching.commits["rewritten"]
    assert hint == f"run: pinctl patch refresh dg --to {to}"  # without, it would be rebased onto the pinned commit
    done = bump(patching, "rewritten", "--accept", "PIN504")
    assert (done.code, [one for one in done.told if one[0] == "PIN504"]) == (0, [("PIN504", "warning")])
    assert pin(patching)["commit"] == patching.commits["rewritten"]


def test_a_patch_that_cannot_be_read_is_never_accepted(patching: Engine) -> None:
    (patching.root / "my patches/one.patch").unlink()
    assert codes(bump(patching, "moved")) == ["PIN501"]
    done = patching.run("bump", "dg", "--to", patching.commits["moved"], "--accept", "PIN501")
    assert (done.code, "cannot be accepted" in done.err) == (2, True)


def test_what_upstream_has_is_told_and_dropped_on_request(patching: Engine, tmp_path: Path) -> None:
    two = V1.replace("-4,5 +4,5", "-14,5 +14,5")
    for n in range(4, 9):
        two = two.replace(f"line {n}", f"line 1{n}")
    patching.patch("two.patch", two)
    patching.pins(ENTRY.format("one") + ENTRY.format("two"))
    before = patching.text("pins.toml")
    body = tmp_path / "body.md"
    done = bump(patching, "taken", "--diff", "--body", str(body))
    assert codes(done) == ["PIN506"]
    assert "--drop-patches" in next(f["hint"] for f in done.document["findings"] if f["code"] == "PIN506")
    told = body.read_text()
    assert "Patches" in told
    assert "my patches/one.patch | pristine | superseded" in told
    assert "my patches/two.patch | pristine | pristine" in told
    assert patching.text("pins.toml") == before
    done = bump(patching, "taken", "--drop-patches")
    assert (done.code, [one for one in done.told if one[0] == "PIN506"]) == (0, [("PIN506", "info")])
    assert pin(patching)["patches"] == [{"file": "my patches/two.patch"}]
    assert pin(patching)["commit"] == patching.commits["taken"]
    assert (patching.root / "my patches/one.patch").exists()


def test_a_file_that_no_entry_names_is_left_to_the_person(patching: Engine) -> None:
    done = patching.run("bump", "dg", "--to", patching.commits["taken"], "--drop-patches")
    assert done.code == 0
    assert "delete: my patches/one.patch" in done.out
    assert "patches" not in pin(patching)


def test_a_file_that_another_names_is_kept(patching: Engine) -> None:
    other = '[pins.other]\nrepo = "https://git.example/other"\ncommit = "{}"\nunused = true\n[[pins.other.patches]]\n'
    patching.pins(extra=other.format("a1" * 20) + 'file = "my patches/one.patch"\n')
    done = patching.run("bump", "dg", "--to", patching.commits["taken"], "--drop-patches")
    assert "delete:" not in done.out
    assert "patches" not in pin(patching)


def test_all_of_it_is_in_one_commit(patching: Engine) -> None:
    own = GitRepository(patching.root)
    own.git("init", "-q", "-b", "main", ".")
    own.git("config", "user.name", "Tester")
    own.git("config", "user.email", "tester@example.org")
    own.commit("one")
    done = bump(patching, "taken", "--drop-patches", "--commit")
    assert done.code == 0
    assert own.git("show", "--stat", "--format=%s", "HEAD").splitlines()[0].startswith("Bump dg to ")
    assert own.git("status", "--short") == ""
    assert "patches" not in pin(patching)


def test_patches_written_in_another_form_are_left_to_the_person(patching: Engine) -> None:
    patching.pins('patches = [{ file = "my patches/one.patch" }]\n')
    before = patching.text("pins.toml")
    done = patching.run("bump", "dg", "--to", patching.commits["taken"], "--drop-patches")
    assert (done.code, "in another form" in done.err) == (1, True)
    assert patching.text("pins.toml") == before


def test_the_condition_is_judged_at_the_new_version(patching: Engine) -> None:
    up = patching.up
    newer = up.commit("release", {"dg/__init__.py": "__version__ = '2.8'\n", "csrc/api file.cpp": "all new\n"})
    patching.pins(f'{ENTRY.format("one")}when = "version < 2.8"\n')
    done = bump(patching, newer)
    assert (done.code, codes(done)) == (0, ["PIN509"])
    assert pin(patching)["version"] == "2.8"


def test_verify_tells_of_patches(patching: Engine) -> None:
    assert [c for c in patching.run("verify", "--format", "json").codes if c.startswith("PIN5")] == []
    patching.pins(at="rewritten")
    done = patching.run("verify", "--format", "json")
    assert (done.code, codes(done)) == (1, ["PIN504"])
    patching.pins(f'{ENTRY.format("one")}retire = "upstream"\n', at="taken")
    done = patching.run("verify", "--format", "json")
    assert (done.code, [one for one in done.told if one[0] == "PIN506"]) == (0, [("PIN506", "warning")])


def test_a_warning_may_be_waived(patching: Engine) -> None:
    entry = f'{ENTRY.format("one")}retire = "upstream"\n'
    allow = '[[pins.dg.allow]]\ncode = "PIN506"\nreason = "the old release is built, too"\n'
    patching.pins(entry + allow, at="taken")
    assert codes(patching.run("verify", "--format", "json")) == []
    assert patching.run("check", "--format", "json").codes == []
    patching.pins(entry + allow)
    assert patching.run("check", "--format", "json").codes == []
    assert "PIN123" in patching.run("verify", "--format", "json").codes


def test_offline_check_tells_what_the_cache_knows(patching: Engine) -> None:
    entry = f'{ENTRY.format("one")}retire = "upstream"\n'
    patching.pins(entry, at="taken")
    assert codes(patching.run("check", "--format", "json")) == []  # nothing was fetched
    patching.run("verify")
    assert codes(patching.run("check", "--format", "json")) == ["PIN506"]
    (patching.root / "my patches/one.patch").write_text("nonsense\n")
    done = patching.run("check", "--format", "json")
    assert (done.code, codes(done)) == (1, ["PIN502"])


def test_through_http(patching: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_http(tmp_path / "srv") as (_, address):
        monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{address}.insteadOf")
        monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "another cache"))
        assert patching.states("dg", "--at", "main") == ["superseded"]
