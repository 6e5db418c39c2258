from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import bare, locks
from pinctl.external.locks import Lock, alone


def test_many_share_and_one_is_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    first, second = Lock(path, 0.05), Lock(path, 0.05)
    first.shared()
    second.shared()
    with pytest.raises(ExternalError, match=r"another pinctl has held .* for 0\.05 s"):
        first.exclusive()
    second.close()
    assert first.exclusive()
    first.close()
    with alone(path, 0.05):
        pass


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    code = (
        "import sys, time; from pinctl.external.locks import Lock\n"
        "lock = Lock(sys.argv[1]); lock.exclusive(); print(1, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    lock = Lock(path, 0.05)
    with pytest.raises(ExternalError):
        lock.shared()
    process.kill()
    process.wait()
    lock.shared()
    lock.close()


# Security row 27.
def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(ExternalError):
        Lock(str(tmp_path / "lock"))
    assert (tmp_path / "victim").read_text() == "mine"
    assert locks.PATIENCE == 60


def test_what_killed_runs_left_in_the_cache_is_removed_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    parent = Path(bare.parent())
    for name, age in (("tmp-old", 100_000), ("tmp-new", 10)):
        (parent / name).mkdir()
        then = (parent / name).stat().st_mtime - age
        os.utime(parent / name, (then, then))
    bare.make(str(parent / "key"))
    assert sorted(path.name for path in parent.iterdir()) == ["key", "tmp-new"]
