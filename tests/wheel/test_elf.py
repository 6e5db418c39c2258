"""ELF files of this machine's compiler, read by us and by pyelftools."""

from __future__ import annotations

import io
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st
from wheelmaking import compiled, extension, fat_binary, fat_entry, needs_cc, needs_cxx, with_fatbin

from pinctl.wheel import elf
from pinctl.wheel.elf import BadElf, Elf
from pinctl.wheel.fatbin import Device

PYTHON = """
typedef struct _object PyObject;
extern PyObject *PyList_New(long);
extern int _Py_Private;
PyObject *make(void) { return _Py_Private ? PyList_New(0) : 0; }
"""


def read(data: bytes) -> Elf:
    found = elf.read(io.BytesIO(data))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A library that needs others by name, has a SONAME and a RUNPATH, and uses names of Python."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("elf")
    return extension(folder, "-Wl,-soname,libtiny.so.1", "-Wl,-rpath,$ORIGIN/lib:/usr/local/cuda/lib64",
                     "-Wl,--enable-new-dtags", needs=["libcudart.so.12", "libtorch.so"], source=PYTHON)  # fmt: skip


def test_what_the_loader_would_ask(library: bytes) -> None:
    found = read(library)
    assert found.soname == "libtiny.so.1"
    assert found.needed[:2] == ("libcudart.so.12", "libtorch.so")
    assert found.runpath == ("$ORIGIN/lib", "/usr/local/cuda/lib64")
    assert found.python == ("PyList_New", "_Py_Private")
    assert (found.static_cxx, found.devices) == (False, ())
    assert found.machine == subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()


def test_pyelftools_reads_the_same(library: bytes) -> None:
    other = ELFFile(io.BytesIO(library))
    segment = next(part for part in other.iter_segments() if isinstance(part, DynamicSegment))
    tags = {kind: [getattr(tag, kind[3:].lower()) for tag in segment.iter_tags(kind)]
            for kind in ("DT_NEEDED", "DT_SONAME", "DT_RUNPATH")}  # fmt: skip
    found = read(library)
    assert list(found.needed) == tags["DT_NEEDED"]
    assert [found.soname] == tags["DT_SONAME"]
    assert ":".join(found.runpath) == tags["DT_RUNPATH"][0]
    undefined = {s.name for s in segment.iter_symbols() if s["st_shndx"] == "SHN_UNDEF" and "Py" in s.name}
    assert set(found.python) == undefined
    needs = other.get_section_by_name(".gnu.version_r")
    versions = {part.name for _, parts in needs.iter_versions() for part in parts} if needs else set()
    assert {f"{family}_{version}" for family, version in found.versions.items()} <= versions


@needs_cc
def test_an_old_rpath_is_read_too(tmp_path: Path) -> None:
    assert read(extension(tmp_path, "-Wl,-rpath,/opt/x", "-Wl,--disable-new-dtags")).runpath == ("/opt/x",)


@needs_cc
def test_without_section_headers(tmp_path: Path) -> None:
    """Program headers are all that a loader needs; `sstrip` and packers leave no others."""
    data = bytearray(compiled(tmp_path, PYTHON))
    data[0x28:0x30] = bytes(8)  # e_shoff
    data[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
    assert read(bytes(data)).python == ("PyList_New", "_Py_Private")


@needs_cxx
def test_a_copy_of_libstdcxx_is_seen_even_when_it_is_stripped_and_hidden(tmp_path: Path) -> None:
    source = """
    #include <regex>
    extern "C" int f(const char *s) { return std::regex_match(std::string(s), std::regex("a+b")); }
    """
    flags = ["-static-libstdc++", "-Wl,--exclude-libs,ALL", "-s"]
    shared = read(compiled(tmp_path, source, compiler="g++", language="cc"))
    static = read(compiled(tmp_path, source, *flags, compiler="g++", language="cc"))
    assert ("libstdc++.so.6" in shared.needed, shared.static_cxx) == (True, False)
    assert ("libstdc++.so.6" in static.needed, static.static_cxx) == (False, True)
    assert set(shared.versions) >= {"GLIBC", "GLIBCXX", "CXXABI"}


@needs_cc
def test_the_highest_version_is_by_number(tmp_path: Path) -> None:
    """2.4 and 2.34 would be the other way round as text."""
    library = tmp_path / "libc.so.6"
    script = tmp_path / "versions"
    script.write_text("GLIBC_2.4 { global: old; }; GLIBC_2.34 { global: new; };")
    library.write_bytes(compiled(tmp_path, "int old(void){return 1;} int new(void){return 2;}", "-nostdlib",
                                 "-Wl,-soname,libc.so.6", f"-Wl,--version-script={script}"))  # fmt: skip
    source = "int old(void); int new(void); int f(void) { return old() + new(); }"
    assert read(compiled(tmp_path, source, "-nostdlib", str(library))).versions == {"GLIBC": "2.34"}


@needs_cc
def test_versions_of_bundled_copies_do_not_count(tmp_path: Path) -> None:
    library = tmp_path / "libstdc++-1a2b3c4d.so.6"
    script = tmp_path / "versions"
    script.write_text("GLIBCXX_3.4.99 { global: cxx; };")
    library.write_bytes(compiled(tmp_path, "int cxx(void){return 1;}", "-nostdlib", f"-Wl,-soname,{library.name}",
                                 f"-Wl,--version-script={script}"))  # fmt: skip
    found = read(compiled(tmp_path, "int cxx(void); int f(void) { return cxx(); }", "-nostdlib", str(library)))
    assert (found.needed, found.versions) == ((library.name,), {})


@needs_cc
def test_gpu_code_is_told_by_architecture(tmp_path: Path) -> None:
    section = fat_binary(fat_entry(90, 0x100011), fat_entry(100, 0x200011)) + fat_binary(fat_entry(80, 0x11, kind=1))
    assert read(with_fatbin(tmp_path, section)).devices == (Device("90a"), Device("100f"), Device("80", ptx=True))
    assert read(with_fatbin(tmp_path, b"what is this, really")).devices is None


@needs_cc
def test_objects_and_gpu_programs_are_not_for_the_loader(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;")
    subprocess.run(["cc", "-c", "a.c"], cwd=tmp_path, check=True)
    assert elf.read(io.BytesIO((tmp_path / "a.o").read_bytes())) is None


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(10), b"\x7fELF\x09\x01" + bytes(90)])
def test_what_is_cut_off(data: bytes) -> None:
    with pytest.raises(BadElf):
        elf.read(io.BytesIO(data))


@given(changes=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=8), cut=st.integers(0, 20_000))
def test_no_bytes_crash_it(library: bytes, changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(library)
    for at, value in changes:
        data[at] = value
    with suppress(BadElf):
        elf.read(io.BytesIO(bytes(data[: len(data) - cut])))
