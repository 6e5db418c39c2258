from __future__ import annotations

import pytest
from packaging.version import Version

from index.support import record
from pinctl.index import names
from pinctl.index.layout import Variants
from pinctl.index.matrix import Cell, Hole, cells, processor, projects, short
from pinctl.index.records import Record
from pinctl.model import Variant

NONE = Variants()


def wheels(variant: str, version: str, *tags: str, **said: object) -> list[Record]:
    return [record(f"tinyk-{version}+{variant}-{tag}.whl", variant=variant, **said) for tag in tags]


def holes(records: list[Record], known: Variants = NONE) -> list[tuple[str, str, tuple[str, ...], bool]]:
    return [(h.variant, str(h.version), h.missing, h.whole) for p in projects(records) for h in p.holes(known)]


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("k-1-cp312-cp312-manylinux_2_28_x86_64.whl", {Cell("cp312", "x86_64")}),
        ("k-1-cp313-cp313t-musllinux_1_2_aarch64.whl", {Cell("cp313t", "aarch64")}),
        ("k-1-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", {Cell("cp310-abi3", "x86_64")}),
        ("k-1-py3-none-any.whl", {Cell("py3", "any")}),
        ("k-1-cp312-cp312-linux_x86_64.whl", {Cell("cp312", "x86_64")}),
        ("k-1-cp312-cp312-macosx_11_0_arm64.whl", {Cell("cp312", "macosx_11_0_arm64")}),
        ("k-1.tar.gz", set()),
    ],
)
def test_the_cells_of_a_wheel(filename: str, expected: set[Cell]) -> None:
    assert cells(names.known(filename).tags) == expected


def test_how_cells_are_said() -> None:
    assert [short(tag) for tag in ("cp312", "cp310-abi3", "cp313t", "py3", "pp310")] == [
        "3.12", "3.10+", "3.13t", "any Python", "pp310",
    ]  # fmt: skip
    assert str(Cell("cp312", "x86_64")) == "Python 3.12 x86_64"
    assert processor("win_amd64") == "win_amd64"


def test_what_another_page_has_of_the_same_version_is_missing() -> None:
    x86, arm = "cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-manylinux_2_28_aarch64"
    found = wheels("cu129", "1.0", x86, arm) + wheels("cu130", "1.0", x86) + wheels("cu130", "0.9", x86, arm)
    assert holes(found) == [("cu130", "1.0", ("Python 3.12 aarch64",), False)]


def test_a_page_that_never_had_a_processor_has_no_hole_there() -> None:
    x86, arm = "cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-manylinux_2_28_aarch64"
    assert holes(wheels("cu129", "1.0", x86, arm) + wheels("rocm700", "1.0", x86)) == []


def test_a_version_that_is_passed_over() -> None:
    tag = "cp310-abi3-manylinux_2_28_x86_64"
    found = [*wheels("cu129", "1.0", tag), *wheels("cu129", "1.1", tag), *wheels("cu129", "1.2", tag)]
    later = wheels("cu130", "1.1", tag)
    assert holes(found + later) == []  # begun later, given up
    whole = [*wheels("cu130", "1.0", tag), *wheels("cu130", "1.2", tag)]
    assert holes(found + whole) == [("cu130", "1.1", ("Python 3.10+ x86_64",), True)]


def test_abi3_and_pure_wheels_serve_for_others() -> None:
    found = wheels("cu129", "1.0", "cp310-abi3-manylinux_2_28_x86_64") + wheels(
        "cu130", "1.0", "cp39-abi3-manylinux_2_28_x86_64"
    )
    assert holes(found) == []
    found += wheels("cu128", "1.0", "cp312-cp312-manylinux_2_28_x86_64") + wheels("rocm", "1.0", "py3-none-any")
    assert holes(found) == [("cu128", "1.0", ("Python 3.10+ x86_64", "Python 3.9+ x86_64"), False)]


def test_a_declared_variant_is_held_to_what_it_declares() -> None:
    known = Variants(
        {"cu13": Variant("cu13", python=("3.9", "3.12", "3.13t"), platforms=("linux/amd64", "linux/arm64"))}
    )
    found = wheels("cu13", "1.0", "cp310-abi3-manylinux_2_28_x86_64", "cp313-cp313t-manylinux_2_28_x86_64")
    assert holes(found, known) == [
        (
            "cu13",
            "1.0",
            ("Python 3.9 x86_64", "Python 3.9 aarch64", "Python 3.12 aarch64", "Python 3.13t aarch64"),
            False,
        )
    ]
    assert holes(wheels("cu13", "1.0", "py3-none-any"), known) == []


def test_what_is_yanked_or_withdrawn_fills_nothing() -> None:
    tag = "cp310-abi3-manylinux_2_28_x86_64"
    good = wheels("cu129", "1.0", tag, "cp310-abi3-manylinux_2_28_aarch64")
    stray = wheels("cu128", "1.0", tag, yanked="misfiled") + wheels("cu128", "0.9", tag, withdrawn="gone")
    assert holes(good + stray) == []
    (project,) = projects(good + stray)
    assert project.variants == ("cu128", "cu129")


def test_versions_are_told_without_their_labels_the_newest_first() -> None:
    tag = "py3-none-any"
    found = [r for v in ("1.9", "1.10", "1.10.dev1") for r in (*wheels("a", v, tag), *wheels("b", v, tag))]
    (project,) = projects(found)
    assert [(str(r.version), list(r.files)) for r in project.releases] == [
        ("1.10", ["a", "b"]), ("1.10.dev1", ["a", "b"]), ("1.9", ["a", "b"]),
    ]  # fmt: skip
    assert Hole("c", "v", "p", Version("1"), ()).whole is False
