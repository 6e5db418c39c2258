"""Plans: edits computed and not yet applied. `--check`, `--diff` and writing share one plan."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace the bytes `start:end` of a file by `new`."""

    start: int
    end: int
    new: bytes


class OverlapError(ValueError):
    """Two edits of one file touch the same bytes."""


def apply(source: bytes, edits: Iterable[Edit]) -> bytes:
    """`source` with all `edits` applied; equal edits count once. Raises OverlapError."""
    pieces, at = [], 0
    last: Edit | None = None
    for edit in sorted(set(edits)):
        if edit.start < at or (last is not None and edit.start == edit.end == last.start == last.end):
            raise OverlapError(f"bytes {edit.start}:{edit.end} are edited twice")
        pieces += [source[at : edit.start], edit.new]
        at, last = edit.end, edit
    return b"".join([*pieces, source[at:]])


def digest(data: bytes) -> str:
    """sha256 in hex."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


class FilePlan(NamedTuple):
    """One file's change. `before` is None for a file that does not exist yet; `path` is relative to the root."""

    path: str
    before: bytes | None
    after: bytes
    executable: bool = False

    @property
    def changed(self) -> bool:
        return self.before != self.after


class Exchange(NamedTuple):
    """A file of a source tree that becomes another: None before, it comes; None after, it goes. Whether it may be
    executed stays where `executable` is None."""

    path: str
    before: bytes | None
    after: bytes | None
    executable: bool | None = None


class Plan(NamedTuple):
    """The files to write, all or none, ordered by path."""

    files: Sequence[FilePlan] = ()

    @property
    def pending(self) -> tuple[FilePlan, ...]:
        return tuple(f for f in self.files if f.changed)

    def diff(self, below: str = "") -> str:
        """A unified diff of the plan in git's form, which `git apply` takes (also without a last newline).

        `below` is the way from the top of the git repository to the root, "" or "engine/": `git apply` passes over
        what a diff does not name from the top.
        """
        return "".join(_file_diff(f, below) for f in self.pending)


def _file_diff(plan: FilePlan, below: str) -> str:
    import difflib

    before = _lines(plan.before or b"")
    after = _lines(plan.after)
    old, new = _quote(f"a/{below}{plan.path}"), _quote(f"b/{below}{plan.path}")
    head = [f"diff --git {old} {new}\n"]
    if plan.before is None:
        head.append(f"new file mode {'100755' if plan.executable else '100644'}\n")
        old = "/dev/null"
    body = list(difflib.unified_diff(before, after, old, new))
    return "".join(head + [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body])


def _lines(data: bytes) -> list[str]:
    """Split at LF only: a unified diff knows no other line end (security: VT, NEL, U+2028)."""
    text = data.decode("utf-8", "surrogateescape")
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _quote(path: str) -> str:
    """A path as git prints it in a diff header: C-quoted when it holds quotes, backslashes or controls."""
    if not any(c in '"\\' or ord(c) < 32 or ord(c) == 127 for c in path):
        return path
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"'
        + "".join(escapes.get(c) or (c if ord(c) >= 32 and ord(c) != 127 else f"\\{ord(c):03o}") for c in path)
        + '"'
    )
