"""Rows 50 to 52 of the threat model: what a zip archive may not be."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wheelmaking import files, put, zipped

from pinctl.wheel import archive
from pinctl.wheel.archive import Archive, Malformed

MEMBERS = {"a/b.py": b"print(1)\n" * 40, "a/c.txt": b"", "a-1.dist-info/RECORD": b"a/b.py,,\n"}
WHOLE = zipped(MEMBERS)


def opened(data: bytes) -> Archive:
    return Archive(io.BytesIO(data))


def refused(data: bytes) -> str:
    """Why the archive is refused, when it is opened or when its members are read."""
    with pytest.raises(Malformed) as caught:
        everything(opened(data))
    return caught.value.reason


def everything(found: Archive) -> dict[str, bytes]:
    return {member.name: found.read(member, 10**9) for member in found.members}


def patched(data: bytes, old: bytes, new: bytes, count: int = -1) -> bytes:
    assert old in data
    assert len(old) == len(new)
    return data.replace(old, new, count)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read_as_python_reads_them(method: int) -> None:
    found = opened(zipped(MEMBERS, method=method, modes={"a/b.py": 0o755}))
    assert everything(found) == MEMBERS
    assert [(m.name, m.size, m.mode) for m in found.members] == [
        ("a/b.py", 360, 0o755), ("a/c.txt", 0, 0o644), ("a-1.dist-info/RECORD", 9, 0o644)]  # fmt: skip
    assert found.find("a/c.txt") == found.members[1]
    assert found.find("nothing") is None


class Pipe(io.RawIOBase):
    """A file that cannot be sought in."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += bytes(data)
        return len(data)


def piped(method: int) -> bytes:
    """MEMBERS as written to a pipe: sizes and checksums follow the data."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", method) as out:  # type: ignore[call-overload]
        for name, data in MEMBERS.items():
            out.writestr(name, data)
    return pipe.data


def test_members_written_without_seeking_have_descriptors() -> None:
    data = piped(zipfile.ZIP_DEFLATED)
    assert everything(opened(data)) == MEMBERS
    at = data.index(b"PK\x07\x08" + struct.pack("<L", zlib.crc32(MEMBERS["a/b.py"])))
    told = "what follows its data is not its size and checksum"
    assert refused(data[: at + 4] + bytes(4) + data[at + 8 :]) == told


def test_row_51_members_whose_end_cannot_be_told_from_their_start() -> None:
    assert refused(piped(zipfile.ZIP_STORED)) == "who reads from the start cannot tell where it ends"


def test_folders_are_members_without_content() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.mkdir("a")
        made.writestr("a/b", "x")
    assert [(m.name, m.is_folder) for m in opened(out.getvalue()).members] == [("a/", True), ("a/b", False)]


# --- row 50: names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/cron.d/x", "a/../../x", "a//b", "./a", "C:/x", "a\\b", "a\rb", "a\x7fb", "..", "a/.."]
)
def test_row_50_names_that_leave_the_folder(name: str) -> None:
    written = "x" * len(name.encode())
    data = zipped({written: b"1"}).replace(written.encode(), name.encode())
    assert "name" in refused(data)


def test_row_50_a_nul_in_a_name() -> None:
    assert "control character" in refused(patched(WHOLE, b"a/c.txt", b"a/c\0txt"))


def test_row_50_names_that_are_neither_ascii_nor_utf_8() -> None:
    assert "neither ASCII" in refused(patched(WHOLE, b"a/c.txt", b"a/\x82.txt"))  # é of cp437
    data = zipped({"a/é.py": b"1"})
    assert opened(data).members[0].name == "a/é.py"
    assert "neither ASCII" in refused(patched(data, "é".encode(), b"\xff\xfe"))


@pytest.mark.parametrize(("kind", "told"), [(0o120000, "symbolic link"), (0o010000, "regular"), (0o060000, "regular")])
def test_row_50_links_and_devices(kind: int, told: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        info = zipfile.ZipInfo("a/link")
        info.external_attr = (kind | 0o777) << 16
        made.writestr(info, "/etc/passwd")
    assert told in refused(out.getvalue())


def test_row_50_a_second_name_in_the_extra_field() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        info = zipfile.ZipInfo("a.py")
        info.extra = struct.pack("<HHBL", 0x7075, 9, 1, zlib.crc32(b"a.py")) + b"b.py"
        made.writestr(info, "x")
    assert "second name" in refused(out.getvalue())


# --- row 51: one reading ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_row_51_two_members_of_one_name() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("a.py", "good")
        made.writestr("a.py", "evil")
    assert refused(out.getvalue()) == "two members have this name"


def test_row_51_a_file_that_is_a_folder_too() -> None:
    assert refused(zipped({"a": b"1", "a/b": b"2"})) == "it is a file and a folder"


def test_row_51_bytes_before_and_after_and_between() -> None:
    assert refused(b"#!/bin/sh\n" + WHOLE) == "its directory does not end where the end record begins"
    assert "bytes follow its end" in refused(WHOLE + b"x")
    start = WHOLE.index(b"PK\x03\x04", 4)
    assert refused(WHOLE[:start] + b"junk" + WHOLE[start:])


def test_row_51_a_prefix_that_offsets_know_of() -> None:
    out = io.BytesIO(b"#!/bin/sh\n")
    out.seek(0, 2)
    with zipfile.ZipFile(out, "a") as made:
        made.writestr("a.py", "1")
    assert refused(out.getvalue()) == "bytes that belong to no member come before it"


def test_row_51_a_second_end_record() -> None:
    """One directory for who reads from the start of the tail, another for who reads from its end."""
    other = zipped({"evil.py": b"2"})
    outer = WHOLE[:-2] + struct.pack("<H", len(other))
    assert refused(outer + other) == "it has two end records"
    assert everything(opened(WHOLE[:-2] + struct.pack("<H", 4) + b"note")) == MEMBERS, "a plain comment"


def test_row_51_zip64_that_leads_elsewhere() -> None:
    end = len(WHOLE) - 22
    count, length, start = struct.unpack_from("<H2L", WHOLE, end + 10)
    wide = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start)

    def made(record: bytes, at: int, tail: bytes = WHOLE[end:]) -> bytes:
        return WHOLE[:end] + record + struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1) + tail

    assert everything(opened(made(wide, end))) == MEMBERS
    assert refused(made(wide, end - 1)) == "its ZIP64 locator leads elsewhere"
    assert refused(made(b"PK\x06\x05" + wide[4:], end)) == "its ZIP64 locator leads elsewhere"
    other = wide[:24] + struct.pack("<4Q", 1, 1, length, start)
    assert refused(made(other, end)) == "its two end records disagree"
    full = WHOLE[end : end + 8] + b"\xff" * 12 + WHOLE[end + 20 :]
    assert everything(opened(made(wide, end, full))) == MEMBERS
    assert refused(WHOLE[:end] + full) == "its ZIP64 end record is missing"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"a/b.py", b"a/x.py", "its two headers disagree"),  # the local one alone
        (struct.pack("<L", zlib.crc32(MEMBERS["a/b.py"])), b"\0\0\0\0", "its two headers disagree"),
    ],
)
def test_row_51_headers_that_disagree(old: bytes, new: bytes, told: str) -> None:
    assert refused(patched(WHOLE, old, new, 1)) == told


def test_the_directory_must_be_whole() -> None:
    end = len(WHOLE) - 22
    fewer = WHOLE[: end + 8] + struct.pack("<2H", 2, 2) + WHOLE[end + 12 :]
    more = WHOLE[: end + 8] + struct.pack("<2H", 4, 4) + WHOLE[end + 12 :]
    parts = WHOLE[: end + 8] + struct.pack("<2H", 2, 3) + WHOLE[end + 12 :]
    assert refused(fewer) == "its directory has more than the end record says"
    assert refused(more) == "its directory has fewer entries than the end record says"
    assert refused(parts) == "it is a part of several"
    assert "no zip archive" in refused(b"not a zip")
    assert "no zip archive" in refused(b"x" * 100)


@pytest.mark.parametrize(
    ("at", "value", "told"), [(6, 0x1, "encrypted"), (6, 0x2000, "encrypted"), (8, 12, "method 12")]
)
def test_what_wheels_do_not_use(at: int, value: int, told: str) -> None:
    data = bytearray(zipped({"a.py": b"1"}))
    struct.pack_into("<H", data, at, value)
    struct.pack_into("<H", data, data.index(b"PK\x01\x02") + at + 2, value)
    assert told in refused(bytes(data))


def test_data_that_is_not_what_the_headers_say() -> None:
    stored = zipped({"a.py": b"0123456789"}, method=zipfile.ZIP_STORED)
    assert "checksum" in refused(patched(stored, b"0123456789", b"0123456780"))
    deflated = zipped({"a.py": b"0123456789" * 9})
    at = deflated.index(b"a.py") + 4
    assert refused(deflated[:at] + b"\xff\xff" + deflated[at + 2 :]).startswith("its compressed data is broken")


# --- row 52: bombs ----------------------------------------------------------------------------------------------------


def test_row_52_a_bomb_is_told_from_its_directory() -> None:
    data = zipped({"zeros": bytes(64 * 1024**2)})
    assert len(data) < 80_000
    tracemalloc.start()
    assert refused(data) == "it unpacks to more than 200 times its size"
    assert tracemalloc.get_traced_memory()[1] < 2 * 1024**2
    tracemalloc.stop()


def test_row_52_a_bomb_that_lies_about_its_size() -> None:
    """Headers that say 1,000 bytes: reading stops there."""
    data = bytearray(zipped({"zeros": bytes(64 * 1024**2)}))
    struct.pack_into("<L", data, 22, 1000)
    struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 1000)
    found = opened(bytes(data))
    tracemalloc.start()
    with pytest.raises(Malformed, match="1000 bytes"):
        found.read(found.members[0], 10**9)
    assert tracemalloc.get_traced_memory()[1] < 8 * 1024**2
    tracemalloc.stop()


def test_row_52_members_that_share_bytes() -> None:
    """Two entries of the directory for one local header (David Fifield's overlap)."""
    data = zipped({"a.py": b"x" * 500})
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry = data[directory:end]
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 2 * len(entry), directory, 0)
    twice = data[:directory] + entry + entry.replace(b"a.py", b"b.py") + tail
    assert refused(twice) in ("it shares bytes with what follows", "it shares bytes with another member")


def test_row_52_more_members_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    assert refused(WHOLE) == "it has more than 2 members"
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    monkeypatch.setattr(archive, "MOST_BYTES", 368)
    assert refused(WHOLE) == "it unpacks to more than 368 bytes"


def test_a_limit_for_one_member() -> None:
    found = opened(WHOLE)
    with pytest.raises(Malformed, match="more than 359 bytes"):
        found.read(found.members[0], 359)
    assert len(found.read(found.members[0], 360)) == 360


# --- what is accepted has one reading ---------------------------------------------------------------------------------

Change = tuple[int, int]


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_what_is_accepted_python_reads_alike(changes: list[Change]) -> None:
    """Bytes are changed at random: then the archive is refused, or zipfile sees the very same members."""
    data = bytearray(WHOLE)
    for at, value in changes:
        data[at] = value
    try:
        ours = everything(opened(bytes(data)))
    except Malformed:
        return
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as other:
        assert {info.filename: other.read(info) for info in other.infolist()} == ours


@given(st.binary(max_size=200), st.sampled_from([lambda b: b, lambda b: WHOLE[:-22] + b, lambda b: WHOLE[:40] + b]))
def test_no_bytes_crash_it(data: bytes, placed: Callable[[bytes], bytes]) -> None:
    with pytest.raises(Malformed):
        everything(opened(placed(data)))


def test_a_real_wheel_by_pip_is_accepted(tmp_path: Path) -> None:
    path = put(tmp_path, members=files())
    with path.open("rb") as file:
        assert set(everything(Archive(file))) == set(files())
