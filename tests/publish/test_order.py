from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pinctl.publish.order import ordered

SITE = [
    "index.html", "release/cu129/index.html", "release/cu129/index.v1_json", "release/cu129/tinyk/index.html",
    "release/cu129/tinyk/index.v1_json", "files/a.whl", "files/a.whl.metadata", "wheels.jsonl", ".nojekyll",
    ".pinctl-index",
]  # fmt: skip


def test_nothing_is_linked_to_before_it_is_there() -> None:
    assert ordered(SITE) == [
        "files/a.whl.metadata", "files/a.whl", ".nojekyll", ".pinctl-index", "wheels.jsonl",
        "release/cu129/tinyk/index.v1_json", "release/cu129/tinyk/index.html", "release/cu129/index.v1_json",
        "release/cu129/index.html", "index.html",
    ]  # fmt: skip


@given(st.permutations(SITE))
def test_the_order_is_one(paths: list[str]) -> None:
    assert ordered(paths) == ordered(SITE)
