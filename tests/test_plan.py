import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.plan import Edit, FilePlan, OverlapError, Plan, apply


def test_apply_replaces_inserts_and_deletes() -> None:
    assert apply(b"one two three", [Edit(4, 7, b"2"), Edit(0, 0, b">"), Edit(7, 13, b"")]) == b">one 2"


def test_equal_edits_count_once() -> None:
    assert apply(b"ab", [Edit(0, 1, b"x"), Edit(0, 1, b"x")]) == b"xb"


@pytest.mark.parametrize("edits", [[Edit(0, 2, b"x"), Edit(1, 3, b"y")], [Edit(1, 1, b"x"), Edit(1, 1, b"y")]])
def test_overlapping_edits_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(OverlapError):
        apply(b"abcd", edits)


@given(st.binary(max_size=30), st.data())
def test_bytes_outside_an_edit_do_not_move(source: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, len(source)))
    new = data.draw(st.binary(max_size=5))
    after = apply(source, [Edit(start, end, new)])
    assert (after[:start], after[start : start + len(new)], after[start + len(new) :]) == (
        source[:start],
        new,
        source[end:],
    )


# Lines that end in CR, VT, NEL or U+2028 are one line to git and to diff.
TEXTS = st.lists(st.sampled_from(["a", "b\r", "c\x0bd", "e\x85", "\u2028", "", "é"]), max_size=6).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join(lines) + "\n"])
)


@given(before=TEXTS, after=TEXTS)
def test_a_diff_is_what_git_apply_takes(tmp_path_factory: pytest.TempPathFactory, before: str, after: str) -> None:
    root = tmp_path_factory.mktemp("apply")
    file = root / "a b.txt"
    file.write_bytes(before.encode())
    diff = Plan(files=[FilePlan(path="a b.txt", before=before.encode(), after=after.encode())]).diff()
    assert bool(diff) == (before != after)
    if diff:
        subprocess.run(["git", "apply", "-p1"], cwd=root, input=diff.encode(), check=True)
    assert file.read_bytes() == after.encode()


def test_a_new_executable_file_in_a_diff(tmp_path: Path) -> None:
    plan = Plan(files=[FilePlan(path="tools/x.sh", before=None, after=b"#!/bin/sh\n", executable=True)])
    subprocess.run(["git", "apply"], cwd=tmp_path, input=plan.diff().encode(), check=True)
    assert (tmp_path / "tools/x.sh").read_bytes() == b"#!/bin/sh\n"
    assert (tmp_path / "tools/x.sh").stat().st_mode & 0o100


def test_pending_leaves_unchanged_files_out() -> None:
    same = FilePlan(path="a", before=b"x", after=b"x")
    assert Plan(files=[same]).pending == ()
    assert Plan(files=[same]).diff() == ""
