from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.servers import PUBLIC, instead_of, serve

from pinctl.external import bare, cache, locks, pruning
from pinctl.external.gitcli import TRUSTED
from pinctl.external.store import Store

if TYPE_CHECKING:
    from repositories import MakeRepository

OLD, NEW = pruning.KEPT + 3600, pruning.KEPT - 3600


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the repositories of a cache in a folder with a space."""
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    return Path(bare.parent())


def aged(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def repository(url: str, age: float) -> Path:
    """A cached repository that was used so many seconds ago."""
    folder = Path(bare.folder_of(url))
    bare.make(str(folder))
    Path(f"{folder}.lock").write_text("")
    aged(Path(f"{folder}.lock"), age)
    return folder


def test_what_was_not_used_for_ninety_days_goes(parent: Path) -> None:
    old, new = repository("https://git.example/old", OLD), repository("https://git.example/new", NEW)
    pruning.prune(str(parent))
    assert (old.exists(), new.exists()) == (False, True)
    assert Path(f"{old}.lock").exists()  # another may wait for it
    assert not [name for name in os.listdir(parent) if name.startswith("tmp-")]


def test_it_is_done_once_a_day(parent: Path) -> None:
    pruning.prune(str(parent))
    old = repository("https://git.example/old", OLD)
    pruning.prune(str(parent))
    assert old.exists()
    aged(parent / "pruned", 25 * 3600)
    pruning.prune(str(parent))
    assert not old.exists()


def test_what_is_held_stays(parent: Path) -> None:
    old = repository("https://git.example/old", OLD)
    lock = locks.Lock(f"{old}.lock")
    lock.shared()
    begun = time.monotonic()
    pruning.prune(str(parent))
    assert old.exists()
    assert time.monotonic() - begun < 1  # nobody is waited for
    lock.close()


def test_a_repository_of_too_many_packs_goes(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "MOST_PACKS", 2)
    used = repository("https://git.example/used", 0)
    for number in range(3):
        (used / f"objects/pack/pack-{number}.idx").write_text("")
    pruning.prune(str(parent))
    assert not used.exists()


def test_what_was_found_in_files_goes_too(parent: Path) -> None:
    for name in ("old", "new"):
        for shelf in (cache.SLOTS, cache.SCANS):
            cache.save(name, {"k": {}}, shelf)
            file = cache._file(name, shelf)
            aged(Path(file), OLD if name == "old" else NEW)
    pruning.prune(str(parent))
    for shelf in (cache.SLOTS, cache.SCANS):
        assert [cache.load(name, shelf) for name in ("old", "new")] == [{}, {"k": {}}]


def test_nothing_that_is_in_the_way_stops_a_run(parent: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (parent / "pruned").symlink_to(tmp_path / "victim")
    old = repository("https://git.example/old", OLD)
    pruning.prune(str(parent))
    assert (tmp_path / "victim").read_text() == "mine"
    (parent / "pruned").unlink()
    link = parent / "x.lock"
    link.symlink_to(tmp_path / "victim")
    (parent / "x").mkdir()
    aged(tmp_path / "victim", OLD)
    os.utime(link, (1, 1), follow_symlinks=False)
    pruning.prune(str(parent))
    assert (parent / "x").exists()
    assert not old.exists()


def test_to_be_opened_is_to_be_used(
    parent: Path, make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = make_repository("srv/up.git")
    upstream.commit("one", {"a": "x"})
    serve(upstream.path)
    for name, value in instead_of(f"{tmp_path}/srv/").items():
        monkeypatch.setenv(name, value)
    url = f"{PUBLIC}up.git"
    with Store.open(url, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
    lock = Path(f"{bare.folder_of(url)}.lock")
    aged(lock, OLD)
    with Store.open(url, profile=TRUSTED, offline=True):  # offline, nothing is removed
        aged(parent / "pruned", 25 * 3600)
    assert time.time() - lock.stat().st_mtime < 60
    aged(lock, OLD)
    with Store.open(f"{PUBLIC}other.git", profile=TRUSTED):
        assert not Path(bare.folder_of(url)).exists()
