from __future__ import annotations

from typing import Any

from upstream.support import forest

from patches.support import NUMBERS, ONE, diff, files
from pinctl.finding import Finding
from pinctl.manifest import parse
from pinctl.patches import trees
from pinctl.patches.judging import Place, data, findings, judge
from pinctl.patches.model import Blob, Files, Odd, Replacement
from pinctl.patches.states import State, Step
from pinctl.upstream.telling import Telling
from pinctl.upstream.tree import Entry, Tree

TEXT = """\
schema = 1
[pins.dg]
repo = "https://git.example/dg"
commit = "{}"
version = "2.7"
unused = true
[[pins.dg.patches]]
file = "one.patch"
{}
"""


def told(known: Files, *, lines: str = "", upstream: bool = True, step: Step | None = None,
         taken: tuple[int, ...] = ()) -> list[Finding]:  # fmt: skip
    manifest = parse(TEXT.format("a1" * 20, lines))
    pin = manifest.pins["dg"]
    place = Place("commit a1a1" if upstream else "the folder x", known, upstream)
    seen = judge(pin, {0: step or Step("one.patch", diff(ONE))}, place, taken)
    return list(findings(pin, seen, place, Telling(pin, manifest).tell))


def test_what_fits_is_not_worth_a_word() -> None:
    assert told(files(lib_txt=NUMBERS)) == []
    assert told(files(lib_txt=NUMBERS.replace(b"2", b"two")), upstream=False) == []


def test_a_conflict_names_file_hunk_and_the_nearest_lines() -> None:
    (found,) = told(files(lib_txt=NUMBERS.replace(b"2", b"II")))
    assert (found.code, found.file, found.span and found.span.line) == ("PIN504", "pins.toml", 7)
    what = "lib.txt, hunk 1 of 1 fits nowhere; the nearest place differs at line 2, 2 of 3 lines are the same"
    assert found.message == f"one.patch does not apply to commit a1a1: {what}"
    assert (found.expected, found.found) == ("2", "II")
    assert found.hint == "run: pinctl patch refresh dg"
    (found,) = told({}, upstream=False)
    assert found.message == "one.patch does not apply to the folder x: lib.txt does not exist"
    assert found.hint == "name the root of the source by --in"
    (found,) = told(files(lib_txt="II"), upstream=False)
    assert found.hint == "restore the files of the folder x"


def test_of_many_hunks_some_are_told() -> None:
    hunks = "".join(f"@@ -{n} +{n} @@\n-x{n}\n+y{n}\n" for n in range(1, 13))
    found = told(files(f=NUMBERS), step=Step("many", diff(f"--- a/f\n+++ b/f\n{hunks}")))
    assert [f.message.endswith("(and 2 more)") for f in found] == [False] * 9 + [True]


def test_what_upstream_has() -> None:
    has = files(lib_txt=NUMBERS.replace(b"2", b"two"))
    assert [(f.code, f.severity.value) for f in told(has)] == [("PIN506", "info")]
    assert [(f.code, f.severity.value) for f in told(has, lines='retire = "upstream"')] == [("PIN506", "warning")]
    gone = files(lib_txt=NUMBERS.replace(b"2", b"rewritten"))
    backport = f'backport = "{"b2" * 20}"'
    (found,) = told(gone, lines=backport, taken=(0,))
    assert (found.code, found.severity.value) == ("PIN506", "warning")
    assert "a backport of b2b2b2b2b2" in found.message
    assert [f.code for f in told(gone, lines=backport)] == ["PIN504"]
    assert told(files(lib_txt=NUMBERS), lines=backport, taken=(0,)) == []  # it was taken back there


def test_half_older_and_ambiguous() -> None:
    half = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n"
    (found,) = told(files(f=NUMBERS.replace(b"1", b"one")), step=Step("h", diff(half)))
    assert (found.code, found.found) == ("PIN505", "f hunk 1")
    assert found.message.endswith("1 of 2 parts are there")
    older = Step("one.patch", diff(ONE), {"v0.patch": diff(ONE.replace("two", "deux"))})
    (found,) = told(files(lib_txt=NUMBERS.replace(b"2", b"deux")), step=older, upstream=False)
    assert (found.code, found.hint) == ("PIN507", "run: pinctl patch apply dg --in DIR")
    assert "v0.patch" in found.message
    both = "--- a/f\n+++ b/f\n@@ -2,2 +2,3 @@\n x\n+x\n x\n"
    assert [f.code for f in told(files(f=b"x\n" * 6), step=Step("b", diff(both)))] == ["PIN508"]


def test_versions_variants_and_installed_files() -> None:
    (found,) = told(files(lib_txt=b""), lines='when = "version >= 2.8"')
    assert (found.code, found.severity.value, found.span and found.span.line) == ("PIN509", "info", 9)
    swap = Step("edit of a.h", Replacement("a.h", b"x", b"y"))
    assert told({}, step=swap) == []
    assert [f.code for f in told({}, step=swap, upstream=False)] == ["PIN504"]
    text = TEXT.format("a1" * 20, 'variants = ["cu12"]\n[[pins.dg.patches]]\nfile = "two.patch"\nvariants = ["cu13"]\n'
                       "[variants.cu12]\n[variants.cu13]")  # fmt: skip
    pin = parse(text).pins["dg"]
    steps = {0: Step("1", diff(ONE)), 1: Step("2", diff(ONE.replace("two", "zwei")))}
    seen = judge(pin, steps, Place("x", files(lib_txt=NUMBERS)))
    assert [one.word for one in seen] == ["pristine", "pristine"]  # they never meet
    assert [one.word for one in judge(pin, {}, Place("x", {}))] == ["cannot be read"] * 2


def test_what_scripts_read() -> None:
    pin = parse(TEXT.format("a1" * 20, "")).pins["dg"]
    (seen,) = judge(pin, {0: Step("1", diff(ONE))}, Place("x", files(lib_txt=b"1\nx\n3\n")))
    row: Any = data(seen)
    assert (row["file"], row["state"], row["offset"]) == ("one.patch", State.CONFLICT, 0)
    assert row["misfits"] == [{"file": "lib.txt", "hunk": 1, "hunks": 1, "why": "fits nowhere", "line": 2}]


def test_files_of_a_pinned_tree() -> None:
    known = forest({"a": "1", "dir/b": "2"}, third_party={"c.h": "3"}, lost=None)
    paths = ["a", "dir", "dir/b", "third-party/c.h", "third-party/no", "lost/x", "no", "a/below", "third-party"]
    found = trees.of(known, paths)
    assert found["a"] == Blob(b"1", False)
    assert found["third-party/c.h"] == Blob(b"3", False)
    assert (found["no"], found["third-party/no"]) == (None, None)
    odd = {path: one.reason for path, one in found.items() if isinstance(one, Odd)}
    assert odd == {"dir": "is a folder", "lost/x": "lies in the submodule lost, whose tree is not known",
                   "a/below": "lies below a, which is no folder", "third-party": "is a folder"}  # fmt: skip


def test_modes_and_links_of_a_tree() -> None:
    from pinctl.upstream.forest import Forest

    entries = [Entry("run.sh", "100755", "1"), Entry("link", "120000", "2"), Entry("sub", "160000", "3")]
    tree = Tree.of("c0" * 20, entries, lambda ids, _: dict.fromkeys(ids, b"x"))
    found = trees.of(Forest(tree, {}), ["run.sh", "link", "link/x", "sub/y"])
    assert found["run.sh"] == Blob(b"x", True)
    assert [one.reason for one in found.values() if isinstance(one, Odd)] == [
        "is a symbolic link",
        "lies below link, which is no folder",
        "lies in the submodule sub, which is not looked into",
    ]
