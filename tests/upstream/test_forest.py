from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pinctl.upstream.forest import Forest, Part

from .support import COMMIT, blob, forest, tree

FILES = {
    "csrc/a.h": "", "csrc/jit/b.h": "", "csrc/jit/c.hpp": "", "include/x/d.cuh": "", "include/y/d.h": "", "top.h": "",
    "include/[z]/e.h": "", "csrc.old/f.h": "", "csrc/.hidden.h": "", "lib1/g.h": "", "lib22/g.h": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("csrc/*.h", ["csrc/.hidden.h", "csrc/a.h", "csrc/jit/b.h"]),
        ("*.cuh", ["include/x/d.cuh"]),
        ("include/*/d.*", ["include/x/d.cuh", "include/y/d.h"]),
        ("inc*/y/*.h", ["include/y/d.h"]),
        ("include/[xy]/*.h", ["include/y/d.h"]),
        ("include/[!x]/*.h", ["include/y/d.h"]),
        ("lib?/*.h", ["lib1/g.h"]),
        ("csrc/?.h", ["csrc/a.h", "csrc/jit/b.h"]),
        ("csrc/jit", []),
        ("csrc/*.hh", []),
    ],
)
def test_globs_as_cmake_matches_them(pattern: str, found: list[str], tmp_path: Path) -> None:
    assert sorted(forest(FILES).glob(pattern)) == found
    if "[!" in pattern:  # KWSys knows `[^x]`; the shells' form is taken, too
        return
    if (cmake := shutil.which("cmake")) is None:
        pytest.skip("cmake is not here")
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    script = f'file(GLOB_RECURSE f RELATIVE "{tmp_path}" "{tmp_path}/{pattern}")\nmessage("${{f}}")'
    (tmp_path / "t.cmake").write_text(script)
    done = subprocess.run([cmake, "-P", "t.cmake"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert sorted(filter(None, done.stderr.strip().split(";"))) == found


def test_a_glob_that_is_not_recursive() -> None:
    assert sorted(forest(FILES).glob("csrc/*.h", recursive=False)) == ["csrc/.hidden.h", "csrc/a.h"]
    assert sorted(forest(FILES).glob("*.h", recursive=False)) == ["top.h"]


def test_a_hostile_glob_takes_no_time() -> None:
    start = time.process_time()
    assert list(forest({"a" * 1000: ""}).glob("a*" * 60 + "b")) == []
    assert time.process_time() - start < 2


def test_submodules_are_part_of_it() -> None:
    here = forest({"a.h": ""}, third_party={"include/b.h": "", "src/c.c": ""}, away=None)
    assert here.files == {"a.h", "third-party/include/b.h", "third-party/src/c.c"}
    assert [here.has_folder(p) for p in ("third-party", "third-party/include", "third-party/nope", "a.h", ".")] == [
        True, True, False, False, True,
    ]  # fmt: skip
    assert here.has("third-party/include/b.h") is True
    assert here.has_folder("away/include") is None
    assert list(here.glob("third-party/*.h")) == ["third-party/include/b.h"]
    assert here.read(["a.h", "third-party/src/c.c", "away/x"]) == {"a.h": b"", "third-party/src/c.c": b""}


def test_what_may_lie_in_an_unread_submodule_is_not_known() -> None:
    here = forest({"a.h": ""}, away=None)
    assert [here.unknown(path) for path in ("away/x.h", "aw*/x.h", "*.h", "csrc/*.h")] == [True, True, True, False]


def test_links_into_folders_and_submodules() -> None:
    root = tree({"csrc/a.h": ""}, {"data": "csrc", "cut": "third-party/include"}, {"third-party": COMMIT})
    here = Forest(root, {"third-party": tree({"include/b.h": ""})})
    assert [here.has(path) for path in ("data", "data/a.h", "cut", "cut/b.h", "cut/c.h")] == [
        True,
        True,
        True,
        True,
        False,
    ]


def test_a_submodule_that_is_not_checked_out() -> None:
    here = Forest(tree({"a.h": ""}, gitlinks={"third-party/fmt": COMMIT}), {})
    assert here.undeclared("third-party/fmt/include") == "third-party/fmt"
    assert here.undeclared("third-party/fmt2") is None
    assert here.has_folder("third-party/fmt/include") is False


def test_several_trees_are_read_together() -> None:
    here = forest({"a": "1"}, ext={"b": "2"}, other={"c": "3"}, none=None)
    asked: list[list[str]] = []

    def together(work: Callable[[Part], dict[str, bytes]], parts: Sequence[Part]) -> list[dict[str, bytes]]:
        asked.append([part.prefix for part in parts])
        return [work(part) for part in parts]

    both = replace(here, together=together)
    assert both.read(["ext/b", "a", "none/x", "other/x"]) == {"a": b"1", "ext/b": b"2"}
    assert asked == [["", "ext/", "other/"]]
    assert [both.id(path) == blob(b"2") for path in ("ext/b", "a", "none/x", "other/x")] == [True, False, False, False]
    assert both.only(["ext"]).together is together
