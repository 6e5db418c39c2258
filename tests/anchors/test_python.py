from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anchors.support import edits, states
from pinctl.anchors.python import _expression

FILE = "tools/build.py"


def told(source: str) -> list[tuple[int, str, str, list[str]]]:
    """Line, kind, pattern and paths of each edit; "?" stands before the pattern of one that cannot be told."""
    return [
        (e.span.line, e.kind.value, e.pattern if e.action else f"?{e.pattern}", [path.path for path in e.paths])
        for e in edits(FILE, source)
    ]


@pytest.mark.parametrize(
    "source",
    [
        'p = src / "setup.py"\np.write_text(p.read_text().replace("old", "new"))\n',
        'p = src / "setup.py"\ntext = p.read_text()\ntext = text.replace("old", "new")\np.write_text(text)\n',
        'with open(src / "setup.py") as f:\n    text = f.read().replace("old", "new")\nwith open(out, "w") as f:\n'
        "    f.write(text)\n",
        'text = open(f"{src}/setup.py").read()\nopen("x", "w").write(text.replace("old", "new"))\n',
        'OLD = "o" + "ld"\n(src / "setup.py").write_text((src / "setup.py").read_text().replace(OLD, new))\n',
        'X = "l"\nt = (src / "setup.py").read_text()\nout.write_text(t.replace(f"o{X}d", new))\n',
    ],
)
def test_replace(source: str) -> None:
    ((_, kind, pattern, paths),) = told(source)
    assert (kind, pattern, paths) == ("python-replace", "old", ["setup.py"])


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        ('re.sub(r"a+b", "c", t)', "a+b"),
        ('re.sub(r"^a$", "c", t, flags=re.M)', "^a$"),
        ('re.sub(r"(?:a|b)(?P<x>c)", r"\\1", t, 1, re.S | re.I)', "(?:a|b)(?P<x>c)"),
        ('re.sub(r"a$", "c", t)', "?a$"),
        ('re.sub(r"(?<=a)b", "c", t)', "?(?<=a)b"),
        ('re.sub(r"(a)\\1", "c", t)', r"?(a)\1"),
        ('re.sub(PATTERN, "c", t)', "?..."),
        ('re.sub(r"a", "c", t, flags=FLAGS)', "?a"),
        ('re.sub(r"a", "c", t, flags=re.VERBOSE)', "?a"),
        ('t.replace(name, "c")', "?..."),
        ('t.replace(f"{name}.x", "c")', "?....x"),
    ],
)
def test_what_can_be_told(call: str, pattern: str) -> None:
    source = f'p = src / "a.py"\nt = p.read_text()\nt = {call}\np.write_text(t)\n'
    ((line, _, found, paths),) = told(source)
    assert (line, found, paths) == (3, pattern, ["a.py"])


@pytest.mark.parametrize(
    "source",
    [
        'text = (src / "a.py").read_text().replace("a", "b")\n',
        'text = mine.read_text().replace("a", "b")\nmine.write_text(text)\n',
        'text = (src / "a.py").read_text()\ntext = "x"\nout.write_text(text.replace("a", "b"))\n',
        'text = (src / "a.py").read_text()\nout.write_text(text)\n',
        "x = (",
        'out.write_text("a".replace("a", "b"))\n',
    ],
)
def test_what_is_no_edit(source: str) -> None:
    assert told(source) == []


def test_a_value_that_is_not_the_only_one_is_not_known() -> None:
    source = 't = (src / "a.py").read_text()\nfor old, new in PAIRS:\n    t = t.replace(old, new)\nout.write_text(t)\n'
    assert told(source) == [(3, "python-replace", "?...", ["a.py"])]
    source = 'OLD = "a"\nOLD = "b"\nt = (src / "a.py").read_text()\nout.write_text(t.replace(OLD, ""))\n'
    assert told(source) == [(4, "python-replace", "?...", ["a.py"])]
    source = 'OLD = "a"\ndef f(OLD):\n    t = (src / "a.py").read_text()\n    out.write_text(t.replace(OLD, ""))\n'
    assert told(source) == [(4, "python-replace", "?...", ["a.py"])]


def test_what_they_are_in_a_tree() -> None:
    source = 'p = src / "a.py"\np.write_text(p.read_text().replace("a\\nb", "a\\nc"))\n'
    assert states({"a.py": "a\r\nb\r\n"}, FILE, source) == [(2, "a.py", "matches", 1)]
    assert states({"a.py": "a b"}, FILE, source) == [(2, "a.py", "missing", 0)]
    source = 'p = src / "a.py"\np.write_text(re.sub(r"\\w+x", "y", p.read_text()))\n'
    assert states({"a.py": "ax"}, FILE, source) == [(2, "a.py", "matches", 1)]
    assert states({"a.py": "éx"}, FILE, source) == [(2, "a.py", "unknown", None)]


ATOMS = ["a", "b", "ab", ".", r"\.", "[ab]", "[^a]", "[]a]", r"[\w-]", "(a)", "(?:b|c)", "a*", "b+?", "c{1,2}", "^",
         "$", "|", r"\d", r"\s", r"\b", "{", "é", r"\n", "(?P<x>a)", r"\A", "[a&&b]", "x*"]  # fmt: skip


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of `&&` in brackets
@given(
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4),
    st.sets(st.sampled_from(["multiline", "dot_all", "ignore_case"])),
    st.text("abbAc.x-1 {é\n", max_size=12),
)
def test_python_itself_finds_the_same(atoms: list[str], flags: set[str], text: str) -> None:
    pattern = "".join(atoms)
    expression = _expression(pattern, frozenset(flags))
    classes = re.search(r"\\[dsbw]", pattern) or "ignore_case" in flags
    assume(expression is not None and (text.isascii() or not classes))
    ways = {"multiline": re.M, "dot_all": re.S, "ignore_case": re.I}
    try:
        compiled = re.compile(pattern, sum(ways[flag] for flag in flags))
    except re.error:
        return  # it fails where it is run
    found = [m.span() for m in expression.finditer(text.encode())]
    spans = [tuple(len(text.encode()[:at].decode()) for at in span) for span in found if span[0] < span[1]]
    assert spans == [m.span() for m in compiled.finditer(text) if m[0]]
    assert bool(found) == bool(compiled.search(text))


@given(st.text('src/"a.py".read_text()replace,=\n write:fordefin', max_size=60))
def test_no_file_crashes_it(source: str) -> None:
    edits(FILE, 'p = src / "a"\nt = p.read_text()\nt = t.replace("a", "b")\n' + source)
