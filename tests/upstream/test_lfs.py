from __future__ import annotations

import pytest
from repositories import GitRepository

from pinctl.upstream import lfs
from pinctl.upstream.forest import Forest

from .support import Repository, forest

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
FILES = {
    "data/a.bin": POINTER,
    "data/deep/b.bin": POINTER,
    "c.bin": POINTER,
    "data/a.bin.txt": POINTER,
    "data/k.h": POINTER,
}


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ("*.bin filter=lfs diff=lfs merge=lfs -text\n", ["c.bin", "data/a.bin", "data/deep/b.bin"]),
        ("data/*.bin filter=lfs\n", ["data/a.bin"]),
        ("data/**/*.bin filter=lfs\n", ["data/a.bin", "data/deep/b.bin"]),
        ("/c.bin filter=lfs\n", ["c.bin"]),
        ("data/** filter=lfs\n", ["data/a.bin", "data/a.bin.txt", "data/deep/b.bin", "data/k.h"]),
        ('"data/k.h" filter=lfs\n', ["data/k.h"]),
        ("# *.bin filter=lfs\n*.bin -filter\n", []),
        ("*.bin filter=lfsx\n", []),
    ],
)
def test_what_attributes_give_to_lfs(attributes: str, found: list[str], repository: GitRepository) -> None:
    here = forest({**FILES, ".gitattributes": attributes})
    assert lfs.pointers(here, FILES) == found
    repository.write(".gitattributes", attributes)
    told = repository.git("check-attr", "-z", "filter", "--", *FILES).split("\0")
    assert sorted(told[at] for at in range(0, len(told) - 2, 3) if told[at + 2] == "lfs") == found


def test_attributes_of_a_folder_and_of_a_submodule() -> None:
    here = forest({"data/.gitattributes": "*.bin filter=lfs\n", "data/a.bin": POINTER, "b.bin": POINTER},
                  sub={".gitattributes": "*.x filter=lfs\n", "d/a.x": POINTER})  # fmt: skip
    assert lfs.pointers(here, here.files) == ["data/a.bin", "sub/d/a.x"]


def test_only_used_paths_and_only_pointers() -> None:
    here = forest({".gitattributes": "* filter=lfs\n", "a": POINTER, "b": POINTER, "c": "the file itself"})
    assert lfs.pointers(here, ["a", "c"]) == ["a"]


def test_without_attributes_nothing_is_read() -> None:
    repository = Repository({"a": POINTER})
    assert lfs.pointers(Forest(repository.tree, {}), ["a"]) == []
    assert repository.asked == []
