"""A made-up package of some hundred functions, and an engine that calls each of them: texts, read as real ones are.

The package registers functions with pybind11 and TORCH_LIBRARY and defines some in Python; the engine reaches each in
one of FORMS, by position or by keyword. Everything follows from the number of a function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

FORMS = ("from", "attribute", "getattr", "except", "lazy", "wrapper", "partial")
HOMES = ("pybind", "python", "torch")
_WORDS = ("lhs", "rhs", "scale", "layout", "count", "mask", "block", "stage", "group", "alpha", "beta", "limit")
_PARTS = 10
"""Functions in one file."""


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the package. `by_keyword`: the engine gives all arguments but the first by keyword."""

    number: int
    name: str
    home: str
    params: tuple[Param, ...]
    form: str
    by_keyword: bool

    @property
    def dotted(self) -> str:
        return f"torch.ops.up.{self.name}" if self.home == "torch" else f"up.{self.name}"

    @property
    def given(self) -> tuple[Param, ...]:
        """What the engine gives: all parameters without a default, and the first that has one."""
        needed = sum(p.default is None for p in self.params)
        return self.params[: needed + 1]


def functions(count: int) -> list[Function]:
    return [_function(number) for number in range(count)]


def _function(number: int) -> Function:
    home = HOMES[number % len(HOMES)]
    needed, optional = 2 + number % 3, 1 + number // 3 % 3
    names = [_WORDS[(number + k) % len(_WORDS)] for k in range(needed + optional)]
    params = tuple(Param(name, None if k < needed else str(k)) for k, name in enumerate(names))
    form = "attribute" if home == "torch" else FORMS[number // 2 % len(FORMS)]
    verb = ("gemm", "norm", "pack", "route", "quant")[number % 5]
    return Function(number, f"{verb}_{_spelled(number)}", home, params, form, by_keyword=number // 4 % 2 == 1)


def _spelled(number: int) -> str:
    """A word of its own for each number, unlike its neighbours'."""
    digits = ("ab", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu")
    return "".join(digits[int(d)] for d in f"{number * 37 % 1000:03d}")


# --- the package --------------------------------------------------------------------------------------------------


def package(found: Sequence[Function]) -> dict[str, str]:
    """The files of a package that has the functions `found`."""
    files = {"README.md": "# up\n"}
    lines = ["from . import _C"]
    for home in ("pybind", "python"):
        for part, some in _parts([f for f in found if f.home == home]):
            names = ", ".join(f.name for f in some)
            if home == "pybind":
                files[f"csrc/apis/part{part}.hpp"] = _header(part, some)
                lines.append(f"from ._C import ({names})")
            else:
                files[f"up/part{part}.py"] = "".join(map(_python, some))
                lines.append(f"from .part{part} import ({names})")
    files["up/__init__.py"] = "\n".join([*lines, '__version__ = "1.0"', ""])
    parts = [part for part, _ in _parts([f for f in found if f.home == "pybind"])]
    files["csrc/python_api.cpp"] = _module(parts)
    files["csrc/ops.cpp"] = _library([f for f in found if f.home == "torch"])
    return files


def _parts(found: Sequence[Function]) -> Iterator[tuple[int, list[Function]]]:
    parts: dict[int, list[Function]] = {}
    for f in found:
        parts.setdefault(f.number // (_PARTS * len(HOMES)), []).append(f)
    yield from sorted(parts.items())


def _header(part: int, some: Sequence[Function]) -> str:
    defs = "".join(map(_def, some))
    return (
        "#pragma once\n#include <torch/python.h>\n\nnamespace up {\n\n"
        f"static void register_part{part}(pybind11::module_& m) {{\n{defs}}}\n\n}}  // namespace up\n"
    )


def _def(f: Function) -> str:
    args = "".join(
        f',\n          py::arg("{p.name}")' + (f" = {p.default}" if p.default is not None else "") for p in f.params
    )
    return f'    m.def("{f.name}", &{f.name}{args});\n'


def _module(parts: Sequence[int]) -> str:
    includes = "".join(f'#include "apis/part{part}.hpp"\n' for part in parts)
    calls = "".join(f"    up::register_part{part}(m);\n" for part in parts)
    return f"#include <pybind11/pybind11.h>\n{includes}\nPYBIND11_MODULE(_C, m) {{\n{calls}}}\n"


def _library(some: Sequence[Function]) -> str:
    defs = "".join(f'    m.def("{f.name}({_schema(f)}) -> int");\n' for f in some)
    return f"#include <torch/library.h>\n\nTORCH_LIBRARY(up, m) {{\n{defs}}}\n"


def _schema(f: Function) -> str:
    return ", ".join(f"int {p.name}" + (f"={p.default}" if p.default is not None else "") for p in f.params)


def _python(f: Function) -> str:
    params = ", ".join(p.name + (f"={p.default}" if p.default is not None else "") for p in f.params)
    return f"def {f.name}({params}):\n    return {f.params[0].name}\n\n\n"


# --- the engine ---------------------------------------------------------------------------------------------------

_HEAD = """\
import functools
import importlib

import torch
import up


def _package():
    return importlib.import_module("up")


"""


def engine(found: Sequence[Function]) -> dict[str, str]:
    """The files of an engine that calls each of `found` once."""
    parts: dict[int, list[Function]] = {}
    for f in found:
        parts.setdefault(f.number // _PARTS, []).append(f)
    return {f"engine/kernels{part}.py": _HEAD + "".join(map(_use, some)) for part, some in parts.items()}


def _use(f: Function) -> str:
    values = ", ".join(f"{p.name}=x" if f.by_keyword and k else "x" for k, p in enumerate(f.given))
    n = f.name
    if f.home == "torch":
        return f"def use_{n}(x):\n    return torch.ops.up.{n}({values})\n\n\n"
    return {
        "from": f"from up import {n}\n\n\ndef use_{n}(x):\n    return {n}({values})\n\n\n",
        "attribute": f"def use_{n}(x):\n    return up.{n}({values})\n\n\n",
        "getattr": f"_{n} = getattr(up, {n!r}, None)\n\n\ndef use_{n}(x):\n    return _{n}({values})\n\n\n",
        "except": f"try:\n    from up import {n}\nexcept ImportError:\n    {n} = None\n\n\n"
        f"def use_{n}(x):\n    return {n}({values})\n\n\n",
        "lazy": f"def use_{n}(x):\n    return _package().{n}({values})\n\n\n",
        "wrapper": f"def wrap_{n}(*args, **kwargs):\n    return up.{n}(*args, **kwargs)\n\n\n"
        f"def use_{n}(x):\n    return wrap_{n}({values})\n\n\n",
        "partial": f"def use_{n}(x):\n    return functools.partial(up.{n}, {values})()\n\n\n",
    }[f.form]


# --- mutations ----------------------------------------------------------------------------------------------------


def rename(f: Function, at: int) -> Function:
    """`f` with its parameter `at` renamed."""
    return _with(f, at, replace(f.params[at], name=f"new_{f.params[at].name}"))


def _with(f: Function, at: int, *new: Param) -> Function:
    return replace(f, params=(*f.params[:at], *new, *f.params[at + 1 :]))


def without(f: Function, at: int) -> Function:
    """`f` without its parameter `at`."""
    return _with(f, at)


def with_required(f: Function) -> Function:
    """`f` with another parameter that must be given, after those that must."""
    at = sum(p.default is None for p in f.params)
    return replace(f, params=(*f.params[:at], Param("extra"), *f.params[at:]))


def swapped(f: Function) -> Function:
    """`f` with its first two parameters in the other order."""
    one, two, *rest = f.params
    return replace(f, params=(two, one, *rest))


def with_optional(f: Function) -> Function:
    """`f` with another parameter at its end that need not be given."""
    return replace(f, params=(*f.params, Param("extra", "0")))


def changed(found: Sequence[Function], new: Mapping[str, Function | None]) -> list[Function]:
    """`found` with some of them, by name, in another form; None: without it."""
    made = (new.get(f.name, f) for f in found)
    return [f for f in made if f is not None]
