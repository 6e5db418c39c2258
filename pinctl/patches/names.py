"""Names of files in diffs: C-quoted where they hold quotes, backslashes, controls or bytes above ASCII (git-diff(1),
core.quotePath)."""

import os
import re

_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_LETTERS = {value: letter for letter, value in _ESCAPES.items()}
_ESCAPE = re.compile(rb'\\(?:([0-3][0-7]{2})|([abtnvfr"\\]))')
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def unquoted(text: bytes) -> tuple[str, bytes] | None:
    """The name that the C-quoted `text` begins with, and what stands behind it; None where it is not well-formed."""
    match = _QUOTED.match(text)
    if match is None or b"\\" in _ESCAPE.sub(b"", match[1]):
        return None
    plain = _ESCAPE.sub(lambda found: bytes([int(found[1], 8) if found[1] else _ESCAPES[found[2]]]), match[1])
    return os.fsdecode(plain), text[match.end() :]


def quoted(name: str) -> bytes:
    """`name` as git writes it."""
    raw = os.fsencode(name)
    if not any(byte < 32 or byte > 126 or byte in b'"\\' for byte in raw):
        return raw
    return b'"' + b"".join(map(_escaped, raw)) + b'"'


def _escaped(byte: int) -> bytes:
    if byte in _LETTERS:
        return b"\\" + _LETTERS[byte]
    return bytes([byte]) if 32 <= byte <= 126 else b"\\%03o" % byte
