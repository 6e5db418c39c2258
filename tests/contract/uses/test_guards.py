from __future__ import annotations

import pytest

from contract.uses.support import asked, uses
from pinctl.contract.model import Fragile, Place, Shape

CAUGHT = {
    "try:\n    from pkg import a\nexcept ImportError:\n    a = None": ["2 pkg.a  import, except"],
    "try:\n    from pkg import a\nexcept ModuleNotFoundError:\n    a = None": ["2 pkg.a  import"],
    "try:\n    import pkg.a as a\nexcept ModuleNotFoundError:\n    a = None": ["2 pkg.a  import, except"],
    "try:\n    from pkg import a\nexcept (OSError, ImportError):\n    a = None": ["2 pkg.a  import, except"],
    "E = (OSError, ImportError)\ntry:\n    from pkg import a\nexcept E:\n    a = None": ["3 pkg.a  import, except"],
    "try:\n    from pkg import a\nexcept:\n    a = None": ["2 pkg.a  import, except"],
    "try:\n    from pkg import a\nexcept AttributeError:\n    a = None": ["2 pkg.a  import"],
    "try:\n    from pkg import a\nexcept ImportError as e:\n    raise RuntimeError from e": ["2 pkg.a  import"],
    "try:\n    pass\nexcept ImportError:\n    from pkg import a": ["4 pkg.a  import"],
    "try:\n    pass\nexcept ImportError:\n    pass\nelse:\n    from pkg import a": ["6 pkg.a  import"],
    "try:\n    def f():\n        from pkg import a\nexcept ImportError:\n    pass": ["3 pkg.a"],
    "import contextlib\nwith contextlib.suppress(ImportError):\n    from pkg import a": ["3 pkg.a  import, except"],
    "import pkg\ntry:\n    pkg.a\nexcept AttributeError:\n    pass": ["1 pkg  import", "3 pkg.a  import, except"],
    "import pkg\ntry:\n    pkg.a(1)\nexcept TypeError:\n    pass": ["1 pkg  import <- 3", "3 pkg.a(1)  import, misfit"],
    "import pkg\ntry:\n    pkg.a(1)\nexcept Exception:\n    pass": [
        "1 pkg  import <- 3", "3 pkg.a(1)  import, except, misfit",
    ],
    "import pkg\ntry:\n    try:\n        pkg.a\n    except AttributeError:\n        raise\n"
    "except TypeError:\n    pass": [
        "1 pkg  import", "4 pkg.a  import",
    ],
    "try:\n    from pkg import a\nexcept ImportError:\n    a = None\na(1)": [
        "2 pkg.a  import, except <- 5", "5 pkg.a(1)  import, except",
    ],
    "import torch\ntry:\n    torch.ops.pkg.a(1)\nexcept RuntimeError:\n    pass": [
        "3 torch.ops.pkg.a(1)  import, misfit",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), CAUGHT.items())
def test_an_exception_hides_what_it_catches(source: str, found: list[str]) -> None:
    assert asked(source) == found


ASKED = {
    "if hasattr(pkg, 'a'):\n    pkg.a()": ["2 pkg.a?  import", "3 pkg.a()  import, hasattr"],
    "if hasattr(pkg, 'a'):\n    pkg.b()": ["2 pkg.a?  import", "3 pkg.b()  import"],
    "hasattr(pkg, 'a') and pkg.a()": ["2 pkg.a?  import", "2 pkg.a()  import, hasattr"],
    "not hasattr(pkg, 'a') or pkg.a()": ["2 pkg.a?  import", "2 pkg.a()  import, hasattr"],
    "x = pkg.a if hasattr(pkg, 'a') else None": ["2 pkg.a  import, hasattr", "2 pkg.a?  import"],
    "H = hasattr(pkg, 'a')\ndef f():\n    if H and c:\n        pkg.a()": ["2 pkg.a?  import", "5 pkg.a()  hasattr"],
    "def has(): return hasattr(pkg, 'a')\ndef f():\n    if has():\n        pkg.a()": ["2 pkg.a?", "5 pkg.a()  hasattr"],
    "def f():\n    if not hasattr(pkg, 'a'):\n        return\n    pkg.a()": ["3 pkg.a?", "5 pkg.a()  hasattr"],
    "def f():\n    if not hasattr(pkg, 'a'):\n        raise RuntimeError\n    pkg.a()": ["3 pkg.a?", "5 pkg.a()"],
    "if getattr(pkg, 'a', None) is not None:\n    pkg.a()": ["2 pkg.a  import, default", "3 pkg.a()  import, hasattr"],
    "if callable(getattr(pkg, 'a', None)):\n    pkg.a()": ["2 pkg.a  import, default", "3 pkg.a()  import, hasattr"],
    "if TYPE_CHECKING:\n    from pkg import T": ["3 pkg.T  import, typing"],
    "if typing.TYPE_CHECKING:\n    pass\nelse:\n    from pkg import T": ["5 pkg.T  import"],
    "x = [pkg.a for y in z if hasattr(pkg, 'a')]": ["2 pkg.a  import, hasattr", "2 pkg.a?  import"],
}


@pytest.mark.parametrize(("source", "found"), ASKED.items())
def test_a_question_hides_what_it_asks_for(source: str, found: list[str]) -> None:
    assert [text for text in asked(f"import pkg\n{source}") if not text.startswith("1 ")] == found


INSTEAD = {
    "f = getattr(pkg, 'a', None) or getattr(pkg, 'b', None)": [
        "2 pkg.a  import, default | pkg.b", "2 pkg.b  import, default | pkg.a",
    ],
    "f = getattr(pkg, 'a', None) or getattr(pkg, 'b', None) or pkg.c": [
        "2 pkg.a  import, default | pkg.b, pkg.c", "2 pkg.b  import, default | pkg.a, pkg.c",
        "2 pkg.c  import | pkg.a, pkg.b",
    ],
    "f = getattr(pkg, 'a', pkg.b)": ["2 pkg.a  import, default | pkg.b", "2 pkg.b  import | pkg.a"],
    "f = pkg.a or pkg.b": ["2 pkg.a  import", "2 pkg.b  import"],
    "f = pkg.a if hasattr(pkg, 'a') else pkg.b": [
        "2 pkg.a  import, hasattr | pkg.b", "2 pkg.a?  import", "2 pkg.b  import | pkg.a",
    ],
    "if hasattr(pkg, 'a'):\n    pkg.a(1)\nelse:\n    pkg.b(1)": [
        "2 pkg.a?  import", "3 pkg.a(1)  import, hasattr | pkg.b", "5 pkg.b(1)  import | pkg.a",
    ],
    "def f():\n    if hasattr(pkg, 'a'):\n        return pkg.a(1)\n    return pkg.b(1)": [
        "3 pkg.a?", "4 pkg.a(1)  hasattr | pkg.b", "5 pkg.b(1) | pkg.a",
    ],
    "f = getattr(pkg, 'a', None)\nif f is None:\n    f = getattr(pkg, 'b', None)": [
        "2 pkg.a  import, default | pkg.b", "4 pkg.b  import, default | pkg.a",
    ],
    "def g():\n    f = getattr(pkg, 'a', None)\n    if f is not None:\n        return f(1)\n    return pkg.b(1)": [
        "3 pkg.a  default | pkg.b <- 5", "5 pkg.a(1)  hasattr, default | pkg.b", "6 pkg.b(1) | pkg.a",
    ],
    "def g():\n    for n in ('a', 'b'):\n        f = getattr(pkg, n, None)\n        if f is not None:\n"
    "            return f": ["3 pkg.a  default | pkg.b", "3 pkg.b  default | pkg.a"],
    "try:\n    from pkg.new import a\nexcept ImportError:\n    from pkg.old import a\na(1)": [
        "3 pkg.new.a  import, except | pkg.old.a <- 6", "5 pkg.old.a  import | pkg.new.a <- 6",
        "6 pkg.new.a(1)  import, except", "6 pkg.old.a(1)  import",
    ],
    "try:\n    from pkg.new import a, b\nexcept ImportError:\n    from pkg.old import a, b": [
        "3 pkg.new.a  import, except | pkg.old.a", "3 pkg.new.b  import, except | pkg.old.b",
        "5 pkg.old.a  import | pkg.new.a", "5 pkg.old.b  import | pkg.new.b",
    ],
    "try:\n    pkg.a(1)\nexcept AttributeError:\n    pkg.b(1)": [
        "3 pkg.a(1)  import, except | pkg.b", "5 pkg.b(1)  import | pkg.a",
    ],
    "try:\n    pkg.a(1, 2)\nexcept TypeError:\n    pkg.a(1)": [
        "3 pkg.a(1... misfit | pkg.a", "5 pkg.a(1)  import | pkg.a",
    ],
    "try:\n    pkg.a(1)\nexcept Exception:\n    pkg.b()\n    raise": ["3 pkg.a(1)  import", "5 pkg.b()  import"],
    "_f = None\ndef init():\n    global _f\n    if _f is not None:\n        return\n    _f = getattr(pkg, 'a', None)\n"
    "    pkg.b()": ["7 pkg.a  default", "8 pkg.b()"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "found"), INSTEAD.items())
def test_what_is_tried_in_place_of_what(source: str, found: list[str]) -> None:
    told = [text for text in asked(f"import pkg\n{source}") if not text.startswith("1 ")]
    assert told == [text.replace("(1... ", "(2)  import, ") for text in found]


FRAGILE = {
    "f = getattr(pkg, 'a', None)": [(Shape.DEFAULT, "")],
    "f = getattr(pkg, 'a', None)\nif f is None: f = other": [],
    "f = getattr(pkg, 'a', None)\ndef g():\n    if f: f()": [],
    "f = getattr(pkg, 'a', None) or other": [],
    "f = getattr(pkg, 'a', None)\nassert callable(f)": [],
    "f = getattr(pkg, 'a')": [],
    "try:\n    pkg.a()\nexcept Exception:\n    log()": [(Shape.BROAD, "")],
    "try:\n    pkg.a()\nexcept:\n    pass": [(Shape.BROAD, "")],
    "try:\n    pkg.a()\nexcept Exception:\n    log()\n    raise": [],
    "try:\n    pkg.a()\nexcept (TypeError, AttributeError):\n    pass": [],
    "pkg.a(x=n or 1, y=n or None)": [(Shape.ZERO, "x"), (Shape.ZERO, "y")],
    "pkg.a(x=n or '', y=(a > b) or c, z=n or [], w=not n or m, v=n or False)": [],
    "other(x=n or 1)": [],
    "def f(**kwargs): pkg.a(**kwargs)\nf(x=n or 1)": [(Shape.ZERO, "x")],
}


@pytest.mark.parametrize(("source", "shapes"), FRAGILE.items())
def test_what_would_fail_in_silence(source: str, shapes: list[tuple[Shape, str]]) -> None:
    found = uses(f"import pkg\n{source}").fragile
    assert [(one.shape, one.keyword) for one in found] == shapes
    assert {one.symbol for one in found} <= {"pkg.a"}


def test_where_what_is_fragile_stands() -> None:
    assert uses("import pkg\nx = getattr(pkg, 'a', None)").fragile == (
        Fragile("pkg.a", Place("app/m.py", 2, 5), Shape.DEFAULT),
    )
