from __future__ import annotations

import pytest
from upstream.support import forest

from anchors.support import edits
from pinctl.anchors.judging import judge
from pinctl.anchors.telling import brief, cells, findings, row
from pinctl.finding import Finding

FILE = "tools/install.sh"


def told(source: str, files: dict[str, str], file: str = FILE, **patches: str) -> list[Finding]:
    from anchors.support import PIN

    return list(findings("dg", judge(edits(file, source, PIN, **patches), forest(files)), ()))


@pytest.mark.parametrize(
    ("command", "text", "code", "severity", "message"),
    [
        ("s/17/x/ a", "c++20", "PIN350", "error",
         "the edit of a (`17`) no longer matches: it finds nothing in dg at its commit"),
        ("s/17/x/ b", "", "PIN350", "warning", "the edit of b (`17`) no longer matches: dg has no b at its commit"),
        ("s/-std=c++17/-std=c++20/ a", "-std=c++20", "PIN351", "warning",
         "the edit of a (`-std=c++17`) has been made upstream: dg holds it at its commit"),
        ("s/SECS=1/NUM_SECS=10/ a", "NUM_SECS=10", "PIN351", "warning",
         "the edit of a (`SECS=1`) has been made upstream: dg holds it at its commit; it finds its pattern in it, and"
         " would be made once more"),
        ('"s/$X/y/" a', "", "PIN352", "info",
         "the edit of a (`s/.../y/`) cannot be held against dg: its script is not plain"),
    ],
)  # fmt: skip
def test_what_is_said(command: str, text: str, code: str, severity: str, message: str) -> None:
    (found,) = told(f"cd DeepGEMM\nsed -i {command}\n", {"a": text})
    assert (found.code, found.severity.value, found.message, found.pin) == (code, severity, message, "dg")
    assert (found.file, found.span and found.span.line) == (FILE, 2)
    assert found.hint


def test_a_file_that_is_not_known() -> None:
    source = (
        'file(READ "${deepgemm_SOURCE_DIR}/${X}/a.h" T)\nstring(REPLACE a b T "${T}")\n'
        'file(WRITE "${deepgemm_SOURCE_DIR}/${X}/a.h" "${T}")\n'
    )
    (found,) = told(source, {}, "cmake/dg.cmake")
    why = "it is not known which file is edited"
    assert (found.code, found.message) == ("PIN352", f"the edit of some file (`a`) cannot be held against dg: {why}")


def test_nothing_is_said_of_what_matches_in_one_of_its_files() -> None:
    assert told("cd DeepGEMM\nsed -i s/a/b/ x y z\n", {"x": "", "y": "a"}) == []
    assert [f.code for f in told("cd DeepGEMM\nsed -i s/a/b/ x y\n", {"x": "", "y": ""})] == ["PIN350"]


def test_a_path_that_is_told_to_be_missing_is_told_once() -> None:
    source = (
        'file(READ "${deepgemm_SOURCE_DIR}/a.h" T)\nstring(REPLACE a b T "${T}")\n'
        'file(WRITE "${deepgemm_SOURCE_DIR}/a.h" "${T}")\n'
    )
    anchors = judge(edits("cmake/dg.cmake", source), forest({"b.h": ""}))
    (found,) = findings("dg", anchors, ())
    assert (found.code, found.severity.value) == ("PIN350", "error")
    assert list(findings("dg", anchors, {("cmake/dg.cmake", "a.h")})) == []


def test_a_patch() -> None:
    source = "FetchContent_Declare(deepgemm PATCH_COMMAND git apply patches/x.patch)\n"
    diff = "--- a/a.h\n+++ b/a.h\n@@ -1 +1 @@\n-one\n+two\n"
    (found,) = told(source, {"a.h": "three\n"}, "CMakeLists.txt", x=diff)
    assert found.message == (
        "the patch patches/x.patch no longer matches: it does not fit dg at its commit (hunk 1 of 1 fits nowhere)"
    )


def test_rows_and_cells() -> None:
    anchors = judge(edits(FILE, "cd DeepGEMM\nsed -i 's/a  b/c/;s/x/y/' x.h\n"), forest({"x.h": "a  b\n"}))
    assert row(anchors[0]) == {
        "file": FILE, "line": 2, "path": "x.h", "kind": "sed", "pattern": "a  b", "state": "matches", "matches": 1,
        "why": None,
    }  # fmt: skip
    assert [cells("dg", anchor)[1:] for anchor in anchors] == [
        (f"{FILE}:2", "x.h", "`a b`", "matches 1"),
        (f"{FILE}:2", "x.h", "`x`", "no longer matches"),
    ]
    assert brief(anchors) == "1 of 2"
    assert brief([]) == "-"
