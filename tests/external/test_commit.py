"""One commit by the person's own git: git itself, its hooks and its signing say what is right."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumer import environment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinctl.errors import ExternalError
from pinctl.external import commit as room
from pinctl.external import git
from pinctl.external.process import CommandFailed

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

OLD, NEW, OTHER = "a1" * 20, "b2" * 20, "c3" * 20
HOOK = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def _person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person with a name, and a time zone of their own."""
    settings_ = tmp_path / "gitconfig"
    settings_.write_text("[user]\nname = A Person\nemail = person@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings_))
    monkeypatch.setenv("TZ", "XYZ-02:00")


@pytest.fixture
def engine(make_repository: MakeRepository) -> GitRepository:
    """A repository with a space in its name, a submodule, and changes of the person's own, staged and not."""
    made = make_repository("an engine")
    made.commit(
        files={"pins.toml": "1\n", "site": "1\n", "mine": "1\n", "half": "1\n", "gone": "1\n", "sub dir/x": "1\n"}
    )
    made.git("update-index", "--add", "--cacheinfo", f"160000,{OLD},third/lib")
    made.git("commit", "-q", "-m", "a submodule")
    made.write("mine", "2\n")
    made.write("half", "2\n")
    made.git("add", "half")
    made.write("half", "3\n")
    made.write("untracked", "x")
    (made.path / "third" / "lib").mkdir(parents=True)
    return made


def hook(repository: GitRepository, name: str, text: str, folder: str = ".git/hooks") -> None:
    repository.write(f"{folder}/{name}", HOOK + text)
    (repository.path / folder / name).chmod(0o755)


def state(repository: GitRepository) -> tuple[str, ...]:
    """All that a failure may not change: HEAD, branches, index, work tree; and no file left in git's folder."""
    told = [repository.git("rev-parse", "HEAD"), repository.git("symbolic-ref", "-q", "HEAD")]
    told += [repository.git(*words) for words in (("branch", "-a"), ("ls-files", "-s"), ("status", "--porcelain"))]
    return (*told, *left_behind(repository))


def left_behind(repository: GitRepository) -> list[str]:
    return sorted(
        str(p) for p in (repository.path / ".git").rglob("*") if p.name.startswith("pinctl-") or p.suffix == ".lock"
    )


def changed(repository: GitRepository) -> list[str]:
    """What HEAD changed."""
    return repository.git("diff-tree", "-r", "--root", "--no-commit-id", "--name-status", "HEAD").split("\n")


# Commits


def test_a_commit_of_exactly_these_files(engine: GitRepository) -> None:
    root, before = str(engine.path), engine.git("rev-parse", "HEAD")
    engine.write("pins.toml", "2\n")
    engine.write("site", "2\n")
    engine.write("new one", "#!/bin/sh\n")
    (engine.path / "new one").chmod(0o755)
    (engine.path / "gone").unlink()
    new = room.commit(root, ["pins.toml", "./site", "new one", "gone"], "Bump x\n\n#1 is solved\n")
    assert new == git.head(root) == engine.git("rev-parse", "main")
    assert engine.git("rev-parse", "HEAD^") == before
    assert changed(engine) == ["D\tgone", "A\tnew one", "M\tpins.toml", "M\tsite"]
    assert engine.git("ls-tree", "HEAD", "new one").startswith("100755")
    assert engine.git("log", "-1", "--format=%B") == "Bump x\n\n#1 is solved\n"
    assert (
        engine.git("log", "-1", "--format=%an <%ae> %ad", "--date=format:%z") == "A Person <person@example.org> +0200"
    )
    assert engine.git("status", "--porcelain").split("\n") == ["MM half", " M mine", "?? untracked"]
    assert engine.git("show", ":half") == "2"
    assert left_behind(engine) == []


def test_gitlinks_whatever_is_checked_out(engine: GitRepository, make_repository: MakeRepository) -> None:
    root = str(engine.path)
    (engine.path / "third" / "lib").rmdir()
    library = make_repository("an engine/third/lib")  # the stale checkout
    stale = library.commit(files={"a": "1"})
    engine.write("pins.toml", "2\n")
    room.commit(root, ["pins.toml"], "Bump", links={"third/lib": NEW})
    assert changed(engine) == ["M\tpins.toml", "M\tthird/lib"]
    assert git.gitlinks(root, ["third/lib"])["third/lib"] == git.GitlinkState(head=NEW, index=NEW, checkout=stale)
    room.commit(str(engine.path / "third"), [], "Again", links={"lib": OTHER})
    assert git.tree_links(root, "HEAD", ["third/lib"]) == {"third/lib": OTHER}
    assert engine.git("show", ":half") == "2"


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_it_is_what_git_commit_only_makes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    from repositories import GitRepository

    folder = tmp_path_factory.mktemp("pair")
    ours = GitRepository(folder / "ours")
    ours.path.mkdir()
    ours.git("init", "-q", "-b", "main")
    names = ["a", "b.txt", "c d", "e/f"]
    ours.commit(files={".gitattributes": "*.txt text eol=crlf\n", **dict.fromkeys(names, "1\n")})
    kinds = st.sampled_from(["same", "changed", "deleted", "executable"])
    for stage in (True, False):
        for name in names:
            kind, file = data.draw(kinds), ours.path / name
            if kind == "deleted":
                file.unlink(missing_ok=True)
            elif kind == "changed":
                ours.write(name, f"{stage}\r\n")
            elif kind == "executable" and file.exists():
                file.chmod(0o755)
            if stage and kind != "deleted":  # a file that left the index is none that `commit --only` knows
                ours.git("add", name)
    theirs = GitRepository(folder / "theirs", ours.clock)
    shutil.copytree(ours.path, theirs.path)
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    try:
        theirs.git("commit", "-q", "-m", "m", "--only", "--", *chosen)
    except subprocess.CalledProcessError:
        with pytest.raises(ExternalError, match="nothing to commit"):
            room.commit(str(ours.path), chosen, "m")
    else:
        room.commit(str(ours.path), chosen, "m")
    for words in (("ls-tree", "-r", "HEAD"), ("ls-files", "-s"), ("status", "--porcelain")):
        assert ours.git(*words) == theirs.git(*words)


def test_from_below_the_top_and_in_a_linked_work_tree(engine: GitRepository, tmp_path: Path) -> None:
    engine.git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "the linked"))
    linked = type(engine)(tmp_path / "the linked")
    linked.write("sub dir/x", "2\n")
    linked.write("sub dir/y", "2\n")
    below = str(linked.path / "sub dir")
    assert room.dirty(below, ["x", "y"]) == ["x", "y"]
    new = room.commit(below, ["x", "y"], "Bump")
    assert changed(linked) == ["M\tsub dir/x", "A\tsub dir/y"]
    assert engine.git("rev-parse", "linked") == new != engine.git("rev-parse", "main")
    assert engine.git("status", "--porcelain").startswith("MM half")
    room.stage_links(str(linked.path), {"third/lib": NEW})
    assert git.gitlinks(str(linked.path), ["third/lib"])["third/lib"].index == NEW
    assert git.gitlinks(str(engine.path), ["third/lib"])["third/lib"].index == OLD


def test_before_the_first_commit(make_repository: MakeRepository) -> None:
    made = make_repository("new")
    made.write("a", "1")
    made.write("b", "1")
    assert room.dirty(str(made.path), ["a"]) == ["a"]
    new = room.commit(str(made.path), ["a"], "First", branch="topic")
    assert changed(made) == ["A\ta"]
    assert made.git("rev-parse", "topic") == new
    assert made.git("status", "--porcelain") == "?? b"
    made = make_repository("staged")
    made.write("a", "1")
    made.write("b", "1")
    made.git("add", "b")
    room.commit(str(made.path), ["a"], "First")
    assert made.git("status", "--porcelain") == "A  b"


def test_a_file_of_the_same_size_and_second(engine: GitRepository) -> None:
    """git tells such a file from its entry by the time of the index (its racy-git.txt), which a copy must keep."""
    engine.git("config", "core.trustctime", "false")
    second = engine.clock * 10**9
    os.utime(engine.path / "site", ns=(second, second))
    engine.git("add", "site")
    os.utime(engine.path / ".git" / "index", ns=(second, second))
    engine.write("site", "2\n")
    os.utime(engine.path / "site", ns=(second, second))
    room.commit(str(engine.path), ["site"], "Bump")
    assert changed(engine) == ["M\tsite"]


def test_on_a_detached_head(engine: GitRepository) -> None:
    engine.git("checkout", "-q", "--detach")
    engine.write("site", "2\n")
    new = room.commit(str(engine.path), ["site"], "Bump")
    assert engine.git("rev-parse", "HEAD") == new != engine.git("rev-parse", "main")


@pytest.mark.parametrize("how", ["splitIndex", "split index", "fsmonitor", "both"])
def test_a_split_index_and_a_file_system_monitor(engine: GitRepository, how: str) -> None:
    root = str(engine.path)
    if how == "splitIndex":
        engine.git("config", "core.splitIndex", "true")
    if how != "fsmonitor":
        engine.git("update-index", "--split-index")
    if how in ("fsmonitor", "both"):
        hook(engine, "monitor", "printf 'token\\0/\\0'\n")
        engine.git("config", "core.fsmonitor", ".git/hooks/monitor")
    room.stage_links(root, {"third/lib": NEW})
    assert engine.git("diff", "--cached", "--name-only") == "half\nthird/lib"
    engine.write("site", "2\n")
    room.commit(root, ["site"], "Bump", links={"third/lib": OTHER})
    assert changed(engine) == ["M\tsite", "M\tthird/lib"]
    assert engine.git("diff", "--cached", "--name-only") == "half"
    assert bool(engine.git("rev-parse", "--shared-index-path")) == (how != "fsmonitor")
    assert left_behind(engine) == []


def test_filters_and_line_ends_are_those_of_git_add(engine: GitRepository) -> None:
    engine.write(".gitattributes", "*.up filter=up\n*.txt text\n")
    engine.git("config", "filter.up.clean", "tr a-z A-Z")
    engine.write("a.up", "abc\n")
    engine.write("b.txt", "x\r\n")
    room.commit(str(engine.path), [".gitattributes", "a.up", "b.txt"], "Bump")
    assert engine.git("cat-file", "-p", "HEAD:a.up") == "ABC"
    assert engine.git("cat-file", "-s", "HEAD:b.txt") == "2"


# Hooks and signing


def test_every_hook_runs_on_the_commit_alone(engine: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    log = engine.path / ".git" / "log"
    hook(engine, "pre-commit", f"git diff --cached --name-only >'{log}'; echo \"$SKIP\" >>'{log}'\n")
    hook(engine, "prepare-commit-msg", 'echo "prepared by $2" >>"$1"\n')
    hook(engine, "commit-msg", 'echo "Signed-off" >>"$1"\n')
    hook(engine, "post-commit", f"git rev-parse HEAD >>'{log}'\n")
    monkeypatch.setenv("SKIP", "mypy")
    engine.write("site", "2\n")
    new = room.commit(str(engine.path), ["site"], "Bump", links={"third/lib": NEW})
    assert log.read_text().split("\n") == ["site", "third/lib", "mypy", new, ""]
    assert engine.git("log", "-1", "--format=%B").split() == ["Bump", "prepared", "by", "message", "Signed-off"]


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg"])
@pytest.mark.parametrize("branch", [None, "pinctl/bump"])
def test_a_hook_that_refuses(engine: GitRepository, name: str, branch: str | None) -> None:
    hook(engine, name, "printf 'no: \\033[31mred\\033[0m https://user:secret@h.example/\\n' >&2; exit 3\n", ".husky")
    engine.git("config", "core.hooksPath", ".husky")
    engine.write("site", "2\n")
    before = state(engine)
    with pytest.raises(CommandFailed) as raised:
        room.commit(str(engine.path), ["site"], "Bump", links={"third/lib": NEW}, branch=branch)
    assert "no: [31mred" in str(raised.value)
    assert "secret" not in str(raised.value)
    assert "\033" not in str(raised.value)
    assert state(engine) == before
    assert (engine.path / "site").read_text() == "2\n"


def test_a_hook_that_formats(engine: GitRepository, tmp_path: Path) -> None:
    hook(engine, "pre-commit", "echo formatted >>site; git add site\n")
    engine.write("site", "2\n")
    theirs = type(engine)(tmp_path / "theirs")
    shutil.copytree(engine.path, theirs.path)
    theirs.git("commit", "-q", "-m", "m", "--only", "--", "site")
    room.commit(str(engine.path), ["site"], "m")
    assert engine.git("show", "HEAD:site") == "2\nformatted"
    for words in (("ls-tree", "-r", "HEAD"), ("ls-files", "-s"), ("status", "--porcelain")):
        assert engine.git(*words) == theirs.git(*words)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs ssh-keygen")
def test_it_is_signed_as_the_person_signs(engine: GitRepository, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    with (tmp_path / "gitconfig").open("a") as file:
        file.write(f"signingKey = {key}\n[gpg]\nformat = ssh\n[commit]\ngpgSign = true\n")
    engine.write("site", "2\n")
    room.commit(str(engine.path), ["site"], "Bump")
    assert "-----BEGIN SSH SIGNATURE-----" in engine.git("cat-file", "commit", "HEAD")
    key.unlink()
    key.with_suffix(".pub").unlink()
    engine.write("site", "3\n")
    before = state(engine)
    with pytest.raises(CommandFailed):
        room.commit(str(engine.path), ["site"], "Bump", branch="topic")
    assert state(engine) == before


def test_an_outer_hook_leads_nothing_astray(
    engine: GitRepository, make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = make_repository("outer")
    outer.commit(files={"site": "outer\n"})
    before = state(outer)
    for name, path in (("DIR", ""), ("INDEX_FILE", "index"), ("WORK_TREE", ".."), ("OBJECT_DIRECTORY", "objects")):
        monkeypatch.setenv(f"GIT_{name}", str(outer.path / ".git" / path))
    monkeypatch.setenv("GIT_PREFIX", "x/")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "An Author")
    engine.write("site", "2\n")
    assert room.dirty(str(engine.path), ["site"]) == ["site"]
    new = room.commit(str(engine.path), ["site"], "Bump", branch="topic")
    room.stage_links(str(engine.path), {"third/lib": NEW})
    assert engine.git("rev-parse", "topic") == new
    assert engine.git("log", "-1", "--format=%an/%cn") == "An Author/A Person"
    assert state(outer) == before


# Branches


def test_a_branch_of_its_own(engine: GitRepository) -> None:
    engine.write("site", "2\n")
    before = engine.git("rev-parse", "main")
    new = room.commit(str(engine.path), ["site"], "Bump", branch="pinctl/bump-x")
    assert engine.git("symbolic-ref", "HEAD") == "refs/heads/pinctl/bump-x"
    assert engine.git("rev-parse", "HEAD", "main").split() == [new, before]
    engine.write("site", "3\n")
    again = room.commit(str(engine.path), ["site"], "Bump", branch="pinctl/bump-x")  # the current one
    assert engine.git("rev-parse", "HEAD", "HEAD^").split() == [again, new]


@pytest.mark.parametrize("name", ["-f", "a b", "a..b", "", "HEAD", "@{-1}", "x.lock", "other", "other/y", "a\nb", "-"])
def test_a_branch_that_cannot_be(engine: GitRepository, name: str) -> None:
    engine.git("branch", "other")
    engine.write("site", "2\n")
    before = state(engine)
    with pytest.raises(ExternalError, match=r"no name for a branch|exists"):
        room.commit(str(engine.path), ["site"], "Bump", branch=name)
    assert state(engine) == before


def test_a_branch_is_taken_back_to_a_detached_head(engine: GitRepository) -> None:
    engine.git("checkout", "-q", "--detach")
    engine.git("config", "branch.autoSetupMerge", "always")
    hook(engine, "pre-commit", "exit 1\n")
    engine.write("site", "2\n")
    with pytest.raises(CommandFailed):
        room.commit(str(engine.path), ["site"], "Bump", branch="topic")
    assert engine.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert engine.git("branch", "--list", "topic") == ""
    assert "topic" not in engine.git("config", "--list")


# What is refused


def test_nothing_to_commit(engine: GitRepository) -> None:
    before = state(engine)
    with pytest.raises(ExternalError, match="nothing to commit"):
        room.commit(str(engine.path), ["site", "none"], "Bump", branch="topic")
    assert state(engine) == before


@pytest.mark.parametrize("way", ["merge", "rebase", "cherry-pick"])
def test_in_the_middle_of_something_else(repository: GitRepository, way: str) -> None:
    repository.commit(files={"site": "base"})
    repository.git("checkout", "-q", "-b", "other")
    repository.commit(files={"site": "theirs"})
    repository.git("checkout", "-q", "main")
    repository.commit(files={"site": "ours"})
    with suppress(subprocess.CalledProcessError):
        repository.git(way, "other")
    before = repository.git("status")
    with pytest.raises(ExternalError, match=f"a {way} is under way"):
        room.commit(str(repository.path), ["site"], "Bump")
    assert repository.git("status") == before


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_file_that_git_is_told_not_to_look_at(engine: GitRepository, flag: str) -> None:
    engine.write("site", "2\n")
    engine.git("update-index", flag, "site")
    with pytest.raises(ExternalError, match="not to look at site"):
        room.commit(str(engine.path), ["site"], "Bump")
    assert engine.git("show", "HEAD:site") == "1"


@pytest.mark.parametrize("path", ["../x", "/x", ".git/config", ""])
def test_a_path_outside(engine: GitRepository, path: str) -> None:
    for act in (room.commit, lambda root, paths, _: room.dirty(root, paths)):
        with pytest.raises(ExternalError):
            act(str(engine.path), [path], "Bump")


def test_an_incomplete_repository_inside_another(engine: GitRepository) -> None:
    inner = engine.path / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "site").write_text("x")
    before = engine.git("rev-parse", "HEAD")
    with pytest.raises(ExternalError, match="not a git repository"):
        room.commit(str(inner), ["site"], "Bump")
    assert engine.git("rev-parse", "HEAD") == before


def test_a_configuration_that_leads_to_another_work_tree(engine: GitRepository, tmp_path: Path) -> None:
    engine.git("config", "core.worktree", str(tmp_path))
    for act in (room.dirty, room.demand):
        with pytest.raises(ExternalError, match="git takes"):
            act(str(engine.path), ["site"], *([{}] if act is room.demand else []))


# Gitlinks in the index


def test_gitlinks_are_staged_and_nothing_else_moves(engine: GitRepository) -> None:
    root = str(engine.path)
    before = engine.git("ls-files", "-s").replace(OLD, NEW)
    room.stage_links(root, {"third/lib": NEW})
    room.stage_links(str(engine.path / "sub dir"), {})
    assert engine.git("ls-files", "-s") == before
    assert room.dirty(root, ["third/lib"]) == ["third/lib"]


@pytest.mark.parametrize(("path", "commit"), [("site", NEW), ("none", NEW), ("third/lib", "main"), ("third", NEW)])
def test_no_gitlink(engine: GitRepository, path: str, commit: str) -> None:
    before = state(engine)
    with pytest.raises(ExternalError, match=r"no submodule|full id"):
        room.stage_links(str(engine.path), {"third/lib": NEW, path: commit})
    assert state(engine) == before


@pytest.mark.parametrize("branch", [None, "topic"])
def test_an_index_that_another_process_holds(engine: GitRepository, branch: str | None) -> None:
    lock = engine.path / ".git" / "index.lock"
    lock.touch()
    engine.write("site", "2\n")
    before = state(engine)
    for act in (
        lambda root: room.stage_links(root, {"third/lib": NEW}),
        lambda root: room.commit(root, ["site"], "Bump", branch=branch),
    ):
        with pytest.raises(ExternalError, match="another git process holds the index"):
            act(str(engine.path))
    assert state(engine) == before
    assert lock.read_bytes() == b""


# Who has changes


def test_what_is_dirty(engine: GitRepository) -> None:
    engine.write(".gitignore", "ignored\nbuild/\n")
    engine.write("ignored", "x")
    engine.write("build/x", "x")
    engine.write("staged", "x")
    engine.git("add", "staged")
    (engine.path / "gone").unlink()
    (engine.path / "sub dir" / "x").chmod(0o755)
    engine.write("half", "1\n")  # as in HEAD again, and another one staged
    asked = [
        "staged",
        "mine",
        "./half",
        "gone",
        "untracked",
        "ignored",
        "build/x",
        "sub dir/x",
        "site",
        "none",
        "third/lib",
    ]
    assert room.dirty(str(engine.path), asked) == asked[:8]
    assert room.dirty(str(engine.path), []) == []


# ^C


@pytest.mark.parametrize("when", ["pre-commit", "post-commit"])
def test_an_interrupt_leaves_nothing_behind(engine: GitRepository, tmp_path: Path, when: str) -> None:
    hook(engine, when, f"touch '{tmp_path}/started'; sleep 60\n")
    engine.write("site", "2\n")
    before = state(engine)
    code = (
        "import sys\nfrom pinctl.external.commit import commit\ncommit(sys.argv[1], ['site'], 'Bump', branch='topic')"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(engine.path)], env=environment(), stderr=subprocess.PIPE)
    end = time.monotonic() + 20
    while not (tmp_path / "started").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert (engine.path / ".git" / "index.lock").exists()
    os.kill(child.pid, 2)
    assert b"KeyboardInterrupt" in child.communicate(timeout=20)[1]
    assert left_behind(engine) == []
    if when == "pre-commit":
        assert state(engine) == before
    else:  # the commit is made by then
        assert engine.git("rev-parse", "--abbrev-ref", "HEAD") == "topic"
        assert changed(engine) == ["M\tsite"]
        assert engine.git("status", "--porcelain", "site") == ""
