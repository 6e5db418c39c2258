import contextlib
import datetime
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pinctl
from pinctl.model import Manifest, Patch, Pin, SystemPackage, Variant
from pinctl.render import LONGEST_OUTPUT, LONGEST_RECIPE, RecipeError, context, main, plain, render

COMMIT = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
PIN = Pin(
    name="deepgemm",
    repo="https://h/x.git",
    commit=COMMIT,
    version="2.8.0",
    submodules=("a", "b"),
    facts={"min_cuda": "12.8", "since": datetime.date(2026, 1, 2)},
    patches=(Patch(file="p.patch"),),
    system_packages=(SystemPackage(name="libdw", managers={"apt": "libdw-dev"}),),
)
BLOB = Pin(name="blob", url="https://h/{version}.tgz", sha256="0" * 64, version="1.2")
MANIFEST = Manifest(
    path="pins.toml",
    text="",
    pins={"deepgemm": PIN, "blob": BLOB},
    variants={"cu13": Variant(name="cu13", cuda="13.0", python=("3.12",))},
)


def test_the_context_is_plain_data() -> None:
    seen: Any = context(PIN, MANIFEST, {"form": "git", "n": 2})
    assert json.loads(json.dumps(seen)) == seen
    assert seen["pin"]["submodules"] == ["a", "b"]
    assert seen["pin"]["include_dirs"] is None
    assert seen["pin"]["facts"] == {"min_cuda": "12.8", "since": "2026-01-02"}
    assert seen["pin"]["patches"][0]["file"] == "p.patch"
    assert seen["pin"]["system_packages"][0]["managers"] == {"apt": "libdw-dev"}
    assert seen["pins"]["blob"]["archive"] == {"url": "https://h/1.2.tgz", "sha256": "0" * 64}
    assert seen["variants"]["cu13"]["cuda"] == "13.0"
    assert seen["options"] == {"form": "git", "n": 2}
    assert "sites" not in seen["pin"]
    assert context(None, MANIFEST)["pin"] is None


@pytest.mark.parametrize(("file", "root"), [("", ""), ("a.cmake", ""), ("cmake/a", "../"), ("a/b/c", "../../")])
def test_the_way_to_the_root(file: str, root: str) -> None:
    assert context(PIN, MANIFEST, file=file)["root"] == root


def test_options_are_templates() -> None:
    args = {"REF": "{commit}", "V": "v{version}", "C": "{variants.cu13.cuda}"}
    assert context(PIN, MANIFEST, {"args": args, "list": "{submodules}", "brace": "{{"})["options"] == {
        "args": {"REF": COMMIT, "V": "v2.8.0", "C": "13.0"},
        "list": ["a", "b"],
        "brace": "{",
    }


@pytest.mark.parametrize(
    ("option", "message"),
    [("{no}", "options.x: there is no fact"), ("{", "options.x: "), ("{git}", "several parts"), ("a\nb", "control")],
)
def test_options_that_say_nothing(option: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        context(PIN, MANIFEST, {"x": option})


def test_an_unresolved_fact_is_no_option() -> None:
    pin = Pin(name="x", repo="https://h/x", unresolved="ad1f172")
    with pytest.raises(RecipeError, match="is unresolved; write its full value"):
        context(pin, Manifest(path="", text="", pins={"x": pin}), {"ref": "{commit}"})


@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "\0", "\x1b[31m", "\x85", "\u2028", "\u202e", "\x7f", "\ud800"])
def test_control_characters_are_refused_before_rendering(bad: str) -> None:
    pin = Pin(name="x", repo="https://h/x", facts={"deep": {"list": ["fine", bad]}})
    with pytest.raises(RecipeError, match=r"pins\.x\.facts\.deep\.list\[1\] holds a control character"):
        context(pin, Manifest(path="", text="", pins={"x": pin}))
    with pytest.raises(RecipeError, match="control character"):
        render("{{ x }}", {"x": bad})
    with pytest.raises(RecipeError, match="control character"):
        render("x", {"x": {bad: 1}})


def test_objects_and_endless_data_are_refused() -> None:
    with pytest.raises(RecipeError, match=r"context\.path is no plain data"):
        render("{{ path.parent }}", {"path": PurePosixPath("/etc")})
    with pytest.raises(RecipeError, match="is no plain data"):
        plain(Pin)
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(RecipeError, match="nested too deep"):
        plain(endless)


def test_it_renders_and_keeps_line_ends_and_braces() -> None:
    recipe = "{% for x in xs %}\n  {{ x }}\r\n{% endfor %}\nend\n"
    assert render(recipe, {"xs": ["{{ 1 }}", "é"]}) == "  {{ 1 }}\n  é\nend\n"
    assert render("no newline", {}) == "no newline"


@pytest.mark.parametrize(
    ("recipe", "message", "line"),
    [
        ("a\n{{ nothing }}", "'nothing' is undefined", 2),
        ("{{ d.nothing }}", "no attribute 'nothing'", 1),
        ("a\n\n{% if %}", "Expected an expression", 3),
        ("{% for x in y %}", "Unexpected end of template", 1),
        ("\n{{ 1 // 0 }}", "ZeroDivisionError", 2),
        ("\n{{ 'a' | commit }}", "`a` is no full commit id", 2),
        ("{{ '\\ud800' }}", "UnicodeEncodeError", None),
        ("{{ 'stop here' | fail }}", "stop here", 1),
        ("{% include 'other' %}", "other", 1),
        ("{% include 'recipe' %}", "RecursionError", 1),
        ("{{ range(3) }}", "'range' is undefined", 1),
        ("{{ cycler.__init__.__globals__ }}", "unsafe", 1),
        ("{{ lipsum.__globals__['os'].popen('id').read() }}", "unsafe|undefined", 1),
        ("{{ lipsum() }}", "'lipsum' is undefined", 1),
        ("{{ ''.__class__.__mro__ }}", "unsafe", 1),
        ("{{ d.update({'a': 1}) }}", "immutable|unsafe|not safely callable", 1),
        ("{{ xs.append(1) }}", "immutable|unsafe|not safely callable", 1),
        ("{{ '{0.__class__}'.format(d) }}", "unsafe", 1),
        ("{{ d | attr('__class__') }}", "unsafe", 1),
        ("{{ self.__init__.__globals__ }}", "unsafe|undefined", 1),
    ],
)
def test_what_a_recipe_does_wrong(recipe: str, message: str, line: int | None) -> None:
    with pytest.raises(RecipeError, match=message) as caught:
        render(recipe, {"d": {}, "xs": []})
    assert caught.value.line == line


def test_bounds() -> None:
    assert len(render("x" * LONGEST_RECIPE, {})) == LONGEST_RECIPE
    with pytest.raises(RecipeError, match="at most 64 KiB"):
        render("x" * LONGEST_RECIPE + "x", {})
    loop = "{% for a in xs %}{% for b in xs %}0123456789{% endfor %}{% endfor %}"
    with pytest.raises(RecipeError, match=f"at most {LONGEST_OUTPUT // 1024} KiB"):
        render(loop, {"xs": list(range(1000))})


@given(st.text(max_size=40))
def test_any_text_renders_or_is_refused(text: str) -> None:
    with contextlib.suppress(RecipeError):
        render(text, {})


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers() | st.lists(st.text(max_size=5))))
def test_plain_data_stays_what_it_is(data: dict[str, object]) -> None:
    with contextlib.suppress(RecipeError):
        assert plain(data) == data


def child(recipe: str, data: object, seconds: int = 1) -> subprocess.CompletedProcess[bytes]:
    """The child process as it is meant to run: with limits of memory and of processor time."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    request = json.dumps({"template": recipe, "context": data}).encode()
    environment = {"PYTHONPATH": str(Path(pinctl.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-P", "-m", "pinctl.render"],
        input=request,
        env=environment,
        cwd="/",
        capture_output=True,
        preexec_fn=limits,
        timeout=30,
    )


@pytest.mark.slow
def test_the_child_answers() -> None:
    assert json.loads(child("{{ x }}é", {"x": "1"}).stdout) == {"text": "1é"}
    assert json.loads(child("\n{{ y }}", {}).stdout) == {"message": "'y' is undefined", "line": 2}
    memory = json.loads(child("{{ 'x'.center(10**10) }}", {}).stdout)
    assert memory == {"message": "the recipe needs too much memory", "line": None}
    loop = "{% for a in xs %}" * 8 + "{% endfor %}" * 8
    assert child(loop, {"xs": list(range(200))}).returncode < 0


def test_the_child_refuses_another_request() -> None:
    answer = io.StringIO()
    main(io.StringIO('{"template": 1}'), answer)
    assert json.loads(answer.getvalue()) == {"message": "a request holds `template` and `context`", "line": None}


def test_jinja_is_loaded_only_to_render() -> None:
    code = "import sys, pinctl.render, pinctl.blocks; sys.exit('jinja2' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(Path(pinctl.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=env).returncode == 0
