from __future__ import annotations

import pytest

from pinctl.contract.breaks.build import closure, copies, paths, submodules, vendored
from pinctl.contract.breaks.lookup import Lookup
from pinctl.contract.model import Action, BuildUse, Guard, Place, Surface, Uses
from pinctl.upstream.forest import Forest
from pinctl.upstream.tree import Entry, Tree

from ..support import module, surface, use

CMAKE = Place("cmake/up.cmake", 7, 3)


def forest(*files: str, links: tuple[str, ...] = ()) -> Forest:
    entries = [*(Entry(f, "100644", "b" * 40) for f in files), *(Entry(p, "160000", "c" * 40) for p in links)]
    tree = Tree.of("a" * 40, entries, lambda _ids, _limit: {})
    return Forest(tree, dict.fromkeys(links))


def names(path: str, glob: bool | None = None) -> BuildUse:
    return BuildUse(path, CMAKE, Action.NAMES, glob)


def copying(path: str, glob: bool | None = None, line: int = 1, without: tuple[str, ...] = ()) -> BuildUse:
    return BuildUse(path, Place("cmake/up.cmake", line), Action.COPIES, glob, without)


# --- paths ---


@pytest.mark.parametrize(
    ("use", "gone"),
    [
        (names("csrc/api.cpp"), True),
        (names("csrc"), False),
        (names("csrc/new.cpp"), False),
        (names("old/*.h", glob=False), True),
        (names("csrc/*.cpp", glob=True), False),
        (names("lib/include"), False),
        (names("lib/*.h", glob=True), False),
    ],
)
def test_a_path_that_is_gone(use: BuildUse, *, gone: bool) -> None:
    before = forest("csrc/api.cpp", "old/a.h", "old/b/c.h", links=("lib",))
    after = forest("csrc/new.cpp", "old/b/c.h", links=("lib",))
    assert [b.symbol for b in paths(before, after, [use])] == [use.path] * gone


def test_what_is_told_of_a_path() -> None:
    before = forest("third-party/fmt/include/fmt/base.h")
    after = forest("third-party/jit/include/jit.h")
    (found,) = paths(before, after, [names("third-party/fmt/include")] * 2)
    assert (found.code, found.place, found.baseline) == ("PIN405", CMAKE, False)
    assert found.what == "third-party/fmt/include is gone, and the build names it"
    assert found.hint == "folders of that name: third-party/jit/include"
    assert [b.baseline for b in paths(after, after, [names("third-party/fmt/include")])] == [True]


def test_of_the_globs_of_one_folder_one_is_enough() -> None:
    globs = [names("include/*.h", glob=True), names("include/*.cuh", glob=True)]
    assert list(paths(forest("include/a.h", "include/b.cuh"), forest("include/b.cuh"), globs)) == []
    assert len(list(paths(forest("include/a.h", "include/b.cuh"), forest("x"), globs))) == 2


def test_a_path_in_a_submodule_that_is_gone() -> None:
    before, after = forest("a", links=("third-party/fmt",)), forest("a", links=("third-party/jit",))
    (found,) = paths(before, after, [names("third-party/fmt/include")])
    assert found.what == "third-party/fmt/include is gone, and the build names it"


def test_a_submodule_that_is_gone() -> None:
    declared = ("third-party/cutlass", "third-party/fmt")

    def told(before: Forest, after: Forest) -> list[tuple[str, int, str | None]]:
        found = submodules(before, after, declared, lambda number: Place("pins.toml", 5 + number))
        return [(b.symbol, b.place.line, b.hint) for b in found]

    before = forest(links=declared)
    after = forest(links=("lib/fmt", "third-party/cutlass"))
    assert told(before, after) == [("third-party/fmt", 6, "it may be lib/fmt now")]
    after = forest(links=("third-party/cutlass",))
    assert told(before, after) == [("third-party/fmt", 6, "its submodules are: third-party/cutlass")]
    assert told(before, before) == told(after, after) == []


# --- what is copied ---


@pytest.mark.parametrize(
    ("rule", "file", "copied"),
    [
        (copying("up/__init__.py"), "up/__init__.py", True),
        (copying("up"), "up/sub/a.py", True),
        (copying("up"), "upper/a.py", False),
        (copying("."), "up/a.py", True),
        (copying("up/*.py", glob=False), "up/a.py", True),
        (copying("up/*.py", glob=False), "up/sub/a.py", False),
        (copying("up/*.py", glob=True), "up/sub/a.py", True),
        (copying("up/*.py", glob=True), "up/sub/a.pyi", False),
        (copying("up/**/*.py", glob=True), "up/x/a.py", True),
        (copying("*/a.py", glob=False), "up/a.py", True),
        (copying("up", without=("tests", "*.pyi")), "up/a.py", True),
        (copying("up", without=("tests", "*.pyi")), "up/sub/tests/a.py", False),
        (copying("up", without=("tests", "*.pyi")), "up/a.pyi", False),
        (copying("up/tests", without=("tests",)), "up/tests/a.py", True),
        (copying("up/*.py", glob=True, without=("tests",)), "up/tests/a.py", False),
    ],
)
def test_what_a_rule_copies(rule: BuildUse, file: str, *, copied: bool) -> None:
    assert copies(rule, file) is copied


def package(*, mega: bool) -> Surface:
    imports = {"up/__init__.py": ("up/utils/__init__.py", *(["up/mega/__init__.py"] * mega))}
    return surface("up.f()", *(["up.mega.g()"] * mega), imports=imports)


RULES = (copying("up/__init__.py", line=10), copying("up/utils/*.py", glob=True, line=14))


def test_a_module_that_is_not_copied() -> None:
    before, after = Lookup(package(mega=False)), Lookup(package(mega=True))
    used = Uses((use("up.f", "1"),), RULES)
    (found,) = vendored(before, after, used)
    assert (found.symbol, found.code, found.baseline) == ("up/mega/__init__.py", "PIN404", False)
    assert found.what == "`up` imports up/mega/__init__.py, which the build does not copy"
    assert found.place == Place("cmake/up.cmake", 14)
    assert found.hint == "copy it beside up/utils/*.py"
    assert [b.baseline for b in vendored(after, after, used)] == [True]


@pytest.mark.parametrize("rules", [(), (copying("include"),), (*RULES, copying("up/mega/*.py", glob=True))])
def test_nothing_is_missing_where_nothing_or_all_is_copied(rules: tuple[BuildUse, ...]) -> None:
    before, after = Lookup(package(mega=False)), Lookup(package(mega=True))
    assert list(vendored(before, after, Uses((use("up.f"),), rules))) == []


def test_the_closure_begins_where_names_are_used() -> None:
    imports = {"up/a/__init__.py": ("up/b.py",), "up/b.py": ("up/a/__init__.py", "up/c.py")}
    lookup = Lookup(surface(module("up"), module("up.a"), "up.a.f()", "up.z.g()", imports=imports))
    assert closure(lookup, [use("up.a.f")]) == {
        "up/__init__.py": "up", "up/a/__init__.py": "up.a", "up/b.py": "up.a", "up/c.py": "up.a",
    }  # fmt: skip
    assert closure(lookup, [use("up.a.f", guards=[Guard.TYPE_CHECKING]), use("gone.f")]) == {}
