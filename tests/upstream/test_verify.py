from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pinctl import manifest
from pinctl.finding import Finding
from pinctl.upstream import submodules
from pinctl.upstream.evidence import Evidence, Module, Reach
from pinctl.upstream.forest import Forest
from pinctl.upstream.references import Reference, Span
from pinctl.upstream.submodules import Listing, Submodule
from pinctl.upstream.verify import Report, reading, verify

from .support import COMMIT, forest, tree

HEAD = f"""\
schema = 1
[pins.up]
repo   = "https://github.com/o/up.git"
commit = "{COMMIT}"
unused = true
"""
LINE = 6
"""The line of the first key that a test adds."""


def report(here: Forest, *lines: str, references: tuple[Reference, ...] = (), **evidence: object) -> Report:
    made = manifest.parse(HEAD + "".join(f"{line}\n" for line in lines))
    listing = submodules.read(here.root, "https://github.com/o/up.git")
    known = Evidence(reach=Reach.BRANCH, branch="main", forest=here, listing=listing)
    return verify(made.pins["up"], made, replace(known, **evidence), references)  # type: ignore[arg-type]


def told(findings: Report) -> list[tuple[str, str, int]]:
    """Code, severity and line of each finding; all lie in pins.toml."""
    assert all(f.pin == "up" and f.file == "pins.toml" and f.span for f in findings.findings)
    return [(f.code, f.severity.value, f.span.line if f.span else 0) for f in findings.findings]


def only(found: Report) -> Finding:
    (finding,) = found.findings
    return finding


def test_a_true_pin() -> None:
    assert report(forest({"a.h": "#include <vector>\n"})) == Report()


# --- the commit ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reach", "found"),
    [(Reach.BRANCH, []), (Reach.MIRROR, []), (None, []), (Reach.ID, [("PIN302", "warning", 4)]),
     (Reach.GONE, [("PIN301", "error", 4)])],
)  # fmt: skip
def test_where_the_commit_stands(reach: Reach | None, found: list[tuple[str, str, int]]) -> None:
    assert told(report(forest({}), reach=reach)) == found


def test_a_remote_that_failed() -> None:
    failed = report(forest({}), reach=None, forest=None, failure="no route", hint="try")
    assert told(failed) == [("PIN320", "error", 3)]
    assert only(failed).hint == "try"
    assert told(report(forest({}), reach=None, forest=None, failure="bad", refused=True)) == [("PIN321", "error", 3)]


@pytest.mark.parametrize(
    ("tag", "asked", "codes"),
    [(COMMIT, True, []), (None, True, ["PIN303"]), ("ab" * 20, True, ["PIN303"]), (None, False, [])],
)
def test_a_tag(tag: str | None, asked: bool, codes: list[str]) -> None:
    found = report(forest({}), 'tag = "v1"', tag=tag, tag_asked=asked)
    assert [f.code for f in found.findings] == codes
    assert all(f.span and f.span.line == LINE for f in found.findings)


def test_a_tag_keeps_a_commit_that_no_branch_has() -> None:
    assert told(report(forest({}), 'tag = "v1"', tag=COMMIT, tag_asked=True, reach=Reach.ID)) == []


# --- submodules ---------------------------------------------------------------------------------------------------


def with_modules(names: Mapping[str, str], *links: str) -> Forest:
    """A tree whose .gitmodules has entries from name to path, and whose gitlinks are `links`."""
    modules = "".join(f'[submodule "{n}"]\n\tpath = {p}\n\turl = ../{n}\n' for n, p in names.items())
    return Forest(tree({".gitmodules": modules, "ext/kept/x": ""}, gitlinks=dict.fromkeys(links, COMMIT)), {})


def test_declared_and_there() -> None:
    assert told(report(with_modules({"a": "ext/a"}, "ext/a"), 'submodules = ["ext/a"]')) == []
    assert told(report(with_modules({"a": "ext/a"}, "ext/a"))) == []
    assert told(report(with_modules({"a": "ext/a"}, "ext/a"), "submodules = []")) == []


def test_removed_added_and_renamed() -> None:
    found = report(with_modules({"ext/fmt": "third/fmt", "n": "ext/new"}, "third/fmt", "ext/new"),
                   'submodules = [', '"ext/fmt",', '"ext/gone",', "]")  # fmt: skip
    assert sorted(told(found)) == [("PIN304", "error", 7), ("PIN304", "error", 8), ("PIN305", "warning", 6),
                                   ("PIN305", "warning", 6)]  # fmt: skip
    hints = {f.message: f.hint for f in found.findings}
    assert hints["the tree has no submodule ext/fmt"] == 'it may be "third/fmt" now'
    assert hints["the tree has no submodule ext/gone"] == "its submodules are: ext/new, third/fmt"


def test_one_that_became_a_folder() -> None:
    found = report(with_modules({}), 'submodules = ["ext/kept"]')
    assert only(found).message == "the tree has no submodule ext/kept, but a folder of its own there"


def test_an_entry_without_a_submodule() -> None:
    assert told(report(with_modules({"a": "ext/a"}))) == [("PIN307", "warning", 4)]
    assert told(report(with_modules({"a": "ext/a"}), "submodules = []")) == []


def module(reach: Reach | None = Reach.ID, **changes: object) -> dict[str, Module]:
    given = {"name": "a", "url": "https://github.com/o/a"} | changes
    failure = given.pop("failure", None)
    refused = given.pop("refused", False)
    return {"ext/a": Module(Submodule("ext/a", "ab" * 20, **given), reach, failure, refused)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("modules", "code"),
    [
        (module(Reach.GONE), "PIN308"),
        (module(None, name=None, url=None), "PIN306"),
        (module(None, url=None), "PIN306"),
        (module(None, url=None, problem="its name is odd"), "PIN309"),
        (module(None, failure="no answer"), "PIN320"),
        (module(None, failure="a bomb", refused=True), "PIN321"),
    ],
)
def test_a_submodule_that_cannot_be_had(modules: dict[str, Module], code: str) -> None:
    here = with_modules({"a": "ext/a"}, "ext/a")
    assert told(report(here, "submodules = [", '"ext/a",', "]", modules=modules)) == [(code, "error", 7)]
    assert told(report(here, modules=modules)) == [(code, "error", 4)]


def test_submodules_that_are_refused_whole() -> None:
    assert told(report(forest({}), listing=Listing(problem="it is a link"))) == [("PIN309", "error", 4)]


def test_nested_commits() -> None:
    here = with_modules({"a": "ext/a"}, "ext/a")
    assert told(report(here, f'nested."ext/a" = "{COMMIT}"')) == []
    found = report(here, f'nested."ext/a" = "{"ab" * 20}"')
    assert told(found) == [("PIN319", "error", LINE)]
    assert (only(found).expected, only(found).found) == (COMMIT, "ab" * 20)


def test_nested_gitlinks_that_are_not_there() -> None:
    here = with_modules({"a": "ext/a"}, "ext/a")
    found = report(here, f'nested."old/a" = "{COMMIT}"')
    assert told(found) == [("PIN319", "error", LINE)]
    assert (only(found).message, only(found).hint) == ("the tree has no gitlink at old/a", "it may be ext/a now")
    asked = report(here, 'sites.f.X = "{nested:ext/b}"')
    assert told(asked) == [("PIN319", "error", 2)]
    assert only(asked).hint == "its gitlinks are: ext/a"
    assert told(report(here, 'sites.f.X = "{nested:ext/a}"')) == []
    assert only(report(forest({}), f'nested.a = "{COMMIT}"')).hint == "drop the entry"
    below = report(forest({}, away=None).only(()), f'nested."away/x" = "{COMMIT}"', "submodules = []")
    assert told(below) == [("PIN319", "warning", LINE)]
    assert only(below).hint == 'add "away" to `submodules`'


# --- paths --------------------------------------------------------------------------------------------------------


def test_include_dirs() -> None:
    here = forest({"csrc/a.h": ""}, deep_jit={"deep_jit/include/x.h": ""}, away=None)
    lines = ['include_dirs = ["csrc", "deep-jit/deep_jit/include", "away/x",', '"third-party/fmt/include"]']
    found = report(here, *lines, 'submodules = ["deep-jit", "away"]', listing=Listing(here.root.gitlinks))  # type: ignore[arg-type]
    assert told(found) == [("PIN310", "error", 7)]
    assert only(found).message == "the tree has no folder third-party/fmt/include"
    assert only(found).hint == "folders of that name: deep-jit/deep_jit/include"


def test_an_include_dir_in_a_submodule_that_is_not_declared() -> None:
    here = with_modules({"fmt": "ext/fmt"}, "ext/fmt")
    found = report(here, "submodules = []", 'include_dirs = ["ext/fmt/include"]')
    assert only(found).message.endswith(": it lies in the submodule ext/fmt, which the pin does not declare")


def test_globs() -> None:
    here = forest({"csrc/jit/a.hpp": ""})
    found = report(here, 'header_globs = ["csrc/*.hpp",', '"csrc/*.h",', '"lib/*.h"]')
    assert told(found) == [("PIN311", "warning", 7), ("PIN311", "error", 8)]


def test_paths_that_build_files_name() -> None:
    here = forest({"csrc/a.hpp": ""})
    named = [("csrc", None), ("csrc/b.cpp", None), ("csrc/*.hpp", True), ("csrc/*.h", True), ("lib/*.h", True)]
    references = tuple(Reference(path, "x.cmake", Span(line=n), glob) for n, (path, glob) in enumerate(named, 1))
    found = report(here, references=references)
    assert [(f.code, f.file, f.span.line if f.span else 0) for f in found.findings] == [
        ("PIN312", "x.cmake", 2), ("PIN312", "x.cmake", 5),
    ]  # fmt: skip


# --- files --------------------------------------------------------------------------------------------------------


def test_the_version() -> None:
    here = forest({"up/__init__.py": "\n__version__ = '2.6.1'\n"})
    assert told(report(here, 'version = "2.6.1"')) == []
    assert told(report(here)) == []
    assert told(report(forest({}), 'version = "2.6.0"')) == []
    found = report(here, 'version = "2.6.0"')
    assert told(found) == [("PIN313", "error", LINE)]
    assert (only(found).expected, only(found).found) == ("2.6.1", "2.6.0")
    assert only(found).message.startswith("up/__init__.py:2 ")


def test_pointers_under_used_paths() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    here = forest({".gitattributes": "*.bin filter=lfs\n", "include/t.bin": pointer, "docs/v.bin": pointer})
    assert told(report(here, 'include_dirs = ["include"]')) == [("PIN314", "warning", LINE)]
    assert told(report(here, 'include_dirs = ["include"]', "lfs = true")) == []
    assert told(report(here, 'include_dirs = ["docs"]', 'header_globs = ["include/*.bin"]'))[0][0] == "PIN314"
    assert told(report(here)) == []


def test_names_that_collide() -> None:
    assert told(report(forest({"Inc/a.h": "", "inc/a.h": ""}))) == [("PIN318", "warning", 4)]


# --- headers ------------------------------------------------------------------------------------------------------

LIBDW = 'system_packages.libdw = { dnf = "elfutils-devel", apt = "libdw-dev", header = "elfutils/libdwfl.h" }'
INCLUDE = "#include <elfutils/libdwfl.h>\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"a.h": INCLUDE}, "error"),
        ({"a.h": f"#ifdef DW\n{INCLUDE}#endif\n"}, "warning"),
        ({"a.h": f"#if __has_include(<elfutils/libdwfl.h>)\n{INCLUDE}#endif\n"}, "info"),
        ({"tests/a.h": INCLUDE}, "info"),
        ({"a.h": INCLUDE, "tests/a.h": INCLUDE}, "error"),
    ],
)
def test_a_known_header(files: dict[str, str], severity: str) -> None:
    found = report(forest(files))
    assert told(found) == [("PIN315", severity, 2)]
    assert [need.declared for need in found.needs] == [None]
    assert told(report(forest(files), LIBDW)) == []


def test_what_is_said_of_a_known_header() -> None:
    found = only(report(forest({"csrc/a.h": f"\n{INCLUDE}"})))
    assert found.message == (
        "<elfutils/libdwfl.h> is included at csrc/a.h:2, and no system package is declared for it:"
        " elfutils-devel (dnf), libdw-dev (apt), elfutils-dev (apk)"
    )
    assert found.hint is not None
    line = found.hint.removeprefix("declare it: ")
    assert told(report(forest({"csrc/a.h": INCLUDE}), line)) == []


def test_one_finding_a_library() -> None:
    assert len(report(forest({"a.h": f"{INCLUDE}#include <dwarf.h>\n"})).findings) == 1


def test_a_known_header_that_a_submodule_would_have() -> None:
    here = Forest(tree({"a.h": "#include <fmt/base.h>\n"}, gitlinks={"third-party/fmt": COMMIT}), {})
    found = report(here, "submodules = []", listing=Listing())
    assert str(only(found).hint).endswith("; or add the submodule third-party/fmt to `submodules`")


def test_what_an_unread_submodule_may_have_is_no_error() -> None:
    here = forest({"a.h": "#include <fmt/base.h>\n#include <odd/x.h>\n"}, fmt=None)
    assert told(report(here, listing=Listing())) == [("PIN315", "warning", 2)]


def test_unknown_headers_of_one_folder_are_one_finding() -> None:
    found = report(forest({"a.h": "#include <odd/x.h>\n#include <odd/y.h>\n#include <other.h>\n"}))
    assert told(found) == [("PIN316", "warning", 2)] * 2
    assert "nor 1 other header of odd/" in found.findings[0].message
    declared = 'system_packages.odd = { dnf = "odd-devel", header = "odd/x.h" }'
    assert told(report(forest({"a.h": "#include <odd/y.h>\n"}), declared)) == []


def test_an_unknown_header_under_a_guard_is_not_told() -> None:
    assert told(report(forest({"a.h": "#if __has_include(<odd.h>)\n#include <odd.h>\n#endif\n"}))) == []


def test_a_package_that_nothing_includes() -> None:
    found = report(forest({"a.h": "#include <vector>\n"}), LIBDW)
    assert told(found) == [("PIN317", "warning", LINE)]
    assert "none of 1 source read includes <elfutils/libdwfl.h>" in only(found).message
    assert told(report(forest({"a.h": ""}, away=None), LIBDW, listing=Listing())) == []


def test_what_will_be_read_is_known_before() -> None:
    files = {"a.cu": "", ".gitmodules": "", "d/.gitattributes": "", "setup.py": "", "README.md": "", "x.py": ""}
    assert sorted(reading(tree(files))) == [".gitmodules", "a.cu", "d/.gitattributes", "setup.py"]
