"""Patches and files of tests: made by hand, and made at random together with the git that judges them."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

from hypothesis import strategies as st

from pinctl.patches.model import Blob, Diff, FileChange, Files
from pinctl.patches.placing import split
from pinctl.patches.reading import read

ONE = """\
--- a/lib.txt
+++ b/lib.txt
@@ -1,3 +1,3 @@
 1
-2
+two
 3
"""
"""Puts `two` in the place of the second line."""
NUMBERS = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"


def files(**contents: bytes | str) -> dict[str, Blob]:
    """Files by name: `lib_txt` is `lib.txt`."""
    return {
        name.replace("__", "/").replace("_", "."): Blob(text.encode() if isinstance(text, str) else text, False)
        for name, text in contents.items()
    }


def diff(text: str | bytes) -> Diff:
    return read(text.encode() if isinstance(text, str) else text)


def contents(known: Files) -> dict[str, bytes]:
    return {path: one.content for path, one in known.items() if isinstance(one, Blob)}


def unified(old: bytes, new: bytes, path: str = "f", context: int = 3) -> bytes:
    """A plain diff as diff(1) -u makes it, by a program that is not ours."""
    sides = [split(text) for text in (old, new)]
    lines = difflib.diff_bytes(difflib.unified_diff, *sides, f"a/{path}".encode(), f"b/{path}".encode(), n=context)
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def git_apply(folder: Path, patch: bytes, *options: str) -> bool:
    """Whether `git apply` takes the patch to the files of a folder."""
    argv = ["git", "apply", "--whitespace=nowarn", *options]
    env = {
        "PATH": "/usr/bin:/bin:/usr/local/bin",
        "HOME": "/nonexistent",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    return subprocess.run(argv, input=patch, cwd=folder, env=env, capture_output=True, check=False).returncode == 0


_LINE = st.sampled_from([b"a\n", b"b\n", b"c\n", b"d = 1;\n", b"\n", b"  }\n", b"x\r\n", b"\xff\n", b"--- a/f\n",
                         b"@@ -1 +1 @@\n"])  # fmt: skip
texts = st.builds(
    lambda lines, end: b"".join(lines) + end, st.lists(_LINE, max_size=12), st.sampled_from([b"", b"end"])
)
"""Contents of files, with lines that are alike, that look like a diff's, and that end otherwise."""

names = st.sampled_from(
    ["f", "a b", "dir/f.h", 'q"uote', "tab\t", "ü", "\udcff", "back\\slash", "dir with blank/x y.cu"]
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A text and another one, mostly a changed copy."""
    old = draw(texts)
    lines = old.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(_LINE.map(lambda line: line[:-1]), max_size=2))
        lines = lines or [b""]
    return old, b"\n".join(lines)


def change(patch: bytes) -> FileChange:
    (one,) = read(patch).changes
    return one
