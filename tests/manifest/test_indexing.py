from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from pinctl import manifest
from pinctl.errors import ManifestError


def told(index: str) -> list[tuple[str, int, int]]:
    try:
        manifest.parse(f"schema = 1\n[index]\n{index}\n")
    except ManifestError as error:
        return [(one.code, one.span.line, one.span.column) for one in error.findings if one.span]
    return []


@pytest.mark.parametrize(
    "index",
    [
        'url = "https://whl.example/x"',
        'layout = "{channel}/{variant}/"\nchannels = ["release", "nightly"]',
        'layout = "{variant}"',
        'channels = ["release", "nightly"]',
        'layout = { release = "{variant}/", nightly = "nightly/{variant}/" }\nchannels = ["release", "nightly"]',
        'layout = { release = "whl-{channel}/{variant}/simple" }',
        "retention = { nightly = 30 }",
    ],
)
def test_an_index_as_it_should_be(index: str) -> None:
    assert told(index) == []


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        ('url = "http://whl.example/"', ("PIN107", 3, 1)),
        ('url = "ssh://git@whl.example/x"', ("PIN107", 3, 1)),
        ('layout = "{channel}/"', ("PIN103", 3, 1)),
        ('layout = "../{variant}"', ("PIN103", 3, 1)),
        ('layout = "/{variant}"', ("PIN103", 3, 1)),
        ('layout = "{variant}//x"', ("PIN103", 3, 1)),
        ('layout = "{variants}"', ("PIN103", 3, 1)),
        ("layout = {}", ("PIN103", 3, 1)),
        ('layout = { release = "x" }', ("PIN103", 3, 12)),
        ('layout = { "a/b" = "{variant}" }', ("PIN103", 3, 12)),
        ('layout = "files/{variant}/"', ("PIN103", 3, 1)),
        ('layout = "{channel}/{variant}/"\nchannels = ["release", "files"]', ("PIN103", 3, 1)),
        ('layout = "{variant}/"\nchannels = ["release", "nightly"]', ("PIN103", 3, 1)),
        ('layout = { a = "x/{variant}", b = "x/{variant}/" }', ("PIN103", 3, 31)),
        ('layout = { nigthly = "{variant}" }\nchannels = ["release", "nightly"]', ("PIN114", 3, 12)),
        ('channels = ["release"]\nretention = { nightly = 30 }', ("PIN114", 4, 15)),
        ('channels = ["Release"]', ("PIN103", 3, 13)),
        ("channels = []", ("PIN103", 3, 1)),
        ("retention = { nightly = 0 }", ("PIN103", 3, 15)),
        ('records = "../wheels.jsonl"', ("PIN108", 3, 1)),
        ("colour = 1", ("PIN102", 3, 1)),
    ],
)
def test_what_an_index_can_have_wrong(index: str, problem: tuple[str, int, int]) -> None:
    assert told(index) == [problem]


def test_the_likely_channel_is_named() -> None:
    with pytest.raises(ManifestError) as caught:
        manifest.parse('schema = 1\n[index]\nchannels = ["release", "nightly"]\nretention = { nigthly = 30 }\n')
    assert caught.value.findings[0].hint == "did you mean `nightly`?"


@pytest.mark.parametrize(
    ("layout", "fits"),
    [
        ("{channel}/{variant}/", True), ({"release": "{variant}/"}, True), ("{variant}\n", False), ("x/", False),
        ({"release": "x"}, False), ({}, False), ("{variant}/..", False), ("", False),
    ],
)  # fmt: skip
def test_the_schema_says_the_same(layout: object, fits: bool) -> None:
    schema = Draft202012Validator(manifest.json_schema())
    assert schema.is_valid({"schema": 1, "index": {"layout": layout}}) is fits
