"""Histories in real repositories on disk; the user's insteadOf stands for their servers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from integration.servers import PUBLIC, instead_of, serve

from pinctl.errors import ExternalError
from pinctl.external import history, remote
from pinctl.external.gitcli import TRUSTED
from pinctl.external.history import Rename
from pinctl.external.store import Store
from pinctl.upstream.log import LATEST, fold

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

LINES = "".join(f"int line{n};\n" for n in range(40))


def use(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for name, value in instead_of(address, PUBLIC).items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / 'the: "cache"'))
    monkeypatch.setattr(remote, "PAUSES", (0.01, 0.01))
    use(monkeypatch, f"{tmp_path}/srv/")


@contextmanager
def stores(*names: str, fetch: bool = True, offline: bool = False) -> Iterator[list[Store]]:
    """The stores of the repositories `names`, with their branch main."""
    if names:
        with (
            Store.open(f"{PUBLIC}{names[0]}", profile=TRUSTED, offline=offline) as store,
            stores(*names[1:], fetch=fetch, offline=offline) as others,
        ):
            if fetch:
                store.fetch("refs/heads/main")
            yield [store, *others]
    else:
        yield []


def here(store: Store, *ids: str) -> list[bool]:
    """Which objects were fetched."""
    return [store.has(id_) for id_ in ids]


def folder(repository: GitRepository) -> str:
    return str(repository.path / ".git")


class Forked(NamedTuple):
    """A fork two ahead and three behind; upstream's second commit took the fork's first, in other surroundings."""

    fork: GitRepository
    upstream: GitRepository
    base: str
    own: tuple[str, str]
    theirs: tuple[str, str, str]


@pytest.fixture
def forked(make_repository: MakeRepository, tmp_path: Path) -> Forked:
    upstream = make_repository("srv/up.git")
    base = upstream.commit("base", {"a.h": LINES, "b.h": LINES, "c.h": "c\n"})
    serve(upstream.path)
    path = shutil.copytree(upstream.path, tmp_path / "srv/fork.git")
    fork = type(upstream)(path, clock=upstream.clock + 100)
    fixed = fork.commit("Fix a", {"a.h": LINES.replace("line20;", "line20 = 1;")})
    own = fork.commit("Only ours", {"b.h": LINES.replace("line1;", "line1 = 1;")})
    first = upstream.commit("Move on", {"a.h": f"int line;\n{LINES}", "c.h": "d\n"})
    upstream.git("fetch", "-q", f"{path}", "main")
    upstream.clock += 3600
    upstream.git("cherry-pick", fixed)
    picked = upstream.git("rev-parse", "HEAD")
    third = upstream.commit("Not the same", {"b.h": LINES.replace("line1;", "line1 = 2;")})
    return Forked(fork, upstream, base, (own, fixed), (third, picked, first))


def test_a_fork_two_ahead_and_three_behind(forked: Forked) -> None:
    by_git = forked.upstream.git("cherry", "main", forked.own[0])
    assert by_git.splitlines() == [f"- {forked.own[1]}", f"+ {forked.own[0]}"]
    with stores("fork.git", "up.git") as (fork, upstream):
        mine, top = forked.own[0], forked.theirs[0]
        assert history.counts(fork.folder, mine, top, also=[upstream.folder]) == (2, 3)
        assert history.counts(upstream.folder, top, mine, also=[fork.folder]) == (3, 2)
        assert history.merge_base(fork.folder, mine, top, also=[upstream.folder]) == forked.base
        own = history.commits(fork.folder, mine, top, also=[upstream.folder])
        theirs = history.commits(upstream.folder, top, mine, also=[fork.folder])
        assert (tuple(c.id for c in own), tuple(c.id for c in theirs)) == (forked.own, forked.theirs)
        assert [c.subject for c in own] == ["Only ours", "Fix a"]
        assert history.taken(fork, own, upstream, theirs) == {forked.own[1]: forked.theirs[1]}
        ids = forked.upstream.git("rev-parse", f"{forked.base}:c.h", "main:c.h", "main:a.h", "main:b.h").split()
        assert here(upstream, *ids) == [False, False, True, True]  # those of candidates alone


def test_nothing_is_copied_between_two_stores(forked: Forked) -> None:
    with stores("fork.git", "up.git") as (fork, upstream):
        history.counts(fork.folder, forked.own[0], forked.theirs[0], also=[upstream.folder])
        assert not fork.has(forked.theirs[0])
        assert not Path(fork.folder, "objects/info/alternates").exists()
        with pytest.raises(ExternalError):
            history.counts(fork.folder, forked.own[0], forked.theirs[0])


def test_the_same_change_to_the_same_blobs_needs_no_blob(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    forked.upstream.git("reset", "-q", "--hard", forked.base)
    forked.upstream.commit("Beside it", {"c.h": "e\n"})
    forked.upstream.git("cherry-pick", forked.own[1])
    top = forked.upstream.git("rev-parse", "HEAD")
    with stores("fork.git", "up.git") as (fork, upstream):
        own = history.commits(fork.folder, forked.own[1], top, also=[upstream.folder])
        theirs = history.commits(upstream.folder, top, forked.own[1], also=[fork.folder])
        use(monkeypatch, "/nowhere/")
        assert history.taken(fork, own, upstream, theirs) == {forked.own[1]: top}


def test_the_newest_of_several_is_named_and_merges_are_none(forked: Forked) -> None:
    upstream = forked.upstream
    upstream.git("revert", "--no-edit", forked.theirs[1])
    upstream.clock += 60
    upstream.git("cherry-pick", forked.own[1])
    again = upstream.git("rev-parse", "HEAD")
    upstream.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", forked.own[0])
    with stores("fork.git", "up.git") as (fork, theirs):
        own = history.commits(fork.folder, forked.own[0], again, also=[theirs.folder])
        others = history.commits(theirs.folder, again, forked.own[0], also=[fork.folder])
        assert history.taken(fork, own, theirs, others) == {forked.own[1]: again}
        merge = history.commits(theirs.folder, upstream.git("rev-parse", "main"), again)
        assert history.taken(fork, own, theirs, merge[:1]) == {}


def test_what_is_too_heavy_is_known_by_its_blobs_alone(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "HEAVIEST", 10)
    with stores("fork.git", "up.git") as (fork, upstream):
        own = history.commits(fork.folder, forked.own[0], forked.base)
        theirs = history.commits(upstream.folder, forked.theirs[0], forked.base)
        assert history.taken(fork, own, upstream, theirs) == {}


def test_changes_of_every_kind_are_the_same_change(make_repository: MakeRepository, tmp_path: Path) -> None:
    """New, gone, moved, binary, executable; a link, a submodule; a path with a line end and letters beyond ASCII."""
    upstream = make_repository("srv/up.git")
    upstream.commit("base", {"gone.h": LINES, "run.sh": "x\n", "old.h": LINES, "z.h": LINES})
    upstream.write("data.bin", b"\0\1" * 100)
    upstream.commit("bin")
    serve(upstream.path)
    fork = type(upstream)(shutil.copytree(upstream.path, tmp_path / "srv/fork.git"), clock=upstream.clock)
    fork.write("new\nfile é.h", "n\n")
    fork.write("data.bin", b"\0\2" * 100)
    (fork.path / "gone.h").unlink()
    (fork.path / "old.h").rename(fork.path / "moved.h")
    (fork.path / "run.sh").chmod(0o755)
    (fork.path / "link").symlink_to("z.h")
    fork.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},deps/fmt")
    (fork.path / "deps/fmt").mkdir(parents=True)
    picked = fork.commit("All of it", {"z.h": f"{LINES}last\n"})
    fork.write("data.bin", b"\0\3" * 100)
    other = fork.commit("Other bytes")
    upstream.commit("Other surroundings", {"z.h": f"first\n{LINES}"})
    upstream.git("fetch", "-q", str(fork.path), "main")
    upstream.git("cherry-pick", picked)
    taken = upstream.git("rev-parse", "HEAD")
    upstream.write("data.bin", b"\0\4" * 100)
    upstream.commit("Not those bytes")
    with stores("fork.git", "up.git") as (own, theirs):
        base = upstream.git("rev-parse", "main~3")
        mine = history.commits(own.folder, other, base)
        others = history.commits(theirs.folder, upstream.git("rev-parse", "main"), base)
        assert history.taken(own, mine, theirs, others) == {picked: taken}


def test_blobs_that_cannot_be_had_are_an_error(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    with stores("fork.git", "up.git") as (fork, upstream):
        own = history.commits(fork.folder, forked.own[0], forked.base)
        theirs = history.commits(upstream.folder, forked.theirs[0], forked.base)
    use(monkeypatch, "/nowhere/")
    with (
        stores("fork.git", "up.git", fetch=False, offline=True) as (fork, upstream),
        pytest.raises(ExternalError, match="not in the cache"),
    ):
        history.taken(fork, own, upstream, theirs)


def test_merges_are_folded(repository: GitRepository) -> None:
    start = repository.commit("start")
    repository.git("checkout", "-q", "-b", "side")
    side = repository.commit("side", {"s.h": "s\n"})
    repository.git("checkout", "-q", "main")
    main = repository.commit("main", {"m.h": "m\n"})
    repository.clock += 60
    repository.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from x/side", "-m", "The side", "side")
    merge = repository.git("rev-parse", "HEAD")
    commits = history.commits(folder(repository), merge, start)
    entries = fold(commits, merge)
    assert [(e.commit.id, e.title, [c.id for c in e.folded]) for e in entries] == [
        (merge, "The side", [side]), (main, "main", [])]  # fmt: skip
    assert commits[0].request == 7
    assert [c.id for c in history.commits(folder(repository), merge, start, most=1)] == [merge]


def test_nothing_lies_between_a_commit_and_itself(repository: GitRepository) -> None:
    one, two = repository.commit("one"), repository.commit("two")
    where = folder(repository)
    assert (history.commits(where, one, two), history.counts(where, one, one)) == ([], (0, 0))
    assert (history.merge_base(where, one, two), history.counts(where, one, two)) == (one, (0, 1))


def test_histories_with_nothing_in_common(repository: GitRepository) -> None:
    one = repository.commit("one")
    repository.git("checkout", "-q", "--orphan", "other")
    other = repository.commit("other")
    assert history.merge_base(folder(repository), one, other) is None
    assert history.counts(folder(repository), one, other) == (1, 1)


def test_a_commit_of_an_impossible_time(repository: GitRepository) -> None:
    start = repository.commit("start")
    lines = (f"tree {repository.git('rev-parse', 'HEAD^{tree}')}", f"parent {start}",
             f"author A <a@b> {10**20} +9999999", f"committer C <c@d> {10**20} +9999999", "", "a\0b\n\nc")  # fmt: skip
    argv = ["git", "-C", str(repository.path), "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    made = subprocess.run(argv, input="\n".join(lines).encode(), capture_output=True, check=True)
    evil = made.stdout.decode().strip()
    (commit,) = history.commits(folder(repository), evil, start)
    assert (commit.id, commit.parents, commit.author, commit.subject) == (evil, (start,), "A", "a")
    assert 0 <= commit.time <= LATEST


def test_only_full_ids_are_taken(repository: GitRepository) -> None:
    full = repository.commit("one")
    where = folder(repository)
    for odd in ("main", full[:12], "--output=/x", f"{full}\n", f"{full}^", ":/one"):
        for ask in (history.commits, history.counts, history.merge_base):
            with pytest.raises(ExternalError, match="no full commit id"):
                ask(where, full, odd)
            with pytest.raises(ExternalError, match="no full commit id"):
                ask(where, odd, full)


def test_a_history_that_was_cut_is_not_counted(forked: Forked) -> None:
    with stores("up.git", fetch=False) as (store,):
        store.fetch(forked.theirs[0], depth=1)
        for ask in (history.commits, history.counts, history.merge_base):
            with pytest.raises(ExternalError, match="in part only"):
                ask(store.folder, forked.theirs[0], forked.theirs[0])
        assert history.by_prefix(store.folder, forked.theirs[0][:8]) == [forked.theirs[0]]


def test_a_cut_in_another_history_does_not_count(forked: Forked) -> None:
    """A commit that was fetched without its history, and that the remote has lost since, must not stop all else."""
    top, *_, first = forked.theirs
    with stores("up.git") as (store,):
        (Path(store.folder) / "shallow").write_text(f"{top}\n")
        assert history.counts(store.folder, first, forked.base) == (1, 0)
        with pytest.raises(ExternalError, match="in part only"):
            history.counts(store.folder, top, forked.base)


def test_a_short_id_is_no_name(repository: GitRepository) -> None:
    one = repository.commit("one", {"a.h": "a\n"})
    two = repository.commit("two")
    for number in (4, 7, 39):
        repository.git("tag", one[:number], two)
        repository.git("branch", one[:number], two)
        assert history.by_prefix(folder(repository), one[:number]) == [one]


def test_only_commits_have_the_id_that_is_looked_for(repository: GitRepository) -> None:
    commit = repository.commit("one", {"a.h": "a\n"})
    repository.git("tag", "-a", "v1", "-m", "v1")
    for name in ("v1", "main:a.h", "main^{tree}"):
        assert history.by_prefix(folder(repository), repository.git("rev-parse", name)[:10]) == []
    assert history.by_prefix(folder(repository), "0" * 39) == []
    for odd in (commit[:3], commit[:8].upper() + "g", "--all", "main", ""):
        with pytest.raises(ExternalError, match="no short commit id"):
            history.by_prefix(folder(repository), odd)


def test_every_commit_that_begins_so(repository: GitRepository) -> None:
    """4 digits are soon shared: commits are made until two are."""
    repository.commit("one")
    record = f"commit refs/heads/many\nmark :%d\ncommitter T <t@e> %d +0000\ndata 1\nxM 644 {'0' * 40} f\n"
    argv = ["git", "-C", str(repository.path), "fast-import", "--quiet"]
    stream = "".join(record.replace(f"M 644 {'0' * 40} f", "") % (n, n) for n in range(1, 1500))
    subprocess.run(argv, input=stream.encode(), check=True, capture_output=True)
    ids = repository.git("rev-list", "--all").split()
    shared = next(id_[:4] for id_ in ids if sum(other.startswith(id_[:4]) for other in ids) > 1)
    assert history.by_prefix(folder(repository), shared) == sorted(id_ for id_ in ids if id_.startswith(shared))


@pytest.fixture
def moved(make_repository: MakeRepository) -> tuple[GitRepository, str, str]:
    """Files moved: the same, alike, not alike; an empty one gone and one new."""
    upstream = make_repository("srv/up.git")
    other = "".join(f"float other{n};\n" for n in range(40))
    a = upstream.commit("a", {"same.h": LINES, "alike.h": other, "stays.h": "stays\n", "e/__init__.py": ""})
    for name in ("same.h", "alike.h", "e/__init__.py"):
        (upstream.path / name).unlink()
    b = upstream.commit(
        "b",
        {"to/same.h": LINES, "to/alike2.h": other.replace("other1;", "another;"), "new.h": "n\n", "f/__init__.py": ""},
    )
    serve(upstream.path)
    return upstream, a, b


def test_files_that_have_another_path(moved: tuple[GitRepository, str, str]) -> None:
    upstream, a, b = moved
    with stores("up.git") as (store,):
        found = history.renames(store, a, b)
        assert [(one.old, one.new) for one in found] == [("alike.h", "to/alike2.h"), ("same.h", "to/same.h")]
        assert 90 < found[0].similarity < 100
        assert found[1] == Rename("same.h", "to/same.h", 100)
        assert here(store, *upstream.git("rev-parse", "main:to/same.h", "main:stays.h").split()) == [False, False]
        assert history.renames(store, a, a) == []


def test_equal_files_are_found_without_blobs(
    moved: tuple[GitRepository, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, a, b = moved
    same = [Rename("same.h", "to/same.h", 100)]
    with stores("up.git") as (store,), monkeypatch.context() as patch:
        patch.setattr(history, "MOST_RENAMED", 3)
        assert history.renames(store, a, b) == same
    with stores("up.git", fetch=False, offline=True) as (store,):
        assert history.renames(store, a, b) == same


def test_files_move_from_one_repository_to_another(
    moved: tuple[GitRepository, str, str], make_repository: MakeRepository
) -> None:
    _, a, _ = moved
    other = make_repository("srv/other.git")
    b = other.commit("b", {"there/alike.h": "".join(f"float other{n};\n" for n in range(39))})
    serve(other.path)
    with stores("up.git", "other.git") as (old, new):
        (found,) = history.renames(new, a, b, old=old)
        assert (found.old, found.new) == ("alike.h", "there/alike.h")
