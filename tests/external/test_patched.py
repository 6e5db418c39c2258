from __future__ import annotations

import os
from pathlib import Path

import pytest
from repositories import GitRepository

from pinctl.errors import ExternalError
from pinctl.external import patched
from pinctl.patches.model import Blob, Odd
from pinctl.patches.trees import LARGEST


def test_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "f").write_bytes(b"x\r\n")
    (tmp_path / "dir/run").write_bytes(b"")
    (tmp_path / "dir/run").chmod(0o755)
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "dir link").symlink_to("dir")
    os.truncate(tmp_path / "f", 3)
    with open(tmp_path / "large", "wb") as file:
        file.truncate(LARGEST + 1)
    os.mkfifo(tmp_path / "pipe")
    found = patched.read(str(tmp_path), ["f", "dir/run", "no", "no/f", "link", "dir link/run", "dir", "large", "pipe"])
    assert (found["f"], found["dir/run"]) == (Blob(b"x\r\n", False), Blob(b"", True))
    assert (found["no"], found["no/f"]) == (None, None)
    odd = [name for name, one in found.items() if isinstance(one, Odd)]
    assert odd == ["link", "dir link/run", "dir", "large", "pipe"]


def test_texts_are_merged() -> None:
    base = b"1\n2\n3\n4\n5\n"
    ours, theirs = base.replace(b"1", b"one"), base.replace(b"5", b"five")
    assert patched.merge_lines(ours, base, theirs) == (b"one\n2\n3\n4\nfive\n", 0)
    text, count = patched.merge_lines(base.replace(b"3", b"III"), base, base.replace(b"3", b"three"))
    assert count == 1
    assert text.startswith(
        b"1\n2\n<<<<<<< the new commit\nIII\n||||||| the old commit\n3\n=======\nthree\n>>>>>>> the pa"
    )
    crlf = [side.replace(b"\n", b"\r\n") for side in (ours, base, theirs)]
    assert patched.merge_lines(*crlf) == (b"one\r\n2\r\n3\r\n4\r\nfive\r\n", 0)
    with pytest.raises(ExternalError):
        patched.merge_lines(b"a\0b", b"c\0d", b"e\0f")


def test_trees_are_laid_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(patched.tempfile, "tempdir", str(tmp_path))
    made = Path(patched.lay_out({"a": {"x y/f": Blob(b"1", True), "no": None}, "b": {"x y/f": Blob(b"2")}}))
    assert (made / "a/x y/f").read_bytes() == b"1"
    assert os.access(made / "a/x y/f", os.X_OK)
    assert (made / "b/x y/f").read_bytes() == b"2"
    assert sorted(path.name for path in made.rglob("*") if path.is_file()) == ["f", "f"]
    assert made.stat().st_mode & 0o077 == 0


def test_a_plan_of_one_file(tmp_path: Path, repository: GitRepository) -> None:
    (tmp_path / "f").write_bytes(b"1")
    assert patched.plan(str(tmp_path), "f", b"2")[:3] == ("f", b"1", b"2")
    assert patched.plan(str(tmp_path), "new", b"2")[:3] == ("new", None, b"2")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ExternalError, match="folder is a directory"):
        patched.plan(str(tmp_path), "folder", b"2")
