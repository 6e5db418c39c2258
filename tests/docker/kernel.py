"""A kernel of our own: small, and with all that makes real ones hard to build. Its repository has a submodule with a
header; its C++ wants a header of elfutils and CUDA's, and links the CUDA runtime of the variant."""

from dataclasses import dataclass
from pathlib import Path

from repositories import GitRepository

SETUP = """\
import os
import pathlib
import signal
import sysconfig

from setuptools import Extension, setup

if os.environ.get("TINYK_HUNGRY") and int(os.environ["MAX_JOBS"]) > int(os.environ["TINYK_HUNGRY"]):
    os.kill(os.getpid(), signal.SIGKILL)
nvidia = pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia"
libraries = sorted(nvidia.glob("*/lib/libcudart.so.*"))
assert len(libraries) == 1, libraries
includes = [libraries[0].parents[1] / "include", *nvidia.glob("*/include")]
setup(
    name="tinyk",
    version="1.2.0",
    packages=["tinyk"],
    ext_modules=[
        Extension(
            "tinyk._C",
            ["csrc/kernel.cpp"],
            include_dirs=["third-party/dep/include", *map(str, includes)],
            extra_compile_args=["-std=c++17", "-O1", "-g0", "-DPy_LIMITED_API=0x030B0000"],
            extra_link_args=[str(libraries[0])],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
"""
KERNEL = """\
#include <Python.h>
#include <cuda_runtime_api.h>
#include <elfutils/libdwfl.h>

#include <dep/answer.h>

static PyObject *runtime(PyObject *, PyObject *) {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) version = -1;
  return PyLong_FromLong(version / 10);
}

static PyObject *answer(PyObject *, PyObject *) { return PyLong_FromLong(DEP_ANSWER + sizeof(Dwfl_Callbacks *) - 8); }

static PyMethodDef methods[] = {{"runtime", runtime, METH_NOARGS, ""}, {"answer", answer, METH_NOARGS, ""}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", "", -1, methods};
PyMODINIT_FUNC PyInit__C(void) { return PyModule_Create(&module); }
"""
HOME = "https://github.com/tiny/"
"""Where the repositories say that they are."""
FILES = {
    "setup.py": SETUP,
    "csrc/kernel.cpp": KERNEL,
    "tinyk/__init__.py": "from tinyk._C import answer, runtime\n",
}
SMOKE = """\
import importlib.metadata
import json

import tinyk

built = json.loads(importlib.metadata.distribution("tinyk").read_text("pinctl-provenance.json"))
major, minor = built["cuda"].split(".")
assert tinyk.answer() == 42, tinyk.answer()
assert tinyk.runtime() == int(major) * 100 + int(minor), tinyk.runtime()
print("skipped: the kernel needs a GPU, and there is none")
"""
PINS = """\
schema = 1

[pins.tinyk]
repo       = "{repo}"
commit     = "{commit}"
submodules = ["third-party/dep"]
unused     = true
system_packages.libdw = {{ apt = "libdw-dev", dnf = "elfutils-devel", header = "elfutils/libdwfl.h", when = "build" }}
wheel = {{ recipe = "./pins/tinyk.toml", variants = ["cu12", "cu13"] }}

[variants.cu12]
cuda = "12.9"
label = "cu129"
requires = ["nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-crt==13.0.88"]
image = "{image}"
digest = "{digest}"
packages = "apt"
python = ["3.11"]
platforms = ["{platform}"]
manylinux = "manylinux_2_36"

[variants.cu13]
cuda = "13.0"
requires = ["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88"]
image = "{image}"
digest = "{digest}"
packages = "apt"
python = ["3.11"]
platforms = ["{platform}"]
manylinux = "manylinux_2_36"
"""
RECIPE = """\
requires = ["setuptools==80.9.0", "wheel==0.45.1"]
imports = ["tinyk"]
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel's repository and a consumer that builds it in `image`, known by its id `digest`."""

    upstream: GitRepository
    root: Path
    image: str
    digest: str
    platform: str

    @classmethod
    def make(cls, folder: Path, image: str, digest: str, platform: str) -> "Kernel":
        """The repository at its first commit, and a consumer that pins it."""
        dep, upstream = (_repository(folder / name) for name in ("dep", "upstream"))
        dep.commit("start", {"include/dep/answer.h": "#define DEP_ANSWER 42\n"})
        upstream.git("submodule", "add", "-q", f"file://{dep.path}", "third-party/dep")
        upstream.git("config", "-f", ".gitmodules", "submodule.third-party/dep.url", f"{HOME}dep")
        upstream.commit("start", FILES)
        (folder / "gitconfig").write_text(f'[url "file://{folder}/"]\n  insteadOf = {HOME}\n')
        root = folder / "consumer"
        (root / "pins").mkdir(parents=True)
        kernel = cls(upstream, root, image, digest, platform)
        kernel.pin(upstream.git("rev-parse", "HEAD"))
        (root / "pins/tinyk.toml").write_text(RECIPE)
        (root / "pins/tinyk.py").write_text(SMOKE)
        return kernel

    def pin(self, commit: str) -> None:
        """Write pins.toml, with the kernel at `commit`."""
        text = PINS.format(
            repo=f"{HOME}upstream", commit=commit, image=self.image, digest=self.digest, platform=self.platform
        )
        (self.root / "pins.toml").write_text(text)

    def change(self, old: str, new: str, file: str = "pins.toml") -> None:
        """Exchange a text in a file of the consumer."""
        path = self.root / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


def _repository(path: Path) -> GitRepository:
    path.mkdir(parents=True)
    repository = GitRepository(path)
    repository.git("init", "-q", "-b", "main", ".")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    return repository
