from __future__ import annotations

from itertools import pairwise

import pytest

from pinctl.publish import clients
from pinctl.publish.clients import Wanted

SHA = "a" * 64
SET = "https://whl.example/release/cu129/"


def flags(words: list[str], *names: str) -> list[tuple[str, str]]:
    return [(a, b) for a, b in pairwise(words) if a in names]


def wanted(tags: str) -> Wanted:
    return Wanted(f"tinyk-1.0+cu129-{tags}.whl", SHA, SET)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("py3-none-any", []),
        ("py3-none-manylinux_2_28_x86_64", [("--platform", "manylinux_2_28_x86_64")]),
        (
            "cp310-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64",
            [("--platform", "manylinux_2_17_aarch64"), ("--platform", "manylinux2014_aarch64"),
             ("--implementation", "cp"), ("--python-version", "3.10"), ("--abi", "abi3")],
        ),
        (
            "cp313-cp313t-macosx_11_0_arm64",
            [("--platform", "macosx_11_0_arm64"), ("--implementation", "cp"), ("--python-version", "3.13"),
             ("--abi", "cp313t")],
        ),
    ],
)  # fmt: skip
def test_pip_is_told_of_the_machine(tags: str, expected: list[tuple[str, str]]) -> None:
    words = clients.pip(wanted(tags), "T", "R")
    assert flags(words, "--platform", "--implementation", "--python-version", "--abi") == expected
    assert flags(words, "--index-url", "--target", "--requirement") == [
        ("--target", "T"), ("--index-url", SET), ("--requirement", "R"),
    ]  # fmt: skip
    assert {"--isolated", "--no-deps", "--no-compile", "--require-hashes", "--only-binary=:all:"} <= set(words)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("py3-none-any", []),
        ("cp310-abi3-manylinux2014_x86_64",
         [("--python-platform", "x86_64-manylinux_2_17"), ("--python-version", "3.10")]),
        ("cp312-cp312-manylinux_2_30_aarch64",
         [("--python-platform", "aarch64-manylinux_2_31"), ("--python-version", "3.12")]),
        ("cp313-cp313t-manylinux_2_28_x86_64", None),
        ("cp312-cp312-musllinux_1_2_x86_64", None),
    ],
)  # fmt: skip
def test_uv_is_told_of_the_machine_where_it_can_be(tags: str, expected: list[tuple[str, str]] | None) -> None:
    words = clients.uv(wanted(tags), "T", "R", "/python")
    assert (words is None) == (expected is None)
    if words is not None:
        assert flags(words, "--python-platform", "--python-version") == expected
        assert flags(words, "--default-index") == [("--default-index", SET)]


def test_a_requirement_is_held_to_its_digest() -> None:
    assert wanted("py3-none-any").requirement == f"tinyk==1.0+cu129 --hash=sha256:{SHA}\n"
    link = "https://github.com/o/whl/releases/download/t/tinyk-1.0%2Bcu129-py3-none-any.whl"
    direct = Wanted("tinyk-1.0+cu129-py3-none-any.whl", SHA, link=link)
    assert direct.requirement == f"tinyk @ {link} --hash=sha256:{SHA}\n"
    assert "--no-index" in clients.pip(direct, "T", "R")
