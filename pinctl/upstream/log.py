"""The commits between two points of a history as git tells them, and how they are told to people: merges folded.

Authors, dates and subjects are claims of whoever wrote the commit: they are bounded and cleaned here, once.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

FORMAT = "%H%x00%P%x00%ct%x00%an%x00%s%x00%b"
"""What `parse` reads: the output of `git log -z` with this format (git-log(1), "PRETTY FORMATS")."""
LONGEST = 200
"""Characters of a subject, of an author and of the first line of a body."""
LATEST = 253_402_300_799
"""The last second of the year 9999, in Unix seconds."""

_FIELDS = FORMAT.count("%x00") + 1
_READ = 8 * LONGEST  # bytes of a text that are looked at
# GitHub, Bitbucket and GitLab name the branch in the subject of a merge, and the request's title below it.
_BY_A_SERVER = re.compile(
    r"Merge pull request #\d+ from |Merged in \S+ \(pull request #\d+\)|Merge branch '.+' into '.+'"
)
_REQUEST = re.compile(r"Merge pull request #([0-9]{1,9}) |.*\((?:pull request )?#([0-9]{1,9})\)$")


class Commit(NamedTuple):
    """A commit: the full ids of itself and its parents, when it was committed (Unix seconds, 0 to `LATEST`), and the
    first lines of its message, `lead` being that of the body."""

    id: str
    parents: tuple[str, ...]
    time: int
    author: str
    subject: str
    lead: str = ""

    @property
    def title(self) -> str:
        """What it is about: the subject; of a merge that a server made, the title of the merged request."""
        merged = len(self.parents) > 1 and _BY_A_SERVER.match(self.subject)
        return self.lead if merged and self.lead and not self.lead.startswith("See merge request") else self.subject

    @property
    def request(self) -> int | None:
        """The number of the pull request that it merges, as its subject says; None where it says none."""
        match = _REQUEST.match(self.subject)
        return int(match[1] or match[2]) if match else None


class Entry(NamedTuple):
    """One line of a log: a commit, and those that came in with it where it is a merge, newest first."""

    commit: Commit
    folded: tuple[Commit, ...] = ()

    @property
    def title(self) -> str:
        """What the commit is about."""
        return self.commit.title


def parse(output: bytes) -> list[Commit]:
    """The commits that `git log -z --format=FORMAT` printed, in its order."""
    fields = output.split(b"\0")
    return [_commit(*fields[at : at + _FIELDS]) for at in range(0, len(fields) - 1, _FIELDS)]


def _commit(id_: bytes, parents: bytes, time: bytes, author: bytes, subject: bytes, body: bytes) -> Commit:
    return Commit(
        id_.decode("ascii"),
        tuple(parents.decode("ascii").split()),
        _clamped(time),
        _line(author),
        _line(subject),
        _line(body.lstrip(b"\r\n").partition(b"\n")[0]),
    )


def _clamped(time: bytes) -> int:
    """Any claimed time as one that every calendar can hold; 0 where the commit has none."""
    if not time.isdigit():
        return 0
    return min(int(time), LATEST) if len(time) <= len(str(LATEST)) else LATEST


def _line(raw: bytes) -> str:
    """At most LONGEST characters on one line, without any that a terminal would obey or hide."""
    text = raw[:_READ].decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def fold(commits: Iterable[Commit], tip: str) -> list[Entry]:
    """The first-parent line from `tip` (a full id) through `commits`, newest first, each merge with what it brought in.

    Every commit stands exactly once: under the oldest merge that brought it in. What `tip` does not lead to within
    `commits`, as where a long log was cut, follows in lines of its own. The order within a merge is that of `commits`.
    """
    left = {commit.id: commit for commit in commits}
    order = {id_: number for number, id_ in enumerate(left)}
    entries: list[Entry] = []
    for start in (tip, *order):
        line = []
        while start in left:
            line.append(left.pop(start))
            start = next(iter(line[-1].parents), "")
        brought = [_taken_from(left, commit.parents[1:]) for commit in reversed(line)]
        entries += [
            Entry(commit, tuple(sorted(folded, key=lambda one: order[one.id])))
            for commit, folded in zip(line, reversed(brought), strict=True)
        ]
    return entries


def _taken_from(left: dict[str, Commit], ids: Iterable[str]) -> list[Commit]:
    """The commits of `left` that `ids` lead to, which leave it."""
    found, wanted = [], list(ids)
    while wanted:
        if commit := left.pop(wanted.pop(), None):
            found.append(commit)
            wanted += commit.parents
    return found
