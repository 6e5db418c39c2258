"""The step that wheel builds and the install script share, run by real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pinctl.patches.shell import FUNCTION, apply_patches, call

ONE = "--- a/lib a.txt\n+++ b/lib a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
TWO = ONE.replace("-2\n+two", "-two\n+TWO")  # stands on the first
BAD = ONE.replace("-2\n+two", "-nothing\n+like it")
SHELLS = [shell for shell in ("bash", "dash", "sh") if shutil.which(shell)]


class Source:
    def __init__(self, folder: Path, shell: str) -> None:
        self.patches, self.path, self.shell = folder / "my patches", folder / "a b/source", shell
        self.patches.mkdir()
        self.path.mkdir(parents=True)
        self.write("lib a.txt", "1\n2\n3\n")

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text)

    def text(self) -> str:
        return (self.path / "lib a.txt").read_text()

    def apply(self, **patches: str) -> subprocess.CompletedProcess[str]:
        for name, text in patches.items():
            (self.patches / f"{name} .patch").write_text(text)
        step = apply_patches([f"{name} .patch" for name in patches], '"$ROOT"')
        env = {"PATH": os.environ["PATH"], "ROOT": str(self.patches), "HOME": "/nonexistent"}
        return subprocess.run([self.shell, "-euc", step], cwd=self.path, env=env, text=True, capture_output=True)


@pytest.fixture(params=SHELLS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    return Source(tmp_path, request.param)


@pytest.mark.parametrize("git", [True, False])
def test_once_however_often_it_runs(source: Source, git: bool) -> None:
    if git:
        subprocess.run(["git", "init", "-q", str(source.path)], check=True)
    first = source.apply(one=ONE, two=TWO)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == "Applied one .patch\nApplied two .patch\n"
    assert source.text() == "1\nTWO\n3\n"
    before = (source.path / "lib a.txt").stat().st_mtime_ns
    again = source.apply(one=ONE, two=TWO)
    assert (again.returncode, again.stdout) == (0, "The patches are in the source already\n")
    assert (source.path / "lib a.txt").stat().st_mtime_ns == before
    assert (source.path / ".pinctl-patches").exists() != git
    moved = source.path.parent.with_name("another place")
    source.path.parent.rename(moved)
    source.path = moved / "source"
    assert source.apply(one=ONE, two=TWO).stdout == "The patches are in the source already\n"


def test_other_patches_take_the_place_of_those_before(source: Source) -> None:
    source.apply(one=ONE, two=TWO)
    assert source.apply(one=ONE.replace("two", "zwei")).returncode == 0
    assert source.text() == "1\nzwei\n3\n"
    assert source.apply().returncode == 0
    assert source.text() == "1\n2\n3\n"


def test_a_source_that_was_reset_is_patched_again(source: Source) -> None:
    source.apply(one=ONE)
    source.write("lib a.txt", "1\n2\n3\n")
    assert source.apply(one=ONE).stdout == "Applied one .patch\n"
    assert source.text() == "1\ntwo\n3\n"


def test_what_upstream_has_is_left(source: Source) -> None:
    source.write("lib a.txt", "1\ntwo\n3\n")
    for _ in range(2):
        assert source.apply(one=ONE).returncode == 0
        assert source.text() == "1\ntwo\n3\n"


def test_what_does_not_fit_stops_it_with_file_and_line(source: Source) -> None:
    done = source.apply(one=ONE, bad=BAD)
    assert done.returncode == 1
    assert "bad .patch does not apply: error: patch failed: lib a.txt:1" in done.stderr
    assert source.apply(one=ONE, bad=TWO).returncode == 0
    assert source.text() == "1\nTWO\n3\n"
    (source.patches / "one .patch").unlink()
    done = subprocess.run([source.shell, "-euc", f"{FUNCTION}\n{call(['one .patch'], '..')}"], cwd=source.path,
                          text=True, capture_output=True)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "there is no ../one .patch\n")


def test_a_repository_around_the_source_is_not_asked(source: Source) -> None:
    """Inside another repository git apply passes over what does not lie in it, and says nothing."""
    subprocess.run(["git", "init", "-q", str(source.path.parent.parent)], check=True)
    assert source.apply(one=ONE).returncode == 0
    assert source.text() == "1\ntwo\n3\n"


def test_names_are_words() -> None:
    assert call(["a'b.patch", "$(touch x).patch", "-x"], '"$R"') == (
        """apply_patches "$R" 'a'"'"'b.patch' '$(touch x).patch' -x""")  # fmt: skip
