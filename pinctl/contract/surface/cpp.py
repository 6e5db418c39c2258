"""The names that a C++ source gives to Python: pybind11, nanobind, torch libraries, tvm-ffi.

Read on the level of brackets and calls rather than of a whole grammar, since the macros and attributes of real CUDA
code give any grammar errors: a registration is a method call on something that is known to be a module, a library or a
class. A name that is computed, or registered by a macro, makes its module open.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from pinctl.contract.surface.cpp_calls import MODULES, Reading, callee
from pinctl.contract.surface.cpp_signature import function, merged
from pinctl.contract.surface.cpp_text import Refused, Source, Span
from pinctl.contract.surface.declarations import fill
from pinctl.contract.surface.facts import Act, Area, CppFacts, Entry, Facts, Scope, Unread

_TELLS = (
    b"PYBIND11_", b"NB_MODULE", b"TORCH_LIBRARY", b"TVM_FFI_", b"TVM_REGISTER_", b"GlobalDef", b"::module",
    b"torch::Library",
)  # fmt: skip
_MODULE = re.compile(rf"\b({'|'.join(MODULES)})\s*(\()")
_LIBRARY = re.compile(r"\b(?:\w+_)?TORCH_LIBRARY(\w*)\s*(\()")
_PARAMETER = re.compile(r"::\s*(?:module_?|Library)\s*[&*]*\s*(\w+)\s*(?=[,)])")
_SPACE = re.compile(r"\b(py|pybind11|nb|nanobind|torch)\s*$")
_EXPORT = re.compile(r"\bTVM_FFI_DLL_EXPORT_TYPED_FUNC\s*(\()")
_BODY = re.compile(r"\s*\.\s*set_body(?:_typed|_packed|_method)?\s*(\()")
_GLOBAL = re.compile(r"\bGlobalDef\s*\(\s*(\))|\b(?:TVM_FFI_REGISTER_GLOBAL|TVM_REGISTER_GLOBAL)\s*(\()")
_AREAS = {
    "py": Area.PYBIND,
    "pybind11": Area.PYBIND,
    "nb": Area.NANOBIND,
    "nanobind": Area.NANOBIND,
    "torch": Area.TORCH,
}
_DEPTH = 8
_WINDOW = 80


def tells(source: bytes) -> bool:
    """Whether a source may register names, at a glance."""
    return any(word in source for word in _TELLS)


def read(source: bytes) -> Facts:
    """The facts of a C++ source."""
    if not tells(source):
        return CppFacts()
    try:
        reading = Reading(Source(source))
        for scopes, words in _SCOPES.items():
            if any(word in reading.source.code for word in words):  # which is found sooner than a pattern
                scopes(reading)
    except Refused as error:
        return Unread(str(error))
    return CppFacts(tuple(reading.scopes), tuple(fill(reading.source, reading.entries)))


def _modules(reading: Reading) -> None:
    """`PYBIND11_MODULE(NAME, m) { ... }`"""
    source = reading.source
    for match in _MODULE.finditer(source.code):
        opener = match.start(2)
        spans = source.arguments(opener)
        body = _body(source, source.closers.get(opener))
        if body and len(spans) >= 2:
            area = Area.NANOBIND if match[1] == "NB_MODULE" else Area.PYBIND
            name = _expanded(source, source.at(spans[0]))
            reading.region(Scope(area, name, *reading.at(match.start())), body, source.at(spans[1]))


def _libraries(reading: Reading) -> None:
    """`TORCH_LIBRARY(NAMESPACE, m) { ... }`; what an _IMPL adds is no new name."""
    source = reading.source
    for match in _LIBRARY.finditer(source.code):
        opener = match.start(2)
        spans = source.arguments(opener)
        body = _body(source, source.closers.get(opener))
        if body and len(spans) >= 2 and "IMPL" not in match[1]:
            name = _expanded(source, source.at(spans[0]))
            reading.region(Scope(Area.TORCH, name, *reading.at(match.start())), body, source.at(spans[1]))


def _helpers(reading: Reading) -> None:
    """`void register_apis(py::module_& m) { ... }`, which a module calls."""
    source = reading.source
    for match in _PARAMETER.finditer(source.code):
        space = _SPACE.search(source.code, max(match.start() - _WINDOW, 0), match.start())
        opener = next(source.enclosing(match.start()), -1)
        if space is None or opener < 0 or source.code[opener] != "(":
            continue
        body = _body(source, source.closers[opener])
        head = callee(source, opener)
        if body and head and not head.startswith("["):
            name = "::".join(filter(None, (source.scope(opener), head)))
            scope = Scope(Area.HELPER, name, *reading.at(opener), bases=(_AREAS[space[1]].value,))
            reading.region(scope, body, match[1])


def _body(source: Source, closer: int | None) -> Span | None:
    """The braces that follow the parenthesis closed at `closer`."""
    match = re.compile(r"\s*(?:noexcept\s*)?(\{)").match(source.code, closer + 1) if closer is not None else None
    if match is None or match.start(1) not in source.closers:
        return None
    return Span(match.end(), source.closers[match.start(1)])


def _expanded(source: Source, text: str, depth: int = 0) -> str:
    """A name with its macros replaced by what this source defines them as; `CONCAT(a, b)` joins two names."""
    text = re.sub(r"\s+", "", text)
    if match := re.fullmatch(r"\w*(?i:concat)\w*\((.*),(.*)\)", text):
        return "".join(_expanded(source, part, depth + 1) for part in match.groups()) if depth < _DEPTH else text
    while depth < _DEPTH and text in source.defines:
        text, depth = source.defines[text].strip(), depth + 1
    return text


def _tvm(reading: Reading) -> None:
    """Functions that a library exports by name, and those of the global registry."""
    source = reading.source
    exports = list(_EXPORT.finditer(source.code))
    registered = list(_GLOBAL.finditer(source.code))
    if not exports and not registered:
        return
    for match in exports:
        spans = source.arguments(match.start(1))
        if len(spans) == 2 and source.at(spans[0]).isidentifier():
            number = reading.open_scope(Scope(Area.TVM_FFI, "", 1), unique=True)
            line, guards = reading.at(match.start())
            made = function(source, spans[1])
            signature, space = merged(None, made.parameters), source.scope(match.start())
            name = source.at(spans[0])
            reading.note(Entry(number, Act.DEF, name, line, guards, signature, made.source, space))
    number = reading.open_scope(Scope(Area.TVM_FFI, "*", 1), unique=True) if registered else -1
    for match in registered:
        if match[1]:
            reading.results[match.start(1)] = number
        else:
            _registered(reading, number, match.start(2))
    if registered:
        reading.sweep(Span(0, len(source.code)), {})


def _registered(reading: Reading, number: int, opener: int) -> None:
    """`TVM_FFI_REGISTER_GLOBAL("name").set_body_typed(f)`"""
    source = reading.source
    spans = source.arguments(opener)
    name = source.literal(spans[0]) if spans else None
    if not name:
        return
    line, guards = reading.at(opener)
    following = _BODY.match(source.code, source.closers[opener] + 1)
    inner = source.arguments(following.start(1)) if following else []
    made = function(source, inner[0]) if inner else None
    signature = merged(None, made.parameters) if made else None
    reading.note(Entry(number, Act.DEF, name, line, guards, signature, made.source if made else ""))


_SCOPES: Mapping[Callable[[Reading], None], tuple[str, ...]] = {
    _modules: ("_MODULE",),
    _libraries: ("TORCH_LIBRARY",),
    _helpers: ("module", "Library"),
    _tvm: ("GlobalDef", "TVM_"),
}
"""What reads the scopes of one kind, and words of which their sources have one."""


def named_functions(facts: CppFacts) -> Iterator[Entry]:
    """The entries whose parameters another source declares."""
    return (
        entry
        for entry in facts.entries
        if entry.signature is None and entry.source and entry.act in (Act.DEF, Act.METHOD)
    )
