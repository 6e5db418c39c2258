from __future__ import annotations

import pytest
from upstream.support import forest

from anchors.support import PIN, edits, states
from pinctl.anchors.judging import judge
from pinctl.model import Pin

FILE = "cmake/dg.cmake"
APPLY = "FetchContent_Declare(deepgemm PATCH_COMMAND git apply ${CMAKE_SOURCE_DIR}/patches/x.patch)\n"
DIFF = """\
diff --git a/csrc/a.h b/csrc/a.h
--- a/csrc/a.h
+++ b/csrc/a.h
@@ -1,3 +1,3 @@
 one
-two
+2
 three
@@ -8,2 +8,3 @@
 eight
+8.5
 nine
"""
BEFORE = "one\ntwo\nthree\n4\n5\n6\n7\neight\nnine\n"
AFTER = "one\n2\nthree\n4\n5\n6\n7\neight\n8.5\nnine\n"
BARE = """\
--- a/csrc/a.h
+++ b/csrc/a.h
@@ -2 +2 @@
-two
+2
"""
"""As `diff -U0` makes it."""


@pytest.mark.parametrize(
    ("text", "state", "matches"),
    [
        (BEFORE, "matches", 2),
        (BEFORE.replace("5\n", "5\n5.5\n"), "matches", 2),
        (AFTER, "replaced", 0),
        (AFTER.replace("8.5\n", ""), "missing", 0),
        (BEFORE.replace("two", "other"), "missing", 0),
        (None, "gone", None),
    ],
)
def test_states(text: str | None, state: str, matches: int | None) -> None:
    files = {"csrc/b.h": "x"} if text is None else {"csrc/a.h": text}
    assert states(files, FILE, APPLY, x=DIFF) == [(1, "csrc/a.h", state, matches)]


def test_why_it_does_not_fit() -> None:
    (anchor,) = judge(edits(FILE, APPLY, x=DIFF), forest({"csrc/a.h": BEFORE.replace("two", "other")}))
    assert (anchor.edit.pattern, anchor.why) == ("patches/x.patch", "hunk 1 of 2 fits nowhere")


def test_patch_tolerates_what_git_does_not() -> None:
    """A diff without lines around its changes fits nowhere but at an end of the file to `git apply`."""
    assert states({"csrc/a.h": BEFORE}, FILE, APPLY, x=BARE) == [(1, "csrc/a.h", "missing", 0)]
    for command in ("git apply --unidiff-zero", "patch -p1 -i"):
        source = APPLY.replace("git apply", command)
        assert states({"csrc/a.h": BEFORE}, FILE, source, x=BARE) == [(1, "csrc/a.h", "matches", 1)]
        assert states({"csrc/a.h": AFTER}, FILE, source, x=BARE) == [(1, "csrc/a.h", "replaced", 0)]
        assert states({"csrc/a.h": "x\n"}, FILE, source, x=BARE) == [(1, "csrc/a.h", "missing", 0)]


def test_a_folder_and_one_that_is_taken_back() -> None:
    source = APPLY.replace("git apply", "patch -R -d sub -p1 -i")
    assert states({"sub/csrc/a.h": AFTER}, FILE, source, x=DIFF) == [(1, "sub/csrc/a.h", "matches", 2)]


def test_patches_of_one_file_after_each_other() -> None:
    second = DIFF.replace("-two\n+2\n", "-2\n+II\n").split("@@ -8")[0]
    source = APPLY + APPLY.replace("x.patch", "y.patch")
    assert [state for *_, state, _ in states({"csrc/a.h": BEFORE}, FILE, source, x=DIFF, y=second)] == ["matches"] * 2
    # Two that exclude each other stand in two branches of the build.
    other = second.replace("-2\n", "-two\n")
    assert [state for *_, state, _ in states({"csrc/a.h": BEFORE}, FILE, source, x=DIFF, y=other)] == ["matches"] * 2


@pytest.mark.parametrize(
    ("source", "diff", "why"),
    [
        (APPLY, "nothing\n", "patches/x.patch:1: there is no diff in it"),
        (APPLY.replace("git apply", "patch -p2 -i"), DIFF, "it is applied with -p2"),
        (APPLY.replace("x.patch", "${NAME}.patch"), DIFF, "its patch is not known"),
    ],
)
def test_what_cannot_be_told(source: str, diff: str, why: str) -> None:
    (anchor,) = judge(edits(FILE, source, x=diff), forest({"csrc/a.h": BEFORE}))
    assert (anchor.state.value, anchor.why) == ("unknown", why)


def test_a_patch_of_headers_that_are_installed_is_for_the_pin_that_it_is_named_after() -> None:
    source = (
        'execute_process(COMMAND patch -p1 "--input=${CMAKE_CURRENT_LIST_DIR}/../patches/pytorch_string.patch"\n'
        '  WORKING_DIRECTORY "${SHADOW}")  # deepgemm\n'
    )
    pin = Pin("torch", repo="https://git.example/pytorch.git")
    (edit,) = edits(FILE, source, pin, pytorch_string=BARE)
    assert (edit.pattern, [path.path for path in edit.paths]) == ("patches/pytorch_string.patch", ["csrc/a.h"])
    (anchor,) = judge([edit], forest({"csrc/a.h": BEFORE}))
    assert (anchor.state.value, anchor.matches) == ("matches", 1)
    assert edits(FILE, source, PIN, pytorch_string=BARE) == []
