import os
import shutil
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


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"k": 1}', "[" * 100_000, "\xff", "1" * 5000])
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


def test_a_name_has_a_place_on_each_shelf(home: Path) -> None:
    cache.save("x", {"slots": {}})
    cache.save("x", {"scans": {}}, cache.SCANS)
    assert cache.load("x") == {"slots": {}}
    assert cache.load("x", cache.SCANS) == {"scans": {}}


def test_a_folder_in_its_place_is_no_failure(home: Path) -> None:
    cache.save("/a", {"k": {}})
    file = kept(home)[0]
    file.unlink()
    file.mkdir()
    assert cache.load("/a") == {}
    cache.save("/a", {"k": {}})
    assert cache.load("/a") == {}
    assert kept(home) == []


def test_every_folder_that_is_made_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "new" / "pinctl"))
    before = os.umask(0)
    try:
        cache.save("/a", {"k": {}})
    finally:
        os.umask(before)
    made = [path for path in (tmp_path / "new", *(tmp_path / "new").rglob("*")) if path.is_dir()]
    assert [path.name for path in made] == ["new", "pinctl", "v1", "slots"]
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}


def test_a_folder_that_others_may_write_to_is_not_used(home: Path) -> None:
    cache.save("/a", {"k": {}})
    folder = kept(home)[0].parent
    folder.chmod(0o777)
    assert cache.load("/a") == {}
    cache.save("/a", {"l": {}})
    folder.chmod(0o700)
    assert cache.load("/a") == {"k": {}}


def test_what_stopped_runs_left_is_swept_up(home: Path) -> None:
    cache.save("/a", {"k": {}})
    cache.save("/b", {"k": {}})
    first, second = kept(home)
    for left in (f"{first}.{os.getpid()}", f"{first}.1", f"{second}.1"):
        Path(left).write_text("{")
    Path(f"{first}.old").write_text("")
    cache.save("/a", {"l": {}})
    cache.save("/b", {"l": {}})
    assert sorted(kept(home)) == sorted([first, second, Path(f"{first}.old")])
    assert cache.load("/a") == cache.load("/b") == {"l": {}}


def test_the_readers_are_known_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tree_sitter_x"
    package.mkdir()
    (package / "_binding.abi3.so").write_bytes(b"1")
    without = cache.readers()
    assert without == cache.readers()
    assert "\ncmake.py " in without
    monkeypatch.syspath_prepend(tmp_path)
    told = cache.readers()
    assert told != without
    (package / "_binding.abi3.so").write_bytes(b"12")
    assert cache.readers() not in (told, without)


def test_so_are_the_modules_that_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinctl import upstream

    folder = tmp_path / "upstream"
    shutil.copytree(Path(upstream.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(upstream, "__file__", str(folder / "__init__.py"))
    told = cache.scanners()
    assert told == cache.scanners()
    (folder / "includes.py").write_text("# another\n")
    assert cache.scanners() != told
