from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.upstream.versions import agrees, stated

from .support import tree


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("pyproject.toml", '[build-system]\n[project]\nname = "x"\nversion = "2.1"\n', ("2.1", 4)),
        ("pyproject.toml", '[project]\ndynamic = ["version"]\n', None),
        ("pyproject.toml", "[project\n", None),
        ("pyproject.toml", "project = 1\ntool = 2\n", None),
        ("pyproject.toml", '[tool.poetry]\nversion = "2.1"\n', ("2.1", 2)),
        ("setup.cfg", "[metadata]\nname = x\nversion = 2.1\n", ("2.1", 3)),
        ("setup.cfg", "[metadata]\nversion = attr: x.__version__\n", None),
        ("setup.cfg", "[metadata]\nname = x\n[other]\nversion = 3\n", None),
        ("setup.py", "from setuptools import setup\nsetup(\n    version='2.1',\n)\n", ("2.1", 3)),
        ("setup.py", "V = '2.1'\nsetup(version=V)\n", ("2.1", 2)),
        ("setup.py", "setup(version=get())\n", None),
        ("setup.py", "setup(version=\n", None),
        ("setup.py", "(" * 5000, None),
        ("VERSION", "v2.1\n", ("v2.1", 1)),
        ("version.txt", "2.1", ("2.1", 1)),
        ("version.txt", "2.1\nand more\n", None),
        ("up/__init__.py", "import x\n__version__ = '2.1'\n", ("2.1", 2)),
        ("src/up/_version.py", '__version__: str = "2.1"\n', ("2.1", 1)),
        ("up/version.py", "__version__ = read()\n", None),
        ("a/b/c/__init__.py", "__version__ = '2.1'\n", None),
        ("up/__init__.py", "__version__ = 'not one'\n", None),
    ],
)
def test_where_a_tree_says_its_version(file: str, text: str, found: tuple[str, int] | None) -> None:
    assert [(one.version, one.line, one.file) for one in stated(tree({file: text}))] == (
        [(*found, file)] if found else []
    )


def test_the_most_telling_first() -> None:
    files = {
        "aa/__init__.py": "__version__ = '1.0'\n",
        "pyproject.toml": '[project]\nversion = "2.0"\n',
        "VERSION": "3.0\n",
    }
    assert [one.version for one in stated(tree(files))] == ["2.0", "3.0", "1.0"]


@pytest.mark.parametrize(
    ("version", "says", "same"),
    [("2.1", "2.1.0", True), ("v2.1", "2.1", True), ("2.1", "2.1+cu129", True), ("2.1", "2.1.1", False),
     ("2.1rc1", "2.1", False), ("main-1", "main-1", True), ("main-1", "2.1", False)],
)  # fmt: skip
def test_versions_agree_by_their_public_part(version: str, says: str, same: bool) -> None:
    assert agrees(version, says) is same


@given(
    st.sampled_from(["pyproject.toml", "setup.py", "setup.cfg", "VERSION", "x/__init__.py"]), st.binary(max_size=100)
)
def test_any_bytes_are_taken(file: str, text: bytes) -> None:
    stated(tree({file: text}))
