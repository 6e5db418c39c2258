from pinctl.discovery import overview
from pinctl.discovery.proposal import Proposed, alone, propose

from .support import NEW, OLD, Tree, grouped, pins

REPO = "https://github.com/o/DeepGEMM.git"
TREE: Tree = {
    "cmake/deepgemm.cmake": f"FetchContent_Declare(deepgemm GIT_REPOSITORY {REPO} GIT_TAG {OLD})\n",
    "tools/install.sh": f"DEEPGEMM_GIT_REF={NEW}\nCUDA_VERSION=13.0.3\nONLY_VERSION=1.2\n",
    "requirements/a.txt": "torch==2.11.0\n",
    "requirements/b.txt": "torch==2.10.0\n",
    "Dockerfile": "FROM ubuntu:22.04\nARG CUDA_VERSION=13.0.3\n",
}
DIFFERENCES = {("tools/install.sh", "DEEPGEMM_GIT_REF"): NEW, ("requirements/b.txt", "requirement torch"): "2.10.0"}


def lines(tree: Tree = TREE, *, written: bool = False, whole: bool = False) -> list[str]:
    groups = grouped(tree)
    found = propose(groups)
    return overview.text(found, DIFFERENCES, alone(groups, found), written=written, whole=whole).splitlines()


def test_the_whole_of_it() -> None:
    assert lines() == [
        "1 git repository, 1 package, 1 image, 1 version that no source explains; 2 places disagree (!)",
        "",
        "git repositories",
        "! deepgemm  8b1392b978f5  https://github.com/o/DeepGEMM.git",
        "      cmake/deepgemm.cmake:1  FetchContent(deepgemm)",
        f"!     tools/install.sh:1      DEEPGEMM_GIT_REF  holds {NEW}",
        "",
        "packages",
        "! torch  2.11.0  requirements/a.txt:1",
        "!     requirements/b.txt:1  requirement torch  holds 2.10.0",
        "",
        "images",
        "  ubuntu-22-04  Dockerfile:1",
        "",
        "versions that no source explains",
        "  cuda  13.0.3  Dockerfile:2, tools/install.sh:2",
        "",
        "not proposed: 1 version, each in one place and without a source",
        "",
        *overview._NEXT.splitlines(),
    ]


def test_what_is_written_needs_no_next_step() -> None:
    assert "next" not in lines(written=True)


def test_asked_for_it_tells_what_is_not_proposed() -> None:
    assert "  1.2  tools/install.sh:3  ONLY_VERSION" in lines(whole=True)


def test_nothing_is_nothing() -> None:
    assert overview.text([], {}, [], written=False, whole=False) == ""
    assert overview.summary([], written=False) == "no pin found"


def test_the_last_line_counts() -> None:
    found = list(pins(TREE).values())
    assert overview.summary(found, written=False).startswith("4 pins at 7 places in 5 files; `pinctl init --write`")
    assert overview.summary(found, written=True) == "4 pins at 7 places in 5 files; written to pins.toml"
    assert overview.head(found[1:2], {}) == "1 package; all places agree"
    assert overview.head(found, {("a", "b"): "c"}).endswith("; 1 place disagrees (!)")
    assert overview.head([*found, *found], DIFFERENCES).startswith("2 git repositories, 2 packages")


def test_no_line_is_wider_than_a_terminal() -> None:
    tree = {
        **{f"some/deep/folder/number-{n}/requirements.txt": "torch==2.11.0\n" for n in range(9)},
        "deep/a.sh": f"{'LONG_' * 20}REF={OLD}\n{'LONG_' * 20}REPO=https://github.com/o/{'long-' * 5}\n",
    }
    found = lines(tree)
    assert max(map(len, found)) <= overview.WIDTH
    assert sum(line.count("number-") for line in found) == 9


def test_a_long_value_and_selector_are_clipped() -> None:
    pin = Proposed(name="x", image="h/x:1", places=())
    assert overview.text([pin], {}, [], written=True, whole=False)
    assert overview._clipped("abcdef", 4) == "abc…"
    assert overview._clipped("abcd", 4) == "abcd"
