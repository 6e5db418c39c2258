from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchors.support import edits
from pinctl.anchors.model import Path

CLONE = "git clone https://git.example/DeepGEMM.git\n"


def told(source: str, file: str = "tools/install.sh") -> list[tuple[int, str, list[str]]]:
    """Line, pattern and paths of each edit; "?" stands before the pattern of one that cannot be told."""
    return [
        (e.span.line, e.pattern if e.action else f"?{e.pattern}", [path.path for path in e.paths])
        for e in edits(file, source)
    ]


@pytest.mark.parametrize(
    ("command", "pattern", "paths"),
    [
        ("sed -i s/17/20/ setup.py", "17", ["setup.py"]),
        ("sed -i 's/a b/c/g' a.py csrc/b.cu", "a b", ["a.py", "csrc/b.cu"]),
        ("sed -i.bak -E 's/(a|b)/c/' setup.py", "(a|b)", ["setup.py"]),
        ("sed -Ei 's/a+/c/' setup.py", "a+", ["setup.py"]),
        ("sed --in-place=.bak --regexp-extended --expression='s/a+/c/' setup.py", "a+", ["setup.py"]),
        ("sed -i '' 's/a/c/' setup.py", "a", ["setup.py"]),
        ("sudo sed -i -e 's/a/c/' setup.py", "a", ["setup.py"]),
        ('if grep -q a setup.py; then sed -i "s/a$/c/" setup.py; fi', "a$", ["setup.py"]),
        ("sed -i \"s|f'{dir}/include']|f'{dir}', '${CUDA_HOME}/cccl']|\" setup.py", "f'{dir}/include']", ["setup.py"]),
        ("sed -i '1i\\\n// a\\\n// b' csrc/a.cuh", "1i", ["csrc/a.cuh"]),
        ("sed -i '/old/d' *.py", "/old/d", ["*.py"]),
        ("OLD='a b'\nsed -i \"s/${OLD}/c/\" setup.py", "a b", ["setup.py"]),
        ("sed -i \"s/$OLD/c/\" setup.py", "?s/.../c/", ["setup.py"]),
        ("OLD=a\nOLD=b\nsed -i \"s/$OLD/c/\" setup.py", "?s/.../c/", ["setup.py"]),
        ("for OLD in a b; do sed -i \"s/$OLD/c/\" setup.py; done", "?s/.../c/", ["setup.py"]),
        ("sed -i -n 's/a/c/p' setup.py", "?s/a/c/p", ["setup.py"]),
        ("sed -i -f edit.sed setup.py", "?...", ["setup.py"]),
        ("sed -i --file=edit.sed setup.py", "?...", ["setup.py"]),
        ("sed -i \"s/$(date)/c/\" setup.py", "?s/.../c/", ["setup.py"]),
        ("sed -i \"s/`date`/c/\" setup.py", "?s/.../c/", ["setup.py"]),
        ("sed -i 's/a/b/;y/a/b/' setup.py", "?s/a/b/;y/a/b/", ["setup.py"]),
    ],
)  # fmt: skip
def test_sed_in_the_folder_of_a_clone(command: str, pattern: str, paths: list[str]) -> None:
    found = [(found, where) for _, found, where in told(f"{CLONE}cd DeepGEMM\n{command}\n")]
    assert found == [(pattern, paths)]


@pytest.mark.parametrize(
    ("script", "paths"),
    [
        (CLONE + "sed -i s/a/b/ DeepGEMM/setup.py\n", ["setup.py"]),
        (CLONE + "sed -i s/a/b/ $PWD/DeepGEMM/csrc/a.cu\n", ["csrc/a.cu"]),
        ("git clone https://git.example/DeepGEMM.git /opt/dg\ncd /opt/dg && sed -i s/a/b/ setup.py\n", ["setup.py"]),
        ('git clone https://git.example/DeepGEMM.git "$DIR"\ncd "$DIR"\n[ -f x ] || { echo no; exit 1; }\n'
         "sed -i s/a/b/ setup.py\n", ["setup.py"]),
        (CLONE + "cd DeepGEMM/csrc\nsed -i s/a/b/ a.cu\ncd ..\nsed -i s/a/b/ setup.py\n", ["csrc/a.cu", "setup.py"]),
        (CLONE + "cd DeepGEMM\nX=$(date)\nsed -i s/a/b/ setup.py\n", ["setup.py"]),
        (CLONE + "if x; then\ncd DeepGEMM; cd ..\nelse\ncd DeepGEMM; sed -i s/a/b/ setup.py\nfi\n", ["setup.py"]),
        ('build() {\ncd "$name"\nif [[ "$name" == "DeepGEMM" && $V -ge 13 ]]; then\nsed -i s/a/b/ setup.py\nfi\n}\n',
         ["setup.py"]),
    ],
)  # fmt: skip
def test_where_a_script_is(script: str, paths: list[str]) -> None:
    assert [path for _, _, where in told(script) for path in where] == paths


@pytest.mark.parametrize(
    "script",
    [
        CLONE + "sed -i s/a/b/ setup.py\n",
        CLONE + "cd DeepGEMM\nsed s/a/b/ setup.py > out\n",
        CLONE + "(cd DeepGEMM && make)\nsed -i s/a/b/ setup.py\n",
        CLONE + "pushd DeepGEMM\npopd\nsed -i s/a/b/ setup.py\n",
        CLONE + "cd DeepGEMM\ncd ..\nsed -i s/a/b/ setup.py\n",
        CLONE + "build() {\ncd DeepGEMM\n}\nsed -i s/a/b/ setup.py\n",
        CLONE + "cd DeepGEMM\nsed -i s/a/b/ ../mine.py /etc/x $HOME/y\n",
        'cd "$name"\nif [[ "$name" == "DeepGEMM" ]]; then\ntrue\nelse\nsed -i s/a/b/ setup.py\nfi\n',
        "# DeepGEMM\nsed -i s/a/b/ setup.py\n",
    ],
)
def test_where_it_is_not(script: str) -> None:
    assert told(script) == []


def test_a_dockerfile() -> None:
    source = """\
FROM base
RUN git clone https://git.example/DeepGEMM.git && cd DeepGEMM && \\
    # (the flags
    sed -i 's/17/20/; s/x/y/' \\
        setup.py
RUN sed -i s/a/b/ setup.py
WORKDIR /build/DeepGEMM
RUN sed -i s/c/d/ setup.py
RUN <<EOF
sed -i s/e/f/ setup.py
EOF
FROM other
RUN sed -i s/g/h/ setup.py
"""
    assert told(source, "docker/Dockerfile") == [
        (4, "17", ["setup.py"]),
        (4, "x", ["setup.py"]),
        (8, "c", ["setup.py"]),
        (10, "e", ["setup.py"]),
    ]


def test_a_quoted_script_over_several_lines_of_a_dockerfile() -> None:
    source = "RUN cd DeepGEMM && sed -i '/a/a\\    b(\"c\")' setup.py\n"
    (edit,) = edits("Dockerfile", "FROM base\n" + source)
    assert edit.action is not None
    assert edit.action.new == b'    b("c")'
    assert edit.action.apply(b"a\n") == b'a\n    b("c")\n'


def test_globs_and_patches() -> None:
    (edit,) = edits("x.sh", "cd DeepGEMM\nsed -i s/a/b/ csrc/*.cu\n")
    assert edit.paths == (Path("csrc/*.cu", False),)
    (edit,) = edits("x.sh", "cd DeepGEMM/csrc\ngit apply -p1 ../../patches/x.patch\n")
    assert edit.patch is not None
    assert (edit.patch.name, edit.patch.folder, edit.span.line) == ("../../patches/x.patch", "csrc", 2)
    (edit,) = edits("x.sh", "patch -p1 -d DeepGEMM < x.patch\n")
    assert edit.patch is not None
    assert (edit.patch.name, edit.patch.folder) == ("x.patch", ".")


@given(st.text("sed -i cdDeepGEMM/{}()$\"'\\\n;|&s/a/b#if[]=<", max_size=60))
def test_no_script_crashes_it(source: str) -> None:
    edits("x.sh", "cd DeepGEMM; sed -i s/a/b/ x; " + source)
    edits("Dockerfile", "FROM x\nRUN cd DeepGEMM; sed -i s/a/b/ x; " + source)
