"""Whole trees: what their facts make together."""

from __future__ import annotations

import importlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upstream.support import Repository, forest

from pinctl.contract.model import Mechanism, Place, Sort
from pinctl.contract.surface import Memory, linking, read, remembered

from .support import surface, told

API = """
PYBIND11_MODULE(_C, m) {
  m.def("f", &f, py::arg("a"), py::arg("b") = 1);
#if CUDART_VERSION >= 12090
  m.def("g", &g);
#endif
  m.attr("h") = m.attr("f");
  py::class_<D>(m, "D").def(py::init<int>()).def("legs", &D::legs, py::arg("n"));
}
"""
HEADER = "#pragma once\nint g(const at::Tensor& x, int y);\n"


def pkg(init: str, **modules: str) -> dict[str, str]:
    return {"pkg/__init__.py": init, **{f"pkg/{name}.py": text for name, text in modules.items()}}


# --- extension modules ---------------------------------------------------------------------------------------------


def test_an_extension_module_and_what_is_taken_from_it() -> None:
    made = surface(
        {
            **pkg(
                "from ._C import f, h as other\ntry:\n    from ._C import g\nexcept ImportError:\n    pass\nalias = f\n"
            ),
            "csrc/api.cpp": API,
            "csrc/g.h": HEADER,
        }
    )
    symbols = made.symbols
    f = symbols["pkg.f"]
    assert (f.sort, f.mechanism, f.place, f.target, told(f.signatures)) == (
        Sort.FUNCTION,
        Mechanism.PYBIND,
        Place("pkg/__init__.py", 1),
        "pkg._C.f",
        ["a, b=1"],
    )
    assert symbols["pkg._C.f"].place == Place("csrc/api.cpp", 3)
    assert told(symbols["pkg.other"].signatures) == told(symbols["pkg.alias"].signatures) == ["a, b=1"]
    assert symbols["pkg.alias"].target == "pkg._C.f"
    assert symbols["pkg.g"].guards == ("try/except ImportError", "#if CUDART_VERSION >= 12090")
    assert told(symbols["pkg.g"].signatures) == ["x, y, /"]
    assert told(symbols["pkg._C.D"].signatures) == ["arg0, /"]
    assert told(symbols["pkg._C.D.legs"].signatures) == ["n"]
    assert symbols["pkg._C"].sort is Sort.MODULE
    assert made.open == {}


def test_one_missing_name_takes_what_follows_it_away() -> None:
    made = surface(
        {
            **pkg("try:\n    from ._C import f, gone, h\n    alias = f\nexcept ImportError:\n    pass\nafter = 1\n"),
            "csrc/api.cpp": API,
        }
    )
    assert {n for n in made.symbols if n.count(".") == 1} >= {"pkg.f", "pkg.after"}
    assert not {"pkg.gone", "pkg.h", "pkg.alias"} & made.symbols.keys()


def test_a_name_that_the_package_counts_on_opens_the_module_that_lacks_it() -> None:
    made = surface({**pkg("from ._C import f, gone\n"), "csrc/api.cpp": API})
    assert made.symbols["pkg.gone"].signatures == ()
    assert made.open == {"pkg._C": "pkg/__init__.py:1 imports gone of it, which is not found"}


def test_a_module_that_is_not_in_the_tree_may_be_made_by_the_build() -> None:
    made = surface(pkg("try:\n    from .envs import a, b\nexcept ImportError:\n    pass\nfrom . import _version\n"))
    assert {"pkg.a", "pkg.b", "pkg.envs", "pkg._version"} <= made.symbols.keys()
    assert set(made.open) == {"pkg.envs", "pkg._version"}


def test_the_build_names_the_extension() -> None:
    made = surface(
        {
            **pkg("import pkg_cpp\nfrom pkg.ext import f\n"),
            "csrc/a.cpp": 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", [](int a) {}); }',
            "csrc/b.cpp": 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("g", [](int b) {}); }\n'
            'TORCH_LIBRARY_FRAGMENT(TORCH_EXTENSION_NAME, m) { m.def("op(int x) -> ()"); }',
            "setup.py": "SOURCES = ['csrc/b.cpp']\nsetup(ext_modules=[CUDAExtension('pkg.ext', ['csrc/a.cpp']),"
            " CppExtension(name='pkg_cpp', sources=SOURCES)])",
        }
    )
    assert told(made.symbols["pkg.f"].signatures) == ["a, /"]
    assert told(made.symbols["pkg_cpp.g"].signatures) == ["b, /"]
    assert told(made.symbols["torch.ops.pkg_cpp.op"].signatures) == ["x"]
    assert "pkg_cpp.f" not in made.symbols


def test_the_extension_of_another_package_is_not_ours() -> None:
    made = surface({**pkg("try:\n    from torch._C import a\nexcept ImportError:\n    pass\nb = 1\n"), "a.cpp": API})
    assert {"pkg.a", "pkg.b"} <= made.symbols.keys()
    assert not any(name.startswith("torch.") for name in made.symbols)
    assert "_C.f" in made.symbols


def test_helpers_submodules_enumerations_and_bases() -> None:
    made = surface(
        {
            **pkg("from . import _C\n"),
            "a.cpp": "namespace n { void reg(py::module_& m); }\nnamespace n {\nPYBIND11_MODULE(_C, m) {\n"
            '#ifdef X\n n::reg(m);\n#endif\n lost(m);\n auto s = m.def_submodule("s");\n'
            ' py::enum_<E>(s, "E").value("A", E::A).export_values();\n py::class_<K, B>(s, "K");\n}\n}',
            "b.cpp": 'namespace n { void reg(py::module_& m) { m.def("f", [](int a) {}); } }\n'
            'namespace o { void reg(py::module_& m) { m.def("no", [](int a) {}); } }',
        }
    )
    names = {n.removeprefix("pkg._C.") for n in made.symbols if n.startswith("pkg._C.")}
    assert names == {"f", "s", "s.E", "s.E.A", "s.A", "s.K"}
    assert made.symbols["pkg._C.f"].guards == ("#ifdef X",)
    assert made.open == {
        "pkg._C": "a.cpp:7: lost() is not found, and may register names",
        "pkg._C.s.K": "a.cpp:10: its base B may give it more",
    }


def test_both_branches_of_a_condition_are_no_condition() -> None:
    made = surface(
        {
            **pkg("from . import _C"),
            "a.cpp": 'PYBIND11_MODULE(_C, m) {\n#if A\n m.def("f", [](int a) {});\n#else\n'
            ' m.def("f", [](int a, int b) {});\n#endif\n#if B\n m.def("g", [] {});\n#endif\n}',
        }
    )
    assert told(made.symbols["pkg._C.f"].signatures) == ["a, /", "a, b, /"]
    assert made.symbols["pkg._C.f"].guards == ()
    assert made.symbols["pkg._C.g"].guards == ("#if B",)


def test_operators_and_shims_over_them() -> None:
    made = surface(
        {
            **pkg(
                "from ._C import f, g\n",
                _C="import torch\nf = torch.ops.ns.f\n_ops = torch.ops.ns\ng = _ops.g\n"
                "globals().update({n: getattr(torch.ops.ns, n) for n in ['h']})\nlater = torch.ops.ns.later\n",
            ),
            "a.cpp": 'TORCH_LIBRARY(ns, m) { m.def("f(Tensor x) -> ()"); m.def("g(int n=1) -> ()");'
            ' m.def("h() -> ()"); }',
        }
    )
    assert {n: told(made.symbols[f"pkg.{n}"].signatures) for n in ("f", "g", "_C.h")} == {
        "f": ["x"],
        "g": ["n=1"],
        "_C.h": [""],
    }
    assert made.symbols["pkg.f"].mechanism is Mechanism.TORCH
    assert made.symbols["pkg._C.later"].signatures == ()


def test_all_operators_of_a_namespace_may_be_taken() -> None:
    made = surface(
        {
            **pkg("import torch\nglobals().update(vars(torch.ops.ns))\n"),
            "a.cpp": 'TORCH_LIBRARY(ns, m) { m.def("f(Tensor x) -> ()"); }',
        }
    )
    assert told(made.symbols["pkg.f"].signatures) == ["x"]
    assert made.open == {}


def test_registries_of_tvm_ffi() -> None:
    made = surface(
        {
            **pkg("from . import api\n", api="import tvm_ffi\ntvm_ffi.init_ffi_api('pkg.x', __name__)\n"),
            "a.cc": "TVM_FFI_STATIC_INIT_BLOCK() {\n"
            '  refl::GlobalDef().def("pkg.x.f", [](int a) {}).def("pkg.x.y.no", g); }',
            "csrc/b.cu": "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, [](int q) {});",
        }
    )
    assert told(made.symbols["pkg.api.f"].signatures) == ["a, /"]
    assert "pkg.api.no" not in made.symbols
    assert "pkg.api" in made.open
    assert told(made.symbols["tvm_ffi.csrc.b.run"].signatures) == ["q, /"]


# --- Python --------------------------------------------------------------------------------------------------------


def test_stars() -> None:
    made = surface(
        pkg(
            "from .a import *\nfrom .b import *\nfrom .c import *\nfrom json import *\n",
            a="import os\ndef f(x): ...\n_p = 1\n",
            b="from . import a\n__all__ = ['q'] + a.__all__\ndef q(): ...\ndef r(): ...\n",
            c="__all__ = ['s', '_t']\ns = _t = u = 1\n",
        )
    )
    top = {n.removeprefix("pkg.") for n in made.symbols if n.count(".") == 1}
    assert top == {"a", "b", "c", "os", "f", "s", "_t"}  # of b nothing: a has no __all__
    assert made.open["pkg"] == "pkg/__init__.py: line 2: it takes all names of .b, which are not known"


def test_a_star_of_an_open_module_opens() -> None:
    made = surface(pkg("from .a import *", a="__all__ = [n for n in dir()]\ndef f(): ..."))
    assert "pkg.f" in made.symbols
    assert "which is open" in made.open["pkg"]


def test_decorators() -> None:
    made = surface(
        pkg(
            "from .deco import keep, add, change\nfrom functools import cache\nimport triton\n"
            "@keep\ndef a(x): ...\n@add(1)\ndef b(x): ...\n@change\ndef c(x): ...\n@cache\ndef d(x): ...\n"
            "@triton.jit\ndef e(x): ...\n",
            deco="def keep(f):\n return f\ndef add(n):\n def inner(f):\n  def w(*args, **kwargs):\n"
            "   kwargs.pop('more')\n  return w\n return inner\ndef change(f):\n return Thing(f)\n",
        )
    )
    assert {n: told(made.symbols[f"pkg.{n}"].signatures) for n in "abcde"} == {
        "a": ["x"],
        "b": ["x, *, more=..."],
        "c": [],
        "d": ["x"],
        "e": [],
    }


def test_classes_and_their_bases() -> None:
    made = surface(
        pkg(
            "from .base import Base\nimport torch, enum\nfrom dataclasses import dataclass\n"
            "class A(Base):\n def own(self, b): ...\nclass M(torch.nn.Module): ...\n"
            "class E(enum.Enum):\n X = 1\n@dataclass\nclass P:\n a: int\n@dataclass\nclass Q(P):\n b: int = 2\n"
            "class Z: ...\n",
            base="class Base:\n def __init__(self, x, *, y=1): ...\n def inherited(self, a): ...\n",
        )
    )
    symbols = made.symbols
    assert {n: told(symbols[f"pkg.{n}"].signatures) for n in "AMEPQZ"} == {
        "A": ["x, *, y=1"],
        "M": [],
        "E": [],
        "P": ["a"],
        "Q": ["a, b=2"],
        "Z": [""],
    }
    assert told(symbols["pkg.A.own"].signatures) == ["b"]
    assert (symbols["pkg.A.inherited"].target, told(symbols["pkg.A.inherited"].signatures)) == (
        "pkg.base.Base.inherited",
        ["a"],
    )
    assert "pkg.E.X" in symbols
    assert made.open == {"pkg.M": "pkg/__init__.py:6: its base torch.nn.Module is not in the tree"}


def test_classes_that_are_their_own_bases_end() -> None:
    classes = "\n".join(f"class C{n}(C{n + 1}, C{n + 2}):\n m{n} = 1" for n in range(40))
    made = surface(pkg(classes + "\nclass A(B): ...\nclass B(A): ...\n"))
    assert "pkg.C0.m39" in made.symbols


def test_either_branch() -> None:
    made = surface(
        pkg(
            "import sys\nif sys.version_info > (3, 12):\n    def f(a): ...\nelse:\n    def f(a, b): ...\n"
            "if X:\n    def g(a): ...\ntry:\n    from .a import h\nexcept ImportError:\n    h = None\n"
            "try:\n    from fast import k\nexcept ImportError:\n    def k(a): ...\n",
            a="def h(x): ...\n",
        )
    )
    symbols = made.symbols
    assert (told(symbols["pkg.f"].signatures), symbols["pkg.f"].guards) == (["a", "a, b"], ())
    assert symbols["pkg.g"].guards == ("if X",)
    assert (told(symbols["pkg.h"].signatures), symbols["pkg.h"].guards) == (["x"], ("try/except ImportError",))
    assert (told(symbols["pkg.k"].signatures), symbols["pkg.k"].guards) == ([], ())


def test_names_that_lead_in_a_circle() -> None:
    made = surface(
        pkg("from .a import x\nfrom .a import *\n", a="from .b import x\nfrom .b import *\n", b="from .a import x\n")
    )
    assert made.symbols["pkg.x"].signatures == ()


def test_a_package_is_read_before_its_modules() -> None:
    made = surface(pkg("from .A import g\ndef f(x): ...\n", A="from pkg import f\ndef g(y): ...\n"))
    assert told(made.symbols["pkg.g"].signatures) == ["y"]
    assert told(made.symbols["pkg.A.f"].signatures) == ["x"]
    assert made.open == {}


def test_imports_give_the_closure() -> None:
    made = surface(
        {
            **pkg(
                "from . import a\nfrom .sub.b import c\nimport os\n", a="def f():\n    from . import lazy\n", lazy=""
            ),
            "pkg/sub/__init__.py": "from ..a import f\n",
            "pkg/sub/b.py": "c = 1\n",
        }
    )
    assert made.imports == {
        "pkg/__init__.py": ("pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py"),
        "pkg/a.py": (),
        "pkg/lazy.py": (),
        "pkg/sub/__init__.py": ("pkg/__init__.py", "pkg/a.py"),
        "pkg/sub/b.py": (),
    }


def test_stub_files() -> None:
    made = surface(
        {
            **pkg("from . import _C\n"),
            "pkg/_C.pyi": "from typing import overload\n@overload\ndef f(a: int): ...\n"
            "@overload\ndef f(a: str, b: int): ...\n",
            "pkg/m.py": "x = 1\n",
            "pkg/m.pyi": "y: int\n",
        }
    )
    f = made.symbols["pkg._C.f"]
    assert (f.mechanism, told(f.signatures)) == (Mechanism.STUB, ["a", "a, b"])
    assert "pkg.m.y" not in made.symbols


@pytest.mark.parametrize(
    ("files", "roots", "modules"),
    [
        (["pkg/__init__.py", "tests/pkg/__init__.py"], ["pkg"], {"pkg": "pkg/__init__.py"}),
        (["python/pkg/__init__.py", "3rdparty/x/pkg/__init__.py"], ["pkg"], {"pkg": "python/pkg/__init__.py"}),
        (
            ["src/pkg/__init__.py", "other/__init__.py", "tests/__init__.py"],
            [],
            {"pkg": "src/pkg/__init__.py", "other": "other/__init__.py"},
        ),
        (["pkg.py", "setup.py"], ["pkg"], {"pkg": "pkg.py"}),
        (["pkg/__init__.py"], ["vllm.third_party.pkg"], {"pkg": "pkg/__init__.py"}),
        (
            ["pkg/__init__.py", "pkg/not-a-name.py", "pkg/inner/deep.py"],
            ["pkg"],
            {"pkg": "pkg/__init__.py", "pkg.inner.deep": "pkg/inner/deep.py"},
        ),
    ],
)
def test_where_packages_lie(files: list[str], roots: list[str], modules: dict[str, str]) -> None:
    made = surface(dict.fromkeys(files, ""), *(roots or ["nowhere"]))
    assert {n: s.place.file for n, s in made.symbols.items() if s.sort is Sort.MODULE} == modules


def test_a_submodule_that_holds_the_package() -> None:
    files = forest({"README": ""}, third_party={"python/pkg/__init__.py": "from ._C import f", "a.cpp": API})
    made = read(files, ["pkg"], memory=Memory())
    assert told(made.symbols["pkg.f"].signatures) == ["a, b=1"]
    assert made.symbols["pkg.f"].place.file == "third-party/python/pkg/__init__.py"


# --- what cannot be read -------------------------------------------------------------------------------------------


def test_files_that_cannot_be_read_are_told() -> None:
    made = surface(
        {
            **pkg("from .bad import f\nfrom ._C import g\n", bad="def ("),
            "pkg/large.py": "#" * (1 << 20) + "##",
            "a.cpp": API,
            "b.cpp": "PYBIND11_MODULE(other, m) " + "{" * 1000,
        }
    )
    assert made.unread == {
        "pkg/bad.py": "it is no Python: invalid syntax (line 1)",
        "pkg/large.py": "it has more than 1 MiB",
        "b.cpp": "brackets nest deeper than 500",
    }
    assert {"pkg.bad", "pkg.large", "pkg._C"} <= made.open.keys()
    assert made.symbols["pkg.f"].signatures == ()


def test_row_20_a_link_out_of_the_tree_is_not_followed() -> None:
    repository = Repository(
        {"pkg/__init__.py": "from .env import x\n", "pkg/real.py": "def f(a): ...\n"},
        links={"pkg/env.py": "/proc/self/environ", "pkg/loop.py": "loop.py", "pkg/alias.py": "real.py"},
    )
    made = read(repository.tree, ["pkg"], memory=Memory())
    assert told(made.symbols["pkg.alias.f"].signatures) == ["a"]
    assert {"pkg.env", "pkg.loop"} <= made.open.keys()
    assert made.symbols["pkg.x"].signatures == ()


def test_there_is_an_end_to_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST", 100)
    with pytest.raises(linking.TooMany):
        surface(pkg("\n".join(f"x{n} = 1" for n in range(200))))


def test_imports_that_nest_deep_end() -> None:
    files = pkg("from .m0 import *", **{f"m{n}": f"from .m{n + 1} import *\nx{n} = 1\n" for n in range(400)})
    made = surface(files)
    assert "pkg.x5" in made.symbols
    assert any("too deep" in reason for reason in made.open.values())


# --- what was read before ------------------------------------------------------------------------------------------


def test_what_was_read_is_not_read_again() -> None:
    files = {**pkg("from ._C import f, g\n", a="x = 1\n"), "a.cpp": API, "g.h": HEADER, "setup.py": ""}
    first, memory = Repository(files), Memory(salt="1")
    made = read(first.tree, ["pkg"], memory=memory)
    assert len(first.asked) == 1
    kept = memory.kept()

    again, memory = Repository(files), Memory(kept, salt="1")
    assert read(again.tree, ["pkg"], memory=memory) == made
    assert remembered(made.commit, ["pkg"], memory=memory) == made
    assert remembered(made.commit, ["other"], memory=memory) is None
    assert (again.asked, memory.learned) == ([], False)

    moved, memory = Repository({**files, "pkg/a.py": "y = 1\n"}), Memory(kept, salt="1")
    moved_tree = moved.tree.of("d0" * 20, [], moved.read)
    object.__setattr__(moved_tree, "files", moved.tree.files)
    assert "pkg.a.y" in read(moved_tree, ["pkg"], memory=memory).symbols
    assert [len(ids) for ids in moved.asked] == [1]

    other, memory = Repository(files), Memory(kept, salt="2")
    assert read(other.tree, ["pkg"], memory=memory) == made
    assert other.asked


# --- what is read is what Python imports ---------------------------------------------------------------------------

NAMES = st.sampled_from(["p", "q", "r", "_s", "t", "u"])


@st.composite
def packages(draw: st.DrawFn) -> dict[str, str]:
    """The modules `a`, `b` and `__init__` of a package that can be imported, each using those before it."""
    texts: dict[str, str] = {}
    bound: dict[str, list[str]] = {}
    for module in ("a", "b", "__init__"):
        lines, names = [], []
        for other in texts:
            kind = draw(st.sampled_from(["star", "from", "module", "none"]))
            if kind == "star":
                lines.append(f"from .{other} import *")
            elif kind == "from" and bound[other]:
                name, new = draw(st.sampled_from(bound[other])), draw(NAMES)
                lines.append(f"from .{other} import {name} as {new}")
                names.append(new)
            elif kind == "module":
                lines.append(f"from . import {other} as m_{other}")
                names += [f"m_{other}"]
                if bound[other]:
                    lines.append(f"v_{other} = m_{other}.{draw(st.sampled_from(bound[other]))}")
                    names.append(f"v_{other}")
        for name in draw(st.lists(NAMES, max_size=3)):
            lines.append(
                draw(st.sampled_from([f"def {name}(x, {name}=1): ...", f"{name} = 1", f"class {name}:\n    z = 1"]))
            )
            names.append(name)
        if names and draw(st.booleans()):
            lines.append(f"__all__ = {draw(st.lists(st.sampled_from(names), unique=True))!r}")
        texts[module], bound[module] = "\n".join(lines), names
    return texts


@given(packages())
def test_a_package_reads_as_it_imports(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]) -> None:
    base = tmp_path_factory.mktemp("importable")
    name = f"made_{base.name}"
    (base / name).mkdir()
    for module, text in texts.items():
        (base / name / f"{module}.py").write_text(text)
    sys.path.insert(0, str(base))
    try:
        package = importlib.import_module(name)
        inner = {module: importlib.import_module(f"{name}.{module}") for module in ("a", "b")}
    finally:
        sys.path.remove(str(base))
        for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[module]
    made = surface({f"{name}/{module}.py": text for module, text in texts.items()}, name)
    assert made.open == {}
    for dotted, module in ((name, package), *((f"{name}.{n}", m) for n, m in inner.items())):
        found = {n.removeprefix(f"{dotted}.") for n in made.symbols if n.rpartition(".")[0] == dotted}
        assert found == {n for n in vars(module) if not n.startswith("__")}
        for leaf, value in vars(module).items():
            if callable(value) and not leaf.startswith("__"):
                sort = made.symbols[f"{dotted}.{leaf}"].sort
                assert sort is (Sort.CLASS if isinstance(value, type) else Sort.FUNCTION)
