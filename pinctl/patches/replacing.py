"""Texts exchanged for others in one file, with how often they must be there: for files of which no diff can be made,
such as a header inside site-packages."""

import re

from pinctl.patches.model import Blob, Hunk, Odd, Replacement
from pinctl.patches.placing import Nearest, adapted, split

_MOST_COMPARED = 5000
_LONGEST = 200
"""Lines, and bytes of a line, among which one is looked for that is like another."""


def counted(change: Replacement, content: bytes) -> tuple[int, int]:
    """How often the text that is looked for is there, and the one that takes its place. Where one holds the other, the
    longer one counts."""
    change = fitted(change, content)
    longer_first = sorted((change.search, change.replace), key=len, reverse=True)
    found = re.findall(b"|".join(map(re.escape, longer_first)), content)
    return found.count(change.search), found.count(change.replace)


def apply(change: Replacement, there: Blob | Odd | None) -> Blob | tuple[str, int, int, Nearest | None]:
    """The file with the text exchanged; or why not, as the fields of a `Misfit` after its path."""
    if not isinstance(there, Blob):
        return there.reason if there else "does not exist", 0, 0, None
    old, new = counted(change, there.content)
    if old == change.times and new == 0:
        fit = fitted(change, there.content)
        return there._replace(content=there.content.replace(fit.search, fit.replace))
    why = f"has the text {_times(old)}, and not {_times(change.times)}"
    if new:
        why += f"; what takes its place is there {_times(new)}"
    return why, 0, 0, None if old or new else _nearest(change, there.content)


def fitted(change: Replacement, content: bytes) -> Replacement:
    """`change` with the line ends of the file."""
    hunk = Hunk(1, 1, tuple(b" " + line for line in (*split(change.search), *split(change.replace))))
    if adapted([hunk], content)[0] == hunk:
        return change
    ends = (b"\n", b"\r\n") if b"\r\n" in content else (b"\r\n", b"\n")
    return change._replace(search=change.search.replace(*ends), replace=change.replace.replace(*ends))


def _times(number: int) -> str:
    return {0: "nowhere", 1: "once", 2: "twice"}.get(number, f"{number} times")


def _nearest(change: Replacement, content: bytes) -> Nearest | None:
    """The line that is most like the first one that is looked for, where neither is too long to be compared."""
    from difflib import get_close_matches

    wanted = next((line.strip() for line in change.search.split(b"\n") if line.strip()), b"")[:_LONGEST]
    lines = [line.strip() for line in content.split(b"\n")]
    likely = {line.decode("utf-8", "replace"): line for line in lines if 0 < len(line) <= _LONGEST}
    close = get_close_matches(wanted.decode("utf-8", "replace"), list(likely)[:_MOST_COMPARED], 1, 0.6)
    if not close:
        return None
    found = likely[close[0]]
    return Nearest(lines.index(found) + 1, 0, change.search.count(b"\n") + 1, wanted, found)
