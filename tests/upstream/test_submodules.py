from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.upstream.submodules import MOST, Listing, absolute, read

from .support import COMMIT, tree

PARENT = "https://github.com/o/kernels.git"


def listing(modules: str, *links: str) -> Listing:
    return read(tree({".gitmodules": modules}, gitlinks=dict.fromkeys(links, COMMIT)), PARENT)


def entry(path: str = "ext/fmt", url: str = "https://github.com/f/fmt", name: str | None = None, more: str = "") -> str:
    return f'[submodule "{path if name is None else name}"]\n\tpath = {path}\n\turl = {url}\n{more}'


def test_a_submodule() -> None:
    found = listing(entry(), "ext/fmt").submodules["ext/fmt"]
    assert (found.path, found.commit, found.name, found.url, found.problem) == (
        "ext/fmt", COMMIT, "ext/fmt", "https://github.com/f/fmt", None,
    )  # fmt: skip


def test_the_path_counts_and_the_name_may_be_an_old_one() -> None:
    found = listing(entry("ext/new", name="ext/old") + entry("ext/old", name="other"), "ext/new", "ext/old")
    assert {path: module.name for path, module in found.submodules.items()} == {
        "ext/new": "ext/old",
        "ext/old": "other",
    }
    assert found.names == {"ext/old": "ext/new", "other": "ext/old"}


def test_an_entry_without_a_path_is_found_by_its_name() -> None:
    assert listing('[submodule "m"]\n\turl = https://h/o/m\n', "m").submodules["m"].url == "https://h/o/m"


def test_a_gitlink_without_an_entry_and_an_entry_without_a_gitlink() -> None:
    found = listing(entry("gone"), "ext/fmt")
    assert (found.submodules["ext/fmt"].url, found.submodules["ext/fmt"].name) == (None, None)
    assert found.stray == ("gone",)


def test_of_two_values_the_last_one_holds() -> None:
    assert (
        listing(entry(more="\turl = https://h/o/later\n"), "ext/fmt").submodules["ext/fmt"].url == "https://h/o/later"
    )


@pytest.mark.parametrize(
    ("parent", "url", "found"),
    [
        ("https://h/o/kernels.git", "../fmt.git", "https://h/o/fmt.git"),
        ("https://h/o/kernels", "../../x/fmt", "https://h/x/fmt"),
        ("https://h/o/kernels/", "../fmt/", "https://h/o/fmt"),
        ("https://h/o/kernels", "./fmt", "https://h/o/kernels/fmt"),
        ("https://h/o/kernels", ".././fmt", "https://h/o/fmt"),
        ("git@h:o/kernels.git", "../fmt.git", "git@h:o/fmt.git"),
        ("git@h:kernels.git", "../fmt.git", "git@h:fmt.git"),
        ("https://h/o/kernels", "../../../evil/x", None),
        ("https://h/o/kernels", "https://other/x", "https://other/x"),
        ("ssh://git@h:22/o/k", "../fmt", "ssh://git@h:22/o/fmt"),
    ],
)
def test_relative_urls(parent: str, url: str, found: str | None) -> None:
    assert absolute(parent, url) == found


@given(st.lists(st.sampled_from(["../", "./"]), max_size=6), st.sampled_from(["fmt", "a/b", "evil.com/x", "/evil"]))
def test_a_relative_url_never_reaches_another_host(steps: list[str], name: str) -> None:
    found = absolute("https://h/o/k", "".join(steps) + name)
    assert not steps or found is None or found.startswith("https://h/")


@pytest.mark.parametrize(
    "modules",
    [
        entry(name="../../e"),
        entry(name="a/../b"),
        entry(name="a\\\\..\\\\b"),
        entry(name=""),
        entry(url="-u./payload"),
        entry(url="ext::sh -c id"),
        entry(url="file:///srv/x"),
        entry(url="/srv/x"),
        entry(url="ssh://-oProxyCommand=x/y"),
        entry(url="https://user:secret@h/x"),
        entry(url="../../../../x"),
        entry(url="//evil/x"),
    ],
)
def test_hostile_entries_are_refused(modules: str) -> None:
    found = listing(modules, "ext/fmt").submodules["ext/fmt"]
    assert found.url is None
    assert found.problem
    assert "secret" not in found.problem


@pytest.mark.parametrize("path", ["-x", "sub\r", "../e", "a/.git/b", "x\ny"])
def test_hostile_paths_are_refused(path: str) -> None:
    found = read(tree({".gitmodules": entry()}, gitlinks={path: COMMIT}), PARENT).submodules[path]
    assert found.problem
    assert found.url is None


def test_update_and_include_are_not_looked_at() -> None:
    more = "\tupdate = !touch /tmp/canary\n[include]\n\tpath = /etc/passwd\n"
    assert listing(entry(more=more), "ext/fmt").submodules["ext/fmt"].problem is None


def test_gitmodules_is_a_regular_file() -> None:
    found = read(tree({"real": entry()}, {".gitmodules": "real"}, {"ext/fmt": COMMIT}), PARENT)
    assert found.problem == "its .gitmodules is a symbolic link"
    assert found.submodules["ext/fmt"].url is None


def test_no_endless_number_of_submodules() -> None:
    links = [f"m{number}" for number in range(MOST + 1)]
    found = listing("".join(map(entry, links)), *links)
    assert len(found.submodules) == MOST
    assert found.problem == f"it has {MOST + 1} submodules, and {MOST} are looked at"


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(modules: bytes) -> None:
    found = read(tree({".gitmodules": modules}, gitlinks={"m": COMMIT}), PARENT)
    assert list(found.submodules) == ["m"]
