from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patches.support import ONE, diff, names, pairs, unified
from pinctl.patches.model import Diff, FileChange, Hunk
from pinctl.patches.reading import LONGEST, PatchError, read
from pinctl.patches.writing import write

HUNK = Hunk(1, 1, (b" 1\n", b"-2\n", b"+two\n", b" 3\n"))


def test_a_plain_diff() -> None:
    assert diff(ONE) == Diff((FileChange("lib.txt", "lib.txt", (HUNK,), git=False),))


def test_what_stands_around_it_is_passed_over() -> None:
    text = f"From 1234 Mon Sep 17\nSubject: x\n\n{ONE}-- \n2.39.5\n"
    found = diff(text)
    assert found.preamble == b"From 1234 Mon Sep 17\nSubject: x\n\n"
    assert found.changes == diff(ONE).changes


def test_gits_form_with_everything() -> None:
    text = """\
diff --git a/old name.h b/new/name.h
old mode 100644
new mode 100755
similarity index 90%
rename from old name.h
rename to new/name.h
index 1234567..89abcde
--- a/old name.h\t
+++ b/new/name.h
@@ -3 +3,2 @@ int main()
 a
+b
\\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
index 1234567..0000000
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/empty b/empty
new file mode 100755
index 0000000..e69de29
"""
    first, second, third = diff(text).changes
    assert first == FileChange("old name.h", "new/name.h", (Hunk(3, 3, (b" a\n", b"+b"), b"int main()"),),
                               "100644", "100755", "1234567", "89abcde")  # fmt: skip
    assert second == FileChange("gone", None, (Hunk(1, 0, (b"-x\n",)),), "100644", None, "1234567", "0000000")
    assert third == FileChange(None, "empty", (), None, "100755", "0000000", "e69de29")


@pytest.mark.parametrize(
    ("names_", "expected"),
    [
        ("a/x b/x", ("x", "x")),
        ("a/x y b/x y", ("x y", "x y")),
        ('"a/\\303\\274 \\"q\\"" "b/\\303\\274 \\"q\\""', ('ü "q"', 'ü "q"')),
        ('"a/t\\tab" "b/t\\tab"', ("t\tab", "t\tab")),
    ],
)
def test_names_without_other_lines(names_: str, expected: tuple[str, str]) -> None:
    (one,) = diff(f"diff --git {names_}\nold mode 100644\nnew mode 100755\n").changes
    assert (one.old, one.new) == expected


@pytest.mark.parametrize(
    ("minus", "plus", "expected"),
    [
        ("a/x.c.orig", "b/x.c", ("x.c", "x.c")),
        ("a/x.c\t2024-01-02 03:04:05.000000000 +0100", "b/x.c\t2024-01-02 03:04:05", ("x.c", "x.c")),
        ("/dev/null", "b/x.c", (None, "x.c")),
        ("a/x.c", "/dev/null", ("x.c", None)),
        ("a/x.c\t1970-01-01 01:00:00.000000000 +0100", "b/x.c\t2024-01-02 03:04:05 +0000", (None, "x.c")),
        ("a/x.c", "b/x.c\t1970-01-01 00:00:00 +0000", ("x.c", None)),
        ("a/deep/x y.c\t", "b/deep/x y.c\t", ("deep/x y.c", "deep/x y.c")),
    ],
)
def test_names_of_plain_diffs(minus: str, plus: str, expected: tuple[str | None, str | None]) -> None:
    (one,) = diff(f"--- {minus}\n+++ {plus}\n@@ -1 +1 @@\n-a\n+b\n").changes
    assert (one.old, one.new) == expected


def test_a_patch_stored_with_crlf_as_a_whole() -> None:
    (one,) = diff(ONE.replace("\n", "\r\n")).changes
    assert one.new == "lib.txt"
    assert one.hunks[0].lines[1] == b"-2\r\n"
    text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\r\n\\ No newline at end of file\n"
    assert diff(text).changes[0].hunks[0].lines[1] == b"+b\r"
    assert diff(text.replace("\n", "\r\n").replace("\r\r", "\r")).changes[0].hunks[0].lines[1] == b"+b"


@pytest.mark.parametrize(
    ("text", "why", "line"),
    [
        ("nonsense\n", "there is no diff", 1),
        ("", "there is no diff", 1),
        ("@@ -1 +1 @@\n-a\n+b\n", "below no file", 1),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n", "cut short", 5),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b", "has no line end", 5),
        ("--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-a\n+b\nx\n", "fewer lines", 6),
        ("--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n-b\n", "more lines", 5),
        ("--- a/f\n+++ b/f\n@@ -x +1 @@\n", "numbers of a hunk", 3),
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "begin with a folder", 1),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "on neither side", 1),
        ("diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 0\n", "ids of a file are malformed", 2),
        ("diff --git a/x b/x\nindex 1234..5678\nGIT binary patch\nliteral 0\n", "binary file", 3),
        ("diff --git a/x b/x\nindex 1234..5678\nBinary files a/x and b/x differ\n", "binary file", 3),
        ("Binary files a/x and b/x differ\n", "binary file", 1),
        ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "without -C", 3),
        ("diff --cc x\n", "combined", 1),
        ("diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", "names of the file", 3),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n", "mark of a missing", 5),
        ("diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "does not say so", 2),
        ("diff --git a/x b/y\nrename from x\nrename to y\n--- a/z\n+++ b/y\n", "different files", 4),
        ('--- "a/\\8"\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', "quoted wrongly", 1),
    ],
)
def test_what_is_no_patch(text: str, why: str, line: int) -> None:
    with pytest.raises(PatchError, match=why) as caught:
        diff(text)
    assert caught.value.line == line
    assert caught.value.binary is ("binary file" in why)


def test_a_patch_has_a_bound() -> None:
    with pytest.raises(PatchError, match="at most 1048576 bytes"):
        read(b"x" * (LONGEST + 1))


@given(pairs(), st.integers(1, 4))
def test_what_another_program_writes_is_read_whole(pair: tuple[bytes, bytes], context: int) -> None:
    old, new = pair
    text = unified(old, new, context=context)
    if not text:
        return
    (one,) = read(text).changes
    lines = old.splitlines(True) if old else []
    assert sum(len(hunk.before) for hunk in one.hunks) <= len(old.split(b"\n"))
    assert all(b"".join(hunk.before) in old for hunk in one.hunks)
    assert all(b"".join(hunk.after) in new for hunk in one.hunks)
    assert lines or not any(hunk.before for hunk in one.hunks)


@given(names, names, pairs(), st.sampled_from(["100644", "100755", None]), st.sampled_from(["100644", "100755", None]))
def test_what_is_written_is_read(
    old: str, new: str, pair: tuple[bytes, bytes], old_mode: str | None, new_mode: str | None
) -> None:
    text = unified(*pair)
    if not text:
        return
    hunks = read(text).changes[0].hunks
    modes = (old_mode, new_mode) if old_mode and new_mode else (None, None)
    ids = ("1" * 40, "2" * 40) if old_mode else (None, None)
    made = Diff((FileChange(old, new, hunks, *modes, *ids), FileChange("plain x", "plain x", hunks, git=False)))
    if modes[0] == modes[1]:  # told by `index` alone, where there are ids
        made = Diff((made.changes[0]._replace(old_mode=None, new_mode=None) if ids[0] is None else made.changes[0],
                     made.changes[1]))  # fmt: skip
    assert read(write(made)) == made
    created = Diff((FileChange(None, new, hunks[:1], None, "100755"), FileChange(old, None, (), "100644", None)))
    assert read(write(created)) == created


_LINES = [b"diff --git a/x b/x\n", b"--- a/x\n", b"+++ b/x\n", b"@@ -1 +1 @@\n", b"-a\n", b"+b\n", b" c\n", b"\n",
          b"\\ No\n", b"rename from x\n", b"index 1234..5678 100644\n", b'--- "a/\\056"\n',
          b"@@ -0,0 +1,2 @@\n"]  # fmt: skip


@given(st.binary(max_size=200) | st.lists(st.sampled_from(_LINES), max_size=12).map(b"".join))
def test_no_text_crashes_the_reader(text: bytes) -> None:
    try:
        found = read(text)
    except PatchError as error:
        if error.line < 1:
            raise
    else:
        assert read(write(Diff(found.changes))).changes == found.changes or any(not c.git for c in found.changes)


def test_a_diff_taken_back_twice_is_itself() -> None:
    assert diff(ONE).reversed().reversed() == diff(ONE)
    mixed = Hunk(1, 1, (b"-a\n", b"-b\n", b"+c\n", b" d\n", b"+e\n"))
    assert mixed.reversed().lines == (b"-c\n", b"+a\n", b"+b\n", b" d\n", b"-e\n")
    assert (HUNK.leading, HUNK.trailing, mixed.leading, mixed.trailing) == (1, 1, 0, 0)
