import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.discovery.downloads import Download, downloads, is_comment, repository

from .support import OLD


def only(text: str) -> Download:
    (found,) = downloads(text.encode())
    return found


@pytest.mark.parametrize(
    ("address", "repo", "ref"),
    [
        ("https://github.com/o/r/archive/v1.2.tar.gz", "https://github.com/o/r", "v1.2"),
        ("https://github.com/o/r/archive/refs/tags/v1.2.zip", "https://github.com/o/r", "v1.2"),
        (f"https://github.com/o/r/archive/{OLD}.tar.gz", "https://github.com/o/r", OLD),
        ("https://github.com/o/r/releases/download/r-1.2/x.so", "https://github.com/o/r", "r-1.2"),
        ("https://github.com/o/r/releases/download/v1.2+cu/x.so", "https://github.com/o/r", "v1.2+cu"),
        ("https://github.com/o/r/tarball/v1.2", "https://github.com/o/r", "v1.2"),
        ("https://codeload.github.com/o/r/tar.gz/v1.2", "https://github.com/o/r", "v1.2"),
        ("https://gitlab.com/o/r/-/archive/v1.2/r-v1.2.tar.gz", "https://gitlab.com/o/r", "v1.2"),
        ("git+https://github.com/o/r.git@v1.2", "https://github.com/o/r", "v1.2"),
        ("git+https://github.com/o/r@v1.2#subdirectory=x", "https://github.com/o/r", "v1.2"),
        ("https://raw.githubusercontent.com/o/r/v1.2/install.sh", "https://github.com/o/r", "v1.2"),
        (f"https://raw.githubusercontent.com/o/r/{OLD}/install.sh", "https://github.com/o/r", OLD),
        ("https://${GITHUB_MIRROR}/o/r/archive/v1.2.tar.gz", "https://github.com/o/r", "v1.2"),
    ],
)
def test_the_repository_and_the_ref_of_an_address(address: str, repo: str, ref: str) -> None:
    text = f'curl -L "{address}" -o x\n'
    found = only(text)
    assert (found.repo, found.ref) == (repo, ref)
    assert text.encode()[found.start : found.end].decode() in address


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/o/r",
        "https://github.com/o/r/issues/12",
        "https://github.com/o/r/blob/v1.2/x.py",
        "https://raw.githubusercontent.com/o/r/main/install.sh",
        "https://${MIRROR}/o/r/archive/v1.2.tar.gz",
        "https://example.org/archive/v1.2.tar.gz",
    ],
)
def test_other_addresses(address: str) -> None:
    assert list(downloads(f"curl {address}\n".encode())) == []


def test_variables_in_the_ref() -> None:
    found = only("https://github.com/o/r/releases/download/v${UCX_VERSION}/ucx-$UCX_VERSION.tar.gz\n")
    assert found.variables == ["UCX_VERSION"]
    assert only("https://github.com/o/r/archive/v1.2.tar.gz\n").variables == []


@pytest.mark.parametrize(
    ("file", "wheel"),
    [
        ("sgl_kernel-0.3.1-cp310-abi3-linux_x86_64.whl", ("sgl-kernel", "0.3.1")),
        ("a-1.2%2Bcu130-py3-none-any.whl", ("a", "1.2%2Bcu130")),
        ("a-1.2.tar.gz", None),
    ],
)
def test_the_wheel_at_an_address(file: str, wheel: tuple[str, str] | None) -> None:
    assert only(f"https://github.com/o/r/releases/download/v1/{file}\n").wheel == wheel


def test_an_address_in_a_comment_is_none() -> None:
    assert list(downloads(b"  # https://github.com/o/r/archive/v1.2.tar.gz\n")) == []
    assert list(downloads(b"// https://github.com/o/r/archive/v1.2.tar.gz\n")) == []
    assert len(list(downloads(b"x # https://github.com/o/r/archive/v1.2.tar.gz\n"))) == 1


def test_comment_lines() -> None:
    assert is_comment(b"a\n  # b", 6)
    assert not is_comment(b"# a\nb", 4)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://${GITHUB_ARTIFACTORY}/o/r.git", "https://github.com/o/r.git"),
        ("https://$GITHUB/o/r", "https://github.com/o/r"),
        ("https://${MIRROR}/o/r.git", None),
        ("https://github.com/o/r.git", None),
    ],
)
def test_a_mirror_of_github_is_github(address: str, expected: str | None) -> None:
    assert repository(address) == expected


@given(st.binary(max_size=100).map(lambda tail: b"https://github.com/o/r/archive/" + tail))
def test_any_bytes_are_read(source: bytes) -> None:
    for found in downloads(source):
        assert source[found.start : found.end].startswith(b"https://")
