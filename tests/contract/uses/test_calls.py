from __future__ import annotations

import pytest

from contract.uses.support import asked

ARGUMENTS = {
    "pkg.a(1, 2, x=3)": ["(2, x)"],
    "pkg.a(1, *x, **y)": ["(1, *, **)"],
    "pkg.a(*[1, 2], *(3,), **{'k': 4})": ["(3, k)"],
    "kw = {'a': 1}\npkg.a(**kw, b=2)": ["(a, b)"],
    "kw = dict(a=1, b=2)\npkg.a(**kw)": ["(a, b)"],
    "kw = dict(a=1)\nkw['b'] = 2\npkg.a(**kw)": ["(a, b)"],
    "kw = dict(a=1)\nkw.update(b=2, **{'c': 3})\npkg.a(**kw)": ["(a, b, c)"],
    "kw = dict(a=1, b=2)\nkw.pop('a')\npkg.a(**kw)": ["(b)"],
    "kw = dict(a=1, b=2)\ndel kw['b']\npkg.a(**kw)": ["(a)"],
    "kw = {'a': 1} | {'b': 2}\npkg.a(**kw)": ["(**)"],
    "kw = {'a': 1}\nkw |= {'b': 2}\npkg.a(**kw)": ["(a, b)"],
    "kw = {'a': 1}\nif c: kw['b'] = 2\npkg.a(**kw)": ["(a)", "(a, b)"],
    "kw = {} if c else {'a': 1}\npkg.a(1, **kw)": ["(1)", "(1, a)"],
    "kw = {'a': 1, **other}\npkg.a(**kw)": ["(a, **)"],
    "kw = {'a': 1, k: 2}\npkg.a(**kw)": ["(a, **)"],
    "kw = make()\nkw['a'] = 1\npkg.a(**kw)": ["(**)"],
    "pkg.a(x for x in y)": ["(1)"],
    "p = functools.partial(pkg.a, 1, x=2)\np(3, *y, z=4)": ["(2, x, z, *)"],
    "p = functools.partial(functools.partial(pkg.a, 1, k=2), 2, j=3)\np(3)": ["(3, k, j)"],
}


@pytest.mark.parametrize(("source", "calls"), ARGUMENTS.items())
def test_arguments(source: str, calls: list[str]) -> None:
    found = asked(f"import functools, pkg\n{source}")
    called = [text.split(" pkg.a")[1].split("  ")[0] for text in found if " pkg.a(" in text]
    assert sorted(called) == sorted(calls)


WRAPPERS = {
    "def f(*args, **kwargs): return pkg.a(*args, flag=1, **kwargs)\nf(1, x=2)": [
        "2 pkg.a(flag, *, **)  import <- 3", "3 pkg.a(1, flag, x)  import",
    ],
    "def f(x, *args, key=None, **kwargs): return pkg.a(0, *args, **kwargs)\nf(1, 2, key=3, y=4)": [
        "2 pkg.a(1, *, **)  import <- 3", "3 pkg.a(2, y)  import",
    ],
    "def f(**kwargs):\n    kwargs.pop('own', None)\n    del kwargs['mine']\n    return pkg.a(**kwargs)\n"
    "f(own=1, mine=2, x=3)": ["5 pkg.a(**)  import <- 6", "6 pkg.a(x)  import"],
    "def f(**kwargs):\n    kwargs['added'] = 1\n    return pkg.a(**kwargs)\nf(x=3)": [
        "4 pkg.a(added, **)  import <- 5", "5 pkg.a(added, x)  import",
    ],
    "def f(*args): return pkg.a(*args)\ndef g(*args): return f(0, *args)\ng(1)\nf(*x)": [
        "2 pkg.a(*)  import <- 3, 4, 5", "3 pkg.a(1, *)  import", "4 pkg.a(2)  import", "5 pkg.a(*)  import",
    ],
    "def f(*args): return pkg.a(*other)\nf(1)": ["2 pkg.a(*)  import"],
    "def f(x, y=1): return pkg.a(x, y)\nf(1)": ["2 pkg.a(2)  import <- 3"],
    "def f(x): return pkg.a(1)\nf(1)": ["2 pkg.a(1)  import"],
    "f = lambda *a, **k: pkg.a(*a, **k)\nf(1, x=2)": ["2 pkg.a(*, **)  import <- 3", "3 pkg.a(1, x)  import"],
    "class C:\n    def f(self, x, *a): return pkg.a(*a)\n    def g(self): self.f(1, 2, 3)": [
        "3 pkg.a(*) <- 4", "4 pkg.a(2)",
    ],
    "def deco(fn):\n    def inner(*a, **k): return fn(*a, **k)\n    return inner\nc = deco(pkg.a)\nc(1, x=2)": [
        "3 pkg.a(*, **)  import <- 6", "5 pkg.a  import <- 3, 6", "6 pkg.a(1, x)  import",
    ],
    "def f(*args, **kwargs): return pkg.a(*args, **kwargs)\ndef g():\n    try: f(1)\n    except TypeError: f()": [
        "2 pkg.a(*, **) <- 4, 5", "4 pkg.a(1)  misfit | pkg.a", "5 pkg.a() | pkg.a",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), WRAPPERS.items())
def test_what_a_function_hands_on_is_a_call_of_its_callers(source: str, found: list[str]) -> None:
    assert asked(f"import pkg\n{source}")[1:] == found


def test_a_wrapper_of_a_handle_with_a_default() -> None:
    source = """
        import pkg
        _f = None
        def init():
            global _f
            _f = getattr(pkg, "f", None)
        def f(*args, **kwargs):
            init()
            if _f is None:
                raise RuntimeError
            return _f(*args, **kwargs)
        def use():
            f(1, k=2)
    """
    assert asked(source) == [
        "2 pkg  import <- 11, 13", "6 pkg.f  default <- 11, 13", "11 pkg.f(*, **)  default <- 13",
        "13 pkg.f(1, k)  default",
    ]  # fmt: skip


def test_a_function_that_calls_itself_ends() -> None:
    source = "import pkg\ndef f(*a):\n    return f(*a) or pkg.a(*a)\nf(1)"
    assert asked(source) == [
        "1 pkg  import <- 3, 3, 4", "3 pkg.a(*)  import", "3 pkg.a(*)  import <- 3, 4", "4 pkg.a(1)  import",
    ]  # fmt: skip
