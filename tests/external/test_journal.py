import json
import os
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import journal, state, targets
from pinctl.plan import FilePlan, Plan, digest

CANARY = b"canary: nobody may change this"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/tools").mkdir(parents=True)
    (tmp_path / "root/a.cmake").write_bytes(b"set(A 1)\r\n")
    (tmp_path / "root/tools/install.sh").write_bytes(b"A=1")
    (tmp_path / "root/tools/install.sh").chmod(0o750)
    (tmp_path / "secret").write_bytes(CANARY)
    return tmp_path / "root"


def plan(*files: tuple[str, bytes | None, bytes], executable: bool = False) -> Plan:
    return Plan(files=[FilePlan(path=p, before=b, after=a, executable=executable) for p, b, a in files])


BOTH = plan(("a.cmake", b"set(A 1)\r\n", b"set(A 2)\r\n"), ("tools/install.sh", b"A=1", b"A=2"))


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a tree with its bytes and mode."""
    found = [p for p in root.rglob("*") if p.is_file()]
    return {str(p.relative_to(root)): (p.read_bytes(), stat.S_IMODE(p.stat().st_mode)) for p in found}


def leftovers(root: Path) -> list[str]:
    """What lies in the state folder beside the lock."""
    folder = Path(state.folder_of(str(root)))
    return sorted(p.name for p in folder.iterdir() if p.name != "lock") if folder.exists() else []


def test_all_files_are_written_and_their_modes_stay(root: Path) -> None:
    before = os.umask(0o077)
    try:
        journal.write(str(root), BOTH)
    finally:
        os.umask(before)
    assert tree(root) == {"a.cmake": (b"set(A 2)\r\n", 0o644), "tools/install.sh": (b"A=2", 0o750)}
    assert leftovers(root) == []
    assert journal.pending(str(root)) == ()
    assert journal.recover(str(root)) is None


@pytest.mark.parametrize(("executable", "mode"), [(False, 0o644), (True, 0o755)])
def test_new_files_and_their_folders(root: Path, executable: bool, mode: int) -> None:
    change = plan(("cmake/pins/deep/x.cmake", None, b"new\n"), ("y", None, b""), executable=executable)
    before = os.umask(0o077)
    try:
        journal.write(str(root), change)
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)
    assert tree(root)["cmake/pins/deep/x.cmake"] == (b"new\n", mode)
    assert tree(root)["y"] == (b"", mode)
    assert [stat.S_IMODE((root / p).stat().st_mode) for p in ("cmake", "cmake/pins", "cmake/pins/deep")] == [0o755] * 3


def test_what_does_not_change_is_not_touched(root: Path) -> None:
    inode = (root / "a.cmake").stat().st_ino
    journal.write(str(root), plan(("a.cmake", b"whatever", b"whatever"), ("none", b"", b"")))
    assert (root / "a.cmake").stat().st_ino == inode
    assert not Path(state.folder_of(str(root))).exists()


def refused(root: Path, change: Plan, *, allow_workflows: bool = False) -> str:
    """The refusal of a plan; nothing may have moved."""
    before = tree(root)
    with pytest.raises(WriteRefused) as error:
        journal.write(str(root), change, allow_workflows=allow_workflows)
    assert tree(root) == before
    assert leftovers(root) == []
    assert error.value.exit_code == 1
    return str(error.value)


# Security row 31: a file swapped between plan and write.
def test_files_that_changed_since_the_plan_are_all_named(root: Path) -> None:
    (root / "a.cmake").write_bytes(b"set(A 3)\n")
    (root / "tools/install.sh").unlink()
    (root / "new").write_bytes(b"theirs")
    change = plan(*[(f.path, f.before, f.after) for f in BOTH.files], ("new", None, b"ours"))
    text = refused(root, change)
    for path in ("a.cmake", "tools/install.sh", "new"):
        assert f"{path} was changed since it was read" in text


def test_a_file_swapped_for_a_link_since_the_plan(root: Path) -> None:
    (root / "a.cmake").unlink()
    (root / "a.cmake").symlink_to("../secret")
    assert "a.cmake is a symbolic link" in refused(root, BOTH)
    assert (root / "../secret").read_bytes() == CANARY


def test_a_file_swapped_while_we_write_is_not_lost(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, count = os.replace, [0]

    def racing(*args: object, **kwargs: object) -> None:
        replace(*args, **kwargs)  # type: ignore[arg-type]
        count[0] += 1
        if count[0] == 2:  # the journal, then a.cmake
            (root / "tools/install.sh").write_bytes(b"A=3")

    monkeypatch.setattr(os, "replace", racing)
    with pytest.raises(WriteRefused, match=r"tools/install\.sh was changed by another program meanwhile"):
        journal.write(str(root), BOTH)
    assert tree(root) == {"a.cmake": (b"set(A 1)\r\n", 0o644), "tools/install.sh": (b"A=3", 0o750)}
    assert leftovers(root) == []


# Security row 28.
def test_hard_links_linked_parents_and_read_only_files(root: Path) -> None:
    (root / "hard").hardlink_to(root / "../secret")
    (root / "out").symlink_to("..")
    (root / "a.cmake").chmod(0o444)
    text = refused(
        root,
        plan(
            ("hard", CANARY, b"x"),
            ("out/secret", CANARY, b"x"),
            ("out/new", None, b"x"),
            ("a.cmake", b"set(A 1)\r\n", b"x"),
            ("tools/install.sh", b"A=1", b"A=2"),
        ),
    )
    assert "hard has several hard links" in text
    assert "out/secret is a symbolic link, or lies behind one" in text
    assert "out/new is a symbolic link, or lies behind one" in text
    assert "a.cmake is read-only" in text
    assert (root / "../secret").read_bytes() == CANARY
    assert not (root / "../new").exists()


# Security row 29.
def test_paths_outside_and_in_git_are_refused(root: Path) -> None:
    text = refused(
        root,
        plan(
            ("../secret", CANARY, b"x"),
            ("/tmp/x", None, b"x"),
            (".git/hooks/pre-commit", None, b"x"),
            ("sub/.GIT/config", None, b"x"),
        ),
    )
    assert "../secret leaves the root" in text
    assert "/tmp/x is an absolute path" in text
    assert ".git/hooks/pre-commit lies in git's own folder" in text
    assert "sub/.GIT/config lies in git's own folder" in text
    assert (root / "../secret").read_bytes() == CANARY


def test_workflows_are_written_only_with_leave(root: Path) -> None:
    change = plan((".github/workflows/ci.yml", None, b"on: push\n"))
    assert ".github/workflows/ci.yml lies under .github/" in refused(root, change)
    journal.write(str(root), change, allow_workflows=True)
    assert (root / ".github/workflows/ci.yml").read_bytes() == b"on: push\n"


# Security row 30.
def test_fifos_and_folders_are_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "fifo")
    start = time.monotonic()
    before = sorted(p.name for p in root.iterdir())
    with pytest.raises(WriteRefused) as error:
        journal.write(str(root), plan(("fifo", b"", b"x"), ("tools", b"", b"x")))
    assert "fifo is a FIFO" in str(error.value)
    assert "tools is a directory" in str(error.value)
    assert time.monotonic() - start < 1
    assert sorted(p.name for p in root.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_owners_stay(root: Path) -> None:
    os.chown(root / "a.cmake", 12345, 23456)
    (root / "a.cmake").chmod(0o4755)
    journal.write(str(root), BOTH)
    status = (root / "a.cmake").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o4755)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(root: Path) -> None:
    (root / "tools").chmod(0o555)
    with pytest.raises(ExternalError, match=r"install\.sh cannot be written: Permission denied; nothing was"):
        journal.write(str(root), BOTH)
    assert tree(root)["a.cmake"][0] == b"set(A 1)\r\n"
    assert leftovers(root) == []


# The state folder.


def test_the_state_folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    journal.write(str(root), BOTH)
    folder = tmp_path / "state/pinctl" / digest(os.fsencode(os.path.realpath(root)))
    assert state.folder_of(str(root)) == str(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (tmp_path / "linked").symlink_to(root)
    assert state.folder_of(str(tmp_path / "linked")) == str(folder)


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_without_a_usable_xdg_state_home(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state.folder_of("/x").startswith(f"{tmp_path}/.local/state/pinctl/")


@pytest.mark.parametrize("odd", ["open", "link", "file"])
def test_a_state_folder_that_others_can_write_is_refused(root: Path, tmp_path: Path, odd: str) -> None:
    folder = tmp_path / "state"
    if odd == "open":
        folder.mkdir()
        folder.chmod(0o777)
    elif odd == "link":
        (tmp_path / "real").mkdir(0o700)
        folder.symlink_to("real")
    else:
        folder.write_text("x")
    with pytest.raises(ExternalError, match="no folder of ours alone"):
        journal.write(str(root), BOTH, state_dir=str(folder))
    assert tree(root)["a.cmake"][0] == b"set(A 1)\r\n"


def test_a_state_folder_that_cannot_be_made(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ExternalError, match=r"secret.*: (Not a directory|File exists)") as error:
        journal.write(str(root), BOTH, state_dir=str(tmp_path / "secret/state"))
    assert "XDG_STATE_HOME" in str(error.value.hint)
    with pytest.raises(ExternalError, match="no home folder"):
        journal.write(str(root), BOTH, state_dir="~/state")


def test_two_writers_take_turns(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = state.folder_of(str(root))
    state.make(folder)
    with state.locked(folder):
        assert state.in_use(folder)
        monkeypatch.setattr(state, "PATIENCE", 0.1)
        with pytest.raises(ExternalError, match="another pinctl is writing"):
            journal.write(str(root), BOTH)
        monkeypatch.setattr(state, "PATIENCE", 10)
        writer = threading.Thread(target=journal.write, args=(str(root), BOTH))
        writer.start()
        time.sleep(0.1)
        assert tree(root)["a.cmake"][0] == b"set(A 1)\r\n"
    writer.join()
    assert tree(root)["a.cmake"][0] == b"set(A 2)\r\n"
    assert not state.in_use(folder)


# Taking back.


MIXED = plan(
    ("a.cmake", b"set(A 1)\r\n", b"set(A 2)\r\n"), ("new/deep/x", None, b"x"), ("tools/install.sh", b"A=1", b"A=2")
)


def test_what_was_written_is_taken_back_with_its_folders(root: Path) -> None:
    before, folders = tree(root), sorted(root.rglob("*"))
    written = journal.write(str(root), MIXED)
    assert journal.take_back(written) == ()
    assert (tree(root), sorted(root.rglob("*")), leftovers(root)) == (before, folders, [])
    assert journal.take_back(journal.write(str(root), plan())) == ()


def test_what_was_changed_since_stays(root: Path) -> None:
    before = tree(root)
    written = journal.write(str(root), MIXED)
    (root / "new/deep/x").write_bytes(b"y")
    (root / "a.cmake").unlink()
    assert journal.take_back(written) == ("a.cmake", "new/deep/x")
    del before["a.cmake"]
    assert tree(root) == before | {"new/deep/x": (b"y", 0o644)}


@pytest.mark.parametrize("done", range(4))
def test_taking_back_goes_on_after_a_crash(root: Path, done: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before, real, calls = tree(root), targets.restore, iter(range(9))
    written = journal.write(str(root), MIXED)

    def crash(*arguments: Any) -> None:
        if next(calls) == done:
            raise SystemExit
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(targets, "restore", crash)
        if done < 3:
            with pytest.raises(SystemExit):
                journal.take_back(written)
            with pytest.raises(WriteRefused, match="earlier write was interrupted"):
                journal.take_back(written)
        else:
            journal.take_back(written)
    assert len(journal.pending(str(root))) == (3 if done < 3 else 0)
    recovery = journal.recover(str(root))
    assert recovery is None if done == 3 else recovery is not None and not recovery.finished
    assert (tree(root), leftovers(root)) == (before, [])


# Recovery.


def interrupt(root: Path, change: Plan, renames: int) -> None:
    """Leave things as a crash does after so many files were renamed."""
    folder = state.folder_of(str(root))
    state.make(folder)
    job = journal._prepare(os.path.realpath(root), change.pending, True)
    journal._save(folder, job)
    for target in job.targets[:renames]:
        (root / target.path).write_bytes(target.after)
    for target in job.targets[renames:]:
        ((root / target.path).parent / target.temporary).write_bytes(b"half of the conte")


def test_a_crash_before_the_first_rename_is_undone(root: Path) -> None:
    before = tree(root)
    interrupt(root, BOTH, 0)
    assert journal.pending(str(root)) == ("a.cmake", "tools/install.sh")
    assert journal.recover(str(root)) == journal.Recovery(finished=False, files=("a.cmake", "tools/install.sh"))
    assert tree(root) == before
    assert journal.pending(str(root)) == ()
    assert leftovers(root) == []


@pytest.mark.parametrize("renames", [1, 2])
def test_a_crash_after_a_rename_is_finished(root: Path, renames: int) -> None:
    interrupt(root, BOTH, renames)
    assert journal.recover(str(root)) == journal.Recovery(finished=True, files=("a.cmake", "tools/install.sh"))
    assert tree(root) == {"a.cmake": (b"set(A 2)\r\n", 0o644), "tools/install.sh": (b"A=2", 0o750)}
    assert leftovers(root) == []


def test_a_write_waits_for_the_recovery(root: Path) -> None:
    interrupt(root, BOTH, 1)
    with pytest.raises(WriteRefused, match="earlier write was interrupted") as error:
        journal.write(str(root), BOTH)
    assert "pinctl sync" in str(error.value.hint)


def test_a_write_that_goes_on_is_not_reported_as_interrupted(root: Path) -> None:
    interrupt(root, BOTH, 1)
    with state.locked(state.folder_of(str(root))):
        assert journal.pending(str(root)) == ()
    assert journal.pending(str(root)) == ("a.cmake", "tools/install.sh")


def test_a_file_that_a_person_changed_after_the_crash_stops_recovery(root: Path) -> None:
    interrupt(root, BOTH, 1)
    (root / "tools/install.sh").write_bytes(b"A=by hand")
    with pytest.raises(ExternalError, match=r"tools/install\.sh \(the contents before and after: ") as error:
        journal.recover(str(root))
    before, after = str(error.value).split("after: ")[1].rstrip(")").split(", ")
    assert (Path(before).read_bytes(), Path(after).read_bytes()) == (b"A=1", b"A=2")
    assert "a.cmake" not in str(error.value)
    assert tree(root) == {"a.cmake": (b"set(A 2)\r\n", 0o644), "tools/install.sh": (b"A=by hand", 0o750)}
    # The way out that the hint names:
    (root / "tools/install.sh").write_bytes(Path(after).read_bytes())
    assert journal.recover(str(root)) is not None
    assert tree(root)["tools/install.sh"][0] == b"A=2"
    assert leftovers(root) == []


def test_a_target_that_became_a_link_stops_recovery(root: Path) -> None:
    interrupt(root, BOTH, 1)
    (root / "tools/install.sh").unlink()
    (root / "tools/install.sh").symlink_to("../../secret")
    with pytest.raises(ExternalError, match="cannot be finished or undone"):
        journal.recover(str(root))
    assert (root / "../secret").read_bytes() == CANARY


def test_new_files_and_folders_of_an_interrupted_write(root: Path) -> None:
    before = tree(root)
    change = plan(("new/deep/x", None, b"x"), ("new/y", None, b"y"))
    folder = state.folder_of(str(root))
    state.make(folder)
    journal._save(folder, journal._prepare(os.path.realpath(root), change.pending, False))
    (root / "new").mkdir()
    recovery = journal.recover(str(root))
    assert recovery is not None
    assert not recovery.finished
    assert tree(root) == before
    assert not (root / "new").exists()


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b'{"schema": 2}', b'{"schema": 1}', b"\xff", b'{"schema": 1, "folders": [], "files": [{}]}'],
)
def test_a_journal_that_is_not_ours_to_read(root: Path, text: bytes) -> None:
    folder = state.folder_of(str(root))
    state.make(folder)
    Path(folder, "journal.json").write_bytes(text)
    for act in (journal.recover, journal.pending):
        with pytest.raises(ExternalError, match=r"unreadable: .*journal\.json"):
            act(str(root))
    assert Path(folder, "journal.json").read_bytes() == text


def test_a_journal_cannot_lead_outside(root: Path) -> None:
    """Whoever can write our state folder can do anything; but no path in a journal leaves the root all the same."""
    interrupt(root, BOTH, 0)
    path = Path(state.folder_of(str(root)), "journal.json")
    document = json.loads(path.read_bytes())
    document["files"][0]["path"] = "../secret"
    path.write_text(json.dumps(document))
    with pytest.raises(ExternalError):
        journal.recover(str(root))
    assert (root / "../secret").read_bytes() == CANARY


def test_nothing_pending_costs_one_look(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError("opened a file")

    monkeypatch.setattr(os, "open", fail)
    monkeypatch.setattr("builtins.open", fail)
    assert journal.pending(str(root)) == ()
    assert journal.recover(str(root)) is None
