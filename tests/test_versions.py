import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pinctl.versions import fits, is_same, is_version, specifier_problem

numbers = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))


@given(numbers, numbers)
def test_the_short_way_agrees_with_packaging(version: str, least: str) -> None:
    assert fits(version, f">={least}") == (Version(version) >= Version(least))


@pytest.mark.parametrize(
    ("version", "specifier", "expected"),
    [
        ("0.1.11", ">=0.1.11", True),
        ("0.1.10", ">=0.1.11", False),
        ("1.0", ">=1", True),
        ("1", ">= 1.0", True),
        ("0.1.5.post2", "==0.1.5", False),
        ("1.5rc1", ">=1.0,<2", True),
        ("1.0rc1", ">=1.0", False),
        ("2.0", ">=1.0,<2", False),
        ("1.0+cu129", "==1.0", True),
    ],
)
def test_fits(version: str, specifier: str, expected: bool) -> None:
    assert fits(version, specifier) is expected
    assert SpecifierSet(specifier).contains(version, prereleases=True) is expected


@pytest.mark.parametrize("text", ["1", "0.1.5.post1", "1.0rc1", "1!2.0", "v1.0", "1.0+cu129", "1.0.dev3"])
def test_versions(text: str) -> None:
    assert is_version(text)


@pytest.mark.parametrize("text", ["", "main", "1.0-", "1..0", "9" * 5000, "1\n2"])
def test_no_versions(text: str) -> None:
    assert not is_version(text)


@pytest.mark.parametrize("text", [">=1", ">= 0.1.11", "<2,>=1", "~=1.4", "==1.*"])
def test_specifiers(text: str) -> None:
    assert specifier_problem(text) is None


@pytest.mark.parametrize("text", ["1.0", "newest", ">=", ">=1;", ">=" + "9" * 5000])
def test_no_specifiers(text: str) -> None:
    assert specifier_problem(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.0", "1.0.0", True), ("1.0-rc1", "1.0rc1", True), ("v1.0", "1.0", True), ("1!1", "1", False),
        ("0.1.5", "0.1.5.post2", False), ("1.0+cu129", "1.0", False), ("1.0+CU-129", "1.0+cu.129", True),
        ("main", "main", True), ("main", "1.0", False),
    ],
)  # fmt: skip
def test_two_spellings_of_one_version(one: str, other: str, same: bool) -> None:
    assert is_same(one, other) == same == is_same(other, one)
