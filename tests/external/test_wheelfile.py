"""Wheel files on disk. What is in them is in tests/wheel."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from wheelmaking import NAME, files, put, zipped

from pinctl.errors import ExternalError, UsageError
from pinctl.external import wheelfile
from pinctl.wheel.archive import Malformed

INFO = "tiny_kernel-1.0.dist-info"


def test_what_an_index_must_know(tmp_path: Path) -> None:
    members = files(metadata=["Requires-Python: >=3.10"])
    path = put(tmp_path, members=members)
    data = path.read_bytes()
    assert wheelfile.identify(str(path)) == (
        NAME, hashlib.sha256(data).hexdigest(), len(data), "tiny-kernel", "1.0", ">=3.10", members[f"{INFO}/METADATA"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("filename", "changed", "told"),
    [
        ("tiny.whl", {}, "a wheel is named"),
        (NAME.replace("1.0", "1.0+cu129"), {}, "METADATA does not say the name and version of the file"),
        (NAME, {f"{INFO}/METADATA": None}, "not exactly one .dist-info folder with METADATA"),
        (NAME, {"other-1.0.dist-info/METADATA": b""}, "not exactly one .dist-info folder with METADATA"),
        (NAME, {f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: tiny-kernel\nName: x\nVersion: 1.0\n"}, "METADATA"),
    ],
)
def test_what_no_index_may_have(tmp_path: Path, filename: str, changed: dict[str, bytes | None], told: str) -> None:
    path = put(tmp_path, filename, files(changed=changed))
    with pytest.raises(Malformed, match=told):
        wheelfile.identify(str(path))


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.whl")
    for name in ("fifo.whl", ".", "missing.whl"):
        with pytest.raises(UsageError), wheelfile.opened(str(tmp_path / name)):
            pass
    with pytest.raises(UsageError), wheelfile.opened("/dev/zero"):
        pass


def test_a_link_that_a_person_names_is_followed(tmp_path: Path) -> None:
    put(tmp_path)
    (tmp_path / "link.whl").symlink_to(NAME)
    with wheelfile.opened(str(tmp_path / "link.whl")) as archive:
        assert len(archive.members) == len(files())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    path = put(tmp_path)
    with pytest.raises(ExternalError, match="cannot be written"):
        wheelfile.revise(str(path), str(tmp_path / "missing"), label="cu129")


def test_large_content_goes_to_a_file_that_is_gone_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheelfile, "_IN_MEMORY", 10)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    path = tmp_path / NAME
    path.write_bytes(zipped(files(content={"a.so": b"\x7fELF" + bytes(5000)})))
    assert isinstance(wheelfile.survey(str(path)).contents["a.so"].elf, str)
    assert os.listdir(tmp_path / "spool") == []
