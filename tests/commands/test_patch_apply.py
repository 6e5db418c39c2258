from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands.patched_engine import API, FILE, V1, V2, Engine
from pinctl.external import targets
from pinctl.external.targets import Target

MADE = """\
diff --git a/new dir/tool.sh b/new dir/tool.sh
new file mode 100755
--- /dev/null
+++ b/new dir/tool.sh\t
@@ -0,0 +1 @@
+#!/bin/sh
diff --git a/dg/__init__.py b/dg/renamed.py
rename from dg/__init__.py
rename to dg/renamed.py
"""


PATCHED = API.replace("line 6\n", "line 6, patched again\n")
SECOND = """\
[[pins.dg.patches]]
file = "my patches/one.patch"
supersedes = ["my patches/v1.patch"]
retire = "upstream"
"""


def tree(folder: Path) -> dict[str, tuple[bytes, bool]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {p.relative_to(folder).as_posix(): (p.read_bytes(), os.access(p, os.X_OK)) for p in files}


def test_once_and_again_and_back(patching: Engine) -> None:
    folder = patching.checkout()
    before = tree(folder)
    done = patching.run("patch", "apply", "dg", "--in", str(folder))
    assert done.code == 0
    assert f"changed 1 file in {folder}: {FILE}" in done.out
    after = tree(folder)
    assert after[FILE][0] == API.replace("line 6\n", "line 6, patched again\n").encode()
    assert patching.states("dg", "--in", str(folder)) == ["applied"]
    again = patching.run("patch", "apply", "dg", "--in", str(folder))
    assert (again.code, tree(folder)) == (0, after)
    assert "nothing to change" in again.out
    assert "there already" in again.out
    back = patching.json("apply", "dg", "--in", str(folder), "--reverse").document["result"]
    assert (back["files"], back["patches"][0]["done"]) == ([FILE], "taken back")
    assert tree(folder) == before
    assert patching.json("apply", "dg", "--in", str(folder), "--reverse").document["result"]["files"] == []


def test_files_that_come_go_and_may_be_executed(patching: Engine) -> None:
    folder = patching.checkout()
    before = tree(folder)
    patching.patch("two.patch", MADE)
    entries = '[[pins.dg.patches]]\nfile = "my patches/two.patch"\n'
    patching.pins(entries)
    assert patching.json("apply", "dg", "--in", str(folder)).codes == ["PIN503"]
    assert tree(folder) == before
    patching.pins(f"{entries}executables = true\n")
    assert patching.json("apply", "dg", "--in", str(folder)).codes == []
    after = tree(folder)
    assert after["new dir/tool.sh"] == (b"#!/bin/sh\n", True)
    assert set(before) - set(after) == {"dg/__init__.py"}
    assert patching.states("dg", "--in", str(folder)) == ["applied"]
    patching.json("apply", "dg", "--in", str(folder), "--reverse")
    assert tree(folder) == before
    assert not (folder / "new dir").exists()


def test_a_mode_alone_changes_and_back(patching: Engine) -> None:
    folder = patching.checkout()
    patching.patch("one.patch", "diff --git a/dg/__init__.py b/dg/__init__.py\nold mode 100644\nnew mode 100755\n")
    patching.pins('[[pins.dg.patches]]\nfile = "my patches/one.patch"\nexecutables = true\n')
    (folder / "dg/__init__.py").chmod(0o640)
    assert patching.json("apply", "dg", "--in", str(folder)).document["result"]["files"] == ["dg/__init__.py"]
    assert (folder / "dg/__init__.py").stat().st_mode & 0o777 == 0o750
    assert patching.json("apply", "dg", "--in", str(folder)).document["result"]["files"] == []
    patching.json("apply", "dg", "--in", str(folder), "--reverse")
    assert (folder / "dg/__init__.py").stat().st_mode & 0o777 == 0o640


def test_all_or_nothing(patching: Engine) -> None:
    folder = patching.checkout("rewritten")
    before = tree(folder)
    patching.patch("two.patch", MADE.replace("100755", "100644"))
    patching.pins("".join(f'[[pins.dg.patches]]\nfile = "my patches/{n}.patch"\n' for n in ("two", "one")))
    done = patching.json("apply", "dg", "--in", str(folder))
    assert (done.code, done.codes) == (1, ["PIN504"])
    assert tree(folder) == before


def test_half_applied_is_not_guessed_at(patching: Engine) -> None:
    second = "@@ -15,3 +15,3 @@\n line 15\n-line 16\n+sixteen\n line 17\n"
    patching.patch("one.patch", V2 + second)
    folder = patching.checkout()
    (folder / FILE).write_text(API.replace("line 16\n", "sixteen\n"))
    assert patching.states("dg", "--in", str(folder)) == ["partly applied"]
    done = patching.json("apply", "dg", "--in", str(folder))
    assert done.codes == ["PIN505"]
    assert f"{FILE} hunk 2" in patching.run("patch", "apply", "dg", "--in", str(folder)).out
    assert (folder / FILE).read_text() == API.replace("line 16\n", "sixteen\n")


def test_crlf_stays(patching: Engine) -> None:
    folder = patching.checkout()
    (folder / FILE).write_bytes(API.replace("\n", "\r\n").encode())
    patching.json("apply", "dg", "--in", str(folder))
    assert (folder / FILE).read_bytes() == PATCHED.replace("\n", "\r\n").encode()
    patching.json("apply", "dg", "--in", str(folder), "--reverse")
    assert (folder / FILE).read_bytes() == API.replace("\n", "\r\n").encode()


def test_fuzz_is_off_unless_it_is_asked_for(patching: Engine) -> None:
    folder = patching.checkout()
    (folder / FILE).write_text(API.replace("line 8\n", "line eight\n"))
    assert patching.json("apply", "dg", "--in", str(folder)).codes == ["PIN504"]
    assert patching.json("apply", "dg", "--in", str(folder), "--fuzz", "1").codes == []
    assert "patched again\nline 7\nline eight\n" in (folder / FILE).read_text()


def test_the_life_of_a_patch(patching: Engine) -> None:
    """Applied in its first form, moved to the second, superseded at the next release, retired."""
    folder = patching.checkout("moved", "site-packages")
    patching.patch("v1.patch", V1)
    patching.pins('[[pins.dg.patches]]\nfile = "my patches/v1.patch"\n', at="moved")
    patching.json("apply", "dg", "--in", str(folder))
    assert "line 6, patched\n" in (folder / FILE).read_text()
    patching.pins(SECOND, at="moved")
    assert patching.states("dg", "--in", str(folder)) == ["older form"]
    done = patching.json("apply", "dg", "--in", str(folder))
    assert done.document["result"]["patches"][0]["done"] == "exchanged for an older form"
    assert "line 6, patched again\n" in (folder / FILE).read_text()
    assert patching.states("dg", "--in", str(folder)) == ["applied"]
    patching.pins(SECOND, at="taken")
    assert patching.json("status").told == [("PIN506", "warning")]
    released = patching.checkout("taken", "released")
    assert patching.json("apply", "dg", "--in", str(released)).document["result"]["files"] == []
    patching.pins("", at="taken")
    assert patching.run("patch", "status").out == "no pin has patches\n"
    layout = patching.checkout("rewritten", "unknown")
    patching.pins(SECOND)
    assert patching.json("apply", "dg", "--in", str(layout)).codes == ["PIN504"]  # an unknown layout stops


def test_an_installed_header_that_an_installer_has_linked(patching: Engine, tmp_path: Path) -> None:
    site = tmp_path / "site packages"
    (site / "torch/include").mkdir(parents=True)
    cached = tmp_path / "cached.h"
    cached.write_text("#define A __trap()\n#define B __trap()\n")
    os.link(cached, site / "torch/include/a.h")
    edit = (
        '[[pins.torch.patches]]\ntarget = "torch/include/a.h"\nsearch = "__trap()"\nreplace = "trap(0)"\ncount = {}\n'
    )
    head = '[pins.torch]\npackages = ["torch"]\nversion = "2.8"\nunused = true\n'
    patching.pins("", extra=head + edit.format(3))
    done = patching.json("apply", "torch", "--in", str(site))
    assert done.codes == ["PIN504"]
    assert "torch/include/a.h has the text twice, and not 3 times" in done.document["findings"][0]["message"]
    patching.pins("", extra=head + edit.format(2))
    assert patching.json("apply", "torch", "--in", str(site)).codes == []
    assert (site / "torch/include/a.h").read_text() == "#define A trap(0)\n#define B trap(0)\n"
    assert cached.read_text() == "#define A __trap()\n#define B __trap()\n"
    assert patching.states("torch", "--in", str(site)) == ["applied"]


def test_patches_of_one_variant(patching: Engine) -> None:
    folder = patching.checkout()
    patching.pins(
        '[[pins.dg.patches]]\nfile = "my patches/one.patch"\nvariants = ["cu12"]\n', extra="[variants.cu12]\n"
    )
    assert patching.json("apply", "dg", "--in", str(folder)).document["result"]["files"] == []
    done = patching.run("patch", "apply", "dg", "--in", str(folder), "--variant", "cu13")
    assert (done.code, "the variants are: cu12" in done.err) == (2, True)
    assert patching.json("apply", "dg", "--in", str(folder), "--variant", "cu12").document["result"]["files"] == [FILE]


def test_shown_and_tested_before(patching: Engine) -> None:
    folder = patching.checkout()
    before = tree(folder)
    shown = patching.run("patch", "apply", "dg", "--in", str(folder), "--diff")
    assert shown.code == 0
    assert shown.out.startswith(f"diff --git a/{FILE} b/{FILE}\n")
    assert "+line 6, patched again\n" in shown.out
    assert patching.run("patch", "apply", "dg", "--in", str(folder), "--check").code == 1
    assert tree(folder) == before
    patching.run("patch", "apply", "dg", "--in", str(folder))
    assert patching.run("patch", "apply", "dg", "--in", str(folder), "--check").code == 0


def test_links_are_never_followed(patching: Engine, tmp_path: Path) -> None:
    folder = patching.checkout()
    secret = tmp_path / "secret"
    secret.write_text(API)
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(secret)
    done = patching.json("apply", "dg", "--in", str(folder))
    assert done.codes == ["PIN504"]
    assert "is a symbolic link" in done.out
    assert secret.read_text() == API


def test_what_fails_on_the_way_leaves_nothing(patching: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = patching.checkout()
    before = tree(folder)
    patching.patch("two.patch", MADE.replace("100755", "100644"))
    patching.pins("".join(f'[[pins.dg.patches]]\nfile = "my patches/{n}.patch"\n' for n in ("one", "two")))
    real = targets.swap
    calls = []

    def failing(root: str, target: Target, expected: targets.State) -> None:
        calls.append(target.path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(root, target, expected)

    monkeypatch.setattr(targets, "swap", failing)
    assert patching.run("patch", "apply", "dg", "--in", str(folder)).code == 130
    monkeypatch.setattr(targets, "swap", real)
    assert tree(folder) == before


def test_where_and_what(patching: Engine) -> None:
    done = patching.run("patch", "apply", "dg")
    assert done.code == 2
    assert "pinctl fetch dg" in done.err
    patching.pins("")
    assert "pinctl patch add dg FILE" in patching.run("patch", "apply", "dg").err
    patching.pins()
    assert patching.run("fetch", "dg").code == 0
    assert patching.run("patch", "apply", "dg").code == 0
    assert "patched again" in (patching.root / "dg" / FILE).read_text()


_NEW = "\n@@ -0,0 +1 @@\n+x\n"
_MODE = "diff --git a/l b/l\nnew file mode {}\n--- /dev/null\n+++ b/l" + _NEW


# Security rows 54 and 55.
@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (f"--- /dev/null\n+++ b/../canary{_NEW}", "PIN503", "`..`"),
        (f'--- /dev/null\n+++ "b/\\056\\056/canary"{_NEW}', "PIN503", "`..`"),
        (f"--- /dev/null\n+++ b/.git/hooks/post-checkout{_NEW}", "PIN503", "enters .git"),
        (f"--- /dev/null\n+++ b/sub/.GIT{_NEW}", "PIN503", "enters .git"),
        (_MODE.format("120000"), "PIN503", "a symbolic link"),
        (_MODE.format("160000"), "PIN503", "a submodule"),
        (_MODE.format("100755"), "PIN503", "a program"),
        (
            "diff --git a/l b/l\nindex 1234..5678\nGIT binary patch\nliteral 200000000\nzc$@\n",
            "PIN502",
            "a binary file",
        ),
        ("diff --git a/l b/l\nsimilarity index 100%\nrename from ../x\nrename to l\n", "PIN503", "`..`"),
    ],
)
def test_hostile_patches_touch_nothing(text: str, code: str, why: str, patching: Engine) -> None:
    folder = patching.checkout()
    before = tree(folder.parent)
    patching.patch("one.patch", text)
    for words in (("apply", "dg", "--in", str(folder)), ("apply", "dg", "--in", str(folder), "--reverse"), ("status",)):
        done = patching.json(*words)
        assert done.code == 1
        assert set(done.codes) == {code}
        assert why in done.out
    after = {path: one for path, one in tree(folder.parent).items() if path in before and "one.patch" not in path}
    assert after == {path: one for path, one in before.items() if "one.patch" not in path}
    assert not (folder.parent / "canary").exists()
    assert not (folder / ".git").exists()
