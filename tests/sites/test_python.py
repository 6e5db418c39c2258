"""Python sites: real shapes, re-written by hand and reduced; what is written is read back by `ast`."""

import ast
import difflib
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.sites import find
from pinctl.sites.base import BadSelector, Unwritable, Value, write
from pinctl.sites.python import COMMENT, NAME, parse
from pinctl.sites.python_literals import NUMBER, decode, encode

BUILD = """\
import os
src, cuda_home = Path(a), b
# CCCL lives elsewhere
includes = [
    info["INCLUDEPY"],
    f"{cuda_home}/include",
    f"{cuda_home}/include/cccl",
    str(src / "csrc"),
    str(src / "gemm/include"),
    str(src / "third-party/cutlass/include"),
    str(src / "third-party/fmt/include"),  # formatting
    *cpp.include_paths(device_type="cuda"),
]
"""
EXTENSION = 'Extension("m", include_dirs=["a", b], extra={"nvcc": ["-O3"]}, std=17)'
INCLUDES = ("csrc", "gemm/include", "third-party/cutlass/include", "third-party/fmt/include")


def values(text: str, selector: str) -> list[Value]:
    document = parse(text.encode())
    assert document.errors == ()
    return [slot.value for hit in document.find(selector) for slot in hit]


def written(text: str, selector: str, value: Value) -> str:
    """`text` with the one slot of `selector` written; both are read back."""
    document = parse(text.encode())
    ((slot,),) = document.find(selector)
    after = write(document, slot, value)
    assert [slot.value for hit in parse(after).find(selector) for slot in hit] == [value]
    return after.decode()


def changed(text: str, selector: str, value: Value) -> list[str]:
    """The lines that a write takes out (-) and puts in (+)."""
    lines = difflib.ndiff(text.splitlines(), written(text, selector, value).splitlines())
    return [line[0] + line[2:] for line in lines if line[0] in "+-"]


# --- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "selector", "expected"),
    [
        ('X = "v"', "X", ["v"]),
        ("X = 'v'\r\n", "X", ["v"]),
        ('\ufeffX = "v"', "X", ["v"]),
        ('X: Final[str] = "v"  # why', "X", ["v"]),
        ('é = "ü"\nX = "v"', "X", ["v"]),
        ('class A:\n    X = "v"\n\ndef f():\n    X = "w"', "X", ["v", "w"]),
        ('X = Y = "v"', "X", ["v"]),
        ('X = Y = "v"', "Y", ["v"]),
        ('X = ("a"\n     "b")', "X", ["ab"]),
        ('X = "a" # no\nY = ("a" # lost\n "b")', "Y", []),
        ("X = 12", "X", ["12"]),
        ("X = -1.5e3", "X", ["-1.5e3"]),
        ("X = r'a\\b'", "X", ["a\\b"]),
        ('X = u"a\\x41\\u00e9\\N{BULLET}\\101\\\n\\q"', "X", ["aAé•A\\q"]),
        ('X = """a\nb"""', "X", ["a\nb"]),
        ('X = f"a{{b}}"', "X", ["a{b}"]),
        ('X = f"a{b}"', "X", []),
        ('X = b"a"', "X", []),
        ('X = "\\xZZ"', "X", []),
        ("X = y", "X", []),
        ("X = True", "X", []),
        ('X, Y = "a", "b"', "X", []),
        ('x.y = "a"', "y", []),
        ('X = os.environ.get("E", "v")', "X:-", ["v"]),
        ('X = os.getenv("E", default="v")', "X:-", ["v"]),
        ('X = os.getenv("E")', "X:-", []),
        ('X = {"a": "1", "b": {"c": 2}, 3: "d", **e, f: ["g"]}', "X[a]", ["1"]),
        ('X = {"a": "1", "b": {"c": 2}, 3: "d", **e, f: ["g"]}', 'X["b"][c]', ["2"]),
        ('X = {"a": "1", "b": {"c": 2}, 3: "d", **e, f: ["g"]}', "X[3]", ["d"]),
        ('X = {"a": "1", "b": {"c": 2}, 3: "d", **e, f: ["g"]}', "X[f][]", [("g",)]),
        ('X = ["a", 1, y, *z, "b" "c"]', "X[]", [("a", "1", "y", "*z", "bc")]),
        ('X = ["a"]', "X", [("a",)]),
        ('X = ("a",)', "X[]", [("a",)]),
        ('X = {"a", "b"}', "X[]", [("a", "b")]),
        ("X = []", "X[]", [()]),
        ("X = [  # one\n  'a',  # two\n]", "X[]", [("a",)]),
        (EXTENSION, 'Extension("m").include_dirs', [("a", "b")]),
        (EXTENSION, "Extension(m).extra[nvcc]", [("-O3",)]),
        (EXTENSION, "Extension('m').std", ["17"]),
        ('cpp.Extension(name="m", sources=["a"])', "Extension(m).sources[]", [("a",)]),
        ('cpp.Extension(name="m", sources=["a"])', 'cpp.Extension("m").sources', [("a",)]),
        ('version("2.7.0", commit="ab")\nversion("2.8.0", commit="cd")', 'version("2.8.0").commit', ["cd"]),
        ('setup(version="1")', "setup().version", ["1"]),
        ('setup(name="p", version="1")', 'setup("p").version', ["1"]),
        ('f(g("a"), x="1")', "f().x", ["1"]),
        ('X = ["tilelang==0.1.11 ; x", "torch >= 2.1"]', "requirement tilelang", ["0.1.11"]),
        ('X = ["tilelang==0.1.11 ; x", "torch >= 2.1"]', "specifier torch", [">= 2.1"]),
        ('setup(extras={"a": ["é[b]==1.0", "q_x==2"]})', "requirement Q-X", ["2"]),
        ('if v == "torch==1": pass', "requirement torch", []),
        ('X = [f"torch=={v}"]', "requirement torch", []),
    ],
)  # fmt: skip
def test_values(text: str, selector: str, expected: list[Value]) -> None:
    assert values(text, selector) == expected


@pytest.mark.parametrize(
    ("element", "pattern", "expected"),
    [
        ('str(src / "a/b")', "src / *", "a/b"),
        ('src/"a/b"', "src / *", "a/b"),
        ('str( src / "a/b" )', "str(src / *)", "a/b"),
        ('src / "a" / "b"', 'src / "a" / *', "b"),
        ('src / "a" / "b"', "src / *", None),
        ('os.path.join(src, "a/b")', "os.path.join(src, *)", "a/b"),
        ('os.path.join(src, "a", "b")', 'os.path.join(src, "a", *)', "b"),
        ('info["X"] / "a"', 'info["X"] / *', "a"),
        ('f"{src}/a/b"', "{src}/*", "a/b"),
        ('rf"-I {src}/é\\b.h"', "-I {src}/*.h", "é\\b"),
        ('f"{src}/a/{b}"', "{src}/*", None),
        ('f"{src}/a{{b}}"', "{src}/*", "a{b}"),
        ('f"{src}"', "{src}/*", None),
        ('"a/b"', "*", "a/b"),
        ('"a" "b"', "*", "ab"),
        ('other / "a"', "src / *", None),
        ('src / b"a"', "src / *", None),
    ],
)
def test_shapes_of_elements(element: str, pattern: str, expected: str | None) -> None:
    text = f'x = [1, {element}, y("n", k=[{element}])]\nf("n", k=[{element}])'
    found = [] if expected is None else [(expected,)]
    assert values(text, f"x[{pattern}]") == values(text, f"f(n).k[{pattern}]") == found


def test_the_elements_of_one_shape_in_their_order() -> None:
    assert values(BUILD, "includes[src / *]") == [INCLUDES]
    assert values(BUILD, "includes[{cuda_home}/*]") == [("include", "include/cccl")]
    assert (NAME, COMMENT) == ("python", ("# ", ""))


def test_several_places() -> None:
    document = parse(b"if a:\n    X = '1'\nelse:\n    X = '2'\n")
    assert [hit[0].value for hit in document.find("X")] == ["1", "2"]
    assert [hit[0].value for hit in find(document, "X#2")] == ["2"]


@pytest.mark.parametrize("selector", ["", "a b", "/x", "1x", "X[", "f(x)", "f(x).", "X.y", "ARG X"])
def test_what_is_no_selector(selector: str) -> None:
    with pytest.raises(BadSelector, match="src / "):
        parse(b"X = 'v'").find(selector)


def test_a_pattern_has_one_star() -> None:
    with pytest.raises(BadSelector, match="several"):
        parse(b"X = ['v']").find("X[* / *]")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("X = 'a'\ndef (:\nY = 'b'\n", {"X": ["a"], "Y": []}),
        ("X = 'a'\nY = ['b', $, 'c']\nZ = 'd'\n", {"X": ["a"], "Y": [], "Z": ["d"]}),
        ("print 'x'\nexec 'y'\nX = 'a'\nY = ur'b'\n", {"X": ["a"], "Y": ["b"]}),
        ("X = 'a'\nY = [1, 'b\nZ = 'c'\n", {"X": ["a"], "Y": [], "Y[]": []}),
        ("<<<<<<< HEAD\nX = 'a'\n", {"X": ["a"]}),
    ],
)
def test_old_and_broken_files_are_read_as_far_as_it_is_sure(text: str, found: dict[str, list[str]]) -> None:
    document = parse(text.encode())
    assert {name: [slot.value for hit in document.find(name) for slot in hit] for name in found} == found


def test_errors_are_told() -> None:
    assert parse(b"X = ['b', $, 'c']\n").errors == ((10, 12),)


# --- writing -----------------------------------------------------------------------------------------------------


def test_a_bump_changes_what_a_careful_person_would() -> None:
    jit = (*INCLUDES[:-1], "third-party/deep_jit/include")
    assert changed(BUILD, "includes[src / *]", jit) == [
        '-    str(src / "third-party/fmt/include"),  # formatting',
        '+    str(src / "third-party/deep_jit/include"),  # formatting',
    ]
    one_more_one_less = ("csrc", "csrc/torch_library_compat", "gemm/include", "third-party/cutlass/include")
    assert changed(BUILD, "includes[src / *]", one_more_one_less) == [
        '+    str(src / "csrc/torch_library_compat"),',
        '-    str(src / "third-party/fmt/include"),  # formatting',
    ]
    assert changed(BUILD, "includes[src / *]", (*INCLUDES, "z")) == ['+    str(src / "z"),']
    assert changed(BUILD, "includes[{cuda_home}/*]", ("include",)) == ['-    f"{cuda_home}/include/cccl",']


@pytest.mark.parametrize(
    ("text", "selector", "value", "expected"),
    [
        ("X = 'v'  # c", "X", "w", "X = 'w'  # c"),
        ('X = "v"', "X", 'a"b\\c', 'X = "a\\"b\\\\c"'),
        ("X = r'v'", "X", "a\\b", "X = r'a\\b'"),
        ("X = r'v'", "X", "a'b\\", "X = 'a\\'b\\\\'"),
        ('X = f"v"', "X", "{a}", 'X = f"{{a}}"'),
        ('X = """v"""', "X", 'a"', 'X = """a\\""""'),
        ('X = "v"', "X", "\u202e\xa0é", 'X = "\\u202e\\xa0é"'),
        ('X = ("a"\n     "b")', "X", "c", 'X = ("c")'),
        ("X = 12", "X", "13", "X = 13"),
        ("X = 1.5", "X", "2e3", "X = 2e3"),
        ('X = os.getenv("E", "v")', "X:-", "w", 'X = os.getenv("E", "w")'),
        ("X = ['a']", "X[]", ("a", "b"), "X = ['a', 'b']"),
        ("X = ['a']", "X[]", (), "X = []"),
        ("X = ('a',)", "X[]", (), "X = ()"),
        ("X = []", "X[]", ("a", "b"), 'X = ["a", "b"]'),
        ("X = ()", "X[]", ("a",), 'X = ("a",)'),
        ("X = ('a',)", "X[]", ("a", "b"), "X = ('a', 'b',)"),
        ("X = ('a', 'b')", "X[]", ("a",), "X = ('a',)"),
        ("X = ('a', 'b')", "X[]", ("b",), "X = ('b',)"),
        ("X = ('a', 'b',)", "X[]", ("b",), "X = ('b',)"),
        ("X = ('a', 'b',)", "X[]", ("a",), "X = ('a',)"),
        ("X = (\n 'a', # a\n 'b' # b\n)", "X[]", ("b",), "X = (\n 'b', # b\n)"),
        ("X = (\n 'a', # a\n 'b' # b\n)", "X[]", ("a",), "X = (\n 'a', # a\n)"),
        ("X = {'a', 'b'}", "X[]", ("b",), "X = {'b'}"),
        ("X = ['a', 'b', 'c']", "X[]", ("b",), "X = ['b']"),
        ("X = [\n  'a',\n  'b'\n]", "X[]", ("a", "b", "c"), "X = [\n  'a',\n  'b',\n  'c'\n]"),
        ("X = [\n  'a',\n  'b',\n]", "X[]", ("a", "b", "c"), "X = [\n  'a',\n  'b',\n  'c',\n]"),
        ("X = [\n  'a',\n  'b'\n]", "X[]", ("a",), "X = [\n  'a'\n]"),
        ("X = [\r\n\t'a',\r\n]", "X[]", ("a", "b"), "X = [\r\n\t'a',\r\n\t'b',\r\n]"),
        ("X = [\n  'a',\n\n  'b',\n]", "X[]", ("a", "n", "b"), "X = [\n  'a',\n  'n',\n\n  'b',\n]"),
        ("X = [\n  'a', # a\n  'b', # b\n]", "X[]", ("a", "n", "b"), "X = [\n  'a', # a\n  'n',\n  'b', # b\n]"),
        ("X = [\n  'a', # a\n  'b' # b\n]", "X[]", ("a", "b", "n"), "X = [\n  'a', # a\n  'b', # b\n  'n'\n]"),
        ("X = [\n 'a', # a\n # own\n 'b', # b\n 'c',\n]", "X[]", ("a", "c"), "X = [\n 'a', # a\n # own\n 'c',\n]"),
        ("X = [\n  'a', 'b', # ab\n  'c',\n]", "X[]", ("c",), "X = [\n  'c',\n]"),
        ("X = [\n  'a', 'b', # ab\n  'c',\n]", "X[]", ("a", "c"), "X = [\n  'a', # ab\n  'c',\n]"),
        ("X = [\n  'a', 'b', # ab\n  'c',\n]", "X[]", ("b", "c"), "X = [\n  'b', # ab\n  'c',\n]"),
        ("X = [y, 'a', z]", "X[*]", ("a", "b"), "X = [y, 'a', 'b', z]"),
        ("X = [y, 'a', z]", "X[*]", ("b", "a"), "X = [y, 'b', 'a', z]"),
        ("X = [s / 'a', y, s / 'b']", "X[s / *]", ("b",), "X = [y, s / 'b']"),
        ("X = [s / 'a', y, s / 'b', z]", "X[s/*]", ("a",), "X = [s / 'a', y, z]"),
        ("X = [s / 'a', y, s / 'b', z]", "X[s/*]", ("a", "c", "b"), "X = [s / 'a', s / 'c', y, s / 'b', z]"),
        ("X = ['a', y]", "X[]", ("b", "y"), "X = ['b', y]"),
        ("f('n', k=['a'], j=\"b\")", "f(n).j", "c", "f('n', k=['a'], j=\"c\")"),
        ('X = ["é", "torch[a]==2.1 ; b"]', "requirement torch", "2.2", 'X = ["é", "torch[a]==2.2 ; b"]'),
    ],
)  # fmt: skip
def test_writing(text: str, selector: str, value: Value, expected: str) -> None:
    assert written(text, selector, value) == expected
    ast.parse(expected)


@pytest.mark.parametrize(
    ("text", "selector", "value"),
    [
        ("X = 'v'", "X", "a\nb"),
        ("X = 'v'", "X", "a\rb"),
        ("X = '''v'''", "X", "a\0b"),
        ("X = 'v'", "X", "\ud800"),
        ("X = 'v'", "X", ("a", "b")),
        ("X = 12", "X", "0123"),
        ("X = 12", "X", "1; import os"),
        ("X = ['a', y]", "X[]", ("a",)),
        ("X = ['a', y]", "X[]", ("a", "z")),
        ("X = ['a', y]", "X[]", ()),
        ("X = {'a'}", "X[]", ()),
        ("X = ['a',  # why\n]", "X[]", ()),
        ("X = [  # why\n]", "X[]", ("a",)),
        ("X = [s / 'a']", "X[s / *]", ()),
        ("X = [rf'{s}/a']", "X[{s}/*]", ("a'b",)),
        ("X = ['torch==2']", "requirement torch", "2'+x"),
    ],
)
def test_values_that_cannot_stand_there(text: str, selector: str, value: Value) -> None:
    document = parse(text.encode())
    ((slot,),) = document.find(selector)
    with pytest.raises(Unwritable):
        write(document, slot, value)


def test_a_list_of_expressions_takes_a_literal() -> None:
    assert written("X = [y]", "X[]", ("y", "a")) == 'X = [y, "a"]'


# --- properties --------------------------------------------------------------------------------------------------

hostile = st.text(st.sampled_from("ab\\'\"{}$()#%\n\r\t \xa0\u2028é\0") | st.characters(), max_size=12)
texts = st.text(st.sampled_from("ab\\'\"{}$#; é\xa0/"), max_size=12)
styles = st.builds(
    "".join, st.tuples(st.sampled_from(["", "r", "R", "u", "f", "rf", "Fr"]), st.sampled_from(["'", '"', "'''", '"""']))
)


@settings(max_examples=200)
@given(hostile | texts, styles)
def test_what_is_encoded_is_what_python_reads(value: str, style: str) -> None:
    try:
        literal = encode(value, style).decode()
    except Unwritable:
        assert not value.isprintable()
        return
    assert python_reads(literal) == value
    found = decode(literal)
    assert found is not None
    assert found[0] == value
    assert found[1] in (style, style.replace("r", "").replace("R", ""))


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab\\'\"{}0123xuUN\né\t"), max_size=14), styles)
def test_what_is_decoded_is_what_python_reads(body: str, style: str) -> None:
    literal = f"{style}{body}{style.lstrip('rRuUfF')}"
    found = parse(f"X = {literal}\n".encode()).find("X")
    if found and (expected := python_reads(literal)) is not None:
        assert found[0][0].value == expected


def python_reads(literal: str) -> str | None:
    """The value of a string literal; None where it is none, or not a single one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(literal, {})  # noqa: S307
        except (SyntaxError, ValueError, NameError):
            return None
    return value if isinstance(value, str) else None


@given(st.from_regex(r"-?[0-9]{1,6}(\.[0-9]{0,3})?(e[0-9]{1,2})?", fullmatch=True))
def test_numbers(number: str) -> None:
    try:
        ast.literal_eval(number)
    except SyntaxError:
        with pytest.raises(Unwritable):
            encode(number, NUMBER)
    else:
        assert encode(number, NUMBER).decode() == number
        assert values(f"X = {number}", "X") == [number]


plain = st.text("abc019./-_é", min_size=1, max_size=8)
noise = st.sampled_from(
    ["", "\n", "# é X = 'v'\n", "def f(a='X'):\n    return {'x': [f'{a}']}\n", "Y = '''\nX = 1\n'''\n", "print 'x'\r\n"]
)
SHAPES = (
    ("X = {}\n", "X"), ("class A:\n\tX: str = {}  # c\n", "X"), ("X = {{'k': {}}}\r\n", "X[k]"), ("X = ({})", "X"),
    ("X = os.getenv('E', {})\n", "X:-"), ("f('n', k={})\n", "f(n).k"),
)  # fmt: skip


@given(st.sampled_from(SHAPES), plain, styles, hostile | texts, noise, noise)
def test_what_is_written_is_read_and_nothing_else_moves(
    shape: tuple[str, str], old: str, style: str, new: str, before: str, after: str
) -> None:
    text, selector = shape
    literal = f"{style}{old}{style.lstrip('rRuUfF')}"
    source = (before + text.format(literal) + "\n" + after).encode()
    document = parse(source)
    ((slot,),) = document.find(selector)
    assert slot.value == old
    try:
        result = write(document, slot, new)
    except Unwritable:
        return
    (token,) = slot.tokens
    assert result.startswith(source[: token.start])
    assert result.endswith(source[token.end :])
    assert [hit[0].value for hit in parse(result).find(selector)] == [new]


several = st.lists(plain, min_size=2, max_size=6, unique=True)
ELEMENTS = (("{!r}", "*"), ("str(src / {!r})", "src / *"), ("os.path.join(s, {!r})", "os.path.join(s,*)"))


@settings(max_examples=200)
@given(several, several, st.sampled_from(ELEMENTS), st.sampled_from(["[]", "()", "{}"]), st.data())
def test_lists_become_any_list_and_keep_what_is_not_ours(
    old: list[str], new: list[str], element: tuple[str, str], brackets: str, data: st.DataObject
) -> None:
    shape, pattern = element
    gaps = st.sampled_from([", ", ",\n  ", ",\n  # own line\n  ", ", y,\n  ", " ,z , ", ",\r\n\r\n  "])
    text = f"X = {brackets[0]}" + data.draw(st.sampled_from(["", "\n  ", "y, "])) + shape.format(old[0])
    text += "".join(data.draw(gaps) + shape.format(v) for v in old[1:])
    text += data.draw(st.sampled_from(["", ",", "\n", ",\n", "  # last\n", ",  # last\n"])) + brackets[1] + "\n"
    document = parse(text.encode())
    ((slot,),) = document.find(f"X[{pattern}]")
    result = write(document, slot, tuple(new))
    again = parse(result)
    assert again.errors == ()
    ast.parse(result)
    assert [hit[0].value for hit in again.find(f"X[{pattern}]")] == [tuple(new)]
    for kept in (b"# own line", b"y", b"z"):
        assert result.count(kept) == text.encode().count(kept)


@given(several, several, st.sampled_from(["[]", "()"]), st.booleans())
def test_a_whole_list_is_what_ast_reads(old: list[str], new: list[str], brackets: str, lines: bool) -> None:
    gap = ",\n    " if lines else ", "
    text = f"X = {brackets[0]}{gap.join(map(repr, old))}{brackets[1]}\n"
    result = written(text, "X[]", tuple(new[:1]))
    for value in (tuple(new[:1]), tuple(new)):
        result = written(result, "X[]", value)
        assert tuple(ast.literal_eval(result.removeprefix("X = "))) == value


WHOLE = BUILD.encode() + b"setup(name='p', install_requires=['torch==2.1'], x={'a': ('b',)})\nV = f'{a}/b' \"c\"\n"


@given(st.binary(max_size=30) | st.text(max_size=20).map(str.encode), st.integers(0, len(WHOLE)), st.integers(0, 9))
def test_no_input_crashes_the_reader(junk: bytes, at: int, drop: int) -> None:
    for source in (junk, WHOLE[:at] + junk + WHOLE[at + drop :]):
        document = parse(source)
        for slot in document.slots():
            assert all(slot.start <= t.start <= t.end <= slot.end for t in slot.tokens)
            assert slot.many or len(slot.tokens) == 1
        document.find("includes[src / *]")
        document.find("includes[{cuda_home}/*]")


@pytest.mark.parametrize(
    "source",
    [
        b"{" * 100_000,
        b"X = " + b"[" * 50_000,
        b"X = " + b"[" * 20_000 + b"]" * 20_000,
        b"X = " + b"(" * 20_000 + b"'a'" + b")" * 20_000,
        b"1+" * 50_000,
        b"X = '" * 10_000,
        b"$ $\nX = 'a'\n" * 10_000,
        b"X = [" + b"a/'b'," * 20_000 + b"]",
        b"f(a='b')\n" * 10_000,
        b"X = " + b"Y = " * 3_000 + b"'a'",
    ],
    ids=range(10),
)
def test_hostile_nesting_takes_no_time(source: bytes) -> None:
    began = time.perf_counter()
    document = parse(source)
    document.find("X[a / *]")
    assert time.perf_counter() - began < 8
