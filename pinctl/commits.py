"""Commit ids as pins.toml holds them: full, in lower case, of SHA-1 (40 digits) or SHA-256 (64)."""

import re

_FULL = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHORT = re.compile(r"[0-9a-f]{4,63}")


def is_full(text: str) -> bool:
    """Whether the whole of `text` is a full commit id."""
    return _FULL.fullmatch(text) is not None


def is_short(text: str) -> bool:
    """Whether the whole of `text` may abbreviate a commit id (git takes four digits and more)."""
    return _SHORT.fullmatch(text) is not None
