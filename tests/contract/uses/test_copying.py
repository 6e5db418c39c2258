from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.uses.copying import of_python, of_script
from pinctl.model import Pin

PIN = Pin("my-pkg", repo="https://host/owner/MyPkg.git")

PYTHON = {
    "shutil.copy(src / 'a.py', out)": ["a.py"],
    "shutil.copytree(src / 'a' / 'b', out)": ["a/b"],
    "copytree(src / 'a', out, ignore=shutil.ignore_patterns('*.pyc', 'tests'))": ["a -*.pyc -tests"],
    "shutil.copy(str(src / 'a'), out)": ["a"],
    "shutil.copy(f'{src}/a/b.py', out)": ["a/b.py"],
    "shutil.copy(os.path.join(src, 'a', 'b'), out)": ["a/b"],
    "shutil.copy(src.joinpath('a', 'b').resolve(), out)": ["a/b"],
    "p = src / 'a'\nshutil.copy(p / 'b', out)": ["a/b"],
    "for n in ('a', 'b'):\n    shutil.copytree(src / 'x' / n, out / n)": ["x/a", "x/b"],
    "N = ['a', 'b']\nfor n in N:\n    shutil.copy(src / n, out)": ["a", "b"],
    "for f in sorted((src / 'a').glob('*.py')):\n    shutil.copy(f, out)": ["a/*.py *"],
    "for f in (src / 'a').rglob('*.h'):\n    shutil.copy2(f, out)": ["a/*.h **"],
    "[shutil.copy(f, out) for f in glob.glob(f'{src}/a/*.py')]": ["a/*.py *"],
    "for f in (src / 'a').glob('**/*.h'):\n    shutil.copy2(f, out)": ["a/*.h **"],
    "shutil.copy(src / 'a' / name, out)": ["a"],
    "shutil.copy(other / 'a', src / 'b')": [],
    "print(src / 'a')": [],
    "x = (": [],
}


@pytest.mark.parametrize(("source", "found"), PYTHON.items())
def test_python(source: str, found: list[str]) -> None:
    marks = {None: "", False: " *", True: " **"}
    copies = of_python(source.encode(), frozenset({"src"}))
    assert [f"{c.path}{marks[c.glob]}" + "".join(f" -{g}" for g in c.without) for c in copies] == found


SHELL = {
    "cp -r MyPkg/a out": ["a"],
    'cp "$DIR/MyPkg/a.py" MyPkg/b.py "$OUT"': ["a.py", "b.py"],
    "sudo cp -a /src/MyPkg/. /opt/pkg": ["."],
    "cp -t out MyPkg/a MyPkg/b": ["a", "b"],
    "cp MyPkg/a/*.py out": ["a/*.py *"],
    "cp MyPkg/a/$x/b out": ["a"],
    "install -D -m 0644 MyPkg/a.py out/a.py": ["a.py"],
    "rsync -a --exclude=tests --exclude '*.pyc' MyPkg/a/ out/": ["a -tests -*.pyc"],
    "git clone https://host/owner/MyPkg.git /tmp/dir\ncp -r /tmp/dir/a out": ["a"],
    "git clone https://host/owner/other.git /tmp/dir # MyPkg\ncp -r /tmp/dir/a out": [],
    "cd MyPkg && cp -r my_pkg/a out": ["my_pkg/a"],
    "pushd MyPkg/x\ncp a out\npopd\ncp b out": ["x/a"],
    "cd MyPkg\ncd ..\ncp a out": [],
    "cd MyPkg; cp dist/*.whl build/x.so out": [],
    "cp MyPkg/../a out": [],
    "cp other/a out # MyPkg": [],
    "ls MyPkg/a": [],
}


@pytest.mark.parametrize(("source", "found"), SHELL.items())
def test_shell(source: str, found: list[str]) -> None:
    marks = {None: "", False: " *"}
    copies = of_script(f"{source}\n".encode(), PIN, is_shell=True)
    assert [f"{c.path}{marks[c.glob]}" + "".join(f" -{g}" for g in c.without) for c in copies] == found


def test_dockerfile() -> None:
    source = b"""FROM a AS b
RUN git clone https://host/owner/MyPkg.git \\
    && cp -r MyPkg/a /opt
FROM c
COPY --from=b /src/MyPkg/b /src/MyPkg/c.py /opt/
COPY ["MyPkg/d", "/opt"]
COPY other /opt
"""
    copies = list(of_script(source, PIN, is_shell=False))
    assert [(copy.path, copy.span.line) for copy in copies] == [("a", 3), ("b", 5), ("c.py", 5)]


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_taken(source: bytes, is_shell: bool) -> None:
    list(of_script(b"cp MyPkg/a b\n" + source, PIN, is_shell=is_shell))
    list(of_python(b"shutil.copy(src / 'a', b)\n" + source, frozenset({"src"})))


@pytest.mark.parametrize("source", [b"x = " + b"(" * 3000, b"x = " + b"1+" * 3000 + b"1", b"x = src" + b"/ 'a'" * 5000])
def test_deep_nesting(source: bytes) -> None:
    assert list(of_python(source, frozenset({"src"}))) == []
