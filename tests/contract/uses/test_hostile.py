from __future__ import annotations

import gc
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.uses import read

HOSTILE = {
    "no Python": (b"import pkg\nthis is no Python", "line 2: it is no Python: invalid syntax"),
    "not UTF-8": (b"import pkg\nx = '\xff'\n", "it is not UTF-8 at byte 16"),
    "a NUL": (b"import pkg\n\0", None),
    "too large": (b"import pkg\n" + b"#" * 8 * 1024 * 1024, "it has 8388619 bytes, more than 1048576"),
    "a long sum": (b"import pkg\nx = " + b"1+" * 100_000 + b"1", "it is nested too deeply"),
    "brackets": (b"import pkg\nx = " + b"(" * 100_000, None),
    "minuses": (b"import pkg\nx = " + b"-" * 100_000 + b"1", "it is nested too deeply"),
    "attributes": (b"import pkg\npkg" + b".a" * 100_000, "it is nested too deeply"),
    "calls": (b"import pkg\npkg" + b"()" * 100_000, "it is nested too deeply"),
    "indents": (b"import pkg\n" + b"".join(b" " * n + b"if x:\n" for n in range(500)), None),
    "another encoding": (b"# coding: utf-7\nimport pkg\n", ""),
    "elses": (b"import pkg\nif x: pass\n" + b"elif x: pkg.a\n" * 3000, "it is nested too deeply"),
}


@pytest.mark.parametrize(("source", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_unread_with_the_reason(source: bytes, reason: str | None) -> None:
    begun = time.process_time()
    found = read({"app/m.py": source, "app/good.py": b"import pkg\n"}, ["pkg"])
    assert time.process_time() - begun < 10
    assert "app/good.py" in {use.place.file for use in found.uses}
    if reason is None:
        assert found.unread["app/m.py"]
    else:
        assert found.unread.get("app/m.py", "") == reason


def test_files_that_do_not_name_the_package_are_not_even_parsed() -> None:
    assert read({"m.py": b"\xff(((", "n.py": b"import pkg"}, ["pkg"]).unread == {}


def test_loops_over_many_names_come_to_an_end() -> None:
    names = ", ".join(f"'n{n}'" for n in range(60))
    source = f"import pkg\nN = [{names}]\n" + "".join(
        f"{' ' * depth}for x{depth} in N:\n" for depth in range(6)
    ) + "      getattr(pkg, x5)\n"  # fmt: skip
    begun = time.process_time()
    read({"m.py": source.encode()}, ["pkg"])
    assert time.process_time() - begun < 10


def test_values_that_grow_come_to_an_end() -> None:
    source = b"import pkg\nkw = {}\n" + b"".join(b"if c: kw['k%d'] = pkg\n" % n for n in range(60)) + b"pkg.a(**kw)\n"
    source += b"x = pkg\n" + b"".join(b"if c: x = x.a\nelse: x = x.b\n" for _ in range(200)) + b"x()\n"
    begun = time.process_time()
    found = read({"m.py": source}, ["pkg"])
    assert time.process_time() - begun < 10
    (call,) = [use.call for use in found.uses if use.symbol == "pkg.a" and use.call]
    assert call.keyword_rest
    assert {"k0", "k59"} <= {*call.keywords}


def test_wrappers_in_a_circle_come_to_an_end() -> None:
    source = "import pkg\n" + "".join(
        f"def f{n}(*a, **k):\n    return f{(n + 1) % 40}(*a, **k) or pkg.a(*a)\n" for n in range(40)
    ) + "f0(1)\n"  # fmt: skip
    begun = time.process_time()
    assert read({"m.py": source.encode()}, ["pkg"]).uses
    assert time.process_time() - begun < 10


MANY = {
    "names": "".join(f"v{n} = pkg.a\n" for n in range(10_000)),
    "functions": "".join(f"def f{n}(): pass\n" for n in range(6_000)) + "f1(pkg)\n",
    "functions with uses": "".join(f"def f{n}(*a): return pkg.a(*a)\n" for n in range(4_000)),
    "calls": "def f(x): return x.a()\n" + "f(pkg)\n" * 10_000,
    "keywords": f"pkg.a({', '.join(f'k{n}=1' for n in range(10_000))})\n",
    "classes": "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, 4_000)) + "C3999().a\n",
    "branches": "if x:\n" + "".join(f"  v{n} = pkg.a\n" for n in range(4_000)) + "v1()\n" * 4_000,
}


@pytest.mark.parametrize("source", MANY.values(), ids=MANY)
def test_a_great_many_of_one_thing_come_to_an_end(source: str) -> None:
    begun = time.process_time()
    found = read({"m.py": f"import pkg\n{source}".encode()}, ["pkg"])
    assert time.process_time() - begun < 30
    assert found.uses
    assert not found.unread


def test_nothing_is_said_of_odd_but_valid_code() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read({"m.py": b"import pkg\nx = '\\d' is 3\n"}, ["pkg"]).unread == {}
    assert gc.isenabled()


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(source: bytes) -> None:
    read({"m.py": b"import pkg\n" + source}, ["pkg"])


PIECES = st.sampled_from(
    ["pkg", "pkg.a", "x", "y", "self", "(", ")", "[", "]", "{", "}", ":", ",", "=", " ", "\n", "\n    ", "*", "**", ".",
     "def f(", "class C", "lambda ", "for x in ", "if ", "else", "try:", "except", "import ", "from ", "return ",
     "getattr", "hasattr", "'a'", "with ", "as ", "await ", "yield ", "global x", "del ",
     "or ", "not ", "None", "f'{x}'", ":="]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_any_code_is_taken(pieces: list[str]) -> None:
    read({"m.py": ("import pkg\n" + "".join(pieces)).encode()}, ["pkg"])
