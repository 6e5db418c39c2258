"""How a wheel is named to pip, and that packaging reads it back."""

from typing import Any

import pytest
from packaging.requirements import Requirement

from pinctl.images.references import NoReference, Wanted, reference
from pinctl.index.records import Record
from pinctl.model import Pin, Variant

COMMIT, SHA = "a1" * 20, "0f" * 32
PIN = Pin(name="deepgemm", repo="https://h/x.git", commit=COMMIT, version="2.8.0", packages=("deep_gemm",))
CU12 = Variant(name="cu12", cuda="12.9", label="cu129", publish="index")
CU13 = Variant(name="cu13", cuda="13.0", publish="pypi")
FILE = "deep_gemm-2.8.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl"
BASE = "https://wheels.example/w/"


def record(filename: str = FILE, **changes: Any) -> Record:
    made = Record(filename, "release", "cu129", SHA, f"files/{filename}")
    return made._replace(**changes)


def wanted(**changes: Any) -> Wanted:
    return Wanted(PIN, CU12, "3.12", "linux/amd64", BASE)._replace(**changes)


def test_pypi_is_asked_by_version_and_the_index_by_digest() -> None:
    assert reference(wanted(variant=CU13), ()) == "deep-gemm==2.8.0"
    text = reference(wanted(), [record()])
    url = "https://wheels.example/w/files/deep_gemm-2.8.0%2Bcu129-cp310-abi3-manylinux_2_28_x86_64.whl"
    assert text == f"deep-gemm @ {url}#sha256={SHA}"
    assert Requirement(text).url == f"{url}#sha256={SHA}"


def test_a_release_asset_by_its_own_url() -> None:
    at = f"https://github.com/o/r/releases/download/v1/{FILE}"
    assert reference(wanted(base=None), [record(url=at)]) == f"deep-gemm @ {at.replace('+', '%2B')}#sha256={SHA}"


def test_packages_of_an_index_alone() -> None:
    pin = Pin(name="flashinfer", version="0.6.16", packages=("flashinfer-python", "flashinfer_cubin"))
    assert reference(wanted(pin=pin), ()) == "flashinfer-python==0.6.16 flashinfer-cubin==0.6.16"


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": None}, {"yanked": ""}, {"withdrawn": "x"}, {"variant": "cu130"},
        {"provenance": {"pin": "other"}}, {"provenance": {"pin": "deepgemm", "commit": "b2" * 20}},
        {"filename": FILE.replace("+cu129", "")}, {"filename": FILE.replace("+cu129", "+cu128")},
        {"filename": FILE.replace("2.8.0", "2.8.1")}, {"filename": FILE.replace("x86_64", "aarch64")},
        {"filename": FILE.replace("cp310-abi3", "cp311-cp311")}, {"filename": FILE.replace("cp310", "cp313")},
        {"filename": FILE.replace("deep_gemm", "other")}, {"filename": "deep_gemm-2.8.0+cu129.tar.gz"},
    ],
)  # fmt: skip
def test_what_does_not_fit(changes: dict[str, Any]) -> None:
    with pytest.raises(NoReference, match=r"no wheel of deepgemm 2\.8\.0 for cu12, Python 3.12, linux/amd64"):
        reference(wanted(), [record(**changes)])


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"variant": "cu12"}, {"provenance": {"pin": "deepgemm", "commit": COMMIT}},
        {"filename": FILE.replace("cp310-abi3", "cp312-cp312")}, {"filename": FILE.replace("cp310-abi3", "py3-none")},
        {"filename": FILE.replace("deep_gemm", "other"), "provenance": {"pin": "deepgemm"}},
    ],
)  # fmt: skip
def test_what_fits(changes: dict[str, Any]) -> None:
    assert f"#sha256={SHA}" in reference(wanted(), [record(**changes)])


def test_free_threaded_pythons_are_their_own() -> None:
    threads = record(FILE.replace("cp310-abi3", "cp313-cp313t"))
    assert reference(wanted(python="3.13t"), [threads])
    for python, one in (("3.13", threads), ("3.13t", record())):
        with pytest.raises(NoReference):
            reference(wanted(python=python), [one])


@pytest.mark.parametrize(
    ("changes", "records", "message"),
    [
        ({"pin": PIN._replace(version=None)}, [], "the version of deepgemm is not known"),
        ({"pin": PIN._replace(packages=()), "variant": CU13}, [], "under which name PyPI has deepgemm"),
        ({"base": None}, [record()], "nothing says where that is"),
        ({"python": None}, [record(FILE.replace("cp310-abi3", "cp311-cp311")), record(sha256="1f" * 32)], "several"),
    ],
)
def test_what_cannot_be_named(changes: dict[str, Any], records: list[Record], message: str) -> None:
    with pytest.raises(NoReference, match=message) as caught:
        reference(wanted(**changes), records)
    assert caught.value.hint
