r"""Regular expressions of sed and of CMake in the words of RE2, which matches in linear time whatever the pattern.

None is the answer for what has no translation of the very same meaning: backreferences, boundaries of one side (`\<`),
what is undefined or an error there. Rules: POSIX.1-2017 XBD 9, with the extensions that GNU sed's manual lists under
"Regular expressions: selecting text"; cmake-commands(7), string(), "Regex Specification", and KWSys'
RegularExpression.cxx for what that leaves open. Texts are bytes, as in the locale of a container.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST = 2000
"""Characters of a pattern that is looked at."""

_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<bracket>\[\^?\]?(?:\[(?P<mark>[.:=]).*?(?P=mark)\]|[^\]])*+\])|(?P<char>.)", re.DOTALL
)
_INTERVAL = re.compile(r"(\d*)(,?)(\d*)")
_ITEM = re.compile(r"(?P<class>\[:[a-z]+:\])|(?P<odd>\[[.:=]|\\[afrvdoxc])|\\(?P<escaped>[nt])|(?P<char>.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t"}
_CLASSES = {"w": "[0-9A-Za-z_]", "W": "[^0-9A-Za-z_]", "s": "[[:space:]]", "S": "[^[:space:]]", "b": r"\b", "B": r"\B"}
_OPERATORS = frozenset("(){}|+?")
_REPEATS = ("*", "+", "?", "{")


class _Token(NamedTuple):
    """`kind`: OP for an operator, CLASS for a bracket expression or the like, else CHAR."""

    kind: str
    text: str


_OP, _CLASS, _CHAR = "op", "class", "char"
_OPENS = (_Token(_OP, "("), _Token(_OP, "|"))
_CLOSES = (_Token(_OP, ")"), _Token(_OP, "|"))
_BEGIN = _Token(_OP, "^")


class _NoTranslation(Exception):
    """The pattern has none."""


def of_sed(pattern: str, *, extended: bool) -> str | None:
    """A basic regular expression of sed, or an extended one, as RE2 has it when it takes the longest match."""
    if len(pattern) > LONGEST:
        return None
    try:
        tokens = list(_posix(pattern, extended))
        return _joined(tokens if extended else list(_placed(tokens)))
    except _NoTranslation:
        return None


def of_cmake(pattern: str) -> str | None:
    """A regular expression of CMake as RE2 has it when it takes the first match."""
    if len(pattern) > LONGEST:
        return None
    try:
        return _joined(list(_kwsys(pattern)))
    except _NoTranslation:
        return None


# --- sed ----------------------------------------------------------------------------------------------------------


def _posix(pattern: str, extended: bool) -> Iterator[_Token]:
    at = 0
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        if match is None or match[0] in ("\\", "["):
            raise _NoTranslation
        at = match.end()
        word = match["char"] or match["escaped"]
        if match["bracket"]:
            yield _Token(_CLASS, _bracket([_item(m) for m in _ITEM.finditer(_inner(match[0]))], match[0]))
        elif word == "{" and (match["escaped"] is None) == extended:
            interval, at = _interval(pattern, at, "}" if extended else r"\}")
            yield _Token(_OP, interval)
        elif word in _OPERATORS:
            yield _Token(_OP if (match["escaped"] is None) == extended else _CHAR, word)
        elif match["escaped"]:
            yield _escaped(word)
        else:
            yield _Token(_OP if word in "*.^$" else _CHAR, word)


def _escaped(char: str) -> _Token:
    if char in _CLASSES:
        return _Token(_CLASS, _CLASSES[char])
    if char not in _CONTROLS and (char.isalnum() or char in "`'<>"):
        raise _NoTranslation
    return _Token(_CHAR, _CONTROLS.get(char, char))


def _interval(pattern: str, at: int, closer: str) -> tuple[str, int]:
    """`{m,n}`, of which the inner part begins at `at`, and where it ends."""
    end = pattern.find(closer, at)
    match = _INTERVAL.fullmatch(pattern, at, end) if end > at else None
    if match is None or not (match[1] or match[3]):
        raise _NoTranslation
    return f"{{{match[1] or 0}{match[2]}{match[3]}}}", end + len(closer)


def _placed(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """In a basic expression `*`, `^` and `$` are operators in their places alone (XBD 9.3.3 and 9.3.8)."""
    before = _OPENS[0]
    for number, token in enumerate(tokens):
        behind = tokens[number + 1] if number + 1 < len(tokens) else _CLOSES[0]
        plain = {"*": before in (*_OPENS, _BEGIN), "^": before not in _OPENS, "$": behind not in _CLOSES}
        before = _Token(_CHAR, token.text) if token.kind == _OP and plain.get(token.text) else token
        yield before


def _item(match: re.Match[str]) -> str:
    """An element of a bracket expression: one character, or a class."""
    if match["odd"]:
        raise _NoTranslation
    return _CONTROLS[match["escaped"]] if match["escaped"] else match[0]


# --- CMake --------------------------------------------------------------------------------------------------------


def _kwsys(pattern: str) -> Iterator[_Token]:
    """A backslash makes the next character a plain one; in brackets it is one itself. There are no intervals."""
    at = 0
    while at < len(pattern):
        char = pattern[at]
        end = at + 1
        if char == "\\":
            yield _Token(_CHAR, pattern[end : end + 1])
            end += 1
        elif char == "[":
            end = pattern.find("]", at + (3 if pattern[end : end + 1] == "^" else 2)) + 1
            text = pattern[at:end]
            yield _Token(_CLASS, _bracket(list(_inner(text)), text))
        else:
            yield _Token(_OP if char in "*.^$()|+?" else _CHAR, char)
        if end > len(pattern) or end <= at:
            raise _NoTranslation
        at = end


# --- RE2 ----------------------------------------------------------------------------------------------------------


def _joined(tokens: Sequence[_Token]) -> str:
    parts: list[str] = []
    before = _OPENS[0]
    for token in tokens:
        kind, text = token
        if kind == _OP and text.startswith(_REPEATS) and not _repeatable(before):
            raise _NoTranslation
        anchor = {"^": r"\A", "$": r"\z"}.get(text, text)
        parts.append(_quoted(text) if kind == _CHAR else anchor if kind == _OP else text)
        before = token
    return "".join(parts)


def _repeatable(token: _Token) -> bool:
    """Whether all agree on what is repeated behind this token."""
    if token.kind == _OP:
        return token.text in (".", ")")
    return token.text.isascii() and token.text not in (r"\b", r"\B")


def _quoted(char: str) -> str:
    return f"\\{char}" if char.isascii() and char.isprintable() and not char.isalnum() and char not in "_ " else char


def _inner(bracket: str) -> str:
    """What stands in a bracket expression. What is not ASCII is one character in some locales only."""
    if not bracket.isascii() or len(bracket) < 3:
        raise _NoTranslation
    return bracket[2:-1] if bracket.startswith("[^") else bracket[1:-1]


def _bracket(items: Sequence[str], text: str) -> str:
    """The bracket expression `text`, of these elements."""
    parts: list[str] = []
    at = 0
    while at < len(items):
        if items[at + 1 : at + 2] == ["-"] and at + 2 < len(items):
            low, high = items[at], items[at + 2]
            if len(low) > 1 or len(high) > 1 or low > high or items[at + 3 : at + 4] == ["-"] != items[at + 3 :]:
                raise _NoTranslation
            parts.append(f"{_one(low)}-{_one(high)}")
            at += 3
        else:
            parts.append(items[at] if len(items[at]) > 1 else _one(items[at]))
            at += 1
    return f"[{'^' if text.startswith('[^') else ''}{''.join(parts)}]"


def _one(char: str) -> str:
    return char if char.isalnum() else f"\\x{ord(char):02x}"
