"""What may be asked of a server: HEAD, full refs, patterns of them, full ids; nothing that git would have to guess."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from pinctl.commits import is_full
from pinctl.errors import ExternalError

HEAD = "HEAD"
"""The commit that a server has checked out, or would have: that of its default branch."""

_OURS = "refs/pinctl/"
_SHA256 = 64  # digits of an id
_REF = re.compile(r"refs/(?!replace/)[A-Za-z0-9._+@#,=/-]{1,250}(?:/\*)?")
_ODD_REF = re.compile(r"\.\.|//|/\.|@\{|/-|\.lock(?:/|$)|[./]$|/refs/")


def check(wants: Sequence[str]) -> None:
    """Raises ExternalError for what is neither HEAD nor a full ref, whose last part may be `*`, nor a full id."""
    for want in wants:
        if want != HEAD and not is_full(want) and (not _REF.fullmatch(want) or _ODD_REF.search(want)):
            raise ExternalError(f"{want[:80]!r} is neither a full ref (refs/heads/NAME) nor a full id")


def is_sha256(wants: Sequence[str]) -> bool:
    """Whether there are ids of SHA-256 among what is asked for."""
    return any(len(want) == _SHA256 and is_full(want) for want in wants)


def refspec(want: str) -> str:
    """What `git fetch` is asked for, and where it puts it (git-fetch(1), "<refspec>")."""
    return f"+{want}:{_OURS}{want}" if want == HEAD or is_full(want) else f"+{want}:{want}"


def remote(ref: str) -> str:
    """What the server calls the ref that is `ref` here."""
    return HEAD if ref == f"{_OURS}{HEAD}" else ref


def matching(refs: Iterable[tuple[str, str]], patterns: Sequence[str]) -> dict[str, str]:
    """Those of `refs` (names and ids) that match any of `patterns`: full names, `*` for any text. What a tag leads to
    goes with it."""
    return {name: id_ for name, id_ in refs if any(_matches(name, pattern) for pattern in patterns)}


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.removesuffix("^{}"), pattern) or name == pattern
