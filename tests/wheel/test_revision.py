"""Wheels written: labels, provenance, the same bytes for the same content."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wheelmaking import NAME, WHEN, files, put, read, record, zipped

from pinctl.errors import WriteRefused
from pinctl.external import wheelfile
from pinctl.wheel import provenance, sbom
from pinctl.wheel.archive import DEFLATED, STORED, Archive, Member
from pinctl.wheel.difference import compare
from pinctl.wheel.judgement import Wanted, judge
from pinctl.wheel.names import BadName
from pinctl.wheel.provenance import BadProvenance, PatchDigest, Provenance
from pinctl.wheel.revision import Refused, revise, write
from pinctl.wheel.survey import survey
from pinctl.wheel.writer import FIRST, Writer, stamp

INFO = "tiny_kernel-1.0.dist-info"
OURS = Provenance("tiny", "https://github.com/O/Tiny.git", "ab" * 20, "1.0", {"third/a": "c" * 40},
                  (PatchDigest("p/fix.patch", "d" * 64),), "cu12", "12.9", "2.9.1", "sha256:aa", "e" * 64,
                  "0.1.0")  # fmt: skip
CONTENT = {"tiny_kernel/__init__.py": b"answer = 42\n", "tiny_kernel-1.0.data/scripts/tiny": b"#!python\n"}


def content(path: str | Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {info.filename: archive.read(info) for info in archive.infolist()}


def revised(data: bytes, label: str | None, built: Provenance | None = None, epoch: int | None = None,
            filename: str = NAME) -> tuple[str, bytes]:  # fmt: skip
    archive, out = Archive(io.BytesIO(data)), io.BytesIO()
    made = revise(archive, survey(archive, filename, io.BytesIO), label=label, built=built)
    write(archive, made, out, epoch)
    return made.name.filename, out.getvalue()


def test_a_label_changes_every_place_together(tmp_path: Path) -> None:
    path = put(tmp_path, members=files(content=CONTENT))
    made = wheelfile.revise(str(path), str(tmp_path), label="cu129")
    assert os.path.basename(made) == "tiny_kernel-1.0+cu129-py3-none-any.whl"
    found, old = content(made), content(path)
    new = "tiny_kernel-1.0+cu129"
    assert list(found) == [name.replace("tiny_kernel-1.0", new) for name in old], "in the same order"
    metadata = old[f"{INFO}/METADATA"].replace(b"Version: 1.0\n", b"Version: 1.0+cu129\n")
    assert found[f"{new}.dist-info/METADATA"] == metadata
    assert found[f"{new}.dist-info/WHEEL"] == old[f"{INFO}/WHEEL"]
    assert found[f"{new}.data/scripts/tiny"] == b"#!python\n"
    listed = {name: data for name, data in found.items() if not name.endswith("/RECORD")}
    assert found[f"{new}.dist-info/RECORD"] == record(listed, f"{new}.dist-info/RECORD")
    assert judge(wheelfile.survey(made), Wanted()) == []
    assert os.stat(made).st_mode & 0o777 == 0o644


LABELS = st.from_regex(r"[a-z]{1,3}[0-9]{1,3}(\.[a-z0-9]{1,4})?", fullmatch=True)
NAMES = st.from_regex(r"[a-z]{1,6}(/[a-zé_]{1,8}){0,2}\.py", fullmatch=True)


@given(st.dictionaries(NAMES, st.binary(max_size=300), min_size=1), LABELS, LABELS, st.booleans())
def test_there_and_back_gives_the_same_bytes(members: dict[str, bytes], one: str, other: str, stored: bool) -> None:
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    name, first = revised(zipped(files(content=members), method=method), one)
    over, second = revised(first, other, filename=name)
    back, third = revised(second, one, filename=over)
    assert (back, third) == (name, first)
    assert revised(revised(first, "", filename=name)[1], one)[1] == first


def test_a_wheel_whose_name_alone_was_changed_is_mended(tmp_path: Path) -> None:
    path = put(tmp_path, "tiny_kernel-1.0+cu129-py3-none-any.whl", files())
    made = wheelfile.revise(str(path), str(tmp_path), label="cu129")
    assert made == str(path)
    assert judge(wheelfile.survey(made), Wanted()) == []


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_installers_take_the_result(tmp_path: Path, tool: str) -> None:
    path = put(tmp_path, members=files(content=CONTENT))
    made = wheelfile.revise(str(path), str(tmp_path), label="cu129", built=OURS)
    target = tmp_path / "site"
    if tool == "uv":
        program = which("uv") or str(Path(sys.executable).with_name("uv"))
        if not os.path.exists(program):
            pytest.skip("uv is not installed")
        argv = [program, "pip", "install", "--offline", "--no-index", "--no-cache", "--python", sys.executable]
    else:
        argv = [sys.executable, "-m", "pip", "install", "--no-index", "--no-cache-dir", "--disable-pip-version-check"]
    subprocess.run([*argv, "--no-deps", "--target", str(target), made], check=True, capture_output=True)
    code = "import tiny_kernel, importlib.metadata as m; print(m.version('tiny-kernel'), tiny_kernel.answer)"
    done = subprocess.run([sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(target)}, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stdout == "1.0+cu129 42\n"
    installed = target / "tiny_kernel-1.0+cu129.dist-info" / provenance.FILE
    assert provenance.read(installed.read_bytes()) == OURS


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"evil.pth": b"import os"}, "its RECORD is not that of its files"),
        ({"tiny_kernel/__init__.py": b"answer = 43\n"}, "its RECORD is not that of its files"),
        ({f"{INFO}/RECORD": None}, "it has not exactly one .dist-info folder"),
        ({f"{INFO}/METADATA": None}, "it has not exactly one .dist-info folder"),
        ({f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: x\nName: y\nVersion: 1.0\n"}, "it has not exactly one"),
        ({f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: x\nVersion: 1.0\n"}, "METADATA is of x"),
    ],
)
def test_what_is_wrong_is_not_hidden(tmp_path: Path, changed: Mapping[str, bytes | None], told: str) -> None:
    path = put(tmp_path, members=files(changed=changed))
    with pytest.raises(Refused) as caught:
        wheelfile.revise(str(path), str(tmp_path), label="cu129")
    assert caught.value.findings[-1].code == "PIN629"
    assert told in caught.value.findings[-1].message
    assert os.listdir(tmp_path) == [NAME]


def test_a_label_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadName):
        wheelfile.revise(str(put(tmp_path)), str(tmp_path), label="../x")


def test_another_wheel_of_that_name_is_not_overwritten(tmp_path: Path) -> None:
    path = put(tmp_path)
    made = Path(wheelfile.revise(str(path), str(tmp_path), label="cu129"))
    assert wheelfile.revise(str(path), str(tmp_path), label="cu129") == str(made), "the same bytes are no other wheel"
    made.write_bytes(b"another")
    with pytest.raises(WriteRefused, match="is another wheel"):
        wheelfile.revise(str(path), str(tmp_path), label="cu129")
    assert made.read_bytes() == b"another"
    assert len(os.listdir(tmp_path)) == 2


def test_signatures_of_the_old_record_are_dropped() -> None:
    _, data = revised(zipped(files(changed={f"{INFO}/RECORD.jws": b"{}"})), "cu129")
    assert not any("jws" in name for name in content_of(data))


def content_of(data: bytes) -> dict[str, bytes]:
    return {member.name: Archive(io.BytesIO(data)).read(member, 10**6) for member in Archive(io.BytesIO(data)).members}


# --- row 59: the same bytes whatever the machine ---


@pytest.mark.parametrize(
    ("epoch", "date"),
    [(0, (1980, 1, 1, 0, 0, 0)), (1_700_000_000, (2023, 11, 14, 22, 13, 20)), (2**40, WHEN), (None, WHEN)],
)
def test_row_59_times_are_clamped(epoch: int | None, date: tuple[int, ...]) -> None:
    _, data = revised(zipped(files()), "cu129", epoch=epoch)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {date}


def test_row_59_times_before_1980() -> None:
    assert stamp(-5) == FIRST == (0, 0x21)
    assert stamp(2**60) == stamp(4_354_819_198)


def test_row_59_modes_are_fixed() -> None:
    """What the umask of a machine made of them does not show."""
    modes = {"tiny_kernel/__init__.py": 0o600, "tiny_kernel/tool": 0o711, f"{INFO}/METADATA": 0o000}
    members = files(content={"tiny_kernel/__init__.py": b"", "tiny_kernel/tool": b"x"})
    _, data = revised(zipped(members, modes=modes), "cu129")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert found["tiny_kernel/tool"] == 0o100755
    assert set(found.values()) == {0o100644, 0o100755}


def test_data_that_stays_is_copied_as_it_is_compressed() -> None:
    _, data = revised(zipped(files(content={"a.py": b"x" * 5000})), "cu129")
    methods = {member.name: member.method for member in Archive(io.BytesIO(data)).members}
    assert methods["a.py"] == DEFLATED
    assert methods["tiny_kernel-1.0+cu129.dist-info/METADATA"] == STORED


def test_files_over_4_gib_are_written_and_read(tmp_path: Path) -> None:
    """`wheel tags` breaks such wheels: sizes and offsets need ZIP64. The content is a hole in the file."""
    size = 5 * 1024**3
    path = tmp_path / "large.zip"
    with path.open("wb") as out:
        writer = Writer(out)

        class Hole:
            def raw(self, member: Member) -> list[bytes]:
                out.seek(member.size, 1)
                writer.at += member.size
                return []

        writer.copy(Hole(), Member("zeros", size, size, STORED, 0, 0, FIRST, 0), "zeros")  # type: ignore[arg-type]
        writer.add("after", b"1")
        writer.close()
    with path.open("rb") as file:
        members = Archive(file).members
        assert [(member.name, member.size) for member in members] == [("zeros", size), ("after", 1)]
        assert Archive(file).read(members[1], 1) == b"1"
    with zipfile.ZipFile(path) as other:
        assert [(info.filename, info.file_size) for info in other.infolist()] == [("zeros", size), ("after", 1)]
        assert other.read("after") == b"1"


# --- provenance and SBOM ---


def test_provenance_and_sbom_go_in_and_are_read_back(tmp_path: Path) -> None:
    path = put(tmp_path)
    made = wheelfile.revise(str(path), str(tmp_path), label="cu129", built=OURS)
    found = wheelfile.survey(made)
    assert found.provenance == OURS
    assert found.sboms == ("tiny_kernel-1.0+cu129.dist-info/sboms/pinctl.cdx.json",)
    assert judge(found, Wanted()) == []
    assert list(found.contents)[-1].endswith("/RECORD"), "what is new comes before RECORD"
    again = wheelfile.revise(made, str(tmp_path), built=OURS._replace(key="f" * 64))
    assert again == made
    other = wheelfile.survey(again).provenance
    assert isinstance(other, Provenance)
    assert other.key == "f" * 64


def test_a_label_keeps_provenance_and_sbom(tmp_path: Path) -> None:
    path = put(tmp_path)
    plain = content_of(revised(path.read_bytes(), None, OURS)[1])
    labelled = content_of(revised(path.read_bytes(), "cu129", OURS)[1])
    for file in (provenance.FILE, sbom.FILE):
        assert plain[f"{INFO}/{file}"] == labelled[f"tiny_kernel-1.0+cu129.dist-info/{file}"]


def test_no_secret_of_a_url_gets_in() -> None:
    _, data = revised(zipped(files()), None, OURS._replace(repo="https://x:SENTINEL@github.com/o/r"))
    assert not any(b"SENTINEL" in text for text in content_of(data).values())


def test_the_bill_of_materials() -> None:
    _, data = revised(zipped(files()), "cu129", OURS)
    document = json.loads(content_of(data)["tiny_kernel-1.0+cu129.dist-info/sboms/pinctl.cdx.json"])
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/tiny-kernel@1.0"
    assert [part["purl"] for part in document["components"]] == [
        f"pkg:github/o/tiny@{'ab' * 20}", f"pkg:generic/third%2Fa@{'c' * 40}", "pkg:pypi/torch@2.9.1"]  # fmt: skip
    assert document["components"][0]["pedigree"]["patches"] == [
        {"type": "unofficial", "diff": {"url": "p/fix.patch"}}]  # fmt: skip
    (dependency,) = document["dependencies"]
    assert dependency["dependsOn"] == [part["bom-ref"] for part in document["components"]]


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"schema": 2, "pin": "x"}', b'{"schema": 1}', b'{"schema": 1, "pin": 3}', b"[" * 100_000,
     b'{"schema": 1, "pin": "x", "submodules": []}', b'{"schema": 1, "pin": "x", "patches": [1]}', b"\xff"],
)  # fmt: skip
def test_what_is_no_provenance(data: bytes) -> None:
    with pytest.raises(BadProvenance):
        provenance.read(data)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


PATCHES = st.lists(st.builds(PatchDigest, TEXT, TEXT)).map(tuple)


@given(st.builds(Provenance, pin=TEXT.filter(bool), repo=TEXT, commit=TEXT, key=TEXT, torch=TEXT,
                 submodules=st.dictionaries(TEXT, TEXT), patches=PATCHES))  # fmt: skip
def test_provenance_that_is_written_is_read(ours: Provenance) -> None:
    assert provenance.read(provenance.render(ours)) == ours
    assert provenance.read(provenance.render(ours)[:-2] + b', "later": 1}') == ours, "keys of later versions"


# --- what differs ---


def test_two_builds_that_are_the_same(tmp_path: Path) -> None:
    assert compare(read(tmp_path), read(tmp_path)) == []


def test_which_members_differ(tmp_path: Path) -> None:
    one = read(tmp_path, members=files(content={"a.py": b"1", "b.py": b"22", "c.py": b"3"}))
    other = read(tmp_path, members=files(content={"a.py": b"2", "b.py": b"2", "d.py": b"4"}))
    assert compare(one, other) == [
        ("a.py", "its content differs"),
        ("b.py", "its content differs, 2 and 1 bytes"),
        ("c.py", "it is in the first alone"),
        (f"{INFO}/RECORD", "its content differs"),
        ("d.py", "it is in the second alone"),
    ]


def test_order_modes_and_times_that_differ(tmp_path: Path) -> None:
    members = files(content={"a.py": b"1", "b.py": b"2"})
    one = read(tmp_path, members=members)
    turned = {"b.py": members["b.py"], **members}
    assert compare(one, read(tmp_path, members=turned)) == [("a.py", "the members are in another order from here on")]
    path = tmp_path / NAME
    path.write_bytes(zipped(members, modes={"a.py": 0o755}))
    assert compare(one, wheelfile.survey(str(path))) == [("a.py", "its mode differs, 644 and 755")]
    path.write_bytes(revised(zipped(members), None, epoch=0)[1])
    assert {how for _, how in compare(one, wheelfile.survey(str(path)))} == {"its time differs"}
