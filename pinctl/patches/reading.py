"""Reads unified diffs: git's form (git-diff(1), "GENERATING PATCH TEXT WITH -P") and that of diff(1) -u.

Names are those of `git apply`: one folder, such as `a/`, is stripped. What stands around the diffs is passed over, as
the message of a commit is. What cannot be applied exactly is refused: binary files, copies, combined diffs.
"""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime

from pinctl.patches.model import Diff, FileChange, Hunk
from pinctl.patches.names import unquoted

LONGEST = 1024 * 1024
"""Bytes that a patch may have."""

_HUNK = re.compile(rb"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?: ?(.*))?")
_INDEX = re.compile(r"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_TIME = re.compile(rb"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?(?: ([-+][0-9]{4}))?")
_NOWHERE = "/dev/null"


class PatchError(ValueError):
    """A text is no diff that can be applied; `line` counts from 1. `binary`: since a file in it is binary."""

    def __init__(self, message: str, line: int, *, binary: bool = False) -> None:
        super().__init__(message)
        self.line, self.binary = line, binary


def read(text: bytes) -> Diff:
    """The diff that `text` says. Raises PatchError."""
    if len(text) > LONGEST:
        raise PatchError(f"a patch has at most {LONGEST} bytes", 1)
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: bytes) -> None:
        pieces = text.split(b"\n")
        self.lines = [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
        self.at = 0

    def read(self) -> Diff:
        changes: list[FileChange] = []
        preamble = 0
        while self.at < len(self.lines):
            change = self._change()
            if change:
                changes.append(change)
            else:
                self.at += 1
                preamble = preamble if changes else self.at
        if not changes:
            raise PatchError("there is no diff in it", 1)
        return Diff(tuple(changes), b"".join(self.lines[:preamble]))

    def _change(self) -> FileChange | None:
        """The change that begins here, if one does."""
        line = self._head()
        if line.startswith(b"diff --git "):
            return self._git(line.removeprefix(b"diff --git "))
        if line.startswith(b"--- ") and self._head(1).startswith(b"+++ ") and self._head(2).startswith(b"@@ -"):
            return self._plain()
        if _HUNK.fullmatch(line):
            raise self._error("a hunk stands below no file")
        if line.startswith((b"diff --cc ", b"diff --combined ")):
            raise self._error("a combined diff of a merge cannot be applied")
        if line.startswith(b"Binary files ") and line.endswith(b" differ"):
            raise self._error("it changes a binary file", binary=True)
        return None

    def _head(self, ahead: int = 0) -> bytes:
        """A line of a header, without its line end: a patch may have been stored with CRLF as a whole."""
        at = self.at + ahead
        return self.lines[at].rstrip(b"\r\n") if at < len(self.lines) else b""

    def _error(self, message: str, *, binary: bool = False) -> PatchError:
        return PatchError(message, min(self.at, len(self.lines) - 1) + 1, binary=binary)

    # --- git's form

    def _git(self, names: bytes) -> FileChange:
        header = _Header(self._error)
        name = _same_name(names)
        self.at += 1
        while self.at < len(self.lines) and header.takes(self._head()):
            self.at += 1
        line = self._head()
        if line.startswith(b"GIT binary patch") or (line.startswith(b"Binary files ") and line.endswith(b" differ")):
            raise self._error("it changes a binary file", binary=True)
        old, new = header.old or name, header.new or name
        if line.startswith(b"--- ") and self._head(1).startswith(b"+++ "):
            sides = self._name(line[4:]), self._name(self._head(1)[4:])
            old, new = (self._agreed(header, *pair) for pair in zip((header.old, header.new), sides, strict=True))
            self.at += 2
        if not (old and new):
            raise self._error("the names of the file are not told")
        return FileChange(
            None if header.created else old,
            None if header.deleted else new,
            self._hunks(),
            header.old_mode,
            header.new_mode,
            *header.ids,
        )

    def _agreed(self, header: "_Header", told: str | None, found: str | None) -> str | None:
        """The name that the lines `---` and `+++` give, which must be that of the header. One is /dev/null where the
        file is new, or goes: then the other counts for both."""
        if found is None:
            if not (header.created or header.deleted):
                raise self._error("a file goes to or comes from /dev/null, and the header does not say so")
            return _NOWHERE
        if told and told != found:
            raise self._error("the header and the lines --- and +++ name different files")
        return found

    # --- that of diff(1)

    def _plain(self) -> FileChange:
        first, second = self._head()[4:], self._head(1)[4:]
        old = None if _is_epoch(first) else self._name(first)
        new = None if _is_epoch(second) else self._name(second)
        if old is None and new is None:
            raise self._error("the file is on neither side")
        if old and new:
            old = new = old if new.startswith(old) else new  # "x" and "x.orig": the shorter one (git's apply.c)
        self.at += 2
        return FileChange(old, new, self._hunks(), git=False)

    def _name(self, text: bytes) -> str | None:
        """A name of a line `---` or `+++`, without its first folder; None for /dev/null."""
        if text.startswith(b'"'):
            found = unquoted(text)
            if found is None:
                raise self._error("a name is quoted wrongly")
            name = found[0]
        else:
            name = os.fsdecode(text.partition(b"\t")[0])
        if name == _NOWHERE:
            return None
        if (stripped := _stripped(name)) is None:
            raise self._error("names begin with a folder such as a/ and b/, which is stripped")
        return stripped

    # --- hunks

    def _hunks(self) -> tuple[Hunk, ...]:
        found = []
        while self.at < len(self.lines) and self._head().startswith(b"@@ -"):
            found.append(self._hunk())
        return tuple(found)

    def _hunk(self) -> Hunk:
        match = _HUNK.fullmatch(self._head())
        if match is None:
            raise self._error("the numbers of a hunk are malformed")
        old, olds, new, news = (1 if group is None else int(group) for group in match.group(1, 2, 3, 4))
        self.at += 1
        lines: list[bytes] = []
        while olds > 0 or news > 0 or self._ends():
            if self._ends():
                if not lines:
                    raise self._error("a hunk begins with the mark of a missing line end")
                end = b"\r\n" if self.lines[self.at].endswith(b"\r\n") else b"\n"  # CRLF: of the patch as a whole
                lines[-1] = lines[-1].removesuffix(end)
                self.at += 1
                continue
            line = self._line()
            olds, news = olds - (line[:1] != b"+"), news - (line[:1] != b"-")
            if olds < 0 or news < 0:
                raise self._error("a hunk has more lines than its numbers say")
            lines.append(line)
            self.at += 1
        return Hunk(old, new, tuple(lines), match[5] or b"")

    def _ends(self) -> bool:
        r"""Whether the line here is `\ No newline at end of file`, in any language."""
        return self.at < len(self.lines) and self.lines[self.at].startswith(b"\\ ")

    def _line(self) -> bytes:
        if self.at >= len(self.lines):
            raise self._error("the last hunk is cut short")
        line = self.lines[self.at]
        if line in (b"\n", b"\r\n"):  # as editors leave an empty line between others
            return b" " + line
        if line[:1] not in (b" ", b"-", b"+"):
            raise self._error("a hunk has fewer lines than its numbers say")
        if not line.endswith(b"\n"):  # git takes it for a cut, too
            raise self._error("the last line of the patch has no line end")
        return line


class _Header:
    """The extended header lines of git."""

    def __init__(self, error: Callable[[str], PatchError]) -> None:
        self.error = error
        self.old: str | None = None
        self.new: str | None = None
        self.old_mode: str | None = None
        self.new_mode: str | None = None
        self.ids: tuple[str | None, str | None] = (None, None)
        self.created = self.deleted = False

    def takes(self, line: bytes) -> bool:
        """Whether `line` is one of them; what it says is kept. Raises PatchError."""
        for prefix, keep in _KEPT.items():
            if line.startswith(prefix):
                keep(self, line.removeprefix(prefix))
                return True
        return False

    def mode(self, text: bytes) -> str:
        if not re.fullmatch(rb"[0-7]{6}", text):
            raise self.error("a mode is malformed")
        return text.decode()

    def named(self, text: bytes) -> str:
        found = unquoted(text) if text.startswith(b'"') else (os.fsdecode(text), b"")
        if found is None or not found[0]:
            raise self.error("a name is quoted wrongly")
        return found[0]

    def keep_old_mode(self, text: bytes) -> None:
        self.old_mode = self.mode(text)

    def keep_new_mode(self, text: bytes) -> None:
        self.new_mode = self.mode(text)

    def keep_created(self, text: bytes) -> None:
        self.created, self.new_mode = True, self.mode(text)

    def keep_deleted(self, text: bytes) -> None:
        self.deleted, self.old_mode = True, self.mode(text)

    def keep_from(self, text: bytes) -> None:
        self.old = self.named(text)

    def keep_to(self, text: bytes) -> None:
        self.new = self.named(text)

    def refuse_copy(self, _: bytes) -> None:
        raise self.error("it copies a file; make the diff without -C")

    def keep_index(self, text: bytes) -> None:
        match = _INDEX.fullmatch(text.decode("ascii", "replace"))
        if match is None:
            raise self.error("the ids of a file are malformed")
        self.ids = match[1], match[2]
        if match[3]:
            self.old_mode = self.new_mode = match[3]

    def skip(self, _: bytes) -> None:
        """Nothing is to be kept."""


_KEPT: dict[bytes, Callable[[_Header, bytes], None]] = {
    b"old mode ": _Header.keep_old_mode,
    b"new mode ": _Header.keep_new_mode,
    b"new file mode ": _Header.keep_created,
    b"deleted file mode ": _Header.keep_deleted,
    b"rename from ": _Header.keep_from,
    b"rename to ": _Header.keep_to,
    b"rename old ": _Header.keep_from,
    b"rename new ": _Header.keep_to,
    b"copy from ": _Header.refuse_copy,
    b"copy to ": _Header.refuse_copy,
    b"similarity index ": _Header.skip,
    b"dissimilarity index ": _Header.skip,
    b"index ": _Header.keep_index,
}


def _same_name(text: bytes) -> str | None:
    """The name in `a/NAME b/NAME`, where the two are the same."""
    if text.startswith(b'"'):
        found = unquoted(text)
        if found is None:
            return None
        first, rest = _stripped(found[0]), found[1].removeprefix(b" ")
        second = unquoted(rest) if rest.startswith(b'"') else (os.fsdecode(rest), b"")
        return first if second and first == _stripped(second[0]) else None
    if text.endswith(b'"'):
        first_text, _, rest = text.partition(b' "')
        second = unquoted(b'"' + rest)
        first = _stripped(os.fsdecode(first_text))
        return first if second and first == _stripped(second[0]) else None
    half = len(text) // 2
    first, other = (_stripped(os.fsdecode(part)) for part in (text[:half], text[half + 1 :]))
    return first if text[half : half + 1] == b" " and first == other else None


def _stripped(name: str) -> str | None:
    """`name` without its first folder; None where it has none."""
    return name.partition("/")[2].lstrip("/") or None


def _is_epoch(text: bytes) -> bool:
    """Whether the time behind a name is the one that diff(1) -N gives a file that is not there."""
    match = _TIME.fullmatch(text.partition(b"\t")[2].strip())
    if match is None:
        return False
    stamp = f"{match[1].decode()} {(match[2] or b'+0000').decode()}"
    try:
        return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S %z") == datetime(1970, 1, 1, tzinfo=UTC)
    except ValueError:
        return False
