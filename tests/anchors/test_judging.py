from __future__ import annotations

import pytest
from upstream.support import Repository, forest

from anchors.support import edits, states
from pinctl.anchors.judging import judge, wanted

FILE = "tools/install.sh"


def sed(*commands: str) -> str:
    return "cd DeepGEMM\n" + "".join(f"sed -i {command}\n" for command in commands)


@pytest.mark.parametrize(
    ("command", "text", "state", "matches"),
    [
        ("'s/-std=c++17/-std=c++20/' a", "x -std=c++17\n", "matches", 1),
        ("'s/-std=c++17/-std=c++20/' a", "x -std=c++14\n", "missing", 0),
        ("'s/-std=c++17/-std=c++20/' a", "x -std=c++20\n", "replaced", 0),
        ("'s/SECS 100/NUM_SECS 1000/' a", "NUM_SECS 1000\n", "replaced", 1),  # it would be made once more
        ("'s/NUM_SECS 100/NUM_SECS 1000/' a", "NUM_SECS 1000\nNUM_SECS 100\n", "matches", 2),
        ("'s/True/False/' a", "False\n", "missing", 0),  # too short to say anything
        ("'s/old/&new/' a", "oldnew\n", "matches", 1),
        ("'1i// a text of ours' a", "b\n", "matches", 1),
        ("'1i// a text of ours' a", "// a text of ours\nb\n", "replaced", 1),
        ("'/old/d' a", "b\n", "missing", 0),
        ('"s/$X/y/" a', "b\n", "unknown", None),
        ("'s/a/b/' b", "", "gone", None),
    ],
)
def test_states(command: str, text: str, state: str, matches: int | None) -> None:
    ((_, _, *found),) = states({"a": text}, FILE, sed(command))
    assert found == [state, matches]


def test_edits_of_one_file_see_what_those_before_them_made() -> None:
    assert states({"a": "one\n"}, FILE, sed("s/one/two/ a", "s/two/three/ a", "s/four/x/ a")) == [
        (2, "a", "matches", 1),
        (3, "a", "matches", 1),
        (4, "a", "missing", 0),
    ]


def test_edits_that_may_stand_in_other_branches() -> None:
    assert [state for _, _, state, _ in states({"a": "one\n"}, FILE, sed("s/one/two/ a", "s/one/three/ a"))] == [
        "matches",
        "matches",
    ]


def test_behind_an_edit_that_cannot_be_told_nothing_is_missing() -> None:
    found = states({"a": "one\n"}, FILE, sed('"s/$X/y/" a', "s/two/three/ a", "s/one/two/ a"))
    assert [state for _, _, state, _ in found] == ["unknown", "unknown", "matches"]
    found = states({"a": "one\n"}, FILE, sed('"s/one/$X/" a', "s/two/three/ a"))
    assert [state for _, _, state, _ in found] == ["matches", "unknown"]


def test_a_glob_is_one_anchor_and_several_paths_are_several() -> None:
    files = {"py/a.py": "old old", "py/b.py": "old\nx", "py/sub/c.py": "old", "d": ""}
    assert states(files, FILE, sed("s/old/new/g py/*.py")) == [(2, "py/*.py", "matches", 3)]
    assert states(files, FILE, sed("s/old/new/g py/a.py d e")) == [
        (2, "py/a.py", "matches", 2),
        (2, "d", "missing", 0),
        (2, "e", "gone", None),
    ]
    assert states(files, FILE, sed("s/old/new/g cu/*.cu")) == [(2, "cu/*.cu", "gone", None)]


def test_what_is_not_known_of_the_tree() -> None:
    source = sed("s/a/b/ third-party/cutlass/x.h", "s/a/b/ csrc", "s/a/b/ big")
    tree = forest({"csrc/a.h": "a", "big": b"a" * (1 << 20) + b"a"}, **{"third-party/cutlass": None})
    told = [(one.path, one.state.value, one.why) for one in judge(edits(FILE, source), tree)]
    assert told == [
        ("third-party/cutlass/x.h", "unknown", "the tree was not fetched"),
        ("csrc", "unknown", "it is not known which file is edited"),
        ("big", "unknown", "the file is too large"),
    ]
    told = [(one.path, one.state.value, one.why) for one in judge(edits(FILE, sed("s/a/b/ x")), None)]
    assert told == [("x", "unknown", "the tree was not fetched")]


def test_what_is_read_comes_in_one_batch() -> None:
    repository = Repository({"a": "x", "b": "y", "py/c.py": "z", "d": "w"})
    found = edits(FILE, sed("s/x/y/ a b", "s/z/y/ py/*.py", '"s/$X/y/" d', "s/x/y/ gone"))
    tree = forest({})
    from pinctl.upstream.forest import Forest

    tree = Forest(repository.tree, {})
    assert wanted(found, tree) == ["a", "b", "py/c.py"]
    judge(found, tree)
    assert [len(batch) for batch in repository.asked] == [3]
