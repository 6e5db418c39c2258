"""The parameters that C++ code gives a Python name: those of its own function, and those that the binding names.

pybind11 and nanobind share one vocabulary (`arg`, `kw_only`, `pos_only`, `init`, `overload_cast`): where the binding
names arguments, Python takes them by name; where it names none, by position alone.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pinctl.contract.model import Kind, Parameter, Signature
from pinctl.contract.surface.cpp_text import Source, Span
from pinctl.contract.surface.spelling import cpp_default, cpp_type

_PATH = r"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*~?[A-Za-z_]\w*)*"
_REFERENCE = re.compile(rf"&?\s*({_PATH})\s*(?:<[^;{{}}]*>)?")
_WRAPPED = re.compile(
    r"(?:torch::)?(?:TORCH_FN|TORCH_BOX|wrap_pybind_function(?:_no_gil)?)\s*\(\s*&?\s*(" + _PATH + r")\s*\)"
)
_NAME = re.compile(r"(?P<type>.*?[\w>&*\]\s])?(?<![\w:])(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*", re.DOTALL)
_BUILTIN = frozenset("void bool char short int long float double auto unsigned signed size_t int64_t int32_t".split())
_QUALIFIER = re.compile(
    r"\b(?:const|volatile|constexpr|struct|class|typename|mutable|unsigned|signed|long|short)\b|[&*\s]"
)
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")
_ARG = re.compile(r"(?:\w+\s*::\s*)*(arg|arg_v|kw_only|pos_only|args|kwargs)\b\s*(?=[(<])")
_SUFFIX = re.compile(r'"\0*"\s*_a\b')
_ORDER = (Kind.POSITIONAL, Kind.EITHER, Kind.REST, Kind.KEYWORD, Kind.KEYWORD_REST)
_STARRED = {"args": Kind.REST, "kwargs": Kind.KEYWORD_REST}
_ANY = (Parameter("args", Kind.REST), Parameter("kwargs", Kind.KEYWORD_REST))
_VARIADIC = re.compile(r"(?:\w+\s*::\s*)+(args|kwargs)\b")


class Function(NamedTuple):
    """What is registered under a name: its parameters where they are seen (of a lambda, a cast), else the name of the
    C++ function. `parameters` is None where they are not known here; `member`: they do not begin with `self`."""

    parameters: tuple[Parameter, ...] | None = None
    source: str = ""
    member: bool = False


def parameters(source: Source, start: int, end: int) -> tuple[Parameter, ...]:
    """The parameters of the list `start:end` of a C++ function."""
    found = (_parameter(source, span) for span in source.split(start, end))
    return tuple(parameter for parameter in found if parameter is not None)


def _parameter(source: Source, span: Span) -> Parameter | None:
    code = source.at(span)
    equals = re.search(r"(?<![=!<>])=(?!=)", code)
    told = Span(span.start, span.start + equals.start()) if equals else span
    text = _ATTRIBUTE.sub(" ", source.text(told)).strip()
    if text in ("void", ""):
        return None
    default = source.text(Span(span.start + equals.end(), span.end)) if equals else None
    value = None if default is None else cpp_default(default)
    if variadic := _VARIADIC.search(text):
        return Parameter(variadic[1], _STARRED[variadic[1]])
    type_, name = _declared(text)
    return Parameter(name, Kind.POSITIONAL, value, cpp_type(type_))


def _declared(text: str) -> tuple[str, str]:
    """The type and the name of a parameter; the name is "" where it has none."""
    match = _NAME.fullmatch(text)
    type_ = (match["type"] or "").strip() if match else ""
    if not match or match["name"] in _BUILTIN or not (_QUALIFIER.sub("", type_) or _has_builtin(type_)):
        return text, ""
    return type_, match["name"]


def _has_builtin(type_: str) -> bool:
    return any(word in ("unsigned", "signed", "long", "short") for word in type_.split()) or bool(
        set(re.findall(r"\w+", type_)) & _BUILTIN
    )


def function(source: Source, span: Span) -> Function:
    """What the argument `span` of a `def` registers."""
    code = source.at(span)
    if code.startswith("["):
        return Function(_lambda(source, span))
    if match := _WRAPPED.fullmatch(code):
        return Function(source=_path(match[1]))
    if match := _REFERENCE.fullmatch(code):
        return Function(source=_path(match[1]))
    if match := re.match(r"(?:\w+\s*::\s*)*overload_cast\s*<", code):
        return _overload(source, span, match)
    if match := re.search(r"\(\s*((?:\w+\s*::\s*)*)\*\s*\)\s*(\()", code):  # a cast to a type of function
        opener = span.start + match.start(2)
        types = parameters(source, opener + 1, source.closers.get(opener, opener + 1))
        return Function(types, _last_reference(code), bool(match[1]))
    return Function()


def _path(text: str) -> str:
    return re.sub(r"\s+", "", text).removeprefix("::")


def _last_reference(code: str) -> str:
    found = re.findall(rf"&\s*({_PATH})", code)
    return _path(found[-1]) if found else ""


def _overload(source: Source, span: Span, match: re.Match[str]) -> Function:
    """`py::overload_cast<A, B>(&f)`."""
    code = source.at(span)
    end = code.rfind(">(") if ">(" in code else code.rfind(">")
    types = parameters(source, span.start + match.end(), span.start + end) if end > match.end() else ()
    target = _last_reference(code)
    return Function(types, target, "::" in target)


def _lambda(source: Source, span: Span) -> tuple[Parameter, ...] | None:
    at = source.closers.get(span.start)
    if at is None:
        return None
    following = re.compile(r"\s*(?:<[^<>()]*>\s*)?([({])").match(source.code, at + 1, span.end)
    if following is None:
        return None
    opener = following.start(1)
    return parameters(source, opener + 1, source.closers.get(opener, opener + 1)) if following[1] == "(" else ()


def named(source: Source, spans: Sequence[Span]) -> tuple[Parameter, ...] | None:
    """The parameters that the arguments of a `def` after its function name; None where they name none, and any there
    may be where a name is computed.

    `kw_only` and `pos_only` count for what stands after and before them.
    """
    found: list[Parameter] = []
    kind, seen = Kind.EITHER, False
    for span in spans:
        code = source.at(span)
        match = _ARG.match(code)
        word = match[1] if match else "arg" if _SUFFIX.match(code) else ""
        seen = seen or bool(word)
        if word == "kw_only":
            kind = Kind.KEYWORD
        elif word == "pos_only":
            found = [p._replace(kind=Kind.POSITIONAL) if p.kind is Kind.EITHER else p for p in found]
        elif word in ("arg", "arg_v"):
            if (parameter := _named(source, span, kind)) is None:
                return _ANY
            found.append(parameter)
    return tuple(found) if seen else None


def _named(source: Source, span: Span, kind: Kind) -> Parameter | None:
    """`py::arg("a").noconvert() = 1`, `"a"_a = 1`, `py::arg_v("a", 1, "1")`, `py::arg()`; None of `py::arg(NAME)`."""
    code = source.at(span)
    equals = re.search(r"(?<![=!<>])=(?!=)", code)
    default = source.text(Span(span.start + equals.end(), span.end)) if equals else None
    opener = span.start + code.index("(") if "(" in code and not _SUFFIX.match(code) else -1
    if opener < 0:
        name = source.literal(Span(span.start, span.start + code.index("_a"))) or ""
    else:
        inner = source.arguments(opener)
        said = source.literal(inner[0]) if inner else ""
        if said is None:
            return None
        name = said
        kind = kind if name else Kind.POSITIONAL
        if len(inner) > 1 and default is None:
            default = source.text(inner[1])
    return Parameter(name, kind, None if default is None else cpp_default(default))


def merged(
    binding: tuple[Parameter, ...] | None, function_: tuple[Parameter, ...] | None, *, method: bool = False
) -> Signature | None:
    """The signature of what a binding and a C++ function say together; `method`: the function's first parameter is
    `self`. None where neither says enough."""
    own = function_[1:] if method and function_ else function_
    if binding is None:
        return None if own is None else Signature(tuple(_unnamed(parameter) for parameter in own))
    plain = [p for p in own or () if p.kind is Kind.POSITIONAL]
    starred = tuple(p for p in own or () if p.kind is not Kind.POSITIONAL)
    if own is not None and len(plain) == len(binding):
        binding = tuple(b._replace(type=p.type) for b, p in zip(binding, plain, strict=True))
    return Signature(_ordered((*binding, *starred)))


def _unnamed(parameter: Parameter) -> Parameter:
    """A parameter that the binding does not name: a default of C++ is none of Python's."""
    return parameter._replace(default=None)


def _ordered(found: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    return tuple(sorted(found, key=lambda parameter: _ORDER.index(parameter.kind)))
