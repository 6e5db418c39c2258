"""Filters of recipes: the language's own tool reads back the value that was written."""

import ast
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl import quoting
from pinctl.quoting import RecipeError

HOSTILE = [
    "",
    " ",
    "plain",
    "a b",
    "a;b",
    "$ENV{HOME}",
    "${X}",
    "@X@",
    '"',
    "\\",
    "a\\;b",
    "]",
    "]]",
    "]=]",
    "x]==]",
    "[[",
    "a]=",
    '")execute_process(COMMAND touch canary)',
    "$(touch canary)",
    "`touch canary`",
    "'",
    "'; touch canary; '",
    "!x",
    "~",
    "*",
    "EOF",
    "a[$(touch canary)]",
    "#[[",
    "#",
    "-x",
    "ünï→\U0001f600",
    "\\n",
    "%s",
    "{{ 1 }}",
    "$<1:x>",
]
VALUES = (
    st.sampled_from(HOSTILE)
    | st.text(st.sampled_from("]=[\"'\\$;{}()@`#ab -"), max_size=12)
    | st.text(st.characters(min_codepoint=32, exclude_categories=["Cc", "Cs"]), max_size=12)
)
BATCHES = st.lists(VALUES, min_size=20, max_size=60).map(lambda batch: [*HOSTILE, *batch])


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cmake"), reason="needs CMake")
@settings(max_examples=5)
@given(BATCHES)
def test_cmake_reads_what_was_written(tmp_path_factory: pytest.TempPathFactory, batch: list[str]) -> None:
    folder = tmp_path_factory.mktemp("cmake")
    lines = [f'set(X {quoting.cmake(value)})\nstring(HEX "${{X}}" H)\nmessage(STATUS "${{H}}")\n' for value in batch]
    (folder / "x.cmake").write_text("cmake_policy(VERSION 3.18)\n" + "".join(lines), encoding="utf-8")
    seen = subprocess.run(["cmake", "-P", "x.cmake"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert [bytes.fromhex(line.removeprefix("--")).decode() for line in seen.splitlines()] == batch
    assert not (folder / "canary").exists()


@settings(max_examples=10)
@given(BATCHES)
def test_bash_reads_what_was_written(tmp_path_factory: pytest.TempPathFactory, batch: list[str]) -> None:
    folder = tmp_path_factory.mktemp("bash")
    script = "".join(f"X={quoting.bash(value)}\nprintf '%s\\0' \"$X\" {quoting.bash(value)}\n" for value in batch)
    seen = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, check=True).stdout.decode()
    assert seen.split("\0")[:-1] == [value for value in batch for _ in range(2)]
    assert not (folder / "canary").exists()


@given(VALUES)
def test_python_reads_what_was_written(value: str) -> None:
    literal = quoting.python(value)
    assert ast.literal_eval(literal) == value
    assert literal.isascii()
    assert literal.startswith('"') or "'" in value or '"' in value


@given(VALUES)
def test_docker_expands_and_unescapes_nothing(value: str) -> None:
    """In double quotes Docker's lexer acts on these four alone (moby/buildkit, frontend/dockerfile/shell)."""
    if set(value) & set('"\\`$'):
        with pytest.raises(RecipeError, match="cannot stand in a Dockerfile"):
            quoting.docker(value)
    else:
        assert quoting.docker(value) == f'"{value}"'


@given(VALUES)
def test_a_cmake_item_survives_lists_or_is_refused(value: str) -> None:
    try:
        assert quoting.cmake_item(value) == f'"{value}"'
    except RecipeError:
        assert set(value) & set('\\"$@;<>[]')


def test_names_and_brackets() -> None:
    assert quoting.identifier("flash-mla.2") == "flash_mla_2"
    assert quoting.identifier("2x") == "_2x"
    assert quoting.identifier("") == "_"
    assert quoting.cmake("a]") == '"a]"'
    assert quoting.cmake("$]") == "[=[$]]=]"
    assert quoting.cmake("$]=]") == "[==[$]=]]==]"
    assert quoting.cmake_item("*.[ch]") == '"*.[ch]"'
    assert quoting.python(12.8) == '"12.8"'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("commit", "main"), ("commit", "ad1f172"), ("commit", "A" * 40), ("commit", "a" * 40 + "\n"), ("commit", None),
        ("digest", "0" * 63), ("number", "0"), ("number", "a[$(x)]"), ("number", True), ("number", -1),
        ("package", "-oDpkg::Pre-Invoke::=c"), ("package", "libc6-"), ("package", "a b"), ("package", "a;b"),
        ("inside", "-fplugin=x.so"), ("inside", "/usr"), ("inside", "a/../.."), ("package", ""), ("docker_arg", "a b"),
        ("docker_arg", "HF_TOKEN"), ("docker_arg", "GITHUB_API_KEY"), ("docker_arg", "db_password"), ("bash", {}),
        ("docker", "https://user:secret@host/x"), ("docker", ["a"]), ("bash", None), ("bash", True), ("fail", "x"),
        ("python_name", "class"), ("python_name", "a.b"), ("python_name", "1"), ("cmake_name", "a b"), ("need", None),
        ("cmake_name", "${X}"),
    ],
)  # fmt: skip
def test_what_is_refused(name: str, value: object) -> None:
    with pytest.raises(RecipeError):
        quoting.FILTERS[name](value, *(["a fact"] if name == "need" else []))


def test_a_refused_credential_is_not_repeated() -> None:
    with pytest.raises(RecipeError) as caught:
        quoting.docker("https://user:hunter2@host/x")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("value", ["g++", "libdw-dev", "elfutils-devel", "libstdc++-13-dev", "cuda-nvcc-12-9"])
def test_packages_as_they_are_called(value: str) -> None:
    assert quoting.package(value) == value


NEEDS: list[dict[str, Any]] = [
    {"system_packages": [
        {"name": "libdw", "managers": {"dnf": "elfutils-devel", "apt": "libdw-dev"}, "when": "build"},
        {"name": "ib", "managers": {"dnf": "rdma-core", "apt": "rdma-core"}, "when": "both"},
    ]},
    {"system_packages": [
        {"name": "again", "managers": {"dnf": "rdma-core", "apt": "rdma-core"}, "when": "run"},
        {"name": "numa", "managers": {"dnf": "numactl-libs"}, "when": "run"},
    ]},
]  # fmt: skip


def test_packages_of_several_pins() -> None:
    assert quoting.packages(NEEDS, "dnf", "build") == ["elfutils-devel", "rdma-core"]
    assert quoting.packages(NEEDS, "dnf", "run") == ["numactl-libs", "rdma-core"]
    assert quoting.packages(NEEDS, "dnf", "all") == ["elfutils-devel", "numactl-libs", "rdma-core"]
    assert quoting.packages(NEEDS, "apt", "build") == ["libdw-dev", "rdma-core"]
    with pytest.raises(RecipeError, match="`numa` has no name under apt"):
        quoting.packages(NEEDS, "apt", "run")
    with pytest.raises(RecipeError, match="`when` is"):
        quoting.packages(NEEDS, "apt", "always")


def test_options() -> None:
    assert quoting.with_defaults({"a": 2}, a=1, b="x") == {"a": 2, "b": "x"}
    with pytest.raises(RecipeError, match="no option `forn`; did you mean `form`"):
        quoting.with_defaults({"forn": "url"}, form="git")
    with pytest.raises(RecipeError, match="option `a` is a bool, not 'yes'"):
        quoting.with_defaults({"a": "yes"}, a=False)
    with pytest.raises(RecipeError, match="option `n` is a int"):
        quoting.with_defaults({"n": True}, n=1)
