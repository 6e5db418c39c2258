"""`pinctl fetch` against a git daemon: that is stopped, that says nothing; and interrupted at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from integration.servers import PUBLIC, git_daemon, instead_of, serve, silent
from pinctl.commands import fetch
from pinctl.options import Options

if TYPE_CHECKING:
    from repositories import MakeRepository

CODE = """
import sys
from pinctl.commands import fetch
from pinctl.options import Options
try:
    fetch.run(Options(directory=sys.argv[1], untrusted=False), pins=sys.argv[2:])
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def engine(make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a consumer with two pins, of repositories that have some size."""
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    root, text = tmp_path / "my engine", "schema = 1\n"
    root.mkdir()
    for name in ("dg", "fm"):
        repository = make_repository(f"srv/{name}.git")
        commit = repository.commit("one", {f"dir{n}/file{n}.h": f"{name} {n}\n" * 20 for n in range(200)})
        serve(repository.path)
        text += f'[pins.{name}]\nrepo = "{PUBLIC}{name}.git"\ncommit = "{commit}"\nunused = true\n'
    (root / "pins.toml").write_text(text)
    return root


def use(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for name, value in instead_of(address).items():
        monkeypatch.setenv(name, value)


def states(root: Path) -> dict[str, str]:
    rows = fetch.run(Options(directory=str(root), untrusted=False)).result["pins"]
    assert isinstance(rows, list)
    return {row["name"]: row["state"] for row in rows}


def test_the_second_fetch_needs_no_server(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_daemon(tmp_path / "srv") as address:
        use(monkeypatch, address)
        assert states(engine) == {"dg": "fetched", "fm": "fetched"}
    assert states(engine) == {"dg": "present", "fm": "present"}
    subprocess.run(["rm", "-r", engine / "dg"], check=True)
    assert states(engine) == {"dg": "fetched", "fm": "present"}
    assert len(list((engine / "dg").rglob("*.h"))) == 200


def started(engine: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", CODE, str(engine), "dg", "fm"], stderr=subprocess.PIPE)


def programs_of(mark: str) -> list[str]:
    """The command lines of running programs that hold `mark`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in line and "git" in line.split(" ")[0]:
            found.append(line)
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for programs in /proc")
def test_an_interrupt_ends_a_wait_at_once_and_leaves_no_program(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with silent() as address:
        use(monkeypatch, address)
        process = started(engine)
        mark = str(tmp_path / "the cache")
        end = time.monotonic() + 20
        while not programs_of(mark) and time.monotonic() < end:
            time.sleep(0.02)
        assert programs_of(mark)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert time.monotonic() - begun < 5
        assert programs_of(mark) == []
    assert [path.name for path in engine.iterdir()] == ["pins.toml"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_ends_at_any_moment_is_made_good_by_the_next(
    number: signal.Signals, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with git_daemon(tmp_path / "srv") as address:
        use(monkeypatch, address)
        for wait in (0.1, 0.2, 0.3, 0.4, 0.6):
            process = started(engine)
            time.sleep(wait)
            process.send_signal(number)
            process.wait(20)
            for name in ("dg", "fm"):  # whole, or not there
                assert not (engine / name).exists() or len(list((engine / name).rglob("*.h"))) == 200
        states(engine)
    assert states(engine) == {"dg": "present", "fm": "present"}
    for name in ("dg", "fm"):
        assert subprocess.run(["git", "status", "--porcelain"], cwd=engine / name, capture_output=True).stdout == b""
    assert sorted(path.name for path in engine.iterdir()) == ["dg", "fm", "pins.toml"]
