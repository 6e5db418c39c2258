"""What one file says of a surface: facts that depend on its bytes alone, so that they are kept by its blob id."""

from enum import StrEnum
from typing import NamedTuple

from pinctl.contract.model import Parameter, Signature

# --- C++ -----------------------------------------------------------------------------------------------------------


class Area(StrEnum):
    """What registers names: a module, a library, a function that a module calls, or what hangs below one of these."""

    PYBIND = "pybind11"
    NANOBIND = "nanobind"
    TORCH = "torch"
    TVM_FFI = "tvm-ffi"
    HELPER = "helper"
    SUBMODULE = "submodule"
    CLASS = "class"
    ENUM = "enum"


class Scope(NamedTuple):
    """One place that names are registered in.

    name    of a module or library, where its macros may still stand; of a helper with its namespaces; of a class or
            submodule as Python sees it
    parent  the scope that it is in, by number; -1 for none
    bases   of a class: its own C++ type, then those that it is derived from
    """

    area: Area
    name: str
    line: int
    guards: tuple[str, ...] = ()
    parent: int = -1
    bases: tuple[str, ...] = ()


class Act(StrEnum):
    """What a statement of C++ does with a name."""

    DEF = "def"
    METHOD = "method"
    INIT = "init"
    VALUE = "value"
    ALIAS = "alias"
    CALL = "call"
    OPEN = "open"


class Entry(NamedTuple):
    """One statement in a scope.

    signature  None where it is not known in this file
    source     of a definition the C++ function that is registered, of an alias the name that it repeats, of a call the
               function that is called, of what is open the reason
    space      the namespaces that the statement lies in, for finding `source`
    """

    scope: int
    act: Act
    name: str
    line: int
    guards: tuple[str, ...] = ()
    signature: Signature | None = None
    source: str = ""
    space: str = ""


class CppFacts(NamedTuple):
    """The registrations of one C++ source."""

    scopes: tuple[Scope, ...] = ()
    entries: tuple[Entry, ...] = ()


class Declaration(NamedTuple):
    """A C++ function, by its full name. `body`: this is its definition; `member`: of a class."""

    name: str
    parameters: tuple[Parameter, ...]
    body: bool = False
    member: bool = False


# --- Python --------------------------------------------------------------------------------------------------------


class How(StrEnum):
    """How a statement of Python binds a name."""

    FUNCTION = "function"
    CLASS = "class"
    VALUE = "value"
    MODULE = "module"
    FROM = "from"
    STAR = "star"
    ALIAS = "alias"
    DELETE = "delete"
    REGISTRY = "registry"


class Binding(NamedTuple):
    """One name that a module or a class binds.

    source      of MODULE and STAR a module (dots before a relative one), of FROM `module:name`, of ALIAS a dotted
                expression, of REGISTRY the prefix of the tvm-ffi functions that it takes in
    attempt     the number of the `try` whose failure keeps the name from being bound; 0 for none
    decorators  of a function or class, as dotted names, the outermost first
    keeps       of a function that is a decorator: the parameters that it adds to what it decorates; None for any other
    members     of a class: what its body binds
    bases       of a class, as dotted names
    fields      of a dataclass or named tuple: the parameters of its constructor that it adds to its bases' own
    """

    name: str
    how: How
    line: int
    guards: tuple[str, ...] = ()
    source: str = ""
    attempt: int = 0
    signatures: tuple[Signature, ...] = ()
    decorators: tuple[str, ...] = ()
    keeps: tuple[Parameter, ...] | None = None
    members: tuple["Binding", ...] = ()
    bases: tuple[str, ...] = ()
    fields: tuple[Parameter, ...] | None = None


class Operator(NamedTuple):
    """A torch operator that Python code defines: `name` is `namespace::name`."""

    name: str
    line: int
    signature: Signature | None
    guards: tuple[str, ...] = ()


class PythonFacts(NamedTuple):
    """One Python module.

    exports   `__all__`: names, and `=module` for what another module's `__all__` adds; None where there is none
    open      why its names cannot all be known; "" where they can
    imports   the modules that importing it imports, spelled as in the source
    """

    bindings: tuple[Binding, ...] = ()
    exports: tuple[str, ...] | None = None
    open: str = ""
    imports: tuple[str, ...] = ()
    operators: tuple[Operator, ...] = ()


class Unread(NamedTuple):
    """A file that could not be read."""

    reason: str


Facts = CppFacts | PythonFacts | Unread
