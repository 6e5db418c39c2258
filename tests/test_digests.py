"""Digests in hex and as SRI."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import digests


@given(st.binary(max_size=20), st.sampled_from(["sha256", "sha384", "sha512"]))
def test_hex_and_sri_are_two_spellings_of_one_digest(data: bytes, name: str) -> None:
    digest = hashlib.new(name, data)
    spelled = digests.sri(digest.hexdigest())
    assert spelled == f"{name}-{base64.b64encode(digest.digest()).decode()}"
    assert digests.from_sri(spelled) == digest.hexdigest()
    assert digests.algorithm(digest.hexdigest()) == name


@pytest.mark.parametrize(("digits", "name"), [(32, "md5"), (40, "sha1"), (64, "sha256"), (33, None), (0, None)])
def test_algorithms_by_length(digits: int, name: str | None) -> None:
    assert digests.algorithm("a" * digits) == name


@pytest.mark.parametrize("digest", ["", "ab" * 20, "zz" * 32, "ab"])
def test_what_has_no_sri(digest: str) -> None:
    with pytest.raises(ValueError, match="no hex digest"):
        digests.sri(digest)


@pytest.mark.parametrize(
    "text", ["", "sha256-", "sha256-AAAA", "md5-AAAA", "sha256-" + "A" * 41, "ab" * 32, "sha512-" + "A" * 43 + "="]
)
def test_what_is_no_sri(text: str) -> None:
    assert digests.from_sri(text) is None
