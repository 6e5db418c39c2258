"""Archives as docker streams them, made by Python's tarfile in each of its formats, and hostile ones."""

import io
import tarfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.images import tar
from pinctl.images.tar import BadTar, Reader

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
LONG = "/".join(["folder"] * 30) + "/METADATA"


def archive(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_700_000_000
            made.addfile(info, io.BytesIO(data))
    return out.getvalue()


def read(data: bytes, most: int = 1000, step: int = 700) -> list[tuple[str, bytes | None]]:
    reader = Reader(lambda _: most)
    for at in range(0, len(data), step):
        reader.feed(data[at : at + step])
    reader.close()
    return [(file.path, file.data) for file in reader.files]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("step", [1, 511, 512, 513, 100_000])
def test_files_are_read_however_the_archive_is_cut(form: int, step: int) -> None:
    files = {"a": b"x", "b/empty": b"", LONG[-150:]: b"y" * 513, "c": b"z" * 512}
    assert read(archive(files, form), step=step) == list(files.items())


@pytest.mark.parametrize("form", FORMATS[1:])
def test_long_and_odd_names(form: int) -> None:
    files = {LONG: b"1", "näme": b"2"}
    assert read(archive(files, form)) == list(files.items())


NAMES = st.text("abc/é", min_size=1, max_size=300).map(lambda text: "r" + text.replace("//", ""))


@given(st.dictionaries(NAMES, st.binary(max_size=1500), max_size=4), st.sampled_from(FORMATS[1:]), st.integers(1, 2000))
def test_it_reads_what_tarfile_wrote(files: dict[str, bytes], form: int, step: int) -> None:
    assert read(archive(files, form), most=10_000, step=step) == list(files.items())


def test_a_time_and_what_is_passed_over() -> None:
    reader = Reader(lambda path: 3 if path.startswith("a") else 0)
    reader.feed(archive({"a": b"123", "ab": b"1234", "b": b"1"}))
    reader.close()
    assert [(f.path, f.size, f.modified, f.data) for f in reader.files] == [
        ("a", 3, 1_700_000_000.0, b"123"),
        ("ab", 4, 1_700_000_000.0, None),
    ]


def test_links_and_folders_are_no_files() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, kind in (
            ("d", tarfile.DIRTYPE),
            ("s", tarfile.SYMTYPE),
            ("h", tarfile.LNKTYPE),
            ("p", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            made.addfile(info)
        made.addfile(tarfile.TarInfo("x"))
    assert read(out.getvalue()) == [("x", b"")]


def _broken(change: int, value: bytes) -> bytes:
    data = bytearray(archive({"a": b"x"}, tarfile.USTAR_FORMAT))
    data[change : change + len(value)] = value
    total = sum(data[:148]) + sum(data[156:512]) + 256
    data[148:156] = f"{total:06o}\0 ".encode()
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"", "it is cut off"),
        (archive({"a": b"x"})[:600], "it is cut off"),
        (b"x" * 512, "malformed"),
        (b"1" * 512, "checksum"),
        (_broken(124, b"99999999999\0"), "malformed"),
        (_broken(124, b"\xff" * 12), "larger than may be"),
        (_broken(156, b"x"), "pax header is malformed"),
        (_broken(156, b"L") [:512] + b"", "cut off"),
    ],
)  # fmt: skip
def test_what_is_refused(data: bytes, clause: str) -> None:
    with pytest.raises(BadTar, match=clause):
        read(data)


def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive({"a": b"x" * 600, "b": b"x" * 600})
    for name, least in (("MOST_MEMBERS", 1), ("LARGEST", 2000), ("MOST_FILES", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(tar, name, least)
            with pytest.raises(BadTar, match="more than"):
                read(data)
    monkeypatch.setattr(tar, "KEPT", 1000)
    assert [found is None for _, found in read(data)] == [False, True]


@given(st.binary(max_size=2000))
def test_no_bytes_crash_it(data: bytes) -> None:
    with suppress(BadTar):
        read(data)


@given(st.integers(0, 511), st.binary(min_size=1, max_size=12))
def test_no_change_of_a_header_crashes_it(at: int, value: bytes) -> None:
    with suppress(BadTar):
        read(_broken(at, value))
