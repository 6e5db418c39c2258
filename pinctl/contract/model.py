"""The words of the contract: what a package offers (its surface) and what the consumer asks of it (its uses)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from pinctl.model import NOTHING


class Place(NamedTuple):
    """A line of a file: of the pinned tree or of the consumer. `line` and `column` count from 1; 0: not known."""

    file: str
    line: int
    column: int = 0


# --- what is offered -----------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """How an argument may be given (inspect.Parameter.kind)."""

    POSITIONAL = "positional"
    EITHER = "either"
    KEYWORD = "keyword"
    REST = "rest"
    KEYWORD_REST = "keyword_rest"


class Parameter(NamedTuple):
    """`name` is "" where the source gives none; `default` is its text in one spelling, None where a value must be
    given; `type` is the text of the type, as Python would name it: `Optional[Tensor]`."""

    name: str
    kind: Kind = Kind.EITHER
    default: str | None = None
    type: str | None = None


class Signature(NamedTuple):
    """The parameters of one overload, without `self`."""

    parameters: tuple[Parameter, ...] = ()


class Mechanism(StrEnum):
    """By what a name comes to Python."""

    PYTHON = "python"
    STUB = "stub"
    PYBIND = "pybind11"
    NANOBIND = "nanobind"
    TORCH = "torch library"
    TVM_FFI = "tvm-ffi"


class Sort(StrEnum):
    """What a name is."""

    FUNCTION = "function"
    CLASS = "class"
    MODULE = "module"
    VALUE = "value"


class Symbol(NamedTuple):
    """One public or private name of a package.

    name        dotted, from the package's own root: "deep_gemm.mega.fp8_mega_moe"; "torch.ops.NAMESPACE.NAME"
    signatures  of a function, or of a class's constructor; several where it is overloaded; empty where not known
    guards      the conditions under which it is there, as the source has them: "#if CUDART_VERSION >= 12090",
                "try/except ImportError"
    target      the symbol that this name is another name of
    """

    name: str
    sort: Sort
    mechanism: Mechanism
    place: Place
    signatures: tuple[Signature, ...] = ()
    guards: tuple[str, ...] = ()
    target: str | None = None


class Surface(NamedTuple):
    """All that a package offers at one commit.

    symbols  by dotted name
    open     modules and classes whose names cannot all be known, each with the reason: a missing name below one of
             these may be there all the same
    imports  by file of the package, the files of it that importing that file imports: the edges of an import closure
    unread   files that could not be read, each with the reason
    """

    commit: str
    symbols: Mapping[str, Symbol] = NOTHING
    open: Mapping[str, str] = NOTHING
    imports: Mapping[str, tuple[str, ...]] = NOTHING
    unread: Mapping[str, str] = NOTHING


# --- what is asked for ---------------------------------------------------------------------------------------------


class When(StrEnum):
    """When a use fails: as soon as the consumer's module is imported, or when its function is called."""

    IMPORT = "import"
    CALL = "call"


class Guard(StrEnum):
    """What hides that a name is missing; MISFIT alone: what hides that a call does not fit what it calls."""

    DEFAULT = "getattr default"
    HASATTR = "hasattr"
    EXCEPT = "except"
    TYPE_CHECKING = "TYPE_CHECKING"
    MISFIT = "except TypeError"


class Call(NamedTuple):
    """The arguments of a call: how many by position, which by keyword; whether `*args` or `**kwargs` add to them."""

    positional: int = 0
    keywords: tuple[str, ...] = ()
    rest: bool = False
    keyword_rest: bool = False


class Use(NamedTuple):
    """One place where the consumer asks for a name.

    symbol        dotted as in `Symbol.name`, whichever of its import names the consumer uses
    call          the arguments, where the name is called there; None for an import, an attribute, a `getattr`
    guards        what hides that it is missing, from the inside out
    alternatives  the names that are tried in its place: `getattr(m, "a", None) or getattr(m, "b", None)`; its own,
                  where the same name is called in another way: `except TypeError: f(old)`
    dependents    the calls that go through it: of the handle that it is kept in, of a wrapper that forwards to it
    probe         it only asks whether the name is there (`hasattr`), so its absence is an answer
    """

    symbol: str
    place: Place
    when: When
    call: Call | None = None
    guards: tuple[Guard, ...] = ()
    alternatives: tuple[str, ...] = ()
    dependents: tuple[Place, ...] = ()
    probe: bool = False


class Shape(StrEnum):
    """The shapes of a use that would fail in silence at the next bump."""

    DEFAULT = "a getattr with a default, and no fallback or check behind it"
    BROAD = "a broad except round the call"
    ZERO = "`or` in an argument swallows a zero"


class Fragile(NamedTuple):
    """One such use; `keyword` is the argument, where the shape is of one."""

    symbol: str
    place: Place
    shape: Shape
    keyword: str = ""


class Action(StrEnum):
    """What a build file does with a path of the pinned tree."""

    NAMES = "names"
    COPIES = "copies"


class BuildUse(NamedTuple):
    """A path, or a glob where `glob` (True: at any depth), below the pinned source that a build file names.

    `without` are globs of one name each: what a copy leaves out, files and whole folders, wherever they are in it.
    """

    path: str
    place: Place
    action: Action = Action.NAMES
    glob: bool | None = None
    without: tuple[str, ...] = ()


class Uses(NamedTuple):
    """All that the consumer asks of one package. `unseen` says what could not be followed: counts by reason."""

    uses: tuple[Use, ...] = ()
    build: tuple[BuildUse, ...] = ()
    unseen: Mapping[str, int] = NOTHING
    unread: Mapping[str, str] = NOTHING
    fragile: tuple[Fragile, ...] = ()
