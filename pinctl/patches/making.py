"""Makes diffs of files, as git does: with three lines around each change, blob ids, and the line of the function."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal

from pinctl.patches.model import Blob, Diff, FileChange, Files, Hunk, Odd
from pinctl.patches.placing import split

_CONTEXT = 3
_SECTION = re.compile(rb"[A-Za-z_$]")  # how git knows the head of a function in a file of no known language
_LONGEST_SECTION = 80
_MODES = {True: "100755", False: "100644", None: "100644"}
_NONE = "0" * 40


def make(before: Files, after: Files, *, renamed: Mapping[str, str] | None = None, sha256: bool = False) -> Diff:
    """What makes `after` of `before`; `renamed` are files of which it is known what they are called after."""
    known = (renamed or {}).items()
    names = {new: old for old, new in known if _is(before, old) and _is(after, new) and not _is(after, old)}
    paths = [path for path in sorted({**before, **after}) if path not in names.values()]
    made = (_change(names.get(path, path), path, before, after, sha256=sha256) for path in paths)
    return Diff(tuple(change for change in made if change))


def _is(files: Files, path: str) -> bool:
    return isinstance(files.get(path), Blob)


def _change(old: str, new: str, before: Files, after: Files, *, sha256: bool) -> FileChange | None:
    one, other = before.get(old), after.get(new)
    if isinstance(one, Odd) or isinstance(other, Odd) or (one == other and old == new):
        return None
    first, second = (side.content if side else b"" for side in (one, other))
    ids = [blob_id(side.content, sha256=sha256) if side else _NONE for side in (one, other)]
    same = first == second and one is not None and other is not None
    return FileChange(
        old=old if one else None,
        new=new if other else None,
        hunks=tuple(hunks(first, second)),
        old_mode=_MODES[one.executable] if one else None,
        new_mode=_MODES[other.executable] if other else None,
        old_id=None if same else ids[0],
        new_id=None if same else ids[1],
    )


def blob_id(content: bytes, *, sha256: bool = False) -> str:
    """The id that git gives a blob (git-hash-object(1))."""
    make_hash = hashlib.sha256 if sha256 else hashlib.sha1
    return make_hash(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def hunks(before: bytes, after: bytes, context: int = _CONTEXT) -> Iterator[Hunk]:
    """The hunks that make one text of another."""
    old, new = split(before), split(after)
    for group in _Matcher(old, new).get_grouped_opcodes(context):
        if any(tag != "equal" for tag, *_ in group):
            yield _hunk(group, old, new)


_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


class _Matcher(SequenceMatcher[bytes]):
    """Compares the lines alone between what begins and what ends alike: the rest would take most of the time."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        super().__init__(None, [], [])
        self.old, self.new = old, new

    def get_opcodes(self) -> list[_Opcode]:
        """See difflib."""
        old, new = self.old, self.new
        most = min(len(old), len(new))
        start = next((n for n in range(most) if old[n] != new[n]), most)
        end = next((n for n in range(most - start) if old[-1 - n] != new[-1 - n]), most - start)
        low, high = len(old) - end, len(new) - end
        between = SequenceMatcher(None, old[start:low], new[start:high]).get_opcodes()
        moved: list[_Opcode] = [(tag, start + i, start + j, start + k, start + m) for tag, i, j, k, m in between]
        head: list[_Opcode] = [("equal", 0, start, 0, start)] if start else []
        tail: list[_Opcode] = [("equal", low, len(old), high, len(new))] if end else []
        return head + moved + tail


def _hunk(group: Sequence[tuple[str, int, int, int, int]], old: Sequence[bytes], new: Sequence[bytes]) -> Hunk:
    lines: list[bytes] = []
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            lines += [b" " + line for line in old[i1:i2]]
            continue
        lines += [b"-" + line for line in old[i1:i2]]
        lines += [b"+" + line for line in new[j1:j2]]
    first, last = group[0], group[-1]
    return Hunk(_start(first[1], last[2]), _start(first[3], last[4]), tuple(lines), _section(old, first[1]))


def _start(at: int, end: int) -> int:
    """The number of the first of the lines `at:end`, or of the line before where there are none."""
    return at + (at < end)


def _section(lines: Sequence[bytes], at: int) -> bytes:
    """The nearest line before `at` that may be the head of a function."""
    found = next((line for line in reversed(lines[:at]) if _SECTION.match(line)), b"")
    return found.rstrip()[:_LONGEST_SECTION]
