from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumer import AGREES, FILES, NEW, OLD, PINS, Consumer, command, environment, pinctl, process
from hypothesis import given
from hypothesis import strategies as st

from pinctl import __version__
from pinctl.cli import _ROOMS, hoist
from pinctl.external import targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from repositories import MakeRepository

VERBS = {
    "check": ("check",),
    "sync": ("sync", "--check"),
    "adopt": ("adopt", "requirements.txt", "--diff"),
    "status": ("status", "--offline"),
    "explain": ("explain", "PIN201"),
}


# --- formats ---


@pytest.mark.parametrize("state", ["clean", "drift"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_format_of_every_verb_is_well_formed(verb: str, state: str, consumer: Consumer) -> None:
    if state == "drift":
        consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    runs = {
        form: consumer.run(*VERBS[verb], "--format", form) for form in ("text", "json", "github", "sarif", "markdown")
    }
    assert len({run.code for run in runs.values()}) == 1
    assert not any(run.err for run in runs.values())
    document = runs["json"].document
    assert (document["schema"], document["command"]) == (1, verb)
    assert set(document) == {"schema", "command", "findings", "result"}
    log = json.loads(runs["sarif"].out)
    assert log["version"] == "2.1.0"
    assert len(log["runs"][0]["results"]) == len(document["findings"])
    commands = [line for line in runs["github"].out.splitlines() if line.startswith("::")]
    assert len(commands) == len(document["findings"])
    assert all(re.fullmatch(r"::(error|warning|notice) file=[^:]+,title=PIN\d{3} [^:]+::.+", line) for line in commands)
    assert runs["text"].out.endswith("\n") or (verb, state) == ("adopt", "clean")  # the diff of nothing


# --- exit status ---


def test_several_things_at_once(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst counts: an invalid pins.toml before a git that fails before drift."""
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    assert consumer.run("check").code == 1
    (consumer.path / ".git/HEAD").write_text("no reference\n")
    assert consumer.run("check", "--since", "HEAD").code == 4
    consumer.edit("pins.toml", "schema = 1", "schema = 1\nscheme = 1")
    assert consumer.run("check", "--since", "HEAD").code == 3
    monkeypatch.setattr("pinctl.commands.check.run", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert consumer.run("check").code == 130


def test_an_invalid_pins_toml_is_told_as_findings_in_every_format(consumer: Consumer) -> None:
    consumer.edit("pins.toml", f'commit     = "{OLD}"', 'commit = "a1a1a1a"\nversoin = "1"')
    for verb in ("check", "sync", "status", "adopt"):
        run = consumer.run(*VERBS[verb][:2], "--format", "json")
        assert (run.code, run.document["command"]) == (3, verb)
        assert [(f["code"], f["line"]) for f in run.document["findings"]] == [("PIN105", 5), ("PIN102", 6)]
    text = consumer.run("check", cwd="docker").out
    assert text.startswith("../pins.toml:5:")
    assert "version" in text
    log = json.loads(consumer.run("check", "--format", "sarif").out)
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": False}]


def test_a_git_that_fails_gives_a_document_too(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    run = consumer.run("check", "--since", "HEAD", "--format", "json")
    assert run.code == 4
    assert run.document["result"] == {"error": "git is not installed, or not on PATH", "hint": "install git"}
    assert run.err == "error: git is not installed, or not on PATH\n  hint: install git\n"


def test_a_usage_error_of_a_verb_gives_a_document_too(consumer: Consumer) -> None:
    run = consumer.run("--format=json", "-C", "check", "status")  # `check` is no verb here
    assert (run.code, run.document["command"]) == (2, "status")
    assert run.document["result"]["error"] == "-C check: no such directory"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("chekc",), "No such command 'chekc'"),
        (("check", "--sinse", "HEAD"), "No such option: --sinse"),
        (("check", "extra"), "extra"),
        (("adopt",), "Missing argument 'FILE'"),
        (("check", "--format"), "Option '--format' requires an argument"),
        (("check", "-C"), "Option '-C' requires an argument"),
        (("check", "--since"), "requires an argument"),
        (("check", "--format", "yaml"), "'yaml' is not one of"),
        (("check", "--offline=yes"), "--offline"),
    ],
)
def test_a_command_line_that_makes_no_sense(words: tuple[str, ...], message: str, consumer: Consumer) -> None:
    run = consumer.run(*words)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_usage_names_the_program_and_where_to_read_on(consumer: Consumer) -> None:
    run = consumer.run("check", "--nope")
    assert run.err.startswith("Usage: pinctl check [OPTIONS]\nTry 'pinctl check -h' for help.\n")


def test_what_a_user_typed_cannot_command_the_terminal(consumer: Consumer) -> None:
    """Security rows 44 and 45, where the error is not a finding."""
    run = consumer.run("check", "--since", "\x1b]8;;x\x07\n::error::x")
    assert run.code == 2
    assert "\x1b" not in run.err
    assert not any(line.startswith("::") for line in run.err.splitlines())


# --- global options ---


@pytest.mark.parametrize("words", [("-qv",), ("-q", "-vv"), ("--quiet", "--verbose"), ("-vq",)])
@pytest.mark.parametrize("after", [False, True])
def test_short_flags_on_either_side(words: tuple[str, ...], after: bool, consumer: Consumer) -> None:
    run = consumer.run("check", *words) if after else consumer.run(*words, "check")
    assert (run.code, run.out, run.err) == (0, "", "")


@pytest.mark.parametrize("words", [("-C", "docker"), ("-Cdocker",)])
@pytest.mark.parametrize("after", [False, True])
def test_a_directory_on_either_side(words: tuple[str, ...], after: bool, consumer: Consumer) -> None:
    assert consumer.run(*(("check", *words) if after else (*words, "check"))).out == AGREES


def test_the_version_on_either_side(consumer: Consumer) -> None:
    for words in (("--version",), ("check", "--version")):
        assert (consumer.run(*words).code, consumer.run(*words).out) == (0, f"pinctl {__version__}\n")


def test_behind_two_dashes_nothing_is_an_option(consumer: Consumer) -> None:
    run = consumer.run("adopt", "--", "-C")
    assert run.code == 2
    assert "-C: no site of pins.toml is in that file" in run.err


@given(st.lists(st.sampled_from(["-q", "-v", "-vvq", "--offline", "-Cx", "--format=json"]), max_size=4), st.data())
def test_options_may_stand_anywhere(options: list[str], data: st.DataObject) -> None:
    words = ["check", "--since", "HEAD"]
    for option in options:
        words.insert(data.draw(st.sampled_from([0, 1, len(words)])), option)
    hoisted = hoist(words)
    assert sorted(hoisted[: len(options)]) == sorted(options)
    assert [word for word in hoisted if word not in options] == ["check", "--since", "HEAD"]


def test_quiet_is_one_line_a_finding(consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    run = consumer.run("check", "-q")
    assert (run.code, run.out) == (
        1,
        "requirements.txt:2:11: error PIN201 tl: `requirement tilelang` differs from pins.toml\n",
    )


def test_no_colour_unless_a_terminal_asks_for_it(consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")

    def on_a_terminal(**variables: str) -> bytes:
        main, other = pty.openpty()
        env = environment(TERM="xterm", **variables)
        child = subprocess.Popen(command("check"), cwd=consumer.path, stdout=other, stderr=other, env=env)
        os.close(other)
        shown = b""
        while piece := _read(main):
            shown += piece
        assert child.wait() == 1
        os.close(main)
        return shown

    assert b"\x1b[1;31merror PIN201\x1b[0m" in on_a_terminal()
    assert b"\x1b" not in on_a_terminal(NO_COLOR="1")
    assert "\x1b" not in consumer.run("check").out


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says EIO where the other side is closed
        return b""


# --- help ---


def test_help_shows_the_daily_verbs_first(consumer: Consumer) -> None:
    run = consumer.run("--help")
    assert (run.code, run.err) == (0, "")
    verbs = re.findall(r"^  ([a-z]+)  ", run.out[run.out.index("Every day:") :], re.MULTILINE)
    assert verbs[:2] == ["check", "sync"]
    assert set(VERBS) <= set(verbs)
    assert pinctl("-h", cwd=Path("/")).out == run.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str, consumer: Consumer) -> None:
    run = consumer.run(verb, "--help")
    assert run.code == 0
    assert run.out.startswith(f"Usage: pinctl {verb}")


def test_without_a_verb_there_is_help(consumer: Consumer) -> None:
    run = consumer.run()
    assert run.code in (0, 2)
    assert "Usage: pinctl" in run.out + run.err


# --- pipes, signals, processes ---


def test_as_a_module_and_from_any_directory(consumer: Consumer) -> None:
    done = process("check", cwd=consumer.path / "docker")
    assert (done.returncode, done.stdout, done.stderr) == (0, AGREES, "")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_goes_away_changes_no_exit_status(form: str, consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            command("check", "--format", form), cwd=consumer.path, env=environment(), stdout=write,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_help_for_a_reader_that_goes_away(consumer: Consumer) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command("--help"),
        cwd=consumer.path,
        env=environment(),
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.stderr == ""


def test_narrow_output_encodings(consumer: Consumer) -> None:
    consumer.put(
        "pins.toml", PINS.replace('tilelang"]', 'tilelang"]\nfacts.x = "ü"').replace('{version}"\n', '{facts.x}"\n')
    )
    done = subprocess.run(
        command("check"), cwd=consumer.path, env=environment(PYTHONIOENCODING="ascii"), capture_output=True, check=False
    )
    assert done.returncode == 1
    assert rb"expected  \xfc" in done.stdout


def test_interrupted_before_the_first_byte_is_written(consumer: Consumer) -> None:
    """A recipe that never ends is being rendered when ^C comes: the child ends too, and nothing has changed."""
    consumer.put("pins/loop.j2", "{% for a in 'x' * 99999 %}{% for b in 'x' * 99999 %}{% endfor %}{% endfor %}")
    consumer.put("pins.toml", PINS.replace("[pins.tl]", '[pins.dg.generate]\n"made.txt" = "./pins/loop.j2"\n[pins.tl]'))
    before = consumer.tree()
    child = subprocess.Popen(
        command("sync"), cwd=consumer.path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _until(lambda: _children(child.pid))
    (renderer,) = _children(child.pid)
    _until(lambda: _seconds_of_work(renderer) > 0.4)  # Python and Jinja2 have started by then
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (130, "")
    assert err.strip() == "interrupted; nothing is half written"
    assert not Path(f"/proc/{renderer}").exists()
    assert consumer.tree() == before


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        pytest.skip("this system does not list a process's children")


def _seconds_of_work(pid: int) -> float:
    """The processor time that a process has taken (proc(5), "stat": utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("after", range(4))
def test_interrupted_between_any_two_files(after: int, consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    consumer.edit("pins.toml", OLD, NEW)
    before, real, calls = consumer.tree(), targets.swap, iter(range(9))

    def swap(*arguments: object) -> None:
        if next(calls) == after:
            raise KeyboardInterrupt
        real(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(targets, "swap", swap)
        run = consumer.run("sync")
    if after == 3:  # all three files were written before it could strike
        assert run.code == 0
        return
    assert (run.code, run.out, run.err.strip()) == (130, "", "interrupted; nothing is half written")
    assert consumer.tree() == before
    assert consumer.run("sync").code == 0
    assert consumer.run("check").out == AGREES


def test_a_bug_keeps_its_traceback(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository("engine")
    repository.commit(files=dict(FILES))
    monkeypatch.setattr("pinctl.commands.check.run", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Consumer(repository).run("check")


@pytest.mark.parametrize(
    "words", [("check",), ("check", "--format", "json"), ("explain",), ("--help",), ("--version",)]
)
def test_an_output_that_is_full_is_told_in_one_line(words: tuple[str, ...], consumer: Consumer) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(*words), cwd=consumer.path, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (4, "error: standard output cannot be written: No space left on device\n")


@pytest.mark.parametrize("pins", [PINS, "no TOML"])
def test_an_output_that_is_closed_is_told_in_one_line(pins: str, consumer: Consumer) -> None:
    consumer.put("pins.toml", pins)
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *command("check")], cwd=consumer.path, env=environment(),
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (4, "error: standard output cannot be written: it is closed\n")


def test_an_error_output_that_is_closed_changes_no_exit_status(consumer: Consumer) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" 2>&-', "sh", *command("check", "--policy", "none")], cwd=consumer.path,
        env=environment(), stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(("room", "verb"), [(room, verb) for room, verbs in _ROOMS.items() for verb in verbs])
def test_a_verb_is_where_it_is_looked_for(room: str, verb: str) -> None:
    code = f"from pinctl.cli import app, furnish; furnish({verb!r}); import sys; from typer.main import get_command;"
    code += "print(*get_command(app).commands); print(*(n for n in sys.modules if n.startswith('pinctl.cli.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    verbs, modules = (line.split() for line in done.stdout.splitlines())
    assert sorted(verbs) == sorted(_ROOMS[room])
    assert modules == ["pinctl.cli.app", f"pinctl.cli.{room}"]


def test_no_verb_is_left_out() -> None:
    code = "from pinctl.cli import app, furnish; furnish(''); from typer.main import get_command;"
    code += "print(*get_command(app).commands)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == sorted(verb for verbs in _ROOMS.values() for verb in verbs)
