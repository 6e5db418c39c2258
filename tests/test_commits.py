import pytest

from pinctl.commits import is_full
from pinctl.manifest.rules import broken_commit

SHA1, SHA256 = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4", "0123456789abcdef" * 4


@pytest.mark.parametrize("text", [SHA1, SHA256])
def test_full(text: str) -> None:
    assert is_full(text)
    assert broken_commit(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ad1f172", "PIN105"),
        (SHA1[:-1], "PIN105"),
        (SHA1 + "0", "PIN105"),
        ("abc", "PIN106"),
        ("main", "PIN106"),
        ("v2.8.0", "PIN106"),
        ("HEAD", "PIN106"),
        ("", "PIN106"),
        (SHA1.upper(), "PIN106"),
        (SHA1 + "\n", "PIN106"),
        (SHA1[:-1] + "g", "PIN106"),
        (SHA1[:-1] + "\u0661", "PIN106"),  # a digit, but none of git's
    ],
)
def test_broken(text: str, code: str) -> None:
    broken = broken_commit(text)
    assert broken is not None
    assert broken.code == code
    assert not is_full(text)
