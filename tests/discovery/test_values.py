import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.discovery import values

from .support import DIGEST, OLD


def test_commit_ids() -> None:
    assert values.is_commit(OLD)
    assert not values.is_commit(OLD[:39])
    assert not values.is_commit(OLD.upper())
    assert not values.is_commit(f"{OLD}\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8b1392b", True),
        ("8b1392", False),
        ("1234567", False),
        ("deadbeef", False),
        ("20260115", False),
        ("x8b1392b", False),
    ],
)
def test_short_ids_have_letters_and_numbers(text: str, expected: bool) -> None:
    assert values.is_short(text) is expected


@given(st.text("0123456789abcdef", min_size=7, max_size=39))
def test_any_short_id_is_hexadecimal(text: str) -> None:
    assert values.is_short(text) is not (text.isdigit() or text.isalpha())


def test_digests() -> None:
    assert values.is_digest(DIGEST)
    assert values.is_digest(DIGEST.upper())
    assert not values.is_digest(DIGEST[1:])


@pytest.mark.parametrize(
    "text", ["1.2", "v1.2.3", "2.13.0+cu130", "0.6.16.post3", "1.2rc1", "2.9.0.dev20260101", "1.0a1"]
)
def test_versions(text: str) -> None:
    assert values.is_version(text)


@pytest.mark.parametrize("text", ["1", "v1", "1.x", "1.2.x", ">=1.2", "1.2 ", "release-1.2", "", "1.2-3", "12.8;13.0"])
def test_no_versions(text: str) -> None:
    assert not values.is_version(text)


@pytest.mark.parametrize("text", ["2.5.1-1", "3.2.0-125000-25.10", "1.2.3.4", "1.2-ubuntu22"])
def test_versions_of_system_packages(text: str) -> None:
    assert values.is_long_version(text)


@pytest.mark.parametrize("text", ["v0.1.19", "release-1.2", "llvm-19.1.0", "r36.4.0", "v52", "b4524", "n7.1"])
def test_tags(text: str) -> None:
    assert values.is_tag(text)


@pytest.mark.parametrize("text", ["main", "release", "gfx1250-dev", "feature/x-1.2", "v", "1.x", "triton_upstream"])
def test_branches_are_no_tags(text: str) -> None:
    assert not values.is_tag(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/o/r.git",
        "git@github.com:o/r.git",
        "ssh://git@host:22/o/r.git",
        "https://gitlab.example.com/group/sub/r.git",
    ],
)
def test_addresses_of_repositories(text: str) -> None:
    assert values.is_repo(text, certain=False)
    assert values.is_repo(text, certain=True)


@pytest.mark.parametrize("text", ["https://github.com/o/r", "https://gitlab.com/o/r/"])
def test_addresses_on_a_forge_where_something_else_says_that_they_are_repositories(text: str) -> None:
    assert values.is_repo(text, certain=True)
    assert not values.is_repo(text, certain=False)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/o/r",
        "https://github.com/o",
        "https://github.com/o/r/issues",
        "https://github.com/o/r/releases/download/v1/x.whl",
        "r.git",
        "/srv/r.git",
        "${REPO}.git",
    ],
)
def test_other_addresses(text: str) -> None:
    assert not values.is_repo(text, certain=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ubuntu:22.04", "ubuntu"),
        ("nvcr.io/nvidia/pytorch:25.10-py3", "nvcr.io/nvidia/pytorch"),
        ("host:5000/a/b:1", "host:5000/a/b"),
        (f"rust@sha256:{DIGEST}", "rust"),
        (f"rust:latest@sha256:{DIGEST}", "rust"),
        ("ubuntu", None),
        ("ubuntu:latest", None),
        ("rocm/dev:nightly", None),
        ("local/base:1.0", None),
        ("localhost:5000/base:1.0", None),
        ("${BASE}:1.0", None),
        ("a b:1", None),
    ],
)
def test_images_with_a_fixed_tag(text: str, name: str | None) -> None:
    assert values.image_name(text) == name


@pytest.mark.parametrize(("version", "expected"), [("v2.13.0+cu130", "2.13.0"), ("2.13.0", "2.13.0"), ("vv1", "v1")])
def test_a_bare_version(version: str, expected: str) -> None:
    assert values.bare(version) == expected
