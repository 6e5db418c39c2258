from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.model import Kind, Parameter
from pinctl.contract.surface import cpp
from pinctl.contract.surface.facts import Act, CppFacts, Unread

from .support import told, typed


def facts(text: str) -> CppFacts:
    made = cpp.read(text.encode())
    assert isinstance(made, CppFacts)
    return made


def module(body: str, before: str = "") -> CppFacts:
    return facts(f"{before}\nPYBIND11_MODULE(_C, m) {{\n{body}\n}}\n")


def entries(made: CppFacts) -> Mapping[str, str | None]:
    """The definitions and methods, each with its parameters; None where they are not known."""
    return {
        entry.name: None if entry.signature is None else told([entry.signature])[0]
        for entry in made.entries
        if entry.act in (Act.DEF, Act.METHOD, Act.INIT)
    }


def only(body: str, before: str = "") -> str | None:
    (one,) = entries(module(body, before)).values()
    return one


# --- functions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        ('m.def("f", &f, py::arg("a"), py::arg("b") = 1);', "a, b=1"),
        ('m.def("f", &ns::f<int, 2>, pybind11::arg("a") = std::nullopt, "doc");', "a=None"),
        ('m.def("f", &f, "a"_a, "b"_a = "x");', "a, b='x'"),
        ('m.def("f", &f, py::arg("a"), py::kw_only(), py::arg("b") = true);', "a, *, b=True"),
        ('m.def("f", &f, py::arg("a"), py::pos_only(), py::arg("b"));', "a, /, b"),
        ('m.def("f", &f, py::arg("a").noconvert() = 1, py::arg_v("b", X(), "X()"));', "a=1, b=X()"),
        ('m.def("f", &f, py::call_guard<py::gil_scoped_release>(), py::arg("a") = std::make_tuple(1, 2));', "a=(1, 2)"),
        ('m.def("f", [](int a, const std::vector<int>& b) { return g(a, ","); });', "a, b, /"),
        ('m.def("f", [&]() -> int { return 1; });', ""),
        ('m.def("f", [] { return 1; }, "doc");', ""),
        ('m.def("f", [](int a, int b) {}, py::arg("x"), py::arg("y") = 2);', "x, y=2"),
        ('m.def("f", [](py::args args, int k, py::kwargs kwargs) {}, py::arg("k"));', "k, *args, **kwargs"),
        ('m.def("f", static_cast<int (*)(int, float)>(&f));', "arg0, arg1, /"),
        ('m.def("f", py::overload_cast<int, const std::string&>(&f));', "arg0, arg1, /"),
        ('m.def("f", &f);', None),
        ('m.def("f", make(1));', None),
        ('m.def("a" "b", &f, py::arg("x")); // m.def("no", &f)', "x"),
        ('if (x) {\n m.def("f", &f, py::arg("a"));\n}', "a"),
        ('m.\\\n  def("f", \\\r\n &f, py::arg("a"));', "a"),
        ('m.def("f", &f, py::arg(NAME), py::arg("b") = 1);', "*args, **kwargs"),
        ('m.def("f", &f, py::arg().none(), py::arg("b"));', "arg0, /, b"),
    ],
)
def test_a_function(body: str, signature: str | None) -> None:
    assert only(body) == signature


@pytest.mark.parametrize(
    ("before", "signature"),
    [
        ("static int f(const torch::Tensor& a, int b = 2) { return 0; }", "a, b, /"),
        ("int f(int);", "arg0, /"),
        ("int f(void) noexcept;", ""),
        ("auto f(int a) -> std::vector<int> { return f(a); }", "a, /"),
        ("namespace n { int f(int a); }\nint f(int a, int b);", "a, b, /"),
        ("int f(int a); int f(float a);", None),
        ("int f(int a); int f(int a) { return 0; }", "a, /"),
        ("int g() { return f(1, 2); }", None),
        ("int g() { f(1, 2); else f(3); }", None),
        ("int f(std::function<int(int, int)> a, int);", "a, arg1, /"),
    ],
)
def test_a_function_without_named_arguments_takes_what_cpp_declares(before: str, signature: str | None) -> None:
    assert only('m.def("f", &f);', before) == signature


def test_types_come_from_the_declaration() -> None:
    made = module(
        'm.def("f", &f, py::arg("x"), py::arg("y") = 1);', "int f(const at::Tensor& a, std::optional<int> b);"
    )
    (entry,) = made.entries
    assert entry.signature is not None
    assert typed(entry.signature) == ["x: Tensor", "y: Optional[int] = 1"]


def test_overloads_are_kept_apart() -> None:
    made = module('m.def("f", &f, py::arg("a"));\nm.def("f", &g, py::arg("b"));')
    assert [told([e.signature])[0] for e in made.entries if e.signature] == ["a", "b"]


def test_conditions_lines_and_aliases() -> None:
    made = module(
        '#if CUDART_VERSION >= 12090\nm.def("f", &f, py::arg("a"));\n#endif\nm.attr("g") = m.attr("f");\n'
        'm.attr("v") = 1;\nint x = m.attr("w");'
    )
    assert [(e.act, e.name, e.line, e.guards, e.source) for e in made.entries] == [
        (Act.DEF, "f", 4, ("#if CUDART_VERSION >= 12090",), "f"),
        (Act.ALIAS, "g", 6, (), "f"),
        (Act.VALUE, "v", 7, (), ""),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "m.def(name, &f);",
        'm.def(("a" + b).c_str(), &f);',
        "m.def(STR(f), &f);",
        "m.def(ns::name(f), &f);",
        "m.attr(name) = 1;",
        "py::class_<T>(m, name);",
        "m.def_submodule(name);",
        "DEF_OP(f);",
    ],
)
def test_what_is_computed_is_open(body: str) -> None:
    made = module(body, "#define DEF_OP(x) m.def(#x, &x)")
    assert [entry.act for entry in made.entries] == [Act.OPEN]


def test_a_helper_is_called_with_the_module() -> None:
    made = facts(
        'namespace a::b {\nstatic void reg(py::module_& m, int x) {\n  m.def("f", &f);\n}\n}\n'
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, mod) { a::b::reg(mod, 1); other::reg<float>(mod); }"
    )
    assert [(scope.area, scope.name) for scope in made.scopes] == [
        ("pybind11", "TORCH_EXTENSION_NAME"),
        ("helper", "a::b::reg"),
    ]
    assert [(e.scope, e.act, e.name or e.source) for e in made.entries] == [
        (0, Act.CALL, "a::b::reg"),
        (0, Act.CALL, "other::reg"),
        (1, Act.DEF, "f"),
    ]


def test_the_name_of_a_module_may_be_a_macro() -> None:
    made = facts(
        "#ifndef TORCH_EXTENSION_NAME\n#define TORCH_EXTENSION_NAME _C\n#endif\n"
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"
        "TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _ar), ops) {}"
    )
    assert [scope.name for scope in made.scopes] == ["_C", "_C_ar"]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ('#if 0\nm.def("no", &f);\n#else\nm.def("yes", &f);\n#endif', ["yes"]),
        ('#if 1\nm.def("yes", &f);\n#else\nm.def("no", &f);\n#endif', ["yes"]),
        ('#if X && 0\nm.def("no", &f);\n#endif\nm.def("yes", &f);', ["yes"]),
        ('#if 0\nm.def("no", [](int a) {\n#if X\n}\n#endif\n#endif\nm.def("yes", &f);', ["yes"]),
        ('#if 0\n#elif X\nm.def("maybe", &f);\n#endif', ["maybe"]),
        ('#ifdef USE_ROCM\nm.def("maybe", &f);\n#endif', ["maybe"]),
        ('#ifndef __linux__\nm.def("maybe", &f);\n#endif', ["maybe"]),
    ],
)
def test_what_no_build_compiles_is_not_there(body: str, names: list[str]) -> None:
    assert [entry.name for entry in module(body).entries] == names


@pytest.mark.parametrize(
    ("helper", "call"),
    [
        ("void reg(py::module_* m) { m->def(", "reg(&m)"),
        ("void reg(py::module_ m) { m.def(", "reg(m)"),
        ("void reg(const py::module_& m) { m.def(", "reg(m)"),
    ],
)
def test_a_helper_takes_the_module_in_any_way(helper: str, call: str) -> None:
    made = facts(f'{helper}"f", &f); }}\nPYBIND11_MODULE(_C, m) {{ {call}; }}')
    assert [(e.act, e.name or e.source) for e in made.entries] == [(Act.CALL, "reg"), (Act.DEF, "f")]


def test_a_module_that_is_begun_in_either_branch() -> None:
    made = facts('#ifdef A\nPYBIND11_MODULE(_C, m) {\n#else\nPYBIND11_MODULE(_C, m) {\n#endif\nm.def("f", &f);\n}')
    assert {(entry.act, entry.name) for entry in made.entries} == {(Act.DEF, "f")}


# --- classes -------------------------------------------------------------------------------------------------------


def test_a_class() -> None:
    made = module(
        """
        struct Dog { int legs(int a); };
        py::class_<Dog, Animal>(m, "Dog")
            .def(py::init<const std::string&, int>(), py::arg("name"), py::arg("age") = 3)
            .def(py::init([](int a) { return Dog(a); }))
            .def("legs", &Dog::legs)
            .def("bark", [](Dog& self, int times) {}, py::arg("times") = 1)
            .def("pad", &pad)
            .def_static("make", [](int n) { return Dog(n); })
            .def_property_readonly("age", &Dog::age)
            .def_readwrite("name", &Dog::name)
            .def(py::self == py::self)
            .def(py::pickle([](const Dog&) {}, [](py::tuple) {}));
        py::class_<Cat> cat(m, "Cat");
        cat.def("purr", [](const Cat&) {});
        auto sub = m.def_submodule("inner", "doc");
        sub.def("f", [](int a) {});
        py::enum_<E>(sub, "E").value("A", E::A).value("B", E::B).export_values();
    """,
        "void pad(Dog& d, int n);",
    )
    assert [(s.area, s.name, s.parent, s.bases) for s in made.scopes] == [
        ("pybind11", "_C", -1, ()),
        ("class", "Dog", 0, ("Dog", "Animal")),
        ("class", "Cat", 0, ("Cat",)),
        ("submodule", "inner", 0, ()),
        ("enum", "E", 3, ("E",)),
    ]
    assert [(e.scope, e.name, told([e.signature])[0] if e.signature else None) for e in made.entries] == [
        (1, "__init__", "name, age=3"),
        (1, "__init__", "a, /"),
        (1, "legs", "a, /"),
        (1, "bark", "times=1"),
        (1, "pad", "n, /"),
        (1, "make", "n, /"),
        (1, "age", None),
        (1, "name", None),
        (2, "purr", ""),
        (3, "f", "a, /"),
        (4, "A", None),
        (4, "B", None),
        (3, "A", None),
        (3, "B", None),
    ]


# --- the other mechanisms ------------------------------------------------------------------------------------------


def test_nanobind() -> None:
    made = facts(
        'NB_MODULE(ext, m) { m.def("f", [](int a) {}, nb::arg("a") = nb::none(), nb::kw_only());'
        ' nb::class_<K>(m, "K").def(nb::new_([](int n) { return K(n); }), "n"_a = 2); }'
    )
    assert made.scopes[0].area == "nanobind"
    assert entries(made) == {"f": "a=None", "__init__": "n=2"}


def test_torch_libraries() -> None:
    made = facts("""
        TORCH_LIBRARY_FRAGMENT(ns, m) {
          m.def("a(Tensor x, *, int n=1) -> Tensor");
          m.def("b(Tensor x) -> ()", &b);
          m.def("c", &c);
          m.def(TORCH_SELECTIVE_SCHEMA("d(int x) -> ()"));
          m.impl("a", torch::kCUDA, &a);
          m.def(schema);
        }
        STABLE_TORCH_LIBRARY(other, ops) { ops.def("e(int x) -> ()"); }
        TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("a", &a); }
        int64_t c(at::Tensor x, double y);
    """)
    assert [(scope.area, scope.name) for scope in made.scopes] == [("torch", "ns"), ("torch", "other")]
    assert entries(made) == {"a": "x, *, n=1", "b": "x", "c": "x, y, /", "d": "x", "e": "x"}
    assert [entry.source for entry in made.entries if entry.act is Act.OPEN] == ["an operator's schema is computed"]


def test_tvm_ffi() -> None:
    made = facts("""
        int64_t dg_f(TensorView a, int64_t n) { return 0; }
        TVM_FFI_DLL_EXPORT_TYPED_FUNC(f, dg_f);
        // TVM_FFI_DLL_EXPORT_TYPED_FUNC(no, dg_f);
        TVM_FFI_DLL_EXPORT_TYPED_FUNC(g, [](int x) { return x; });
        TVM_FFI_STATIC_INIT_BLOCK() {
          namespace refl = tvm::ffi::reflection;
          refl::GlobalDef().def("ns.h", [](int a, float b) {}).def("ns.i", dg_f);
        }
        TVM_FFI_REGISTER_GLOBAL("ns.j").set_body_typed([](int q) {});
    """)
    assert [scope.name for scope in made.scopes] == ["", "*"]
    assert entries(made) == {"f": "a, n, /", "g": "x, /", "ns.h": "a, b, /", "ns.i": "a, n, /", "ns.j": "q, /"}


# --- around what is not understood ---------------------------------------------------------------------------------


def test_macros_and_attributes_of_cuda_do_no_harm() -> None:
    made = module("""
        DG_HOST_ASSERT(a and b) << "x" <<< 1, 2 >>>;
        [[maybe_unused]] auto y = __builtin_expect((x), 0);
        kernel<<<grid, block, 0, stream>>>(a, b);
        m.def("f", &f, py::arg("a"));
        template <typename T> __global__ void __launch_bounds__(256, 1) k(T* p) { p[0] = T{}; }
    """)
    assert entries(made) == {"f": "a"}


@pytest.mark.parametrize(
    "text", ["", "int main() {}", "PYBIND11_MODULE(", "PYBIND11_MODULE(a, m) {", "}}}}", "#if", "\xff"]
)
def test_what_registers_nothing(text: str) -> None:
    assert facts(text).entries == ()


@given(st.text(alphabet='m.def("a)&{}[]<>:;=,py argclass_T/*\n#if', max_size=80))
def test_no_text_crashes_it(text: str) -> None:
    cpp.read(f"PYBIND11_MODULE(_C, m) {{ {text} }}".encode())


@pytest.mark.parametrize(
    "text",
    [
        "PYBIND11_MODULE(_C, m) " + "{" * 100_000,
        "PYBIND11_MODULE(_C, m) {" + "f(m," * 400,
        "PYBIND11_MODULE(_C, m) {" + "m.def(" * 150_000,
        "PYBIND11_MODULE(_C, m) {" + 'm.def("a", a<' * 70_000 + "}",
        "PYBIND11_MODULE(_C, m) {" + 'm.def("a", f); ' * 66_000 + "}",
        "PYBIND11_MODULE(" * 60_000,
        "void f(py::module_& m) {" * 40_000,
        "PYBIND11_MODULE(_C, m) {" + "a(m)" * 200_000 + "}",
        "PYBIND11_MODULE(_C, m) {" + "py::class_<" * 90_000 + "}",
        "namespace a {" * 400 + "PYBIND11_MODULE(_C, m){" + 'm.def("f", f);' * 60_000 + "}",
        "PYBIND11_MODULE(_C, m) { f(a,\n" + "#if X\n" * 150_000 + "}",
        "PYBIND11_MODULE(_C, m) { f(a, /*" + " " * 1_000_000 + "*/ m); }",
        "PYBIND11_MODULE(_C, m) { f(a, " + "& " * 500_000 + "m); }",
        "PYBIND11_MODULE(_C, m) { m" + " " * 1_000_000 + '.def("f", &f); }',
        'PYBIND11_MODULE(_C, m) { m.def("f", &f' + ', py::arg("a")' * 70_000 + "); }",
        'PYBIND11_MODULE(_C, m) { m.def("f", ' + "a::" * 300_000 + "f); }",
        'PYBIND11_MODULE(_C, m) { m.def("f", &f<' + "a<" * 300_000 + ">); }",
        "#ifdef _WIN32\n" * 60 + "PYBIND11_MODULE(_C, m) {" + "#if 0\n#endif\n" * 60_000 + "}",
        "PYBIND11_MODULE(_C, m) {" + "".join(f'py::class_<A{n}, A{n + 1}>(m, "A{n}");' for n in range(9000)) + "}",
        "int a(int b); " * 70_000 + 'PYBIND11_MODULE(_C, m) { m.def("a", &a); }',
    ],
)
def test_row_49_a_hostile_source_is_read_or_refused_in_bounded_time(text: str) -> None:
    before = time.process_time()
    made = cpp.read(text[: 1 << 20].encode())
    assert isinstance(made, CppFacts | Unread)
    assert time.process_time() - before < 10


# --- what is written is read ---------------------------------------------------------------------------------------

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
CPP_VALUES = st.sampled_from(
    [(None, None), ("std::nullopt", "None"), ("1", "1"), ('"x,y"', "'x,y'"), ("false", "False"), ("{1, 2}", "(1, 2)")]
)
PARAMETERS = st.lists(st.tuples(NAMES, CPP_VALUES, st.booleans()), max_size=5, unique_by=lambda one: one[0])
BLANKS = st.sampled_from([" ", "\n", " /* , ) */ ", ' // "\n'])


@given(st.dictionaries(NAMES, PARAMETERS, max_size=5), BLANKS, st.booleans())
def test_generated_registrations_come_back(
    functions: Mapping[str, list[tuple[str, tuple[str | None, str | None], bool]]], blank: str, nano: bool
) -> None:
    lines, expected = [], {}
    for name, found in functions.items():
        plain, named = [p for p in found if not p[2]], [p for p in found if p[2]]
        args = [f'x::arg("{n}")' + (f" = {value[0]}" if value[0] else "") for n, value, _ in plain]
        args += ["x::kw_only()"] * bool(named)
        args += [f'x::arg("{n}")' + (f" = {value[0]}" if value[0] else "") for n, value, _ in named]
        lines.append(f"m.def({', '.join((f'{chr(34)}{name}{chr(34)}', '&impl::f', *args))});")
        expected[name] = tuple(
            Parameter(n, Kind.KEYWORD if keyword else Kind.EITHER, value[1]) for n, value, keyword in (*plain, *named)
        )
    macro = "NB_MODULE" if nano else "PYBIND11_MODULE"
    made = facts(f"{macro}(_C, m) {{{blank}{blank.join(lines)}{blank}}}")
    assert {e.name: e.signature.parameters if e.signature else () for e in made.entries} == expected
