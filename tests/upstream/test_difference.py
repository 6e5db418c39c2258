from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.model import SystemPackage
from pinctl.upstream import difference
from pinctl.upstream.submodules import Listing, Submodule

from .support import forest, tree


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("CMakeLists.txt", True), ("cmake/x.cmake", True), ("setup.py", True), ("pyproject.toml", True),
        ("a/b/requirements-dev.txt", True), ("Makefile", True), ("docker/Dockerfile.cu13", True), ("build.sh", True),
        (".gitmodules", True), ("csrc/a.cpp", False), ("tests/CMakeLists.txt", False), ("run.sh", False),
        ("notbuild.sh.txt", False), ("WORKSPACE", True), ("defs.bzl", True),
    ],
)  # fmt: skip
def test_which_files_are_a_builds(path: str, *, counts: bool) -> None:
    changes = difference.build_files(tree({path: "1"}), tree({path: "2"}))
    assert changes == (((path, "changed"),) if counts else ())


def test_what_became_of_build_files() -> None:
    before = {"CMakeLists.txt": "1", "setup.py": "same", "setup.cfg": "gone"}
    after = {"CMakeLists.txt": "2", "setup.py": "same", "pyproject.toml": "new"}
    assert difference.build_files(tree(before), tree(after)) == (
        ("CMakeLists.txt", "changed"), ("pyproject.toml", "added"), ("setup.cfg", "removed"),
    )  # fmt: skip


def test_include_directories() -> None:
    before = forest({"csrc/a.h": "", "include/a.h": ""}, fmt={"include/f.h": ""})
    after = forest(
        {"csrc/a.h": "", "deep/include/deep/include/x.h": "", "tests/include/t.h": ""}, jit={"include/j.h": ""}
    )
    declared = ("csrc", "include", "fmt/include", "never")
    gone, gained = difference.folders(declared, before, after)
    assert (gone, gained) == (("include", "fmt/include"), ("deep/include", "jit/include"))


def test_headers_that_only_one_tree_needs() -> None:
    before = forest({"a.cpp": "#include <numa.h>\n#include <zlib.h>\n"})
    after = forest(
        {"a.cpp": "#include <zlib.h>\n#if __has_include(<elfutils/libdwfl.h>)\n#include <elfutils/libdwfl.h>\n#endif\n"}
    )
    libdw = SystemPackage("libdw", {"dnf": "elfutils-devel"}, "elfutils/libdwfl.h")
    gained, lost = difference.needs(before, after, [libdw])
    assert [(need.header, need.guarded, need.declared) for need in gained] == [("elfutils/libdwfl.h", True, libdw)]
    assert [need.header for need in lost] == ["numa.h"]


_modules = st.dictionaries(
    st.sampled_from("abcd"), st.tuples(st.sampled_from("wxyz"), st.sampled_from("12")), max_size=4
)


@given(_modules, _modules)
def test_the_moves_lead_from_one_listing_to_the_other(
    old: dict[str, tuple[str, str]], new: dict[str, tuple[str, str]]
) -> None:
    def made(modules: dict[str, tuple[str, str]]) -> dict[str, Submodule]:
        return {p: Submodule(p, c * 40, name, f"https://h/{name}") for p, (name, c) in modules.items()}

    before, after = made(old), made(new)
    moves = difference.moves(Listing(before), Listing(after))
    left = dict(before)
    for move in moves:
        if move.before:
            assert left.pop(move.was or move.path) == move.before
    for move in moves:
        if move.after:
            assert left.setdefault(move.path, move.after) == move.after
            assert before.get(move.path) != move.after or move.was
    assert left == after
