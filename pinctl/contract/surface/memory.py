"""What was read before: the facts of a file by its blob id, a surface by its commit.

An id names its content, so an entry can only be stale when the readers change, which `salt` tells. An entry carries a
digest, and one that is damaged is read anew.
"""

import binascii
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

MOST = 6000
"""Entries that are kept; the oldest are dropped."""
MOST_BYTES = 12 * 1024 * 1024
"""Bytes of all entries that are kept."""
_SHORT = 500
_MARK = "z"

_T = TypeVar("_T")

Entries = Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class Memory:
    """The entries of earlier runs, `known`, and those that this run used or made; `learned`: it made some."""

    known: Entries = field(default_factory=dict)
    salt: str = ""
    used: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    learned: bool = False
    most: int = MOST

    def get(self, key: str, decode: Callable[[Any], _T]) -> _T | None:
        """What is remembered under `key`, as `decode` makes it of plain data; None where that is nothing, or not sound.

        `decode` raises TypeError or ValueError for what is not sound.
        """
        entry = self.used.get(key) or self.known.get(key)
        if not entry or entry.get("digest") != self._digest(key, entry.get("text")):
            return None
        try:
            value = decode(json.loads(_unpacked(entry["text"])))
        except (AttributeError, TypeError, ValueError, RecursionError, zlib.error, binascii.Error):
            return None
        self.used[key] = entry
        return value

    def has(self, key: str) -> bool:
        """Whether something is remembered under `key`, sound or not."""
        return key in self.used or key in self.known

    def put(self, key: str, value: object) -> None:
        """Remember `value`, which is plain data or tuples of it."""
        text = _packed(json.dumps(value, separators=(",", ":")))
        self.used[key] = {"text": text, "digest": self._digest(key, text)}
        self.learned = True

    def _digest(self, key: str, text: object) -> str:
        return hashlib.sha256(f"{self.salt}\0{key}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def kept(self) -> dict[str, Mapping[str, Any]]:
        """The entries to keep: those that were used last, and before them others that still count."""
        others = {key: entry for key, entry in self.known.items() if key not in self.used}
        found, size = {}, 0
        for key, entry in list({**others, **self.used}.items())[: -self.most - 1 : -1]:
            size += len(entry["text"])
            if size <= MOST_BYTES:
                found[key] = entry
        return dict(reversed(found.items()))


def _packed(plain: str) -> str:
    """JSON as it is kept: what is long, compressed, behind a letter with which no JSON begins."""
    if len(plain) < _SHORT:
        return plain
    return _MARK + binascii.b2a_base64(zlib.compress(plain.encode(), 1), newline=False).decode()


def _unpacked(text: str) -> str | bytes:
    """Raises zlib.error, binascii.Error."""
    return zlib.decompress(binascii.a2b_base64(text[1:])) if text.startswith(_MARK) else text
