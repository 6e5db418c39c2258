from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchors.support import edits, states

FILE = "cmake/dg.cmake"
READ = 'file(READ "${deepgemm_SOURCE_DIR}/a.py" TEXT)\n'
WRITE = 'file(WRITE "${deepgemm_SOURCE_DIR}/a.py" "${TEXT}")\n'


def told(source: str) -> list[tuple[int, str, str, list[str]]]:
    """Line, kind, pattern and paths of each edit; "?" stands before the pattern of one that cannot be told."""
    return [
        (e.span.line, e.kind.value, e.pattern if e.action else f"?{e.pattern}", [path.path for path in e.paths])
        for e in edits(FILE, source)
    ]


@pytest.mark.parametrize(
    ("replace", "pattern"),
    [
        ('string(REPLACE "old text" "new" TEXT "${TEXT}")', "old text"),
        ('string(REPLACE "a\\nb" "new" TEXT "${TEXT}")', "a\nb"),
        ('string(REPLACE [[a"b]] "new" TEXT "${TEXT}")', 'a"b'),
        ('string( REPLACE "a\nb" x TEXT ${TEXT} )', "a\nb"),
        ('STRING(REPLACE "\\${X}" x TEXT "${TEXT}")', "${X}"),
        ('set(OLD "old")\nstring(REPLACE "${OLD} text" x TEXT "${TEXT}")', "old text"),
        ('string(REPLACE "${OLD}" x TEXT "${TEXT}")', "?..."),
        ('if(A)\nset(OLD a)\nelse()\nset(OLD b)\nendif()\nstring(REPLACE "${OLD}" x TEXT "${TEXT}")', "?..."),
        ('string(REGEX REPLACE "old +(text)" "\\\\1" TEXT "${TEXT}")', "old +(text)"),
        ('string(REGEX REPLACE "+" "x" TEXT "${TEXT}")', "?+"),
        ('set(COPY "${TEXT}")\nstring(REPLACE old x TEXT "${COPY}")', "old"),
    ],
)
def test_what_is_replaced_in_a_file(replace: str, pattern: str) -> None:
    ((_, _, found, paths),) = told(READ + replace + "\n" + WRITE)
    assert (found, paths) == (pattern, ["a.py"])


def test_where_and_by_what() -> None:
    source = READ + 'string(REPLACE a b TEXT "${TEXT}")\n\nstring(REGEX REPLACE c d TEXT "${TEXT}")\n' + WRITE
    assert told(source) == [(2, "cmake-replace", "a", ["a.py"]), (4, "cmake-regex", "c", ["a.py"])]
    (first, second) = edits(FILE, source)
    assert (first.flow, second.flow, first.file, first.span.column) == (0, 0, FILE, 1)
    elsewhere = edits(FILE, READ + 'string(REPLACE a b OUT "${TEXT}")\nfile(WRITE out.py "${OUT}")\n')
    assert [one.flow for one in elsewhere] == [1]


@pytest.mark.parametrize(
    "source",
    [
        READ + 'string(REPLACE a b TEXT "${TEXT}")\n',  # never written
        READ
        + 'string(REGEX REPLACE ".*VERSION ([0-9]+).*" "\\\\1" VERSION "${TEXT}")\nmessage("${VERSION}")\n'
        + WRITE,
        'file(READ "mine.py" TEXT)\nstring(REPLACE a b TEXT "${TEXT}")\n' + WRITE,
        READ + 'file(READ "mine.py" TEXT)\nstring(REPLACE a b TEXT "${TEXT}")\n' + WRITE,
        READ + 'set(TEXT mine)\nstring(REPLACE a b TEXT "${TEXT}")\n' + WRITE,
        "# " + READ.strip() + '\nstring(REPLACE a b TEXT "${TEXT}")\n' + WRITE,
        'file(READ "${other_SOURCE_DIR}/a.py" TEXT)\nstring(REPLACE a b TEXT "${TEXT}")\n' + WRITE,
        READ + "string(REPLACE a)\nstring()\nstring(REGEX REPLACE a b)\n" + WRITE,
    ],
)
def test_what_is_no_edit(source: str) -> None:
    assert told(source) == []


def test_files_of_a_glob_in_code_that_is_installed() -> None:
    source = """\
install(CODE "
  file(GLOB_RECURSE FILES \\"${deepgemm_SOURCE_DIR}/py/*.py\\")
  foreach(FILE \\${FILES})
    file(READ \\${FILE} TEXT)
    string(REPLACE
      \\"from old\\" \\"from new\\" TEXT \\"\\${TEXT}\\")
    file(WRITE \\${DEST} \\"\\${TEXT}\\")
  endforeach()
")
"""
    assert told(source) == [(5, "cmake-replace", "from old", ["py/*.py"])]
    assert edits(FILE, source)[0].paths[0].glob is True
    bracket = "install(CODE [[\n" + source.replace("\\", "").removeprefix('install(CODE "\n').replace('\n")', "\n]])")
    assert told(bracket.replace('${deepgemm_SOURCE_DIR}/py/*.py"', '${deepgemm_SOURCE_DIR}/py/*.py"')) == [
        (5, "cmake-replace", "from old", ["py/*.py"])
    ]


def test_one_edit_of_several_files() -> None:
    source = """\
foreach(FILE a.h b.h)
  file(READ "${deepgemm_SOURCE_DIR}/${FILE}" TEXT)
  string(REPLACE a b TEXT "${TEXT}")
  file(WRITE "${deepgemm_SOURCE_DIR}/${FILE}" "${TEXT}")
endforeach()
"""
    assert told(source) == [(3, "cmake-replace", "a", ["a.h", "b.h"])]


@pytest.mark.parametrize(
    ("source", "pattern", "paths"),
    [
        ("execute_process(COMMAND sed -i s/old/new/ ${deepgemm_SOURCE_DIR}/a.py)", "old", ["a.py"]),
        ('execute_process(COMMAND sed -i "s/old/new/" a.py WORKING_DIRECTORY ${deepgemm_SOURCE_DIR}/py)', "old",
         ["py/a.py"]),
        ("execute_process(COMMAND ls COMMAND ${SED} -i -e s/old/new/ a.py b.py\n"
         "WORKING_DIRECTORY ${deepgemm_SOURCE_DIR}\nOUTPUT_QUIET)", "old", ["a.py", "b.py"]),
        ("FetchContent_Declare(deepgemm GIT_TAG x PATCH_COMMAND sed -i s/old/new/ a.py)", "old", ["a.py"]),
        ("ExternalProject_Add(deepgemm PATCH_COMMAND true COMMAND sed -i s/old/new/ a.py\n"
         "BUILD_COMMAND sed -i s/x/y/ a.py)", "old", ["a.py"]),
        ("add_custom_command(OUTPUT x COMMAND sed -i s/${OLD}/new/ ${deepgemm_SOURCE_DIR}/a.py DEPENDS y)",
         "?s/.../new/", ["a.py"]),
    ],
)  # fmt: skip
def test_programs(source: str, pattern: str, paths: list[str]) -> None:
    assert [(kind, found, where) for _, kind, found, where in told(source)] == [("sed", pattern, paths)]


@pytest.mark.parametrize(
    "source",
    [
        "execute_process(COMMAND sed -i s/old/new/ a.py WORKING_DIRECTORY ${other_SOURCE_DIR}) # deepgemm",
        "execute_process(COMMAND sed s/old/new/ ${deepgemm_SOURCE_DIR}/a.py)",
        "FetchContent_Declare(other PATCH_COMMAND sed -i s/old/new/ a.py) # deepgemm",
        "FetchContent_Declare(deepgemm PATCH_COMMAND sed -i s/old/new/ ../a.py)",
        "execute_process(COMMAND deepgemm sed)",
    ],
)
def test_programs_that_edit_something_else(source: str) -> None:
    assert told(source) == []


@pytest.mark.parametrize(
    ("command", "name", "folder", "strip"),
    [
        ("patch -p1 -i ${CMAKE_CURRENT_SOURCE_DIR}/patches/x.patch", "patches/x.patch", "", 1),
        ("patch -p1 < ${CMAKE_SOURCE_DIR}/patches/x.patch", "patches/x.patch", "", 1),
        ("${Patch_EXECUTABLE} --batch --forward -p0 --input=x.patch", "x.patch", "", 0),
        ("patch -d sub -p1 -i x.patch", "x.patch", "sub", 1),
        ("${GIT_EXECUTABLE} apply --ignore-whitespace ${CMAKE_CURRENT_LIST_DIR}/x.patch", "x.patch", "", 1),
        ("git -C sub apply -p2 x.patch", "x.patch", "sub", 2),
    ],
)
def test_patches_that_are_applied(command: str, name: str, folder: str, strip: int) -> None:
    (edit,) = edits(FILE, f"FetchContent_Declare(deepgemm PATCH_COMMAND {command})\n")
    assert edit.patch is not None
    assert (edit.patch.name.lstrip("\0/"), edit.patch.folder, edit.patch.strip) == (name, folder, strip)
    assert edit.why == "its patch is not known"


def test_a_patch_on_standard_input_and_one_that_is_taken_back() -> None:
    process = "execute_process(COMMAND patch -R -p1 INPUT_FILE x.patch WORKING_DIRECTORY ${deepgemm_SOURCE_DIR})\n"
    (edit,) = edits(FILE, process)
    assert edit.patch is not None
    assert (edit.patch.name, edit.patch.reverse, edit.patch.folder, edit.patch.fuzz) == ("x.patch", True, ".", 2)
    assert edits(FILE, process.replace("patch -R", "git apply --check")) == []


def test_what_they_are_in_a_tree() -> None:
    source = (
        READ + 'string(REPLACE "old" "new text" TEXT "${TEXT}")\nstring(REPLACE "text" "x" TEXT "${TEXT}")\n' + WRITE
    )
    assert states({"a.py": "old old"}, FILE, source) == [(2, "a.py", "matches", 2), (3, "a.py", "matches", 2)]
    assert states({"a.py": "text"}, FILE, source) == [(2, "a.py", "missing", 0), (3, "a.py", "matches", 1)]
    assert states({"b.py": ""}, FILE, source) == [(2, "a.py", "gone", None), (3, "a.py", "gone", None)]


@given(st.text('string(REGEXPLAC filWT${}_"\\ )\n;deepgmSOUR/.ia', max_size=60))
def test_no_file_crashes_it(source: str) -> None:
    edits(FILE, READ + 'string(REPLACE a b TEXT "${TEXT}")\n' + source + WRITE)
