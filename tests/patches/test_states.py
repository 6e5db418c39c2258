from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from patches.support import NUMBERS, ONE, contents, diff, files, pairs, unified
from pinctl.patches import replacing
from pinctl.patches.applying import Fit, apply
from pinctl.patches.model import Blob, Change, Diff, Files, Replacement
from pinctl.patches.names import quoted
from pinctl.patches.reading import read
from pinctl.patches.safety import problems
from pinctl.patches.states import State, Step, as_upstream, changed, evaluate, paths

TWO = ONE.replace("-2\n+two", "-two\n+TWO")  # on top of ONE
V1 = ONE.replace("+two", "+deux")


def state(change: Change | str, known: Files, older: dict[str, Change] | None = None) -> State:
    step = Step("p", diff(change) if isinstance(change, str) else change, older or {})
    return evaluate([step], known).standings[0].state


def test_each_state() -> None:
    assert state(ONE, files(lib_txt=NUMBERS)) is State.PRISTINE
    assert state(ONE, files(lib_txt=NUMBERS.replace(b"2", b"two"))) is State.APPLIED
    assert state(ONE, files(lib_txt=NUMBERS.replace(b"2", b"II"))) is State.CONFLICT
    assert state(ONE, {}) is State.CONFLICT
    assert state(ONE, files(lib_txt=NUMBERS.replace(b"2", b"deux")), {"v1": diff(V1)}) is State.OLDER
    half = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n"
    assert state(half, files(f=NUMBERS.replace(b"1", b"one"))) is State.PARTLY
    files_of_it = half + "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n"
    assert state(files_of_it, files(f=NUMBERS, g=b"y\n")) is State.PARTLY
    assert state(files_of_it, files(f=NUMBERS, g=b"z\n")) is State.CONFLICT


def test_a_new_file_that_exists() -> None:
    added = "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
    assert state(added, {}) is State.PRISTINE
    assert state(added, files(f=b"x\n")) is State.APPLIED
    assert state(added, files(f=b"other\n")) is State.CONFLICT


def test_a_mode_change() -> None:
    text = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
    assert state(text, {"f": Blob(b"", False)}) is State.PRISTINE
    assert state(text, {"f": Blob(b"", True)}) is State.APPLIED
    assert state(text, {"f": Blob(b"", None)}) is State.AMBIGUOUS


def test_where_both_ways_fit_the_ids_decide_then_the_place_and_else_nothing_does() -> None:
    less = "--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n-a\n a\n a\n"
    assert state(less, files(f=b"a\n" * 3)) is State.AMBIGUOUS
    free = "--- a/f\n+++ b/f\n@@ -2,2 +2,3 @@\n x\n+x\n x\n"
    assert state(free, files(f=b"x\n" * 6)) is State.AMBIGUOUS
    ids = "diff --git a/f b/f\nindex {}..{} 100644\n"
    old, new = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", blob_id(b"x\n" * 6)
    assert state(ids.format(old, new) + free, files(f=b"x\n" * 6)) is State.APPLIED
    assert state(ids.format(new, old) + free, files(f=b"x\n" * 6)) is State.PRISTINE
    copied = "--- a/f\n+++ b/f\n@@ -3,2 +3,3 @@\n a\n+new\n b\n"
    there = b"0\n0\na\nb\n0\na\nnew\nb\n"
    assert state(copied, files(f=there)) is State.PRISTINE
    assert state(copied.replace("-3,2 +3,3", "-6,2 +6,3"), files(f=there)) is State.APPLIED


def blob_id(content: bytes) -> str:
    import hashlib

    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def test_a_series_of_which_the_later_stand_on_the_earlier() -> None:
    steps = [Step("1", diff(ONE)), Step("2", diff(TWO))]
    bare = files(lib_txt=NUMBERS)
    fresh = evaluate(steps, bare)
    assert [s.state for s in fresh.standings] == [State.PRISTINE, State.PRISTINE]
    assert contents(fresh.patched) == {"lib.txt": NUMBERS.replace(b"2", b"TWO")}
    whole = evaluate(steps, fresh.patched)
    assert [s.state for s in whole.standings] == [State.APPLIED, State.APPLIED]
    assert (whole.bare, whole.patched) == (bare, fresh.patched)
    half = evaluate(steps, files(lib_txt=NUMBERS.replace(b"2", b"two")))
    assert [s.state for s in half.standings] == [State.APPLIED, State.PRISTINE]
    assert half.patched == fresh.patched
    assert not half.stuck


def test_what_puts_a_change_there_is_upstream_or_a_patch_before_it() -> None:
    bare, first = files(lib_txt=NUMBERS), Step("1", diff(ONE))
    again = evaluate([first, Step("2", diff(ONE))], bare).standings
    assert [(s.state, s.behind) for s in again] == [(State.PRISTINE, False), (State.APPLIED, True)]
    assert as_upstream(again[1]).state is State.APPLIED
    near = "--- a/lib.txt\n+++ b/lib.txt\n@@ -2,7 +2,7 @@\n two\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"  # stands on ONE
    taken = evaluate([first, Step("2", diff(near))], files(lib_txt=NUMBERS.replace(b"5", b"five"))).standings
    assert (taken[1].state, taken[1].behind) == (State.APPLIED, False)
    assert as_upstream(taken[1]).state is State.SUPERSEDED


def test_an_older_form_gives_way() -> None:
    step = Step("v2", diff(ONE), {"v1": diff(V1)})
    seen = evaluate([step], files(lib_txt=NUMBERS.replace(b"2", b"deux")))
    assert seen.standings[0].older == "v1"
    assert contents(seen.bare) == {"lib.txt": NUMBERS}
    assert contents(seen.patched) == {"lib.txt": NUMBERS.replace(b"2", b"two")}
    assert changed(seen.bare, seen.patched).keys() == {"lib.txt"}
    stale = evaluate([Step("v2", diff(ONE.replace("-2", "-nothing")), {"v1": diff(V1)})],
                     files(lib_txt=NUMBERS.replace(b"2", b"deux")))  # fmt: skip
    assert stale.standings[0].state is State.CONFLICT
    assert stale.stuck


def test_on_the_pinned_tree_what_is_there_is_upstreams() -> None:
    seen = evaluate([Step("1", diff(ONE))], files(lib_txt=NUMBERS.replace(b"2", b"two")))
    assert as_upstream(seen.standings[0]).state is State.SUPERSEDED
    assert paths([Step("1", diff(ONE), {"v0": diff(ONE.replace("lib", "old"))})]) == ["lib.txt", "old.txt"]


# --- texts exchanged ------------------------------------------------------------------------------------------------

SWAP = Replacement("a.h", b"__trap()", b"trap(1)", 2)


def test_a_replacement_and_its_states() -> None:
    before = files(a_h="__trap(); __trap();\n")
    assert state(SWAP, before) is State.PRISTINE
    made = apply(SWAP, before)
    assert isinstance(made, Fit)
    assert contents(made.files) == {"a.h": b"trap(1); trap(1);\n"}
    assert state(SWAP, made.files) is State.APPLIED
    back = apply(SWAP.reversed(), made.files)
    assert isinstance(back, Fit)
    assert back.files == before
    assert state(SWAP, files(a_h="trap(1); __trap();\n")) is State.CONFLICT
    assert state(SWAP, files(a_h="__trap();\n")) is State.CONFLICT
    assert state(SWAP, {}) is State.CONFLICT


@pytest.mark.parametrize(
    ("change", "text", "why"),
    [
        (SWAP, "__trap();\n", "has the text once, and not twice"),
        (
            SWAP,
            "trap(1); __trap(); __trap();\n",
            "has the text twice, and not twice; what takes its place is there once",
        ),
        (SWAP, "__trap( );\n", "has the text nowhere, and not twice"),
        (SWAP._replace(times=3), "__trap();__trap();__trap();__trap();\n", "has the text 4 times, and not 3 times"),
    ],
)
def test_why_a_text_is_not_exchanged(change: Replacement, text: str, why: str) -> None:
    made = apply(change, files(a_h=text))
    assert not isinstance(made, Fit)
    assert made[0].why == why
    assert (made[0].nearest is not None) == ("( )" in text)


def test_one_text_may_hold_the_other() -> None:
    longer = Replacement("f", b"x", b"(x)")
    assert replacing.counted(longer, b"x (x) (x)") == (1, 2)
    assert replacing.counted(longer.reversed(), b"x (x) (x)") == (2, 1)
    assert state(longer, files(f="(x)")) is State.APPLIED


def test_lines_of_a_replacement_end_as_the_files_do() -> None:
    change = Replacement("f", b"1\n2\n", b"1\ntwo\n")
    made = apply(change, files(f=NUMBERS.replace(b"\n", b"\r\n")))
    assert isinstance(made, Fit)
    assert contents(made.files)["f"] == NUMBERS.replace(b"2", b"two").replace(b"\n", b"\r\n")
    assert state(change, made.files) is State.APPLIED
    assert state(Replacement("f", b"1\r\n2", b"1\r\ntwo"), files(f=NUMBERS)) is State.PRISTINE


# --- properties -----------------------------------------------------------------------------------------------------


@given(pairs(), st.integers(1, 3))
def test_after_apply_the_status_is_applied_and_apply_again_changes_nothing(
    pair: tuple[bytes, bytes], context: int
) -> None:
    old, new = pair
    text = unified(old, new, context=context)
    assume(text)
    head = f"diff --git a/f b/f\nindex {blob_id(old)}..{blob_id(new)} 100644\n".encode()
    steps = [Step("p", read(head + text))]
    before = evaluate(steps, files(f=old))
    assert before.standings[0].state is State.PRISTINE
    after = evaluate(steps, before.patched)
    assert after.standings[0].state is State.APPLIED
    assert after.patched == before.patched
    assert contents(after.bare) == {"f": old}


@given(pairs(), st.integers(1, 3))
def test_without_ids_it_is_the_right_state_or_none(pair: tuple[bytes, bytes], context: int) -> None:
    old, new = pair
    text = unified(old, new, context=context)
    assume(text)
    assert state(read(text), files(f=old)) in (State.PRISTINE, State.AMBIGUOUS)
    assert state(read(text), files(f=new)) in (State.APPLIED, State.AMBIGUOUS)


@given(st.lists(pairs(), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_a_series_over_several_files_is_applied_and_taken_back(made: list[tuple[bytes, bytes]], random: object) -> None:
    steps, before = [], {}
    for n, (old, new) in enumerate(made):
        if text := unified(old, new, path=f"f{n}"):
            head = f"diff --git a/f{n} b/f{n}\nindex {blob_id(old)}..{blob_id(new)} 100644\n".encode()
            steps.append(Step(str(n), read(head + text)))
            before[f"f{n}"] = Blob(old, False)
    done = evaluate(steps, before)
    again = evaluate(steps, done.patched)
    assert {s.state for s in again.standings} <= {State.APPLIED}
    assert again.bare == before


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../x", "`..`"),
        ("a/../../x", "`..`"),
        (".git/hooks/pre-commit", "enters .git"),
        ("sub/.GIT/config", "enters .git"),
        ("/etc/passwd", "absolute"),
        ("-x", "tools read as an option"),
        ("a\\b", "backslash"),
        ("x\ty", "control"),
    ],
)
def test_paths_that_leave_the_tree(name: str, why: str) -> None:
    for change in (Diff(diff(ONE).changes[:1])._replace(changes=(diff(ONE).changes[0]._replace(new=name),)),
                   Replacement(name, b"a", b"b")):  # fmt: skip
        assert next(why in problem for problem in problems(change))
    text = b"--- a/lib.txt\n+++ " + quoted(f"b/{name}") + b"\n@@ -0,0 +1 @@\n+x\n"
    inside = name.startswith("/")  # git, too, takes doubled slashes for one
    assert any(problems(read(text.replace(b"a/lib.txt", b"/dev/null")))) != inside


def test_a_path_that_octal_digits_hide() -> None:
    text = '--- /dev/null\n+++ "b/\\056\\056/x"\n@@ -0,0 +1 @@\n+x\n'
    assert diff(text).paths == ("../x",)
    assert any(problems(diff(text)))


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("120000", "a symbolic link"),
        ("160000", "a submodule"),
        ("100755", "a program"),
        ("040000", "which no file has"),
    ],
)
def test_kinds_of_files_that_are_refused(mode: str, why: str) -> None:
    text = f"diff --git a/f b/f\nnew file mode {mode}\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
    (problem,) = problems(diff(text))
    assert why in problem
    assert not list(problems(diff(text.replace(mode, "100644"))))
    assert bool(list(problems(diff(text), executables=True))) == (mode != "100755")
    changed_mode = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
    assert list(problems(diff(changed_mode)))
    assert not list(problems(diff(changed_mode).reversed()))
