from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from patches.support import NUMBERS, ONE, contents, diff, files, git_apply, pairs, texts, unified
from pinctl.patches.applying import Fit, Misfit, apply, parts, recognised
from pinctl.patches.model import Blob, Files, Odd
from pinctl.patches.placing import Image, Nearest, adapted
from pinctl.patches.reading import read


def applied(text: str | bytes, known: Files, fuzz: int = 0) -> Fit:
    made = apply(diff(text), known, fuzz=fuzz)
    assert isinstance(made, Fit), made
    return made


def misfits(text: str | bytes, known: Files) -> tuple[Misfit, ...]:
    made = apply(diff(text), known)
    assert not isinstance(made, Fit)
    return made


def test_a_hunk_in_its_place_and_elsewhere() -> None:
    made = applied(ONE, files(lib_txt=NUMBERS))
    assert contents(made.files) == {"lib.txt": NUMBERS.replace(b"2", b"two")}
    assert made.offset == 0
    later = ONE.replace("-1,3 +1,3", "-4,3 +4,3")
    assert applied(later, files(lib_txt=b"x\n" * 20 + NUMBERS)).offset == 17


def test_the_nearest_place_is_taken_and_of_two_the_later_one() -> None:
    hunk = "--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n"
    three = b"a\nb\nc\n0\n0\na\nb\nc\n"
    assert contents(applied(hunk, files(f=three)).files) == {"f": b"a\nb\nc\n0\n0\na\nB\nc\n"}
    equal = b"0\na\nb\nc\n0\n0\n0\na\nb\nc\n"
    assert contents(applied(hunk, files(f=equal + b"0\n")).files)["f"].count(b"B") == 1
    assert contents(applied(hunk, files(f=equal + b"0\n")).files)["f"].index(b"B") > 10


def test_why_a_hunk_fits_nowhere() -> None:
    (found,) = misfits(ONE, files(lib_txt=b"0\n1\ntow\n3\n"))
    assert found == Misfit("lib.txt", "fits nowhere", 1, 1, Nearest(3, 2, 3, b"2\n", b"tow\n"))
    (found,) = misfits(ONE, files(lib_txt=b"a\nb\n"))
    assert found.nearest is None
    (found,) = misfits(ONE.replace("@@ -1,3 +1,3 @@", "@@ -9,3 +9,3 @@"), files(lib_txt=b"1\n2\n"))
    assert found.nearest == Nearest(3, 2, 3, b"3\n", None)


def test_every_hunk_that_does_not_fit_is_told() -> None:
    first, second = "@@ -1,2 +1,2 @@\n-1\n+one\n 2\n", "@@ -4,2 +4,2 @@\n 4\n-five\n+5\n"
    text = f"--- a/f\n+++ b/f\n{first}{second}@@ -8,2 +8,2 @@\n 8\n-nine\n+9\n"
    assert [(m.hunk, m.hunks) for m in misfits(text, files(f=NUMBERS))] == [(2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("text", "known", "why"),
    [
        (ONE, {}, "does not exist"),
        (ONE, {"lib.txt": Odd("is a symbolic link")}, "is a symbolic link"),
        ("--- /dev/null\n+++ b/lib.txt\n@@ -0,0 +1 @@\n+x\n", files(lib_txt=b"1\n"), "exists already"),
        ("--- /dev/null\n+++ b/lib.txt\n@@ -0,0 +1 @@\n+x\n", {"lib.txt": Odd("is a directory")}, "is a directory"),
        ("--- a/lib.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", files(lib_txt=b"1\n2\n"), "fits nowhere"),
        ("diff --git a/f b/f\ndeleted file mode 100644\n", files(f=b"x\n"), "holds more"),
        ("diff --git a/f b/lib.txt\nrename from f\nrename to lib.txt\n", files(f=b"", lib_txt=b""), "exists already"),
        ("diff --git a/f b/f\nold mode 100755\nnew mode 100644\n", files(f=b""), "not be executed"),
    ],
)
def test_what_stands_in_the_way(text: str, known: Files, why: str) -> None:
    (found,) = misfits(text, known)
    assert why in found.why


def test_files_that_come_go_move_and_change_their_mode() -> None:
    text = """\
diff --git a/old b/new
old mode 100644
new mode 100755
rename from old
rename to new
--- a/old
+++ b/new
@@ -1 +1 @@
-1
+one
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/made b/made
new file mode 100755
--- /dev/null
+++ b/made
@@ -0,0 +1 @@
+y
"""
    before = files(old="1\n", gone="x\n")
    made = applied(text, before)
    assert made.files == {"old": None, "new": Blob(b"one\n", True), "gone": None, "made": Blob(b"y\n", True)}
    after = {**before, **made.files}
    back = apply(diff(text).reversed(), after)
    assert isinstance(back, Fit)
    assert {path: one for path, one in {**after, **back.files}.items() if one} == before


def test_a_plain_diff_may_make_a_file_that_is_not_there() -> None:
    text = "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
    assert contents(applied(text, {}).files) == {"f": b"x\n"}


def test_line_ends_are_those_of_the_file() -> None:
    crlf = NUMBERS.replace(b"\n", b"\r\n")
    assert contents(applied(ONE, files(lib_txt=crlf)).files)["lib.txt"] == crlf.replace(b"2", b"two")
    assert contents(applied(ONE.replace("\n", "\r\n"), files(lib_txt=NUMBERS)).files)["lib.txt"].count(b"\r") == 0
    mixed = NUMBERS.replace(b"9\n", b"9\r\n")
    assert contents(applied(ONE, files(lib_txt=mixed)).files)["lib.txt"] == mixed.replace(b"2", b"two")
    to_lf = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\r\n-2\r\n+1\n+2\n"
    assert contents(applied(to_lf, files(f=b"1\r\n2\r\n")).files) == {"f": b"1\n2\n"}


def test_fuzz_only_where_it_is_asked_for() -> None:
    known = files(lib_txt=b"1\n2\nthree\n")
    (found,) = misfits(ONE, known)
    assert found.nearest == Nearest(3, 2, 3, b"3\n", b"three\n")
    assert contents(applied(ONE, known, fuzz=1).files) == {"lib.txt": b"1\ntwo\nthree\n"}
    assert not isinstance(apply(diff(ONE), files(lib_txt=b"1\nII\n3\n"), fuzz=3), Fit)


def test_a_file_of_equal_lines_takes_no_minutes() -> None:
    lines = "".join(" \n" for _ in range(20_000))
    text = f"--- a/f\n+++ b/f\n@@ -1,20001 +1,20002 @@\n{lines}-x\n+y\n+z\n"
    assert not isinstance(apply(diff(text), files(f=b"\n" * 60_000)), Fit)


def test_parts_tell_what_is_there() -> None:
    text = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n"
    half = files(f=NUMBERS.replace(b"1\n", b"one\n"))
    assert [tuple(part) for part in parts(diff(text), half)] == [("f", 1, False, True), ("f", 2, True, False)]
    neither = files(f=NUMBERS.replace(b"1\n", b"x\n"))
    assert [tuple(part)[2:] for part in parts(diff(text), neither)] == [(False, False), (True, False)]


def test_ids_of_blobs_tell_the_two_sides_apart() -> None:
    old, new = "d00491fd7e5bb6fa28c517a0bb32b8b506539d4d", "0cfbf08886fca9a91cb753ec8734c84fcbe52c9f"
    text = f"diff --git a/f b/f\nindex {old}..{new} 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"
    assert recognised(diff(text), files(f="1\n")) is False
    assert recognised(diff(text), files(f="2\n")) is True
    assert recognised(diff(text), files(f="3\n")) is None
    assert recognised(diff(text.replace(old, old[:7])), files(f="1\n")) is False
    assert recognised(diff(ONE), files(lib_txt=NUMBERS)) is None


@given(pairs(), st.integers(1, 3))
def test_apply_then_reverse_is_identity(pair: tuple[bytes, bytes], context: int) -> None:
    old, new = pair
    text = unified(old, new, context=context)
    assume(text)
    made = applied(text, files(f=old))
    assert contents(made.files) == {"f": new}
    back = apply(read(text).reversed(), files(f=new))
    assert isinstance(back, Fit)
    assert contents(back.files) == {"f": old}


@given(pairs(), texts, st.booleans())
def test_git_apply_makes_the_same(pair: tuple[bytes, bytes], before: bytes, moved: bool) -> None:
    """On the file that the diff was made of, on one with lines before it, and on another one."""
    old, new = pair
    text = unified(old, new, context=2)
    assume(text)
    there = before + old if moved else before
    patch = read(text)
    # git compares bytes, and so takes the last line without an end for the beginning of another one.
    assume(not moved or b"\\ No newline" not in text)
    assume(adapted(patch.changes[0].hunks, there) is patch.changes[0].hunks)  # git knows no other line ends
    made = apply(patch, files(f=there))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "f")
        file.write_bytes(there)
        assert git_apply(Path(folder), text) == isinstance(made, Fit)
        if isinstance(made, Fit):
            assert file.read_bytes() == contents({"f": Blob(there)} | dict(made.files))["f"]


def test_hunks_are_put_beside_each_other_never_into_each_other() -> None:
    image = Image(b"a\nb\n")
    (one,) = diff("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+a\n").changes[0].hunks
    assert image.put(one) == 0
    assert image.put(one) is None


def test_many_hunks_in_a_long_file_take_no_minutes() -> None:
    """A hostile patch of 1 MiB (security: at most ten seconds)."""
    hunks = "".join(f"@@ -{n},2 +{n},2 @@\n x\n-y{n}\n+z\n" for n in range(2, 20_000))
    start = time.monotonic()
    assert len(misfits(f"--- a/f\n+++ b/f\n{hunks}", files(f=b"x\n" * 200_000))) == 19_998
    assert time.monotonic() - start < 10


def test_a_hunk_without_lines_around_it_is_told_as_such() -> None:
    (found,) = misfits("--- a/lib.txt\n+++ b/lib.txt\n@@ -2 +2 @@\n-2\n+two\n", files(lib_txt=NUMBERS))
    assert (found.why.partition(",")[0], found.nearest) == ("has no lines around its changes", None)
