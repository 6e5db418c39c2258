"""The rows of the threat model that concern check, sync, adopt and status, end to end: hostile files go in by the
command line, and what comes out is looked at. Rows that one module answers alone are tested with that module."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from consumer import AGREES, NEW, OLD, PINS, SHELL, Consumer, command, environment, process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORMATS = ("text", "json", "github", "sarif", "markdown")
SCRIPT = "tools/install dg.sh"


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file outside of the checkout that must stay as it is."""
    path = tmp_path / "canary"
    path.write_text("alive")
    yield path
    assert path.read_text() == "alive"
    assert sorted(p.name for p in tmp_path.iterdir() if p.name not in ("my engine", "canary", "bin")) == []


def invalid(consumer: Consumer, pins: str) -> list[str]:
    """The codes that `pins` is refused with, by each verb, with nothing written."""
    consumer.put("pins.toml", pins)
    before = consumer.tree()
    codes: set[tuple[str, ...]] = set()
    for verb in (["check", "--unguarded"], ["status", "--offline"], ["sync", "--force"], ["adopt", SCRIPT]):
        run = consumer.run(*verb, "--format", "json")
        assert (run.code, run.err) == (3, "")
        codes.add(tuple(run.codes))
    assert consumer.tree() == before
    (only,) = codes
    return list(only)


# --- pins.toml ---


@pytest.mark.parametrize(
    "commit", ["--output=/tmp/x", f"{OLD}\\n", f"{OLD}\\u0000", OLD.upper(), f" {OLD}", "HEAD", OLD[:39]]
)
def test_row_3_a_commit_is_a_full_id_and_nothing_else(commit: str, consumer: Consumer, canary: Path) -> None:
    codes = invalid(consumer, PINS.replace(OLD, commit, 1))
    assert codes
    assert set(codes) <= {"PIN103", "PIN105", "PIN106"}


@pytest.mark.parametrize("url", ["https://h.example/$TOKEN", "https://h.example/${HOME}.git", "$HOME/x"])
def test_row_8_a_url_expands_nothing(url: str, consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "SENTINEL")
    assert invalid(consumer, PINS.replace("https://github.com/o/DeepGEMM.git", url, 1)) == ["PIN107"]
    for form in FORMATS:
        assert "SENTINEL" not in consumer.run("check", "--format", form).out


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../canary",
        "a/../../canary",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "git~1/config",
        "~/x",
        "-x",
        "a\\\\b",
    ],
)
def test_row_29_a_site_stays_below_the_root_and_out_of_git(path: str, consumer: Consumer, canary: Path) -> None:
    assert invalid(consumer, PINS.replace("docker/Dockerfile", path)) == ["PIN108"]
    generate = f'generate."{path}" = "./x.j2"\n'
    assert invalid(consumer, PINS + generate) == ["PIN108"]


@pytest.mark.parametrize("path", ["./../canary", "./a/../../canary", "./.git/config", "./link"])
def test_row_29_so_does_a_recipe(path: str, consumer: Consumer, canary: Path) -> None:
    (consumer.path / "link").symlink_to(canary)
    consumer.put("pins.toml", PINS + f'generate."made" = "{path}"\n')
    before = consumer.tree()
    run = consumer.run("sync", "--force", "--format", "json")
    assert (run.code, run.codes) in ((3, ["PIN108"]), (1, ["PIN226"]))
    assert "alive" not in run.out
    assert consumer.tree() == before


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 10_000,
        f"x = {'9' * 5000}",
        f"x = 0x{'f' * 100_000}",
        "schema = 1\nschema = 1",
        "x." * 10_000 + "y = 1",
        "[a]\n" * 2,
        "x = '\ud800'".encode("utf-8", "surrogatepass").decode("latin-1"),
        'x = "\\uD800"',
        "x" * (256 * 1024 + 1),
        "[[a.b]]\n[a]\n[a.b.c]",  # row 35: tomllib and tomlkit disagree
        "[pins.x]\nfacts.a = [[[[[[[[[1]]]]]]]]]",
        "\0",
    ],
)
def test_rows_34_and_35_pins_toml_is_read_within_bounds(text: str, consumer: Consumer) -> None:
    begin = time.monotonic()
    assert invalid(consumer, f"{text}\n{PINS}")
    assert time.monotonic() - begin < 10


def test_row_33_a_pattern_takes_linear_time(consumer: Consumer) -> None:
    consumer.put("a.txt", "a" * 1_000_000 + "!\n" + f"ref={OLD}\n")
    for pattern in ("(a+)+$(?P<value>x)", ".*.*.*.*=(?P<value>[0-9a-f]+)", "(?:a|a)*b(?P<value>.)"):
        consumer.put(
            "pins.toml",
            PINS.replace("[pins.tl]", f'[pins.dg.sites."a.txt"]\n"regex:{pattern}" = "{{commit}}"\n[pins.tl]'),
        )
        begin = time.monotonic()
        assert consumer.run("check").code in (0, 1)
        assert time.monotonic() - begin < 10


def test_a_pattern_that_re2_refuses(consumer: Consumer) -> None:
    consumer.put("pins.toml", PINS.replace("DG_REF =", "'regex:(?<=x)(?P<value>.)' ="))
    assert consumer.check().codes == ["PIN118"]


# --- site files ---


@pytest.fixture
def bump(consumer: Consumer) -> Callable[[], None]:
    def bumped() -> None:
        consumer.edit("pins.toml", OLD, NEW)

    return bumped


def refuses(consumer: Consumer) -> str:
    """What `sync --force` says when it refuses; nothing is written."""
    before = consumer.tree()
    run = consumer.run("sync", "--force")
    assert run.code == 1
    assert consumer.tree() == before
    return run.out + run.err


def test_row_28_a_link_within_is_read_and_never_written(consumer: Consumer, bump: Callable[[], None]) -> None:
    (consumer.path / SCRIPT).rename(consumer.path / "real.sh")
    (consumer.path / SCRIPT).symlink_to("../real.sh")
    assert consumer.run("check").out == AGREES
    bump()
    assert f"{SCRIPT} is a symbolic link" in refuses(consumer)
    assert (consumer.path / SCRIPT).is_symlink()


@pytest.mark.parametrize("target", ["{canary}", "../../../../canary", "../../canary"])
def test_row_28_a_link_that_leaves_the_root_is_not_even_read(
    target: str, consumer: Consumer, canary: Path, bump: Callable[[], None]
) -> None:
    (consumer.path / SCRIPT).unlink()
    (consumer.path / SCRIPT).symlink_to(target.format(canary=canary))
    assert consumer.check().codes == ["PIN206"]
    bump()
    refuses(consumer)


def test_row_28_a_folder_that_is_a_link(consumer: Consumer, tmp_path: Path, bump: Callable[[], None]) -> None:
    outside = tmp_path / "outside"
    (consumer.path / "tools").rename(outside)
    (consumer.path / "tools").symlink_to(outside)
    assert consumer.check().codes == ["PIN206"]
    bump()
    refuses(consumer)
    assert (outside / "install dg.sh").read_text() == SHELL


def test_row_28_a_file_with_a_second_name(consumer: Consumer, tmp_path: Path, bump: Callable[[], None]) -> None:
    os.link(consumer.path / SCRIPT, tmp_path / "other name")
    assert consumer.run("check").out == AGREES
    bump()
    assert "has several hard links" in refuses(consumer)
    assert (tmp_path / "other name").read_text() == SHELL


def test_a_file_that_is_read_only(consumer: Consumer, bump: Callable[[], None]) -> None:
    (consumer.path / SCRIPT).chmod(0o444)
    bump()
    assert "is read-only" in refuses(consumer)


@pytest.mark.parametrize("kind", ["FIFO", "/dev/zero", "/proc/self/environ", "a directory", "a socket"])
def test_row_30_only_regular_files_are_read(kind: str, consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_OF_TEST", "SENTINEL")
    path = consumer.path / SCRIPT
    path.unlink()
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind.startswith("/"):
        path.symlink_to(kind)
    elif kind == "a directory":
        path.mkdir()
    else:
        bind = f"import socket; socket.socket(socket.AF_UNIX).bind({path.name!r})"
        subprocess.run([sys.executable, "-c", bind], cwd=path.parent, check=True)
    begin = time.monotonic()
    for verb in (["check", "--unguarded"], ["sync"], ["status", "--offline"], ["adopt", SCRIPT]):
        run = consumer.run(*verb, "--format", "json")
        assert "SENTINEL" not in run.out
        assert run.code == (0 if "status" in verb else 1)
    assert time.monotonic() - begin < 5


def test_a_large_file_is_not_read(consumer: Consumer) -> None:
    with open(consumer.path / SCRIPT, "wb") as file:
        file.truncate(1 << 40)
    assert consumer.check().codes == ["PIN206"]


def test_row_31_a_link_that_appears_after_the_file_was_read(
    consumer: Consumer, canary: Path, bump: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pinctl.external import targets

    real = targets.stage

    def swapped(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        path = consumer.path / SCRIPT
        if not path.is_symlink():
            path.unlink()
            path.symlink_to(canary)

    monkeypatch.setattr(targets, "stage", swapped)
    bump()
    run = consumer.run("sync")
    assert run.code in (1, 4)
    assert (consumer.path / "cmake/dg.cmake").read_text().count(OLD) == 1


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r"])
def test_row_32_only_a_line_feed_ends_a_line(odd: str, consumer: Consumer) -> None:
    text = SHELL.replace("set -e\n", f"# a{odd}b\nset -e\n")
    consumer.put(SCRIPT, text)
    consumer.commit()
    consumer.edit("pins.toml", OLD, NEW)
    (found,) = (f for f in consumer.check().document["findings"] if f["file"] == SCRIPT)
    assert found["line"] == 4
    assert consumer.run("sync").code == 0
    assert consumer.text(SCRIPT) == text.replace(OLD, NEW)


# --- hostile values, written into every language ---

EVIL = (
    "$(touch canary)", "`touch canary`", "'; touch canary; '", '"; touch canary; "', "\\'; touch canary #", "EOF",
    ")execute_process(COMMAND touch canary)", '")execute_process(COMMAND touch canary)#', "]==]", "]]", "$ENV{HOME}",
    "${HOME}", "@HOME@", "a;b", "a\\", "\\n", "#x", "# syntax=evil", "no", "0123456", "0x1F", "1e3", "null", "~",
    "- x", "a: b", "&x", "*x", "!!python/object:os.system", "%{ if true }", '{{"x"}}', "é\u00a0", "--flag", " lead",
    "' + __import__('os').system('touch canary') + '", "[[ a[$(touch canary)] -eq 0 ]]", "<<EOF", "trail ",
)  # fmt: skip
LANGUAGES = {
    "x.cmake": ('set(X "old")\n', "set(X)"),
    "x.sh": ("X='old'\n", "X"),
    "Dockerfile": ('FROM a\nARG X="old"\n', "ARG X"),
    "x.py": ('X = "old"\n', "X"),
    "x.bzl": ('X = "old"\n', "X"),
    "x.json": ('{"X": "old", "Y": 1}\n', "/X"),
    "x.yaml": ("X: old\nY: 1\n", "X"),
    "x.toml": ('X = "old"\nY = 1\n', "X"),
    "x.hcl": ('variable "X" {\n  default = "old"\n}\n', "variable.X.default"),
    "x.env": ("X=old\n", "X"),
}


def _cmake(path: Path) -> str:
    (path / "show.cmake").write_text('include(x.cmake)\nfile(WRITE shown "${X}")\n')
    subprocess.run(["cmake", "-P", "show.cmake"], cwd=path, check=True, capture_output=True, env=_tools())
    return (path / "shown").read_text()


def _shell(path: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", '. ./x.sh; printf %s "$X"'], cwd=path, check=True, capture_output=True, env=_tools()
    )
    return done.stdout.decode()


def _tools() -> dict[str, str]:
    return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/EXPANDED", "LC_ALL": "C.UTF-8"}


def _python(path: Path, name: str = "x.py") -> str:
    (assignment,) = ast.parse((path / name).read_text()).body
    assert isinstance(assignment, ast.Assign)
    return str(ast.literal_eval(assignment.value))


READERS = {
    "x.cmake": _cmake,
    "x.sh": _shell,
    "x.py": _python,
    "x.bzl": lambda path: _python(path, "x.bzl"),  # Starlark is a part of Python
    "x.json": lambda path: json.loads((path / "x.json").read_text())["X"],
    "x.yaml": lambda path: yaml.safe_load((path / "x.yaml").read_text())["X"],
    "x.toml": lambda path: tomllib.loads((path / "x.toml").read_text())["X"],
}


def written(value: str, consumer: Consumer) -> dict[str, str | None]:
    """What each language's own tool reads after `sync`; None where `sync` refused to write the value there.

    In languages that have no tool here, `check` reads it. Nothing else of any file may have changed.
    """
    key = json.dumps(value, ensure_ascii=False)
    pin = f'[pins.e]\nrepo = "https://h.example/e"\ncommit = "{OLD}"\nfacts.x = {key}\n'
    found: dict[str, str | None] = {}
    for name, (text, selector) in LANGUAGES.items():
        consumer.put(name, text)
        consumer.put("pins.toml", f'schema = 1\n{pin}[pins.e.sites."{name}"]\n\'{selector}\' = "{{facts.x}}"\n')
        run = consumer.run("sync", "--force", "--format", "json")
        if run.code == 1:
            assert set(run.codes) == {"PIN218"}
            assert consumer.text(name) == text
            found[name] = None
            continue
        assert (run.code, consumer.run("check").code) == (0, 0)
        assert consumer.text(name).count("\n") == text.count("\n")
        found[name] = READERS[name](consumer.path) if name in READERS else value
    return found


@pytest.mark.parametrize("value", EVIL)
def test_rows_36_to_41_a_value_stays_a_value(value: str, consumer: Consumer) -> None:
    found = written(value, consumer)
    assert {name: read for name, read in found.items() if read not in (None, value)} == {}
    assert found["x.json"] == found["x.py"] == value  # these can hold any text
    assert not list(consumer.path.rglob("canary"))


@pytest.mark.parametrize("escape", ["\\n", "\\r", "\\u0000", "\\u001b", "\\u007f"])
def test_rows_36_to_41_no_value_has_a_control_character(escape: str, consumer: Consumer) -> None:
    codes = invalid(consumer, PINS.replace("submodules =", f'facts.x = "a{escape}b"\nsubmodules =', 1))
    assert codes == ["PIN103"]


# --- output ---

OUTPUT = (
    "::error::x", "  ::add-mask::x", "##[error]x", "##vso[task.setvariable]x", "\x1b]8;;https://evil.example\x07click",
    "\x1b]52;c;ZXZpbA==\x07", "\x9b31m", "\u202egnp.exe", "[link=https://evil.example]x", "[/x]", "![](https://evil.example/b.png)",
    "| a | b |", "@team", "<script>alert(1)</script>", "```", "%0A::error::x", "{0}", "a\rb",
)  # fmt: skip


@pytest.mark.parametrize("value", OUTPUT)
def test_rows_42_to_45_what_a_site_holds_commands_nobody(value: str, consumer: Consumer) -> None:
    consumer.put("x.txt", f"ref {value}\nother\n")
    consumer.put(
        "pins.toml",
        PINS.replace("[pins.tl]", "[pins.dg.sites.'x.txt']\n'regex:ref (?P<value>[^\\n]+)' = '{commit}'\n[pins.tl]"),
    )
    runs = {form: consumer.run("check", "--format", form) for form in FORMATS}
    assert {run.code for run in runs.values()} == {1}
    assert runs["json"].document["findings"][0]["found"] == value
    for form, run in runs.items():
        assert not any(ord(c) < 32 and c != "\n" for c in run.out), form
        assert not {"\x9b", "\u202e", "\x7f"} & set(run.out)
        lines = [line for line in run.out.split("\n") if line.lstrip().startswith(("::", "##["))]
        assert len(lines) == (1 if form == "github" else 0)
        assert "##vso[" not in run.out or form in ("json", "sarif")
    page = runs["markdown"].out
    assert "<script" not in page
    assert "![](" not in page
    assert "@team" not in page


@pytest.mark.parametrize(
    "words", [("sync", "--check"), ("sync", "--check", "--format", "github"), ("adopt", SCRIPT, "--check")]
)
def test_row_44_nor_do_the_lines_around_a_change(words: tuple[str, ...], consumer: Consumer) -> None:
    consumer.put(SCRIPT, f"::add-mask::e\nDG_REF={NEW if words[0] == 'adopt' else OLD}\n ::stop-commands::x\x1b[2J\n")
    consumer.put("cmake/dg.cmake", consumer.text("cmake/dg.cmake").replace("include(", "::error::x\ninclude("))
    consumer.commit()
    if words[0] == "sync":
        consumer.edit("pins.toml", OLD, NEW)
    run = consumer.run(*words)
    assert run.code == 1
    assert "add-mask" in run.out or words[0] == "adopt"
    assert "\x1b" not in run.out
    assert not [line for line in run.out.split("\n") if line.lstrip(" \t").startswith("::")]


def test_row_46_odd_names_of_files_in_sarif(consumer: Consumer) -> None:
    names = ("a b#c?d.sh", "javascript:alert(1)", "%41", "é.sh")
    sites = "".join(f'[pins.dg.sites."{name}"]\n"regex:(?P<value>[0-9a-f]+)" = "{{commit}}"\n' for name in names)
    consumer.put("pins.toml", PINS.replace("[pins.tl]", sites + "[pins.tl]"))
    for name in names:
        consumer.put(name, "abcdef01\n")
    log = json.loads(consumer.run("check", "--format", "sarif").out)
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in log["runs"][0]["results"]]
    assert {place["uriBaseId"] for place in places} == {"%SRCROOT%"}
    assert sorted(place["uri"] for place in places) == sorted(
        ["a%20b%23c%3Fd.sh", "javascript%3Aalert%281%29", "%2541", "%C3%A9.sh"]
    )


# --- modules that a checkout brings along ---


def test_row_58_modules_of_the_checkout_are_not_imported(consumer: Consumer) -> None:
    """By the installed script, whose folder is the first that Python looks into, and by the child of a recipe."""
    for name in ("tomllib", "typer", "pinctl", "re2", "sitecustomize", "json", "jinja2"):
        consumer.put(f"{name}.py", "open('canary', 'w')\n")
    consumer.put("x.j2", "{{ pin.version }}\n")
    consumer.put("pins.toml", PINS + 'generate."made.txt" = "./x.j2"\n')
    script = consumer.path.parent / "bin" / "pinctl"
    script.parent.mkdir()
    script.write_text("from pinctl.__main__ import run\nrun()\n")
    done = subprocess.run(
        [sys.executable, script, "sync"],
        cwd=consumer.path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "changed 1 file: made.txt\n")
    assert not (consumer.path / "canary").exists()


def test_row_58_python_m_passes_over_the_working_directory(consumer: Consumer) -> None:
    consumer.put("tomllib.py", "open('canary', 'w')\n")
    done = process("check", cwd=consumer.path)
    assert (done.returncode, done.stdout) == (0, AGREES)
    assert not (consumer.path / "canary").exists()
    assert command("check")[1:3] == ["-m", "pinctl"]


def test_git_is_found_on_no_relative_path(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    consumer.put("git", "#!/bin/sh\ntouch canary\n")
    (consumer.path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    consumer.edit(SCRIPT, OLD, NEW)
    assert "the site changed last" in consumer.run("check", "--since", "HEAD").out
    assert not (consumer.path / "canary").exists()


def test_the_repositorys_own_configuration_runs_nothing(consumer: Consumer) -> None:
    """Rows 17 and 18, for the reads that check and sync make."""
    run = "sh -c 'touch canary'"
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.hooksPath",
        "diff.external",
        "filter.x.clean",
        "filter.x.smudge",
        "alias.log",
    ):
        consumer.repository.git("config", key, run if "alias" not in key else f"!{run}")
    consumer.put(".gitattributes", "* filter=x diff=x\n")
    consumer.repository.git("config", "diff.x.textconv", run)
    consumer.edit(SCRIPT, OLD, NEW)
    for words in (["check", "--since", "HEAD", "--unguarded"], ["sync"], ["adopt", SCRIPT], ["status", "--offline"]):
        assert consumer.run(*words).code in (0, 1)
    assert not (consumer.path / "canary").exists()
