from __future__ import annotations

from pinctl.model import SystemPackage
from pinctl.upstream import headers
from pinctl.upstream.forest import Forest
from pinctl.upstream.scans import Scans
from pinctl.upstream.tree import LARGEST

from .support import Repository, forest


def needed(here: Forest) -> dict[str, list[str]]:
    """The headers that the system must provide, with their places."""
    found = headers.needs(headers.read(here), ())
    return {need.header: [f"{s.file}:{s.line}" for s in need.sightings] for need in found}


def test_the_tree_provides_its_own_whatever_the_include_folders() -> None:
    files = {
        "csrc/a.cpp": "#include <lib/b.h>\n#include <b.h>\n#include <c.h>\n#include <x/b.h>\n",
        "include/lib/b.h": "",
    }
    assert needed(forest(files)) == {"c.h": ["csrc/a.cpp:3"], "x/b.h": ["csrc/a.cpp:4"]}


def test_a_name_is_no_ending_of_another() -> None:
    assert needed(forest({"a.cu": "#include <gem.h>\n", "mygem.h": ""})) == {"gem.h": ["a.cu:1"]}


def test_submodules_are_followed_where_the_tree_leads() -> None:
    here = forest(
        {"a.cuh": "#include <jit/api.h>\n"},
        deep_jit={
            "include/jit/api.h": '#include "detail.h"\n#include <vector>\n',
            "include/jit/detail.h": "#include <elfutils/libdwfl.h>\n",
            "include/jit/other.h": "#include <numa.h>\n",
            "tests/t.cpp": "#include <gtest/gtest.h>\n",
        },
    )
    assert needed(here) == {"elfutils/libdwfl.h": ["deep-jit/include/jit/detail.h:1"]}


def test_headers_that_include_each_other_end() -> None:
    here = forest(
        {"a.h": "#include <m/b.h>\n"}, m={"m/b.h": "#include <m/c.h>\n", "m/c.h": "#include <m/b.h>\n#include <z.h>\n"}
    )
    assert needed(here) == {"z.h": ["m/m/c.h:2"]}


def test_quoted_includes_ask_nothing_of_the_system() -> None:
    assert needed(forest({"a.c": '#include "nowhere.h"\n#include <../b.h>\n', "b.h": ""})) == {}


def test_tests_and_examples_stand_aside() -> None:
    here = forest({"tests/a.cpp": "#include <gtest/gtest.h>\n", "src/testing.cpp": "#include <numa.h>\n"})
    found = {need.header: need.first.aside for need in headers.needs(headers.read(here), ())}
    assert found == {"gtest/gtest.h": True, "numa.h": False}


def test_the_most_telling_place_comes_first() -> None:
    here = forest({
        "a.h": "#if __has_include(<numa.h>)\n#include <numa.h>\n#endif\n",
        "b.h": "#ifdef NUMA\n#include <numa.h>\n#endif\n",
        "c.h": "#include <numa.h>\n",
        "tests/a.h": "#include <numa.h>\n",
    })  # fmt: skip
    need = headers.needs(headers.read(here), ())[0]
    assert (need.first.file, need.guarded) == ("c.h", False)


def test_guarded_everywhere() -> None:
    here = forest({"a.h": "#if __has_include(<numa.h>)\n#include <numa.h>\n#endif\n"})
    assert headers.needs(headers.read(here), ())[0].guarded


def test_packages_that_nothing_includes() -> None:
    declared = (
        SystemPackage("libdw", {"dnf": "elfutils-devel"}, "elfutils/libdwfl.h"),
        SystemPackage("numa", {"dnf": "numactl-devel"}),
        SystemPackage("own", {"dnf": "own-devel"}, "own.h"),
        SystemPackage("git", {"dnf": "git"}),
        SystemPackage("mpi", {"dnf": "openmpi-devel"}, "mpi.h", "run"),
    )
    here = forest({"a.h": "#if __has_include(<numa.h>)\n#include <numa.h>\n#endif\n"})
    assert [p.name for p in headers.unneeded(headers.read(here), declared)] == ["libdw", "own"]


def test_pointers_are_no_sources() -> None:
    here = forest({"a.h": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n#include <numa.h>\n"})
    assert headers.read(here).pointers == ["a.h"]
    assert needed(here) == {}


def test_sources_are_read_in_one_batch() -> None:
    files = {f"{n}.h": f"#include <{n + 1}.h>\n#define N{n}\n" for n in range(5)}
    repository = Repository(files)
    headers.read(Forest(repository.tree, {}))
    assert [len(batch) for batch in repository.asked] == [5]


def test_what_was_scanned_before_is_not_read() -> None:
    files = {"a.h": "#include <b.h>\n", "b.h": "#include <numa.h>\n", "test/c.h": "#include <numa.h>\n"}
    first, second = Repository(files), Repository(files)
    scans = Scans()
    assert needed(Forest(first.tree, {}, scans)) == {"numa.h": ["b.h:1", "test/c.h:1"]}
    assert needed(Forest(second.tree, {}, Scans(scans.entries()))) == {"numa.h": ["b.h:1", "test/c.h:1"]}
    assert (len(first.asked), second.asked) == (1, [])


def test_what_was_read_can_be_scanned_before_the_forest_is_known() -> None:
    repository = Repository({"a.h": "#include <numa.h>\n", "b.h": "b", "c.py": "c"})
    repository.tree.read(["a.h", "c.py"])
    scans = Scans()
    headers.prepare(repository.tree, scans)
    assert list(scans.entries()) == [repository.tree.files["a.h"]]


def test_a_source_that_is_too_large_is_not_asked_for_again() -> None:
    repository = Repository({"a.h": b"#include <numa.h>\n" + b" " * LARGEST})
    scans = Scans()
    for _ in range(2):
        assert needed(Forest(repository.tree, {}, scans)) == {}
    assert len(repository.asked) == 1
