"""`wheel inspect`, `verify` and `relabel` as a user runs them."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest
from consumer import Consumer, pinctl
from wheelmaking import NAME, extension, fat_binary, fat_entry, files, needs_cc, put, with_fatbin, zipped

from pinctl.wheel import provenance
from pinctl.wheel.provenance import Provenance

LABELLED = NAME.replace("1.0", "1.0+cu129")
PINS = """\
schema = 1
[pins.tiny]
repo = "https://github.com/o/tiny.git"
commit = "{commit}"
submodules = []
unused = true
[pins.tiny.wheel]
recipe = "wheel"
variants = ["cu12", "cu13"]
options.requires_files = ["tiny_kernel/*.py"]
[variants.cu12]
cuda = "12.9"
label = "cu129"
publish = "index"
python = ["3.11"]
platforms = ["linux/amd64"]
torch = "2.9.1"
[variants.cu13]
cuda = "13.0"
arch_list = ["9.0a", "10.0f"]
publish = "pypi"
python = ["3.11"]
platforms = ["linux/amd64"]
"""
COMMIT = "ab" * 20


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A folder with a pins.toml of two variants."""
    folder = tmp_path / "my engine"
    (folder / "dist").mkdir(parents=True)
    (folder / "pins.toml").write_text(PINS.format(commit=COMMIT))
    return folder


def built(commit: str, variant: str = "cu12") -> bytes:
    """A wheel with provenance."""
    folder = LABELLED.split("-py3")[0]
    ours = provenance.render(Provenance("tiny", "https://github.com/o/tiny", commit, variant=variant, cuda="12.9",
                                        torch="2.9.1"))  # fmt: skip
    return zipped(files(LABELLED, {"tiny_kernel/a.py": b"", f"{folder}.dist-info/{provenance.FILE}": ours}))


# --- inspect ---


def test_inspect_says_what_a_wheel_says(tmp_path: Path) -> None:
    path = put(tmp_path, members=files(metadata=["Requires-Python: >=3.10", "Requires-Dist: torch==2.9.1"]))
    run = pinctl("wheel", "inspect", "--format", "json", NAME, cwd=tmp_path)
    assert run.code == 0
    (found,) = run.document["result"]["wheels"]
    assert run.document["command"] == "wheel inspect"
    assert found == found | {
        "filename": NAME, "name": "tiny-kernel", "version": "1.0", "label": None, "build": None,
        "tags": ["py3-none-any"], "size": path.stat().st_size, "files": 4, "purelib": True,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "requires_python": ">=3.10",
        "requires_dist": ["torch==2.9.1"], "generator": "by hand", "cuda": [], "architectures": [], "needs": {},
        "libraries": [], "provenance": None, "sboms": [],
    }  # fmt: skip
    text = pinctl("wheel", "inspect", NAME, cwd=tmp_path).out
    assert "tiny-kernel 1.0" in text
    assert text.endswith("1 wheel read\n")


@needs_cc
def test_inspect_says_what_libraries_need(tmp_path: Path) -> None:
    library = with_fatbin(tmp_path, fat_binary(fat_entry(90, 0x100011)), "-nostdlib", needs=["libcudart.so.12"])
    filename = "tiny_kernel-1.0-cp311-cp311-linux_x86_64.whl"
    put(tmp_path, filename, files(filename, {"tiny_kernel/_C.so": library}))
    (found,) = pinctl("wheel", "inspect", "--format", "json", filename, cwd=tmp_path).document["result"]["wheels"]
    assert (found["cuda"], found["architectures"]) == (["12"], ["sm_90a"])
    assert found["libraries"][0]["needed"] == ["libcudart.so.12"]
    text = pinctl("-v", "wheel", "inspect", filename, cwd=tmp_path).out
    assert "sm_90a" in text
    assert "libcudart.so.12" in text


def test_inspect_refuses_what_is_no_wheel(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"#!/bin/sh\n" + zipped(files()))
    run = pinctl("wheel", "inspect", "--format", "json", NAME, cwd=tmp_path)
    assert (run.code, run.codes) == (1, ["PIN600"])
    assert run.document["findings"][0]["file"] == NAME


@pytest.mark.parametrize("verb", [["inspect"], ["verify"], ["relabel", "--label", "cu129"]])
def test_files_that_cannot_be_had(tmp_path: Path, verb: list[str]) -> None:
    for name in ("missing.whl", "."):
        run = pinctl("wheel", *verb, name, cwd=tmp_path)
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith("error: ")


# --- verify ---


def test_verify_needs_no_pins_toml(tmp_path: Path) -> None:
    put(tmp_path)
    run = pinctl("wheel", "verify", NAME, cwd=tmp_path)
    assert run.code == 0
    assert run.out.endswith("1 wheel verified\n")
    run = pinctl("wheel", "verify", NAME, "--variant", "cu12", cwd=tmp_path)
    assert run.code == 2
    assert "pins.toml" in run.err


def test_verify_tells_of_each_file_what_is_wrong(tmp_path: Path) -> None:
    put(tmp_path)
    put(tmp_path, LABELLED, files())  # renamed alone
    (tmp_path / "bad-1.0-py3-none-any.whl").write_bytes(b"PK")
    run = pinctl("wheel", "verify", "--format", "json", NAME, LABELLED, "bad-1.0-py3-none-any.whl", cwd=tmp_path)
    assert run.code == 1
    assert [(f["code"], f["file"]) for f in run.document["findings"]] == [
        ("PIN600", "bad-1.0-py3-none-any.whl"), ("PIN602", LABELLED), ("PIN603", LABELLED)]  # fmt: skip
    assert [wheel["filename"] for wheel in run.document["result"]["wheels"]] == [NAME, LABELLED]


def test_verify_against_what_the_wheel_says_it_is(engine: Path) -> None:
    path = engine / "dist" / LABELLED
    path.write_bytes(built(COMMIT))
    run = pinctl("wheel", "verify", "--format", "json", f"dist/{LABELLED}", cwd=engine)
    assert (run.code, run.codes) == (0, [])
    assert run.document["result"]["wheels"][0]["held_against"] == {"variant": "cu12", "pin": "tiny"}
    path.write_bytes(built("cd" * 20))
    run = pinctl("wheel", "verify", "--format", "json", f"dist/{LABELLED}", cwd=engine)
    assert (run.code, run.codes) == (1, ["PIN626"])
    found = run.document["findings"][0]
    assert (found["pin"], found["expected"], found["found"]) == ("tiny", COMMIT, "cd" * 20)
    assert found["file"] == f"dist/{LABELLED}"


def test_verify_finds_the_variant_by_its_label(engine: Path) -> None:
    put(engine, LABELLED, files(LABELLED))
    run = pinctl("wheel", "verify", "--format", "json", LABELLED, cwd=engine)
    assert run.document["result"]["wheels"][0]["held_against"] == {"variant": "cu12", "pin": None}


@needs_cc
def test_verify_holds_cuda_and_gpus_against_the_variant(engine: Path) -> None:
    """H10, and DeepGEMM#137: the first architecture alone, linked with another CUDA."""
    filename = "tiny_kernel-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    library = with_fatbin(engine, fat_binary(fat_entry(90, 0x100011)), "-nostdlib", needs=["libcudart.so.12"])
    put(engine, filename, files(filename, {"tiny_kernel/_C.so": library, "tiny_kernel/a.py": b""}))
    run = pinctl("wheel", "verify", "--format", "json", filename, "--variant", "cu13", "--pin", "tiny", cwd=engine)
    assert (run.code, run.told) == (1, [("PIN611", "error"), ("PIN619", "error"), ("PIN627", "warning")])
    assert run.document["findings"][0]["selector"] == "tiny_kernel/_C.so"


@needs_cc
def test_verify_tells_bundled_libraries_by_the_shipped_list(tmp_path: Path) -> None:
    filename = "tiny_kernel-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    library = extension(tmp_path, "-nostdlib", "-Wl,-soname,libnvrtc.so.13")
    put(tmp_path, filename, files(filename, {"tiny_kernel.libs/libnvrtc-0123abcd.so.13": library}))
    assert pinctl("wheel", "verify", "--format", "json", filename, cwd=tmp_path).codes == ["PIN612"]


def test_verify_needs_the_files_of_the_pin(engine: Path) -> None:
    put(engine, members=files(content={"other.py": b""}))
    run = pinctl("wheel", "verify", "--format", "json", NAME, "--pin", "tiny", cwd=engine)
    assert run.told == [("PIN622", "error"), ("PIN627", "warning")]


@pytest.mark.parametrize(("most", "code"), [("0.0001", 1), ("1", 0)])
def test_verify_of_a_size(tmp_path: Path, most: str, code: int) -> None:
    put(tmp_path)
    run = pinctl("wheel", "verify", NAME, "--max-size", most, cwd=tmp_path)
    assert run.code == code
    assert ("PIN621" in run.out) == bool(code)


@pytest.mark.parametrize("flag", ["--variant", "--pin"])
def test_verify_against_what_there_is_not(engine: Path, flag: str) -> None:
    put(engine)
    run = pinctl("wheel", "verify", NAME, flag, "cu99", cwd=engine)
    assert run.code == 2
    assert "cu99" in run.err
    assert "tiny" in run.err or "cu12" in run.err


def test_verify_in_an_engine_without_variants(consumer: Consumer) -> None:
    put(consumer.path)
    assert consumer.run("wheel", "verify", NAME).code == 0


def test_hostile_names_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    """Row 45: what a wheel says goes to a terminal."""
    put(tmp_path, members=files(changed={"a\u202egnp.exe": b"x", "::error::x": b"y"}))
    run = pinctl("wheel", "verify", NAME, cwd=tmp_path)
    assert run.code == 1
    assert "\u202e" not in run.out
    assert not any(line.startswith("::") for line in run.out.splitlines())


# --- relabel ---


def test_relabel_there_and_back(tmp_path: Path) -> None:
    before = put(tmp_path).read_bytes()
    run = pinctl("wheel", "relabel", "--format", "json", NAME, "--label", "cu129", cwd=tmp_path)
    assert run.code == 0
    (made,) = run.document["result"]["wheels"]
    assert made == {
        "from": NAME,
        "to": LABELLED,
        "sha256": hashlib.sha256((tmp_path / LABELLED).read_bytes()).hexdigest(),
    }
    assert (tmp_path / NAME).read_bytes() == before, "the wheel itself stays"
    (tmp_path / "out").mkdir()
    run = pinctl("wheel", "relabel", LABELLED, "--label", "", "--out", "out", cwd=tmp_path)
    assert (run.code, run.out) == (0, f"1 wheel written\nout/{NAME}\n")
    assert pinctl("wheel", "verify", LABELLED, f"out/{NAME}", cwd=tmp_path).code == 0


def test_relabel_does_not_hide_what_is_wrong(tmp_path: Path) -> None:
    put(tmp_path, members=files(changed={"evil.pth": b"import os"}))
    run = pinctl("wheel", "relabel", "--format", "json", NAME, "--label", "cu129", cwd=tmp_path)
    assert (run.code, run.codes) == (1, ["PIN605", "PIN629"])
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--label", "cu 129"], "no local version label"),
        (["--label", "cu129", "--out", "missing"], "--out missing: no such folder"),
    ],
)
def test_relabel_that_makes_no_sense(tmp_path: Path, words: list[str], said: str) -> None:
    put(tmp_path)
    run = pinctl("wheel", "relabel", NAME, *words, cwd=tmp_path)
    assert run.code == 2
    assert said in run.err


def test_relabel_overwrites_no_other_wheel(tmp_path: Path) -> None:
    put(tmp_path, LABELLED, files(LABELLED))
    put(tmp_path, members=files(content={"other.py": b""}))
    run = pinctl("wheel", "relabel", NAME, "--label", "cu129", cwd=tmp_path)
    assert run.code == 1
    assert "is another wheel" in run.err


def test_relabel_heeds_source_date_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert pinctl("wheel", "relabel", NAME, "--label", "cu129", cwd=tmp_path).code == 0
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    run = pinctl("wheel", "relabel", NAME, "--label", "cu128", cwd=tmp_path)
    assert run.code == 4
    assert "SOURCE_DATE_EPOCH is 'soon'" in run.err
    import zipfile

    with zipfile.ZipFile(io.BytesIO((tmp_path / LABELLED).read_bytes())) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_the_document_comes_with_errors_too(tmp_path: Path) -> None:
    run = pinctl("--format", "json", "wheel", "verify", "missing.whl", cwd=tmp_path)
    assert run.code == 2
    assert json.loads(run.out)["result"]["error"].endswith("missing.whl: no such file")
