from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pinctl.anchors.actions import Flags, compiled
from pinctl.anchors.cmake import _regex
from pinctl.anchors.patterns import LONGEST, of_cmake, of_sed


@pytest.mark.parametrize(
    ("pattern", "basic", "extended", "cmake"),
    [
        ("a.b*", "a.b*", "a.b*", "a.b*"),
        (r"\.cu$", r"\.cu\z", r"\.cu\z", r"\.cu\z"),
        (r"a\(b\|c\)\+", "a(b|c)+", r"a\(b\|c\)\+", r"a\(b\|c\)\+"),
        ("a(b|c)+", r"a\(b\|c\)\+", "a(b|c)+", "a(b|c)+"),
        ("*a", r"\*a", None, None),
        ("a^b$c", r"a\^b\$c", r"a\Ab\zc", r"a\Ab\zc"),
        ("a{2}", r"a\{2\}", "a{2}", r"a\{2\}"),
        (r"a\{,3\}", "a{0,3}", r"a\{\,3\}", r"a\{\,3\}"),
        ("[a-c]", "[a-c]", "[a-c]", "[a-c]"),
        (r"[^]x\-]", r"[^\x5dx\x5c\x2d]", r"[^\x5dx\x5c\x2d]", r"[^\x5dx\x5c\x2d]"),
        ("[[:alpha:]_]", r"[[:alpha:]\x5f]", r"[[:alpha:]\x5f]", r"[\x5b\x3aalpha\x3a]_\]"),
        (r"\n[\n]", "\n[\\x0a]", "\n[\\x0a]", r"n[\x5cn]"),
        (r"\(a\)\1", None, None, r"\(a\)1"),
        (r"\<a", None, None, r"\<a"),
        ("a**", None, None, None),
        ("[a-c-e]", None, None, None),
        ("[", None, None, None),
        ("[é]", None, None, None),
        ("é*", None, None, None),
        ("a" * (LONGEST + 1), None, None, None),
        ("a\\", None, None, None),
        (r"a\{x\}", None, r"a\{x\}", r"a\{x\}"),
    ],
)
def test_translations(pattern: str, basic: str | None, extended: str | None, cmake: str | None) -> None:
    assert of_sed(pattern, extended=False) == basic
    assert of_sed(pattern, extended=True) == extended
    assert of_cmake(pattern) == cmake


@given(st.text("ab.*[]^$(){}|+?\\-:n<1é\n", max_size=12))
def test_a_translation_is_a_pattern_of_re2(pattern: str) -> None:
    for meant in (of_sed(pattern, extended=False), of_sed(pattern, extended=True), of_cmake(pattern)):
        if meant is not None:
            compiled(meant, Flags())  # which may be None, and raises nothing


@given(st.text(max_size=12))
def test_a_plain_text_means_itself(text: str) -> None:
    basic = of_sed(re.sub(r"[\\.*\[\]^$]", r"\\\g<0>", text), extended=False)
    cmake = of_cmake(re.sub(r"[\\.*\[\]^$()|+?]", r"\\\g<0>", text))
    for meant in (basic, cmake):
        assert meant is not None
        expression = compiled(meant, Flags())
        assert expression.fullmatch(text.encode()) is not None


ATOMS = ["a", "b", "ab", ".", r"\.", "[ab]", "[^a]", "[]a]", "[a-c]", "(a)", "(b|c)", "a*", "b+", "c?", "^", "$", "|",
         "{", "é", r"\|", r"\[", "[[:x:]", "-"]  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4), st.sampled_from(["", "X", r"<\0>", r"\1", r"a\n"]),
       st.text("abbc.x-|[{é\n;", max_size=12))  # fmt: skip
def test_cmake_itself_makes_the_same(
    tmp_path_factory: pytest.TempPathFactory, atoms: list[str], new: str, text: str
) -> None:
    action = _regex("".join(atoms), new)
    assume(action is not None and action.template is not None and text)
    folder = tmp_path_factory.mktemp("cmake")
    for name, content in (("old", "".join(atoms)), ("new", new), ("text", text)):
        (folder / name).write_bytes(content.encode())
    (folder / "run.cmake").write_text(SCRIPT)
    done = subprocess.run(["cmake", "-P", "run.cmake"], cwd=folder, capture_output=True, check=False)
    if done.returncode:  # what it takes for no pattern, or for one that matches nothing
        assert b"REGEX" in done.stderr
    else:
        assert action is not None
        assert action.apply(text.encode()) == (folder / "made").read_bytes()


SCRIPT = """\
foreach(name old new text)
  file(READ ${name} ${name})
endforeach()
string(REGEX REPLACE "${old}" "${new}" made "${text}")
file(WRITE made "${made}")
"""


def test_the_script_of_the_test_works(tmp_path: Path) -> None:
    for name, content in (("old", "a"), ("new", "b"), ("text", "a;a")):
        (tmp_path / name).write_text(content)
    (tmp_path / "run.cmake").write_text(SCRIPT)
    subprocess.run(["cmake", "-P", "run.cmake"], cwd=tmp_path, check=True)
    assert (tmp_path / "made").read_text() == "b;b"
