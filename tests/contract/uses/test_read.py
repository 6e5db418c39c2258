from __future__ import annotations

import pytest

from contract.uses.support import asked, uses
from pinctl.contract.model import Place

IMPORTS = {
    "import pkg\npkg.a(1, x=2)\npkg.b.c": ["1 pkg  import <- 2", "2 pkg.a(1, x)  import", "3 pkg.b.c  import"],
    "import pkg.sub.mod as m\ndef f(): m.g()": ["1 pkg.sub.mod  import <- 2", "2 pkg.sub.mod.g()"],
    "import pkg.sub.mod\npkg.sub.mod.g()": ["1 pkg.sub.mod  import", "2 pkg.sub.mod.g()  import"],
    "from pkg import a as b, c\nb()": ["1 pkg.a  import <- 2", "1 pkg.c  import", "2 pkg.a()  import"],
    "from pkg.sub import _private": ["1 pkg.sub._private  import"],
    "from app.third.pkg import a": ["1 pkg.a  import"],
    "from .third.pkg import a": ["1 pkg.a  import"],
    "from .third import pkg\npkg.a()": ["1 pkg  import <- 2", "2 pkg.a()  import"],
    "from . import third\nthird.pkg.a()": ["2 pkg.a()  import"],
    "import app.third.pkg as p\np.a": ["1 pkg  import", "2 pkg.a  import"],
    "def f():\n    import pkg\n    pkg.a()": ["2 pkg <- 3", "3 pkg.a()"],
    "from pkg import *": ["1 pkg  import"],
    "import package, pkg2, my.pkg\nmy.pkg.a()": [],
    "import pkg\npkg.__name__, pkg.C.__init__(x), pkg.__version__": ["1 pkg  import", "2 pkg.__version__  import"],
    "# import pkg\nx = 'pkg'": [],
}


@pytest.mark.parametrize(("source", "found"), IMPORTS.items())
def test_imports(source: str, found: list[str]) -> None:
    assert asked(source) == found


WHEN = {
    "from pkg import a, b, c\n@a\ndef f(x=b.d, *, y: c.T = 1): ...": [
        "1 pkg.a  import <- 2", "1 pkg.b  import", "1 pkg.c  import", "2 pkg.a(1)  import", "3 pkg.b.d  import",
        "3 pkg.c.T  import",
    ],
    "import pkg\nclass C(pkg.B):\n    x = pkg.v\n    def m(self): return pkg.w": [
        "1 pkg  import", "2 pkg.B  import", "3 pkg.v  import", "4 pkg.w",
    ],
    "import pkg\nf = lambda: pkg.a()\nx = [pkg.b for y in z]": [
        "1 pkg  import <- 2", "2 pkg.a()", "3 pkg.b  import",
    ],
    "import pkg\nif __name__ == '__main__':\n    pkg.a()": ["1 pkg  import <- 3", "3 pkg.a()"],
    "import pkg\ndef f(): return pkg.a()\nx = f()": ["1 pkg  import <- 2", "2 pkg.a()  import"],
    "import pkg\ndef g(): return pkg.a()\ndef f(): return g()\n@f\ndef h(): ...": [
        "1 pkg  import <- 2", "2 pkg.a()  import",
    ],
    "from __future__ import annotations\nimport pkg\ndef f(x: pkg.T): ...": [
        "2 pkg  import", "3 pkg.T  import, typing",
    ],
    "import pkg\ndef f():\n    x: pkg.T = 1": ["1 pkg  import", "3 pkg.T  typing"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), WHEN.items())
def test_import_time_and_call_time(source: str, found: list[str]) -> None:
    assert asked(source) == found


HANDLES = {
    "import importlib\n_pkg = None\ndef load():\n    global _pkg\n    _pkg = importlib.import_module('pkg')\n"
    "def f():\n    _pkg.a(1)": ["5 pkg <- 7", "7 pkg.a(1)"],
    "import importlib\ndef load():\n    try:\n        return importlib.import_module('pkg')\n"
    "    except ImportError:\n        return None\ndef f():\n    load().a(1)\n    p = load()\n    p.b()": [
        "4 pkg  except <- 8, 10", "8 pkg.a(1)", "10 pkg.b()",
    ],
    "p = __import__('pkg')\np.a": ["1 pkg  import", "2 pkg.a  import"],
    "p = __import__('pkg.sub', fromlist=['x'])\np.a()": ["1 pkg.sub  import <- 2", "2 pkg.sub.a()  import"],
    "p = __import__('pkg.sub', {}, None, ['x'])\np.a()": ["1 pkg.sub  import <- 2", "2 pkg.sub.a()  import"],
    "p = __import__('pkg.sub', fromlist=[])\np.a()": ["1 pkg.sub  import", "2 pkg.a()  import"],
    "import importlib\np = importlib.import_module('.sub', 'pkg')\np.a()": [
        "2 pkg.sub  import <- 3", "3 pkg.sub.a()  import",
    ],
    "import importlib\np = importlib.import_module('..b', package='pkg.sub')\np.a()": [
        "2 pkg.b  import <- 3", "3 pkg.b.a()  import",
    ],
    "import importlib\nimportlib.import_module('.third.pkg', __package__).a()": [
        "2 pkg  import", "2 pkg.a()  import",
    ],
    "import importlib\nimportlib.import_module('....b', 'pkg')": [],
    "__import__('pkg.sub').sub.a()": ["1 pkg.sub  import", "1 pkg.sub.a()  import"],
    "import pkg\nx = pkg.a\ny = x\ny(1)": ["1 pkg  import <- 4", "2 pkg.a  import <- 4", "4 pkg.a(1)  import"],
    "import pkg\nx = pkg\nx.a()\nx = other\nx.b()": ["1 pkg  import <- 3", "3 pkg.a()  import"],
    "import pkg\nif c:\n    x = pkg.a\nelse:\n    x = pkg.b\nx()": [
        "1 pkg  import <- 6", "3 pkg.a  import <- 6", "5 pkg.b  import <- 6", "6 pkg.a()  import", "6 pkg.b()  import",
    ],
    "import pkg\nclass C:\n    f = staticmethod(pkg.a)\n    def __init__(self):\n        self.g = pkg.b\n"
    "    def m(self):\n        self.f(1)\n        self.g(2)\nC.f(3)": [
        "1 pkg  import <- 7, 8, 9", "3 pkg.a  import <- 7, 9", "5 pkg.b <- 8", "7 pkg.a(1)", "8 pkg.b(1)",
        "9 pkg.a(1)  import",
    ],
    "import pkg\nclass A:\n    @property\n    def p(self): return pkg\nclass B(A):\n    def m(self): self.p.a()": [
        "1 pkg  import <- 6", "6 pkg.a()",
    ],
    "import pkg\ndef f(p):\n    p.a()\nf(pkg)": ["1 pkg  import <- 3", "3 pkg.a()  import"],
    "import pkg\ndef f(p=pkg):\n    p.a()": ["1 pkg  import <- 3", "3 pkg.a()"],
    "import pkg\ndef f():\n    h = pkg.h\n    def g(): return h(1)\n    return g": [
        "1 pkg  import <- 4", "3 pkg.h <- 4", "4 pkg.h(1)",
    ],
    "import pkg\ndef f():\n    h = None\n    def g(): return h(1)\n    def i():\n        nonlocal h\n"
    "        h = pkg.h": [
        "1 pkg  import <- 4", "4 pkg.h(1)", "7 pkg.h <- 4",
    ],
    "import pkg\ndef f():\n    h = None\n    def g():\n        def i():\n            nonlocal h\n"
    "            h = pkg.h\n    return h(1)": ["1 pkg  import <- 8", "7 pkg.h <- 8", "8 pkg.h(1)"],
    "import pkg\nv = [pkg.a, pkg.b]\nv[1](1)\nfor f in v: f()": [
        "1 pkg  import <- 3, 4", "2 pkg.a  import <- 4", "2 pkg.b  import <- 3, 4", "3 pkg.b(1)  import",
        "4 pkg.a()  import", "4 pkg.b()  import",
    ],
    "import pkg\nt = {'x': pkg.a, 'y': pkg.b}\nt['x']()\nt.get(k)()": [
        "1 pkg  import <- 3, 4", "2 pkg.a  import <- 3, 4", "2 pkg.b  import <- 4", "3 pkg.a()  import",
        "4 pkg.a()  import", "4 pkg.b()  import",
    ],
    "import sys\nsys.modules['pkg'].a()": ["2 pkg.a()  import"],
    "import pkg\nasync def f():\n    x = await pkg.a()": ["1 pkg  import <- 3", "3 pkg.a()"],
    "import pkg\nmatch x:\n    case pkg.K.A: pkg.a()": ["1 pkg  import <- 3", "3 pkg.K.A  import", "3 pkg.a()  import"],
    "import pkg\nwhile c:\n    f = pkg.a\n    if f: break\nf()": [
        "1 pkg  import <- 5", "3 pkg.a  import <- 5", "5 pkg.a()  import",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), HANDLES.items())
def test_values_are_followed(source: str, found: list[str]) -> None:
    assert asked(source) == found


NAMED = {
    "import pkg\ngetattr(pkg, 'a')(1)": ["1 pkg  import <- 2", "2 pkg.a(1)  import"],
    "import pkg\nf = getattr(pkg, 'a', None)": ["1 pkg  import", "2 pkg.a  import, default"],
    "import pkg\ngetattr(pkg.b, 'x' + 'y')": ["1 pkg  import", "2 pkg.b.xy  import"],
    "import pkg\nk = 'x'\ngetattr(pkg, f'a_{k}')": ["1 pkg  import", "3 pkg.a_x  import"],
    "import pkg\nfor n in ('a', 'b'):\n    globals()[n] = getattr(pkg, n)\nb(1)": [
        "1 pkg  import <- 4", "2 pkg.a  import", "2 pkg.b  import <- 4", "4 pkg.b(1)  import",
    ],
    "import pkg\nN = ['a', 'b']\nt = {n: getattr(pkg, n) for n in N}\nt['a']()": [
        "1 pkg  import <- 4", "2 pkg.a  import <- 4", "2 pkg.b  import", "4 pkg.a()  import",
    ],
    "import pkg\nall(hasattr(pkg, n) for n in ('a', 'b'))": ["1 pkg  import", "2 pkg.a?  import", "2 pkg.b?  import"],
    "import pkg\ndef get(name): return getattr(pkg, name, None)\nx = get('a')\ny = get('b')\nx(1)": [
        "1 pkg  import <- 5", "3 pkg.a  import, default <- 5", "4 pkg.b  import, default",
        "5 pkg.a(1)  import, default",
    ],
    "import importlib.util as u\nu.find_spec('pkg.sub')": ["2 pkg.sub?  import"],
    "from importlib.util import find_spec\ndef has(n): return find_spec(n) is not None\ndef f(): return has('pkg')": [
        "3 pkg?",
    ],
    "import pytest\np = pytest.importorskip('pkg.sub')\np.a": ["2 pkg.sub  import, except", "3 pkg.sub.a  import"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), NAMED.items())
def test_names_in_strings(source: str, found: list[str]) -> None:
    assert asked(source) == found


LAZY = """
    import functools, importlib
    def _module(name):
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    def lazy(module, name, fallback=None):
        @functools.cache
        def get():
            found = _module(module)
            return getattr(found, name, None) if found else None
        def wrapper(*args, **kwargs):
            function = get()
            if function is None:
                return fallback(*args, **kwargs)
            return function(*args, **kwargs)
        return wrapper
    a = lazy("pkg.x", "a")
    b = lazy("pkg.y", "b")
    def use():
        a(1)
        b(2, k=3)
"""


def test_a_factory_of_lazy_wrappers_goes_with_each_of_its_names() -> None:
    assert asked(LAZY) == [
        "17 pkg.x.a(*, **)  default <- 22", "17 pkg.y.b(*, **)  default <- 23",
        "19 pkg.x  except <- 17, 22", "19 pkg.x.a  default <- 17, 22",
        "20 pkg.y  except <- 17, 23", "20 pkg.y.b  default <- 17, 23",
        "22 pkg.x.a(1)  default", "23 pkg.y.b(1, k)  default",
    ]  # fmt: skip


OPERATORS = {
    "import torch\ntorch.ops.pkg.f(1)\ntorch.ops.other.g()": ["2 torch.ops.pkg.f(1)  import"],
    "import torch\ntorch.ops.pkg.f.default(1, k=2)": ["2 torch.ops.pkg.f(1, k)  import"],
    "import torch\no = torch.ops.pkg\no.f()": [
        "2 torch.ops.pkg  import <- 3", "3 torch.ops.pkg.f()  import",
    ],
    "from torch.ops import pkg\npkg.f()": ["1 torch.ops.pkg  import <- 2", "2 torch.ops.pkg.f()  import"],
    "from torch import ops\nhasattr(ops.pkg, 'f')": ["2 torch.ops.pkg.f?  import"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), OPERATORS.items())
def test_operators_of_torch(source: str, found: list[str]) -> None:
    assert asked(source) == found


PATCHES = {
    "from unittest.mock import patch\n@patch('pkg.a.b')\ndef t(): ...": ["2 pkg.a.b"],
    "from unittest import mock\nimport pkg\ndef t():\n    with mock.patch.object(pkg, 'a'): ...": [
        "2 pkg  import", "4 pkg.a",
    ],
    "def t(monkeypatch):\n    monkeypatch.setattr('pkg.a', 1)": ["2 pkg.a"],
    "import pkg\ndef t(monkeypatch):\n    monkeypatch.setattr(pkg, 'a', 1, raising=False)": [
        "1 pkg  import", "3 pkg.a  default",
    ],
    "import pkg\nsetattr(pkg, 'a', 1)": ["1 pkg  import"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), PATCHES.items())
def test_what_tests_patch(source: str, found: list[str]) -> None:
    assert asked(source) == found


UNSEEN = {
    "import pkg\ngetattr(pkg, name)": {"attributes with a computed name": 1},
    "from pkg import *": {"names that `import *` brings": 1},
    "import pkg\nx = pkg.a()\nx.b\nx.c()": {"attributes of what a call returned": 2},
    "import pkg\nregister(pkg.a)\nprint(pkg.a)": {"handed to a call that is not followed": 1},
    "import pkg\nx.y = pkg.a\nz[0] = pkg.b\nd = {}\nd[k] = pkg.c": {"kept where it is not followed": 3},
    "import importlib\nimportlib.import_module(f'pkg.{name}')": {"attributes with a computed name": 1},
}


@pytest.mark.parametrize(("source", "counts"), UNSEEN.items())
def test_what_is_not_followed_is_counted(source: str, counts: dict[str, int]) -> None:
    assert uses(source).unseen == counts


def test_columns_count_code_points() -> None:
    found = uses("import pkg\nx = 'ä€', pkg.a\n").uses
    assert [use.place for use in found] == [Place("app/m.py", 1, 8), Place("app/m.py", 2, 11)]
