"""What the tests of anchors share: the edits of one build file, and what they are on the files of a tree."""

from __future__ import annotations

from collections.abc import Mapping

from upstream.support import forest

from pinctl.anchors.judging import judge
from pinctl.anchors.model import Edit
from pinctl.anchors.search import find
from pinctl.model import Pin, Site

PIN = Pin("deepgemm", repo="https://git.example/DeepGEMM.git", sites=(
    Site("cmake/dg.cmake", "FetchContent(deepgemm)", "{git}"),
    Site("tools/build.py", "includes[src / *]", "{include_dirs}"),
))  # fmt: skip


def edits(file: str, source: str | bytes, pin: Pin = PIN, **patches: str) -> list[Edit]:
    """The edits in a build file; `patches` are files of patches/, by their names without suffix."""
    sources = {file: source.encode() if isinstance(source, str) else source}
    sources |= {f"patches/{name}.patch": text.encode() for name, text in patches.items()}
    return find([pin], sources)[pin.name]


def states(
    files: Mapping[str, str | bytes], file: str, source: str, **patches: str
) -> list[tuple[int, str, str, int | None]]:
    """Line, path, state and matches of each anchor of a build file, on these files of the tree."""
    found = judge(edits(file, source, PIN, **patches), forest(files))
    return [(one.edit.span.line, one.path, one.state.value, one.matches) for one in found]
