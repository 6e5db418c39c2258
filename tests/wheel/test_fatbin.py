from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wheelmaking import fat_binary, fat_entry

from pinctl.wheel import fatbin
from pinctl.wheel.fatbin import BadFatbin, Device, devices


def read(section: bytes) -> list[str]:
    return [str(device) for device in devices(lambda at, size: section[at : at + size], 0, len(section))]


def test_architectures_are_told_apart_by_their_flags() -> None:
    """The flags are those that nvcc 13.0 writes; `cuobjdump` calls the entries by these names."""
    entries = [(90, 0x11), (90, 0x100011), (100, 0x1000011), (100, 0x1100011), (100, 0x1200011), (75, 0x8011)]
    assert read(fat_binary(*(fat_entry(*entry) for entry in entries))) == [
        "sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f"]  # fmt: skip


def test_ptx_comes_last_and_other_kinds_count_for_nothing() -> None:
    binary = fat_binary(fat_entry(80, kind=1), fat_entry(90, 0x100000, kind=1), fat_entry(70, kind=16), fat_entry(120))
    assert read(binary) == ["sm_120", "compute_80", "compute_90a"]


def test_containers_follow_each_other_at_eight_bytes() -> None:
    first = fat_binary(fat_entry(90, data=b"x" * 13))
    assert read(first + bytes(-len(first) % 8) + fat_binary(fat_entry(80))) == ["sm_80", "sm_90"]
    assert read(b"") == []


@pytest.mark.parametrize(
    ("section", "told"),
    [
        (b"\0" * 64, "no fat binary begins at byte 0"),
        (fat_binary(fat_entry(90)) + b"\0" * 64, "no fat binary begins at byte 96"),
        (fat_binary(fat_entry(90))[:-1], "no fat binary begins at byte 0"),  # its length leaves the section
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 20) + bytes(20), "it is cut off"),
        (fat_binary(fat_entry(90)[:4] + struct.pack("<IQ", 64, 2**40) + fat_entry(90)[16:]), "an entry leaves"),
        (fat_binary(fat_entry(90)[:4] + struct.pack("<IQ", 0, 0) + fat_entry(90)[16:]), "an entry leaves"),
    ],
)
def test_what_is_no_fat_binary(section: bytes, told: str) -> None:
    with pytest.raises(BadFatbin, match=told):
        read(section)


def test_endless_entries_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fatbin, "MOST_ENTRIES", 3)
    assert read(fat_binary(*[fat_entry(90)] * 3)) == ["sm_90"]
    with pytest.raises(BadFatbin):
        read(fat_binary(*[fat_entry(90)] * 4))


@given(st.lists(st.tuples(st.integers(50, 130), st.sampled_from(["", "a", "f"]), st.booleans()), max_size=8))
def test_what_is_written_is_read(wanted: list[tuple[int, str, bool]]) -> None:
    flags = {"": 0, "a": 0x100000, "f": 0x200000}
    section = fat_binary(*(fat_entry(arch, flags[kind], kind=1 if ptx else 2) for arch, kind, ptx in wanted))
    assert set(read(section)) == {str(Device(f"{arch}{kind}", ptx)) for arch, kind, ptx in wanted}


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(data: bytes) -> None:
    with suppress(BadFatbin):
        read(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(data)) + data)
