"""A write is stopped at each of its steps in turn; then the tree is all old or all new, and nothing else lies in it.

The steps are system calls. They are stopped in a forked child that patches the functions of `os` (everywhere), and
from the outside by strace's syscall injection (where it works), which knows nothing of our code.
"""

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import journal, state
from pinctl.plan import FilePlan, Plan

OLD = {"a.cmake": b"set(A 1)\r\n" * 50, "docker/Dockerfile": b"ARG A=1", "tools/install.sh": b"A=1\n"}
NEW = {"a.cmake": b"set(A 2)\r\n" * 60, "docker/Dockerfile": b"ARG A=2", "tools/install.sh": b"A=2\n"}
CREATED = {"cmake/pins/new.cmake": b"# new\n"}
PLAN = Plan(files=[FilePlan(path=p, before=OLD.get(p), after=new) for p, new in sorted({**NEW, **CREATED}.items())])
STEPS = ("write", "fsync", "replace", "unlink", "mkdir", "rmdir", "fchmod")


def make(root: Path) -> None:
    """The old tree, with a state folder as after an earlier write."""
    state.make(state.folder_of(str(root)))
    for path, data in OLD.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (root / "tools/install.sh").chmod(0o750)


def content(root: Path) -> dict[str, bytes | None]:
    """All that lies in a tree: the bytes of files, None for folders."""
    return {str(p.relative_to(root)): p.read_bytes() if p.is_file() else None for p in root.rglob("*")}


FOLDERS: dict[str, bytes | None] = {"docker": None, "tools": None}
ALL_OLD = {**OLD, **FOLDERS}
ALL_NEW = {**NEW, **CREATED, **FOLDERS, "cmake": None, "cmake/pins": None}


def settle(root: Path) -> str:
    """What the next `sync` begins with; which side the tree then is on, whole and without litter."""
    journal.recover(str(root))
    assert content(root) in (ALL_OLD, ALL_NEW)
    assert stat.S_IMODE((root / "tools/install.sh").stat().st_mode) == 0o750
    assert journal.pending(str(root)) == ()
    folder = Path(state.folder_of(str(root)))
    assert {p.name for p in folder.iterdir()} <= {"lock", "journal.json.new"} if folder.exists() else True
    return "new" if content(root) == ALL_NEW else "old"


class Fault:
    """Lets `act` happen before or after the Nth of the calls in STEPS."""

    def __init__(self, nth: int, act: Callable[[], object], *, after: bool = False, forever: bool = False) -> None:
        self.nth, self.act, self.after, self.forever, self.count = nth, act, after, forever, 0

    @contextmanager
    def __call__(self, steps: tuple[str, ...] = STEPS) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in steps:  # a kill is no power cut: fsync takes time here and changes nothing
                patch.setattr(os, name, self._wrapped(_nothing if name == "fsync" else getattr(os, name)))
            yield

    @property
    def reached(self) -> bool:
        return self.count >= self.nth

    def _wrapped(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            self.count += 1
            hit = self.count >= self.nth if self.forever else self.count == self.nth
            if hit and not self.after:
                self.act()
            try:
                return real(*args, **kwargs)
            finally:
                if hit and self.after:
                    self.act()

        return call


def _nothing(descriptor: int) -> None:
    pass


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(work: Callable[[], object], fault: Fault, steps: tuple[str, ...] = STEPS) -> bool:
    """Run `work` in a forked child under `fault`; whether its Nth step was reached."""
    child = os.fork()
    if child == 0:
        try:
            with fault(steps):
                work()
            os._exit(10 + fault.reached)
        except BaseException:
            os._exit(3)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) in (10, 11)
    return os.WEXITSTATUS(status) == 11


def test_each_step_is_on_the_disk_before_the_next(tmp_path: Path) -> None:
    """What a power cut would show: a kill alone does not, since the kernel lives on."""
    steps: list[str] = []
    make(tmp_path / "root")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("write", "fsync", "replace", "unlink"):
            real = getattr(os, name)
            patch.setattr(os, name, lambda *a, name=name, real=real, **k: steps.append(name) or real(*a, **k))
        journal.write(str(tmp_path / "root"), PLAN)
    save, staged = ["write", "fsync", "replace", "fsync"], ["write", "fsync"] * 4
    folders = ["fsync"] * 5  # the root, cmake, cmake/pins, docker, tools
    assert steps[: len(save + staged) + 4 + len(folders) + 1] == [*save, *staged, *["replace"] * 4, *folders, "unlink"]
    assert steps[-1] == "fsync"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_step(tmp_path: Path, after: bool) -> None:
    sides = []
    for nth in range(1, 1000):
        root = tmp_path / str(nth)
        make(root)
        reached = in_child(partial(journal.write, str(root), PLAN), Fault(nth, die, after=after))
        sides.append(settle(root))
        if not reached:
            break
    assert len(sides) > 30
    assert sides == sorted(sides, reverse=True), "once on the new side, always"
    assert {"old", "new"} == set(sides)


@pytest.mark.parametrize("renamed", [0, 1, 3])
def test_killed_at_every_step_of_the_recovery(tmp_path: Path, renamed: int) -> None:
    expected = "new" if renamed else "old"
    for nth in range(1, 1000):
        root = tmp_path / str(nth)
        make(root)
        one_more = Fault(1 + renamed + 1, die)  # the journal is the first to be renamed
        assert in_child(partial(journal.write, str(root), PLAN), one_more, ("replace",))
        assert journal.pending(str(root))
        reached = in_child(partial(journal.recover, str(root)), Fault(nth, die))
        assert settle(root) == expected
        if not reached:
            break
    assert nth > 10


def raising(error: BaseException) -> Callable[[], object]:
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_step_that_fails_once_changes_nothing(tmp_path: Path, number: int) -> None:
    """A full disk: a clear error that names a file, the old content everywhere, no litter, nothing left to recover."""
    steps = ("write", "fsync", "replace", "mkdir", "fchmod")
    for nth in range(1, 1000):
        root = tmp_path / str(nth)
        make(root)
        fault = Fault(nth, raising(OSError(number, os.strerror(number))))
        text = ""
        try:
            with fault(steps):
                journal.write(str(root), PLAN)
        except ExternalError as error:
            text = str(error)
        if not fault.reached:
            break
        if content(root) == ALL_NEW:  # only what comes after the last rename: removing the journal
            assert settle(root) == "new"
            continue
        assert os.strerror(number) in text
        assert text.endswith("; nothing was changed")
        assert content(root) == ALL_OLD
        assert journal.pending(str(root)) == ()
    assert nth > 20


def test_a_disk_that_stays_full_keeps_the_journal(tmp_path: Path) -> None:
    """Undoing needs room as well; if there is none, the next run does it."""
    kept = 0
    for nth in range(1, 1000):
        root = tmp_path / str(nth)
        make(root)
        full = Fault(nth, raising(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))), forever=True)
        stopped: ExternalError | None = None
        try:
            with full(("write", "replace")):
                journal.write(str(root), PLAN)
        except ExternalError as error:
            stopped = error
        if stopped is None:  # no step was left to fail
            break
        assert "No space left" in str(stopped)
        if journal.pending(str(root)):
            kept += 1
            assert "pinctl sync" in str(stopped.hint)
        settle(root)
    assert kept > 0


def test_control_c_at_every_step(tmp_path: Path) -> None:
    for nth in range(1, 1000):
        root = tmp_path / str(nth)
        make(root)
        fault = Fault(nth, raising(KeyboardInterrupt()))
        with suppress(KeyboardInterrupt), fault():
            journal.write(str(root), PLAN)
        if not fault.reached:
            break
        if journal.pending(str(root)):  # pressed after the last rename
            assert content(root) == ALL_NEW
        settle(root)
    assert nth > 30


def test_a_file_size_limit(tmp_path: Path) -> None:
    import resource

    make(tmp_path / "root")

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
        with pytest.raises(ExternalError, match="File too large; nothing was changed"):
            journal.write(str(tmp_path / "root"), PLAN)

    assert not in_child(write, Fault(1, die), ())
    assert settle(tmp_path / "root") == "old"


@contextmanager
def small_disk(path: Path) -> Iterator[None]:
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(path)]
    mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    if not mounted:
        pytest.skip("no small file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk"):
        root = tmp_path / "disk"
        old = {name: name.encode() * 12_000 for name in "abc"}
        for name, data in old.items():
            (root / name).write_bytes(data)
        change = Plan(files=[FilePlan(path=n, before=d, after=d.upper() * 2) for n, d in old.items()])
        with pytest.raises(ExternalError, match="No space left on device; nothing was changed") as error:
            journal.write(str(root), change)
        assert error.value.hint == "make room on the disk"
        assert content(root) == old
        assert journal.pending(str(root)) == ()


# From the outside.

WRITER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pinctl.external import journal
from pinctl.plan import FilePlan, Plan
files = [FilePlan(path=p, before=b and b.encode(), after=a.encode()) for p, b, a in json.load(sys.stdin)]
journal.write(sys.argv[2], Plan(files=files))
"""


def strace(root: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Write PLAN to `root` in another Python under strace."""
    files = json.dumps([(f.path, f.before and f.before.decode(), f.after.decode()) for f in PLAN.files])
    source = str(Path(journal.__file__).parents[2])
    child = [sys.executable, "-I", "-S", "-B", "-c", WRITER, source, str(root)]
    command = ["strace", "-qq", "-o", "/dev/null", *options, *child]
    return subprocess.run(command, input=files.encode(), capture_output=True, check=False, timeout=60)


@pytest.fixture(scope="session")
def _traced(tmp_path_factory: pytest.TempPathFactory) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    trial = ["strace", "-qq", "-o", "/dev/null", "-e", "inject=getppid:error=EIO", "true"]
    works = subprocess.run(trial, capture_output=True, check=False)
    if works.returncode != 0:
        pytest.skip(f"strace cannot trace here: {works.stderr.decode().strip()}")


CALLS = ["write", "fsync", "?rename,?renameat,?renameat2", "?unlink,?unlinkat", "?mkdir,?mkdirat", "?fchmod"]


@pytest.mark.slow
@pytest.mark.usefixtures("_traced")
@pytest.mark.parametrize("calls", CALLS)
def test_killed_from_outside_at_every_call(tmp_path: Path, calls: str) -> None:
    sides = []
    for nth in range(1, 100):
        root = tmp_path / str(nth)
        make(root)
        done = strace(root, "-e", f"trace={calls}", "-e", f"inject={calls}:signal=SIGKILL:when={nth}")
        sides.append(settle(root))
        if done.returncode == 0:
            break
        assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), done.stderr
    assert len(sides) > 2
    assert sides[-1] == "new"
    assert sides == sorted(sides, reverse=True)


@pytest.mark.slow
@pytest.mark.usefixtures("_traced")
@pytest.mark.parametrize("calls", ["write", "fsync", "?rename,?renameat,?renameat2"])
def test_a_full_disk_from_outside_at_every_call(tmp_path: Path, calls: str) -> None:
    sides = []
    for nth in range(1, 100):
        root = tmp_path / str(nth)
        make(root)
        done = strace(root, "-e", f"trace={calls}", "-e", f"inject={calls}:error=ENOSPC:when={nth}")
        sides.append(settle(root))
        if done.returncode == 0:
            break
        assert b"No space left on device" in done.stderr
    assert len(sides) > 2
    assert sides[-1] == "new"
