from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.errors import ExternalError
from pinctl.external import wanting

ID = "ab" * 20
BRANCHES, TAGS = ["refs/heads/main", "refs/heads/a/b"], ["refs/tags/v1", "refs/tags/v1^{}"]
REFS = [(name, "1") for name in ("HEAD", *BRANCHES, *TAGS)]


@pytest.mark.parametrize(
    ("want", "place"),
    [("HEAD", "refs/pinctl/HEAD"), (ID, f"refs/pinctl/{ID}"), ("refs/heads/*", "refs/heads/*"),
     ("refs/tags/v1.0+cu12", "refs/tags/v1.0+cu12"), ("refs/pull/7/head", "refs/pull/7/head")],
)  # fmt: skip
def test_what_may_be_asked(want: str, place: str) -> None:
    wanting.check([want])
    assert wanting.refspec(want) == f"+{want}:{place}"


@settings(max_examples=200)
@given(st.text("arefs/hd.*@{}+:-^~\n \\", max_size=30))
def test_what_may_be_asked_is_one_refspec_and_no_option(text: str) -> None:
    try:
        wanting.check([text])
    except ExternalError:
        return
    assert text.startswith("refs/")
    assert wanting.refspec(text).count(":") == 1
    assert not set(text) & set(":^~\n \\")
    assert ".." not in text
    assert text.count("*") <= 1


def test_the_head_has_its_own_name_again() -> None:
    assert wanting.remote(wanting.refspec("HEAD").partition(":")[2]) == "HEAD"
    assert wanting.remote("refs/heads/main") == "refs/heads/main"


@pytest.mark.parametrize(
    ("patterns", "found"),
    [(["HEAD"], ["HEAD"]), (["refs/heads/*"], BRANCHES), (["refs/heads/mai"], []), (["refs/tags/v1"], TAGS),
     (["refs/tags/v*", "HEAD"], ["HEAD", *TAGS])],
)  # fmt: skip
def test_patterns(patterns: list[str], found: list[str]) -> None:
    assert list(wanting.matching(REFS, patterns)) == found
