"""What a patch says, as plain data: the changes of files and their hunks, or a text that is exchanged for another.

Text is bytes throughout, since a patch may be of a file in any encoding; paths are text, with bytes that are not UTF-8
as surrogate escapes, and begin at the root of the tree that is patched.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

_FLIPPED = {b" ": b" ", b"-": b"+", b"+": b"-"}


class Hunk(NamedTuple):
    """Lines that change, between lines that do not.

    `lines` each begin with a blank, `-` or `+`, and end with the line end that they have in the file: the last line of
    a file may have none. `old` and `new` are the numbers of the first line before and after, counted from 1 (0 where
    there is none). `section` is what stands behind the numbers, for people.
    """

    old: int
    new: int
    lines: tuple[bytes, ...]
    section: bytes = b""

    @property
    def before(self) -> list[bytes]:
        """The lines of the file that are replaced, with those around them."""
        return [line[1:] for line in self.lines if line[:1] != b"+"]

    @property
    def after(self) -> list[bytes]:
        return [line[1:] for line in self.lines if line[:1] != b"-"]

    @property
    def leading(self) -> int:
        """How many unchanged lines stand at the beginning."""
        return next((n for n, line in enumerate(self.lines) if line[:1] != b" "), len(self.lines))

    @property
    def trailing(self) -> int:
        return next((n for n, line in enumerate(reversed(self.lines)) if line[:1] != b" "), len(self.lines))

    def reversed(self) -> "Hunk":
        """The hunk that takes this one back; in each run of changes the removed lines come first."""
        return Hunk(self.new, self.old, tuple(_ordered(_FLIPPED[line[:1]] + line[1:] for line in self.lines)),
                    self.section)  # fmt: skip


def _ordered(lines: Iterator[bytes]) -> Iterator[bytes]:
    added: list[bytes] = []
    for line in lines:
        if line[:1] == b"+":
            added.append(line)
            continue
        if line[:1] == b" ":
            yield from added
            added = []
        yield line
    yield from added


class FileChange(NamedTuple):
    """What becomes of one file: `old` is None for a new one, `new` for one that goes; two names: it is renamed.

    Modes are octal as git writes them, None where nothing is said of them. The ids are those of git's blobs, or their
    first digits. `git`: the change is written in git's form.
    """

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...] = ()
    old_mode: str | None = None
    new_mode: str | None = None
    old_id: str | None = None
    new_id: str | None = None
    git: bool = True

    @property
    def path(self) -> str:
        """The file as a person is told of it: by its name after the change, where it has one."""
        return self.new or self.old or ""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path))

    def reversed(self) -> "FileChange":
        hunks = tuple(hunk.reversed() for hunk in self.hunks)
        return FileChange(self.new, self.old, hunks, self.new_mode, self.old_mode, self.new_id, self.old_id, self.git)


class Diff(NamedTuple):
    """A unified diff. `preamble` is what stands before the first file, such as a commit's message."""

    changes: tuple[FileChange, ...]
    preamble: bytes = b""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for change in self.changes for path in change.paths))

    def reversed(self) -> "Diff":
        """The diff that takes this one back."""
        return Diff(tuple(change.reversed() for change in reversed(self.changes)))


class Replacement(NamedTuple):
    """A text of the file `target` that is exchanged for another one, everywhere, and that is there so many `times`."""

    target: str
    search: bytes
    replace: bytes
    times: int = 1

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.target,)

    def reversed(self) -> "Replacement":
        return self._replace(search=self.replace, replace=self.search)


Change = Diff | Replacement


class Blob(NamedTuple):
    """A regular file; whether it may be executed is None where that is not known."""

    content: bytes
    executable: bool | None = None


class Odd(NamedTuple):
    """What stands at a path and can not be patched; `reason` completes "FILE ..." ("is a symbolic link")."""

    reason: str


Files = Mapping[str, Blob | Odd | None]
"""What stands at each path that a patch names; None, or no entry: nothing."""
