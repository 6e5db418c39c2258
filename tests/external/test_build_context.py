import os
import time
from pathlib import Path

import pytest

from pinctl.external import build_context


def test_a_runs_folder_goes_and_what_killed_runs_left_goes_after_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path))
    base = tmp_path / "v1/contexts"
    (base / "context-killed/source").mkdir(parents=True)
    (base / "context-another").mkdir()
    week = time.time() - 8 * 86_400
    os.utime(base / "context-killed", (week, week))
    with build_context.temporary() as folder:
        assert sorted(os.listdir(base)) == sorted(["context-another", os.path.basename(folder)])
    assert os.listdir(base) == ["context-another"]


def test_the_wheels_of_a_build_are_its_regular_files(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"")
    (tmp_path / "a.whl").write_bytes(b"")
    (tmp_path / "toolchain.json").write_bytes(b"")
    (tmp_path / "link.whl").symlink_to("/etc/hostname")
    (tmp_path / "folder.whl").mkdir()
    assert build_context.result(str(tmp_path)) == (str(tmp_path / "a.whl"), str(tmp_path / "b.whl"))
    assert build_context.result(str(tmp_path / "none")) == ()
