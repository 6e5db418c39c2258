from __future__ import annotations

import pytest

from pinctl.model import Pin
from pinctl.upstream import difference, following
from pinctl.upstream.evidence import Evidence
from pinctl.upstream.submodules import Listing, Submodule

from .support import forest, tree

A, B = "a1" * 20, "b2" * 20


def pin(**fields: object) -> Pin:
    return Pin(name="dg", repo="https://h/o/r", commit=A)._replace(**fields)  # type: ignore[arg-type]


def listing(*modules: Submodule) -> Listing:
    return Listing({module.path: module for module in modules}, names={m.name or "": m.path for m in modules})


def test_a_submodule_that_moved_takes_its_include_directory_along() -> None:
    old = listing(Submodule("lib/fmt", A, "fmt", "https://h/fmt"), Submodule("lib/x", A, "x", "https://h/x"))
    new = listing(Submodule("third-party/fmt", A, "fmt", "https://h/fmt"), Submodule("lib/x", A, "x", "https://h/x"))
    moves = difference.moves(old, new)
    assert [(move.path, move.was) for move in moves] == [("third-party/fmt", "lib/fmt")]
    there = tree({"csrc/a.h": ""}, gitlinks={"third-party/fmt": A, "lib/x": A})
    inner = {"third-party/fmt": tree({"include/f.h": ""}), "lib/x": tree({"x.h": ""})}
    after = Evidence(forest=following.Forest(there, inner), listing=new)
    declared = pin(submodules=("lib/fmt", "lib/x"), include_dirs=("csrc", "lib/fmt/include", "lib/fmt/gone"))
    assert following.moved_paths(declared, moves, after) == {
        "submodules": ("third-party/fmt", "lib/x"),
        "include_dirs": ("csrc", "third-party/fmt/include", "lib/fmt/gone"),
    }
    assert following.moved_paths(pin(submodules=("lib/x",)), moves, after) == {}


def test_a_path_that_another_submodule_took_is_no_move() -> None:
    old = listing(Submodule("a", A, "one", "https://h/1"), Submodule("b", A, "two", "https://h/2"))
    new = listing(Submodule("b", B, "one", "https://h/1"))
    moves = difference.moves(old, new)
    assert [(m.path, m.before and m.before.commit, m.after and m.after.commit) for m in moves] == [
        ("a", A, None), ("b", A, B),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "tag", "version"),
    [
        ({"version": "2.6", "tag": "v2.6"}, "v2.7", "2.7"),
        ({"version": "2.6"}, "v2.7", "2.7"),
        ({"version": "9.9", "tag": "v2.5"}, "v2.7", None),  # was never the tag's
        ({}, "v2.7", None),
        ({"version": "2.6"}, None, "3.0"),  # what __init__.py says, which said 2.6
        ({"version": "2.6.1"}, None, None),
    ],
)
def test_the_version_follows_what_said_it(fields: dict[str, str], tag: str | None, version: str | None) -> None:
    before = tree({"dg/__init__.py": "__version__ = '2.6'\n", "VERSION": "9\n"})
    after = tree({"dg/__init__.py": "__version__ = '3.0'\n", "VERSION": "10\n"})
    assert following.version(pin(**fields), tag, before, after) == version


def test_nested_gitlinks_follow() -> None:
    after = Evidence(listing=listing(Submodule("csrc/cutlass", B, "c", "https://h/c")))
    nested = {"csrc/cutlass": A, "gone": A}
    assert following.nested(pin(nested=nested), (), after) == {"csrc/cutlass": B}
    assert following.nested(pin(), ("csrc/cutlass", "gone"), after) == {"csrc/cutlass": B}


def test_the_archive_of_another_commit() -> None:
    archive = {"url": f"https://h/o/r/archive/{A}.tar.gz", "prefix": f"r-{A}", "sha256": "00"}
    assert following.archive(pin(archive=archive), B, None) == {
        "url": f"https://h/o/r/archive/{B}.tar.gz", "prefix": f"r-{B}",
    }  # fmt: skip
    tagged = pin(tag="v1.2", archive={"url": "https://h/v1.2/r-1.2.tgz", "prefix": "r-1.2"})
    assert following.archive(tagged, B, "v1.2.1") == {"url": "https://h/v1.2.1/r-1.2.1.tgz", "prefix": "r-1.2.1"}


def test_what_is_gone_and_what_may_have_taken_its_place() -> None:
    after = forest({"csrc/a.h": "", "moved/csrc/api/b.h": ""}, third_party={"deep/include/x.h": "", "y.h": ""})
    moves = [difference.Move("third-party", None, Submodule("third-party", B))]
    declared = pin(submodules=("old", "third-party"), include_dirs=("old/include", "csrc"))
    submodules, folders = following.decisions(declared, moves, after)
    assert submodules == ("submodules", ("old",), ("third-party",), ("third-party",))
    assert folders == (
        "include_dirs", ("old/include",), ("third-party/deep/include",), ("third-party/deep/include", "csrc"),
    )  # fmt: skip
    (lost,) = following.decisions(pin(include_dirs=("csrc", "lib/csrc/api")), [], after)
    assert (lost.offers, lost.suggested) == (("moved/csrc/api",), ("csrc", "moved/csrc/api"))
    assert list(following.decisions(pin(submodules=("third-party",), include_dirs=("csrc",)), moves, after)) == []


def test_headers_at_the_root_of_a_submodule_are_offered_as_its_folder() -> None:
    assert difference.offers(forest({}, jit={"jit.h": "", "src/a.cpp": ""}), "jit") == ("jit",)
    assert difference.offers(forest({}, jit=None), "jit") == ()


def test_the_version_where_the_old_tree_is_lost() -> None:
    after = tree({"dg/__init__.py": "__version__ = '3.0'\n"})
    assert following.version(pin(version="2.6"), None, None, after) == "3.0"
    assert following.version(pin(version="2.6"), None, None, tree({})) is None
