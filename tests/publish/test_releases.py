from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pinctl.publish import releases
from pinctl.publish.releases import LARGEST, MOST, Asset
from pinctl.publish.settings import GitHub

WHEEL = "deep_gemm-2.8.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl"
ASSET = Asset(WHEEL, 7, "a" * 64)


def test_a_tag_has_the_package_and_no_label() -> None:
    assert releases.of_file(WHEEL) == "deep-gemm-v2.8.0"
    assert releases.tag("a", Version("1.0.post2+cu129")) == "a-v1.0.post2"
    where = GitHub("o/whl")
    assert releases.address(where, WHEEL) == (
        "https://github.com/o/whl/releases/download/deep-gemm-v2.8.0/"
        "deep_gemm-2.8.0%2Bcu129-cp310-abi3-manylinux_2_28_x86_64.whl"
    )
    assert releases.is_prerelease(["a-1.0rc1-py3-none-any.whl"])
    assert not releases.is_prerelease([WHEEL])


def test_what_a_release_lacks() -> None:
    done = releases.work([ASSET], {})
    assert (done.send, done.delete, done.kept) == ((ASSET,), (), ())
    assert releases.work([ASSET], {WHEEL: ASSET._replace(id=3)}).kept == (WHEEL,)
    assert releases.work([ASSET], {WHEEL: ASSET._replace(sha256=None)}).kept == (WHEEL,)
    broken = ASSET._replace(size=0, sha256=None, whole=False, id=9)
    done = releases.work([ASSET], {WHEEL: broken})
    assert (done.send, done.delete) == ((ASSET,), (broken,))


@pytest.mark.parametrize(
    ("found", "clause"),
    [
        (ASSET._replace(name=WHEEL.replace("+", ".")), "became 'deep_gemm-2.8.0.cu129"),
        (ASSET._replace(size=8), "has 7 bytes, and the asset of this name 8"),
        (ASSET._replace(sha256="b" * 64), "has the digest aaaaaaaaaaaa, and the asset of this name bbbbbbbbbbbb"),
    ],
)
def test_how_an_asset_is_another(found: Asset, clause: str) -> None:
    assert str(releases.differs(ASSET, found)).startswith(clause)
    assert releases.differs(ASSET, ASSET) is None


def test_other_bytes_and_limits_are_refused() -> None:
    assert releases.work([ASSET], {WHEEL: ASSET._replace(size=8)}).refused[WHEEL][0] == "PIN717"
    large = ASSET._replace(size=LARGEST)
    assert releases.work([large], {}).refused[WHEEL][0] == "PIN727"
    assert not releases.work([ASSET._replace(size=LARGEST - 1)], {}).refused
    full = {f"a{number}": Asset(f"a{number}", 1) for number in range(MOST)}
    assert releases.work([ASSET], full).refused == {
        WHEEL: ("PIN727", "would be one of 1001 assets, and a release has at most 1000")
    }
    full.pop("a0")
    assert not releases.work([ASSET], full).refused


def test_what_the_interface_says() -> None:
    said = {"id": 1, "tag_name": "t", "draft": True, "upload_url": "https://u.example/a{?name,label}",
            "assets": [{"id": 2, "name": WHEEL, "size": 7, "state": "uploaded",
                        "digest": f"sha256:{'A' * 64}"}]}  # fmt: skip
    found = releases.read(said)
    assert found == releases.Release(1, "t", True, "https://u.example/a", {WHEEL: ASSET._replace(id=2)})
    assert releases.read_asset({"id": 2, "name": "x", "size": 0, "state": "starter"}) == Asset("x", 0, None, False, 2)


KEYS = st.sampled_from(["id", "name", "size", "tag_name", "draft", "upload_url", "assets", "digest"])
SCALARS = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_no_answer_crashes_the_reader(said: Any) -> None:
    for read in (releases.read, releases.read_asset):
        with suppress(ValueError):
            read(said)
