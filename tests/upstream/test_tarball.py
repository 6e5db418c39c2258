from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import GitRepository

from pinctl.model import NOTHING
from pinctl.upstream import tarball
from pinctl.upstream.tarball import Contents, Tarball

COMMIT = "c0" * 20
LONG = "pkg/" + "d" * 120 + "/" + "f" * 90


def made(*names: str, form: int = tarfile.PAX_FORMAT, comment: str | None = None, size: int = 10) -> bytes:
    """A tar archive of files, and of folders where a name ends with a slash."""
    target = io.BytesIO()
    headers = {"comment": comment} if comment else {}
    with tarfile.open(fileobj=target, mode="w", format=form, pax_headers=headers) as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            member.size = 0 if name.endswith("/") else size
            archive.addfile(member, io.BytesIO(b"x" * size))
    return target.getvalue()


def read(data: bytes, step: int = 1000) -> Contents | None:
    taker = Tarball()
    for at in range(0, len(data), step):
        taker.feed(data[at : at + step])
    return taker.contents and taker.contents._replace(files=NOTHING)


@pytest.mark.parametrize("packed", [False, True])
def test_what_git_makes(repository: GitRepository, packed: bool) -> None:
    commit = repository.commit("start", {"a.txt": "a\n" * 9000, "b/c.txt": "c"})
    repository.git("archive", "--format=tar", "--prefix=up-1/", "-o", "up.tar", "HEAD")
    data = (repository.path / "up.tar").read_bytes()
    assert read(gzip.compress(data, mtime=0) if packed else data) == Contents(commit, "up-1")
    repository.git("archive", "--format=tar", "-o", "up.tar", "HEAD")
    assert read((repository.path / "up.tar").read_bytes()) == Contents(commit, None)
    repository.git("archive", "--format=tar", "--prefix=up-1/", "-o", "up.tar", "HEAD^{tree}")
    assert read((repository.path / "up.tar").read_bytes()) == Contents(None, "up-1")


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_of_every_kind(form: int) -> None:
    assert read(made("pkg/", "pkg/a", LONG, form=form)) == Contents(None, "pkg")
    assert read(made("pkg/", LONG.replace("pkg/", "other/"), form=form)) == Contents(None, None)


@pytest.mark.parametrize(
    ("names", "folder"),
    [
        (("a/x", "a/y/z"), "a"),
        (("./a/x",), "a"),
        (("a/", "b/x"), None),
        (("a/x", "pax.txt"), None),
    ],
)
def test_the_folder_that_holds_everything(names: tuple[str, ...], folder: str | None) -> None:
    assert read(made(*names)) == Contents(None, folder)


def test_a_comment_that_is_no_commit() -> None:
    assert read(made("a/x", comment="built on Tuesday")) == Contents(None, "a")
    assert read(made("a/x", comment=COMMIT)) == Contents(COMMIT, "a")


def test_gzip_members_and_padding() -> None:
    data = made("a/x", "a/y", size=5000, comment=COMMIT)
    parts = gzip.compress(data[:3000], mtime=0) + gzip.compress(data[3000:]) + b"\0" * 512
    assert read(parts) == Contents(COMMIT, "a")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04" + b"x" * 1000,
        b"\0" * 1024,
        made("a/x", size=5000)[:3000],
        gzip.compress(made("a/x", size=5000), mtime=0)[:60],
        gzip.compress(made("a/x"), mtime=0)[:30] + b"garbage" * 100,
        b"\x1f\x8bnot gzip" * 100,
        made("a/x").replace(b"0000644", b"0000645"),
    ],
)
def test_what_cannot_be_read_is_not_guessed(data: bytes) -> None:
    assert read(data) is None


def test_a_bomb_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(made("a/x", size=3_000_000), mtime=0)
    assert read(bomb) == Contents(None, "a")
    monkeypatch.setattr(tarball, "UNPACKED", 2_000_000)
    assert read(bomb) is None


def test_a_header_of_any_size_is_not_kept() -> None:
    data = bytearray(made("a/x", comment="c" * 70_000))
    assert read(bytes(data)) is None


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0/\n"), min_size=1, max_size=200), max_size=6),
    st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    st.integers(1, 2000),
    st.booleans(),
)
def test_whatever_python_packs_is_read(names: list[str], form: int, step: int, packed: bool) -> None:
    data = made("top/", *(f"top/{name}" for name in names), form=form)
    assert read(gzip.compress(data, mtime=0) if packed else data, step) == Contents(None, "top")


@given(st.binary(max_size=3000), st.integers(0, 1500), st.integers(1, 700))
def test_nothing_crashes_the_reader(noise: bytes, at: int, step: int) -> None:
    read(noise, step)
    data = made("a/x", comment=COMMIT)
    read(data[:at] + noise + data[at + len(noise) :], step)
    read(gzip.compress(data, mtime=0)[: at // 8] + noise, step)


def files(data: bytes, step: int = 1000) -> Mapping[str, bytes]:
    taker = Tarball()
    for at in range(0, len(data), step):
        taker.feed(data[at : at + step])
    assert taker.contents is not None
    return taker.contents.files


@pytest.mark.parametrize("step", [1, 511, 100_000])
def test_what_is_in_it_is_told_whatever_the_archive_is_like(repository: GitRepository, step: int) -> None:
    deep = "d" * 120 + "/" + "f" * 120
    repository.commit("start", {"a.txt": "a\n" * 900, "run.sh": "#!/bin/sh\n", "empty": "", deep: "deep"})
    (repository.path / "link").symlink_to("x" * 150)
    (repository.path / "run.sh").chmod(0o755)
    repository.commit("more")
    repository.git("archive", "--format=tar", "--prefix=up-1/", "-o", "up.tar", "HEAD")
    data = (repository.path / "up.tar").read_bytes()
    found = files(data, step)
    assert sorted(found) == sorted(["a.txt", "run.sh", "empty", deep, "link"])
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        target = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=target, mode="w", format=form) as new:
            for member in old:
                member.mtime, member.uid, member.pax_headers = 7, 99, {}
                new.addfile(member, old.extractfile(member) if member.isreg() else None)
        assert files(target.getvalue(), step) == found
    (repository.path / "run.sh").chmod(0o644)
    (repository.path / "link").unlink()
    (repository.path / "link").symlink_to("y")
    repository.commit("others", {"a.txt": "b\n" * 900})
    repository.git("archive", "--format=tar", "--prefix=up-2/", "-o", "up.tar", "HEAD")
    other = files((repository.path / "up.tar").read_bytes(), step)
    assert {path for path in found if found[path] != other[path]} == {"a.txt", "run.sh", "link"}


def test_too_many_files_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball, "MOST_FILES", 2)
    assert read(made("pkg/a", "pkg/b")) == Contents(None, "pkg")
    assert read(made("pkg/a", "pkg/b", "pkg/c")) is None
