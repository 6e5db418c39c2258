"""Site language: shell scripts (bash, sh).

Selectors:

    NAME                    an assignment, also after export, readonly, declare and local
    NAME:-                  the default in `${NAME:-x}`, `${NAME-x}`, `${NAME:=x}`; NAME too, where it is what NAME gets
    NAME[]                  the elements of `NAME=(a b c)`; those that are no literals count with their text
    dnf install             a package list (microdnf, yum, apt-get and apt install; apk add), options skipped
    dnf install(PACKAGE)    the list that holds PACKAGE
    git clone               the address; `git clone --branch` the branch
    git checkout            the ref
    pip install NAME        the version in `NAME==version`; `specifier NAME` and `url NAME` as in a requirements file
    COMMAND N               the Nth argument (from 1) of any other command, options counted

Where git or pip takes a variable, the selector names the literals that the variable may hold; none where something
else may set it (`read`, `+=`, `$(...)`), but for the positional parameters that options are read from.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pinctl.sites import pep508
from pinctl.sites.base import BadSelector, Hit, Slot, Token, Unwritable
from pinctl.sites.packages import LISTS, WordLists
from pinctl.sites.shell_commands import MOVING, OPERAND, REF
from pinctl.sites.shell_reader import read
from pinctl.sites.shell_text import DEFAULT, Reading, Text, refuse_binary
from pinctl.sites.shell_words import BARE, EXPANSION, quote

NAME = "shell"
COMMENT: tuple[str, str] | None = ("# ", "")

_FORM = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*(?:\[\]|:-)?|[0-9]+:-|git clone(?: --branch)?|git checkout|\S+ [1-9][0-9]*"
    rf"|(?:{'|'.join(map(re.escape, LISTS))})(?:\(\S+\))?"
)
_ACTIVE = re.compile(r"[<>|&;()]")
"""What the shell reads as an operator where it is not quoted."""
_FORMS = "NAME, NAME:-, NAME[], `dnf install`, `dnf install(PACKAGE)`, `git clone`, `git checkout`, `pip install NAME`"


@dataclass(slots=True)
class ShellDocument(WordLists):
    """A shell script."""

    reading: Reading = field(default_factory=Reading, repr=False)

    def slots(self) -> Iterator[Slot]:
        return iter(self.reading.resolved())

    def encode(self, slot: Slot, token: Token | None, value: str) -> bytes:
        return encode(slot, token, value)

    def find(self, selector: str) -> list[Hit]:
        holding = self.holding(selector)
        return self.index().get(normal(selector), []) if holding is None else holding


def parse(source: bytes) -> ShellDocument:
    """The script's document; spans that are no shell are its `errors`, and nothing in them is a slot."""
    refuse_binary(source)
    reading = Reading()
    read(Text(source, reading))
    return ShellDocument(source, errors=tuple(reading.errors), words=reading.words, reading=reading)


def normal(selector: str) -> str:
    """`selector` with a project's name normalised (PEP 503). Raises BadSelector where it is none of the forms above."""
    if selector.startswith("pip install "):
        requirement = pep508.selector("requirement " + selector.removeprefix("pip install "))
        return f"pip install {str(requirement).removeprefix('requirement ')}"
    requirement = pep508.selector(selector)
    if requirement is None and not _FORM.fullmatch(selector):
        raise BadSelector(f"{selector!r} is no selector of a shell script: expected {_FORMS} or `COMMAND N`")
    return requirement or selector


def encode(slot: Slot, token: Token | None, value: str) -> bytes:
    """`value` as a word in place of `token`, or as a new element of the list `slot`. Raises Unwritable."""
    if token is not None and token.style == EXPANSION:
        raise Unwritable(f"`{token.value}` is no literal; write that by hand")
    if token is None and any(t.style == EXPANSION and t.value == value for t in slot.tokens):
        raise Unwritable(f"`{value}` stands there as an expansion, and would be one more element with that very text")
    if token is not None and token.style in pep508.KINDS:
        if _ACTIVE.search(value) and not _ACTIVE.search(token.value):  # one that stands there is quoted
            raise Unwritable(f"{value!r} would have to be quoted, and what stands there need not be")
        return pep508.checked(token.style, value).encode()
    if slot.style == DEFAULT and not value:
        raise Unwritable("an empty default is the same as none")
    option = slot.style in (OPERAND, REF) and (not value or value.startswith("-"))
    if option or (slot.style == REF and value in MOVING):
        raise Unwritable(f"{value!r} cannot stand as an argument of `{slot.selector}`")
    styles = {t.style for t in slot.tokens if t.style != EXPANSION} if token is None else {token.style}
    return quote(value, styles.pop() if len(styles) == 1 else BARE)
