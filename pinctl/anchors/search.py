"""Finds the edits that build files make of pinned sources. What reads them is loaded where there may be some."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import islice

from pinctl.anchors.model import MOST, Edit
from pinctl.model import Pin
from pinctl.upstream import references


class _Language(Enum):
    """The languages, each with what a file of it holds where it edits something."""

    CMAKE = rb"(?i)string[ \t\r\n]*\([ \t\r\n]*(?:REGEX[ \t\r\n]+)?REPLACE|\bsed\b|patch|\bapply\b"
    PYTHON = rb"\.replace\(|\bre\.sub\("
    SCRIPT = rb"\bsed\b|\bpatch\b|\bgit\b[^\n]{0,200}?\b(?:apply|am)\b"

    @classmethod
    def of(cls, file: str) -> "_Language | None":
        """The language of a file by its name."""
        if references.is_cmake(file):
            return cls.CMAKE
        if file.endswith(".py"):
            return cls.PYTHON
        return cls.SCRIPT if references.is_script(file) else None


def concerns(file: str, pin: Pin) -> bool:
    """Whether a file may edit the source of `pin`: CMake code, scripts; Python that is its site or named after it."""
    return references.concerns(file, pin) or references.is_script(file)


def find(pins: Sequence[Pin], sources: Mapping[str, bytes]) -> dict[str, list[Edit]]:
    """By the name of each of `pins` the edits that the build files `sources`, by path, make of its source, in the order
    of their places. Patches that are applied are among `sources`, too."""
    found: dict[str, list[Edit]] = {pin.name: [] for pin in pins}
    for file, source in sorted(sources.items()):
        language = _Language.of(file)
        if language is not None and re.search(language.value, source):
            for pin in pins:
                if concerns(file, pin):
                    found[pin.name] += islice(_edits(language, file, source, pin), MOST - len(found[pin.name]))
    if not any(edit.patch for edits in found.values() for edit in edits):
        return found
    from pinctl.anchors import patching

    return {pin.name: patching.read(found[pin.name], pin, sources) for pin in pins}


def _edits(language: _Language, file: str, source: bytes, pin: Pin) -> Iterable[Edit]:
    from pinctl.anchors import cmake, python, scripts

    if language is _Language.CMAKE:
        return cmake.find(file, source, frozenset(references.called(pin)))
    if language is _Language.PYTHON:
        return python.find(file, source, references.source_names(pin))
    return scripts.find(file, source, pin, is_shell=references.is_shell(file))
