"""The tables of tags and libraries."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from pinctl.wheel import abi3, policy
from pinctl.wheel.elf import numbers


def test_the_table_is_auditwheels() -> None:
    """For every tag that auditwheel knows, the highest versions of all its architectures."""
    text = files("auditwheel").joinpath("policy/manylinux-policy.json").read_text()
    for row in json.loads(text):
        if row["name"] == "linux":
            continue
        for tag in (row["name"], *row["aliases"]):
            promise = policy.promise(f"{tag}_x86_64")
            assert promise is not None
            for family in ("GLIBCXX", "CXXABI"):
                known = [v for table in row["symbol_versions"].values() for v in table[family] if v[0].isdigit()]
                assert promise.versions[family] == max(known, key=numbers), (tag, family)
            assert promise.versions["GLIBC"] == row["name"].removeprefix("manylinux_").replace("_", ".")


@pytest.mark.parametrize(
    ("tag", "glibc", "machine"),
    [
        ("manylinux2014_aarch64", "2.17", "aarch64"),
        ("manylinux1_i686", "2.5", "i686"),
        ("manylinux_2_28_x86_64", "2.28", "x86_64"),
        ("manylinux_2_99_x86_64", "2.99", "x86_64"),
        ("linux_x86_64", None, "x86_64"),
        ("musllinux_1_2_x86_64", None, "x86_64"),
        ("any", None, None),
        ("macosx_11_0_arm64", None, None),
        ("win_amd64", None, None),
    ],
)
def test_what_a_tag_promises(tag: str, glibc: str | None, machine: str | None) -> None:
    promise = policy.promise(tag)
    assert (promise.versions["GLIBC"] if promise else None) == glibc
    assert policy.architecture(tag) == machine


@pytest.mark.parametrize(
    ("library", "major"),
    [
        ("libcudart.so.12", "12"),
        ("libcudart.so.13", "13"),
        ("libcublasLt.so.13", "13"),
        ("libnvrtc-builtins.so.13.0", "13"),
        ("libnvrtc.so", None),
        ("libcusparse.so.12", None),  # of CUDA 13, too
        ("libcudart.so.12evil", None),
        ("libcuda.so.1", None),
    ],
)
def test_the_cuda_of_a_library(library: str, major: str | None) -> None:
    assert policy.cuda_of(library) == major


@pytest.mark.parametrize(("label", "cuda"), [("cu129", "12.9"), ("cu130", "13.0"), ("cu92", "9.2"), ("rocm62", None),
                                             ("cu129.git1", None), ("", None), ("cu1290", None)])  # fmt: skip
def test_the_cuda_of_a_label(label: str, cuda: str | None) -> None:
    assert policy.cuda_of_label(label) == cuda


@pytest.mark.parametrize(
    ("library", "distribution", "pattern"),
    [
        ("libcudart-1a2b3c4d.so.12.9.79", "tiny", "libcudart.so.*"),
        ("libcudart.1a2b3c4d.so.12", "tiny", "libcudart.so.*"),
        ("libcudart.so", "tiny", "libcudart.so.*"),
        ("libtorch_cpu.so", "tiny", "libtorch*.so"),
        ("libcudart.so.13", "nvidia-cuda-runtime", None),
        ("libcuda_helper.so", "tiny", None),
        ("libgomp-1a2b3c4d.so.1", "tiny", None),
    ],
)
def test_what_a_wheel_may_not_bring(library: str, distribution: str, pattern: str | None) -> None:
    assert policy.brings(library, distribution, ["libcudart.so.*", "libtorch*.so"]) == pattern


def test_names_outside_of_the_stable_abi() -> None:
    names = ["PyList_New", "PyErr_GetRaisedException", "PyObject_Vectorcall", "_PyDict_Secret", "_Py_NoneStruct"]
    assert abi3.outside(names, "3.9") == [
        ("PyErr_GetRaisedException", "3.12"), ("PyObject_Vectorcall", "3.12"), ("_PyDict_Secret", "")]  # fmt: skip
    assert abi3.outside(names, "3.12") == [("_PyDict_Secret", "")]


def test_without_the_table_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "abi3info", None)
    with pytest.raises(abi3.Missing):
        abi3.outside(["PyList_New"], "3.9")
