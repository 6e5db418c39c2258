"""Real interpreters asked what is installed, and what imports do in a process of their own."""

import json
import os
import sys
import sysconfig
import time
import venv
from pathlib import Path

import pytest
from wheelmaking import extension, needs_cc

from pinctl.external import environments
from pinctl.external.environments import NoEnvironment, attempt
from pinctl.wheel.provenance import Provenance, render


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site-packages of a new virtual environment without pip; its Python is `python(site)`."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False, symlinks=True)
    return Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))


def python(site: Path) -> str:
    return str(site.parents[2] / "bin/python")


def install(site: Path, name: str, version: str = "1.0", text: str = "", **files: bytes) -> None:
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (site / name).mkdir(exist_ok=True)
    (site / name / "__init__.py").write_text(text)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for member, data in files.items():
        (info / member.replace("__", "-").replace("_dot_", ".")).write_bytes(data)


@needs_cc
def test_what_is_installed(site: Path, tmp_path: Path) -> None:
    (site / "tinyk").mkdir()
    (site / "tinyk/_C.so").write_bytes(extension(tmp_path, needs=["libcudart.so.12"]))
    (site / "tinyk/bad.so").write_bytes(b"\x7fELF")
    record = b'tinyk/__init__.py,,\ntinyk/_C.so,,\ntinyk/bad.so,,\n../../../etc/x,,\n"tinyk/a,b.so",,\n'
    built = render(Provenance(pin="tinyk", commit="a1" * 20))
    install(site, "tinyk", RECORD=record, pinctl__provenance_dot_json=built, INSTALLER=b"pip\n")
    install(site, "torch", "2.9.1")
    (site / "torch/version.py").write_text("cuda: str = '12.9'\n")
    install(site, "mute", direct_url_dot_json=json.dumps({"vcs_info": {"commit_id": "b2" * 20}}).encode())
    (site / "broken-1.dist-info").mkdir()
    before = sorted(site.rglob("*"))
    found = environments.read(python(site), ["tinyk"])
    assert sorted(site.rglob("*")) == before, "nothing is imported, so no bytecode is written"
    assert found.torch_cuda == "12.9"
    assert found.python == sys.version.split()[0]
    assert {one.name for one in found.installed} == {"tinyk", "torch", "mute"}
    tinyk, mute = found.of("tinyk"), found.of("mute")
    assert tinyk is not None
    assert mute is not None
    assert (tinyk.imports, mute.commit) == (("tinyk",), "b2" * 20)
    assert isinstance(tinyk.provenance, Provenance)
    assert tinyk.needed == {"tinyk/_C.so": ("libcudart.so.12", "libc.so.6")}
    assert [line.partition(":")[0] for line in tinyk.unread] == ["tinyk/bad.so cannot be read",
                                                                 "tinyk/a,b.so cannot be read"]  # fmt: skip
    assert tinyk.since == os.path.getmtime(Path(tinyk.place) / "INSTALLER")


@pytest.mark.parametrize("path", ["/bin/true", "/bin/false", "/nonexistent/python", "/"])
def test_what_is_no_python(path: str) -> None:
    with pytest.raises(NoEnvironment, match="cannot be asked what is installed"):
        environments.read(path, [])


def test_which_python_is_meant(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(site.parents[2])
    assert environments.program(folder) == environments.program(python(site)) == python(site)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert environments.usual() == sys.executable
    monkeypatch.setenv("VIRTUAL_ENV", folder)
    assert environments.usual() == python(site)


MODULE = """\
print("noise on stdout")
def f(x, y=1): ...
def every(**more): ...
class Native:
    __signature__ = 1
    def __call__(self): ...
native = Native()
native.__doc__ = "native(arg0: int, scale: float) -> None"
bare = Native()
"""


def test_what_an_import_has(site: Path) -> None:
    install(site, "full", text=MODULE)
    (site / "full/inner.py").write_text("def g(a): ...\n")
    asked = [("f", "f", ()), ("f(y, z)", "f", ("y", "z")), ("every(q)", "every", ("q",)), ("no", "no", ()),
             ("native(scale)", "native", ("scale",)), ("native(zz)", "native", ("zz",)), ("bare(q)", "bare", ("q",)),
             ("full.inner.g(a)", "full.inner.g", ("a",)), ("inner.h", "inner.h", ())]  # fmt: skip
    done = attempt(python(site), "full", asked, 30)
    assert (done.absent, done.error, done.ended, done.hung) == ("", "", "", False)
    assert done.missing == (("f(y, z)", "takes no z"), ("no", "is not there"), ("native(zz)", "takes no zz"),
                            ("inner.h", "is not there"))  # fmt: skip
    assert "noise on stdout" in done.log


def test_how_imports_fail(site: Path) -> None:
    install(site, "dies", text="import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    install(site, "quits", text="import os\nos._exit(0)\n")
    install(site, "leaves", text="raise SystemExit(3)\n")
    install(site, "lacks", text="import nothing_here\n")
    install(site, "raises", text="raise ImportError('libcudart.so.12: cannot open shared object file')\n")
    done = {
        name: attempt(python(site), name, [], 30) for name in ("dies", "quits", "leaves", "lacks", "raises", "gone")
    }
    assert done["dies"].ended == "was ended by SIGSEGV"
    assert "Fatal Python error: Segmentation fault" in done["dies"].log
    assert done["quits"].ended == "ended before the import was over"
    assert done["leaves"].error == "SystemExit: 3"
    assert done["lacks"].error == "ModuleNotFoundError: No module named 'nothing_here'"
    assert done["raises"].error == "ImportError: libcudart.so.12: cannot open shared object file"
    assert done["gone"].absent == "ModuleNotFoundError: No module named 'gone'"


def test_an_import_that_hangs_is_ended(site: Path) -> None:
    install(site, "hangs", text="import time\ntime.sleep(600)\n")
    started = time.monotonic()
    assert attempt(python(site), "hangs", [], 1).hung
    assert time.monotonic() - started < 30


def test_a_checkout_slips_no_module_under(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 58: neither the folder that one stands in nor PYTHONPATH counts."""
    for name in ("json", "tinyz"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    environments.read(python(site), [])
    assert attempt(python(site), "tinyz", [], 30).absent
    assert not (tmp_path / "canary").exists()


def test_files_of_a_cache_that_are_older(tmp_path: Path) -> None:
    for name, when in (("a/old", 100), ("a/b/older", 50), ("new", 300)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        os.utime(path, (when, when))
    (tmp_path / "loop").symlink_to(tmp_path)
    os.utime(tmp_path / "loop", (400, 400), follow_symlinks=False)
    assert environments.older(str(tmp_path), 200) == 2
    assert environments.older(str(tmp_path / "none"), 200) == 0
