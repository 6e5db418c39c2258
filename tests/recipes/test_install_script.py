"""The generated install script, checked by ShellCheck and run by bash against git repositories on this disk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pinctl.model import Patch, Pin
from pinctl.quoting import RecipeError

BACKEND = """import json, os, zipfile
from pathlib import Path

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "tinyk-1.0-py3-none-any.whl"
    seen = {key: os.environ.get(key) for key in ("MAX_JOBS", "NVCC_THREADS", "CUDA_VERSION", "GIT_LFS_SKIP_SMUDGE")}
    seen["header"] = Path("third party/a/a.h").read_text()
    seen["lib"] = Path("lib.txt").read_text()
    files = {
        "tinyk.json": json.dumps(seen),
        "tinyk-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tinyk\\nVersion: 1.0\\n",
        "tinyk-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files["tinyk-1.0.dist-info/RECORD"] = "".join(f"{file},,\\n" for file in [*files, "tinyk-1.0.dist-info/RECORD"])
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
    return name
"""
# `python -m pip wheel --no-deps --no-build-isolation --wheel-dir DIR .` without pip, which takes a second to start
PYTHON = f"""#!/bin/sh
[ "$3" = wheel ] || exit 0
mkdir "$7" && exec "{sys.executable}" -I -S -c 'import sys; sys.path.insert(0, ""); import backend
backend.build_wheel(sys.argv[1])' "$7"
"""
PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
PATCH = "--- a/lib.txt\n+++ b/lib.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+patched\n"


@dataclass(slots=True)
class Kernel:
    """A Python package with a submodule, whose pointer moves between two commits."""

    repository: Any
    first: str
    second: str

    @property
    def pin(self) -> Pin:
        repo = f"file://{self.repository.path}"
        return Pin(name="tinyk", repo=repo, commit=self.first, submodules=("third party/a",))


@pytest.fixture
def kernel(make_repository: Callable[[str], Any]) -> Kernel:
    a, kernel = make_repository("up stream/a"), make_repository("up stream/kernel")
    a.commit(files={"a.h": "1\n"})
    kernel.git("submodule", "add", "-q", "../a", "third party/a")
    first = kernel.commit(files={"backend.py": BACKEND, "pyproject.toml": PROJECT, "lib.txt": "one\ntwo\n"})
    moved = a.commit(files={"a.h": "2\n"})
    kernel.git("-C", "third party/a", "fetch", "-q")
    kernel.git("-C", "third party/a", "checkout", "-q", moved)
    second = kernel.commit()
    kernel.git("tag", "v2")
    kernel.git("checkout", "-q", "-b", "dev")
    return Kernel(kernel, first, second)


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def with_nvcc(folder: Path, says: str) -> str:
    """A PATH on which nvcc says `says`."""
    executable(folder / "bin" / "nvcc", f"#!/bin/sh\necho '{says}'\n")
    return f"{folder}/bin:{os.environ['PATH']}"


@dataclass(slots=True)
class Script:
    path: Path
    env: dict[str, str]

    @classmethod
    def write(cls, text: str, folder: Path) -> "Script":
        path, python, temporary = folder / "my tools" / "install it.sh", folder / "my python", folder / "tem porary"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        executable(python, PYTHON)
        temporary.mkdir(exist_ok=True)
        return cls(
            path,
            {
                **os.environ,
                "PYTHON": str(python),
                "TMPDIR": str(temporary),
                "CUDA_VERSION": "",
                "PIP_NO_INDEX": "1",
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "protocol.file.allow",
                "GIT_CONFIG_VALUE_0": "always",
            },
        )

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        command, cwd = ["bash", str(self.path), *args], self.path.parents[1]
        return subprocess.run(command, env={**self.env, **env}, cwd=cwd, capture_output=True, text=True)

    def leftovers(self) -> list[str]:
        return os.listdir(self.env["TMPDIR"])

    def wheel(self, *args: str, **env: str) -> dict[str, str]:
        """What the wheel says of its building."""
        done = self.run(*args, "--wheel-dir", "the wheels", **env)
        assert done.returncode == 0, done.stdout + done.stderr
        (file,) = (self.path.parents[1] / "the wheels").glob("*.whl")
        with zipfile.ZipFile(file) as wheel:
            seen: dict[str, str] = json.loads(wheel.read("tinyk.json"))
        file.unlink()
        return seen


@pytest.fixture
def script(tmp_path: Path, recipe: Callable[..., str]) -> Callable[..., Script]:
    def make(pin: Pin, **options: object) -> Script:
        return Script.write(recipe("install-script", pin, file="my tools/install it.sh", **options), tmp_path)

    return make


PIN = Pin(name="x", repo="https://host.invalid/x.git", commit="a" * 40)
SHAPES = {
    "plain": PIN,
    "all": PIN._replace(
        name="it's",
        submodules=("a b", "c"),
        recursive=True,
        facts={"min_cuda": "12.8"},
        patches=(Patch(file="p/a'b.patch"), Patch(file="c.patch")),
    ),
    "none": PIN._replace(submodules=(), lfs=True),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shellcheck_has_nothing_to_say(shape: str, script: Callable[..., Script]) -> None:
    tool = Path(sys.executable).with_name("shellcheck")
    command = str(tool) if tool.exists() else shutil.which("shellcheck")
    if command is None:
        pytest.skip("needs shellcheck")
    done = subprocess.run([command, str(script(SHAPES[shape]).path)], capture_output=True, text=True)
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["--ref"], "--ref needs a value"),
        (["--ref", ""], "--ref needs a value"),
        (["--ref", "--upload-pack=touch canary"], "--ref needs a value"),
        (["--wheel-dir", "-x"], "--wheel-dir needs a value"),
        (["--nothing"], "unknown option: --nothing; see --help"),
        (["main"], "unknown option: main"),
        (["--cuda-version", "a[$(touch canary)]"], "this is no CUDA version"),
        ([], "there is no nvcc that says"),
    ],
)
def test_usage_errors(args: list[str], complaint: str, script: Callable[..., Script], tmp_path: Path) -> None:
    done = script(PIN._replace(facts={"min_cuda": "12.8"})).run(*args, PATH=with_nvcc(tmp_path, "nothing of use"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"install it.sh: {complaint}")
    assert not list(tmp_path.rglob("canary"))


def test_help(script: Callable[..., Script]) -> None:
    made = script(SHAPES["all"])
    done = made.run("--help")
    assert done.returncode == 0
    for option in ("--ref", "--repo", "--wheel-dir", "--cuda-version", "--skip-old-cuda", "--patch-root", "-h, --help"):
        assert f"\n  {option}" in done.stdout
    assert made.run("-h").stdout == done.stdout
    assert "--patch-root" not in script(PIN).run("-h").stdout


@pytest.mark.parametrize(
    ("version", "code"),  # 128 is git's: the build began
    [("12.7", 1), ("12.7.9", 1), ("11", 1), ("12.8", 128), ("12.08", 128), ("12.10.1", 128), ("13", 128)],
)
def test_the_least_cuda(version: str, code: int, script: Callable[..., Script], tmp_path: Path) -> None:
    made = script(PIN._replace(repo=f"file://{tmp_path}/nowhere", facts={"min_cuda": "12.8"}))
    done = made.run("--cuda-version", version)
    assert done.returncode == code
    assert ("needs CUDA 12.8 or newer" in done.stderr) == (code == 1)
    if code == 1:
        assert made.run("--cuda-version", version, "--skip-old-cuda").returncode == 0
    says = f"Cuda compilation tools, release {version}, V{version}"
    assert made.run(PATH=with_nvcc(tmp_path, says)).returncode == code


@pytest.mark.slow
def test_it_builds_the_pin_with_its_submodule(kernel: Kernel, script: Callable[..., Script]) -> None:
    made = script(kernel.pin)
    seen = made.wheel("--cuda-version", "12.9", PYTHON=sys.executable)
    assert seen["header"] == "1\n"  # the pointer has moved since
    assert seen["CUDA_VERSION"] == "12.9"
    assert seen["GIT_LFS_SKIP_SMUDGE"] == "1"
    assert made.leftovers() == []


@pytest.mark.slow
@pytest.mark.parametrize("ref", ["v2", "dev", "short"])
def test_another_ref(ref: str, kernel: Kernel, script: Callable[..., Script]) -> None:
    assert script(kernel.pin).wheel("--ref", kernel.second[:9] if ref == "short" else ref)["header"] == "2\n"


@pytest.mark.slow
def test_a_commit_on_no_branch(kernel: Kernel, script: Callable[..., Script]) -> None:
    kernel.repository.git("checkout", "-q", "--detach")
    orphan = kernel.repository.commit(files={"lib.txt": "orphan\n"})
    kernel.repository.git("checkout", "-q", "dev")
    assert script(kernel.pin._replace(commit=orphan)).wheel()["lib"] == "orphan\n"


@pytest.mark.slow
def test_a_ref_that_is_not_there(kernel: Kernel, script: Callable[..., Script]) -> None:
    made = script(kernel.pin)
    done = made.run("--ref", "nowhere")
    assert done.returncode == 1
    assert f"nowhere is not in file://{kernel.repository.path}" in done.stderr
    assert made.leftovers() == []


@pytest.mark.slow
def test_it_installs(kernel: Kernel, script: Callable[..., Script], tmp_path: Path) -> None:
    made = script(kernel.pin)
    done = made.run(PIP_TARGET=str(tmp_path / "site"), PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "tinyk.json").exists()
    assert made.leftovers() == []


@pytest.mark.slow
def test_a_mirror_and_a_fork(kernel: Kernel, script: Callable[..., Script], tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    kernel.repository.path.parent.rename(mirror / "host.invalid")
    made = script(kernel.pin._replace(repo="https://host.invalid/kernel"))
    assert made.wheel(PINCTL_GIT_MIRROR=f"file://{mirror}/")["header"] == "1\n"
    fork = f"file://{mirror}/host.invalid/kernel"
    assert made.wheel("--repo", fork)["header"] == "1\n"


@pytest.mark.slow
def test_patches(kernel: Kernel, script: Callable[..., Script], tmp_path: Path) -> None:
    folder = tmp_path / "the patches"
    folder.mkdir()
    (folder / "1.patch").write_text(PATCH)
    made = script(kernel.pin._replace(patches=(Patch(file="the patches/1.patch"),)))
    assert made.wheel()["lib"] == "one\npatched\n"
    taken = kernel.repository.commit(files={"lib.txt": "one\npatched\n"})
    assert made.wheel("--ref", taken)["lib"] == "one\npatched\n"
    other = kernel.repository.commit(files={"lib.txt": "other\n"})
    done = made.run("--ref", other)
    assert done.returncode == 1
    assert "the patches/1.patch does not apply: error: patch failed: lib.txt:1" in done.stderr
    assert f"{other} cannot be patched" in done.stderr
    folder.rename(tmp_path / "elsewhere")
    assert "where the patches are: --patch-root" in made.run().stderr
    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").rename(tmp_path / "root" / "the patches")
    assert made.wheel("--patch-root", "root")["lib"] == "one\npatched\n"


@pytest.mark.slow
def test_a_submodule_that_is_not_there(kernel: Kernel, script: Callable[..., Script]) -> None:
    made = script(kernel.pin._replace(submodules=("third party/b",)))
    done = made.run()
    assert done.returncode != 0
    assert "third party/b" in done.stderr
    assert made.leftovers() == []


def limited(text: str, folder: Path, groups: str, limits: dict[str, int | str], available: int) -> str:
    """The script with a control group file system, a memory and 64 CPUs made up for it."""
    for path, limit in limits.items():
        file = folder / "cgroup" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{limit}\n")
    (folder / "groups").write_text(groups)
    (folder / "meminfo").write_text(f"MemTotal:       999999999 kB\nMemAvailable:   {available << 20} kB\n")
    text = text.replace("/sys/fs/cgroup", f"{folder}/cgroup").replace("/proc/self/cgroup", f"{folder}/groups")
    return text.replace("/proc/meminfo", f"{folder}/meminfo").replace("$(nproc 2>/dev/null ||", "$(echo 64 ||")


GIB = 1 << 30


@pytest.mark.parametrize(
    ("groups", "limits", "available", "env", "jobs"),
    [
        ("0::/\n", {"memory.max": "max"}, 1000, {}, 64),
        ("0::/\n", {"memory.max": 32 * GIB}, 1000, {}, 8),
        ("0::/\n", {"memory.max": 32 * GIB}, 8, {}, 2),
        ("0::/\n", {"memory.max": 32 * GIB}, 1000, {"NVCC_THREADS": "4"}, 2),
        ("0::/\n", {"memory.max": 1 * GIB}, 1000, {}, 1),
        ("0::/\n", {"memory.max": 1 * GIB}, 1000, {"MAX_JOBS": "7"}, 7),
        ("0::/a/b\n", {"memory.max": "max", "a/memory.max": 12 * GIB, "a/b/memory.max": "max"}, 1000, {}, 3),
        ("3:cpu,cpuacct:/x\n4:memory:/docker/1\n", {"memory/memory.limit_in_bytes": 16 * GIB}, 1000, {}, 4),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": 9223372036854771712}, 1000, {}, 64),
        ("", {}, 1000, {}, 64),
    ],
)
def test_jobs_fit_into_the_memory(
    groups: str,
    limits: dict[str, int | str],
    available: int,
    env: dict[str, str],
    jobs: int,
    recipe: Callable[..., str],
    tmp_path: Path,
) -> None:
    text = recipe("install-script", PIN._replace(repo=f"file://{tmp_path}/nowhere"))
    text = text.replace('\necho "Fetching', '\necho "$MAX_JOBS jobs"\necho "Fetching')
    text = limited(text, tmp_path, groups, limits, available)
    done = Script.write(text, tmp_path).run(**env)
    assert done.stdout.startswith(f"{jobs} jobs\n"), done.stderr


@pytest.mark.parametrize("name", ["NVCC_THREADS", "GIT_CONFIG_COUNT"])
def test_numbers_from_the_environment_are_no_code(name: str, script: Callable[..., Script], tmp_path: Path) -> None:
    bad = {name: f"a[$(touch {tmp_path}/canary)]"}
    done = script(PIN).run(**bad, PINCTL_GIT_MIRROR="https://x")
    assert done.returncode == 2
    assert f"{name} is no number" in done.stderr
    assert not (tmp_path / "canary").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(
    number: signal.Signals, kernel: Kernel, script: Callable[..., Script], tmp_path: Path
) -> None:
    made = script(kernel.pin)
    executable(tmp_path / "my python", f'#!/bin/sh\n[ "$3" != wheel ] || {{ touch "{tmp_path}/started"; sleep 60; }}\n')
    process = subprocess.Popen(["bash", str(made.path)], env=made.env, start_new_session=True)
    try:
        for _ in range(200):
            if (tmp_path / "started").exists():
                break
            time.sleep(0.05)
        assert made.leftovers() != []
        os.killpg(process.pid, number)  # as a terminal or `timeout` does
        assert process.wait(10) != 0
    finally:
        process.kill()
        process.wait()
    assert made.leftovers() == []


def test_it_has_no_branch_for_a_default(script: Callable[..., Script]) -> None:
    assert f"\nREF={'a' * 40}\n" in script(PIN).path.read_text()
    for commit in ("main", "abc1234", None):
        with pytest.raises(RecipeError, match="commit"):
            script(PIN._replace(commit=commit))


def test_values_stay_words(script: Callable[..., Script], tmp_path: Path) -> None:
    evil = "$(touch canary)`touch canary`"
    made = script(PIN._replace(name=evil, repo=f"https://h/{evil}", submodules=("; touch canary", evil)))
    done = made.run("--help")
    assert f"the wheel of {evil} at" in done.stdout
    assert not list(tmp_path.rglob("canary"))
    assert f"\nSUBMODULES=('; touch canary' '{evil}')\n" in made.path.read_text()
