from __future__ import annotations

from contract.uses.support import NAMES, asked
from pinctl.contract.uses import read

COMPAT = """
import importlib
_impl = None
def _load():
    for name in ("pkg", "app.third.pkg"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
def _init():
    global _impl
    _impl = getattr(_load(), "impl", None)
def impl(*args, **kwargs):
    _init()
    return _impl(*args, flag=True, **kwargs)
def resolve(name):
    return getattr(_load(), name)
class Table:
    fast = staticmethod(resolve("fast"))
"""


def elsewhere(files: dict[str, str]) -> list[str]:
    """The uses outside `app/compat.py`."""
    found = asked({"app/__init__.py": "", "app/compat.py": COMPAT, **files})
    return [text for text in found if not text.startswith("app/compat.py:")]


def test_handles_and_wrappers_know_who_uses_them() -> None:
    files = {"app/__init__.py": "", "app/compat.py": COMPAT, "app/m.py": "from .compat import impl\nimpl(1)"}
    assert asked(files)[:-1] == [
        *["app/compat.py:5 pkg  import, except <- 16, app/m.py:2"] * 2,
        "app/compat.py:13 pkg.impl  import, default <- 16, app/m.py:2",
        "app/compat.py:16 pkg.impl(flag, *, **)  import, default <- app/m.py:2", "app/compat.py:20 pkg.fast  import",
    ]  # fmt: skip


def test_ways_to_a_wrapper_of_another_file() -> None:
    for source in (
        "from app.compat import impl\nimpl(1, k=2)",
        "from .compat import impl as i\ni(1, k=2)",
        "from . import compat\ncompat.impl(1, k=2)",
        "import app.compat\napp.compat.impl(1, k=2)",
        "from app.compat import *\nimpl(1, k=2)",
    ):
        assert elsewhere({"app/m.py": source}) == ["2 pkg.impl(1, flag, k)  import, default"], source


def test_handles_and_names_of_another_file() -> None:
    source = """\
from app.compat import Table, _load, resolve
_load().a(1)
Table.fast(2)
f = resolve("given")
f(3)
"""
    assert elsewhere({"app/m.py": source}) == [
        "2 pkg.a(1)  import", "3 pkg.fast(1)  import", "4 pkg.given  import <- 5", "5 pkg.given(1)  import",
    ]  # fmt: skip


def test_a_file_that_does_not_name_the_package_hands_it_on() -> None:
    middle = "from .compat import impl\ndef outer(*a, **k):\n    return impl(0, *a, **k)\n"
    files = {"app/middle.py": middle, "app/m.py": "from app.middle import outer\nouter(1, x=2)"}
    assert elsewhere(files) == [
        "2 pkg.impl(2, flag, x)  import, default", "app/middle.py:3 pkg.impl(1, flag, *, **)  import, default",
    ]  # fmt: skip


def test_a_handle_that_is_given_to_a_function_of_another_file() -> None:
    files = {
        "app/tools.py": "def apply(module, on):\n    f = getattr(module, 'set', None)\n    if f: f(on)\n",
        "app/m.py": "import pkg\nfrom app.tools import apply\ndef g():\n    apply(pkg, True)\n",
    }
    assert asked(files) == [
        "1 pkg  import <- 4, app/tools.py:3", "app/tools.py:2 pkg.set  default <- app/m.py:4, 3",
        "app/tools.py:3 pkg.set(1)  hasattr, default <- app/m.py:4",
    ]  # fmt: skip


def test_a_name_that_is_exported_again() -> None:
    files = {
        "app/__init__.py": "from .inner import a\n",
        "app/inner.py": "try:\n    from pkg import a\nexcept ImportError:\n    a = None\n",
        "tests/test_a.py": "from app import a\ndef test(): a(1)\n",
    }
    assert asked(files) == [
        "app/inner.py:2 pkg.a  import, except <- tests/test_a.py:2", "tests/test_a.py:2 pkg.a(1)  except",
    ]  # fmt: skip


def test_files_that_import_each_other() -> None:
    files = {
        "app/__init__.py": "",
        "app/one.py": "from app.two import g\nimport pkg\ndef f(*a): return g(*a) or pkg.a(*a)\n",
        "app/two.py": "from app.one import f\ndef g(*a): return f(*a)\n",
    }
    assert any("app/one.py:3 pkg.a(*)" in text for text in asked(files))


def test_a_source_folder_above_the_package() -> None:
    files = {
        "python/app/__init__.py": "",
        "python/app/c.py": "import pkg\ndef f(*a): return pkg.a(*a)\n",
        "python/app/d.py": "from app.c import f\nf(1)\n",
    }
    assert "python/app/d.py:2 pkg.a(1)  import" in asked(files)


def test_the_package_within_the_consumer_is_the_package() -> None:
    files = {
        "app/__init__.py": "", "app/third/__init__.py": "", "app/third/pkg/__init__.py": "from .sub import a\n",
        "app/third/pkg/sub.py": "def a(): ...\n", "app/m.py": "from .third.pkg import a\n",
    }  # fmt: skip
    assert asked(files) == ["1 pkg.a  import", "app/third/pkg/__init__.py:1 pkg.sub.a  import"]


def test_what_is_no_python_file_is_not_read() -> None:
    assert read({"a.txt": b"import pkg", "b.pyi": b"import pkg"}, NAMES).uses == ()


def test_facts_are_remembered_by_bytes_and_words() -> None:
    files = {"app/compat.py": COMPAT.encode(), "app/m.py": b"from app.compat import impl\nimpl(1)"}
    memory: dict[str, bytes] = {}
    first = read(files, NAMES, memory=memory)
    known = dict(memory)
    assert first == read(files, NAMES, memory=memory) == read(files, NAMES)
    assert memory == known
    assert read({**files, "app/m.py": b"from app.compat import impl\nimpl(2, 3)"}, NAMES, memory=memory) != first
    assert memory.items() > known.items()


def test_other_names_of_the_package_do_not_share_what_is_remembered() -> None:
    memory: dict[str, bytes] = {}
    files = {"m.py": b"import one, two\none.a()\ntwo.b()\n"}
    assert [use.symbol for use in read(files, ["one"], memory=memory).uses] == ["one", "one.a"]
    assert [use.symbol for use in read(files, ["two"], memory=memory).uses] == ["two", "two.b"]
