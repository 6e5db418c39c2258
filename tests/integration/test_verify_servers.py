"""`pinctl verify` against git daemons: that is stopped, that says nothing, that takes no filters, that has no room."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from integration.servers import PUBLIC, git_daemon, instead_of, serve, silent
from pinctl.commands import fetch, verify
from pinctl.external import process, remote
from pinctl.options import Options
from pinctl.outcome import Outcome

if TYPE_CHECKING:
    from repositories import MakeRepository

CODE = """
import sys
from pinctl.commands import verify
from pinctl.options import Options
try:
    verify.run(Options(directory=sys.argv[1], untrusted=False))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def engine(make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a consumer that pins `dg`, which uses a header of its submodule `lib`, and `fm`."""
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    monkeypatch.setattr(remote, "PAUSES", ())
    root, text = tmp_path / "my engine", "schema = 1\n"
    root.mkdir()
    lib = make_repository("srv/lib")
    link = lib.commit("lib", {f"include/lib/f{n}.h": f"#include <lib/f{n + 1}.h>\n" * 20 for n in range(4)})
    for name in ("dg", "fm"):
        repository = make_repository(f"srv/{name}")
        repository.commit("one", {f"dir{n}/file{n}.h": f"#include <lib/f0.h> // {name} {n}\n" * 20 for n in range(100)})
        repository.write(".gitmodules", '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n')
        repository.git("add", "-A")
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{link},lib")
        repository.git("commit", "-q", "-m", "link")
        commit = repository.git("rev-parse", "HEAD")
        text += f'[pins.{name}]\nrepo = "{PUBLIC}{name}"\ncommit = "{commit}"\ntrack = "main"\nunused = true\n'
    for name in ("lib", "dg", "fm"):
        serve(tmp_path / "srv" / name)
    (root / "pins.toml").write_text(text)
    return root


def use(monkeypatch: pytest.MonkeyPatch, address: str, *more: tuple[str, str]) -> None:
    for name, value in instead_of(address, PUBLIC, *more).items():
        monkeypatch.setenv(name, value)


def verified(root: Path, **options: Any) -> Outcome:
    return verify.run(Options(directory=str(root), untrusted=False, **options))


def rows(outcome: Outcome) -> list[tuple[str, str | None, list[str | None]]]:
    """Of each pin, where its commit stands and where those of its submodules do."""
    found: Any = outcome.result["pins"]
    return [(row["name"], row["reachable"], [m["reachable"] for m in row["submodules"]]) for row in found]


CLEAN = [("dg", "branch", ["id"]), ("fm", "branch", ["id"])]


@contextmanager
def started(engine: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of verify, which ends with the `with` block at the latest."""
    with subprocess.Popen([sys.executable, "-c", CODE, str(engine)]) as running:
        try:
            yield running
        finally:
            running.kill()


def programs_of(mark: str) -> list[str]:
    """The command lines of running programs that hold `mark`."""
    lines = subprocess.run(
        ["ps", "-ww", "-e", "-o", "args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line for line in lines if mark in line and "git" in line.split(" ")[0]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_ends_at_any_moment_is_made_good_by_the_next(
    number: signal.Signals, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = random.Random(number)  # noqa: S311
    with git_daemon(tmp_path / "srv") as address:
        use(monkeypatch, address)
        for _ in range(8):
            with started(engine) as running:
                time.sleep(moments.uniform(0.05, 0.9))
                running.send_signal(number)
                assert running.wait(20) in (0, 130, -signal.SIGINT, -signal.SIGKILL)
        outcome = verified(engine)
        assert (rows(outcome), [f.code for f in outcome.findings]) == (CLEAN, ["PIN316", "PIN316"])
    assert [path.name for path in engine.iterdir()] == ["pins.toml"]
    assert not [path for path in (tmp_path / "the cache").rglob("*.lock") if path.parent.name != "git"]


def test_an_interrupt_ends_a_wait_at_once_and_leaves_no_program(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = str(tmp_path / "the cache")
    with silent() as address:
        use(monkeypatch, address)
        with started(engine) as running:
            end = time.monotonic() + 20
            while len(programs_of(mark)) < 2 and time.monotonic() < end:
                time.sleep(0.02)
            assert len(programs_of(mark)) >= 2
            begun = time.monotonic()
            running.send_signal(signal.SIGINT)
            assert running.wait(20) == 130
            assert time.monotonic() - begun < 5
    assert programs_of(mark) == []


def test_a_server_that_hangs_costs_its_own_pin_alone(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with git_daemon(tmp_path / "srv") as address, silent() as other:
        use(monkeypatch, address, (f"url.{other}.insteadOf", f"{PUBLIC}fm"))
        rules = tmp_path / "policy.toml"
        rules.write_text("schema = 1\ntimeout = 2\n")
        begun = time.monotonic()
        outcome = verified(engine, policy=str(rules))
        assert time.monotonic() - begun < 20
    assert rows(outcome) == [CLEAN[0], ("fm", None, [])]
    (late,) = [f for f in outcome.findings if f.code == "PIN320"]
    assert (late.pin, late.message) == ("fm", f"{PUBLIC}fm did not answer within 2 s")
    assert outcome.exit_code == 4


@pytest.mark.parametrize("setting", ["allowFilter", "allowAnySHA1InWant"])
def test_a_server_that_can_do_less(setting: str, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lib", "dg", "fm"):
        subprocess.run(["git", "-C", tmp_path / "srv" / name, "config", f"uploadpack.{setting}", "false"], check=True)
    with git_daemon(tmp_path / "srv") as address:
        use(monkeypatch, address, ("protocol.version", "0"))
        for _ in range(2):
            assert rows(verified(engine)) == CLEAN
        outcome = fetch.run(Options(directory=str(engine), untrusted=False))
    states: Any = outcome.result["pins"]
    assert [row["state"] for row in states] == ["fetched", "fetched"]
    assert (engine / "dg/lib/include/lib/f0.h").exists()


def test_a_disk_that_is_full(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git is ended at the limit of a file's size, as it is where a write fails (setrlimit(2), RLIMIT_FSIZE)."""
    repository = tmp_path / "srv/dg"
    (repository / "random.h").write_bytes(os.urandom(100_000))
    for words in (["add", "random.h"], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "random"]):
        subprocess.run(["git", "-C", repository, *words], check=True)
    done = subprocess.run(["git", "-C", repository, "rev-parse", "HEAD~1", "HEAD"], capture_output=True, text=True)
    old, new = done.stdout.split()
    pins = engine / "pins.toml"
    pins.write_text(pins.read_text().replace(old, new))
    with git_daemon(tmp_path / "srv") as address:
        use(monkeypatch, address)
        with monkeypatch.context() as patch:
            patch.setattr(process, "LARGEST_FILE", 50_000)
            outcome = verified(engine)
        (full,) = [f for f in outcome.findings if f.code == "PIN320"]
        assert (full.pin, outcome.exit_code) == ("dg", 4)
        assert "the cache cannot take what" in full.message
        assert rows(outcome)[1] == CLEAN[1]
        assert rows(verified(engine)) == CLEAN
