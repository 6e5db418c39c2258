"""A repository's first-parent history, and the contents of files in it, by git's own plumbing."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import TracebackType
from typing import Self

_REGULAR = ("100644", "100755")
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the first-parent history; `number` counts from 0, the oldest."""

    id: str
    number: int
    time: int

    def __str__(self) -> str:
        return f"{self.id[:10]} {datetime.fromtimestamp(self.time, UTC):%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit did to the watched files: the new content's id by path, None for a file that went."""

    commit: Commit
    files: Mapping[str, str | None]


class History:
    """The first-parent history of `revision` in the repository at `path`, which is only read."""

    def __init__(self, path: str, revision: str = "HEAD") -> None:
        self._git = ("git", "--no-replace-objects", "--literal-pathspecs", "-c", "core.quotePath=false", "-C", path)
        self._revision = revision
        records = [line.split() for line in self._log("--format=%H %ct").splitlines()]
        self.commits = [Commit(id_, number, int(time)) for number, (id_, time) in enumerate(records)]
        self._cat = subprocess.Popen([*self._git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.read = lru_cache(_KEPT)(self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cat.communicate()

    def _log(self, *args: str, paths: Sequence[str] = ()) -> str:
        command = [*self._git, "log", "--first-parent", "--reverse", *args, self._revision, "--", *paths]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8", errors="replace").stdout

    def changes(self, paths: Sequence[str]) -> Iterator[Change]:
        """The commits that touched one of `paths`, oldest first."""
        by_id = {commit.id: commit for commit in self.commits}
        raw = ("--raw", "--no-abbrev", "--no-renames", "--diff-merges=first-parent", "--format=%x00%H")
        for record in self._log(*raw, paths=paths).split("\0")[1:]:
            id_, *lines = record.splitlines()
            yield Change(by_id[id_], dict(_entry(line) for line in lines if line))

    def _read(self, blob: str) -> bytes:
        """The content of the object `blob`. Raises LookupError where the repository lacks it."""
        stdin, stdout = self._cat.stdin, self._cat.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{blob}\n".encode())
        stdin.flush()
        _, kind, *size = stdout.readline().split()
        if kind != b"blob":
            raise LookupError(f"{blob} is {kind.decode()}")
        return stdout.read(int(size[0]) + 1)[:-1]


def _entry(line: str) -> tuple[str, str | None]:
    """One line of `git log --raw`: the path and the id of its new content; links and submodules count as gone."""
    fields, path = line.split("\t", 1)
    _, mode, _, blob, _ = fields.split()
    return path, blob if mode in _REGULAR else None
