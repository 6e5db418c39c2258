"""Dockerfile sites: what is a slot, what a write changes, and what BuildKit and a shell make of it.

There is no Docker here: `words`, `meaning` and `joined` below follow BuildKit's rules character by character, in
another way than the reader does.
"""

import shutil
import subprocess
import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinctl.plan import apply
from pinctl.sites import dockerfile, find, shell_words
from pinctl.sites.base import BadSelector, Slot, Unparsable, Unwritable, Value, write

SHELLS = {name: path for name in ("bash", "sh") if (path := shutil.which(name))}


def read(source: str | bytes) -> list[tuple[str, Value]]:
    """The canonical selector and value of every slot."""
    document = dockerfile.parse(source if isinstance(source, bytes) else source.encode())
    return [(slot.selector, slot.value) for slot in document.slots()]


def one(source: bytes, selector: str) -> Slot:
    """The one slot that `selector` names."""
    [[slot]] = find(dockerfile.parse(source), selector)
    return slot


def written(source: bytes, selector: str, value: Value) -> bytes:
    """The file with the slot holding `value`, which is read back from it."""
    after = write(dockerfile.parse(source), one(source, selector), value)
    assert one(after, selector).value == value
    return after


def run(script: str, program: str = "bash") -> str:
    """What a shell script prints; no program is in its reach."""
    done = subprocess.run(
        [SHELLS[program]], input=script.encode(), capture_output=True, check=True, timeout=20, env={"PATH": "/nowhere"}
    )
    assert not done.stderr
    return done.stdout.decode()


def joined(source: str, escape: str = "\\") -> list[str]:
    """The instructions of a file without here-documents."""
    done, line, begun = [], "", False
    for raw in source.replace("\r\n", "\n").split("\n"):
        if not raw.strip() or raw.strip().startswith("#"):
            continue
        bare = raw.rstrip(" \t")
        goes_on = bare[-1:] == escape and bare[-2:-1] != escape
        line, begun = line + (bare[:-1] if goes_on else raw), goes_on
        if not begun:
            done, line = [*done, line.strip()], ""
    return [*done, line.strip()] if begun else done


def words(line: str, escape: str = "\\") -> list[str]:
    """A line's words, quotes kept."""
    found, word, quote, at = [], "", "", 0
    while at < len(line):
        char = line[at]
        if not quote and char.isspace():
            found, word = [*found, word] if word else found, ""
        elif char == escape and quote != "'":
            word += line[at : at + 2]
            at += 1
        else:
            word += char
            quote = "" if char == quote else char if char in "'\"" and not quote else quote
        at += 1
    assert not quote
    return [*found, word] if word else found


def meaning(word: str, escape: str = "\\") -> str:
    """What a word says; what would be expanded shows as <name>."""
    said, at = "", 0
    while at < len(word):
        char = word[at]
        at += 1
        if char == "'":
            end = word.index("'", at)
            said, at = said + word[at:end], end + 1
        elif char == '"':
            while word[at] != '"':
                if word[at] == escape and word[at + 1] in ('"', "$", escape):
                    at += 1
                elif word[at] == "$":
                    said += "<expanded>"
                said, at = said + word[at], at + 1
            at += 1
        elif char == escape:
            said, at = said + word[at : at + 1], at + 1
        else:
            said += "<expanded>$" if char == "$" else char
    return said


@pytest.mark.parametrize(
    ("source", "slots"),
    [
        ("ARG A=1\nARG B\nARG C=\nARG D=''\n", [("ARG A", "1"), ("ARG C", ""), ("ARG D", "")]),
        ("arg A=1 B='x y' C D=\"$A\" E=z\n", [("ARG A", "1"), ("ARG B", "x y"), ("ARG E", "z")]),
        ("ARG A=${B}\nARG C=$B\nARG D=a$b\nARG E='$B'\nARG F=\\$B\n", [("ARG E", "$B"), ("ARG F", "$B")]),
        ('ARG A="6bbd260" # release\n', [("ARG A", "6bbd260")]),
        ("ENV A=1 B=a\\ b C=\"d e\"f 'D'=g\n", [("ENV A", "1"), ("ENV B", "a b"), ("ENV C", "d ef"), ("ENV D", "g")]),
        ("ENV A  1 2 = 3  \nENV B x\nENV C\n", [("ENV A", "1 2 = 3"), ("ENV B", "x")]),
        ('ENV A "x y" z\nENV B a\\ b\n', [("ENV A", "x y z"), ("ENV B", "a b")]),
        (
            "ENV A=1 \\\n    # comment\n\n    B=2 \\  \n  C=3\nENV D=4",
            [("ENV A", "1"), ("ENV B", "2"), ("ENV C", "3"), ("ENV D", "4")],
        ),
        ("ENV A=ab\\\ncd\n", [("ENV A", "abcd")]),
        ("ENV A=x\\\\\nENV B=2\n", [("ENV A", "x\\"), ("ENV B", "2")]),
        ('ENV A="x\\y\\"z\\\\"\n', [("ENV A", 'x\\y"z\\')]),
        ("ENV A='x\\'\n", [("ENV A", "x\\")]),
        ("ENV A='open\nENV B=2\n", [("ENV B", "2")]),
        ("ENV A=a\u00a0b\n", []),
        ('LABEL a.b="c d" "e f"=g h=$i\n', [("LABEL a.b", "c d"), ("LABEL e f", "g")]),
        ("# escape=`\nENV A=C:\\x B=a` b `\n  C=1\n", [("ENV A", "C:\\x"), ("ENV B", "a b"), ("ENV C", "1")]),
        ("# syntax=docker/dockerfile:1\n# escape = `\nARG A=1 `\n  B=2\n", [("ARG A", "1"), ("ARG B", "2")]),
        ("# a comment\n# escape=`\nARG A=1 \\\n  B=2\n", [("ARG A", "1"), ("ARG B", "2")]),
        ("FROM ubuntu:22.04\n", [("FROM", "ubuntu:22.04")]),
        (
            "FROM --platform=$P a/b:1@sha256:0f AS x\nFROM x AS y\nFROM X\nFROM scratch\nFROM ${I}\n",
            [("FROM", "a/b:1@sha256:0f")],
        ),
        (
            "FROM a:1 AS build\nCOPY --link --from=ghcr.io/x/uv:0.5 /uv /b/\nCOPY --from=build a b\nCOPY --from=0 a b\n"
            "COPY --chown=a:b --from=y/z@sha256:0f a b\nCOPY a --from=x/q:1 b\nCOPY --from=x/${V} a b\n"
            "COPY --from=ctx a b\n",
            [("FROM", "a:1"), ("COPY --from uv", "ghcr.io/x/uv:0.5"), ("COPY --from z", "y/z@sha256:0f")],
        ),
        (
            "COPY \\\n  # why\n  --from=x/uv:0.5 \\\n  /uv /bin/\nENV A=1\n",
            [("COPY --from uv", "x/uv:0.5"), ("ENV A", "1")],
        ),
        (
            "ARG A=1\r\nFROM x:1\r\nENV B=2 \\\r\n  C=3\r\n",
            [("ARG A", "1"), ("FROM", "x:1"), ("ENV B", "2"), ("ENV C", "3")],
        ),
        ("\ufeffARG A=1\n", [("ARG A", "1")]),
        ("  ARG A=1\n\tENV\tB=2\n", [("ARG A", "1"), ("ENV B", "2")]),
        ("ONBUILD ENV A=1\nonbuild RUN X=2\n", [("ENV A", "1"), ("X", "2")]),
        ("ENVY A=1\nARG\nFROM\nRUN\n", []),
        ("# RUN X=1\nRUN # X=2\n", []),
        ("RUN X=1 && \\\n # Y=2\n Z=3\n", [("X", "1"), ("Z", "3")]),
        ("RUN X=a\\\nb\n", [("X", "ab")]),
        ("RUN X=1 # rest \\\n Y=2\nRUN Z=3\n", [("X", "1"), ("Z", "3")]),
        ('RUN ["pip", "install", "x==1"]\nRUN [ -d x ] && Y=1\n', [("Y", "1")]),
        ("RUN --mount=type=cache,target=/x --network='none' X=1\n", [("X", "1")]),
        ("RUN if a; then if b; then X=1; fi \\\n  fi\n", [("X", "1")]),
        ("RUN <<EOF\nX=1\n# ENV Y=2\nENV Z=3\nEOF\nENV W=4\n", [("X", "1"), ("ENV 1", "Z=3"), ("ENV W", "4")]),
        ("RUN bash -e <<-'EOF'\n\tX=1\n\tEOF\nENV W=4\n", [("X", "1"), ("ENV W", "4")]),
        ("RUN <<EOF\n#!/usr/bin/env python3\nX=1\nEOF\nRUN <<EOF\n#!/bin/sh\nY=1\nEOF\n", [("Y", "1")]),
        ("RUN python3 <<EOF\nX=1\nEOF\nRUN Z=1\n", [("Z", "1")]),
        ("RUN cat <<EOF >/f && Y=1\nX=1\nEOF\n", [("Y", "1")]),
        ("COPY <<A <<B /x\nENV X=1\nA\nENV Y=2\nB\nENV Z=3\n", [("ENV Z", "3")]),
        ("RUN X=$((1<<2))\nENV A=1\n", [("ENV A", "1")]),
        ("RUN <<EOF\nENV A=1\n", [("ENV A", "1")]),
        ("RUN cat <<< word\nENV A=1\n", [("ENV A", "1")]),
        ("ENV A=1 \\", [("ENV A", "1")]),
        ("ENV é='ü' B=ö\n", [("ENV é", "ü"), ("ENV B", "ö")]),
    ],
)
def test_literals(source: str, slots: list[tuple[str, Value]]) -> None:
    found = read(source)
    assert [slot for slot in found if not slot[0].endswith((" 1", " 2"))] == [
        s for s in slots if not s[0].endswith(" 1")
    ]


STAGES = b"""\
ARG VER=1
FROM img:1 AS Build
ARG VER=2
RUN dnf install -y a && git checkout ${REF}
FROM img:2
ARG VER=3
ENV REF=abc
RUN dnf install -y b
"""


@pytest.mark.parametrize(
    ("selector", "values"),
    [
        ("ARG VER", ["1", "2", "3"]),
        ("global:ARG VER", ["1"]),
        ("build:ARG VER", ["2"]),
        ("Build:ARG VER", ["2"]),
        ("0:ARG VER", ["2"]),
        ("1:ARG VER", ["3"]),
        ("FROM", ["img:1", "img:2"]),
        ("FROM Build", ["img:1"]),
        ("1:FROM", ["img:2"]),
        ("build:dnf install", [("a",)]),
        ("dnf install(b)", [("b",)]),
        ("1:dnf install(b)", [("b",)]),
        ("0:dnf install(b)", []),
        ("build:git checkout", []),
        ("1:ENV REF", ["abc"]),
        ("ARG VER#2", ["2"]),
        ("other:ARG VER", []),
        ("2:NAME:-", []),
    ],
)
def test_stages(selector: str, values: list[Value]) -> None:
    assert [slot.value for [slot] in find(dockerfile.parse(STAGES), selector)] == values


@pytest.mark.parametrize(
    ("source", "selector", "values"),
    [
        ("ARG R=abc\nFROM x\nARG R\nRUN git checkout ${R}\n", "git checkout", ["abc"]),
        ("FROM x\nARG R=a\nFROM y\nARG R=b\nRUN git checkout ${R}\n", "git checkout", ["b"]),
        ("FROM x\nARG R=a\nFROM y\nARG R=b\nFROM z\nRUN git checkout ${R}\n", "git checkout", ["a", "b"]),
        ('ARG R=abc\nENV S=${R}\nRUN git clone -b "$S" https://h/x\n', "git clone --branch", ["abc"]),
        ("ARG R=abc\nRUN git checkout $R\nRUN R=x make\n", "git checkout", ["abc"]),
        ("ARG R=abc\nRUN R=x; make\nRUN git checkout $R\n", "git checkout", []),
        ("ARG R=abc\nRUN R+=x; git checkout $R\n", "git checkout", []),
        ("ARG R=abc\nRUN R=x; \\\n  git checkout $R\n", "git checkout", ["abc", "x"]),
        ("RUN apt-get install a \\\n # c\n  b=$B\n", "apt-get install", [("a", "b=$B")]),
        ("ARG R=abc\nRUN S=${R:-x}; git checkout $S\n", "git checkout", ["abc", "x"]),
        ("ARG V=1.2\nRUN pip install x==${V} 'y[a]==3'\n", "pip install x", ["1.2"]),
        ("ARG V=1.2\nRUN pip install x==${V} 'y[a]==3'\n", "requirement Y", ["3"]),
        ("RUN do_build 1 x\n", "do_build 2", ["x"]),
        ("RUN X=${X:-1}\n", "X:-", ["1"]),
        ("RUN X=(a b)\n", "X[]", [("a", "b")]),
    ],
)
def test_shell_in_run(source: str, selector: str, values: list[Value]) -> None:
    assert [slot.value for [slot] in find(dockerfile.parse(source.encode()), selector)] == values


@pytest.mark.parametrize("selector", ["", "COPY x", "x:", "FetchContent(x)", "build:/a/b", "set(X)"])
def test_bad_selectors(selector: str) -> None:
    with pytest.raises(BadSelector):
        find(dockerfile.parse(STAGES), selector)


LIST = b"""\
FROM x
RUN dnf install -y \\
    a \\
    # needed by c
    b \\

    c && \\
    dnf clean all
ENV Y=1
"""


@pytest.mark.parametrize(
    ("before", "selector", "value", "after"),
    [
        (b"ARG A=1 # c\n", "ARG A", "2", b"ARG A=2 # c\n"),
        (b"ARG A=", "ARG A", "2", b"ARG A=2"),
        (b'ARG A="1"\r\nARG B=1\r\n', "ARG A", "2", b'ARG A="2"\r\nARG B=1\r\n'),
        (b"ARG A=1 B=2\n", "ARG A", "x y", b'ARG A="x y" B=2\n'),
        (b"ARG A=1\n", "ARG A", "${TOK}", b"ARG A='${TOK}'\n"),
        (b'ARG A="1"\n', "ARG A", "$x", b'ARG A="\\$x"\n'),
        (b"ARG A='1'\n", "ARG A", "it's", b'ARG A="it\'s"\n'),
        (b"ARG A=1\n", "ARG A", "", b'ARG A=""\n'),
        (b"ENV A one two\n", "ENV A", "three", b"ENV A three\n"),
        (b"ENV A=ab\\\ncd B=1\n", "ENV A", "x", b"ENV A=x B=1\n"),
        (b'# escape=`\nENV A="1"\n', "ENV A", 'a"$`\\', b'# escape=`\nENV A="a`"`$``\\"\n'),
        (b"FROM --platform=$P a:1 AS b\n", "FROM", "c/d:2@sha256:00", b"FROM --platform=$P c/d:2@sha256:00 AS b\n"),
        (b"RUN pip install 'x==1' \\\n  y==2\n", "pip install y", "3", b"RUN pip install 'x==1' \\\n  y==3\n"),
        (b"RUN <<EOF\npip install x==1\nEOF\n", "pip install x", "3", b"RUN <<EOF\npip install x==3\nEOF\n"),
        (b"RUN X=a\\\n  b Y=1\n", "X", "c", b"RUN X=c\\\n  b Y=1\n"),
        (b"RUN X=a\\\nb && Y=1\n", "X", "c", b"RUN X=c && Y=1\n"),
        (LIST, "dnf install", ("a", "b", "c", "d"), LIST.replace(b"    c &&", b"    c \\\n    d &&")),
        (LIST, "dnf install", ("a", "d", "b", "c"), LIST.replace(b"    a \\\n", b"    a \\\n    d \\\n")),
        (LIST, "dnf install", ("d", "a", "b", "c"), LIST.replace(b"    a \\\n", b"    d \\\n    a \\\n")),
        (LIST, "dnf install", ("a", "c"), LIST.replace(b"    b \\\n", b"")),
        (LIST, "dnf install", ("b", "c"), LIST.replace(b"    a \\\n", b"")),
        (LIST, "dnf install", ("a", "b"), LIST.replace(b" \\\n\n    c &&", b" &&")),
        (LIST, "dnf install", ("a",), LIST.replace(b"    b \\\n\n    c &&", b"    &&")),
        (LIST, "dnf install", ("c",), LIST.replace(b"    a \\\n", b"").replace(b"    b \\\n", b"")),
        (LIST, "dnf install", ("z",), LIST.replace(b" a \\", b" z \\").replace(b"    b \\\n\n    c &&", b"    &&")),
        (LIST, "dnf install", ("a", "x", "c"), LIST.replace(b"    b \\", b"    x \\")),
        (
            LIST.replace(b"\n", b"\r\n"),
            "dnf install",
            ("a", "c"),
            LIST.replace(b"    b \\\n", b"").replace(b"\n", b"\r\n"),
        ),
        (
            LIST.replace(b"\n", b"\r\n"),
            "dnf install",
            ("a", "b", "c", "d"),
            LIST.replace(b"    c &&", b"    c \\\n    d &&").replace(b"\n", b"\r\n"),
        ),
        (
            b"RUN apk add \\\n  a \\\n  # of b\n  b\nENV X=1\n",
            "apk add",
            ("a",),
            b"RUN apk add \\\n  a\n  # of b\nENV X=1\n",
        ),
        (
            b"RUN apk add \\\n  # of a\n  a b \\\n  && x\n",
            "apk add",
            ("b",),
            b"RUN apk add \\\n  # of a\n  b \\\n  && x\n",
        ),
        (
            b"RUN apk add \\\n  # of a\n  a \\\n  && x\n",
            "apk add",
            ("a", "b"),
            b"RUN apk add \\\n  # of a\n  a \\\n  b \\\n  && x\n",
        ),
        (
            b"RUN apk add a$V \\\n  # of b\n  b \\\n  c\n",
            "apk add",
            ("a$V", "c"),
            b"RUN apk add a$V \\\n  # of b\n  c\n",
        ),
        (
            b"# escape=`\nRUN apk add `\n  a `\n  # of b\n  b\n",
            "apk add",
            ("b",),
            b"# escape=`\nRUN apk add `\n  # of b\n  b\n",
        ),
        (b"# escape=`\nRUN apk add `\n  a\n", "apk add", ("a", "b"), b"# escape=`\nRUN apk add `\n  a `\n  b\n"),
    ],
)
def test_a_write_changes_nothing_else(before: bytes, selector: str, value: Value, after: bytes) -> None:
    assert write(dockerfile.parse(before), one(before, selector), value) == after


@pytest.mark.parametrize(
    ("source", "selector", "value"),
    [
        (b"ARG A=1\n", "ARG A", "1\nRUN id"),
        (b"ARG A=1\n", "ARG A", "1\r"),
        (b"ENV A=1\n", "ENV A", "\x85"),
        (b"FROM a\n", "FROM", "--volume=/:/host"),
        (b"FROM a\n", "FROM", "a AS b"),
        (b"FROM a\n", "FROM", "$X"),
        (b"FROM a\n", "FROM", "scratch"),
        (b"FROM a AS b\nFROM c AS d\n", "FROM d", "B"),
        (b"RUN X=1\n", "X", "x <<EOF"),
        (b"RUN X=1\n", "X", "1\nRUN id"),
        (b"RUN dnf install a\n", "dnf install", ("-y",)),
        (b"RUN dnf install a\n", "dnf install", ()),
        (b"RUN git checkout a\n", "git checkout", "-f"),
    ],
)
def test_refused(source: bytes, selector: str, value: Value) -> None:
    with pytest.raises(Unwritable):
        write(dockerfile.parse(source), one(source, selector), value)


def test_one_broken_run_does_not_spoil_the_others() -> None:
    document = dockerfile.parse(b"RUN X=1; )\nRUN Y=2\nENV Z=3\n")
    assert len(document.errors) == 1
    [(start, end)] = document.errors
    assert document.source[start:end] == b"X=1; )"
    assert [slot.selector for slot in document.slots()] == ["Y", "ENV Z"]


def test_the_comment_of_a_stage_is_no_part_of_its_image() -> None:
    assert read("FROM a:1 # c\n") == []  # BuildKit refuses it: FROM has one or three arguments


def test_a_byte_order_mark_stays() -> None:
    assert written(b"\xef\xbb\xbfARG A=1\n", "ARG A", "2") == b"\xef\xbb\xbfARG A=2\n"


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12) | st.text(
    "ab 1.$`'\"\\{}()~*?;&|<>!#=-", max_size=12
)
FRAMES = [
    ("ARG {}={}\n", "ARG X"),
    ("ARG B {}='{}' C=3\n", "ARG X"),
    ('ENV B=1 {}="{}" C=3\n', "ENV X"),
    ("ENV B=1 \\\n  # c\n  {}={} \\\n  C=3\n", "ENV X"),
    ("ENV {} {}\n", "ENV X"),
    ("LABEL B=1 {}=a'{}'\n", "LABEL X"),
    ("ENV {}=a\\\n{}\n", "ENV X"),
]
AROUND = st.lists(
    st.sampled_from(["# ENV X=no\n", "\n", "WORKDIR /é\n", "COPY <<E /x\nENV X=no\nE\n"]), max_size=3
).map("".join)


def as_buildkit(source: str, keyword: str, escape: str) -> list[tuple[str, str]]:
    """The names and values in the last instruction of that keyword."""
    line = [line for line in joined(source, escape) if line.startswith(keyword + " ")][-1].removeprefix(keyword).strip()
    if keyword == "ENV" and "=" not in words(line, escape)[0]:
        name, _, value = line.partition(" ")
        return [(name, meaning(value.strip(), escape))]
    pairs = [word.partition("=") for word in words(line, escape)]
    return [(name, meaning(value, escape)) for name, equals, value in pairs if equals]


@given(TEXTS, st.sampled_from(FRAMES), AROUND, AROUND, st.sampled_from(["\\", "`"]), st.sampled_from(["\n", "\r\n"]))
@example("${TOK}", FRAMES[0], "", "", "\\", "\n")
@example("a\\", FRAMES[1], "", "", "\\", "\n")
def test_buildkit_reads_what_was_written(
    value: str, frame: tuple[str, str], before: str, after: str, escape: str, eol: str
) -> None:
    head = f"# escape={escape}\n" + before
    text = (head + frame[0].format("X", "old").replace("\\", escape) + after + "FROM x\n").replace("\n", eol)
    source = text.encode()
    slot = one(source, frame[1])
    edits = dockerfile.parse(source).edits(slot, value)
    result = apply(source, edits)
    assert all((edit.start, edit.end) == (slot.start, slot.end) for edit in edits)
    assert one(result, frame[1]).value == value
    keyword = frame[1].partition(" ")[0]
    plain = [
        line for line in result.decode().split(after.replace("\n", eol) + "FROM x")[0].split(eol) if line != "ENV X=no"
    ]
    expected = [
        (name, said) for name, said in as_buildkit(text.replace("ENV X=no", "#"), keyword, escape) if name != "X"
    ]
    assert as_buildkit("\n".join(plain), keyword, escape) == sorted(
        [*expected, ("X", value)], key=lambda pair: "BXC".index(pair[0])
    )


RUNS = [
    ("RUN X={} && {}\n", "X"),
    ("RUN --mount=type=cache,target=/x \\\n  export X='{}' \\\n  # it's X=no\n  && {}\n", "X"),
    ('RUN X="${{X:-{}}}"; {}\n', "X"),
    ("RUN f() {{ X=$1; }}; f \\\n\n  {} && {}\n", "f 1"),
    ("RUN X=a\\\n{}; {}\n", "X"),
    ("RUN <<EOF\nX={}\n{}\nEOF\n", "X"),
    ("RUN sh -e <<-'EOF'\n\tX=\"{}\"\n\t{}\n\tEOF\n", "X"),
]


@pytest.mark.parametrize("program", sorted(SHELLS))
@pytest.mark.parametrize("frame", RUNS)
def test_a_shell_reads_what_was_written(frame: tuple[str, str], program: str) -> None:
    script, expected = "", []
    values = ["1.2", "a b", "$(exit 3)", "${TOK}", "`exit 3`", 'a"b', "a\\", "it's", "a;b", "a}b", "é", "#x", "&&", "~"]
    for value in values:
        source = ("FROM x\n" + frame[0].format("old", "printf '%s\\n' \"$X\"") + "ENV Z=1\n").encode()
        try:
            result = written(source, frame[1], value).decode()
        except Unwritable:
            continue
        expected.append(value)
        if "<<" in result:
            script += "".join(line.lstrip("\t") for line in result.splitlines(keepends=True)[2:-2])
        else:
            script += joined(result)[1].removeprefix("RUN ").removeprefix("--mount=type=cache,target=/x") + "\n"
        script += "unset X\n"
    assert len(expected) >= len(values) - 2
    assert run(script, program).splitlines() == expected


# Not `==`: as the last word of a command the grammar takes it for half a test, and the list is no slot.
WORDS = st.lists(
    TEXTS.filter(lambda v: v and not v.startswith("-") and "<<" not in v and v != "=="),
    min_size=1,
    max_size=6,
    unique=True,
)
GAPS = st.sampled_from([" ", " \\\n    ", "\\\n ", " \\\n    # it's (\n    ", " \\\n\n  # a\n\t# b \\\n  "])


@given(
    WORDS,
    WORDS,
    st.lists(GAPS, min_size=8, max_size=8),
    st.sampled_from(["", "-y", '"$N"', "-t x"]),
    st.sampled_from(["", " && :", "; :", " \\\n && :", " \\\n  # end\n && :"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_bash_installs_what_was_written(
    old: list[str], new: list[str], gaps: list[str], option: str, tail: str, eol: str
) -> None:
    quoted = [shell_words.quote(w, "bare").decode() for w in old]
    middle = len(quoted) // 2
    listed = [*quoted[:middle], *([option] if option else []), *quoted[middle:]]
    command = "apt-get install" + "".join(gap + word for gap, word in zip(gaps, listed, strict=False))
    text = (
        'FROM x\nRUN N=-n; apt-get() { for x in "$@"; do printf "%s\\n" "$x"; done; }; '
        + command
        + tail
        + "\nENV Z=1\n"
    )
    source = text.replace("\n", eol).encode()
    slot = one(source, "apt-get install")
    wanted = new
    if option == '"$N"':
        # It counts as an element, and is never moved or taken out.
        old, wanted = [*old[:middle], option, *old[middle:]], [option, *new]
    assert slot.value == tuple(old)
    try:
        result = written(source, "apt-get install", tuple(wanted)).decode()
    except Unwritable:
        assert option == '"$N"'
        return
    for comment in ("# it's (", "# a", "# b \\", "# end"):
        assert result.count(comment + eol) == text.replace("\n", eol).count(comment + eol)
    assert result.count("\r") == (result.count("\n") if eol == "\r\n" else 0)
    instructions = joined(result)
    assert (instructions[0], instructions[-1], len(instructions)) == ("FROM x", "ENV Z=1", 3)
    printed = run(instructions[1].removeprefix("RUN ") + "\n").split("\n")[1:-1]
    for word in {"": [], "-y": ["-y"], '"$N"': ["-n"], "-t x": ["-t", "x"]}[option]:
        printed.remove(word)
    assert printed == new


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_input_breaks_the_reader(source: bytes) -> None:
    try:
        document = dockerfile.parse(b"FROM x\n" + source)
    except Unparsable:
        assert b"\0" in source
        return
    for slot in document.slots():
        places = [place for token in slot.tokens for place in (token.start, token.end)]
        assert places == sorted(places)
        assert slot in [hit[0] for hit in document.find(slot.selector)]


SHAPES = [s for s, _ in FRAMES + RUNS] + [LIST.decode(), "# escape=`\nRUN a `\n b", "COPY <<E <<'F' x\nE\nF\n"]


@given(st.sampled_from(SHAPES), st.integers(0, 60), st.sampled_from("\\'\"`$(){}#\n\r;<|=~\x00é "), st.booleans())
def test_no_damage_breaks_the_reader(shape: str, at: int, damage: str, replaces: bool) -> None:
    source = (shape[:at] + damage + shape[at + replaces :]).encode()
    with suppress(Unparsable):
        for slot in dockerfile.parse(source).slots():
            assert all(source[token.start : token.end] or not token.value for token in slot.tokens)


@pytest.mark.parametrize("unit", [b"{", b"$(", b'"', b"<<E ", b"a \\\n", b"[", b"ARG A=1\n", b"# x\n", b"A=1 "])
@pytest.mark.parametrize("head", [b"FROM x\nRUN ", b"ENV A=", b""])
def test_depth_and_length_cost_little(head: bytes, unit: bytes) -> None:
    began = time.monotonic()
    with suppress(Unparsable):
        list(dockerfile.parse(head + unit * 20_000).slots())
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("selector", ["COPY --from", "COPY --from uv", "build:COPY --from uv", "0:COPY --from"])
def test_an_image_that_files_are_copied_from(selector: str) -> None:
    source = b"FROM a:1 AS build\nCOPY \\\n  --from=x/uv:0.5 /uv /bin/\n"
    assert written(source, selector, "x/uv:0.6") == source.replace(b"0.5", b"0.6")
    for hostile in ("x/uv:0.6 /etc/passwd", "x/uv\nRUN id", "-x", "", "$X", "build"):
        with pytest.raises(Unwritable):
            written(source, selector, hostile)
