from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.upstream import links

A, B = "a" * 40, "b" * 64


@pytest.mark.parametrize(
    ("repo", "page"),
    [
        ("https://github.com/deepseek-ai/DeepGEMM.git", "https://github.com/deepseek-ai/DeepGEMM/"),
        ("https://github.com/deepseek-ai/DeepGEMM", "https://github.com/deepseek-ai/DeepGEMM/"),
        ("https://github.com//deepseek-ai/DeepGEMM/", "https://github.com/deepseek-ai/DeepGEMM/"),
        ("git@github.com:deepseek-ai/DeepGEMM.git", "https://github.com/deepseek-ai/DeepGEMM/"),
        ("ssh://git@ssh.github.com:443/o/r.git", "https://github.com/o/r/"),
        ("https://WWW.GitHub.com/o/r", "https://github.com/o/r/"),
        ("https://gitlab.com/group/inner/r.git", "https://gitlab.com/group/inner/r/-/"),
        ("ssh://git@gitlab.example.com:2222/group/r.git", "https://gitlab.example.com/group/r/-/"),
        ("https://gitlab.example.com:8443/group/r", "https://gitlab.example.com:8443/group/r/-/"),
        ("https://codeberg.org/o/r.git", "https://codeberg.org/o/r/"),
        ("git@gitea.example.org:o/r.git", "https://gitea.example.org/o/r/"),
    ],
)
def test_a_known_server_has_a_page_of_each_commit(repo: str, page: str) -> None:
    assert links.commit(repo, A) == f"{page}commit/{A}"
    assert links.compare(repo, A, B) == f"{page}compare/{A}...{B}"


@pytest.mark.parametrize(
    ("repo", "address"),
    [
        ("https://github.com/o/r", "https://github.com/o/r/pull/12"),
        ("https://gitlab.com/o/r", "https://gitlab.com/o/r/-/merge_requests/12"),
        ("https://codeberg.org/o/r", "https://codeberg.org/o/r/pulls/12"),
    ],
)
def test_requests_are_named_as_each_server_does(repo: str, address: str) -> None:
    assert links.request(repo, 12) == address
    assert links.request(repo, 0) is None


@pytest.mark.parametrize(
    "repo",
    [
        "https://example.com/o/r", "https://github.com.evil/o/r", "https://notgithub.com/o/r", "https://mygitlab.com/o/r",
        "https://user:pw@github.com/o/r", "https://github.com@evil.example/o/r", "/srv/o/r", "file:///srv/o/r",
        "https://github.com/o", "https://github.com/o/r/tree", "https://github.com/o/r?x=y", "https://github.com/",
        "https://github.com/o/..", "https://github.com/o/%22onclick", "https://gitlab.com/o", "javascript:alert(1)",
        "ext::sh -c x", "",
    ],
)  # fmt: skip
def test_no_page_is_made_up(repo: str) -> None:
    assert (links.commit(repo, A), links.compare(repo, A, B), links.request(repo, 1)) == (None, None, None)


@pytest.mark.parametrize("id_", ["main", "a" * 39, f"{A}\n", "A" * 40, "", "../../x"])
def test_only_full_ids_have_a_page(id_: str) -> None:
    repo = "https://github.com/o/r"
    assert (links.commit(repo, id_), links.compare(repo, A, id_), links.compare(repo, id_, A)) == (None, None, None)


@given(st.text() | st.text().map("https://github.com/{}".format) | st.text().map("git@gitlab.x.y:{}".format))
def test_any_text_has_a_plain_https_page_or_none(repo: str) -> None:
    page = links.commit(repo, A)
    assert page is None or (page.startswith("https://") and page.isascii() and not set(page) & set("\"'<>()[] \\`|"))
