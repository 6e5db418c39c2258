"""Files of a source tree that come, go and change, all of them or none, also across a crash."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pinctl.errors import WriteRefused
from pinctl.external import journal, targets
from pinctl.plan import Exchange

PLANS = [
    Exchange("changed", b"old\n", b"new\n"),
    Exchange("dir/gone", b"x\n", None),
    Exchange("made/deep/file", None, b"y\n", True),
    Exchange("mode", b"m\n", b"m\n", True),
    Exchange("both", b"1\n", b"2\n", False),
]
Seen = dict[str, tuple[bytes, int]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "the source"
    (folder / "dir").mkdir(parents=True)
    for plan in PLANS:
        if plan.before is not None:
            (folder / plan.path).write_bytes(plan.before)
            (folder / plan.path).chmod(0o755 if plan.path == "both" else 0o640)
    return folder


def seen(root: Path) -> Seen:
    files = (path for path in root.rglob("*") if path.is_file())
    return {p.relative_to(root).as_posix(): (p.read_bytes(), stat.S_IMODE(p.stat().st_mode)) for p in files}


AFTER: Seen = {
    "changed": (b"new\n", 0o640),
    "made/deep/file": (b"y\n", 0o755),
    "mode": (b"m\n", 0o750),
    "both": (b"2\n", 0o644),
}


def test_all_of_it(root: Path, tmp_path: Path) -> None:
    journal.exchange(str(root), PLANS, state_dir=str(tmp_path / "state"))
    assert seen(root) == AFTER
    assert not (root / "dir").exists()
    assert journal.pending(str(root), state_dir=str(tmp_path / "state")) == ()


@pytest.mark.parametrize("stop", range(6))
def test_a_crash_at_any_moment_is_finished_or_undone(
    stop: int, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, calls = seen(root), []
    reals = {name: getattr(targets, name) for name in ("swap", "remove", "stage")}

    class Crash(BaseException):
        """What no handler may see: the process is gone."""

    def crashing(name: str):  # type: ignore[no-untyped-def]
        def call(*args: object) -> None:
            if name != "stage":
                calls.append(name)
                if len(calls) > stop:
                    raise Crash
            reals[name](*args)

        return call

    for name in reals:
        monkeypatch.setattr(targets, name, crashing(name))
    monkeypatch.setattr(journal, "_back_out", lambda *_: None)
    state = str(tmp_path / "state")
    try:
        journal.exchange(str(root), PLANS, state_dir=state)
    except Crash:
        monkeypatch.undo()
        done = journal.recover(str(root), state_dir=state)
        assert done is not None
        assert done.finished == (stop > 0)
        assert seen(root) == (AFTER if stop else before)
    else:
        assert seen(root) == AFTER
    assert not [name for name in seen(root) if ".pinctl-" in name]


def test_what_changed_meanwhile_stops_it(root: Path, tmp_path: Path) -> None:
    (root / "dir/gone").write_bytes(b"mine\n")
    before = seen(root)
    with pytest.raises(WriteRefused, match="dir/gone was changed since it was read"):
        journal.exchange(str(root), PLANS, state_dir=str(tmp_path / "state"))
    assert seen(root) == before


def test_the_other_name_of_a_file_keeps_what_it_had(root: Path, tmp_path: Path) -> None:
    os.link(root / "changed", tmp_path / "cache")
    journal.exchange(str(root), PLANS, state_dir=str(tmp_path / "state"))
    assert ((tmp_path / "cache").read_bytes(), (root / "changed").read_bytes()) == (b"old\n", b"new\n")


def test_it_never_leaves_the_root(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to(tmp_path)
    for path in ("../out", ".git/hooks/x", "link/out", ".github/workflows/x.yml"):
        with pytest.raises(WriteRefused):
            journal.exchange(str(root), [Exchange(path, None, b"x")], state_dir=str(tmp_path / "state"))
    assert not (tmp_path / "out").exists()
