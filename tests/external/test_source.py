from __future__ import annotations

import os
import tempfile
from posixpath import dirname, join

from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.external.source import _leaving, _twins

NAMES = st.sampled_from(["a", "b", "c", "..", ".", "a/b", "b/c/a"])
TARGETS = st.lists(st.sampled_from(["a", "b", "c", "..", ".", ""]), min_size=1, max_size=5).map("/".join)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["l", "m", "a/l", "a/b/m", "c/l"]), TARGETS, max_size=4))
def test_links_that_are_let_through_stay_inside(links: dict[str, str]) -> None:
    links = {link: target for link, target in links.items() if target}
    if _leaving("", links) is not None:
        return
    with tempfile.TemporaryDirectory() as top:
        root = os.path.join(os.path.realpath(top), "root")
        os.makedirs(root)
        for link, target in links.items():
            os.makedirs(os.path.join(root, dirname(link)), exist_ok=True)
            os.symlink(target, os.path.join(root, link))
        for link in links:
            real = os.path.realpath(os.path.join(root, link))
            assert real == root or real.startswith(f"{root}/")


def test_which_links_leave() -> None:
    for target in ("/etc/passwd", "..", "../x", "a/../../x", "here/..", "./.."):
        assert _leaving("", {"l": target}) == "l"
    for target in ("x", ".", "./x", "a/b"):
        assert _leaving("", {"l": target}) is None
    assert _leaving("", {"a/b/l": "../../x"}) is None
    assert _leaving("", {"a/b/l": "../../../x"}) == "a/b/l"
    assert _leaving("third-party/x", {"l": "../../x"}) is None  # inside the source, out of the submodule
    assert _leaving("third-party/x", {"l": "../../../x"}) == join("third-party/x", "l")


def test_twins_of_files_and_folders() -> None:
    assert list(_twins(["a/b", "a/c", "d"])) == []
    assert list(_twins(["A/b", "a"])) == [("A", "a")]
    assert list(_twins(["Inc/a.h", "inc/a.h"])) == [("Inc/a.h", "inc/a.h"), ("Inc", "inc")]
    assert list(_twins(["caf\u00e9", "cafe\u0301"])) == [("caf\u00e9", "cafe\u0301")]
