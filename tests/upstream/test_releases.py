from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pinctl.upstream.releases import newest, version_of


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v4.4.2", "4.4.2"), ("4.4.2", "4.4.2"), ("flash-attn-2.8.3", "2.8.3"), ("release-1.2", "1.2"),
        ("v2.7.0-rc1", "2.7.0-rc1"), ("v0.6.16.post1", "0.6.16.post1"), ("cuda-12.8-v1.2", "1.2"), ("V1.0", "1.0"),
        ("releases/v1.0", "1.0"), ("cu128-v1.0", "1.0"), ("v1.0+cu129", "1.0+cu129"), ("nightly-20250101", "20250101"),
        ("2024-10-01", None), ("main", None), ("nightly", None), ("v", None), ("", None), ("v1.2-windows", None),
        ("rev2", None), ("v1..2", None), (f"v{'9' * 5000}", None),
    ],
)  # fmt: skip
def test_the_version_that_a_tag_spells(tag: str, version: str | None) -> None:
    assert version_of(tag) == version


@pytest.mark.parametrize(
    ("tag", "like", "version"),
    [
        ("v4.5.0", "v4.4.2", "4.5.0"), ("4.5.0", "v4.4.2", None), ("v4.5.0", "4.4.2", None),
        ("flash-attn-2.9", "flash-attn-2.8.3", "2.9"), ("flash-attn-3-v1.0", "flash-attn-2.8.3", None),
        ("cuda-12.8-v1.3", "cuda-12.8-v1.2", "1.3"), ("cuda-13.0-v1.3", "cuda-12.8-v1.2", None),
        ("v1.0", "nightly", None),
    ],
)  # fmt: skip
def test_what_stands_before_it_is_the_same(tag: str, like: str, version: str | None) -> None:
    assert version_of(tag, like) == version


def test_the_newest_is_so_by_its_version() -> None:
    assert newest(["v4.9.0", "v4.10.0", "v4.4.2"]) == "v4.10.0"
    assert newest(["v1.0", "v1.0.post1", "v1.0.dev3"]) == "v1.0.post1"
    assert newest(["main", "nightly"]) is None
    assert newest([]) is None


def test_tags_of_another_kind_are_passed_over() -> None:
    tags = ["v4.4.2", "v4.5.0", "9.0", "nightly-20250101", "python-5.0"]
    assert newest(tags, like="v4.4.2") == "v4.5.0"
    assert newest(tags, pattern="v*") == "v4.5.0"
    assert newest(tags, like="v4.4.2", pattern="v4.4.*") == "v4.4.2"
    assert newest(tags, like="nightly") is None


def test_a_pre_release_is_taken_where_it_is_wanted() -> None:
    tags = ["v1.0", "v1.1rc2", "v1.1.dev1"]
    assert newest(tags) == "v1.0"
    assert newest(tags, pre=True) == "v1.1rc2"
    assert newest(tags, like="v1.1rc1") == "v1.1rc2"
    assert newest([*tags, "v1.1"], like="v1.1rc1") == "v1.1"


def test_of_two_spellings_the_present_one_stays() -> None:
    assert newest(["v1.0", "v1.0.0"], like="v1.0") == "v1.0"
    assert newest(["v1.0", "v1.0.0"], like="v1.0.0") == "v1.0.0"


versions = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda numbers: ".".join(map(str, numbers)))


@given(st.lists(versions, min_size=1), st.sampled_from(["", "v", "flash-attn-", "cuda-12.8-v"]))
def test_no_version_is_newer_than_the_newest(some: list[str], prefix: str) -> None:
    tags = [f"{prefix}{version}" for version in some]
    found = newest(tags, like=tags[0])
    assert found in tags
    assert Version(version_of(found, tags[0]) or "") == max(map(Version, some))


@given(st.text(), st.text())
def test_any_text_is_a_tag(tag: str, like: str) -> None:
    for version in (version_of(tag), version_of(tag, like)):
        assert version is None or (tag.endswith(version) and Version(version))
    assert newest([tag], like=like) in (tag, None)
