"""What is installed in an image, from the files that its archive held."""

from pathlib import Path

import pytest
from wheelmaking import extension, needs_cc

from pinctl.images import contents
from pinctl.images.tar import File
from pinctl.wheel.provenance import Provenance, render

SITE = "opt/venv/lib/python3.12/site-packages"
META = b"Metadata-Version: 2.1\nName: Tiny_K\nVersion: 1.2.0+cu129\n"
BUILT = render(Provenance(pin="tinyk", commit="a1" * 20))


def file(path: str, data: bytes | None, size: int = 0) -> File:
    return File(f"{SITE}/{path}", len(data or b"") or size, 0.0, data)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        (f"{SITE}/a-1.dist-info/METADATA", True), ("usr/lib/python3/dist-packages/a-1.dist-info/RECORD", True),
        (f"{SITE}/a-1.dist-info/pinctl-provenance.json", True), (f"{SITE}/a-1.dist-info/x/METADATA", False),
        (f"{SITE}/a-1.dist-info/LICENSE", False), ("a-1.dist-info/METADATA", False), (f"{SITE}/torch/version.py", True),
        (f"{SITE}/other/version.py", False), (f"{SITE}/tinyk/_C.abi3.so", True), (f"{SITE}/tinyk/lib/a.so.1", True),
        (f"{SITE}/tinyk.cpython-312.so", True), (f"{SITE}/tinyk2/_C.so", False), (f"{SITE}/tinyk/x.py", False),
        ("etc/passwd", False), (f"{SITE}/a-1.dist-info\n/METADATA", False),
    ],
)  # fmt: skip
def test_which_files_are_read(path: str, read: bool) -> None:
    assert (contents.wanted({"tinyk"})(path) > 0) is read


@needs_cc
def test_a_distribution_with_all_that_it_says(tmp_path: Path) -> None:
    info = "tiny_k-1.2.0+cu129.dist-info"
    found = contents.environment(
        [
            file("tinyk/_C.abi3.so", extension(tmp_path, needs=["libcudart.so.12"])),
            file("tinyk/big.so", None, 200 << 20),
            file("tinyk/text.so", b"INPUT(x)"),
            file(f"{info}/METADATA", META),
            file(f"{info}/pinctl-provenance.json", BUILT),
            file(f"{info}/RECORD", b"tinyk/__init__.py,,\ntinyk/_C.abi3.so,,\n../../x,,\n"),
            file("torch/version.py", b"__version__ = '2.9.1+cu129'\ncuda: Optional[str] = '12.9'\n"),
        ],
        "engine:1",
    )
    (one,) = found.installed
    assert (one.name, one.project, one.public, one.imports) == ("Tiny_K", "tiny-k", "1.2.0", ("tinyk",))
    assert isinstance(one.provenance, Provenance)
    assert one.needed == {"tinyk/_C.abi3.so": ("libcudart.so.12", "libc.so.6"), "tinyk/text.so": ()}
    assert one.unread == ("tinyk/big.so cannot be read: it has 200 MiB, which is more than is looked into",)
    assert (found.where, found.python, found.torch_cuda) == ("engine:1", "3.12", "12.9")


def test_what_is_broken_is_passed_over_or_told() -> None:
    commit = b'{"url": "https://h/x", "vcs_info": {"vcs": "git", "commit_id": "%s"}}' % (b"b2" * 20)
    found = contents.environment(
        [
            file("a-1.dist-info/METADATA", b"\xff\xfe"),
            file("b-1.dist-info/RECORD", b""),
            file("e-1.dist-info/METADATA", b"Metadata-Version: 2.1\nName: e; reboot\nVersion: 1\n"),
            file("c-1.dist-info/METADATA", b"Metadata-Version: 2.1\nName: c\nVersion: 1\x1b[31m\n"),
            file("c-1.dist-info/pinctl-provenance.json", b"{"),
            file("d-1.dist-info/METADATA", b"Metadata-Version: 2.1\nName: d\nVersion: 1\n"),
            file("d-1.dist-info/direct_url.json", commit),
            file("d-1.dist-info/top_level.txt", b"dd\nnot-a-name\n"),
        ],
        "i",
    )
    c, d = found.installed
    assert (c.name, c.version, type(c.provenance)) == ("c", "1[31m", str)
    assert (d.commit, d.imports) == ("b2" * 20, ("dd",))
    assert found.torch_cuda is None


def test_the_folders_in_which_libraries_lie() -> None:
    assert contents.tops(["flash-mla"], ["deep_gemm"]) == {"flash_mla", "deep_gemm"}
