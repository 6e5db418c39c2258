"""What is told of a wheel's shared libraries, made by this machine's compiler (H10, H14)."""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from wheelmaking import compiled, extension, fat_binary, fat_entry, files, needs_cc, needs_cxx, read, with_fatbin

from pinctl.finding import Finding
from pinctl.model import Variant
from pinctl.wheel import abi3, policy
from pinctl.wheel.context import Library
from pinctl.wheel.judgement import Wanted, judge

pytestmark = needs_cc

MACHINE = platform.machine()
LINUX = f"tiny_kernel-1.0-cp311-cp311-manylinux_2_28_{MACHINE}.whl"
SO = "tiny_kernel/_C.cpython-311-x86_64-linux-gnu.so"
CU13 = Variant(name="cu13", cuda="13.0", arch_list=("9.0a", "10.0f", "12.0+PTX"))
EXCLUDES = (Library("libcudart.so.*", "torch brings it"), Library("libtorch*.so", "two of them"))


def told(tmp_path: Path, library: bytes, wanted: Wanted = Wanted(), filename: str = LINUX, member: str = SO,  # noqa: B008
         metadata: Sequence[str] = ()) -> list[Finding]:  # fmt: skip
    """The findings of a wheel with this one library."""
    return judge(read(tmp_path, filename, files(filename, {member: library}, metadata=metadata)), wanted)


def brief(findings: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(found.code, found.severity.value, found.selector) for found in findings]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A library that needs nothing."""
    return compiled(tmp_path_factory.mktemp("plain"), "int one(void) { return 1; }", "-nostdlib")


def needing(tmp_path: Path, version: str) -> bytes:
    """A library that needs a symbol of this version of libc: `GLIBC_2.32`."""
    script = tmp_path / "versions"
    script.write_text(f"{version} {{ global: it; }};")
    libc = tmp_path / "libc.so.6"
    libc.write_bytes(compiled(tmp_path, "int it(void){return 1;}", "-nostdlib", "-Wl,-soname,libc.so.6",
                              f"-Wl,--version-script={script}"))  # fmt: skip
    return compiled(tmp_path, "int it(void); int f(void) { return it(); }", "-nostdlib", str(libc))


# --- H14 ---


def test_h14_a_wheel_that_was_renamed_for_an_older_glibc(tmp_path: Path) -> None:
    """Dao-AILab/flash-attention#1762: GLIBC_2.32 in a wheel that says manylinux2014."""
    filename = LINUX.replace("manylinux_2_28", "manylinux2014")
    library = needing(tmp_path, "GLIBC_2.32")
    (found,) = told(tmp_path, library, filename=filename)
    assert (found.code, found.severity, found.selector) == ("PIN607", "error", SO)
    assert (found.expected, found.found) == ("GLIBC_2.17 at most", "GLIBC_2.32")
    assert "a new name alone mends nothing" in (found.hint or "")
    assert told(tmp_path, library, filename=LINUX.replace("2_28", "2_34")) == []


def test_h14_each_tag_of_a_name_is_a_promise(tmp_path: Path) -> None:
    filename = f"tiny_kernel-1.0-cp311-cp311-manylinux_2_28_{MACHINE}.manylinux_2_34_{MACHINE}.whl"
    (found,) = told(tmp_path, needing(tmp_path, "GLIBC_2.32"), filename=filename)
    assert f"manylinux_2_28_{MACHINE} promises" in found.message


def test_a_tag_that_promises_nothing(tmp_path: Path, plain: bytes) -> None:
    (found,) = told(tmp_path, plain, filename=LINUX.replace("manylinux_2_28", "linux"))
    assert (found.code, found.found) == ("PIN608", f"linux_{MACHINE}")
    assert f"--plat {found.expected} FILE" in (found.hint or "")


def test_the_tag_that_is_proposed_fits(tmp_path: Path) -> None:
    library = needing(tmp_path, "GLIBC_2.32")
    (found,) = told(tmp_path, library, filename=LINUX.replace("manylinux_2_28", "linux"))
    assert found.expected == f"manylinux_2_34_{MACHINE}"
    assert told(tmp_path, library, filename=LINUX.replace("manylinux_2_28", "manylinux_2_34")) == []
    assert policy.least({"GLIBC": "2.99"}, "x86_64") is None
    assert policy.least({}, "x86_64") == "manylinux_2_17_x86_64"


def test_another_machine(tmp_path: Path, plain: bytes) -> None:
    other = "aarch64" if MACHINE != "aarch64" else "x86_64"
    (found,) = told(tmp_path, plain, filename=LINUX.replace(MACHINE, other))
    assert (found.code, found.expected, found.found) == ("PIN610", other, MACHINE)


def test_native_code_in_a_pure_wheel(tmp_path: Path, plain: bytes) -> None:
    assert [f.expected for f in told(tmp_path, plain, filename="tiny_kernel-1.0-cp311-none-any.whl")] == [
        "false", "a platform tag"]  # fmt: skip
    members = files(LINUX, {SO: plain}, purelib=True)
    assert [f.code for f in judge(read(tmp_path, LINUX, members), Wanted())] == ["PIN606"]


def test_a_broken_library(tmp_path: Path, plain: bytes) -> None:
    found = told(tmp_path, plain[:200])
    assert ("PIN617", "error", SO) in brief(found)


# --- CUDA ---


@pytest.mark.parametrize(
    ("filename", "variant", "expected"),
    [
        (LINUX, CU13._replace(arch_list=()), "libraries of CUDA 13"),
        (LINUX.replace("-1.0-", "-1.0+cu130-"), None, "libraries of CUDA 13"),
        (LINUX.replace("-1.0-", "-1.0+cu129-"), None, None),
        (LINUX, None, None),
    ],
)
def test_libraries_of_another_cuda(
    tmp_path: Path, filename: str, variant: Variant | None, expected: str | None
) -> None:
    """DeepGEMM#137: two builds under one name, told apart by NEEDED alone."""
    library = extension(tmp_path, "-nostdlib", needs=["libcudart.so.12", "libcusparse.so.12", "libcuda.so.1"])
    label = None if "+" not in filename else filename.split("+")[1].partition("-")[0]
    wanted = Wanted(variant=variant._replace(label=label) if variant else None)
    found = told(tmp_path, library, wanted, filename=filename)
    assert [(f.code, f.selector, f.expected, f.found) for f in found] == (
        [("PIN611", SO, expected, "libcudart.so.12")] if expected else [])  # fmt: skip


def test_libraries_of_two_cudas(tmp_path: Path) -> None:
    library = extension(tmp_path, "-nostdlib", needs=["libcudart.so.12", "libnvrtc.so.13"])
    assert [(f.code, f.severity) for f in told(tmp_path, library)] == [("PIN611", "warning")]


@pytest.mark.parametrize("member", ["tiny_kernel.libs/libcudart-0123abcd.so.12.9.79", "tiny_kernel/lib/renamed.so"])
def test_a_bundled_library(tmp_path: Path, member: str) -> None:
    library = extension(tmp_path, "-nostdlib", "-Wl,-soname,libcudart.so.12")
    (found,) = told(tmp_path, library, Wanted(excludes=EXCLUDES), member=member)
    assert (found.code, found.selector) == ("PIN612", member)
    assert "--exclude 'libcudart.so.*'" in (found.hint or "")
    other = LINUX.replace("tiny_kernel", "nvidia_cuda_runtime")
    assert told(tmp_path, library, Wanted(excludes=EXCLUDES), filename=other, member=member) == []


# --- H10: the GPUs ---


def test_h10_the_first_architecture_alone(tmp_path: Path) -> None:
    """spiriMirror/libuipc#490: an unquoted list lost all but its first entry, and the build passed."""
    library = with_fatbin(tmp_path, fat_binary(fat_entry(90, 0x100011)), "-nostdlib")
    (found,) = told(tmp_path, library, Wanted(variant=CU13))
    assert (found.code, found.severity, found.expected, found.found) == (
        "PIN619", "error", "9.0a, 10.0f, 12.0+PTX", "sm_90a")  # fmt: skip
    assert "10.0f, 12.0+PTX" in found.message


def test_h10_all_declared_architectures(tmp_path: Path) -> None:
    entries = [fat_entry(90, 0x100011), fat_entry(100, 0x1200011), fat_entry(120), fat_entry(120, kind=1)]
    assert told(tmp_path, with_fatbin(tmp_path, fat_binary(*entries), "-nostdlib"), Wanted(variant=CU13)) == []
    family_is_not_specific = [fat_entry(90), *entries[1:]]
    (found,) = told(tmp_path, with_fatbin(tmp_path, fat_binary(*family_is_not_specific), "-nostdlib"),
                    Wanted(variant=CU13))  # fmt: skip
    assert "no code for 9.0a is" in found.message


def test_no_gpu_code_at_all(tmp_path: Path, plain: bytes) -> None:
    assert brief(told(tmp_path, plain, Wanted(variant=CU13))) == [("PIN620", "info", None)]
    odd = with_fatbin(tmp_path, b"something else, longer than a header", "-nostdlib")
    assert brief(told(tmp_path, odd, Wanted(variant=CU13))) == [("PIN620", "info", SO)]


# --- the loader ---


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("$ORIGIN", False),
        ("$ORIGIN/../nvidia/cu13/lib:${ORIGIN}/lib", False),
        ("$ORIGIN/..", False),
        ("$ORIGIN/../..", True),
        ("$ORIGIN/../../../lib", True),
        ("/usr/local/cuda/lib64", True),
        ("lib", True),
        ("$ORIGIN/lib:", True),
        ("$ORIGINAL/lib", True),
    ],
)
def test_where_libraries_are_looked_for(tmp_path: Path, path: str, wrong: bool) -> None:
    found = told(tmp_path, extension(tmp_path, "-nostdlib", f"-Wl,-rpath,{path}"))
    assert brief(found) == ([("PIN613", "error", SO)] if wrong else [])


@pytest.mark.parametrize(("member", "wrong"), [
    ("tiny_kernel-1.0.data/platlib/tiny/_C.so", True), ("tiny_kernel-1.0.data/platlib/a/b/_C.so", False),
    ("tiny_kernel-1.0.data/scripts/tool", False)])  # fmt: skip
def test_where_data_folders_go(tmp_path: Path, member: str, wrong: bool) -> None:
    library = extension(tmp_path, "-nostdlib", "-Wl,-rpath,$ORIGIN/../..")
    assert [f.code for f in told(tmp_path, library, member=member)] == (["PIN613"] if wrong else [])


@needs_cxx
@pytest.mark.parametrize(("needs", "metadata", "severity"), [
    (["libtorch.so"], ["Requires-Dist: torch==2.9.1"], "error"), ([], ["Requires-Dist: torch"], "warning"),
    ([], ["Requires-Dist: torch-geometric"], None), ([], [], None)])  # fmt: skip
def test_a_second_libstdcxx(tmp_path: Path, needs: list[str], metadata: list[str], severity: str | None) -> None:
    libraries = [str(tmp_path / name) for name in needs]
    for path in libraries:
        Path(path).write_bytes(compiled(tmp_path, "", f"-Wl,-soname,{Path(path).name}", "-nostdlib"))
    source = '#include <iostream>\nextern "C" int PyErr_Print(); extern "C" void f() { std::cout << PyErr_Print(); }'
    library = compiled(tmp_path, source, "-static-libstdc++", "-Wl,--no-as-needed", *libraries, compiler="g++",
                       language="cc")  # fmt: skip
    found = [f for f in told(tmp_path, library, metadata=metadata) if f.code == "PIN618"]
    assert [f.severity for f in found] == ([severity] if severity else [])


@pytest.mark.parametrize(("metadata", "there"), [([], True), (["Requires-Dist: torch==2.9.1"], False)])
def test_torch_that_nobody_wrote_down(tmp_path: Path, metadata: list[str], there: bool) -> None:
    found = told(tmp_path, extension(tmp_path, "-nostdlib", needs=["libc10.so"]), metadata=metadata)
    assert brief(found) == ([("PIN625", "warning", SO)] if there else [])


# --- Python ---


def named(python: str) -> str:
    return f"tiny_kernel/_C.{python}x86_64-linux-gnu.so"


@pytest.mark.parametrize(
    ("tags", "member", "severity"),
    [
        ("cp311-cp311", named("cpython-311-"), None),
        ("cp312-cp312", named("cpython-311-"), "error"),
        ("cp311-abi3", named("cpython-311-"), "warning"),
        ("cp312-abi3", named("cpython-311-"), "error"),
        ("py3-none", named("cpython-311-"), "warning"),
        ("cp311.cp312-none", named("cpython-311-"), "warning"),
        ("cp311-abi3", "tiny_kernel/_C.abi3.so", None),
    ],
)
def test_extensions_for_another_python(
    tmp_path: Path, plain: bytes, tags: str, member: str, severity: str | None
) -> None:
    found = told(tmp_path, plain, filename=LINUX.replace("cp311-cp311", tags), member=member)
    assert [(f.code, f.severity) for f in found] == ([("PIN614", severity)] if severity else [])


USES = "extern int PyErr_GetRaisedException(void); int f(void) { return PyErr_GetRaisedException(); }"


@pytest.mark.parametrize(("python", "wrong"), [("cp39", True), ("cp311", True), ("cp312", False)])
def test_names_outside_of_the_stable_abi(tmp_path: Path, python: str, wrong: bool) -> None:
    library = compiled(tmp_path, USES, "-nostdlib")
    found = told(tmp_path, library, filename=LINUX.replace("cp311-cp311", f"{python}-abi3"), member="t/_C.abi3.so")
    assert [(f.code, f.found) for f in found] == (
        [("PIN615", "PyErr_GetRaisedException (since 3.12)")] if wrong else [])  # fmt: skip


def test_the_stable_abi_without_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "abi3info", None)
    with pytest.raises(abi3.Missing):
        abi3.outside([], "3.9")
    library = compiled(tmp_path, USES, "-nostdlib")
    found = told(tmp_path, library, filename=LINUX.replace("cp311-cp311", "cp39-abi3"), member="t/_C.abi3.so")
    assert brief(found) == [("PIN616", "info", "t/_C.abi3.so")]


def test_object_code_for_gpus_is_no_library(tmp_path: Path) -> None:
    cubin = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
    assert [f.code for f in told(tmp_path, cubin, member="tiny_kernel/k.cubin")] == ["PIN609"]
