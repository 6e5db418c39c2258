from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.uses.install import copies

NAMES = frozenset({"pkg", "my-pkg"})
SRC = "${pkg_SOURCE_DIR}"

CMAKE = {
    f'install(FILES "{SRC}/a.py" {SRC}/b/c.py other.py DESTINATION x)': ["a.py", "b/c.py"],
    f"install(PROGRAMS {SRC}/run DESTINATION bin)": ["run"],
    "install(FILES ${my-pkg_SOURCE_DIR}/a.py DESTINATION x)": ["a.py"],
    f"install(TARGETS t DESTINATION {SRC}/lib)": [],
    f"install(DIRECTORY {SRC}/a/ DESTINATION x)": ["a"],
    f"install(DIRECTORY {SRC}/ DESTINATION x)": ["."],
    f'install(DIRECTORY {SRC}/a DESTINATION x FILES_MATCHING PATTERN "*.py" PATTERN "*.h")': ["a/*.py **", "a/*.h **"],
    f'install(DIRECTORY {SRC}/a DESTINATION x FILES_MATCHING PATTERN "*.py" PATTERN "t" EXCLUDE)': ["a/*.py ** -t"],
    f'install(DIRECTORY {SRC}/a DESTINATION x PATTERN "*.py" PERMISSIONS OWNER_READ)': ["a"],
    f'install(DIRECTORY {SRC}/a DESTINATION x PATTERN ".git*" EXCLUDE PATTERN "t" EXCLUDE)': ["a -.git* -t"],
    f'install(DIRECTORY {SRC}/a DESTINATION x FILES_MATCHING REGEX "\\\\.py$")': ["a/*.py **"],
    f'install(DIRECTORY {SRC}/a DESTINATION x FILES_MATCHING REGEX ".*[.]py$" REGEX "/t" EXCLUDE)': ["a/*.py ** -t"],
    f'install(DIRECTORY {SRC}/a DESTINATION x FILES_MATCHING REGEX "(a|b)+")': ["a/* **"],
    f'install(DIRECTORY "{SRC}/" DESTINATION x FILES_MATCHING PATTERN "*.py")': ["*.py **"],
    f"file(COPY {SRC}/a {SRC}/b.py DESTINATION x)": ["a", "b.py"],
    f'file(INSTALL {SRC}/a DESTINATION x FILES_MATCHING PATTERN "*.h")': ["a/*.h **"],
    f"file(COPY_FILE {SRC}/a.h b.h)": ["a.h"],
    f"configure_file({SRC}/a.in b COPYONLY)": ["a.in"],
    f"add_custom_command(OUTPUT x COMMAND ${{CMAKE_COMMAND}} -E copy_directory {SRC}/a out)": ["a"],
    f"execute_process(COMMAND cmake -E copy {SRC}/a.py {SRC}/b.py out COMMAND other {SRC}/c)": ["a.py", "b.py"],
    f"set(D {SRC}/a)\ninstall(DIRECTORY ${{D}}/b DESTINATION x)": ["a/b"],
    f"set(F {SRC}/a.py {SRC}/b.py)\nlist(APPEND F {SRC}/c.py)\ninstall(FILES ${{F}} DESTINATION x)": [
        "a.py", "b.py", "c.py",
    ],
    f"if(X)\nset(D {SRC}/a)\nelse()\nset(D {SRC}/b)\nendif()\ninstall(DIRECTORY ${{D}} DESTINATION x)": ["a", "b"],
    f"foreach(n a b)\ninstall(DIRECTORY {SRC}/${{n}} DESTINATION x)\nendforeach()": ["a", "b"],
    f"set(L a b)\nforeach(n IN LISTS L ITEMS c)\ninstall(FILES {SRC}/${{n}}.py DESTINATION x)\nendforeach()": [
        "a.py", "b.py", "c.py",
    ],
    f'file(GLOB_RECURSE F "{SRC}/a/*.py")\ninstall(FILES ${{F}} DESTINATION x)': ["a/*.py **"],
    f'file(GLOB F "{SRC}/a/*.py")\ninstall(FILES ${{F}} DESTINATION x)': ["a/*.py *"],
    f"install(DIRECTORY {SRC}/a/${{unknown}} DESTINATION x)": ["a"],
    f"install(FILES {SRC}/a/b_${{unknown}}.py DESTINATION x)": ["a"],
    f"install(FILES $<$<BOOL:1>:{SRC}/a> DESTINATION x)": [],
    f"install(FILES {SRC}/../a DESTINATION x)": [],
    f'file(READ "{SRC}/a.py" T)\nfile(WRITE out.py "${{T}}")': ["a.py"],
    f'file(READ "{SRC}/a.py" T)\nstring(REPLACE "x" "y" U "${{T}}")\nfile(WRITE out.py "${{U}}")': ["a.py"],
    f'file(READ "{SRC}/a.py" T)\nmessage("${{T}}")': [],
    f'install(CODE "file(COPY \\"{SRC}/a\\" DESTINATION \\"\\${{CMAKE_INSTALL_PREFIX}}\\")")': ["a"],
    f'install(CODE "file(GLOB_RECURSE F \\"{SRC}/a/*.py\\")\nforeach(S \\${{F}})\nfile(READ \\${{S}} T)\n'
    'file(WRITE x \\"\\${T}\\")\nendforeach()")': ["a/*.py **"],
    f"install(CODE [[file(COPY {SRC}/a DESTINATION x)]])": ["a"],
    f"# install(FILES {SRC}/a.py DESTINATION x)": [],
    f"target_sources(t PRIVATE {SRC}/a.cpp)": [],
    "install(FILES ${other_SOURCE_DIR}/a.py DESTINATION x)": [],
}  # fmt: skip


def told(source: bytes) -> list[str]:
    """Each copy as `PATH`, with `*` or `**` behind a glob, and `-GLOB` for what is left out."""
    marks = {None: "", False: " *", True: " **"}
    return [
        f"{copy.path}{marks[copy.glob]}" + "".join(f" -{glob}" for glob in copy.without)
        for copy in copies(source, NAMES)
    ]


@pytest.mark.parametrize(("source", "found"), CMAKE.items())
def test_copies(source: str, found: list[str]) -> None:
    assert told(f"{source}\n".encode()) == found


def test_where_a_copy_stands() -> None:
    (copy,) = copies(b'\ninstall(FILES "${pkg_SOURCE_DIR}/a.py" DESTINATION x)\n', NAMES)
    assert (copy.span.line, copy.span.column) == (2, 15)
    (copy,) = copies(b'\ninstall(CODE "file(COPY ${pkg_SOURCE_DIR}/a DESTINATION x)")\n', NAMES)
    assert (copy.span.line, copy.span.column) == (2, 14)


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(source: bytes) -> None:
    list(copies(b"install(FILES ${pkg_SOURCE_DIR}/a DESTINATION x)\n" + source, NAMES))


def test_variables_that_multiply_come_to_an_end() -> None:
    sets = "".join(f"set(V{n + 1} ${{V{n}}} ${{V{n}}}a ${{V{n}}}b)\n" for n in range(40))
    source = f"set(V0 {SRC}/x)\n{sets}install(FILES ${{V40}}${{V40}}${{V40}} DESTINATION x)\n"
    assert len(told(source.encode())) <= 256
