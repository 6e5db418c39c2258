"""Submodules as sites: the commit in git's index, held against pins.toml."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from consumer import PINS, Consumer, pinctl

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

PATH = "3rdparty/up stream"
SITES = f"""
[pins.up.sites]
"{PATH}".gitlink = "{{commit}}"
".gitmodules"."{PATH}.url" = "{{repo}}"
"""


@dataclass(slots=True)
class Engine(Consumer):
    """The engine with a submodule; `first` and `second` are two commits of that."""

    first: str
    second: str

    def git(self, *words: str) -> str:
        return self.repository.git(*words)

    def checkout(self, commit: str) -> None:
        self.git("-C", PATH, "checkout", "-q", commit)

    def follow(self, hint: str) -> None:
        """Run the commands that a hint offers first, as a person does who pastes them at the root."""
        commands = hint.removeprefix("run: ").partition(", or: ")[0].partition(" (")[0]
        env = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow",
               "GIT_CONFIG_VALUE_0": "always", "HOME": "/nonexistent"}  # fmt: skip
        subprocess.run(["sh", "-e", "-c", commands], cwd=self.path, env=env, check=True, capture_output=True)

    def states(self) -> tuple[str, str, str]:
        """The commits of HEAD, index and checkout."""
        listed = self.git("ls-tree", "HEAD", PATH).split(), self.git("ls-files", "-s", PATH).split()
        return listed[0][2], listed[1][1], self.git("-C", PATH, "rev-parse", "HEAD")

    def named(self, *commits: str) -> tuple[str, ...]:
        return tuple({self.first: "first", self.second: "second"}[commit] for commit in commits)


@pytest.fixture
def upstream(make_repository: MakeRepository) -> GitRepository:
    repository = make_repository("up stream")
    repository.commit("first", {"file": "1"})
    repository.commit("second", {"file": "2"})
    return repository


@pytest.fixture
def engine(consumer: Consumer, upstream: GitRepository) -> Engine:
    first, second = upstream.git("rev-parse", "HEAD~1"), upstream.git("rev-parse", "HEAD")
    engine = Engine(consumer.repository, first, second)
    engine.git("submodule", "add", "-q", str(upstream.path), PATH)
    engine.checkout(first)
    pin = f'[pins.up]\nrepo = "https://example.org/o/up.git"\ncommit = "{first}"\n'
    engine.put("pins.toml", PINS + pin + SITES)
    engine.git("config", "-f", ".gitmodules", f"submodule.{PATH}.url", "https://example.org/o/up.git")
    engine.commit("a submodule")
    return engine


CLEAN = "6 sites of 3 pins agree with pins.toml\n"


def test_a_submodule_and_its_url_agree(engine: Engine) -> None:
    assert engine.run("check").out == CLEAN
    assert engine.run("check", "--unguarded").out == CLEAN
    assert engine.run("sync").out == "nothing to change\n"
    assert pinctl("check", cwd=engine.path / "3rdparty").out == CLEAN


def test_the_url_is_a_site_like_others(engine: Engine) -> None:
    engine.edit("pins.toml", "example.org/o/up", "example.org/fork/up")
    assert engine.check().codes == ["PIN201"]
    assert engine.run("sync").out == "changed 1 file: .gitmodules\n"
    assert "url = https://example.org/fork/up.git\n" in engine.text(".gitmodules")


# --- the pin moved: what is to be done ---


def test_sync_writes_the_files_and_leaves_the_index_to_git(engine: Engine) -> None:
    engine.edit("pins.toml", engine.first, engine.second)
    engine.edit("pins.toml", '"0.1.11"', '"0.1.12"')
    before = engine.states()
    run = engine.run("sync", "--format", "json")
    assert (run.code, run.told) == (0, [("PIN201", "warning")])
    assert [f["file"] for f in run.document["result"]["files"]] == ["requirements.txt"]
    assert engine.states() == before
    (found,) = run.document["findings"]
    assert (found["file"], found["line"], found["selector"]) == (PATH, None, "gitlink")
    engine.follow(found["hint"])
    assert engine.named(*engine.states()) == ("first", "second", "second")
    assert engine.run("check").out == CLEAN  # a bump that is staged: a commit hook passes
    engine.commit("bump")
    assert engine.run("check").out == CLEAN


def test_as_long_as_git_has_not_written_it_something_is_pending(engine: Engine) -> None:
    engine.edit("pins.toml", engine.first, engine.second)
    assert engine.run("sync", "--check").code == 1
    assert engine.run("sync", "--diff").code == 0
    run = engine.run("check")
    assert run.code == 1
    assert run.out.startswith(f"{PATH}: error PIN201 up: `gitlink` differs from pins.toml\n")
    assert f"git -C '{PATH}' checkout {engine.second} && git add '{PATH}'" in run.out
    assert f"pinctl adopt '{PATH}'" in run.out
    assert engine.run("status", "--offline", "--format", "json").document["result"]["pins"][2]["state"] == "drift (1)"


def test_a_submodule_that_is_not_checked_out(engine: Engine, upstream: GitRepository) -> None:
    engine.git("config", "-f", ".gitmodules", f"submodule.{PATH}.url", str(upstream.path))
    engine.git("submodule", "sync", "-q")
    engine.git("submodule", "deinit", "-q", "-f", PATH)
    assert set(engine.check().codes) <= {"PIN201"}
    engine.edit("pins.toml", engine.first, engine.second)
    hint = next(f["hint"] for f in engine.check().document["findings"] if f["selector"] == "gitlink")
    assert hint.startswith(f"run: git submodule update --init '{PATH}' && git -C")
    engine.follow(hint)
    assert engine.named(*engine.states()) == ("first", "second", "second")


# --- HEAD, index and checkout apart ---


def test_a_checkout_that_stayed_behind(engine: Engine, upstream: GitRepository) -> None:
    """`git add -u` would put the old commit back: flashinfer-ai/flashinfer#1731, pytorch/pytorch#112285."""
    engine.git("config", "-f", ".gitmodules", f"submodule.{PATH}.url", str(upstream.path))
    engine.edit("pins.toml", '"https://example.org/o/up.git"', f'"https://example.org/o/up.git" # {upstream.path}')
    engine.edit("pins.toml", '".gitmodules"', '#".gitmodules"')
    engine.commit("another url")
    engine.checkout(engine.second)
    run = engine.check()
    assert (run.code, run.told) == (1, [("PIN216", "error")])
    (found,) = run.document["findings"]
    states = f"HEAD {engine.first[:10]}, the index {engine.first[:10]}, the checkout {engine.second[:10]}"
    assert found["message"] == f"the submodule is at several commits: {states}"
    engine.follow(found["hint"])
    assert engine.named(*engine.states()) == ("first", "first", "first")
    assert engine.check().code == 0


def test_a_checkout_that_has_the_pin_and_is_not_staged(engine: Engine) -> None:
    engine.edit("pins.toml", engine.first, engine.second)
    engine.checkout(engine.second)
    run = engine.check()
    assert (run.code, run.codes) == (1, ["PIN201", "PIN216"])
    assert {f["hint"].partition(", or")[0] for f in run.document["findings"]} == {f"run: git add '{PATH}'"}
    engine.follow(run.document["findings"][0]["hint"])
    assert engine.run("check").out == CLEAN


def test_an_index_that_was_moved_away_by_accident(engine: Engine) -> None:
    engine.checkout(engine.second)
    engine.git("add", "-u")
    run = engine.check()
    assert (run.code, run.told) == (1, [("PIN201", "error"), ("PIN216", "warning")])
    assert {f["hint"].partition(", or")[0] for f in run.document["findings"]} == {
        f"run: git restore --staged '{PATH}' && git submodule update --init '{PATH}'"
    }
    engine.follow(run.document["findings"][1]["hint"])
    assert engine.named(*engine.states()) == ("first", "first", "first")


# --- the other direction ---


def test_the_staged_commit_is_adopted(engine: Engine) -> None:
    engine.checkout(engine.second)
    engine.git("add", PATH)
    run = engine.run("adopt", PATH)
    assert (run.code, run.out.splitlines()[-1].partition(" (")[0]) == (0, "changed 1 file: pins.toml")
    assert f'commit = "{engine.second}"' in engine.text("pins.toml")
    assert engine.run("check").out == CLEAN


def test_a_commit_that_is_only_checked_out_is_not_adopted(engine: Engine) -> None:
    engine.checkout(engine.second)
    before = engine.tree()
    run = engine.run("adopt", "up stream", "-C", "3rdparty", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN216"])
    assert engine.tree() == before


def test_a_site_that_is_adopted_tells_what_is_left_for_git(engine: Engine) -> None:
    engine.put("ref.txt", f"{engine.second}\n")
    engine.put("pins.toml", engine.text("pins.toml") + '"ref.txt".text = "{commit}"\n')
    run = engine.run("adopt", "ref.txt", "--format", "json")
    assert (run.code, run.told) == (0, [("PIN201", "warning")])
    assert f'commit = "{engine.second}"' in engine.text("pins.toml")


# --- since ---


def test_old_drift_of_a_submodule_warns(engine: Engine) -> None:
    engine.checkout(engine.second)
    engine.commit("the submodule alone")
    assert (engine.check("--since", "HEAD").code, engine.check("--since", "HEAD~1").code) == (0, 1)


# --- what is no submodule ---


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("3rdparty/none", "PIN205", "git's index has no submodule 3rdparty/none"),
        ("docker", "PIN206", "docker is no submodule: git tracks it as a folder"),
        ("cmake/dg.cmake", "PIN118", "gitlink"),
        ("3rdparty", "PIN206", "3rdparty is no submodule: git tracks it as a folder"),
    ],
)
def test_what_is_no_submodule(path: str, code: str, says: str, engine: Engine) -> None:
    engine.put("pins.toml", engine.text("pins.toml") + f'"{path}".gitlink = "{{commit}}"\n')
    run = engine.check()
    assert (run.code, run.codes) == (1, [code])
    assert says in run.document["findings"][0]["message"]


def test_a_tracked_file_that_was_deleted(engine: Engine) -> None:
    engine.put("gone", "x")
    engine.commit()
    (engine.path / "gone").unlink()
    engine.put("pins.toml", engine.text("pins.toml") + 'gone.gitlink = "{commit}"\n')
    assert "gone is no submodule: git tracks it as a file" in engine.run("check").out


def test_other_selectors_of_a_submodule(engine: Engine) -> None:
    engine.put("pins.toml", engine.text("pins.toml").replace('stream".gitlink', 'stream"."text"'))
    assert engine.check().codes == ["PIN206"]  # a directory
    text = engine.text("pins.toml").replace(
        f'"{PATH}"."text" = "{{commit}}"', f'"{PATH}" = {{ gitlink = "{{commit}}", x = "1" }}'
    )
    engine.put("pins.toml", text)
    run = engine.check()
    assert run.codes == ["PIN118"]
    assert "has the selector `gitlink` alone" in run.document["findings"][0]["message"]


def test_without_a_repository(engine: Engine, make_repository: MakeRepository) -> None:
    (engine.path / ".git").rename(engine.path.parent / "gone")
    run = engine.check()
    assert (run.code, run.codes) == (1, ["PIN206"])
    assert "is read from git's index, and this is no git repository" in run.document["findings"][0]["message"]


def test_a_conflict_is_settled_first(engine: Engine) -> None:
    stages = ((engine.first, 1), (engine.second, 2), ("1" * 40, 3))
    lines = f"0 {'0' * 40}\t{PATH}\n" + "".join(f"160000 {commit} {stage}\t{PATH}\n" for commit, stage in stages)
    subprocess.run(["git", "update-index", "--index-info"], cwd=engine.path, input=lines.encode(), check=True)
    run = engine.check()
    assert (run.code, run.codes) == (1, ["PIN206"])
    assert "is in conflict" in run.document["findings"][0]["message"]


def test_below_the_top_of_the_repository(make_repository: MakeRepository, upstream: GitRepository) -> None:
    repository = make_repository("mono repo")
    repository.git("submodule", "add", "-q", str(upstream.path), "engine/up")
    commit = upstream.git("rev-parse", "HEAD")
    pin = f'[pins.up]\nrepo = "https://example.org/o/up"\ncommit = "{commit}"\nsites.up.gitlink = "{{commit}}"\n'
    repository.commit(files={"engine/pins.toml": f"schema = 1\n{pin}"})
    run = pinctl("check", cwd=repository.path / "engine")
    assert (run.code, run.out) == (0, "1 site of 1 pin agree with pins.toml\n")
