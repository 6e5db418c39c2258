"""Defaults and types in one spelling, whichever language gives them: Python's.

A binding that moves from pybind11 to a schema string or to Python keeps its defaults and types, and only their spelling
changes: `std::nullopt` and `None`, `"nk"` and `'nk'`, `const std::optional<at::Tensor>&`, `Tensor?` and
`torch.Tensor | None`. What has no Python spelling keeps its own.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

_DEEPEST = 12
_CONSTANTS = {
    "true": "True", "false": "False", "nullptr": "None", "NULL": "None", "nullopt": "None", "none()": "None",
    "None": "None", "True": "True", "False": "False",
}  # fmt: skip
_DTYPES = {
    "BFloat16": "bfloat16", "Half": "float16", "Float16": "float16", "Float": "float32", "Float32": "float32",
    "Double": "float64", "Float64": "float64", "Byte": "uint8", "UInt8": "uint8", "Char": "int8", "Int8": "int8",
    "Short": "int16", "Int16": "int16", "Int": "int32", "Int32": "int32", "Long": "int64", "Int64": "int64",
    "Bool": "bool", "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2": "float8_e5m2",
}  # fmt: skip
_DTYPE = re.compile(r"(?:torch|at|c10)(?:::ScalarType)?::k?(\w+)")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*(?:\.[0-9']*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)"
)
_SCOPED = r"(?:\w+\s*::\s*)*"
_MAKERS = re.compile(
    _SCOPED + r"(make_tuple|make_pair|tuple|pair|vector|array|list|optional|string|make_optional)\b\s*"
)
_CASTS = re.compile(
    r"(?:static_cast\s*<[^<>()]*>|" + _SCOPED + r"(?:int|bool|float|double|size_t|u?int\d+_t|long)\b)\s*"
)
_SEQUENCES = {
    "vector": "[]",
    "array": "[]",
    "list": "[]",
    "make_tuple": "()",
    "make_pair": "()",
    "tuple": "()",
    "pair": "()",
}


@lru_cache(4096)
def cpp_default(text: str) -> str:
    """A default value of C++ (`std::nullopt`, `"nk"`, `1e-5f`, `std::make_tuple(1, 128)`) as Python spells it."""
    return _value(text.strip(), 0)


def _value(text: str, depth: int) -> str:
    last = text.rpartition("::")[2]
    if last in _CONSTANTS:
        return _CONSTANTS[last]
    if match := _NUMBER.fullmatch(text):
        return _number(text, match[1])
    if match := _DTYPE.fullmatch(text):
        return f"torch.{_DTYPES[match[1]]}" if match[1] in _DTYPES else text
    if depth < _DEEPEST:
        return _string(text) or _made(text, depth) or _spaced(text)
    return _spaced(text)


def _number(text: str, suffix: str) -> str:
    if text[:2].lower() != "0x":
        text = text.removesuffix(suffix)
    digits = text.replace("'", "").rstrip("uUlLzZ")
    try:
        return repr(int(digits, 0) if re.fullmatch(r"[+-]?(?:0[xXbB]\w+|\d+)", digits) else float(digits))
    except ValueError:  # an octal number
        return digits


def _string(text: str) -> str | None:
    """A string literal; Python reads what C++'s escapes mean."""
    match = re.fullmatch(r'(?:u8|[uUL])?("(?:[^"\\\n]|\\.)*")', text)
    try:
        return repr(ast.literal_eval(match[1])) if match else None
    except (SyntaxError, ValueError):
        return None


def _made(text: str, depth: int) -> str | None:
    """`std::make_tuple(a, b)`, `std::vector<int>{a}`, `{a, b}`, `static_cast<int>(a)`; None for anything else."""
    match = _MAKERS.match(text)
    maker, rest = (match[1], text[match.end() :]) if match else ("", text)
    if match and rest.startswith("<"):
        rest = rest[_angle(rest) :].lstrip()
    if match is None and (cast := _CASTS.match(text)):
        maker, rest = "cast", text[cast.end() :]
    if rest[:1] not in ("(", "{") or rest[-1:] != {"(": ")", "{": "}"}[rest[0]] or (not maker and rest[0] == "("):
        return None
    inner = [_value(part.strip(), depth + 1) for part in pieces(rest[1:-1]) if part.strip()]
    if maker in ("optional", "make_optional", "string", "cast"):
        return inner[0] if len(inner) == 1 else {0: "''" if maker == "string" else "None"}.get(len(inner))
    ends = _SEQUENCES.get(maker, "()")
    if not inner and not maker:
        return "None"  # `{}`
    return f"{ends[0]}{', '.join(inner)}{',' if ends == '()' and len(inner) == 1 else ''}{ends[1]}"


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def pieces(text: str) -> Iterator[str]:
    """The pieces of `text` between the commas outside of all brackets and strings; `<` counts as a bracket."""
    depth, begin = 0, 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*+"?|\'(?:[^\'\\]|\\.)*+\'?|->|[(\[{<>}\])]|,', text):
        mark = match[0]
        if mark == "," and depth == 0:
            yield text[begin : match.start()]
            begin = match.end()
        elif mark in "([{<":
            depth += 1
        elif mark in ")]}>":
            depth = max(depth - 1, 0)
    yield text[begin:]


def _angle(text: str) -> int:
    """Where the `<...>` that `text` begins with ends."""
    depth = 0
    for match in re.finditer(r"->|[<>]", text):
        depth += {"<": 1, ">": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


_WORDS = re.compile(
    r"\b(?:const|volatile|constexpr|static|inline|struct|class|typename|mutable|register|__restrict__|__restrict|restrict)\b|\[\[[^\]]*\]\]"
)
_PLAIN = {
    **dict.fromkeys(
        "int long short unsigned signed size_t ssize_t ptrdiff_t uintptr_t intptr_t SymInt int_ Int"
        " int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split(), "int"),
    **dict.fromkeys("float double float_ Float".split(), "float"),
    **dict.fromkeys("string string_view str String StringView".split(), "str"),
    **dict.fromkeys("TensorView NDArray TensorBase".split(), "Tensor"),
    **dict.fromkeys("List list_ vector array Sequence".split(), "list"),
    "bool_": "bool", "object": "Any", "handle": "Any", "Tuple": "tuple", "Dict": "dict", "dict_": "dict",
    "ScalarType": "dtype",
}  # fmt: skip
_GENERIC = {
    **dict.fromkeys(("optional", "Optional"), "Optional"),
    **dict.fromkeys("vector ArrayRef List list Array array initializer_list SmallVector span Sequence".split(), "list"),
    **dict.fromkeys("tuple pair Tuple".split(), "tuple"),
    **dict.fromkeys("variant Union Variant".split(), "Union"),
    **dict.fromkeys("map unordered_map Dict dict Map".split(), "dict"),
    "function": "Callable", "Callable": "Callable",
}  # fmt: skip


@lru_cache(4096)
def cpp_type(text: str) -> str:
    """A type of C++ as Python would name it: `const std::optional<at::Tensor>&` is `Optional[Tensor]`."""
    return _type(_WORDS.sub(" ", text), 0)


def _type(text: str, depth: int) -> str:
    text = re.sub(r"\s+", " ", text.replace("&", " ")).strip()
    if re.fullmatch(r"char ?\*", text):
        return "str"
    if text.endswith("*"):
        return f"{_type(text[:-1], depth)}*"
    head, angle, inner = text.partition("<")
    leaf = head.rpartition("::")[2].strip()
    if angle and inner.endswith(">") and depth < _DEEPEST:
        made = [_type(part, depth + 1) for part in pieces(inner[:-1])]
        if leaf in ("array", "Array"):
            made = made[:1]  # the other is its length
        return f"{_GENERIC.get(leaf, leaf)}[{', '.join(made)}]"
    words = leaf.split(" ")
    if len(words) > 1 and all(word in _PLAIN for word in words):  # `unsigned long`, `long double`
        return "float" if "double" in words else "int"
    if leaf == "IntArrayRef":
        return "list[int]"
    return _PLAIN.get(leaf, leaf)


def python_type(node: ast.expr | None) -> str | None:
    """An annotation: `Optional[torch.Tensor]` and `torch.Tensor | None` are both `Optional[Tensor]`."""
    return None if node is None else _annotation(node, 0)


def _annotation(node: ast.expr, depth: int) -> str:
    if depth > _DEEPEST:
        return "..."
    if isinstance(node, ast.Name | ast.Attribute):
        leaf = node.id if isinstance(node, ast.Name) else node.attr
        return _PLAIN.get(leaf, leaf)
    if isinstance(node, ast.Constant):
        return _quoted(node, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_annotation(part, depth + 1) for part in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        head = _annotation(node.value, depth + 1)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if head == "Literal":
            return f"Literal[{', '.join(map(ast.unparse, items))}]"
        made = [_annotation(item, depth + 1) for item in items]
        if head in ("Union", "Annotated"):
            return _union(made) if head == "Union" else made[0]
        return f"{_GENERIC.get(head, head)}[{', '.join(made)}]"
    if isinstance(node, ast.List):
        return f"[{', '.join(_annotation(item, depth + 1) for item in node.elts)}]"
    return ast.unparse(node)


def _quoted(node: ast.Constant, depth: int) -> str:
    """An annotation that stands in quotes, or a constant."""
    if not isinstance(node.value, str):
        return "..." if node.value is ... else repr(node.value)
    try:
        return _annotation(ast.parse(node.value.strip(), mode="eval").body, depth + 1)
    except (SyntaxError, ValueError):
        return repr(node.value)


def _union(members: list[str]) -> str:
    """`A | None` and `Optional[A]` in one way, members that are unions themselves taken apart."""
    flat: list[str] = []
    for member in members:
        optional = member.startswith("Optional[")
        inner = member[member.find("[") + 1 : -1] if optional or member.startswith("Union[") else member
        flat += [part.strip() for part in pieces(inner)] if inner != member else [member]
        flat += ["None"] if optional else []
    flat = list(dict.fromkeys(flat))
    others = [part for part in flat if part != "None"]
    told = others[0] if len(others) == 1 else f"Union[{', '.join(others)}]"
    return f"Optional[{told}]" if len(others) < len(flat) and others else told if others else "None"


@lru_cache(4096)
def python_default(text: str) -> str:
    """A default of Python source, or of a schema string, as `ast.unparse` spells it."""
    constant = _CONSTANTS.get(text)
    if constant:
        return constant
    try:
        return ast.unparse(ast.parse(text, mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _spaced(text)
