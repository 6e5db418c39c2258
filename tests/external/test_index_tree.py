from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import index_tree
from pinctl.external.index_tree import MARK, NO_JEKYLL, Hosted, demand_place, write

PAGES = {"index.html": b"people", "release/cu129/index.html": b"root"}


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def hosted(path: str, body: bytes, source: Path | None = None) -> Hosted:
    return Hosted(path, hashlib.sha256(body).hexdigest(), len(body), None if source is None else str(source))


def test_a_new_index(tmp_path: Path) -> None:
    out = tmp_path / "a" / "site"
    old = os.umask(0o077)
    try:
        write(str(out), PAGES, [Hosted("files/x.whl.metadata", "", body=b"m")])
    finally:
        os.umask(old)
    assert files(out) == {
        **PAGES, "files/x.whl.metadata": b"m", NO_JEKYLL: b"",
        MARK: b'{"schema": 1, "top": [".nojekyll", "files", "index.html", "release"]}\n',
    }  # fmt: skip
    assert {oct(path.stat().st_mode & 0o777) for path in out.rglob("*")} == {"0o644", "0o755"}
    assert os.listdir(out.parent) == ["site"]


def test_the_old_one_is_replaced_whole_and_its_files_are_linked(tmp_path: Path) -> None:
    out, wheel = tmp_path / "site", tmp_path / "x.whl"
    wheel.write_bytes(b"wheel")
    write(str(out), {**PAGES, "old/index.html": b""}, [hosted("files/x.whl", b"wheel", wheel)])
    before = (out / "files/x.whl").stat().st_ino
    assert before != wheel.stat().st_ino
    write(str(out), PAGES, [hosted("files/x.whl", b"wheel")])
    assert (out / "files/x.whl").stat().st_ino == before
    assert not (out / "old").exists()
    write(str(out), PAGES)
    assert not (out / "files").exists()
    assert sorted(os.listdir(tmp_path)) == ["site", "x.whl"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (hosted("files/x.whl", b"other", None), "not of the 5 bytes"),
        (hosted("files/gone.whl", b"", None), "is not in the index any more"),
        (Hosted("files/y.whl", "ab" * 32, 5, "y.whl"), "is not the file that its record says"),
        (Hosted("files/z.whl", "ab" * 32, 5, "z.whl"), "cannot be written"),
    ],
)
def test_a_failure_leaves_the_old_one_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Hosted, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("y.whl").write_bytes(b"evil!")
    Path("x.whl").write_bytes(b"a wheel")
    write("site", PAGES, [hosted("files/x.whl", b"a wheel", Path("x.whl"))])
    before, number = files(Path("site")), Path("site").stat().st_ino
    with pytest.raises(ExternalError, match=message):
        write("site", {"index.html": b"new"}, [wrong])
    assert files(Path("site")) == before
    assert Path("site").stat().st_ino == number
    assert sorted(os.listdir()) == ["site", "x.whl", "y.whl"]


@pytest.mark.parametrize("step", ["rename", "exchange"])
def test_without_an_exchange_of_the_system_two_renames_do_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    out = tmp_path / "site"
    write(str(out), PAGES)
    monkeypatch.setattr(index_tree, "_exchanged", lambda *_: False)
    if step == "exchange":
        write(str(out), {"index.html": b"new"})
        assert (out / "index.html").read_bytes() == b"new"
    else:
        real = os.rename

        def fails(source: str, target: str) -> None:
            if target == str(out) and not source.endswith(".old"):
                raise OSError(28, "No space left on device")
            real(source, target)

        monkeypatch.setattr(os, "rename", fails)
        with pytest.raises(ExternalError, match="No space left"):
            write(str(out), {"index.html": b"new"})
        assert (out / "index.html").read_bytes() == b"people"
    assert os.listdir(tmp_path) == ["site"]


def test_what_is_none_of_the_index_is_never_thrown_away(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write(str(out), PAGES)
    (out / "CNAME").write_text("whl.example")
    with pytest.raises(WriteRefused, match="holds CNAME"):
        write(str(out), PAGES)
    assert (out / "CNAME").exists()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.c").touch()
    with pytest.raises(WriteRefused, match=r"holds main\.c"):
        demand_place(str(tmp_path / "src"))
    with pytest.raises(WriteRefused, match="is no folder"):
        demand_place(str(out / "CNAME"))
    (tmp_path / "empty").mkdir()
    write(str(tmp_path / "empty"), PAGES)
    assert (tmp_path / "empty" / "index.html").exists()


@pytest.mark.parametrize("mark", ["", "[]", '{"top": 3}', '{"top": [3]}', "\x00"])
def test_a_mark_that_cannot_be_read_allows_nothing(tmp_path: Path, mark: str) -> None:
    (tmp_path / MARK).write_text(mark)
    (tmp_path / "index.html").touch()
    with pytest.raises(WriteRefused):
        demand_place(str(tmp_path))


def test_a_link_in_the_old_index_is_no_file_of_it(tmp_path: Path) -> None:
    out, secret = tmp_path / "site", tmp_path / "secret"
    secret.write_bytes(b"secret")
    write(str(out), PAGES, [Hosted("files/x.whl", "", body=b"secret")])
    (out / "files/x.whl").unlink()
    (out / "files/x.whl").symlink_to(secret)
    with pytest.raises(ExternalError, match="not in the index any more"):
        write(str(out), PAGES, [hosted("files/x.whl", b"secret")])


def test_what_killed_runs_left_is_taken_away(tmp_path: Path) -> None:
    for name, age in ((".site.pinctl-old", 2 * 86400), (".site.pinctl-new", 60), (".site.backup", 2 * 86400)):
        (tmp_path / name / "x").mkdir(parents=True)
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    write(str(tmp_path / "site"), PAGES)
    assert sorted(os.listdir(tmp_path)) == [".site.backup", ".site.pinctl-new", "site"]
