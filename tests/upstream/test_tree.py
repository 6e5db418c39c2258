from __future__ import annotations

import pytest

from pinctl.upstream.tree import twins

from .support import COMMIT, Repository, tree


def test_paths_by_kind() -> None:
    found = tree({"a/b/c.h": "x", "d": "y"}, {"a/l": "b"}, {"sub/m": COMMIT})
    assert set(found.files) == {"a/b/c.h", "d"}
    assert set(found.links) == {"a/l"}
    assert found.gitlinks == {"sub/m": COMMIT}
    assert found.folders == {"a", "a/b", "sub"}


def test_files_are_read_in_one_batch_and_once() -> None:
    repository = Repository({"a": "1", "b": "2", "same as a": "1"})
    assert repository.tree.read(["a", "b", "same as a", "nowhere"]) == {"a": b"1", "b": b"2", "same as a": b"1"}
    assert repository.tree.read(["b"]) == {"b": b"2"}
    assert [len(batch) for batch in repository.asked] == [2]


def test_a_file_larger_than_the_limit_is_not_read() -> None:
    found = tree({"a": "12345"})
    assert found.read(["a"], 5) == {"a": b"12345"}
    assert found.read(["a"], 4) == {}
    assert tree({"a": "12345"}).read(["a"], 4) == {}


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("csrc/a.h", "csrc/a.h"),
        ("data", "csrc"),
        ("data/a.h", "csrc/a.h"),
        ("deep/up/a.h", "csrc/a.h"),
        ("deep/twice/a.h", "csrc/a.h"),
        ("out/passwd", None),
        ("absolute/passwd", None),
        ("loop/x", None),
        ("nowhere/x", "nowhere/x"),
    ],
)
def test_links_are_followed_inside_the_tree_alone(path: str, real: str | None) -> None:
    links = {"data": "csrc", "deep/up": "../csrc", "deep/twice": "../data", "out": "../../etc", "absolute": "/etc",
             "loop": "loop2", "loop2": "loop"}  # fmt: skip
    assert tree({"csrc/a.h": ""}, links).real(path) == real


def test_names_that_some_file_systems_take_for_one() -> None:
    assert twins(tree({"Inc/a.h": "", "inc/a.h": "", "inc/b.h": ""})) == [("Inc/a.h", "inc/a.h")]
    assert twins(tree({"\u00e9.h": "", "e\u0301.h": ""})) == [("e\u0301.h", "\u00e9.h")]
    assert twins(tree({"a": "", "b": ""})) == []
