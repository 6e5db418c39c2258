from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pinctl.index.pypi_rules import LARGEST, Upload, readme_problem, refusals

WHEEL = "tinyk-1.0-cp310-abi3-manylinux_2_28_x86_64.whl"
TODAY = date(2026, 7, 20)


def told(*uploads: Upload, **said: Any) -> list[tuple[str, str]]:
    return [(refusal.code, refusal.what) for refusal in refusals(uploads, TODAY, **said)]


def test_what_pypi_takes() -> None:
    good = ["tinyk-1.0-py3-none-any.whl", "tinyk-1.0-cp310-abi3-manylinux2014_aarch64.whl", "tinyk-1.0.tar.gz",
            "tinyk-1.0-cp312-cp312-musllinux_1_2_x86_64.whl", "tinyk-1.0-cp312-cp312-macosx_11_0_arm64.whl",
            "tinyk-1.0-cp312-cp312-win_amd64.whl",
            "tinyk-1.0-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", WHEEL]  # fmt: skip
    assert told(*(Upload(name, LARGEST, readme_type="text/markdown") for name in good)) == []


@pytest.mark.parametrize(
    ("filename", "code", "what"),
    [
        ("tinyk-1.0+cu129-py3-none-any.whl", "PIN720", "has the local version +cu129, which PyPI refuses"),
        ("tinyk-1.0-cp310-abi3-linux_x86_64.whl", "PIN721", "is for linux_x86_64, which PyPI refuses"),
        ("tinyk-1.0-cp310-abi3-manylinux_2_28_sparc.whl", "PIN721", "is for manylinux_2_28_sparc, which PyPI refuses"),
        ("TinyK-1.0-py3-none-any.whl", "PIN709", "is not normalized: it should be tinyk-1.0-py3-none-any.whl"),
        ("tinyk.whl", "PIN709", "is no name of a wheel or a source distribution"),
    ],
)
def test_a_name_that_pypi_refuses(filename: str, code: str, what: str) -> None:
    assert told(Upload(filename, 1)) == [(code, what)]


def test_h11_the_size_and_two_variants_of_one_name() -> None:
    assert told(Upload(WHEEL, LARGEST + 1)) == [("PIN722", "has 100.0 MiB, and PyPI takes 100")]
    assert told(Upload(WHEEL, LARGEST + 1), largest=2 * LARGEST) == []
    assert told(Upload(WHEEL, 1, "cu12"), Upload(WHEEL, 1, "cu13")) == [
        ("PIN723", "is the name of the wheels of cu12 and cu13")
    ]


@pytest.mark.parametrize(("opened", "codes"), [(None, []), (date(2026, 7, 6), []), (date(2026, 7, 5), ["PIN725"])])
def test_a_release_is_closed_after_14_days(opened: date | None, codes: list[str]) -> None:
    assert [code for code, _ in told(Upload(WHEEL, 1, opened=opened))] == codes


@pytest.mark.parametrize(
    ("readme", "kind", "clause"),
    [
        ("# x", "text/markdown", None),
        ("# x", "text/markdown; charset=UTF-8; variant=GFM", None),
        ("", None, None),
        ("Title\n=====\n\ntext", None, None),
        ("x", "text/plain", None),
        ("<b>", "text/html", "has a README of the type 'text/html'"),
        ("x", "text/markdown; variant=Other", "has a README with 'variant=Other' in its type"),
        ("x", "text/markdown; charset=latin-1", "has a README with 'charset=latin-1' in its type"),
        ("Title\n==\n\n.. nothing::\n\n|x", "text/x-rst", "has a README that does not render"),
    ],
)
def test_readmes(readme: str, kind: str | None, clause: str | None) -> None:
    pytest.importorskip("readme_renderer")
    found = readme_problem(readme, kind)
    assert found == clause if clause is None else (found or "").startswith(clause)
    codes = [code for code, _ in told(Upload(WHEEL, 1, readme=readme, readme_type=kind))]
    assert codes == ([] if clause is None else ["PIN724"])
