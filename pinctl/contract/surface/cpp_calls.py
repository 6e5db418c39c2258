"""The registrations in the body of a module, a library or a helper: method calls on what is known to hold names.

One sweep from left to right: `handles` are the variables that hold a module, a class or a library; `results` are the
closing brackets of calls that give one, so that a chain `py::class_<T>(m, "T").def(...).def(...)` is followed.
"""

import re
from collections.abc import Sequence

import pinctl.contract.surface.schema as schema
from pinctl.contract.model import Signature
from pinctl.contract.surface.cpp_signature import function, merged, named, parameters
from pinctl.contract.surface.cpp_text import Refused, Source, Span
from pinctl.contract.surface.facts import Act, Area, Entry, Scope

MODULES = ("PYBIND11_MODULE", "PYBIND11_EMBEDDED_MODULE", "NB_MODULE")
"""Macros that begin the body of an extension module."""
MOST = 10_000
"""Registrations that one source may have."""

_STEP = re.compile(
    r"(?:\.|->)\s*(?:template\s+)?(?P<method>\w+)\s*(?P<open>\()"
    r"|(?<=[(,{])\s*(?:[&*]\s*)?(?P<handle>[A-Za-z_]\w*)\s*(?=[,)}])"
    r"|\b(?P<macro>[A-Za-z_]\w*)\s*\("
)
# What stands before an offset is read backwards: to search for what ends there would begin at each letter before it.
_VARIABLE = re.compile(r"\s*(?:::\s*\w+\s*)*[=({]\s*(\w+)")
_CALLEE = re.compile(r"\s*(\w*[A-Za-z_]~?(?:\s*::\s*\w*[A-Za-z_])*)")
_CLASSES = frozenset({"class_", "enum_", "exception", "register_exception"})
_OPAQUE = frozenset({"bind_vector", "bind_map"})
_OPERATOR = re.compile(r"(?:\w+\s*::\s*)*pickle\s*\(|.*\bself\b", re.DOTALL)
"""What is registered without a name: `py::pickle(...)`, `py::self == py::self`."""
_WINDOW = 1000
_SWEPT = 8
"""How many times over a source may be read, where registrations stand in one another."""
_VALUES = frozenset(
    "def_property def_property_readonly def_property_static def_property_readonly_static def_readwrite def_readonly"
    " def_readwrite_static def_readonly_static def_prop_rw def_prop_ro def_prop_rw_static def_prop_ro_static def_rw"
    " def_ro def_rw_static def_ro_static value add_object".split()
)
_REGISTERS = re.compile(r"\bdef\w*\s*\(|\bclass_\b|\.\s*impl\s*\(")


class Reading:
    """What was read of a source so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.scopes: list[Scope] = []
        self.entries: list[Entry] = []
        self.results: dict[int, int] = {}
        self.swept = 0
        self.registering = frozenset(name for name, body in source.macros.items() if _REGISTERS.search(body))
        """Macros that register names."""

    def at(self, offset: int) -> tuple[int, tuple[str, ...]]:
        """The line of an offset, and the `#if`s that it stands under."""
        return self.source.line(offset), self.source.guards(offset)

    def open_scope(self, scope: Scope, *, unique: bool = False) -> int:
        """The number of a new scope, or with `unique` of one that is the same."""
        if unique and scope in self.scopes:
            return self.scopes.index(scope)
        self._demand_room()
        self.scopes.append(scope)
        return len(self.scopes) - 1

    def region(self, scope: Scope, body: Span, handle: str) -> None:
        """Read the body of a scope, in which the variable `handle` holds it."""
        self.sweep(body, {handle: self.open_scope(scope)})

    def sweep(self, body: Span, handles: dict[str, int]) -> None:
        """Read the registrations of `body`. Raises Refused."""
        self.swept += body.end - body.start
        if self.swept > _SWEPT * len(self.source.code):
            raise Refused("its registrations nest in each other")
        for match in _STEP.finditer(self.source.code, body.start, body.end):
            if match["method"]:
                scope = self._receiver(match.start(), handles)
                if scope is not None:
                    self._method(scope, match, handles)
            elif match["handle"]:
                if match["handle"] in handles:
                    self._handed(handles[match["handle"]], match.start("handle"), handles)
            elif match["macro"] in self.registering and handles:
                reason = f"the macro {match['macro']} registers names"
                self._add(min(handles.values()), Act.OPEN, "", match.start(), source=reason)

    def _add(
        self, scope: int, act: Act, name: str, offset: int, *, signature: Signature | None = None, source: str = ""
    ) -> None:
        line, guards = self.at(offset)
        self.note(Entry(scope, act, name, line, guards, signature, source, self.source.scope(offset)))

    def note(self, entry: Entry) -> None:
        """Take in an entry. Raises Refused where there are too many."""
        self._demand_room()
        self.entries.append(entry)

    def _demand_room(self) -> None:
        if len(self.entries) + len(self.scopes) >= MOST:
            raise Refused(f"it registers more than {MOST} names")

    def _receiver(self, dot: int, handles: dict[str, int]) -> int | None:
        """The scope of what stands before the dot of a method call."""
        code = self.source.code
        end = dot
        while end > 0 and code[end - 1].isspace():
            end -= 1
        if end and code[end - 1] in ")}":
            return self.results.get(end - 1)
        start = end
        while start > 0 and (code[start - 1].isalnum() or code[start - 1] == "_"):
            start -= 1
        before = code[max(start - 2, 0) : start]
        return None if before.endswith((".", "->", "::")) else handles.get(code[start:end])

    def _result(self, opener: int, scope: int, handles: dict[str, int], start: int) -> None:
        """What the call that opens at `opener`, in the expression from `start`, gives is `scope`."""
        self.results[self.source.closers[opener]] = scope
        if variable := _before(_VARIABLE, self.source.code, start):
            handles[variable[0]] = scope

    def _method(self, scope: int, match: re.Match[str], handles: dict[str, int]) -> None:
        """One method call on a scope."""
        source, method, opener = self.source, match["method"], match.start("open")
        if opener not in source.closers:
            return
        spans = source.arguments(opener)
        self.results[source.closers[opener]] = scope
        if method == "def_submodule":
            self._submodule(scope, match, spans, handles)
        elif method == "attr":
            self._attribute(scope, opener, spans)
        elif method == "export_values":
            self._exported(scope)
        elif method in _VALUES:
            self._value(scope, match.start(), spans)
        elif method.startswith("def") and spans:
            self._definition(scope, method, match.start(), spans)

    def _submodule(self, scope: int, match: re.Match[str], spans: Sequence[Span], handles: dict[str, int]) -> None:
        name = self.source.literal(spans[0]) if spans else None
        if name is None:
            self._add(scope, Act.OPEN, "", match.start(), source="the name of a submodule is computed")
            return
        number = self.open_scope(Scope(Area.SUBMODULE, name, *self.at(match.start()), parent=scope))
        start = match.start()
        while start > 0 and (self.source.code[start - 1].isalnum() or self.source.code[start - 1] in "_ "):
            start -= 1
        self._result(match.start("open"), number, handles, start)

    def _attribute(self, scope: int, opener: int, spans: Sequence[Span]) -> None:
        """`m.attr("a") = m.attr("b")`; reading one alone registers nothing."""
        code, closer = self.source.code, self.source.closers[opener]
        equals = re.compile(r"\s*=(?!=)\s*").match(code, closer + 1)
        if not equals or not spans:
            return
        name = self.source.literal(spans[0])
        if name is None:
            self._add(scope, Act.OPEN, "", opener, source="the name of an attribute is computed")
            return
        other = re.compile(r"\w+\s*\.\s*attr\s*(\()[^()]*\)\s*;").match(code, equals.end())
        target = self.source.literal(self.source.arguments(other.start(1))[0]) if other else None
        self._add(scope, Act.ALIAS if target else Act.VALUE, name, opener, source=target or "")

    def _exported(self, scope: int) -> None:
        """`export_values()`: the values of an enumeration are names of its module as well."""
        parent = self.scopes[scope].parent
        own = [e for e in self.entries if e.scope == scope and e.act is Act.VALUE]
        for entry in own if parent >= 0 else ():
            self.note(entry._replace(scope=parent))

    def _value(self, scope: int, offset: int, spans: Sequence[Span]) -> None:
        name = self.source.literal(spans[0]) if spans else None
        if name is not None:
            self._add(scope, Act.VALUE, name, offset)
        else:
            self._add(scope, Act.OPEN, "", offset, source="the name of a value is computed")

    def _definition(self, scope: int, method: str, offset: int, spans: Sequence[Span]) -> None:
        source, area = self.source, self._area(scope)
        first = source.literal(spans[0])
        if area is Area.TORCH:
            self._operator(scope, offset, spans)
        elif first is None:
            self._unnamed(scope, offset, spans)
        elif len(spans) > 1:
            made = function(source, spans[1])
            inner = self.scopes[scope].area is Area.CLASS and method == "def"
            signature = merged(named(source, spans[2:]), made.parameters, method=inner and not made.member)
            known = "" if made.parameters is not None else made.source
            self._add(scope, Act.METHOD if inner else Act.DEF, first, offset, signature=signature, source=known)

    def _operator(self, scope: int, offset: int, spans: Sequence[Span]) -> None:
        """`m.def("name(Tensor a) -> Tensor")`, `m.def("name", &f)`."""
        text = self.source.literal(spans[0]) or self._first_string(spans[0])
        parsed = schema.parse(text) if text is not None else None
        if parsed is None:
            self._add(scope, Act.OPEN, "", offset, source="an operator's schema is computed")
            return
        signature, made = parsed.signature, function(self.source, spans[1]) if len(spans) > 1 else None
        if signature is None and made:
            signature = merged(None, made.parameters)
        self._add(scope, Act.DEF, parsed.name, offset, signature=signature, source=made.source if made else "")

    def _first_string(self, span: Span) -> str | None:
        """The schema in `torch::schema("...")` or `TORCH_SELECTIVE_SCHEMA("...")`."""
        opener = self.source.code.find("(", span.start, span.end)
        inner = self.source.arguments(opener) if opener in self.source.closers else []
        return self.source.literal(inner[0]) if inner else None

    def _unnamed(self, scope: int, offset: int, spans: Sequence[Span]) -> None:
        """A constructor; an operator (`py::self + py::self`) has a name that nobody calls."""
        code = self.source.at(spans[0])
        match = re.match(r"(?:\w+\s*::\s*)*(init|init_implicit|new_)\b\s*", code)
        if match:
            signature = self._constructor(spans, spans[0].start + match.end())
            self._add(scope, Act.INIT, "__init__", offset, signature=signature)
        elif not _OPERATOR.match(code):
            self._add(scope, Act.OPEN, "", offset, source="a registered name is computed")

    def _constructor(self, spans: Sequence[Span], at: int) -> Signature | None:
        """`py::init<int, float>()`, `py::init([](int a) {...})`, `py::init(&make)`."""
        source, binding = self.source, named(self.source, spans[1:])
        if source.code[at : at + 1] == "<":
            end = source.code.rfind(">", at, spans[0].end)
            return merged(binding, parameters(source, at + 1, end))
        inner = source.arguments(at) if at in source.closers else []
        return merged(binding, function(source, inner[0]).parameters if inner else ())

    def _area(self, scope: int) -> Area:
        """The mechanism that a scope belongs to."""
        while self.scopes[scope].parent >= 0:
            scope = self.scopes[scope].parent
        area = self.scopes[scope].area
        return Area(self.scopes[scope].bases[0]) if area is Area.HELPER else area

    def _handed(self, scope: int, offset: int, handles: dict[str, int]) -> None:
        """A handle that is given to a call: of a class, or of a helper that registers more names in it."""
        opener = next(self.source.enclosing(offset), -1)
        if opener < 0 or self.source.code[opener] not in "({":
            return
        head, types, variable, start = _head(self.source, opener)
        leaf = head.rpartition("::")[2]
        spans = self.source.arguments(opener)
        name = self.source.literal(spans[1]) if len(spans) > 1 else None
        if leaf not in _CLASSES | _OPAQUE:
            if head and head not in MODULES and self.source.code[opener] == "(":
                self._add(scope, Act.CALL, "", offset, source=head)
        elif name is None:
            self._add(scope, Act.OPEN, "", offset, source="the name of a class is computed")
        else:
            area = Area.ENUM if leaf == "enum_" else Area.CLASS
            number = self.open_scope(Scope(area, name, *self.at(start), scope, types))
            self._result(opener, number, handles, start)
            handles.update({variable: number} if variable else {})
            if leaf in _OPAQUE:
                self._add(number, Act.OPEN, "", offset, source=f"{leaf} gives it its methods")


def _head(source: Source, opener: int) -> tuple[str, tuple[str, ...], str, int]:
    """What is called at `opener`: its name, its template's arguments, the variable that it declares, its beginning."""
    variable = ""
    begin = max(opener - _WINDOW, 0)
    called = _before(_CALLEE, source.code, opener)
    code = source.code[begin : called[1] if called else opener].rstrip()
    if called and code.endswith(">"):
        variable, called = called[0], None
    if called is None and code.endswith(">"):
        angle = _opening(code)
        head = _before(_CALLEE, code, angle)
        types = tuple(source.text(span) for span in source.split(begin + angle + 1, begin + len(code) - 1))
        return (_joined(head[0]), types, variable, begin + head[1]) if head else ("", (), "", opener)
    return (_joined(called[0]), (), "", called[1]) if called else ("", (), "", opener)


def _before(pattern: re.Pattern[str], code: str, end: int) -> tuple[str, int] | None:
    """The group of `pattern`, which is written backwards, that `code` has right before `end`, and where it begins."""
    match = pattern.match(code[max(end - _WINDOW, 0) : end][::-1])
    return (match[1][::-1], end - match.end(1)) if match else None


def callee(source: Source, opener: int) -> str:
    """The name of the function that is called, or defined, with the parenthesis at `opener`."""
    return _head(source, opener)[0]


def _joined(path: str) -> str:
    return re.sub(r"\s+", "", path)


def _opening(code: str) -> int:
    """Where the `<` stands that the last character of `code`, a `>`, closes."""
    depth = 0
    for at in range(len(code) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return 0
