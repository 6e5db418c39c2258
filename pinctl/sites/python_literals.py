"""String and number literals of Python, read and written by its reference, "Lexical analysis"."""

import re
import unicodedata

from pinctl.sites.base import Unwritable, verbatim

NUMBER = "number"
"""The style of a number. That of a string is its prefix and its quotes as they are written: `r'`, `f"`."""

_STRING = re.compile(r"""(?s)(?P<style>[A-Za-z]{0,2}(?P<quote>\"{3}|'{3}|"|'))(?P<body>.*)(?P=quote)""")
_ESCAPE = re.compile(
    r"(?s)\\(?:[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|N\{[^{}]*\}|.)|(?P<braces>\{\{|\}\})"
)
_SIMPLE = {"\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
           "v": "\v"}  # fmt: skip
_BRACES = re.compile(r"\{\{|\}\}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DIGITS = r"[0-9](?:_?[0-9])*"
_NUMBER = re.compile(
    rf"-?(?:0[xX][0-9A-Fa-f]+|0[oO][0-7]+|0[bB][01]+|0+|[1-9](?:_?[0-9])*"
    rf"|(?:{_DIGITS}\.(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?|{_DIGITS}[eE][+-]?{_DIGITS})"
)


def decode(raw: str) -> tuple[str, str] | None:
    """The value and the style of one string literal as it is written; None for bytes, templates and broken escapes. In
    an f-string (without a placeholder) doubled braces are single ones."""
    match = _STRING.fullmatch(raw)
    if match is None or set(match["style"].lower()) & set("bt"):
        return None
    value = unescape(match["body"], match["style"])
    return None if value is None else (value, match["style"])


def unescape(body: str, style: str) -> str | None:
    """What the text between the quotes of a string of this style means; None for what Python refuses, or UTF-8."""
    prefix, body = style.lower(), body.replace("\r\n", "\n")
    try:
        if "r" in prefix:
            value = _BRACES.sub(lambda match: match[0][0], body) if "f" in prefix else body
        else:
            value = _ESCAPE.sub(lambda match: _meaning(match, braces="f" in prefix), body)
    except (KeyError, ValueError, OverflowError):
        return None
    return None if _SURROGATE.search(value) else value


def _meaning(match: re.Match[str], *, braces: bool) -> str:
    text = match[0]
    if match["braces"]:
        return text[0] if braces else text
    kind = text[1]
    if kind in "01234567":
        return chr(int(text[1:], 8))
    if kind in "xuU":
        return chr(int(text[2:], 16))
    if kind == "N":
        return unicodedata.lookup(text[3:-1])
    if braces and kind in "{}":
        raise ValueError(text)
    return _SIMPLE.get(kind, text)


def encode(value: str, style: str) -> bytes:
    """`value` as a literal of this style, without the prefix `r` where a raw string cannot hold it. Raises Unwritable
    for control characters, and for a number that is none."""
    if style == NUMBER:
        if not _NUMBER.fullmatch(value):
            raise Unwritable(f"{value!r} is no Python number, and a number stands here")
        return value.encode()
    quotes = style.lstrip("fFrRuU")
    prefix = style.removesuffix(quotes)
    if "r" in prefix.lower() and not _fits_raw(value, quotes):
        prefix = re.sub("[rR]", "", prefix)
    return (prefix + quotes).encode() + escape(value, prefix + quotes) + quotes.encode()


def escape(value: str, style: str) -> bytes:
    """`value` as it stands between the quotes of a string of this style. Raises Unwritable."""
    verbatim(value)
    raw = "r" in style.lower()
    if raw and not _fits_raw(value, style):
        raise Unwritable(f"a raw string cannot hold {value!r}")
    body = value if raw else "".join(_escaped(char, style[-1]) for char in value)
    return (re.sub(r"[{}]", r"\g<0>\g<0>", body) if "f" in style.lower() else body).encode()


def _fits_raw(value: str, style: str) -> bool:
    return style[-1] not in value and not value.endswith("\\") and value.isprintable()


def _escaped(char: str, quote: str) -> str:
    """As `repr` has it: backslashes, the quote and what cannot be seen are escaped, other letters are not."""
    if char in ("\\", quote):
        return f"\\{char}"
    return char if char.isprintable() else char.encode("unicode_escape").decode()
