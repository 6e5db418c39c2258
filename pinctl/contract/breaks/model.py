"""What a break is: one place where the consumer asks for what the pinned package no longer gives."""

from enum import StrEnum
from typing import NamedTuple

from pinctl.contract.model import Place, When


class Class(StrEnum):
    """The classes of breaks, the worst first. The first five fail."""

    HARD = "HARD"
    """an import, an attribute or a call fails"""
    SILENT = "SILENT"
    """the same, hidden by a default of getattr, by hasattr or by a caught exception; or something required is absent"""
    REBIND = "REBIND"
    """an argument by position lands in another parameter"""
    VENDOR = "VENDOR"
    """a file that the used modules import is not among those that the consumer's build copies"""
    PATH = "PATH"
    """a path that the build uses, or a submodule, is gone"""
    MAYBE = "MAYBE"
    """it fails if what cannot be seen is not there"""
    PRIVATE = "PRIVATE"
    """a private name is used"""
    GUARD = "GUARD"
    """a name is newly behind `#if`"""
    DEFAULT = "DEFAULT"
    """a parameter that the call leaves out has another default"""
    TYPE = "TYPE"
    """a parameter that the call gives has another type"""
    RENAMED = "RENAMED"
    """a parameter given by position has another name, and nothing else speaks for another parameter"""
    FALLBACK = "FALLBACK"
    """the name is gone, and another one that is tried in its place is there"""
    GAINED = "GAINED"
    """a name that was tried and missing is there now"""
    FRAGILE = "FRAGILE"
    """at the next bump this use would fail in silence"""

    @property
    def fails(self) -> bool:
        """Whether a bump must not go on over it."""
        return self in _FAILING


_FAILING = frozenset((Class.HARD, Class.SILENT, Class.REBIND, Class.VENDOR, Class.PATH))
CODES = {kind: f"PIN{401 + number}" for number, kind in enumerate(Class)}
REQUIRED = "PIN415"


class Break(NamedTuple):
    """One break.

    symbol      the dotted name that is asked for; the path, for VENDOR and PATH
    what        what is wrong, as a sentence without its full stop
    place       where the consumer asks for it
    when        whether it fails as soon as the consumer's module is imported, or when its function is called
    subject     the keyword or parameter, where one call has several breaks
    before      where it stood at A, with its signature; None where it was not there or A is not asked
    after       the same at B
    dependents  the calls that go through the place
    baseline    it was the same at A
    required    `requires` asks for it
    """

    kind: Class
    symbol: str
    what: str
    place: Place
    when: When | None = None
    subject: str = ""
    before: str | None = None
    after: str | None = None
    dependents: tuple[Place, ...] = ()
    hint: str | None = None
    baseline: bool = False
    required: bool = False

    @property
    def code(self) -> str:
        """The code of its finding."""
        return REQUIRED if self.required else CODES[self.kind]
