"""File names, METADATA, WHEEL and RECORD, as text."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import parse_wheel_filename

from pinctl.wheel import names, record
from pinctl.wheel.metadata import read_metadata, read_wheel, set_version
from pinctl.wheel.names import BadName
from pinctl.wheel.record import Row

GOOD = b"Metadata-Version: 2.4\nName: tiny-kernel\nVersion: 1.0\nRequires-Python: >=3.10\nRequires-Dist: torch==2.9.1\n"


def test_a_file_name_is_read() -> None:
    name = names.parse("Tiny.Kernel-1.0.0+cu129-2-cp39.cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl")
    assert (name.distribution, name.version, name.public, name.label) == (
        "tiny-kernel",
        "1.0.0+cu129",
        "1.0.0",
        "cu129",
    )
    assert (name.build, name.stem) == ("2", "Tiny.Kernel-1.0.0+cu129")
    assert name.platforms == ("manylinux2014_x86_64", "manylinux_2_17_x86_64")
    assert name.tags == tuple(sorted(f"{python}-abi3-{platform}" for python in ("cp39", "cp310")
                                     for platform in name.platforms))  # fmt: skip
    assert name.canonical == (
        "tiny_kernel-1.0.0+cu129-2-cp39.cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    )


@pytest.mark.parametrize(
    "name",
    ["tiny-1.0.whl", "tiny-1.0-py3-none-any.zip", "tiny-one-py3-none-any.whl", "tiny-1.0-x-py3-none-any.whl", "",
     f"tiny-1.0-{'.'.join(f'cp{n}' for n in range(33))}-none-any.whl", "a-b-1.0-py3-none-any-x.whl"],
)  # fmt: skip
def test_what_is_no_name_of_a_wheel(name: str) -> None:
    with pytest.raises(BadName):
        names.parse(name)


@pytest.mark.parametrize(("label", "version"), [("cu129", "1.0+cu129"), ("", "1.0"), ("CU-13", "1.0+cu.13")])
def test_a_label_is_exchanged(label: str, version: str) -> None:
    name = names.labelled(names.parse("tiny_kernel-1.0+old-py3-none-any.whl"), label)
    assert name.filename == f"tiny_kernel-{version}-py3-none-any.whl"


@pytest.mark.parametrize("label", ["cu 129", "../x", "+", "é", "a\n"])
def test_what_is_no_label(label: str) -> None:
    with pytest.raises(BadName):
        names.labelled(names.parse("tiny_kernel-1.0-py3-none-any.whl"), label)


@given(
    st.from_regex(r"[a-z0-9]+([._-][a-z0-9]+)?", fullmatch=True), st.from_regex(r"[0-9]\.[0-9]{1,3}", fullmatch=True)
)
def test_names_are_read_as_packaging_reads_them(distribution: str, version: str) -> None:
    name = names.parse(names.filename(distribution.replace(".", "_"), version, "", "py3-none-any"))
    assert (name.distribution, name.version) == tuple(map(str, parse_wheel_filename(name.filename)[:2]))


def test_metadata_is_read() -> None:
    found = read_metadata(GOOD + b"\nText: of the description\n")
    assert (found.name, found.version, found.requires_python) == ("tiny-kernel", "1.0", ">=3.10")
    assert found.requires == ("torch==2.9.1",)
    assert found.faults == ()


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (GOOD + b"Name: other\n", "Name stands 2 times"),
        (GOOD + b"name: other\n", "Name stands 2 times"),
        (GOOD + b"Version: 2.0\n", "Version stands 2 times"),
        (b"Metadata-Version: 2.4\nName: x\n", "Version is missing"),
        (b"Name x\n" + GOOD, "a line is no header (MissingHeaderBodySeparatorDefect)"),
        (GOOD + b"Summary: \xff\n", "it is not UTF-8 (byte"),
    ],
)
def test_metadata_that_can_be_read_in_two_ways(data: bytes, fault: str) -> None:
    assert any(found.startswith(fault) for found in read_metadata(data).faults)


def test_wheel_is_read() -> None:
    found = read_wheel(
        b"Wheel-Version: 1.0\nGenerator: x (1)\nRoot-Is-Purelib: false\nBuild: 3\nTag: a-b-c\nTag: d-e-f\n"
    )
    assert found == ("1.0", "x (1)", False, "3", ("a-b-c", "d-e-f"), ())
    assert read_wheel(b"Wheel-Version: 2.0\nRoot-Is-Purelib: perhaps\n").faults == (
        "Wheel-Version is '2.0', and installers know 1.x alone",
        "Root-Is-Purelib is neither true nor false",
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_version_is_exchanged_and_no_other_byte(end: bytes) -> None:
    data = GOOD.replace(b"\n", end) + end + b"Version: in the text" + end
    assert set_version(data, "1.0+cu129") == data.replace(b"Version: 1.0", b"Version: 1.0+cu129", 1)
    with pytest.raises(ValueError, match="2 Version"):
        set_version(GOOD + b"Version: 2\n", "3")


# --- RECORD -----------------------------------------------------------------------------------------------------------


def test_record_is_read() -> None:
    found = record.read(b'"a,b.py",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\na-1.dist-info/RECORD,,\n')
    empty = bytes.fromhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    assert found == ((Row("a,b.py", empty, 0), Row("a-1.dist-info/RECORD")), ())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"a.py,", "line 1: it has 2 fields"),
        (b"a.py,md5=xx,1", "line 1: a.py has a digest of 'md5'"),
        (b"a.py,sha256=abc,1", "line 1: the digest of a.py is no sha256"),
        (b"a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=,0", "line 1: the digest of a.py is no sha256"),
        (b"a.py,sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU,0", "line 1: the digest of a.py is no sha256"),
        (b"a.py,,-1", "line 1: '-1' is no size"),
        (b"a.py,,\xd9\xa1", "line 1: '\u0661' is no size"),
        (b'"a.py,,1', "it cannot be read"),
        (b"\xff,,1", "it cannot be read"),
    ],
)
def test_lines_that_are_none(line: bytes, fault: str) -> None:
    assert record.read(line).faults[0].startswith(fault)


ROWS = st.lists(
    st.builds(Row, st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), st.none() | st.binary(
        min_size=32, max_size=32), st.none() | st.integers(0, 2**40)))  # fmt: skip


@given(ROWS)
def test_what_is_written_is_read(rows: list[Row]) -> None:
    data = record.render(rows)
    assert record.read(data) == (tuple(rows), ())
    assert [line[0] for line in csv.reader(io.StringIO(data.decode(), newline=""))] == [row.path for row in rows]


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_readers(data: bytes) -> None:
    record.read(data)
    read_metadata(data)
    read_wheel(data)
