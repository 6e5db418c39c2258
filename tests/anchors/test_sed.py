from __future__ import annotations

import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pinctl.anchors.sed import Command, read

GNU = b"GNU" in subprocess.run(["sed", "--version"], capture_output=True, check=False).stdout


def run(script: str, text: str, *, extended: bool = False) -> tuple[list[int], bytes | None]:
    """How often each command of a script finds something, and the text behind them."""
    commands = read(script, extended=extended)
    assert commands is not None
    now: bytes | None = text.encode()
    counts = []
    for command in commands:
        assert now is not None
        counts.append(command.count(now))
        now = command.apply(now)
    return counts, now


@pytest.mark.parametrize(
    ("script", "text", "count", "after"),
    [
        ("s/17/20/", "c++17 17\nc++17\n", 2, "c++20 17\nc++20\n"),
        ("s/17/20/g", "c++17 17\nc++17", 3, "c++20 20\nc++20"),
        ("s/17/20/2", "c++17 17\nc++17\n", 1, "c++17 20\nc++17\n"),
        ("s|a/b|&/c|", "x a/b\n", 1, "x a/b/c\n"),
        ("s/a\\/b/\\/\\&/", "a/b\n", 1, "/&\n"),
        (r"s/\(a\)\(b*\)/\2\1/", "abb\n", 1, "bba\n"),
        ("s/A/x/I", "a\n", 1, "x\n"),
        ("s/^$/x/", "\na\n", 1, "x\na\n"),
        ("s/b*/X/g", "abc\n", 3, "XaXcX\n"),
        ("/two/s/o/0/", "one\ntwo\n", 1, "one\ntw0\n"),
        ("2s/o/0/", "one\ntwo\n", 1, "one\ntw0\n"),
        ("2!s/o/0/", "one\ntwo\n", 1, "0ne\ntwo\n"),
        ("$s/o/0/", "one\ntwo\n", 1, "one\ntw0\n"),
        ("/^name/,/^$/s/x/y/", "x\nname x\nx\n\nx\n", 2, "x\nname y\ny\n\nx\n"),
        ("0,/x/s//y/", "x\nx\n", 1, "y\nx\n"),
        ("/x/,2s/$/!/", "a\nb\nx\nx\n", 2, "a\nb\nx!\nx!\n"),
        (r"\,a/b,d", "a/b\nc\n", 1, "c\n"),
        ("/b/d", "a\nb\nb\n", 2, "a\n"),
        ("1i// first", "a\n", 1, "// first\na\n"),
        ("1i\\\n// a\\\n  // b", "a\n", 1, "// a\n  // b\na\n"),
        ("/a/a\\    b", "a\n", 1, "a\n    b\n"),
        ("/a/a b", "a", 1, "a\nb\n"),
        (r"s/a/1\n2/", "a\n", 1, "1\n2\n"),
    ],
)
def test_what_a_command_finds_and_makes(script: str, text: str, count: int, after: str) -> None:
    assert run(script, text) == ([count], after.encode())


def test_commands_one_after_the_other() -> None:
    assert run("s/a/b/; s/b/c/g\n/c/d", "a\nb\nx\n") == ([1, 2, 2], b"x\n")
    assert run("s/(a|b)+/[\\1]/", "xabab\n", extended=True) == ([1], b"x[b]\n")


def test_lines_that_are_changed() -> None:
    (command,) = read("/a/c\\b", extended=False) or [Command("", "")]
    assert (command.count(b"a\nb\na"), command.apply(b"a\n"), command.new) == (2, None, b"b")


@pytest.mark.parametrize(
    "script",
    [
        "y/a/b/", "N;s/a/b/", "/a/{s/b/c/}", "/a/,+2d", "1~2d", "s/a/b/e", "s/a/b/w out", "s/a/b/p", "s/a/b/m", "s/a",
        r"s/a/b\nc/;s/x/y/",
        "s/a/b",
        r"s/\(a\)\1/b/", r"s/\<a/b/", "s/[[.a.]]/b/", r"s/\x41/b/", "s|a\\|b|c|", "s/a\0/b/", "p", "s//b/", "s/a**/b/",
        "q",
        "1i\\\nx\n3d", r"s/a\{1001\}/b/", "#n",
    ],
)  # fmt: skip
def test_what_cannot_be_told(script: str) -> None:
    assert read(script, extended=False) is None


def test_what_it_writes_is_known_of_plain_text_alone() -> None:
    def new(script: str) -> bytes | None:
        (command,) = read(script, extended=False) or [Command("", "")]
        return command.new

    assert new("s/a/plain \\& text/") == b"plain & text"
    assert new("s/a/& more/") is None
    assert new("s/a/${x\0}/") is None
    assert new(r"s/a/\Ub/") is None
    assert new("1i text") == b"text"
    assert new("1i te\0xt") is None
    assert new("/a/d") is None


BASIC = ["a", "b", "c", "ab", ".", "x", r"\.", "[ab]", "[^a]", "[]a-]", "[[:digit:]]", r"\(a\)", r"\(b\|c\)", "a*",
         r"\+", "^", "$", r"b\{1,2\}", "*", "-", "+", "?", "(", "|", ")", "{", "}", r"\?", r"\/", "é", r"\n", r"\w",
         r"\s"]  # fmt: skip
EXTENDED = [*BASIC, "(a)", "(b|c)+", "a?", "x{2}", r"\(", r"\|"]
ADDRESSES = ["", "", "/a/", "2", "$", "1,2", "/b/,/c/", "0,/a/", "2!", "/a/,2", "2,/a/", "1,$", "/a/!"]
TEXTS = st.lists(st.text("aabbc.x-+?(|*A{}1 \\", max_size=6), min_size=1, max_size=5)


NEW = st.sampled_from(["", "X", "&&", "\\1", "Y\\nZ", "a\\&"])
FLAGS = st.sampled_from(["", "g", "2", "I", "gI"])


@pytest.mark.skipif(not GNU, reason="the sed here is not GNU's")
@settings(max_examples=120)
@given(st.data(), st.booleans(), NEW, FLAGS, st.sampled_from(ADDRESSES), TEXTS)
def test_sed_itself_makes_the_same(
    data: st.DataObject, extended: bool, new: str, flags: str, address: str, lines: list[str]
) -> None:
    pattern = "".join(data.draw(st.lists(st.sampled_from(EXTENDED if extended else BASIC), min_size=1, max_size=4)))
    command = data.draw(st.sampled_from([f"s/{pattern}/{new}/{flags}"] * 4 + ["d", "i\\\nQQ", "a QQ"]))
    commands = read(address + command, extended=extended)
    assume(commands is not None and (commands[0].template is not None or commands[0].name != "s"))
    text = "".join(f"{line}\n" for line in lines)
    argv = ["sed", *(["-E"] if extended else []), "-e", address + command]
    made = subprocess.run(argv, input=text.encode(), capture_output=True, env={"LC_ALL": "C"}, check=True)
    assert run(address + command, text, extended=extended)[1] == made.stdout


@given(st.text("s/aadic\\\n;1,$!{}&gI[]()*#yp \0é", max_size=30))
def test_no_script_crashes_it(script: str) -> None:
    for command in read(script, extended=True) or ():
        assert command.count(b"a\nb\n") >= 0
        command.apply(b"a\nb\n")
