"""`pinctl doctor` in a real virtual environment that is made here."""

import json
import os
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from consumer import Run, pinctl

from pinctl.wheel.provenance import Provenance, render

COMMIT, OTHER = "a1" * 20, "b2" * 20
PINS = f"""\
schema = 1
[pins.dg]
repo = "https://github.com/o/dg.git"
commit = "{COMMIT}"
version = "2.8.0"
unused = true
contract.import_names = ["dg"]
contract.requires = ["answer", "scale(by)"]
[pins.tl]
packages = ["tilelang"]
version = "0.1.11"
unused = true
[pins.cutlass]
repo = "https://github.com/o/cutlass.git"
commit = "{COMMIT}"
unused = true
[variants.cu12]
cuda = "12.9"
torch = "2.9.1"
"""
GOOD = "def answer(): ...\ndef scale(x, by): ...\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder


@pytest.fixture
def site(made: Path) -> Path:
    """The site-packages of a virtual environment, empty but for what a test puts there."""
    path = Path(sysconfig.get_path("purelib", vars={"base": str(made), "platbase": str(made)}))
    for child in sorted(path.rglob("*"), reverse=True):
        child.rmdir() if child.is_dir() else child.unlink()
    return path


def install(site: Path, name: str, version: str, text: str = "", commit: str | None = None) -> Path:
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    (site / name).mkdir(exist_ok=True)
    (site / name / "__init__.py").write_text(text)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{name}/__init__.py,,\n")
    if commit:
        built = Provenance(pin=name, commit=commit, variant="cu12", cuda="12.9", torch="2.9.1")
        (info / "pinctl-provenance.json").write_bytes(render(built))
    return info


@pytest.fixture
def doctor(tmp_path: Path, made: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    (tmp_path / "pins.toml").write_text(PINS)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("DG_JIT_CACHE_DIR", "TILELANG_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Run:
        return pinctl("--format", "json", "doctor", "--python", str(made), *words, cwd=tmp_path)

    return run


def test_all_is_well(doctor: Callable[..., Run], site: Path) -> None:
    install(site, "dg", "2.8.0+cu129", GOOD, COMMIT)
    install(site, "tilelang", "0.1.11")
    run = doctor("--variant", "cu12")
    assert (run.code, run.told) == (0, [])
    found = run.document["result"]
    assert [(one["pin"], one["version"], one["commit"]) for one in found["installed"]] == [
        ("dg", "2.8.0+cu129", COMMIT),
        ("tl", "0.1.11", None),
    ]


def test_all_that_is_otherwise(doctor: Callable[..., Run], site: Path) -> None:
    install(site, "dg", "2.7.0", "def scale(x): ...\n", OTHER)
    install(site, "torch", "2.13.0")
    (site / "torch/version.py").write_text("cuda: str = '13.0'\n")
    run = doctor("--variant", "cu12")
    assert run.code == 1
    assert run.told == [
        ("PIN810", "warning"), ("PIN811", "error"), ("PIN812", "error"), ("PIN814", "error"), ("PIN815", "error"),
        ("PIN815", "error"),
        ("PIN820", "error"), ("PIN820", "error")]  # fmt: skip
    assert all(found["hint"] for found in run.document["findings"])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("raise ImportError('libcudart.so.12: cannot open shared object file')", "PIN817"),
        ("import os\nos.kill(os.getpid(), 11)", "PIN818"),
        ("import time\ntime.sleep(600)", "PIN819"),
    ],
)
def test_an_import_that_fails_is_a_finding(doctor: Callable[..., Run], site: Path, text: str, code: str) -> None:
    install(site, "dg", "2.8.0", text, COMMIT)
    run = doctor("dg", "--timeout", "2")
    assert (run.code, run.codes) == (1, [code])
    assert run.document["findings"][0]["hint"].startswith("run: ")
    assert "Traceback" not in run.err
    assert doctor("dg", "--no-import").codes == []
    assert doctor("dg", "--untrusted").codes == [], "nothing of a stranger's checkout is imported"


def test_a_pin_that_is_asked_for_must_be_there(doctor: Callable[..., Run]) -> None:
    assert doctor("tl").told == [("PIN810", "error")]
    assert doctor("nope").code == 2
    assert doctor("--variant", "nope").code == 2


def test_a_cache_that_is_older_than_the_pin(doctor: Callable[..., Run], site: Path, tmp_path: Path) -> None:
    info = install(site, "tilelang", "0.1.11")
    os.utime(info / "RECORD", (2_000_000_000, 2_000_000_000))
    kernel = tmp_path / "home/.tilelang/cache/k/kernel.cubin"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"")
    (found,) = doctor("tl").document["findings"]
    assert (found["code"], found["severity"]) == ("PIN821", "warning")
    assert found["hint"] == f"remove it: rm -r '{tmp_path}/home/.tilelang/cache'".replace("'", "")
    os.utime(kernel, (2_100_000_000, 2_100_000_000))
    assert doctor("tl").told == []


def test_what_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text(PINS)
    run = pinctl("--format", "json", "doctor", "--python", "/bin/true", cwd=tmp_path)
    assert (run.code, run.codes) == (1, ["PIN823"])
    assert json.loads(run.out)["result"] == {}


def test_it_reads_well_as_text(doctor: Callable[..., Run], site: Path, made: Path, tmp_path: Path) -> None:
    install(site, "tilelang", "0.1.9")
    run = pinctl("doctor", "tl", "--python", str(made), "--no-import", cwd=tmp_path)
    assert run.out.startswith("pin  installed       pinned  built of  variant\ntl   tilelang 0.1.9  0.1.11")
    assert "run: pip install tilelang==0.1.11" in run.out
    assert run.out.endswith("nothing was imported\n")
