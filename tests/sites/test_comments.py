from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import sites
from pinctl.sites.base import BadSelector, Unwritable, write
from pinctl.sites.comments import find_mentions

DOCKERFILE = b"""\
FROM base
# sgl-deep-gemm==0.1.5.post2, as pyproject has it; sgl_deep_gemm (v1.4).
ARG A="x" # SGL_DEEP_GEMM_VERSION 0.1.5+cu129
# xsgl-deep-gemm 9.9 sgl-deep-gemm-cu12 9.9 sgl_deep_gemm-9.9-py3-none-any.whl
RUN curl http://x//sgl-deep-gemm 9.9 && echo "${A#sgl-deep-gemm 9.9}"
# DG: ad1f1726aa, and dg 6bbd260
"""


def found(name: str, source: bytes = DOCKERFILE, language: str = "dockerfile") -> list[str]:
    hits = sites.find(sites.parse(language, source), f"comment:{name}")
    return [str(hit[0].value) for hit in hits]


def test_what_comments_mention() -> None:
    assert found("sgl-deep-gemm") == ["0.1.5.post2", "1.4", "0.1.5+cu129"]
    assert found("Sgl.Deep_Gemm#3") == ["0.1.5+cu129"]
    assert found("dg") == ["ad1f1726aa", "6bbd260"]
    assert found("torch") == []


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", b"x = 1  # tilelang 0.1.6\n"),
        ("yaml", b"a: 1 # tilelang>=0.1.6\n"),
        ("cmake", b"# tilelang: 0.1.6\n"),
        ("toml", b"# tilelang@0.1.6\n"),
        ("hcl", b"// tilelang v0.1.6\n"),
        ("requirements", b"# tilelang[all]==0.1.6\n"),
        ("shell", b"true # tilelang version 0.1.6, then\n"),
        ("text", b"a\t// TILELANG_VERSION=0.1.6."),
    ],
)
def test_in_every_language(language: str, source: bytes) -> None:
    assert found("tilelang", source, language) == ["0.1.6"]
    (hit,) = sites.find(sites.parse(language, source), "comment:tilelang")
    after = write(sites.parse(language, source), hit[0], "0.1.7.post1")
    assert after == source.replace(b"0.1.6", b"0.1.7.post1")


def test_what_a_comment_cannot_hold() -> None:
    document = sites.parse("dockerfile", DOCKERFILE)
    (hit,) = sites.find(document, "comment:sgl-deep-gemm#2")
    for value in ("1 2", "1\nRUN x", "v1", "", "main", "1.", "é"):
        with pytest.raises(Unwritable):
            write(document, hit[0], value)


def test_other_selectors_are_the_languages_own() -> None:
    with pytest.raises(BadSelector):
        sites.find(sites.parse("dockerfile", DOCKERFILE), "comment:a b")


names = st.from_regex(r"[a-z]([a-z_.-]{0,6}[a-z])?", fullmatch=True)
versions = st.from_regex(r"[0-9]([0-9a-z.+!_-]{0,8}[0-9a-z])?", fullmatch=True)


@given(names, versions, versions, st.sampled_from(["# see {} {}", "x # {}=={}, y", "// {}: v{}"]), st.text())
def test_what_is_written_is_read(name: str, old: str, new: str, form: str, rest: str) -> None:
    text = f"{form.format(name, old)}\n{rest}"
    source = text.encode("utf-8", "replace")
    document = sites.parse("text", source)
    hit = find_mentions(document, name)[0]
    assert hit[0].value == old
    after = write(document, hit[0], new)
    assert after == source[: hit[0].start] + new.encode() + source[hit[0].end :]
    assert find_mentions(sites.parse("text", after), name)[0][0].value == new


@given(st.binary(max_size=300), names)
def test_any_bytes_are_read(source: bytes, name: str) -> None:
    for hit in find_mentions(sites.parse("text", source), name):
        assert re.match(rb"[0-9a-f]", source[hit[0].start : hit[0].end])
