from __future__ import annotations

import pytest

from pinctl.contract.model import Action, BuildUse, Place
from pinctl.contract.uses.build import concerns, read
from pinctl.model import Pin, Site

PIN = Pin("my-pkg", repo="https://host/owner/MyPkg.git", sites=(Site("cmake/pkg.cmake", "FetchContent(pkg)", "{git}"),))


def test_what_a_build_names_and_copies() -> None:
    sources = {
        "cmake/pkg.cmake": b"include_directories(${pkg_SOURCE_DIR}/csrc)\n"
        b"install(DIRECTORY ${pkg_SOURCE_DIR}/my_pkg/ DESTINATION x FILES_MATCHING PATTERN *.py PATTERN t EXCLUDE)\n",
        "tools/build_my_pkg.py": b"x = src / 'include'\nshutil.copy(src / 'a.py', out)\n",
        "docker/Dockerfile": b"FROM a\nRUN cp -r MyPkg/b /opt\n",
        "setup.py": b"x = src / 'no'\n",
        "README.md": b"${pkg_SOURCE_DIR}/no",
    }
    assert read(PIN, sources) == (
        BuildUse("csrc", Place("cmake/pkg.cmake", 1, 39)),
        BuildUse("my_pkg/*.py", Place("cmake/pkg.cmake", 2, 19), Action.COPIES, glob=True, without=("t",)),
        BuildUse("b", Place("docker/Dockerfile", 2, 11), Action.COPIES),
        BuildUse("include", Place("tools/build_my_pkg.py", 1, 5)),
        BuildUse("a.py", Place("tools/build_my_pkg.py", 2, 13), Action.COPIES),
    )


def test_a_path_that_is_copied_is_not_named_besides() -> None:
    source = b"set(D ${pkg_SOURCE_DIR}/a)\ninstall(DIRECTORY ${D} DESTINATION x FILES_MATCHING PATTERN *.py)\n"
    assert [(use.path, use.action) for use in read(PIN, {"cmake/pkg.cmake": source})] == [("a/*.py", Action.COPIES)]


@pytest.mark.parametrize(
    ("file", "concerned"),
    [("cmake/pkg.cmake", True), ("CMakeLists.txt", True), ("a.sh", True), ("docker/Dockerfile", True),
     ("docker/Dockerfile.rocm", True), ("my.Dockerfile", True), ("tools/my_pkg.py", True), ("setup.py", False),
     ("a.txt", False), ("Dockerfiles.md", False)],
)  # fmt: skip
def test_the_files_that_matter(file: str, *, concerned: bool) -> None:
    assert concerns(file, PIN) is concerned
