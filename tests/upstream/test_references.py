from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.model import Pin, Site
from pinctl.upstream.references import concerns, read

PIN = Pin("deep-gemm", sites=(
    Site("cmake/dg.cmake", "FetchContent(deepgemm)", "{git}"),
    Site("tools/build.py", "includes[src / *]", "{include_dirs}"),
))  # fmt: skip


def paths(file: str, source: str) -> list[tuple[str, bool | None]]:
    return [(reference.path, reference.glob) for reference in read(PIN, {file: source.encode()})]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("include_directories(${deepgemm_SOURCE_DIR}/csrc)", [("csrc", None)]),
        ('add_library(x "${deepgemm_SOURCE_DIR}/a b.cpp")', [("a", None)]),
        ("include_directories(${deep_gemm_SOURCE_DIR}/csrc/ ${other_SOURCE_DIR}/x)", [("csrc", None)]),
        ('file(GLOB_RECURSE h "${deepgemm_SOURCE_DIR}/csrc/*.h")', [("csrc/*.h", True)]),
        ('file(GLOB h "${deepgemm_SOURCE_DIR}/csrc/*.h")', [("csrc/*.h", False)]),
        ("set(x $<BUILD_INTERFACE:${deepgemm_SOURCE_DIR}/include>)", [("include", None)]),
        ("set(x ${deepgemm_SOURCE_DIR}/include/${NAME}.h)", [("include", None)]),
        ("set(x ${deepgemm_SOURCE_DIR}/${NAME})", []),
        ('set(x "${deepgemm_SOURCE_DIR}/a;${deepgemm_SOURCE_DIR}/b")', [("a", None), ("b", None)]),
        ('install(CODE "x(\\"${deepgemm_SOURCE_DIR}/a\\")")', [("a", None)]),
        ("# ${deepgemm_SOURCE_DIR}/no", []),
        ('message(STATUS "at ${deepgemm_SOURCE_DIR}/no")', []),
        ("file(WRITE ${deepgemm_SOURCE_DIR}/made.h x)", []),
        ("set(x ${deepgemm_SOURCE_DIR})", []),
        ("set(x ${deepgemm_SOURCE_DIR}/../no)", []),
        ("set(x ${deepgemm_SOURCE_DIR}/a)\nset(y ${deepgemm_SOURCE_DIR}/a)", [("a", None)]),
    ],
)
def test_cmake(source: str, found: list[tuple[str, bool | None]]) -> None:
    assert paths("CMakeLists.txt", f"{source}\n") == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('x = [str(src / "csrc"), str(src / "a/b")]', ["csrc", "a/b"]),
        ('x = src / "a" / "b"', ["a/b"]),
        ('x = src / name / "b"', []),
        ('x = src / "a" / name', ["a"]),
        ('x = out / "a"', []),
        ('x = deepgemm_src / "a"', ["a"]),
        ('x = f"{src}/csrc/a.cpp"', ["csrc/a.cpp"]),
        ('x = f"{out}/csrc"', []),
        ('x = src / "../a"', []),
        ('# src / "a"', []),
        ("x = (", []),
        ("x = " + "(" * 3000, []),
        ("x = " + "1+" * 3000 + "1", []),
    ],
)
def test_python(source: str, found: list[str]) -> None:
    assert [path for path, _ in paths("tools/build.py", f"{source}\n")] == [*found]


def test_where_a_path_stands() -> None:
    reference = read(PIN, {"CMakeLists.txt": b"\nset(x ${deepgemm_SOURCE_DIR}/csrc)\n"})[0]
    assert (reference.file, reference.span.line, reference.span.column, reference.span.end_column) == (
        "CMakeLists.txt",
        2,
        30,
        34,
    )
    reference = read(PIN, {"tools/build.py": b'x = [src / "a"]\n'})[0]
    assert (reference.span.line, reference.span.column) == (1, 6)


@pytest.mark.parametrize(
    ("file", "concerned"),
    [("a/CMakeLists.txt", True), ("x.cmake", True), ("tools/build.py", True), ("tools/build_DeepGEMM_C.py", True),
     ("setup.py", False), ("tools/deepgemm.sh", False)],
)  # fmt: skip
def test_the_files_that_may_name_paths(file: str, *, concerned: bool) -> None:
    assert concerns(file, PIN) is concerned


@given(st.sampled_from(["CMakeLists.txt", "tools/build.py"]), st.binary(max_size=200))
def test_any_bytes_are_taken(file: str, source: bytes) -> None:
    read(PIN, {file: source + b"${deepgemm_SOURCE_DIR}/x"})
