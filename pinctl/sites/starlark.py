"""Site language: Starlark, as Bazel reads it in MODULE.bazel, WORKSPACE, BUILD and .bzl files.

Its syntax is a part of Python's (https://github.com/bazelbuild/starlark, spec.md), and so are its selectors:

    NAME                        the string or number that is assigned to NAME
    NAME[], NAME[key]           a list; an entry of a dictionary
    call("x").keyword           a keyword argument of the call with this first argument, `name` or `module_name`;
                                call(module_name = "x").keyword, call().keyword
    call("x")                   of a call that fetches: repo and ref (`remote`, `commit` or `tag`), or url and hash
                                (`url` or `urls` with one element, `integrity` or `sha256`)

A name is followed to its literal, where one assignment alone gives it a value; so is a text that is put together by
`+`, `%s` or `.format` with one such name. What is written is written into the literal.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pinctl import digests
from pinctl.sites.base import BadSelector, Hit, Slot, Token, Unwritable
from pinctl.sites.python import Python
from pinctl.sites.starlark_reader import COMPOSED, HEX, SRI, StarlarkReader

NAME = "starlark"
COMMENT = ("# ", "")

_KEYED = re.compile(
    r"""(?P<call>[\w.]+)\(\s*(?:(?P<word>\w+)\s*=\s*)?(?P<quote>["']?)(?P<key>[^"'()=]+?)(?P=quote)\s*\)(?P<rest>.*)"""
)


def parse(source: bytes) -> "Starlark":
    """The document of any bytes; what has not the syntax of Python is told in its `errors`."""
    reader = StarlarkReader(source)
    return Starlark(source=source, errors=reader.errors, reader=reader)


@dataclass(slots=True, kw_only=True)
class Starlark(Python):
    """A parsed Starlark file."""

    def slots(self) -> Iterator[Slot]:
        """See `Python`; a literal to which several places lead is in the slot of each."""
        yield from self.reader.slots()

    def find(self, selector: str) -> list[Hit]:
        """See `Python`; also compounds, and calls that are told by a keyword."""
        keyed = _KEYED.fullmatch(selector)
        if keyed and (keyed["word"] or not keyed["rest"]):
            word = f"{keyed['word']} = " if keyed["word"] else ""
            selector = f'{keyed["call"]}({word}"{keyed["key"]}"){keyed["rest"]}'
            return self.index().get(selector, [])
        try:
            return Python.find(self, selector)
        except BadSelector as error:
            forms = 'NAME, NAME[], NAME[key], call("x"), call("x").keyword or call(module_name = "x").keyword'
            raise BadSelector(f"{selector!r} is no selector of a Starlark file: expected {forms}") from error

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        """See `Document`. Bazel has not all of Python's escapes, so what they would be needed for is refused."""
        if not value.isprintable():
            raise Unwritable(f"{value!r} holds a character that cannot be seen")
        if token is None:
            return Python.encode(self, slot, None, value)
        style = token.style
        if style.startswith((SRI, HEX)):
            value = _digest(value, style[:4])
            style = style[4:]
        if COMPOSED in style:
            style, before, behind = style.split(COMPOSED)
            value = _part(value, before, behind)
        return Python.encode(self, slot, token._replace(style=style), value)


def _digest(value: str, codec: str) -> str:
    """`SHA256=...` in the codec that stands there. Raises Unwritable."""
    name, _, digest = value.partition("=")
    if digests.algorithm(digest) != name.lower():
        raise Unwritable(f"{value!r} is no digest")
    if codec == HEX and name != "SHA256":
        raise Unwritable(f"`sha256` holds no {name.lower()}")
    try:
        return digests.sri(digest) if codec == SRI else digest
    except ValueError:
        raise Unwritable(f"`integrity` holds no {name.lower()}") from None


def _part(value: str, before: str, behind: str) -> str:
    """What a literal gives to a text that has `before` and `behind` around it. Raises Unwritable."""
    if len(value) < len(before) + len(behind) or not (value.startswith(before) and value.endswith(behind)):
        raise Unwritable(f"the text is put together, and only what stands for … in `{before}…{behind}` can be written")
    return value[len(before) : len(value) - len(behind)]
