"""Files that a checkout without Git LFS has as pointers alone (the specification of git-lfs pointers, version 1)."""

import re
from collections.abc import Iterable, Iterator

from pinctl.upstream.forest import Forest, component
from pinctl.upstream.scans import POINTER

_LARGEST = 1024
_ATTRIBUTES = ".gitattributes"
_LINE = re.compile(r"[ \t]*(\"(?:[^\"\\]|\\.)*\"|[^\s#\"]\S*)[ \t]+([^\n]*)")
_MOST_RULES = 200


def pointers(forest: Forest, used: Iterable[str]) -> list[str]:
    """The files among `used` that are LFS pointers, of those that a .gitattributes gives to LFS."""
    rules = list(_rules(forest))
    if not rules:
        return []
    kept = [path for path in used if any(rule.fullmatch(path) for rule in rules)]
    return sorted(path for path, blob in forest.read(kept, _LARGEST).items() if blob.startswith(POINTER))


def _rules(forest: Forest) -> Iterator["re.Pattern[str]"]:
    """The paths that any .gitattributes of the forest gives to LFS (gitattributes(5))."""
    files = [path for path in forest.files if path.rpartition("/")[2] == _ATTRIBUTES]
    left = _MOST_RULES
    for path, blob in sorted(forest.read(files).items()):
        folder = path.removesuffix(_ATTRIBUTES)
        for line in blob.decode("utf-8", "replace").split("\n"):
            match = _LINE.match(line)
            if match and left and "filter=lfs" in match[2].split():
                left -= 1
                yield _pattern(folder, match[1].strip('"'))


def _pattern(folder: str, pattern: str) -> "re.Pattern[str]":
    """A pattern of gitignore(5) in `folder`: without a slash it holds at any depth."""
    anchored = "/" in pattern.rstrip("/")
    parts = pattern.strip("/").split("/")
    inner = "".join("(?:[^/]+/)*" if part == "**" else f"{component(part)}/" for part in parts).removesuffix("/")
    if parts[-1] == "**":
        inner += ".*"
    return re.compile(re.escape(folder) + ("" if anchored else "(?:[^/]+/)*") + inner)
