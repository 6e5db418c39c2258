from __future__ import annotations

import subprocess
import sys

import pytest

from anchors.support import PIN, edits
from pinctl.anchors.model import MOST, is_patch
from pinctl.anchors.search import concerns, find
from pinctl.model import Pin

SED = "cd DeepGEMM\nsed -i s/a/b/ x\n"


@pytest.mark.parametrize(
    ("file", "concerned"),
    [("cmake/x.cmake", True), ("CMakeLists.txt", True), ("tools/x.sh", True), ("docker/Dockerfile.cpu", True),
     ("tools/build.py", True), ("tools/deepgemm_helper.py", True), ("setup.py", False), ("x.yaml", False)],
)  # fmt: skip
def test_files_that_may_edit_a_source(file: str, concerned: bool) -> None:
    assert concerns(file, PIN) is concerned
    source = 't = (src / "x").read_text()\nout.write_text(t.replace("a", "b"))\n' if file.endswith(".py") else ""
    assert bool(edits(file, source)) is (concerned and file.endswith(".py"))


def test_each_pin_has_its_own() -> None:
    other = Pin("flashmla", repo="https://git.example/FlashMLA")
    sources = {"a.sh": SED.encode(), "b.sh": SED.replace("DeepGEMM", "FlashMLA").encode(), "c.sh": SED.encode()}
    found = find([PIN, other], sources)
    assert {name: [edit.file for edit in mine] for name, mine in found.items()} == {
        "deepgemm": ["a.sh", "c.sh"],
        "flashmla": ["b.sh"],
    }
    assert find([], sources) == {}


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("x.sh", "cd DeepGEMM\n" + "sed -i s/a/b/ x\n" * 2 * MOST),
        ("Dockerfile", "FROM x\nRUN cd DeepGEMM && sed -i '" + "s/a/b/;" * 2 * MOST + "' x\n"),
        ("a.cmake", 'file(READ "${deepgemm_SOURCE_DIR}/x" T)\n' + 'string(REPLACE a b T "${T}")\n' * 2 * MOST
         + 'file(WRITE x "${T}")\n' * 3),
        ("deepgemm.py", 't = (src / "x").read_text()\n' + 't = t.replace("a", "b")\n' * 2 * MOST
         + "out.write_text(t)\n"),
    ],
)  # fmt: skip
def test_no_more_than_so_many_are_looked_at(file: str, source: str) -> None:
    assert len(edits(file, source)) == MOST


def test_patches() -> None:
    assert [is_patch(file) for file in ("a/b.patch", "a.diff", "patch", "a.patch.txt")] == [True, True, False, False]


def test_what_reads_build_files_is_loaded_where_there_is_something() -> None:
    code = (
        "import sys; from pinctl.commands import verify; from pinctl.anchors.search import find;"
        " from pinctl.model import Pin; find([Pin('x')], {'a.sh': b'make', 'CMakeLists.txt': b'project(x)'});"
        " print([m for m in sys.modules if m.startswith(('pinctl.contract', 'pinctl.patches.reading', 're2'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
