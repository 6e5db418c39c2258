import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.process import CommandFailed, Result, ToolMissing, environment, run


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_output_errors_and_exit_code_come_back() -> None:
    done = run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), accept=(0, 3))
    assert done == Result(done.argv, 3, b"out\n", b"err\n")


def test_arguments_reach_the_program_as_they_are() -> None:
    words = ["$(touch x)", "a b", "`id`", "", "-n", "*", "\n"]
    assert run([*python("import sys; print(sys.argv[1:])"), *words]).stdout.decode().strip() == repr(words)


def test_standard_input_is_empty_unless_given() -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    assert run(python(code)).stdout == b"0\n"
    assert run(python(code), stdin=b"x" * 3_000_000).stdout == b"3000000\n"


def test_much_input_and_output_at_once_do_not_lock_up() -> None:
    data = bytes(range(256)) * 4096
    copy = "import sys\nwhile b := sys.stdin.buffer.read1(): sys.stdout.buffer.write(b); sys.stderr.buffer.write(b)"
    done = run(python(copy), stdin=data)
    assert done.stdout == data
    assert done.stderr == data[-65536:]


def test_a_program_that_does_not_read_its_input() -> None:
    assert run(python("print(1)"), stdin=b"x" * 3_000_000).stdout == b"1\n"


def test_a_failure_names_command_code_and_the_last_lines_of_both_streams() -> None:
    code = "import sys; print('the result'); [print('line', n, file=sys.stderr) for n in range(50)]; sys.exit(7)"
    with pytest.raises(CommandFailed) as error:
        run(python(code), shown=["tool", "a b"])
    text = str(error.value)
    assert text.startswith("`tool 'a b'` failed with exit code 7\n")
    assert "stderr: line 49" in text
    assert "line 39" not in text
    assert "stdout: the result" in text
    assert error.value.result.code == 7
    assert error.value.exit_code == 4
    assert error.value.code == "PIN802"


def test_credentials_and_control_characters_do_not_reach_the_message() -> None:
    url = "https://x:SENTINEL@host.example/r"
    code = f"import sys; print('\\x1b]52;c;x\\x07 fatal: {url}?token=SENTINEL', file=sys.stderr); sys.exit(1)"
    with pytest.raises(CommandFailed) as error:
        run([*python(code), url, "-c", "http.extraHeader=Authorization: Basic SENTINEL"])
    assert "SENTINEL" not in str(error.value)
    assert "\x1b" not in str(error.value)
    assert "\x07" not in str(error.value)
    assert "host.example/r" in str(error.value)


def test_a_signal_is_named() -> None:
    with pytest.raises(CommandFailed, match="was ended by SIGKILL"):
        run(python("import os; os.kill(os.getpid(), 9)"))


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ToolMissing, match="no-such-tool is not installed") as error:
        run(["no-such-tool", "x"])
    assert error.value.code == "PIN801"


def test_a_folder_of_path_that_may_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "no-such-tool").write_text("not executable")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="no-such-tool is not installed"):
        run(["no-such-tool"])


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("x")
    with pytest.raises(ToolMissing, match="cannot be started: Permission denied"):
        run([str(tmp_path / "tool")])


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ExternalError, match="none: No such file") as error:
        run(python("1"), cwd=str(tmp_path / "none"))
    assert not isinstance(error.value, ToolMissing)


def gone(pid: int) -> bool:
    """Whether a process ends within two seconds."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n")
time.sleep(60)
"""


def test_at_the_timeout_the_program_and_its_children_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.05)
    pids = tmp_path / "pids"
    start = time.monotonic()
    with pytest.raises(CommandFailed, match=r"took longer than 0\.7 s"):
        run([*python(FAMILY), str(pids)], timeout=0.7)
    assert time.monotonic() - start < 10
    numbers = [int(line) for line in pids.read_text().split()]
    assert len(numbers) == 2
    assert all(gone(number) for number in numbers)


def test_a_program_that_closed_its_streams_still_has_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.05)
    with pytest.raises(CommandFailed, match="took longer"):
        run(python("import os, time; os.close(1); os.close(2); time.sleep(60)"), timeout=0.3)


def test_at_control_c_the_program_and_its_children_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.05)
    pids = tmp_path / "pids"

    def press() -> None:
        while not pids.exists() or pids.read_text().count("\n") < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run([*python(FAMILY), str(pids)], timeout=30)
    thread.join()
    assert all(gone(int(line)) for line in pids.read_text().split())


def test_a_daemon_left_behind_does_not_hold_us() -> None:
    code = "import os, time\nif os.fork() == 0: os.setsid(); time.sleep(5); os._exit(0)\nprint('done')"
    start = time.monotonic()
    assert run(python(code)).stdout == b"done\n"
    assert time.monotonic() - start < 4


def test_output_is_bounded() -> None:
    endless = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    with pytest.raises(CommandFailed, match="printed more than 1000000 bytes") as error:
        run(python(endless), limit=1_000_000)
    assert len(error.value.result.stdout) < 2_000_000
    assert len(run(python("print('x' * 999_999)"), limit=1_000_000).stdout) == 1_000_000


def test_core_files_and_endless_files_are_off_in_the_program_alone() -> None:
    import resource

    before = [resource.getrlimit(kind) for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)]
    code = "import resource as r; print(r.getrlimit(r.RLIMIT_CORE)[0], r.getrlimit(r.RLIMIT_FSIZE)[0])"
    core, size = run([sys.executable, "-c", code]).stdout.split()
    assert int(core) == 0
    assert 0 < int(size) <= 4 * 1024**3
    assert [resource.getrlimit(kind) for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)] == before


def test_a_file_beyond_the_limit_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LARGEST_FILE", 100_000)
    fill = "import signal as s; s.signal(s.SIGXFSZ, s.SIG_DFL)\nopen('big', 'wb').write(b'x' * 200_000)"
    with pytest.raises(CommandFailed, match="SIGXFSZ"):
        run(python(fill), cwd=str(tmp_path))
    assert (tmp_path / "big").stat().st_size == 100_000


def test_the_environment_is_made_from_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "SENTINEL")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("PYTHONPATH", "/x")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("PATH", f"./bin::{os.defpath.lstrip(':')}:relative")
    made = environment(EXTRA="1")
    assert set(made) <= {"HOME", "LOGNAME", "TMPDIR", "USER", "PATH", "LC_ALL", "TZ", "EXTRA"}
    assert made["LC_ALL"] == "C.UTF-8"
    assert made["TZ"] == "UTC"
    assert all(folder.startswith("/") for folder in made["PATH"].split(":"))
    shown = run(python("import os; print(sorted(os.environ))"), env=made).stdout.decode()
    assert "SENTINEL" not in shown
    assert "GH_TOKEN" not in shown


def test_a_program_in_the_current_folder_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\ntouch canary\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    with pytest.raises(ToolMissing):
        run(["tool"])
    assert not (tmp_path / "canary").exists()
