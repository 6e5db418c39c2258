from __future__ import annotations

import inspect
import sys
import time
import types
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.model import Kind, Parameter
from pinctl.contract.surface import python
from pinctl.contract.surface.facts import Binding, How, PythonFacts, Unread

from .support import surface, told


def facts(text: str, *, stub: bool = False) -> PythonFacts:
    made = python.read(text.encode(), stub=stub)
    assert isinstance(made, PythonFacts)
    return made


def bindings(text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(b.name, b.how.value, b.source, b.guards) for b in facts(text).bindings]


def one(text: str) -> Binding:
    (made,) = facts(text).bindings
    return made


# --- statements ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "how", "source"),
    [
        ("import a.b", How.MODULE, "a"),
        ("import a.b as n", How.MODULE, "a.b"),
        ("from ..a import n", How.FROM, "..a:n"),
        ("from a import b as n", How.FROM, "a:b"),
        ("from . import *", How.STAR, "."),
        ("n = a.b.c", How.ALIAS, "a.b.c"),
        ("n = torch.ops.ns.f", How.ALIAS, "torch.ops.ns.f"),
        ("n = getattr(a, 'b')", How.ALIAS, "a.b"),
        ("n = 1", How.VALUE, ""),
        ("n: int = 1", How.VALUE, ""),
        ("(n,) = (x.y,)", How.ALIAS, "x.y"),
        ("a, *n = x.y, x.z", How.VALUE, ""),
        ("(a, [*n, b]), c = x", How.VALUE, ""),
        ("if 0:\n no = 1\nelse:\n n = x.y", How.ALIAS, "x.y"),
        ("if True:\n n = x.y\nelse:\n no = 1", How.ALIAS, "x.y"),
        ("globals()['n'] = x.y", How.ALIAS, "x.y"),
        ("globals().update(n=x.y)", How.ALIAS, "x.y"),
        ("globals().update({'n': 1})", How.VALUE, ""),
        ("globals().update(vars(m))", How.STAR, "=m"),
        ("import sys; setattr(sys.modules[__name__], 'n', x.y)", How.ALIAS, "x.y"),
        ("n = importlib.import_module('a.b')", How.MODULE, "a.b"),
        ("init_ffi_api('a.b', __name__)", How.REGISTRY, "a.b"),
    ],
)
def test_how_a_name_is_bound(text: str, how: How, source: str) -> None:
    bound = {made.name: made for made in facts(text).bindings}
    made = bound.get("n") or [*bound.values()][-1]
    assert (made.how, made.source) == (how, source)
    assert "no" not in bound


def test_conditions() -> None:
    assert bindings(
        "if X > 1:\n a = 1\nelif Y:\n b = 1\nelse:\n c = 1\n"
        "try:\n from m import d\nexcept (ImportError, OSError):\n d = None\nelse:\n e = 1\nfinally:\n f = 1\n"
        "try:\n import g\nexcept ImportError as error:\n raise RuntimeError from error\n"
        "with suppress(ImportError):\n import h\nif __name__ == '__main__':\n i = 1\n"
        "if TYPE_CHECKING:\n import j\nn = getattr(m, 'k', None)\n"
    ) == [
        ("a", "value", "", ("if X > 1",)),
        ("b", "value", "", ("else of if X > 1", "if Y")),
        ("c", "value", "", ("else of if X > 1", "else of if Y")),
        ("d", "from", "m:d", ("try/except ImportError OSError",)),
        ("e", "value", "", ("try/except ImportError OSError",)),
        ("d", "value", "", ("except ImportError OSError",)),
        ("f", "value", "", ()),
        ("g", "module", "g", ()),
        ("h", "module", "h", ("suppress(ImportError)",)),
        ("j", "module", "j", ("if TYPE_CHECKING",)),
        ("n", "alias", "m.k", ("getattr default",)),
    ]


def test_imports_are_those_that_run_when_it_is_imported() -> None:
    made = facts(
        "import a.b\nfrom .c import d\nif TYPE_CHECKING:\n import no\ndef f():\n import no\ntry:\n import e\n"
        "except ImportError:\n pass"
    )
    assert made.imports == ("a.b", ".c", ".c:d", "e")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ['a', 'b']", ("a", "b")),
        ("__all__ = ('a',) + ['b']", ("a", "b")),
        ("__all__ = []\n__all__ += ['a']", ("a",)),
        ("N = ['a']\n__all__ = N + m.__all__", ("a", "=m")),
        ("__all__ = ['a']\n__all__.extend(['b'])\n__all__.append('c')", ("a", "b", "c")),
        ("__all__ = ['a', *m.__all__]", ("a", "=m")),
        ("__all__ = list(sorted({'b': 1, 'a': 2}))", ("b", "a")),
        ("__all__ = 'a b'.split()", ("a", "b")),
    ],
)
def test_exports(text: str, names: tuple[str, ...]) -> None:
    made = facts(text)
    assert (made.exports, made.open) == (names, "")


@pytest.mark.parametrize(
    "text",
    [
        "__all__ = [n for n in dir()]",
        "__all__ = f()",
        "__all__ = ['a']\n__all__ += f()",
        "def __getattr__(name): ...",
        "__getattr__, __dir__, __all__ = lazy.attach(__name__)",
        "globals()[name] = 1",
        "globals().update(f())",
        "for n in f():\n globals()[n] = 1",
        "exec('a = 1')",
        "sys.modules[__name__] = X()",
        "install(globals())",
        "for n in NAMES:\n setattr(sys.modules[__name__], n, 1)",
        "sys.modules[__name__].__class__ = X",
    ],
)
def test_what_is_computed_makes_the_module_open(text: str) -> None:
    assert facts(text).open


def test_names_in_constant_loops_are_known() -> None:
    made = bindings(
        "import sys\nNAMES = ['a', 'b']\nTABLE = {'c': m.x, 'd': m.y}\n_this = sys.modules[__name__]\n"
        "for n in NAMES:\n setattr(_this, n, getattr(torch.ops.ns, n))\n"
        "for n, f in TABLE.items():\n globals()[f'{n}_'] = f\n"
        "globals().update({n: getattr(m, n) for n in ('e', 'f')})\nglobals().update(TABLE)\n"
    )
    assert [(name, source) for name, _, source, _ in made[4:]] == [
        ("a", "torch.ops.ns.a"),
        ("b", "torch.ops.ns.b"),
        ("c_", "m.x"),
        ("d_", "m.y"),
        ("e", "m.e"),
        ("f", "m.f"),
        ("c", "m.x"),
        ("d", "m.y"),
    ]


def test_functions() -> None:
    made = one("@deco(1)\n@a.b\nasync def f(a, /, b: int, *c, d='x', **e): ...")
    assert made.decorators == ("deco", "a.b")
    assert told(made.signatures) == ["a, /, b, *c, d='x', **e"]
    assert [p.type for p in made.signatures[0].parameters] == [None, "int", None, None, None]
    assert told(one("f = lambda x, y=1: x").signatures) == ["x, y=1"]


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("def d(f):\n return f", ""),
        ("def d(name):\n def inner(f):\n  r(f)\n  return f\n return inner", ""),
        ("def d(name):\n return lambda f: f", ""),
        ("def d(f):\n @wraps(f)\n def w(*args, **kwargs):\n  return f(*args, **kwargs)\n return w", ""),
        (
            "def d(f):\n def w(*args, skip=False, **kwargs):\n  kwargs.pop('more', 1)\n  return f(*args)\n return w",
            "*, skip=False, more=...",
        ),
        ("def d(f):\n def w(x):\n  return f(x, 1)\n return w", None),
        ("def d(f):\n return g(f)", None),
    ],
)
def test_what_a_decorator_keeps(text: str, keeps: str | None) -> None:
    from pinctl.contract.model import Signature

    made = one(text).keeps
    assert (None if made is None else told([Signature(made)])[0]) == keeps


def test_classes() -> None:
    made = one(
        "class C(Base, Generic[T]):\n x: int = 1\n def __init__(self, a): ...\n @staticmethod\n def s(b): ...\n"
        " @classmethod\n def c(cls, d): ...\n @property\n def p(self): ...\n if X:\n  def g(self, e): ...\n"
        " class In: ...\n"
        " alias = s\n"
    )
    assert made.bases == ("Base", "Generic")
    assert [(m.name, m.how.value, told(m.signatures), m.guards) for m in made.members] == [
        ("x", "value", [], ()),
        ("__init__", "function", ["a"], ()),
        ("s", "function", ["b"], ()),
        ("c", "function", ["d"], ()),
        ("p", "value", [], ()),
        ("g", "function", ["e"], ("if X",)),
        ("In", "class", [], ()),
        ("alias", "alias", [], ()),
    ]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "@dataclass\nclass C:\n a: int\n b: str = 'x'\n c: ClassVar[int] = 1\n"
            " d: list = field(default_factory=list)\n"
            " e: int = field(init=False)\n f: int = field(default=3, kw_only=True)",
            "a, b='x', d=..., f=3",
        ),
        ("@dataclasses.dataclass(kw_only=True)\nclass C:\n a: int", "a"),
        ("@dataclass\nclass C:\n a: int\n _: KW_ONLY\n b: int", "a, b"),
        ("class C(NamedTuple):\n a: int\n b: int = 1", "a, b=1"),
        ("C = namedtuple('C', 'a b', defaults=[1])", "a, b=1"),
        ("C = NamedTuple('C', [('a', int)])", "a"),
        ("@dataclass(init=False)\nclass C:\n a: int", None),
        ("class C:\n a: int", None),
    ],
)
def test_constructors_that_are_made(text: str, fields: str | None) -> None:
    made = one(text).fields
    shown = None if made is None else ", ".join(p.name + ("" if p.default is None else f"={p.default}") for p in made)
    assert shown == fields


def test_stubs_keep_overloads_and_annotated_names() -> None:
    text = "from typing import overload\nx: int\n@overload\ndef f(a: int): ...\n@overload\ndef f(a: str, b: int): ..."
    assert [b.name for b in facts(text, stub=True).bindings] == ["overload", "x", "f", "f"]
    assert [b.name for b in facts(text).bindings] == ["overload"]


@pytest.mark.parametrize(("head", "module"), [("import torch", "torch."), ("from torch import library", "")])
def test_operators(head: str, module: str) -> None:
    made = facts(
        f"{head}\n@{module}library.custom_op('ns::f', mutates_args=())\ndef f(a: int) -> int: ...\n"
        f"LIB = {module}library.Library('ns', 'DEF')\nLIB.define('g(Tensor x) -> Tensor')\n"
        f"{module}library.define('ns::h', '(int n=1) -> ()')\n"
    )
    assert [(o.name, told([o.signature]) if o.signature else None) for o in made.operators] == [
        ("ns::f", ["a"]),
        ("ns::g", ["x"]),
        ("ns::h", ["n=1"]),
    ]


# --- hostile -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1+" * 3000 + "1",
        "(" * 50_000,
        "-" * 100_000 + "1",
        "a\0b",
        "if a:\n x\n" + "elif a:\n x\n" * 3000,
        "x = " + "[" * 90 + "]" * 90,
        "a." * 50_000 + "b",
        "lambda:" * 9000 + "1",
        "# coding: no-such\n",
        "é = 1",
        "\ufeffx = 1",
        "print 1",
        "x = 1\n" * 80_000,
        "x = {" + "'a': 1, " * 40_000 + "}",
        "__all__ = " + "['a'] + " * 2000 + "[]",
        "@" * 9,
        "def f(" + "a, " * 300 + "): ...",
    ],
)
def test_row_49_a_hostile_module_is_read_or_refused(text: str) -> None:
    before = time.process_time()
    assert isinstance(python.read(text.encode()), PythonFacts | Unread)
    assert time.process_time() - before < 5


def test_what_is_too_large_or_no_python_says_why() -> None:
    assert python.read(b"#" * (python.LARGEST + 1)) == Unread("it has more than 512 KiB")
    assert python.read(b"x = (\n") == Unread("it is no Python: '(' was never closed (line 1)")
    assert isinstance(python.read(b"\xff\xfe"), Unread)


@given(st.text(alphabet="def f(a):\n =1,[]{}'\"@class.*import ", max_size=60))
def test_no_text_crashes_it(text: str) -> None:
    python.read(text.encode())


# --- what is read is what Python makes of it -----------------------------------------------------------------------

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True).filter(
    lambda n: (
        n
        not in {
            "as",
            "if",
            "in",
            "is",
            "or",
            "and",
            "def",
            "del",
            "for",
            "not",
            "try",
            "from",
            "elif",
            "else",
            "pass",
            "with",
            "async",
            "await",
            "break",
            "class",
            "raise",
            "while",
            "yield",
            "sys",
        }
    )
)
VALUES = st.sampled_from(["None", "1", "'x'", "(1, 2)", "True", "1.5", "[]"])


@st.composite
def parameter_lists(draw: st.DrawFn) -> str:
    """The text between the parentheses of a function."""
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    cuts = sorted(draw(st.lists(st.integers(0, len(names)), min_size=2, max_size=2)))
    groups = [names[: cuts[0]], names[cuts[0] : cuts[1]], names[cuts[1] :]]
    parts, defaulted = [], False
    for number, group in enumerate(groups):
        for name in group:
            given_ = draw(st.booleans()) or (defaulted and number < 2)
            defaulted = defaulted or (given_ and number < 2)
            parts.append(f"{name}={draw(VALUES)}" if given_ else name)
        if number == 0 and group:
            parts.append("/")
        if number == 1 and groups[2]:
            parts.append(draw(st.sampled_from(["*", "*rest"])))
    return ", ".join([*parts, *draw(st.sampled_from([[], ["**more"]]))])


@st.composite
def statements(draw: st.DrawFn) -> str:
    """One statement of a module that can always be run."""
    name, args = draw(NAMES), draw(parameter_lists())
    other, bare = f"{name}_2", args.replace("/, ", "").replace(", /", "").replace("/", "")
    return draw(
        st.sampled_from(
            [
                f"def {name}({args}): ...",
                f"async def {name}({args}): ...",
                f"{name} = lambda {args}: 0",
                f"class {name}:\n    def __init__({', '.join(filter(None, ['self', bare]))}): ...",
                f"class {name}:\n    def __new__(cls, *a, k=1): return object.__new__(cls)",
                f"class {name}: ...",
                f"@dataclasses.dataclass\nclass {name}:\n    q: int\n    r: str = 'x'",
                f"class {name}(typing.NamedTuple):\n    q: int\n    r: str = 'x'",
                f"{name} = 1",
                f"{name}, {other} = 1, 2",
                f"import types as {name}",
                f"from types import FunctionType as {name}",
                f"{name} = 0\ndel {name}",
                f"globals()['{name}'] = 1",
                f"globals().update({name}=1, {other}=2)",
                f"for _n in ('{name}', '{other}'):\n    setattr(sys.modules[__name__], _n, 1)",
                f"globals().update({{_k: 1 for _k in ['{name}']}})",
                f"if 1 > 2:\n    {name} = 1\nelse:\n    {name} = 2",
                f"try:\n    {name} = 1\nexcept ImportError:\n    {name} = 2",
                f"{name}: int = 3",
            ]
        )
    )


KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: Kind.POSITIONAL,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: Kind.EITHER,
    inspect.Parameter.KEYWORD_ONLY: Kind.KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: Kind.REST,
    inspect.Parameter.VAR_KEYWORD: Kind.KEYWORD_REST,
}


def run(text: str) -> Mapping[str, Any]:
    """What a module of that text holds once it has been imported."""
    module = types.ModuleType(f"made_{uuid.UUID(int=abs(hash(text))).hex}")
    sys.modules[module.__name__] = module
    try:
        exec(text, module.__dict__)  # noqa: S102 - of our own making
    finally:
        del sys.modules[module.__name__]
    return {n: v for n, v in vars(module).items() if not n.startswith("_")}


@given(st.lists(statements(), max_size=8))
def test_a_module_reads_as_it_runs(found: list[str]) -> None:
    text = "\n".join(["import dataclasses, sys, typing", *found])
    held = run(text)
    symbols = surface({"pkg/__init__.py": "", "pkg/m.py": text}).symbols
    names = {n.removeprefix("pkg.m."): s for n, s in symbols.items() if n.startswith("pkg.m.") and n.count(".") == 2}
    assert {n for n in names if not n.startswith("_")} == held.keys()
    for name, value in held.items():
        if inspect.isfunction(value) or (inspect.isclass(value) and value.__module__.startswith("made_")):
            expected = tuple(
                Parameter(p.name, KINDS[p.kind], None if p.default is p.empty else repr(p.default))
                for p in inspect.signature(value).parameters.values()
            )
            (made,) = names[name].signatures
            assert tuple(p._replace(type=None) for p in made.parameters) == expected
