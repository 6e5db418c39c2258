from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.index import names


def test_a_wheel_and_a_source_distribution() -> None:
    wheel = names.known("sgl_kernel-0.3.21+g0a1b2.cu129-cp310-abi3-manylinux_2_28_x86_64.whl")
    assert (wheel.project, str(wheel.version), wheel.label) == ("sgl-kernel", "0.3.21+g0a1b2.cu129", "g0a1b2.cu129")
    assert {str(tag) for tag in wheel.tags} == {"cp310-abi3-manylinux_2_28_x86_64"}
    source = names.known("Tiny.K-1.0.tar.gz")
    assert (source.project, source.label, source.tags) == ("tiny-k", "", frozenset())


@pytest.mark.parametrize(
    "filename",
    ["x.whl", "a-1-py3-none.whl", "../a-1-py3-none-any.whl", "a-1-py3-none-any.whl\n", "a-b-py3-none-any.whl", "",
     "a-1-py3-none-any.exe", "a b-1-py3-none-any.whl", f"a-1-{'.'.join(['py3'] * 40)}-none-any.whl", "a.zip",
     f"a-1-py3-none-{'x' * 400}.whl"],
)  # fmt: skip
def test_what_is_no_name(filename: str) -> None:
    assert names.parse(filename) is None
    assert names.problem(filename) == "is no name of a wheel or a source distribution"
    with pytest.raises(ValueError, match=f"^{re.escape(filename)}$"):
        names.known(filename)


@pytest.mark.parametrize(
    ("filename", "right"),
    [
        ("Sgl_Kernel-1.0-py3-none-any.whl", "sgl_kernel-1.0-py3-none-any.whl"),
        ("sgl.kernel-1.0-py3-none-any.whl", "sgl_kernel-1.0-py3-none-any.whl"),
        ("k-1.0+CU129-py3-none-any.whl", "k-1.0+cu129-py3-none-any.whl"),
        ("k-v1.0-2-py3-none-any.whl", "k-1.0-2-py3-none-any.whl"),
    ],
)
def test_a_name_that_is_not_normalized(filename: str, right: str) -> None:
    assert names.problem(filename) == f"is not normalized: it should be {right}"
    assert names.problem(right) is None


def test_names_in_urls() -> None:
    assert names.in_url("k-1+cu129.whl") == "k-1%2Bcu129.whl"
    assert names.escaped("https://h/a+b/k-1+cu129.whl?x=a+b") == "https://h/a%2Bb/k-1%2Bcu129.whl?x=a+b"
    assert names.of_url("https://h/a/k-1%2Bcu129.whl") == "k-1+cu129.whl"
    assert names.of_url("https://h/a/..%2F..%2Fetc%2Fpasswd") == "../../etc/passwd"


@pytest.mark.parametrize(
    ("name", "fits"),
    [("cu129", True), ("pr-1_2.3", True), ("CU129", False), ("..", False), ("a/b", False), ("", False), ("a--b", False),
     ("a\n", False)],
)  # fmt: skip
def test_folders(name: str, fits: bool) -> None:
    assert names.is_folder(name) is fits


@given(st.text())
def test_no_text_crashes_the_reader(text: str) -> None:
    names.problem(text)
    names.problem(f"{text}.whl")
    names.problem(f"a-{text}-py3-none-any.whl")
