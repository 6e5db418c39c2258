"""Which paths pins.toml may name: below its folder, and never git's own files. Pure text work."""

import re
from posixpath import normpath

_LONGEST = 1024
"""Bytes that a path may have."""

_DRIVE = re.compile(r"[A-Za-z]:/")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# HFS+ leaves these out when it compares names, so that `.g\u200cit` opens `.git` (git's utf8.c, next_hfs_char).
_IGNORED_BY_HFS = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def path_problem(path: str) -> str | None:
    """Why `path` (a file, a folder or a glob) may not be used, as a clause such as "it is absolute"; None if it may.

    A symlink on the way is seen only where the file is opened.
    """
    if not path or len(path.encode("utf-8", "replace")) > _LONGEST:
        return "it is empty" if not path else f"it has more than {_LONGEST} bytes"
    if _CONTROL.search(path):
        return "it holds a control character"
    if "\\" in path:
        return "it holds a backslash; paths are written with `/`"
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        return "it is absolute; write it as seen from the folder of pins.toml"
    if path.startswith("-"):
        return "it starts with `-`, which tools read as an option"
    parts = path.split("/")
    if ".." in parts:
        return "it holds `..`, which leaves the folder of pins.toml"
    return "it enters .git" if any(is_git(part) for part in parts) else None


def is_git(part: str) -> bool:
    """Whether a file system may take `part` for `.git`: by case, as HFS+ does, or as NTFS does (git's path.c)."""
    if part.isascii() and "git" not in part.lower():  # as nearly all are
        return False
    plain = part.translate(_IGNORED_BY_HFS).casefold()
    return plain.partition(":")[0].rstrip(" .") in (".git", "git~1")


def plain(path: str) -> str:
    """`path` without `./` and doubled slashes: the one spelling of it."""
    return normpath(path)
