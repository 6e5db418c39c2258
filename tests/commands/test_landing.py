"""How a bump lands in git: the files, the index and the commit, or nothing. Real git says what is right."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumer import command, environment, pinctl

from commands.bumping import World
from pinctl.errors import ExternalError
from pinctl.external import commit as room
from pinctl.external import journal

if TYPE_CHECKING:
    from consumer import Run

LINK = "third_party/DeepGEMM"
GENERATED = '\n[pins.deepgemm.generate]\n"made/pins.txt" = "./pins/list.j2"\n'


@pytest.fixture
def newer(world: World) -> World:
    """An engine that lags one release behind, and a person with a name."""
    world.consume()
    world.engine.git("config", "user.name", "A Person")
    world.engine.git("config", "user.email", "person@example.org")
    world.last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    return world


@pytest.fixture
def linked(newer: World) -> World:
    """The same with the upstream as a submodule, too."""
    engine = newer.engine
    engine.git("update-index", "--add", "--cacheinfo", f"160000,{newer.first},{LINK}")
    entry = f'[submodule "x"]\n\tpath = {LINK}\n\turl = https://git.example/DeepGEMM\n'
    pins = newer.text("pins.toml") + f'[pins.deepgemm.sites."{LINK}"]\ngitlink = "{{commit}}"\n'
    (newer.root / LINK).mkdir(parents=True)
    engine.write(".gitmodules", entry)
    engine.write("pins.toml", pins)
    engine.git("add", ".gitmodules", "pins.toml")
    engine.git("commit", "-q", "-m", "as a submodule")
    return newer


def hook(world: World, name: str, text: str) -> None:
    path = world.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def state(world: World) -> tuple[object, ...]:
    """Everything that a bump that fails leaves as it was."""
    git = world.engine.git
    kept = {
        str(path): path.read_bytes() for path in world.root.rglob("*") if path.is_file() and ".git" not in path.parts
    }
    own = sorted(path.name for path in (world.root / ".git").iterdir() if path.name != "packed-refs")
    told = [
        git(*words) for words in (("symbolic-ref", "HEAD"), ("rev-parse", "HEAD"), ("branch", "-a"), ("ls-files", "-s"))
    ]
    return (kept, own, [str(p) for p in world.root.rglob("*") if p.is_dir() and ".git" not in p.parts], *told)


def until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.02)


# Nothing that a checkout names is run


@pytest.mark.parametrize("profile", ["--untrusted", "--trusted"])
def test_a_gitlink_is_staged_and_no_program_of_the_checkout_runs(linked: World, profile: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    for name in ("post-index-change", "monitor", "reference-transaction", "pre-commit", "post-checkout"):
        hook(linked, name, f"echo {name} >>'{canary}'\n")
    linked.engine.git("config", "core.fsmonitor", ".git/hooks/monitor")
    linked.engine.git("status")
    assert "monitor" in canary.read_text()  # the trap works
    canary.unlink()
    if profile == "--untrusted":  # which reaches no server of a test: the staging alone
        room.demand_stageable(str(linked.root), {LINK: linked.last})
        room.stage_links(str(linked.root), {LINK: linked.last})
    else:
        assert linked.bump("deepgemm").code == 0
    assert not canary.exists()
    assert linked.engine.git("-c", "core.fsmonitor=false", "ls-files", "-s", LINK).split()[1] == linked.last


def test_only_the_commit_itself_is_the_persons_own(linked: World, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    hook(linked, "post-checkout", f"echo post-checkout >>'{canary}'\n")
    hook(linked, "pre-commit", f"git diff --cached --name-only >>'{canary}'\n")
    assert linked.bump("deepgemm", "--branch", "topic").code == 0
    paths = ["cmake/deepgemm.cmake", "docker/Dockerfile", "pins.toml", LINK, "tools/install deepgemm.sh"]
    assert canary.read_text().split("\n") == [*paths, ""]


# What is known before


def _branch_taken(world: World) -> list[str]:
    world.engine.git("branch", "taken")
    return ["--branch", "taken"]


def _branch_beside(world: World) -> list[str]:
    world.engine.git("branch", "taken")
    return ["--branch", "taken/below"]


def _merge(world: World) -> list[str]:
    (world.root / ".git" / "MERGE_HEAD").write_text(world.engine.git("rev-parse", "HEAD") + "\n")
    return ["--commit"]


def _rebase(world: World) -> list[str]:
    (world.root / ".git" / "rebase-merge").mkdir()
    return ["--commit"]


def _locked(world: World) -> list[str]:
    (world.root / ".git" / "index.lock").touch()
    return ["--commit"]


def _skipped(world: World) -> list[str]:
    world.engine.git("update-index", "--skip-worktree", "docker/Dockerfile")
    return ["--commit"]


def _nobody(world: World) -> list[str]:
    world.engine.git("config", "--unset", "user.email")
    world.engine.git("config", "user.useConfigOnly", "true")
    return ["--commit"]


@pytest.mark.parametrize(
    ("trap", "told"),
    [
        (lambda _: ["--branch", "a..b"], "no name for a branch"),
        (lambda _: ["--branch", ""], "no name for a branch"),
        (_branch_taken, "exists already"),
        (_branch_beside, "'refs/heads/taken' exists"),
        (_merge, "a merge is under way"),
        (_rebase, "a rebase is under way"),
        (_locked, "another git process holds the index"),
        (_skipped, "not to look at docker/Dockerfile"),
        (_nobody, "git does not know who you are"),
    ],
)
def test_what_can_be_known_is_refused_before_anything_is_written(
    newer: World, trap: Callable[[World], list[str]], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = trap(newer)
    before = state(newer)
    monkeypatch.setattr(journal, "write", lambda *_, **__: pytest.fail("it was written"))
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    run = newer.run("bump", "deepgemm", *words)
    assert (run.code, told in run.err) == (4, True), run.err
    assert state(newer) == before


def test_a_locked_index_is_known_before_a_gitlink_is_staged(linked: World) -> None:
    (linked.root / ".git" / "index.lock").touch()
    before = state(linked)
    run = linked.run("bump", "deepgemm")
    assert (run.code, "holds the index" in run.err) == (4, True)
    assert state(linked) == before
    (linked.root / ".git" / "index.lock").unlink()
    assert linked.bump("deepgemm").code == 0


def test_a_lock_that_a_killed_pinctl_left_is_told_as_such(linked: World) -> None:
    (linked.root / ".git" / "index.lock").touch()
    (linked.root / ".git" / "pinctl-abc").mkdir()
    run = linked.run("bump", "deepgemm", "--commit")
    assert f"rm -r '{linked.root}/.git/index.lock' '{linked.root}/.git/pinctl-abc'" in run.err


# What fails in the commit


@pytest.mark.parametrize("branch", [[], ["--branch", "topic"]])
@pytest.mark.parametrize("why", ["pre-commit", "commit-msg", "signing"])
def test_a_commit_that_is_refused_leaves_everything_as_it_was(linked: World, why: str, branch: list[str]) -> None:
    linked.engine.commit(
        "a recipe", {"pins/list.j2": "{{ pin.commit }}\n", "pins.toml": linked.text("pins.toml") + GENERATED}
    )
    if why == "signing":
        linked.engine.git("config", "commit.gpgSign", "true")
        linked.engine.git("config", "gpg.program", "false")
    else:
        hook(linked, why, 'echo "flake8 says no" >&2; for n in $(seq 40); do echo line; done; exit 1\n')
    before = state(linked)
    run = linked.run("bump", "deepgemm", "--commit", *branch)
    assert (run.code, "error: nothing was changed: `git commit` failed" in run.err) == (4, True), run.err
    assert ("flake8 says no" in run.err) == (why != "signing")
    assert "without --commit" in run.err
    assert state(linked) == before
    hook(linked, why, "exit 0\n")
    linked.engine.git("config", "commit.gpgSign", "false")
    assert linked.bump("deepgemm", "--commit", *branch).code == 0
    assert linked.text("made/pins.txt").strip().endswith(linked.last)
    assert linked.status == [""]


def test_what_a_hook_changed_is_told_and_stays(newer: World) -> None:
    hook(newer, "pre-commit", "echo formatted >>docker/Dockerfile; exit 1\n")
    run = newer.run("bump", "deepgemm", "--commit")
    assert (run.code, "put back but what was changed meanwhile, docker/Dockerfile: " in run.err) == (4, True), run.err
    assert "git stash push -u -- docker/Dockerfile" in run.err
    assert newer.status == [" M docker/Dockerfile"]
    newer.engine.git("stash", "push", "-u", "--", "docker/Dockerfile")
    assert newer.run("check").code == 0


def test_what_cannot_be_put_back_is_told_and_mended_later(newer: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hook(newer, "pre-commit", "exit 1\n")
    before = state(newer)

    def full(*_: object) -> None:
        raise ExternalError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "_undo", full)
        run = newer.run("bump", "deepgemm", "--commit")
    assert (run.code, "cannot be put back (no space left)" in run.err) == (4, True), run.err
    assert "PIN213" in newer.run("check").out
    assert "and is now undone" in newer.run("sync").out
    assert state(newer) == before


def test_staging_that_fails_leaves_the_files_as_they_were(linked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(linked)
    monkeypatch.setattr(room, "demand_stageable", lambda *_: (linked.root / ".git" / "index.lock").touch())
    run = linked.run("bump", "deepgemm")
    assert (run.code, "nothing was changed: another git process" in run.err) == (4, True)
    (linked.root / ".git" / "index.lock").unlink()
    assert state(linked) == before


# ^C, and what CI sends


def started(world: World, when: str, tmp_path: Path) -> subprocess.Popen[str]:
    """A bump of which a hook is running, and has written its process id."""
    hook(
        world,
        when,
        f"trap '' TERM; echo $$ >'{tmp_path}/new'; mv '{tmp_path}/new' '{tmp_path}/pid'; sleep 60; sleep 9\n",
    )
    words = command("bump", "deepgemm", "--branch", "topic")
    child = subprocess.Popen(words, cwd=world.root, env=environment(), stdout=-1, stderr=-1, text=True)
    until((tmp_path / "pid").exists)
    return child


def runs(tmp_path: Path) -> bool:
    """Whether the hook runs still; one that has ended may wait to be asked for."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", (tmp_path / "pid").read_text()], stdout=-1, check=False)
    return shown.stdout.strip()[:1] not in (b"", b"Z")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_bump_that_is_broken_off_in_a_hook(linked: World, number: signal.Signals, tmp_path: Path) -> None:
    before = state(linked)
    child = started(linked, "pre-commit", tmp_path)
    assert linked.last in linked.text("pins.toml")
    child.send_signal(number)
    err = child.communicate(timeout=20)[1]
    assert (child.returncode, err.strip()) == (130, "interrupted; nothing is half written")
    assert not runs(tmp_path)
    assert state(linked) == before


def test_impatience_ends_the_hook_all_the_same(linked: World, tmp_path: Path) -> None:
    before = state(linked)
    child = started(linked, "pre-commit", tmp_path)
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)  # the hook does not heed SIGTERM, and has two seconds
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=20)
    assert child.returncode == 130
    assert not runs(tmp_path)
    assert state(linked) == before


def test_a_commit_that_was_made_stays(linked: World, tmp_path: Path) -> None:
    child = started(linked, "post-commit", tmp_path)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=20)
    assert child.returncode == 130
    assert linked.engine.git("rev-parse", "--abbrev-ref", "HEAD") == "topic"
    assert linked.engine.git("show", "HEAD:pins.toml").strip() == linked.text("pins.toml").strip()
    assert linked.last in linked.text("pins.toml")
    assert linked.engine.git("rev-parse", f":{LINK}") == linked.last


# The body of a pull request


@pytest.mark.parametrize(
    "path", ["pins.toml", "tools/../pins.toml", "base.toml", "docker/Dockerfile", "made/pins.txt", ".git/description",
             "link", "README.md", "/proc/self/mem"],
)  # fmt: skip
def test_a_body_is_written_over_nothing_of_the_project(newer: World, path: str) -> None:
    files = {"base.toml": "schema = 1\n", "README.md": "x\n", "pins/list.j2": "{{ pin.commit }}\n"}
    pins = newer.text("pins.toml").replace("schema = 1\n", 'schema = 1\nextends = "base.toml"\n') + GENERATED
    newer.engine.commit("more", files | {"pins.toml": pins})
    (newer.root / "made").mkdir()
    (newer.root / "link").symlink_to("pins.toml")
    before = state(newer)
    run = newer.run("bump", "deepgemm", "--body", path)
    assert run.code == 2, (run.out, run.err)
    assert state(newer) == before


def test_a_body_that_cannot_be_written_is_told_beside_the_bump(newer: World) -> None:
    run: Run = newer.bump("deepgemm", "--body", "/dev/full")
    (found,) = [found for found in run.document["findings"] if found["severity"] == "error"]
    assert (run.code, found["code"]) == (4, "PIN803")
    assert found["message"].startswith("/dev/full cannot be written: No space left on device; what else is told")
    assert [file["changed"] for file in run.document["result"]["files"]].count(True) == 4
    assert newer.last in newer.text("pins.toml")


def test_where_there_is_nothing_to_tell_a_body_of_before_stays(newer: World) -> None:
    (newer.root / "body.md").write_text("of before\n")
    run = newer.run("bump", "deepgemm", "--to", newer.first, "--body", "body.md")
    assert (run.code, newer.text("body.md")) == (0, "of before\n")
    assert "body.md was not written: there is nothing to tell\n" in run.out
    run = pinctl("bump", "deepgemm", "--diff", "--body", "body.md", cwd=newer.root)
    assert (run.code, "of before" in newer.text("body.md")) == (0, False)
