"""`pinctl build` with a real engine: a kernel that is compiled against two CUDAs, and all that can go wrong with it."""

import hashlib
import json
import os
import re
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from consumer import Run, command, environment, pinctl

from docker.kernel import Kernel
from pinctl.external import docker, resources, wheelfile

pytestmark = [pytest.mark.docker, pytest.mark.slow]

CU12 = "tinyk-1.2.0+cu129-cp311-abi3-manylinux_2_36_x86_64.whl"
CU13 = "tinyk-1.2.0-cp311-abi3-manylinux_2_36_x86_64.whl"


def build(kernel: Kernel, *words: str) -> Run:
    return pinctl("--format", "json", "build", *words, cwd=kernel.root)


def states(run: Run) -> dict[str, str]:
    return {cell["variant"]: cell["state"] for cell in run.document["result"]["cells"]}


def needed(wheel: Path) -> set[str]:
    return {name for binary in wheelfile.survey(str(wheel)).elves.values() for name in binary.needed}


def test_two_variants_of_a_kernel(kernel: Kernel, litter: None, monkeypatch: pytest.MonkeyPatch) -> None:
    done = build(kernel)
    assert (done.code, states(done)) == (0, {"cu12": "built", "cu13": "built"}), done.out
    assert sorted(path.name for path in (kernel.root / "dist").glob("*.whl")) == [CU12, CU13]
    cudart = {name for name in needed(kernel.root / "dist" / CU12) if "cudart" in name}
    assert cudart == {"libcudart.so.12"}
    assert "libcudart.so.13" in needed(kernel.root / "dist" / CU13)
    assert [(code, severity) for code, severity in done.told if severity == "error"] == []
    assert "PIN660" in done.codes, "the smoke test's GPU part is skipped, and that is told"
    built = json.loads(zipfile.ZipFile(kernel.root / "dist" / CU12).read(
        "tinyk-1.2.0+cu129.dist-info/pinctl-provenance.json"))  # fmt: skip
    assert (built["variant"], built["commit"], built["image"]) == (
        "cu12", kernel.upstream.git("rev-parse", "HEAD"), kernel.digest)  # fmt: skip
    assert list(built["submodules"]) == ["third-party/dep"]

    monkeypatch.setenv("PINCTL_DOCKER", "/bin/false")
    again = build(kernel)
    assert (again.code, states(again)) == (0, {"cu12": "cached", "cu13": "cached"}), "no container: docker would fail"
    monkeypatch.delenv("PINCTL_DOCKER")

    kernel.change('cuda = "12.9"', 'cuda = "12.9"\nenv = { TINYK = "1" }')
    planned = pinctl("--format", "json", "build", "--plan", cwd=kernel.root).document["result"]["cells"]
    assert [(c["variant"], c["cached"], c["reason"], c["wheel"]) for c in planned] == [
        ("cu12", False, "environment: TINYK", None),
        ("cu13", True, "built already", CU13),
    ]
    rebuilt = build(kernel)
    assert states(rebuilt) == {"cu12": "built", "cu13": "cached"}, "only the cell that changed ran"

    compared = build(kernel, "--compare", "--variant", "cu13")
    assert states(compared) == {"cu13": "the same"}, compared.out

    entry = next((kernel.root.parent / "cache/v1/wheels/finished").glob(f"*/*/{CU13}"))
    entry.write_bytes(entry.read_bytes()[:-1] + b"x")
    mended = build(kernel, "--variant", "cu13")
    assert ("PIN658", "warning") in mended.told
    assert (states(mended), mended.code) == ({"cu13": "built"}, 0)
    assert hashlib.sha256(entry.read_bytes()).digest() == hashlib.sha256(
        (kernel.root / "dist" / CU13).read_bytes()).digest()  # fmt: skip


def test_a_commit_that_moves_builds_its_cells_alone(kernel: Kernel, litter: None) -> None:
    """Another pin of the same sources stays at its commit: its wheel is delivered, and no container runs for it."""
    text = (kernel.root / "pins.toml").read_text()
    pin = text[text.index("[pins.tinyk]") : text.index("[variants.cu12]")]
    kernel.change('"cu12", "cu13"', '"cu12"')
    still = pin.replace("[pins.tinyk]", "[pins.still]").replace('"cu12", "cu13"', '"cu13"')
    old = kernel.upstream.git("rev-parse", "HEAD")
    kernel.change("[variants.cu12]", f"{still}[variants.cu12]")
    first = build(kernel)
    assert [cell["state"] for cell in first.document["result"]["cells"]] == ["built", "built"], first.out

    init = "from tinyk._C import answer, runtime\n"
    moved = kernel.upstream.commit("moves", {"tinyk/__init__.py": f"{init}moved = True\n"})
    text = (kernel.root / "pins.toml").read_text()
    (kernel.root / "pins.toml").write_text(text.replace(old, moved, 1))
    planned = pinctl("--format", "json", "build", "--plan", cwd=kernel.root).document["result"]["cells"]
    assert [(cell["pin"], cell["cached"], cell["reason"]) for cell in planned] == [
        ("tinyk", False, f"commit {old[:10]} -> {moved[:10]}"),
        ("still", True, "built already"),
    ]
    log = kernel.root / "dist/logs/still-cu13-cp311-amd64.log"
    log.unlink()
    second = build(kernel)
    assert {cell["pin"]: cell["state"] for cell in second.document["result"]["cells"]} == {
        "tinyk": "built", "still": "cached"}  # fmt: skip
    assert not log.exists(), "a container's build writes it"
    wheel = zipfile.ZipFile(kernel.root / "dist" / CU12)
    assert "moved = True" in wheel.read("tinyk/__init__.py").decode()
    provenance = json.loads(wheel.read("tinyk-1.2.0+cu129.dist-info/pinctl-provenance.json"))
    assert provenance["commit"] == moved


def test_a_cell_that_fails_stops_no_other(kernel: Kernel, litter: None) -> None:
    commit = kernel.upstream.commit("broken", {"csrc/kernel.cpp": "#include <Python.h>\n#if 1\nbroken\n#endif\n"})
    kernel.pin(commit)
    kernel.change('cuda = "13.0"', 'cuda = "13.0"\nenv = { CPPFLAGS = "-Dbroken=" }')
    run = build(kernel)
    assert (run.code, states(run)["cu12"]) == (1, "failed")
    (failed,) = [found for found in run.document["findings"] if found["code"] == "PIN652"]
    assert "it failed while it compiles" in failed["message"]
    assert "does not name a type" in failed["message"]
    log = kernel.root / "dist/logs/tinyk-cu12-cp311-amd64.log"
    assert failed["hint"] == "the whole log: dist/logs/tinyk-cu12-cp311-amd64.log"
    assert "does not name a type" in log.read_text()
    assert "tinyk-cu13" not in failed["message"]


def test_a_missing_header_is_told_with_its_package(kernel: Kernel, litter: None) -> None:
    kernel.change("system_packages.libdw", "facts.libdw = 1  # ")
    run = build(kernel, "--variant", "cu12")
    (found,) = [found for found in run.document["findings"] if found["severity"] == "error"]
    assert found["code"] == "PIN653"
    assert "<elfutils/libdwfl.h> is not in the image; it comes with libdw-dev under apt" in found["message"]
    assert 'apt = "libdw-dev"' in found["hint"]


def test_memory_that_runs_out_halves_the_jobs(kernel: Kernel, litter: None) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one CPU has no half")
    kernel.change("imports", f'env = {{ TINYK_HUNGRY = "{(os.cpu_count() or 2) - 1}" }}\nimports', "pins/tinyk.toml")
    run = build(kernel, "--variant", "cu12", "--jobs", "1")
    assert (run.code, states(run)) == (0, {"cu12": "built"}), run.out
    assert ("PIN654", "warning") in run.told
    log = (kernel.root / "dist/logs/tinyk-cu12-cp311-amd64.log").read_text()
    assert log.count(" jobs of 1 threads") == 2


def test_ctrl_c_stops_containers_and_leaves_nothing(kernel: Kernel, client: docker.Client, litter: None) -> None:
    commit = kernel.upstream.commit("sleeps", {"setup.py": "import time\ntime.sleep(600)\n"})
    kernel.pin(commit)
    process = subprocess.Popen(command("build", "--variant", "cu12"), cwd=kernel.root, env=environment(),
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    log = kernel.root / "dist/logs/tinyk-cu12-cp311-amd64.log"
    _until(lambda: log.exists() and "Processing /build/source" in log.read_text())
    assert commit in _processes(), "a container compiles it"
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in said
    _until(lambda: commit not in _processes())
    assert list((kernel.root.parent / "cache/v1/contexts").iterdir()) == []


def test_a_secret_is_in_no_layer_and_no_argument(
    kernel: Kernel, client: docker.Client, litter: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H19, row 57: what pip is told of an index reaches the container as a file that no layer keeps."""
    conf = tmp_path / "pip.conf"
    conf.write_text("[global]\nindex-url = https://pypi.org/simple\ntrusted-host = sentinel-5f2a.example\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    run = build(kernel, "--variant", "cu12")
    assert (run.code, states(run)) == (0, {"cu12": "built"}), run.out
    told = (kernel.root / "dist/logs/tinyk-cu12-cp311-amd64.log").read_text() + run.out + run.err
    assert "sentinel-5f2a" not in told
    cache = subprocess.run([client.path, "system", "df", "-v"], capture_output=True, text=True, check=True).stdout
    assert "sentinel-5f2a" not in cache


def _processes() -> str:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def _until(holds: object, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.2)


def test_jobs_fit_the_memory_that_the_control_group_leaves(client: docker.Client, image: str) -> None:
    """H20: the step's own function, in a container with a limit."""
    script = resources.docker("steps/compile")
    function = re.search(r"^memory_kib\(\) \{\n(?:.*\n)*?\}\n", script, re.MULTILINE)
    assert function is not None
    argv = [
        client.path,
        "run",
        "--rm",
        "--network=none",
        "--memory=3g",
        image,
        "sh",
        "-euc",
        f"{function[0]}memory_kib",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 3 * 1024 * 1024
