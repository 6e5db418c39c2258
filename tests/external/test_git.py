from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pinctl.errors import ExternalError
from pinctl.external import files, git
from pinctl.external.git import Change, GitlinkState, later
from pinctl.external.process import CommandFailed

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository


def test_revisions_are_resolved_to_full_ids(repository: GitRepository) -> None:
    root = str(repository.path)
    first = repository.commit(files={"a": "1"})
    repository.git("tag", "-a", "v1", "-m", "one")
    second = repository.commit(files={"a": "2"})
    assert git.head(root) == git.resolve(root, "main") == git.resolve(root, second[:10]) == second
    assert git.resolve(root, "v1") == git.resolve(root, "HEAD~1") == first  # the tag's commit, not the tag
    assert git.is_ancestor(root, first, second)
    assert not git.is_ancestor(root, second, first)


@pytest.mark.parametrize(
    "revision", ["none", "", "0" * 40, "--output=x", "-h", "a b", "HEAD\n", "HEAD:a", "@{u}", "^", ":/x"]
)
def test_what_names_no_commit(repository: GitRepository, revision: str) -> None:
    repository.commit(files={"a": "1"})
    assert git.resolve(str(repository.path), revision) is None
    assert git.show(str(repository.path), revision, "a") is None
    assert sorted(p.name for p in repository.path.iterdir()) == [".git", "a"]


def test_before_the_first_commit(repository: GitRepository) -> None:
    root = str(repository.path)
    repository.write("pins.toml", "x\n")
    assert git.head(root) is None
    assert git.ls_files(root) == []
    assert git.show(root, "HEAD", "pins.toml") is None
    assert list(git.history_of(root, "pins.toml")) == []
    change = git.last_change(root, "pins.toml", 1, 1)
    assert change == git.UNCOMMITTED
    assert git.is_dirty(root, "pins.toml")
    assert git.gitlinks(root, ["sub"]) == {"sub": GitlinkState(head=None, index=None, checkout=None)}


def test_tracked_files_are_listed_from_where_we_stand(repository: GitRepository) -> None:
    names = ["a b", "docker/Dockerfile", "docker/[x]", "docker/\u00e9\n", "z"]
    repository.commit(files=dict.fromkeys(names, "x"))
    repository.write("untracked", "x")
    (repository.path / "z").unlink()
    assert git.ls_files(str(repository.path)) == names
    assert git.ls_files(str(repository.path), "docker") == names[1:4]
    assert git.ls_files(str(repository.path), "docker/[x]") == ["docker/[x]"]
    assert git.ls_files(str(repository.path), ":(top)a b") == []  # no pathspec magic
    assert git.ls_files(str(repository.path / "docker")) == ["Dockerfile", "[x]", "\u00e9\n"]


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="names are UTF-8 there")
def test_a_name_that_is_not_utf8(repository: GitRepository) -> None:
    (Path(os.fsdecode(os.fsencode(repository.path) + b"/\xff"))).write_text("x")
    repository.commit()
    assert git.ls_files(str(repository.path)) == ["\udcff"]
    assert git.show(str(repository.path), "HEAD", "\udcff") == b"x"


def test_the_index_tells_kinds_apart_and_a_conflict_counts_once(repository: GitRepository) -> None:
    repository.write("run", "x")
    (repository.path / "run").chmod(0o755)
    (repository.path / "link").symlink_to("run")
    repository.commit(files={"site": "base"})
    repository.git("checkout", "-q", "-b", "other")
    repository.commit(files={"site": "theirs"})
    repository.git("checkout", "-q", "main")
    repository.commit(files={"site": "ours"})
    with pytest.raises(Exception, match="merge"):
        repository.git("merge", "-q", "other")
    assert [(e.path, e.mode) for e in git.index(str(repository.path))] == [
        ("link", "120000"),
        ("run", "100755"),
        ("site", "100644"),
    ]


def test_the_number_of_files_is_bounded(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit(files={"a": "", "b": "", "c": ""})
    monkeypatch.setattr(git, "MOST_FILES", 2)
    with pytest.raises(ExternalError, match="more than 2 files"):
        git.ls_files(str(repository.path))


def test_contents_at_a_revision(repository: GitRepository) -> None:
    root = str(repository.path)
    (repository.path / "link").symlink_to("a")
    stored = {"a": "$Id$ one\r\n", "empty": "", "sub/x y": "in", ".gitattributes": "* ident export-subst\n"}
    first = repository.commit(files=stored)
    repository.commit(files={"a": "two"})
    assert git.show(root, first, "a") == b"$Id$ one\r\n"  # security row 19
    assert git.show(root, "HEAD", "./a") == b"two"
    assert git.show(root, "HEAD", "none") is None
    assert git.show(root, "HEAD", "sub") is None
    assert git.show(root, "HEAD", "link") is None  # security row 20
    many = git.show_many(root, first, ["sub/x y", "none", "empty", "a", "link"])
    assert many == {"a": b"$Id$ one\r\n", "empty": b"", "sub/x y": b"in"}
    assert git.show(str(repository.path / "sub"), "HEAD", "x y") == b"in"
    assert git.show_many(root, "HEAD", []) == {}
    for path in ("../a", "/a", ".git/config"):
        with pytest.raises(files.Unreadable):
            git.show(root, "HEAD", path)


# Security row 24: a line end in a path must not turn one question into two.
def test_a_path_with_a_line_end(repository: GitRepository) -> None:
    root = str(repository.path)
    repository.commit(files={"x\nHEAD:./secret": "named", "secret": "SENTINEL"})
    assert git.show(root, "HEAD", "x\nHEAD:./secret") == b"named"
    with pytest.raises(ExternalError, match="line end"):
        list(git.history_of(root, "x\nHEAD:./secret"))


def test_large_files_are_refused_unread(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit(files={"big": "x" * 101, "small": "x" * 100})
    monkeypatch.setattr(files, "LIMIT", 100)
    assert git.show(str(repository.path), "HEAD", "small") == b"x" * 100
    with pytest.raises(ExternalError, match="big: larger than 100 bytes at HEAD"):
        git.show(str(repository.path), "HEAD", "big")


def test_the_versions_of_a_file(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    root, versions = str(repository.path), []
    for n in range(5):
        versions.append((repository.commit(files={"sub/my pins.toml": f"version {n}\n"}), f"version {n}\n".encode()))
        repository.commit(files={"other": str(n)})
    (repository.path / "sub/my pins.toml").unlink()
    repository.commit()
    monkeypatch.setattr(git, "_BATCH", 2)
    assert list(git.history_of(root, "sub/my pins.toml")) == versions[::-1]
    assert list(git.history_of(str(repository.path / "sub"), "my pins.toml")) == versions[::-1]
    monkeypatch.setattr(git, "MOST_VERSIONS", 3)
    assert list(git.history_of(root, "sub/my pins.toml")) == versions[:-3:-1]
    assert list(git.history_of(root, "none")) == []


def test_the_three_states_of_a_submodule(repository: GitRepository, make_repository: MakeRepository) -> None:
    upstream = make_repository("upstream")
    one, two, three = (upstream.commit(files={"f": str(n)}) for n in range(3))
    root = str(repository.path)
    repository.git("submodule", "add", "-q", str(upstream.path), "third-party/dep")
    checkout = GitRepositoryAt(repository, "third-party/dep")
    checkout("checkout", "-q", one)
    repository.commit()
    assert git.gitlinks(root, ["third-party/dep"])["third-party/dep"] == GitlinkState(head=one, index=one, checkout=one)
    checkout("checkout", "-q", two)
    repository.git("add", "third-party/dep")
    checkout("checkout", "-q", three)
    expected = GitlinkState(head=one, index=two, checkout=three)
    assert git.gitlinks(root, ["third-party/dep", "none"]) == {
        "third-party/dep": expected,
        "none": GitlinkState(head=None, index=None, checkout=None),
    }
    assert git.gitlinks(str(repository.path / "third-party"), ["dep"]) == {"dep": expected}
    assert git.gitlinks(root, []) == {}


class GitRepositoryAt:
    """git in a folder of a test's repository."""

    def __init__(self, repository: GitRepository, folder: str) -> None:
        self.repository, self.folder = repository, folder

    def __call__(self, *args: str) -> str:
        return self.repository.git("-C", self.folder, *args)


def test_a_submodule_that_is_not_checked_out(repository: GitRepository, make_repository: MakeRepository) -> None:
    upstream = make_repository("upstream")
    one = upstream.commit(files={"f": "1"})
    repository.git("submodule", "add", "-q", str(upstream.path), "dep")
    repository.commit()
    root = str(repository.path)
    repository.git("submodule", "deinit", "-q", "-f", "dep")
    assert git.gitlinks(root, ["dep"])["dep"] == GitlinkState(head=one, index=one, checkout=None)
    (repository.path / "dep/.git").write_text("gitdir: ../.git/modules/gone\n")
    assert git.gitlinks(root, ["dep"])["dep"].checkout is None
    (repository.path / "dep/.git").unlink()
    (repository.path / "dep").rmdir()
    (repository.path / "dep").symlink_to(upstream.path)
    assert git.gitlinks(root, ["dep"])["dep"].checkout is None


def test_who_changed_a_line(repository: GitRepository) -> None:
    root = str(repository.path)
    one = repository.commit(files={"site": "a\nb\nc\nd\n"})
    then = repository.clock
    two = repository.commit(files={"site": "a\nB\nc\nd\n"})
    repository.write("site", "new\na\nB\nc\nX\n")
    assert git.last_change(root, "site", 2, 2) == Change(commit=one, time=then)
    assert git.last_change(root, "site", 3, 3) == Change(commit=two, time=then + 3600)
    assert git.last_change(root, "site", 2, 4) == Change(commit=two, time=then + 3600)
    assert git.last_change(root, "site", 1, 1) == git.UNCOMMITTED
    assert git.last_change(root, "site", 4, 5) == git.UNCOMMITTED
    ranges = [(5, 5), (2, 2), (9, 9), (0, 1), (3, 3), (2, 2)]
    assert [c and c.commit for c in git.last_changes(root, "site", ranges)] == [None, one, None, None, two, one]
    assert git.last_changes(root, "site", ranges)[2:4] == [None, None]
    assert git.last_change(root, "none", 1, 1) is None
    assert git.changed_lines(root, "site") == {1, 5}
    assert git.is_dirty(root, "site")


def test_a_line_between_that_was_deleted_is_a_change(repository: GitRepository) -> None:
    repository.commit(files={"site": "a\nb\nc\n"})
    repository.write("site", "a\nc\n")
    change = git.last_change(str(repository.path), "site", 1, 2)
    assert change is not None
    assert change.commit is None


def test_a_clean_file_with_crlf_from_checkout(repository: GitRepository) -> None:
    one = repository.commit(files={"site": "a\nb\n"})
    repository.write("site", "a\r\nb\r\n")
    assert not git.is_dirty(str(repository.path), "site")
    assert git.changed_lines(str(repository.path), "site") == frozenset()
    change = git.last_change(str(repository.path), "site", 2, 2)
    assert change is not None
    assert change.commit == one


def test_the_new_lines_of_several_files(repository: GitRepository) -> None:
    repository.commit(files={"same": "a\n", "site": "a\nb\n", "shorter": "a\nb\n"})
    now = {"same": b"a\n", "site": b"a\nx\nb\n", "shorter": b"a\n", "new": b"1\n2\n"}
    assert git.news(str(repository.path), now) == {"site": {2}, "new": {1, 2}}


def test_what_is_known_is_not_asked_for(
    repository: GitRepository, make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id tells that a file is as it is known, in repositories of either format (git-hash-object(1))."""
    newer = make_repository("sha256")
    newer.git("init", "-q", "--object-format=sha256", "again")
    newer.path /= "again"
    for one in (repository, newer):
        one.commit(files={"same": "a\n", "other": "b\n", "empty": ""})
        root, known = str(one.path), {"same": b"a\n", "other": b"c\n", "empty": b"", "none": b"x"}
        assert git.show_many(root, "HEAD", list(known), known) == {"same": b"a\n", "other": b"b\n", "empty": b""}
        assert git.show(root, "nowhere", "same", b"a\n") is None
        with monkeypatch.context() as patch:
            patch.setattr(git, "_cat", lambda _, objects: [None] * len(objects))
            assert git.show_many(root, "HEAD", list(known), known) == {"same": b"a\n", "empty": b""}


def test_dirty_files(repository: GitRepository) -> None:
    root = str(repository.path)
    repository.commit(files={"site": "a\n", "gone": "x\n"})
    repository.write("new", "x")
    (repository.path / "gone").unlink()
    assert [git.is_dirty(root, path) for path in ("site", "new", "gone", "none")] == [False, True, True, False]


def test_a_user_who_ignores_revisions_in_blame(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = repository.commit(files={"site": "a\n"})
    (tmp_path / "gitconfig").write_text("[blame]\nignoreRevsFile = not-here\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    change = git.last_change(str(repository.path), "site", 1, 1)
    assert change is not None
    assert change.commit == one


def test_a_repository_that_ignores_revisions_in_blame(repository: GitRepository) -> None:
    repository.commit(files={"site": "version 1\n"})
    two = repository.commit(files={"site": "version 2\n"})
    repository.write("ignored", f"{two}\n")
    for file in ("ignored", "not-here"):
        repository.git("config", "blame.ignoreRevsFile", file)
        change = git.last_change(str(repository.path), "site", 1, 1)
        assert change is not None
        assert change.commit == two


def test_another_work_tree_in_the_configuration_is_not_ours(repository: GitRepository, tmp_path: Path) -> None:
    one = repository.commit(files={"sub/site": "a\n"})
    for elsewhere in (tmp_path, tmp_path / "not-here"):
        repository.git("config", "core.worktree", str(elsewhere))
        root = str(repository.path / "sub")
        assert git.show(root, "HEAD", "site") == b"a\n"
        change = git.last_change(root, "site", 1, 1)
        assert change is not None
        assert change.commit == one


# Security row 25: a commit may claim any date.
@pytest.mark.parametrize("claimed", ["99999999999999999999 +0000", "1700000000 +9999999"])
def test_an_absurd_date_is_clamped(repository: GitRepository, claimed: str) -> None:
    repository.commit(files={"site": "a\n"})
    raw = repository.git("cat-file", "commit", "HEAD").replace(f"{repository.clock} +0000", claimed)
    (repository.path / "raw").write_text(raw + "\n")
    commit = repository.git("hash-object", "-t", "commit", "-w", "--literally", "raw")
    repository.git("update-ref", "refs/heads/main", commit)
    change = git.last_change(str(repository.path), "site", 1, 1)
    assert change is not None
    assert change.commit == commit
    assert 0 <= change.time <= 253_402_300_799


def test_which_change_is_later(repository: GitRepository) -> None:
    root = str(repository.path)
    one = Change(commit=repository.commit(files={"a": "1"}), time=500)
    two = Change(commit=repository.commit(files={"a": "2"}), time=400)  # a wrong clock does not matter
    repository.git("checkout", "-q", "-b", "side", str(one.commit))
    side = Change(commit=repository.commit(files={"b": "1"}), time=450)
    for a, b, expected in [(one, two, two), (two, side, side), (one, git.UNCOMMITTED, git.UNCOMMITTED)]:
        assert later(root, a, b) == later(root, b, a) == expected
    assert later(root, one, one) is None
    assert later(root, git.UNCOMMITTED, git.UNCOMMITTED) is None


def test_a_shallow_clone(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit(files={"pins.toml": "a\nb\n"})
    repository.commit(files={"pins.toml": "a\nB\n"})
    last = repository.commit(files={"pins.toml": "a\nB\nc\n"})
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.path}", "../shallow")
    root = str(tmp_path / "shallow")
    assert list(git.history_of(root, "pins.toml")) == [(last, b"a\nB\nc\n")]
    change = git.last_change(root, "pins.toml", 1, 1)
    assert change is not None
    assert change.commit == last
    assert git.resolve(root, "HEAD~1") is None
    assert git.ls_files(root) == ["pins.toml"]


def test_a_linked_work_tree(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit(files={"site": "a\n"})
    repository.git("worktree", "add", "-q", "-b", "other", "../linked")
    (tmp_path / "linked/site").write_text("b\n")
    assert git.ls_files(str(tmp_path / "linked")) == ["site"]
    assert git.is_dirty(str(tmp_path / "linked"), "site")
    assert not git.is_dirty(str(repository.path), "site")


def test_a_broken_repository_is_an_error_and_no_answer(repository: GitRepository) -> None:
    repository.commit(files={"site": "a\n"})
    (repository.path / ".git/HEAD").write_text("nonsense\n")
    with pytest.raises(CommandFailed):
        git.head(str(repository.path))


@pytest.mark.parametrize("added", ["[extra", "[include]\npath = .\n", "[core]\nrepositoryformatversion = 99\n"])
def test_a_configuration_that_git_cannot_read(repository: GitRepository, added: str) -> None:
    repository.commit(files={"site": "a\n"})
    with (repository.path / ".git/config").open("a") as config:
        config.write(added)
    with pytest.raises(CommandFailed):
        git.resolve(str(repository.path), "HEAD")


@pytest.mark.parametrize("held", ["ab" * 20, "nonsense", ""])
def test_a_branch_whose_commit_is_not_there(repository: GitRepository, held: str) -> None:
    repository.commit(files={"site": "a\n"})
    (repository.path / ".git/refs/heads/main").write_text(f"{held}\n")
    with pytest.raises(ExternalError):
        git.head(str(repository.path))
    repository.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert git.head(str(repository.path)) is None


def test_reading_leaves_no_trace(repository: GitRepository) -> None:
    repository.commit(files={"site": "a\n"})
    os.utime(repository.path / "site", (1, 1))  # `git status` would refresh the index

    def state() -> dict[str, tuple[int, int]]:
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in repository.path.rglob("*")}

    before, root = state(), str(repository.path)
    git.ls_files(root)
    git.show(root, "HEAD", "site")
    git.is_dirty(root, "site")
    git.last_change(root, "site", 1, 1)
    git.gitlinks(root, ["site"])
    list(git.history_of(root, "site"))
    assert state() == before
