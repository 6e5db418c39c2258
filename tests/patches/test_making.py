from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given

from patches.support import NUMBERS, contents, diff, files, git_apply, pairs
from pinctl.patches.applying import Fit, apply
from pinctl.patches.making import blob_id, make
from pinctl.patches.merging import merge
from pinctl.patches.model import Blob, Odd
from pinctl.patches.reading import read
from pinctl.patches.writing import write

PLAIN = "100644"


def test_a_diff_is_gits(tmp_path: Path) -> None:
    before = b"int f()\n{\n" + b"".join(b"    x%d;\n" % n for n in range(30)) + b"}\n"
    after = before.replace(b"x9;", b"y;").replace(b"x25;\n", b"x25;\n    new;\n")
    for name, content in (("a", before), ("b", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.c").write_bytes(content)
    argv = ["git", "diff", "--no-index", "--full-index", "--no-prefix", "a", "b"]
    git = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False).stdout
    ours = write(make({"f.c": Blob(before)}, {"f.c": Blob(after)}))
    assert ours == git


def test_files_that_come_go_move_and_change_their_mode() -> None:
    before = files(old="1\n2\n", gone="x\n", same="s", mode="m\n")
    after = {
        "new": Blob(b"1\ntwo\n", True),
        "same": before["same"],
        "made": Blob(b"", False),
        "mode": Blob(b"m\n", True),
    }
    made = make(before, after, renamed={"old": "new"})
    assert [(change.old, change.new) for change in made.changes] == [
        ("gone", None), (None, "made"), ("mode", "mode"), ("old", "new")]  # fmt: skip
    assert read(write(made)) == made
    done = apply(read(write(made)), before)
    assert isinstance(done, Fit)
    assert {path: one for path, one in {**before, **done.files}.items() if one} == after
    assert make(after, after).changes == ()


def test_what_is_odd_is_left_alone() -> None:
    odd = {"f": Odd("is a symbolic link")}
    assert make(odd, odd).changes == make(odd, {}).changes == ()


def test_ids_of_blobs() -> None:
    assert blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"", sha256=True).startswith("473a0f4c3be8a93681a267e3b1e9a7dc")


@given(pairs())
def test_a_diff_leads_from_one_text_to_the_other(pair: tuple[bytes, bytes]) -> None:
    old, new = ({"f": Blob(text, False)} for text in pair)
    made = read(write(make(old, new))) if pair[0] != pair[1] else make(old, new)
    done = apply(made, old)
    assert isinstance(done, Fit)
    assert {**old, **done.files} == new


def test_git_applies_what_is_made(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b/f").write_bytes(NUMBERS)
    made = make({"a b/f": Blob(NUMBERS)}, {"a b/f": Blob(NUMBERS.replace(b"5\n", b"five")), "a b/g\t": Blob(b"x")})
    assert git_apply(tmp_path, write(made))
    assert (tmp_path / "a b/f").read_bytes() == NUMBERS.replace(b"5\n", b"five")
    assert (tmp_path / "a b/g\t").read_bytes() == b"x"


# --- three ways -----------------------------------------------------------------------------------------------------


def lines(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, int]:
    return b"<%s|%s|%s>" % (ours, base, theirs), 1


def test_one_side_alone_changes() -> None:
    base, theirs = files(f="1", g="2", h="3"), files(f="one", g="2", new="n")
    merged = merge(files(f="1", g="zwei", h="3", i="4"), base, theirs, lines)
    assert contents(merged.files) == {"f": b"one", "g": b"zwei", "i": b"4", "new": b"n"}
    assert merged.files["h"] is None
    assert merged.conflicts == {}


def test_both_sides_change() -> None:
    merged = merge(files(f="ours", g="g!", n="mine"), files(f="base", g="g"), files(f="theirs", n="theirs"), lines)
    assert contents(merged.files) == {"f": b"<ours|base|theirs>", "g": b"g!", "n": b"<mine||theirs>"}
    assert merged.conflicts == {"f": "has 1 conflict", "g": "is to go, and was changed", "n": "has 1 conflict"}
    assert merge(files(f="x"), files(f="base"), files(f="x"), lines).conflicts == {}
    assert merge({}, files(f="base"), files(f="x"), lines).conflicts == {"f": "is gone there, and the patch changes it"}
    assert merge({}, files(f="base"), {}, lines).conflicts == {}
    odd = merge({"f": Odd("is a folder")}, files(f="base"), files(f="x"), lines)
    assert odd.conflicts == {"f": "is a folder"}


def test_a_mode_is_theirs_where_they_change_it() -> None:
    def plain(*_: bytes) -> tuple[bytes, int]:
        return b"m", 0

    ours, base, theirs = Blob(b"o", False), Blob(b"b", False), Blob(b"t", True)
    assert merge({"f": ours}, {"f": base}, {"f": theirs}, plain).files["f"] == Blob(b"m", True)
    assert merge({"f": Blob(b"o", True)}, {"f": base}, {"f": Blob(b"t", False)}, plain).files["f"] == Blob(b"m", True)
    assert diff("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n").changes[0].old_mode == PLAIN
