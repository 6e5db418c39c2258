"""Text of strangers made fit to print: no control reaches a terminal, no line is a command to a CI runner.

Values come from pull requests and upstream repositories. Characters that a terminal would obey or hide are shown as
escapes rather than dropped: two values that differ only in one of them must not look alike.
"""

import re

_RUNNER_COMMAND = re.compile(r"^([ \t]*):(?=:)|#(?=#[A-Za-z]*\[)", re.MULTILINE)
"""GitHub's runner obeys `::name::` after leading white space and `##[name]` anywhere; Azure's `##vso[`, TeamCity's
`##teamcity[`."""


def visible(text: str, keep: str = "\n\t") -> str:
    r"""`text` with every character that is not printable and not in `keep` (C0, C1, bidi and other format controls,
    odd spaces, lone surrogates) written as an escape: ESC becomes `\x1b`, a byte that is not UTF-8 `\xff`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in text)


def oneline(text: str) -> str:
    """`visible` text on one line: each run of white space is one space."""
    return visible(" ".join(part for part in re.split(r"[ \t\n]+", text) if part))


def inert(text: str) -> str:
    """`text` in which no line is a command to a CI runner: a space parts the characters that would begin it."""
    return _RUNNER_COMMAND.sub(lambda match: f"{match[0]} ", text)


def well_formed(text: str) -> str:
    """`text` without lone surrogates, which no UTF-8 document can hold: each becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _escape(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
