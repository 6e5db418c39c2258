from __future__ import annotations

import os
from pathlib import Path

import pytest

from pinctl.errors import ExternalError, UsageError
from pinctl.external import outputs


def test_a_file_is_written_whole_in_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "a body.md"
    path.write_text("before, and longer\n")
    outputs.write(str(path), b"after\n")
    assert path.read_bytes() == b"after\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert os.listdir(tmp_path) == ["a body.md"]


def test_a_link_and_a_pipe_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    outputs.write(str(tmp_path / "link"), b"x")
    assert (tmp_path / "real").read_bytes() == b"x"
    assert (tmp_path / "link").is_symlink()
    outputs.write(os.devnull, b"x")
    assert not os.path.isfile(os.devnull)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    outputs.demand_place(str(tmp_path / "new"))
    for path in (tmp_path, tmp_path / "no" / "file"):
        with pytest.raises(UsageError):
            outputs.demand_place(str(path))
    with pytest.raises(UsageError, match="git's own folder"):
        outputs.demand_place(str(tmp_path / ".git"))
    outputs.demand_place(os.devnull)
    with pytest.raises(ExternalError, match="cannot be written"):
        outputs.write("/dev/full", b"x" * 100_000)
    with pytest.raises(ExternalError, match="cannot be written"):
        outputs.write(str(tmp_path / "no" / "file"), b"x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_nobody_may_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="may not write"):
        outputs.demand_place(str(tmp_path / "new"))


def test_the_projects_own_files_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "site").write_text("x")
    (tmp_path / "link").symlink_to("a")
    os.link(tmp_path / "a" / "site", tmp_path / "second")
    for path in ("a/site", "link/site", "a/../a/site", "second", "new"):
        with pytest.raises(UsageError, match="belongs to the project"):
            outputs.demand_other(str(tmp_path / path), str(tmp_path), ["none", "a/site", "new"])
    outputs.demand_other(str(tmp_path / "site"), str(tmp_path), ["none", "a/site"])
