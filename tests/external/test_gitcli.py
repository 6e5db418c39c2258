from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pinctl.errors import ExternalError
from pinctl.external import git
from pinctl.external.gitcli import TRUSTED, UNTRUSTED, Profile, call, safe_url, toplevel
from pinctl.external.process import CommandFailed, ToolMissing

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

BOTH = pytest.mark.parametrize("profile", [TRUSTED, UNTRUSTED], ids=lambda p: p.name)


@BOTH
@pytest.mark.parametrize("network", [False, True])
def test_the_environment_of_git_is_ours(profile: Profile, network: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DIR", "INDEX_FILE", "WORK_TREE", "TRACE", "EXTERNAL_DIFF", "PAGER", "EXEC_PATH"):
        monkeypatch.setenv(f"GIT_{name}", "SENTINEL")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext")  # security row 4
    made = profile.environment(network=network)
    assert "SENTINEL" not in made.values()
    assert "ext" not in made["GIT_ALLOW_PROTOCOL"].split(":")
    assert (made["GIT_ALLOW_PROTOCOL"] == "none") is not network
    fixed = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_PROTOCOL_FROM_USER": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    assert fixed.items() <= made.items()
    assert ("GIT_NO_LAZY_FETCH" in made) is not network


def test_the_profiles_differ_in_what_the_user_may_bring(monkeypatch: pytest.MonkeyPatch) -> None:
    brought = {
        "HOME": "/home/me",
        "SSH_AUTH_SOCK": "/s",
        "https_proxy": "http://proxy",
        "GIT_CONFIG_GLOBAL": "/g",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url.x.insteadOf",
        "GIT_CONFIG_VALUE_0": "y",
    }
    for name, value in brought.items():
        monkeypatch.setenv(name, value)
    trusted, untrusted = TRUSTED.environment(network=True), UNTRUSTED.environment(network=True)
    assert brought.items() <= trusted.items()
    assert trusted["GIT_ALLOW_PROTOCOL"] == "https:ssh:git:http:file"
    assert not brought.items() & untrusted.items()
    assert untrusted["GIT_ALLOW_PROTOCOL"] == "https"
    assert untrusted["HOME"] == untrusted["GIT_CONFIG_GLOBAL"] == "/dev/null"
    assert untrusted["GIT_CONFIG_NOSYSTEM"] == "1"
    assert "credential.helper=" in UNTRUSTED.config()
    assert "credential.helper=" not in TRUSTED.config()


@BOTH
def test_every_hardening_is_given_by_option(profile: Profile) -> None:
    options = profile.config()
    assert options[::2] == ["-c"] * (len(options) // 2)
    assert {
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "safe.bareRepository=explicit",
        "core.symlinks=false",
        "core.protectHFS=true",
        "core.protectNTFS=true",
        "core.autocrlf=false",
        "submodule.recurse=false",
        "transfer.fsckObjects=true",
        "fetch.fsck.zeroPaddedFilemode=ignore",
        "http.followRedirects=false",
        "transfer.bundleURI=false",
        "gc.auto=0",
    } <= set(options[1::2])


def test_urls_are_held_against_the_profile() -> None:
    url = "https://github.com/org/name.git"
    assert safe_url(url, TRUSTED) == safe_url(url, UNTRUSTED) == url
    assert safe_url("git@github.com:org/name", TRUSTED)
    assert safe_url("file:///srv/x", TRUSTED, allow=("file",))
    for bad in ("git@github.com:org/name", "file:///srv/x", "ext::sh", "--upload-pack=x"):
        with pytest.raises(ExternalError, match="refused to use the URL"):
            safe_url(bad, UNTRUSTED)
    with pytest.raises(ExternalError) as error:
        safe_url("https://u:SENTINEL@github.com/a/b", TRUSTED)
    assert "SENTINEL" not in str(error.value)


def test_the_work_tree_is_found_upwards(repository: GitRepository, make_repository: MakeRepository) -> None:
    repository.commit(files={"a/b/file": "x"})
    top = os.path.realpath(repository.path)
    assert toplevel(str(repository.path)) == top
    assert toplevel(str(repository.path / "a/b")) == top
    assert toplevel(str(repository.path.parent)) is None
    (repository.path / "a/.git").mkdir()  # an empty folder is no repository, for git neither
    assert toplevel(str(repository.path / "a")) == top
    repository.git("worktree", "add", "-q", "../linked")
    assert toplevel(str(repository.path / "../linked/a")) == os.path.realpath(repository.path / "../linked")


def test_outside_a_work_tree(tmp_path: Path, make_repository: MakeRepository) -> None:
    with pytest.raises(ExternalError, match="not in the work tree"):
        call(str(tmp_path), "ls-files")
    bare = make_repository("bare")
    bare.git("clone", "-q", "--bare", ".", "../bare.git")
    with pytest.raises(ExternalError, match="not in the work tree"):
        call(str(tmp_path / "bare.git"), "ls-files")


def test_git_does_not_look_above_the_work_tree(repository: GitRepository) -> None:
    repository.commit(files={"sub/file": "x"})
    (repository.path / "sub/.git").write_text("gitdir: nowhere\n")
    with pytest.raises(CommandFailed, match="not a git repository") as error:
        call(str(repository.path / "sub"), "ls-files")
    assert error.value.hint is not None


def test_without_git(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolMissing, match="git is not installed") as error:
        call(str(repository.path), "ls-files")
    assert error.value.hint == "install git"


def test_a_failure_shows_the_command_without_our_options(repository: GitRepository) -> None:
    with pytest.raises(CommandFailed) as error:
        call(str(repository.path), "cat-file", "-t", "none")
    assert str(error.value).startswith(f"`git -C {repository.path} cat-file -t none` failed with exit code 128")
    assert "stderr: fatal: Not a valid object name none" in str(error.value)


CANARY = "#!/bin/sh\ntouch {canary}\ncat\n"


@pytest.fixture
def planted(repository: GitRepository, tmp_path: Path) -> Path:
    """A repository whose configuration names programs for all that git would run; the file that they would make."""
    canary, program = tmp_path / "canary", tmp_path / "program"
    program.write_text(CANARY.format(canary=canary))
    program.chmod(0o755)
    repository.commit(files={"site": "one\ntwo\n", ".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "diff.external",
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "diff.evil.command",
        "gpg.program",
        "credential.helper",
        "core.alternateRefsCommand",
        "pager.log",
        "pager.blame",
    ):
        repository.git("config", key, str(program))
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (tmp_path / "hooks" / hook).write_text(CANARY.format(canary=canary))
        (tmp_path / "hooks" / hook).chmod(0o755)
    repository.write("site", "one\nchanged\n")
    return canary


# Security rows 17, 18 and 26: what a repository's configuration names is not run.
def test_nothing_that_a_repository_names_is_run(planted: Path, repository: GitRepository) -> None:
    root = str(repository.path)
    assert git.ls_files(root) == [".gitattributes", "site"]
    assert git.show(root, "HEAD", "site") == b"one\ntwo\n"
    assert len(list(git.history_of(root, "site"))) == 1
    changes = git.last_changes(root, "site", [(1, 1), (2, 2)])
    assert [change and change.commit is None for change in changes] == [False, True]
    assert git.is_dirty(root, "site")
    assert git.gitlinks(root, ["site"])["site"].index is None
    assert not planted.exists()
    env = {"PATH": os.environ["PATH"], "HOME": "/dev/null"}
    subprocess.run(["git", "status"], cwd=root, env=env, capture_output=True, check=False)
    assert planted.exists(), "the trap itself does not work"


def test_a_nested_bare_repository_is_not_entered(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit(files={"site": "x"})
    repository.git("clone", "-q", "--bare", ".", "nested")
    config = f"[core]\nbare = false\nworktree = .\nfsmonitor = touch {tmp_path}/canary\n"
    (repository.path / "nested/config").write_text(config)
    with pytest.raises(CommandFailed, match="bare"):
        call(str(repository.path / "nested"), "ls-files")
    assert not (tmp_path / "canary").exists()


# Security row 12.
def test_replaced_objects_are_not_shown(repository: GitRepository) -> None:
    first = repository.commit(files={"site": "good\n"})
    second = repository.commit(files={"site": "evil\n"})
    repository.git("replace", first, second)
    assert git.show(str(repository.path), first, "site") == b"good\n"


def test_a_partial_clone_reaches_no_server(repository: GitRepository, tmp_path: Path) -> None:
    first = repository.commit(files={"site": "old\n"})
    repository.commit(files={"site": "new\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("clone", "-q", "--filter=blob:none", f"file://{repository.path}", "../partial")
    with pytest.raises(CommandFailed) as error:
        git.show(str(tmp_path / "partial"), first, "site")
    assert error.value.hint is not None
    assert "partial clone" in error.value.hint
    assert git.show(str(tmp_path / "partial"), "HEAD", "site") == b"new\n"


@pytest.fixture
def of_another_user(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """A repository that, to us, seems to be another user's."""
    repository.commit(files={"site": "x"})
    monkeypatch.setattr(os, "geteuid", lambda: repository.path.stat().st_uid + 1)
    return repository


@pytest.mark.parametrize(("listed", "given"), [("*", True), ("{top}", True), ("/elsewhere", False)])
def test_the_users_word_on_ownership_is_kept(
    of_another_user: GitRepository, monkeypatch: pytest.MonkeyPatch, listed: str, given: bool
) -> None:
    top = os.path.realpath(of_another_user.path)
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": listed.format(top=top)}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    seen = call(top, "config", "--get-all", "safe.directory", accept=(0, 1)).stdout.decode()
    assert seen == (f"{top}\n" if given else "")


def test_our_own_repository_needs_no_word(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": "*"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert call(str(repository.path), "config", "--get-all", "safe.directory", accept=(0, 1)).stdout == b""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user(repository: GitRepository) -> None:
    repository.commit(files={"site": "x"})
    for folder in (repository.path, repository.path / ".git"):
        os.chown(folder, 12345, 12345)
    with pytest.raises(CommandFailed, match="dubious ownership") as error:
        call(str(repository.path), "ls-files")
    assert f"safe.directory {os.path.realpath(repository.path)}" in str(error.value.hint)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_that_is_trusted(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit(files={"site": "x"})
    os.chown(repository.path, 12345, 12345)
    (tmp_path / "gitconfig").write_text(f"[safe]\ndirectory = {repository.path}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert call(str(repository.path), "ls-files").stdout == b"site\n"
