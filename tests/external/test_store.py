"""The store against a repository on disk, which the user's insteadOf stands for; servers are in tests/integration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.servers import PUBLIC, instead_of, serve

from pinctl.errors import ExternalError
from pinctl.external import bare, locks, objects, process, remote
from pinctl.external.gitcli import TRUSTED, UNTRUSTED
from pinctl.external.store import Entry, Gone, Hostile, Store, Unreachable

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

URL = f"{PUBLIC}up.git"
NOBODY = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture
def upstream(make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The repository at URL: three commits on main, and one on a branch beside it."""
    repository = make_repository("srv/up.git")
    repository.commit("one", {"a.h": "int a;\n", "dir/b.h": "int b;\n"})
    repository.commit("two", {"a.h": "int a2;\n"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("side", {"side.h": "x\n"})
    repository.git("checkout", "-q", "main")
    repository.commit("three", {"c.h": "int c;\n"})
    serve(repository.path)
    use(monkeypatch, f"{tmp_path}/srv/")
    return repository


def use(monkeypatch: pytest.MonkeyPatch, address: str, *more: tuple[str, str]) -> None:
    for name, value in instead_of(address, PUBLIC, *more).items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    monkeypatch.setattr(remote, "PAUSES", (0.01, 0.01))


def commits(repository: GitRepository, ref: str = "main") -> list[str]:
    return repository.git("rev-list", ref).split()


def blobs_here(store: Store) -> int:
    listed = subprocess.run(
        ["git", f"--git-dir={store.folder}", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"],
        capture_output=True, text=True, check=True, env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
    )  # fmt: skip
    return listed.stdout.split().count("blob")


def breaks(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server answers any more."""
    use(monkeypatch, "/nowhere/")


def test_a_branch_comes_with_its_trees_and_without_its_blobs(upstream: GitRepository) -> None:
    third, second, _ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        assert (store.has(third), blobs_here(store)) == (True, 0)
        assert store.is_ancestor(second, third)
        assert not store.is_ancestor(third, second)
        assert store.peel(third) == ("commit", third)
        tree = store.tree(third)
        assert [(entry.path, entry.mode) for entry in tree] == [
            ("a.h", "100644"), ("c.h", "100644"), ("dir/b.h", "100644")]  # fmt: skip
        assert tree[0] == Entry("a.h", "100644", upstream.git("rev-parse", "main:a.h"))
        wanted = [entry.id for entry in tree]
        assert list(store.blobs(wanted).values()) == [b"int a2;\n", b"int c;\n", b"int b;\n"]
        assert blobs_here(store) == 3  # the older a.h did not come


def test_refs_are_the_servers_with_tags_peeled(upstream: GitRepository) -> None:
    upstream.git("tag", "-a", "v1", "-m", "one")
    tag, commit = upstream.git("rev-parse", "v1"), upstream.git("rev-parse", "main")
    with Store.open(URL, profile=TRUSTED) as store:
        assert store.refs("refs/heads/main") == {"refs/heads/main": commit}
        assert store.refs("refs/tags/v*") == {"refs/tags/v1": tag, "refs/tags/v1^{}": commit}
        assert set(store.refs("refs/heads/*", "HEAD")) == {"refs/heads/main", "refs/heads/side", "HEAD"}
        assert store.refs("refs/heads/mai") == {}
        store.fetch("refs/tags/v1")
        assert store.peel(tag) == ("tag", commit)
        assert store.peel(upstream.git("rev-parse", "main^{tree}")) == ("tree", None)


def test_what_is_here_is_not_asked_for_again(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    third, *_ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(third, depth=1)
        assert store.age is not None
    breaks(upstream, monkeypatch)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(third, depth=1)
        assert len(store.tree(third)) == 3
        with pytest.raises(ExternalError):
            store.fetch("refs/heads/main")


def test_a_shallow_store_learns_the_history_and_keeps_it(upstream: GitRepository) -> None:
    third, second, first = commits(upstream)
    side = commits(upstream, "side")[0]
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(third, depth=1)
        assert not store.has(second)
        store.fetch("refs/heads/main")
        assert store.is_ancestor(first, third)
        store.fetch(side, depth=1)  # a store with a history does not lose it
        assert store.is_ancestor(first, side)
        assert store.is_ancestor(first, third)


def test_what_another_fetches_while_the_lock_is_waited_for_counts(
    upstream: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pins of one repository: git refuses `--unshallow` where the other has made the history whole meanwhile."""
    tip, *_, first = commits(upstream)
    real = bare.fetching
    with Store.open(URL, profile=TRUSTED) as store, Store.open(URL, profile=TRUSTED) as other:
        store.fetch(tip, depth=1)

        def after_the_other(folder: str, patience: float) -> object:
            monkeypatch.setattr(bare, "fetching", real)
            other.fetch("refs/heads/main")
            return real(folder, patience)

        monkeypatch.setattr(bare, "fetching", after_the_other)
        store.fetch(tip)
        assert store.is_ancestor(first, tip)


def test_all_blobs_of_a_commit(upstream: GitRepository) -> None:
    third, second, _ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(second, filter=None, depth=1)
        assert blobs_here(store) == 2
        store.fetch(third, filter=None, depth=1)
        assert blobs_here(store) == 3
    with Store.open(URL, profile=TRUSTED, offline=True) as store:
        assert len(store.blobs(entry.id for entry in store.tree(third))) == 3
        store.fetch(third, filter=None)


def test_a_commit_whose_trees_are_here_gets_its_blobs(upstream: GitRepository) -> None:
    third, *_ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        store.fetch(third, filter=None, depth=1)
        assert blobs_here(store) == 3


def test_gone_tells_what(upstream: GitRepository) -> None:
    with Store.open(URL, profile=TRUSTED) as store:
        with pytest.raises(Gone) as gone:
            store.fetch("refs/heads/main", NOBODY)
        assert (gone.value.wanted, gone.value.exit_code) == (NOBODY, 1)
        with pytest.raises(Gone) as gone:
            store.fetch("refs/heads/none")
        assert gone.value.wanted == "refs/heads/none"
        with pytest.raises(Gone):
            store.blobs([NOBODY])


# A warm cache must not hide a commit that the server lost.
def test_a_cold_store_knows_nothing_and_leaves_nothing(upstream: GitRepository, tmp_path: Path) -> None:
    lost = commits(upstream)[0]
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
    upstream.git("reset", "-q", "--hard", "HEAD~1")
    upstream.git("reflog", "expire", "--expire=all", "--all")
    upstream.git("gc", "-q", "--prune=now")
    with Store.open(URL, profile=TRUSTED) as store:
        assert store.has(lost)
    with Store.open(URL, profile=TRUSTED, fresh=True) as store:
        folder = store.folder
        assert (store.cold, not store.has(lost), Path(folder).stat().st_mode & 0o777) == (True, True, 0o700)
        assert not folder.startswith(str(tmp_path / "the cache"))
        with pytest.raises(Gone):
            store.fetch(lost, filter="tree:0")
        store.fetch("refs/heads/main", filter="tree:0")
        assert store.is_ancestor(store.refs("refs/heads/main")["refs/heads/main"], commits(upstream)[0])
    assert not Path(folder).exists()


def test_offline_uses_what_is_there_and_says_how_old_it_is(upstream: GitRepository) -> None:
    third, second, _ = commits(upstream)
    with pytest.raises(ExternalError, match="is in the cache"), Store.open(URL, profile=TRUSTED, offline=True):
        pass
    with Store.open(URL, profile=TRUSTED) as store:
        assert store.age is None
        store.fetch("refs/heads/main")
    os.utime(os.path.join(bare.folder_of(URL), bare.STAMP), (1, 1_700_000_000))
    with Store.open(URL, profile=TRUSTED, offline=True) as store:
        assert store.age is not None
        assert store.age > 1_000_000
        assert store.refs("refs/heads/*") == {"refs/heads/main": third}
        store.fetch("refs/heads/main", second)
        for missing in ("refs/heads/side", NOBODY):
            with pytest.raises(ExternalError, match="is not in the cache"):
                store.fetch(missing)
        with pytest.raises(ExternalError, match=r"1 files of .* are not in the cache"):
            store.blobs([store.tree(third)[0].id])


# Security rows 1 to 7: the URL never reaches git.
@pytest.mark.parametrize(
    "url",
    ["--upload-pack=touch x;", "ext::sh -c x", "fd::3", "file:///r", "ssh://-oProxyCommand=x/", "https://u:p@git.example/a",
     "https://git.example@evil/a", "https://g\u0456thub.com/a", "https://git.example/$TOKEN", "https://git.example/a\tb",
     "https://git.example/a\0", "https://\u2460.0.0.1/a", "/srv/x", "git://git.example/a", "http://git.example/a"],
)  # fmt: skip
def test_hostile_urls_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ExternalError, match="refused to use the URL"), Store.open(url, profile=TRUSTED):
        pass
    assert not (tmp_path / "the cache").exists()


# Security rows 2, 3, 10 and 12.
@pytest.mark.parametrize(
    "want",
    ["--upload-pack=touch x;", "main", "head", "FETCH_HEAD", NOBODY[:12], NOBODY + "\n", "--output=/x",
     "refs/replace/" + NOBODY,
     ":/good", "refs/heads/../x", "refs/heads/a b", "refs/heads/-x", "refs/heads/a:refs/heads/b", "refs/heads/x.lock",
     "+refs/heads/x", "refs/heads/a\nrefs/heads/b", "refs/heads/*/x", "refs//x", "^refs/heads/x"],
)  # fmt: skip
def test_odd_wants_are_refused(want: str, upstream: GitRepository) -> None:
    with Store.open(URL, profile=TRUSTED) as store:
        with pytest.raises(ExternalError, match="is neither a full ref"):
            store.fetch(want)
        for ask in (store.has, store.tree, store.peel, lambda id_: store.blobs([id_])):
            with pytest.raises(ExternalError, match="is no full commit id"):
                ask(want)


# Security row 10: a branch named like an id.
def test_an_id_is_never_taken_for_a_branch(upstream: GitRepository) -> None:
    third, second, _ = commits(upstream)
    upstream.git("update-ref", f"refs/heads/{second}", third)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(second, depth=1)
        assert store.peel(second) == ("commit", second)
        assert [entry.path for entry in store.tree(second)] == ["a.h", "dir/b.h"]


# Security row 12.
def test_replacements_are_not_followed(upstream: GitRepository) -> None:
    third, _, first = commits(upstream)
    upstream.git("replace", third, first)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        subprocess.run(["git", f"--git-dir={store.folder}", "update-ref", f"refs/replace/{third}", first], check=True)
        assert [entry.path for entry in store.tree(third)] == ["a.h", "c.h", "dir/b.h"]


# Security row 4: what the environment allows is not what git gets.
def test_an_inherited_protocol_list_does_not_count(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext")
    canary = upstream.path.parent / "canary"
    use(monkeypatch, f"ext::touch {canary} ")
    with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Unreachable) as error:
        store.refs("refs/heads/main")
    assert "'ext' not allowed" in str(error.value)
    assert not canary.exists()


def test_the_untrusted_profile_does_not_follow_the_users_settings(upstream: GitRepository) -> None:
    with Store.open(URL, profile=UNTRUSTED) as store, pytest.raises(Unreachable):
        store.refs("refs/heads/main")  # insteadOf would lead to the repository on disk


# Security row 26.
def planted_config(folder: Path, canary: Path) -> None:
    (folder / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tsshCommand = touch {canary}\n"
        f"\talternateRefsCommand = touch {canary};\n\tfsmonitor = touch {canary}\n"
        f'[remote "{URL}"]\n\tuploadpack = touch {canary};\n\turl = /x\n\tvcs = ext\n'
        f"[include]\n\tpath = {folder}/other\n"
    )


def planted_alternates(folder: Path, canary: Path) -> None:
    (folder / "objects/info").mkdir(exist_ok=True)
    (folder / "objects/info/alternates").write_text("/elsewhere\n")


def planted_hook(folder: Path, canary: Path) -> None:
    (folder / "hooks").mkdir()
    hook = folder / "hooks/reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)


def planted_commondir(folder: Path, canary: Path) -> None:
    (folder / "commondir").write_text("/elsewhere\n")


@pytest.mark.parametrize("plant", [planted_config, planted_alternates, planted_hook, planted_commondir])
def test_what_is_planted_in_the_cache_is_not_obeyed(
    plant: Callable[[Path, Path], None], upstream: GitRepository, tmp_path: Path
) -> None:
    third, *_ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        folder = Path(store.folder)
    canary = tmp_path / "canary"
    plant(folder, canary)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        assert len(store.tree(third)) == 3
    assert not canary.exists()
    assert sorted(os.listdir(folder)) == ["HEAD", bare.STAMP, "config", "objects", "refs"]
    assert (folder / "config").read_text() == bare.config(sha256=False)


def test_the_cache_is_ours_alone(upstream: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        folder = Path(store.folder)
    assert folder == tmp_path / "the cache/v1/git" / folder.name
    assert len(folder.name) == 64
    assert {path.stat().st_mode & 0o077 for path in (folder, folder.parent, folder.parent.parent)} == {0}
    folder.chmod(0o777)  # others may have written there: made anew
    with Store.open(URL, profile=TRUSTED) as store:
        assert not store.has(commits(upstream)[0])
        assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ExternalError, match="is no folder of ours"), Store.open(URL, profile=TRUSTED):
        pass


def test_a_link_in_the_place_of_the_cache_is_refused(upstream: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "the cache/v1/git").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    Path(bare.folder_of(URL)).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ExternalError, match="is no folder of ours"), Store.open(URL, profile=TRUSTED):
        pass
    assert not list((tmp_path / "elsewhere").iterdir())


# Security row 27.
def test_urls_that_look_alike_have_stores_of_their_own() -> None:
    urls = (f"{PUBLIC}a/b", f"{PUBLIC}a_b", f"{PUBLIC}a/B", f"{PUBLIC}a/b/")
    assert len({bare.folder_of(url) for url in urls}) == len(urls)


def test_a_held_lock_ends_the_wait(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    quick = TRUSTED._replace(timeout=0.1)
    with Store.open(URL, profile=quick) as store, locks.alone(f"{store.folder}.fetch"):
        with pytest.raises(ExternalError, match="another pinctl has held") as error:
            store.fetch("refs/heads/main")
        assert error.value.hint == "wait until it has ended"
    with locks.alone(f"{store.folder}.lock"), pytest.raises(ExternalError), Store.open(URL, profile=TRUSTED):
        pass


def test_who_waits_to_make_a_store_takes_the_one_that_another_has_made(upstream: GitRepository) -> None:
    with Store.open(URL, profile=TRUSTED) as first, ThreadPoolExecutor(4) as pool:

        def use(_: int) -> bool:
            with Store.open(URL, profile=TRUSTED) as store:
                return store.folder == first.folder

        assert all(pool.map(use, range(4)))
        waiting = locks.Lock(f"{first.folder}.lock")
        assert not waiting.exclusive(unless=lambda: True)
        waiting.close()


def test_many_threads_open_one_new_store(upstream: GitRepository) -> None:
    together = threading.Barrier(8)

    def use(_: int) -> int:
        together.wait(10)
        with Store.open(URL, profile=TRUSTED) as store:
            store.fetch("refs/heads/main")
            together.wait(50)  # all hold it at once
            return len(store.tree(commits(upstream)[0]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(8))) == [3] * 8


def test_two_processes_share_the_cache(upstream: GitRepository) -> None:
    code = (
        "import sys; from pinctl.external.store import Store; from pinctl.external.gitcli import TRUSTED\n"
        "with Store.open(sys.argv[1], profile=TRUSTED) as s:\n"
        "    s.fetch(*sys.argv[2:]); print(len(s.blobs(e.id for e in s.tree(sys.argv[3]))))"
    )
    argv = [sys.executable, "-c", code, URL, "refs/heads/main", commits(upstream)[0]]
    running = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == ["3\n"] * 3


def truncated_pack(folder: Path) -> None:
    for pack in (folder / "objects/pack").glob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:40])


def no_pack(folder: Path) -> None:
    for file in (folder / "objects/pack").iterdir():
        file.unlink()


def garbled_index(folder: Path) -> None:
    for index in (folder / "objects/pack").glob("*.idx"):
        index.chmod(0o600)
        index.write_bytes(b"x" * 2000)


def no_pack_folder(folder: Path) -> None:
    shutil.rmtree(folder / "objects/pack")


def garbled_head(folder: Path) -> None:
    (folder / "HEAD").write_text("garbage\n")


def no_head(folder: Path) -> None:
    (folder / "HEAD").unlink()


def garbled_ref(folder: Path) -> None:
    (folder / "refs/heads/main").write_text("garbage\n")


def stale_locks(folder: Path) -> None:
    for name in ("shallow.lock", "packed-refs.lock", "config.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"):
        (folder / name).write_text("")


@pytest.mark.parametrize(
    "damage", [truncated_pack, no_pack, no_pack_folder, garbled_index, no_head, garbled_head, garbled_ref, stale_locks]
)
@pytest.mark.parametrize("ask", ["fetch", "read", "refs"])
def test_a_broken_store_heals_itself(damage: Callable[[Path], None], ask: str, upstream: GitRepository) -> None:
    third, *_ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        store.blobs(entry.id for entry in store.tree(third))
        folder = Path(store.folder)
    damage(folder)
    upstream.commit("four", {"d.h": "int d;\n"})
    with Store.open(URL, profile=TRUSTED) as store:
        if ask == "refs":
            assert store.refs("refs/heads/main")
            store.fetch(third, depth=1)
        elif ask == "fetch":
            store.fetch("refs/heads/main")
        else:
            store.fetch(third, depth=1)
        assert [blob[:3] for blob in store.blobs(entry.id for entry in store.tree(third)).values()] == [b"int"] * 3


# One verb opens several stores of one repository, in several threads, and keeps them.
@pytest.mark.parametrize("damage", [truncated_pack, garbled_index, garbled_head])
def test_stores_of_one_repository_heal_beside_each_other(
    damage: Callable[[Path], None], upstream: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 3)
    third, *_, first = commits(upstream)
    side = commits(upstream, "side")[0]
    with Store.open(URL, profile=TRUSTED) as one, Store.open(URL, profile=TRUSTED) as other:
        one.fetch("refs/heads/main")
        files = one.blobs(entry.id for entry in one.tree(third))
        damage(Path(one.folder))
        assert len(other.tree(third)) == 3
        assert objects.is_sound(other.folder)
        assert objects.is_ancestor(other.folder, first, third)  # what the first had fetched is here again
        other.fetch("refs/heads/side")
        assert other.is_ancestor(first, side)
        assert one.blobs(entry.id for entry in one.tree(third)) == files
        assert one.known_refs("refs/heads/*") == {"refs/heads/main": third, "refs/heads/side": side}
        with pytest.raises(ExternalError):
            locks.Lock(f"{one.folder}.lock", 0.05).exclusive()
    assert locks.Lock(f"{one.folder}.lock", 0.05).exclusive()


@pytest.mark.parametrize("damage", [truncated_pack, garbled_index])
def test_threads_that_meet_one_broken_repository_heal_it(
    damage: Callable[[Path], None], upstream: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 5)
    third, _, first = commits(upstream)
    together = threading.Barrier(6)

    def use(number: int) -> tuple[bool, int]:
        with Store.open(URL, profile=TRUSTED) as store:
            store.fetch("refs/heads/main")
            store.blobs(entry.id for entry in store.tree(third))
            if together.wait(30) == 0:
                damage(Path(store.folder))
            together.wait(30)
            if number % 2:
                store.fetch("refs/heads/side")
            found = store.is_ancestor(first, third), len(store.blobs(entry.id for entry in store.tree(third)))
            together.wait(30)
            return found

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(use, range(6))) == [(True, 3)] * 6


def test_what_was_read_while_another_made_the_repository_anew_counts_for_nothing(
    upstream: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    third, _, first = commits(upstream)
    real = objects.is_ancestor
    with Store.open(URL, profile=TRUSTED) as store, Store.open(URL, profile=TRUSTED) as other:
        store.fetch("refs/heads/main")

        def meanwhile(folder: str, a: str, b: str) -> bool:
            monkeypatch.setattr(objects, "is_ancestor", real)
            other._remake()
            return False

        monkeypatch.setattr(objects, "is_ancestor", meanwhile)
        assert store.is_ancestor(first, third)


def test_what_went_when_the_repository_was_made_anew_is_not_said_to_be_here(upstream: GitRepository) -> None:
    third, side = commits(upstream)[0], commits(upstream, "side")[0]
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main", "refs/heads/side")
    with Store.open(URL, profile=TRUSTED) as store, Store.open(URL, profile=TRUSTED) as other:
        assert store.known_refs("refs/heads/side") == {"refs/heads/side": side}
        assert store.has(side)
        truncated_pack(Path(store.folder))
        assert len(other.tree(third)) == 3
        assert (store.has(third), store.has(side)) == (True, False)


def test_a_repository_that_another_process_holds_is_not_made_anew(
    upstream: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import sys; from pinctl.external.store import Store; from pinctl.external.gitcli import TRUSTED\n"
        "with Store.open(sys.argv[1], profile=TRUSTED): print(1, flush=True); sys.stdin.read()"
    )
    third = commits(upstream)[0]
    monkeypatch.setattr(locks, "PATIENCE", 0.3)
    argv = [sys.executable, "-c", code, URL]
    with Store.open(URL, profile=TRUSTED) as store, Store.open(URL, profile=TRUSTED) as other:
        store.fetch("refs/heads/main")
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout
            holder.stdout.readline()
            truncated_pack(Path(store.folder))
            with pytest.raises(ExternalError, match="another pinctl has held"):
                store.tree(third)
            holder.communicate()
        assert len(other.tree(third)) == 3
        assert len(store.tree(third)) == 3


def test_damage_offline_is_told(upstream: GitRepository) -> None:
    third, *_ = commits(upstream)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        truncated_pack(Path(store.folder))
    with Store.open(URL, profile=TRUSTED, offline=True) as store, pytest.raises(ExternalError) as error:
        store.tree(third)
    assert "--offline" in str(error.value.hint)


# Security rows 16, 21, 22 and 24.
def raw_tree(repository: GitRepository, *entries: tuple[str, bytes, str]) -> str:
    """A commit of a tree of any entries, made without git's checks."""
    body = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(id_) for mode, name, id_ in entries)
    argv = ["git", "-C", repository.path, "hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
    tree = subprocess.run(argv, input=body, capture_output=True, check=True).stdout.decode().strip()
    return repository.git("commit-tree", tree, "-m", "raw")


def test_a_tree_that_enters_git_is_refused_by_git_and_by_us(upstream: GitRepository) -> None:
    blob, inner = upstream.git("rev-parse", "main:a.h"), upstream.git("rev-parse", "main:dir")
    for entry in (
        ("40000", b".git", inner),
        ("40000", b".GIT", inner),
        ("40000", b"..", inner),
        ("100644", b"git~1", blob),
    ):
        commit = raw_tree(upstream, entry)
        upstream.git("update-ref", "refs/heads/evil", commit)
        with Store.open(URL, profile=TRUSTED) as store:
            with pytest.raises((Hostile, ExternalError)):
                store.fetch(commit, depth=1)
            assert not store.has(commit)
        with pytest.raises(Hostile, match="may not be in any checkout"):
            objects.tree(str(upstream.path / ".git"), commit)


def test_a_tree_bomb_is_stopped(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = upstream.git("rev-parse", "main:a.h")
    body = [("100644", b"f%d" % n, id_) for n in range(10)]
    for _ in range(10):  # ten to the tenth files
        commit = raw_tree(upstream, *body)
        tree = upstream.git("rev-parse", f"{commit}^{{tree}}")
        body = [("40000", b"d%d" % n, tree) for n in range(10)]
    upstream.git("update-ref", "refs/heads/bomb", commit)
    monkeypatch.setattr(process, "LIMIT", 1_000_000)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(commit, depth=1)
        with pytest.raises(Hostile, match=r"too large|more than"):
            store.tree(commit)


def test_bounds_of_trees_and_paths(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    third = commits(upstream)[0]
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        monkeypatch.setattr(objects, "LONGEST_PATH", 6)
        with pytest.raises(Hostile, match="more than 6 bytes"):
            store.tree(third)
        monkeypatch.setattr(objects, "MOST_ENTRIES", 2)
        with pytest.raises(Hostile, match="more than 2 entries"):
            store.tree(third)


def test_names_with_line_ends_and_bytes(upstream: GitRepository) -> None:
    names = ["x\nmain:y", "tab\there", b"latin\xff".decode("utf-8", "surrogateescape"), " lead"]
    for name in names:
        (upstream.path / name).write_text(repr(name))
    commit = upstream.commit("names")
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        tree = {entry.path: entry.id for entry in store.tree(commit)}
        blobs = store.blobs(tree.values())
        assert {name: blobs[tree[name]].decode() for name in names} == {name: repr(name) for name in names}


def test_a_blob_is_asked_for_its_size_first(upstream: GitRepository) -> None:
    upstream.write("big", b"\0" * 5_000_000)
    commit = upstream.commit("big")
    big = upstream.git("rev-parse", "HEAD:big")
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(commit, depth=1)
        assert store.blobs([big]) == {}
        assert len(store.blobs([big], limit=5_000_000)[big]) == 5_000_000
        tree = upstream.git("rev-parse", "HEAD^{tree}")
        assert store.blobs([tree]) == {}  # no blob


# Security row 19: what is read is the blob, whatever attributes would make of it.
def test_attributes_change_no_byte(upstream: GitRepository) -> None:
    files = {"a.txt": "one\n", "b.h": "$Id$\n", ".gitattributes": "*.txt text eol=crlf\n*.h ident export-subst\n"}
    commit = upstream.commit("attributes", files)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch(commit, depth=1)
        tree = {entry.path: entry.id for entry in store.tree(commit)}
        assert store.blobs([tree["a.txt"], tree["b.h"]]) == {tree["a.txt"]: b"one\n", tree["b.h"]: b"$Id$\n"}


# Row 22, and a disk that is full.
def test_a_pack_bomb_ends_at_the_limit_of_a_file(upstream: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream.write("random", os.urandom(200_000))
    commit = upstream.commit("random")
    with Store.open(URL, profile=TRUSTED) as store:
        with monkeypatch.context() as patch:
            patch.setattr(process, "LARGEST_FILE", 50_000)
            with pytest.raises(ExternalError) as error:
                store.fetch(commit, filter=None, depth=1)
        assert "the cache cannot take what" in str(error.value)
        store.fetch(commit, filter=None, depth=1)  # with room again


def test_a_disk_that_is_full(upstream: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a small disk")
    monkeypatch.setenv("PINCTL_CACHE", str(disk / "cache"))
    upstream.write("random", os.urandom(1_000_000))
    commit = upstream.commit("random")
    try:
        with Store.open(URL, profile=TRUSTED) as store:
            with pytest.raises(ExternalError, match="No space left on device") as error:
                store.fetch(commit, filter=None, depth=1)
            assert error.value.hint == "free space"
        subprocess.run(["mount", "-o", "remount,size=9m", disk], check=True)
        with Store.open(URL, profile=TRUSTED) as store:
            store.fetch(commit, filter=None, depth=1)
            assert len(store.blobs([upstream.git("rev-parse", "HEAD:random")])) == 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_repository_of_sha256(
    make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repository("srv/other")
    subprocess.run(["git", "init", "-q", "--object-format=sha256", tmp_path / "srv/up.git"], check=True)
    repository.path = tmp_path / "srv/up.git"
    commit = repository.commit("one", {"a": "x"})
    serve(repository.path)
    use(monkeypatch, f"{tmp_path}/srv/")
    for _ in range(2):
        with Store.open(URL, profile=TRUSTED) as store:
            store.fetch(commit, depth=1)
            assert [len(entry.id) for entry in store.tree(commit)] == [64]


def test_an_id_of_the_other_format_is_gone(upstream: GitRepository) -> None:
    with Store.open(URL, profile=TRUSTED) as store:
        with pytest.raises(Gone):
            store.fetch("ab" * 32, depth=1)
        store.fetch("refs/heads/main")
        assert store.has(commits(upstream)[0])


def test_what_the_user_sets_of_fetching_does_not_count(
    upstream: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [
        ("fetch.prune", "true"),
        ("fetch.fsckObjects", "false"),
        ("core.hooksPath", str(tmp_path)),
        ("fetch.writeCommitGraph", "true"),
        ("fetch.recurseSubmodules", "true"),
        ("gc.auto", "1"),
        ("core.logAllRefUpdates", "always"),
    ]
    hook = tmp_path / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    hook.chmod(0o755)
    use(monkeypatch, f"{tmp_path}/srv/", *settings)
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/side")
        store.fetch("refs/heads/main")
        assert set(store.refs("refs/heads/*")) == {"refs/heads/main", "refs/heads/side"}
        assert set(os.listdir(store.folder)) <= bare._KEPT
    assert not (tmp_path / "canary").exists()
