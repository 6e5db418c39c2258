import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.wheel.log import failure, package, remedy, step

COMPILE = "#12 [build 6/7] RUN sh /pinctl/steps/compile abc 1"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (COMPILE, "compiles"),
        ("#7 [packages-apt 3/3] RUN --mount=type=x     sh /pinctl/steps/packages apt /p", "installs system packages"),
        ("#5 [internal] load build definition from wheel.Dockerfile", None),
        ("#10 [build 2/7] WORKDIR /build", None),
        ("#12 3.218 RUN sh /pinctl/steps/compile", None),
        ("", None),
    ],
)  # fmt: skip
def test_what_the_build_does_now(line: str, what: str | None) -> None:
    assert step(line) == what


def log(*said: str, failed: str = "exit code: 1") -> list[str]:
    """A log in which the compile step said so much and failed; another step speaks meanwhile."""
    lines = [
        "#1 [internal] load build definition",
        COMPILE,
        "#9 [packages-apt 3/3] RUN sh /pinctl/steps/packages apt f",
    ]
    for n, line in enumerate(said):
        lines += [f"#12 {n}.123 {line}", f"#9 {n}.5 Unpacking x{n} ..."]
    return [*lines, f"#12 ERROR: executor failed running [...]: {failed}", "------", " > [build 6/7] RUN x:", "------"]


def test_the_tail_is_of_the_step_that_failed() -> None:
    found = failure(log("gcc -c a.cpp", "a.cpp:1:1: error: no"))
    assert (found.what, found.tail, found.killed, found.header) == (
        "compiles", ("gcc -c a.cpp", "a.cpp:1:1: error: no"), False, None)  # fmt: skip


def test_an_error_that_scrolled_away_is_told_first() -> None:
    found = failure(log("a.cpp:1:1: error: no", *(f"line {n}" for n in range(50))))
    assert found.tail[:2] == ("a.cpp:1:1: error: no", "...")
    assert found.tail[-1] == "line 49"
    assert len(found.tail) == 22


def test_what_pip_repeats_is_left_out() -> None:
    found = failure(
        log("a.cpp:1:1: error: no", "  error: subprocess-exited-with-error", "x Building wheel", "full command: y")
    )
    assert found.tail == ("a.cpp:1:1: error: no",)


@pytest.mark.parametrize(
    "said",
    [
        "g++: fatal error: Killed signal terminated program cc1plus",
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        "cc1plus: out of memory allocating 65536 bytes after a total of 1 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        "exit code: -9",
    ],
)
def test_memory_that_ran_out_is_known(said: str) -> None:
    assert failure(log(said)).killed


def test_a_step_that_was_killed_itself() -> None:
    assert failure(log("x", failed="exit code: 137")).killed
    assert not failure(log("x", failed="exit code: 1")).killed


@pytest.mark.parametrize(
    ("said", "header"),
    [
        ("csrc/k.cpp:3:10: fatal error: elfutils/libdwfl.h: No such file or directory", "elfutils/libdwfl.h"),
        ("k.cpp:3:10: fatal error: 'numa.h' file not found", "numa.h"),
        ("k.cpp:3:10: fatal error: too many errors emitted", None),
    ],
)
def test_the_header_that_was_not_found(said: str, header: str | None) -> None:
    assert failure(log(said)).header == header


def test_a_log_without_a_step_is_told_by_its_end() -> None:
    found = failure(["", "ERROR: failed to solve: pytorch/x: not found"])
    assert (found.what, found.tail) == ("starts", ("ERROR: failed to solve: pytorch/x: not found",))
    assert failure([]).tail == ()


@pytest.mark.parametrize(
    ("manager", "first", "name"),
    [
        ("dnf", "dnf", "elfutils-devel"),
        ("microdnf", "dnf", "elfutils-devel"),
        ("apt", "apt", "libdw-dev"),
        ("apk", "apk", "elfutils-dev"),
    ],
)
def test_the_package_that_brings_a_header(manager: str, first: str, name: str) -> None:
    assert package("elfutils/libdwfl.h", manager) == name
    line = remedy("elfutils/libdwfl.h", manager)
    assert line is not None
    assert line.startswith(f'system_packages.libdw = {{ {first} = "{name}", ')
    assert line.endswith('header = "elfutils/libdwfl.h", when = "build" }')
    assert remedy("nobody/knows.h", manager) is None
    assert package("nobody/knows.h", manager) is None


@given(st.lists(st.text()))
def test_no_log_crashes_it(lines: list[str]) -> None:
    failure(lines)
    for line in lines:
        step(line)
