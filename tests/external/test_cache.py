import os
from pathlib import Path

import pytest

from pinctl.external import cache


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(home: Path) -> list[Path]:
    return [p for p in home.rglob("*") if p.is_file()]


def test_what_is_saved_is_loaded_and_trees_do_not_meet(home: Path) -> None:
    cache.save("/a", {"k": {"s": [1]}})
    cache.save("/b", {"k": {}})
    assert cache.load("/a") == {"k": {"s": [1]}}
    assert cache.load("/b") == {"k": {}}
    assert cache.load("/c") == {}
    assert {p.stat().st_mode & 0o777 for p in kept(home)} == {0o600}


def test_saving_replaces_and_leaves_no_litter(home: Path) -> None:
    cache.save("/a", {"k": {}})
    cache.save("/a", {"l": {}})
    assert cache.load("/a") == {"l": {}}
    assert len(kept(home)) == 1


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"k": 1}', "[" * 100_000, "\xff"])
def test_a_spoilt_file_is_no_failure(home: Path, text: str) -> None:
    cache.save("/a", {"k": {}})
    kept(home)[0].write_text(text, encoding="latin-1")
    assert cache.load("/a") == {}


def test_a_file_that_others_may_write_is_not_read(home: Path) -> None:
    cache.save("/a", {"k": {}})
    kept(home)[0].chmod(0o666)
    assert cache.load("/a") == {}


def test_a_link_or_a_fifo_in_its_place_is_not_read(home: Path, tmp_path: Path) -> None:
    cache.save("/a", {"k": {}})
    file = kept(home)[0]
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert cache.load("/a") == {}
    file.unlink()
    os.mkfifo(file)
    assert cache.load("/a") == {}


def test_a_folder_that_cannot_be_made_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "file" / "cache"))
    cache.save("/a", {"k": {}})
    assert cache.load("/a") == {}
