from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.surface.spelling import cpp_default, cpp_type, python_default, python_type


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("std::nullopt", "None"),
        ("c10::nullopt", "None"),
        ("nullptr", "None"),
        ("py::none()", "None"),
        ("{}", "None"),
        ("true", "True"),
        ("false", "False"),
        ('"nk"', "'nk'"),
        (r'"a\"b"', "'a\"b'"),
        ("1e-5f", "1e-05"),
        ("1.0f", "1.0"),
        ("128", "128"),
        ("1ull", "1"),
        ("0x10", "16"),
        ("1'000", "1000"),
        ("-1", "-1"),
        ("std::make_tuple(1, 1, 128)", "(1, 1, 128)"),
        ("{1, 2}", "(1, 2)"),
        ("std::make_tuple(1)", "(1,)"),
        ("std::vector<int>{1,2}", "[1, 2]"),
        ("std::vector<std::tuple<int, int>>()", "[]"),
        ("static_cast<int>(3)", "3"),
        ("int64_t(4)", "4"),
        ('std::string("a")', "'a'"),
        ("std::string()", "''"),
        ("std::optional<std::tuple<int, int>>()", "None"),
        ("torch::kBFloat16", "torch.bfloat16"),
        ("at::ScalarType::Half", "torch.float16"),
        ("make( 1,\n 2 )", "make( 1, 2 )"),
        ("kConstant", "kConstant"),
    ],
)
def test_defaults_of_cpp(text: str, value: str) -> None:
    assert cpp_default(text) == value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("const std::optional<at::Tensor>&", "Optional[Tensor]"),
        ("torch::Tensor", "Tensor"),
        ("const int&", "int"),
        ("unsigned long", "int"),
        ("long double", "float"),
        ("const char *", "str"),
        ("int64_t*", "int*"),
        ("std::vector<std::tuple<int, torch::Tensor>>", "list[tuple[int, Tensor]]"),
        ("std::array<int, 3>", "list[int]"),
        ("at::IntArrayRef", "list[int]"),
        ("std::string_view", "str"),
        ("Own", "Own"),
        ("std::variant<int, std::tuple<int, int>>", "Union[int, tuple[int, int]]"),
        ("at::ScalarType", "dtype"),
    ],
)
def test_types_of_cpp(text: str, name: str) -> None:
    assert cpp_type(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Optional[torch.Tensor]", "Optional[Tensor]"),
        ("torch.Tensor | None", "Optional[Tensor]"),
        ("'torch.Tensor'", "Tensor"),
        ("Tuple[int, ...]", "tuple[int, ...]"),
        ("typing.List[int]", "list[int]"),
        ("Union[None, int, str]", "Optional[Union[int, str]]"),
        ("int | str | None", "Optional[Union[int, str]]"),
        ("Callable[[int], str]", "Callable[[int], str]"),
        ("Literal['a', 'b']", "Literal['a', 'b']"),
        ("Annotated[int, 'x']", "int"),
        ("None", "None"),
        ("Optional[Tuple[int, int]] | str", "Optional[Union[tuple[int, int], str]]"),
        ("f(x)", "f(x)"),
        ("'not python('", "'not python('"),
    ],
)
def test_annotations(text: str, name: str) -> None:
    assert python_type(ast.parse(text, mode="eval").body) == name


LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), max_size=8),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple) | st.lists(inner, max_size=3),
    max_leaves=6,
)


def cpp(value: object) -> str:
    """A value as C++ code writes it."""
    if isinstance(value, tuple | list):
        inner = ", ".join(map(cpp, value))
        return f"std::make_tuple({inner})" if isinstance(value, tuple) else f"std::vector<T>{{{inner}}}"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return (
        {None: "std::nullopt", True: "true", False: "false"}.get(value, repr(value))
        if (value is None or isinstance(value, bool))
        else repr(value)
    )


@given(LITERALS)
def test_a_value_is_spelled_alike_in_cpp_and_python(value: object) -> None:
    assert ast.literal_eval(cpp_default(cpp(value))) == value
    assert cpp_default(cpp(value)) == python_default(repr(value))


@given(st.text(max_size=40))
def test_no_text_crashes_it(text: str) -> None:
    for spell in (cpp_default, cpp_type, python_default):
        assert isinstance(spell(text), str)


def test_what_nests_deep_keeps_its_own_spelling() -> None:
    assert cpp_type("std::vector<" * 5000 + "int" + ">" * 5000).startswith("list[list[")
    assert cpp_default("{" * 5000 + "}" * 5000)
