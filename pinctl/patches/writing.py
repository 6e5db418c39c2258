"""Writes unified diffs in git's form (git-diff(1), "GENERATING PATCH TEXT WITH -P"), as `git apply` and patch(1) read
them. What `reading` reads of the result is what was written."""

from collections.abc import Iterator

from pinctl.patches.model import Diff, FileChange, Hunk
from pinctl.patches.names import quoted

_PLAIN_MODE = "100644"
_NO_END = b"\\ No newline at end of file\n"


def write(diff: Diff) -> bytes:
    """The text of `diff`, its preamble first."""
    return diff.preamble + b"".join(piece for change in diff.changes for piece in _change(change))


def _change(change: FileChange) -> Iterator[bytes]:
    old, new = change.old or change.path, change.path
    a, b = quoted(f"a/{old}"), quoted(f"b/{new}")
    if change.git:
        yield b"diff --git %s %s\n" % (a, b)
        yield from _header(change)
    if change.hunks:
        # A blank in a name: the tab tells its end (git's diff.c, "quote_two_c_style").
        yield b"--- %s%s\n" % (a if change.old else b"/dev/null", _tab(a) if change.old else b"")
        yield b"+++ %s%s\n" % (b if change.new else b"/dev/null", _tab(b) if change.new else b"")
        for hunk in change.hunks:
            yield from _hunk(hunk)


def _tab(name: bytes) -> bytes:
    return b"\t" if b" " in name and not name.startswith(b'"') else b""


def _header(change: FileChange) -> Iterator[bytes]:
    if change.old is None:
        yield _line(f"new file mode {change.new_mode or _PLAIN_MODE}")
    elif change.new is None:
        yield _line(f"deleted file mode {change.old_mode or _PLAIN_MODE}")
    elif change.old_mode != change.new_mode:
        yield _line(f"old mode {change.old_mode or _PLAIN_MODE}")
        yield _line(f"new mode {change.new_mode or _PLAIN_MODE}")
    if change.old and change.new and change.old != change.new:
        yield b"rename from %s\n" % quoted(change.old)
        yield b"rename to %s\n" % quoted(change.new)
    if change.old_id and change.new_id:
        kept = change.old and change.new and change.old_mode and change.old_mode == change.new_mode
        yield _line(f"index {change.old_id}..{change.new_id}" + (f" {change.new_mode}" if kept else ""))


def _line(text: str) -> bytes:
    return text.encode("ascii") + b"\n"


def _hunk(hunk: Hunk) -> Iterator[bytes]:
    head = f"@@ -{_range(hunk.old, len(hunk.before))} +{_range(hunk.new, len(hunk.after))} @@".encode("ascii")
    yield head + (b" " + hunk.section if hunk.section else b"") + b"\n"
    for line in hunk.lines:
        yield line
        if not line.endswith(b"\n"):
            yield b"\n" + _NO_END


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"
