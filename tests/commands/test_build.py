"""`pinctl build` with a program that answers as docker does: the plan, the cache, and all that can go wrong."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from consumer import Run, command, environment, pinctl
from integration.servers import PUBLIC, instead_of, serve
from repositories import GitRepository, MakeRepository

from commands.docker_stub import Stub

DIGEST = {name: f"sha256:{digit * 64}" for name, digit in (("cu12", "1"), ("cu13", "2"))}
PINS = f"""\
schema = 1
[pins.tinyk]
repo   = "{PUBLIC}tinyk.git"
commit = "COMMIT"
unused = true
submodules = []
wheel  = {{ recipe = "./pins/tinyk.toml" }}
[variants.cu12]
cuda = "12.9"
label = "cu129"
image = "example/builder:cu12"
digest = "{DIGEST["cu12"]}"
python = ["3.11", "3.12"]
platforms = ["linux/amd64"]
manylinux = "manylinux_2_28"
packages = "dnf"
[variants.cu13]
cuda = "13.0"
image = "example/builder:cu13"
digest = "{DIGEST["cu13"]}"
python = ["3.12"]
platforms = ["linux/amd64"]
manylinux = "manylinux_2_28"
packages = "dnf"
"""
ALL = ["tinyk-cu12-cp311-amd64", "tinyk-cu12-cp312-amd64", "tinyk-cu13-cp312-amd64"]
LOCKED = {"PIN656"}


class World:
    """A consumer whose kernel lies in a repository on disk, and a stub for docker."""

    def __init__(self, tmp: Path, upstream: GitRepository, stub: Stub) -> None:
        self.tmp, self.upstream, self.stub = tmp, upstream, stub
        self.root = tmp / "my engine"
        (self.root / "pins").mkdir(parents=True)
        (self.root / "pins/tinyk.toml").write_text('requires = ["setuptools"]\nimports = ["tinyk"]\n')
        self.commit = upstream.commit("start", {"value.txt": "1"})
        serve(upstream.path)
        self.write()

    def write(self, **changes: str) -> None:
        """Write pins.toml with `changes`, texts in the place of others."""
        text = PINS.replace("COMMIT", self.commit)
        for old, new in changes.items():
            text = text.replace(old, new)
        (self.root / "pins.toml").write_text(text)

    def exchange(self, old: str, new: str) -> None:
        path = self.root / "pins.toml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def build(self, *words: str) -> Run:
        return pinctl("--format", "json", "build", *words, cwd=self.root)


@pytest.fixture
def world(tmp_path: Path, make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> World:
    for name, value in instead_of(f"{tmp_path}/srv/").items():
        monkeypatch.setenv(name, value)
    stub = Stub.make(tmp_path / "bin")
    monkeypatch.setenv("PINCTL_DOCKER", str(stub.path))
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("pinctl.external.docker.native", lambda: "linux/amd64")
    return World(tmp_path, make_repository("srv/tinyk.git"), stub)


def cells(run: Run) -> list[dict[str, Any]]:
    found = run.document["result"]["cells"]
    assert isinstance(found, list)
    return found


def states(run: Run) -> list[str]:
    return [cell["state"] for cell in cells(run)]


def found(run: Run, code: str) -> dict[str, Any]:
    (one,) = [finding for finding in run.document["findings"] if finding["code"] == code]
    assert isinstance(one, dict)
    return one


def test_a_plan_runs_nothing(world: World) -> None:
    run = world.build("--plan")
    assert (run.code, world.stub.calls) == (0, [])
    assert [(c["variant"], c["python"], c["platform"], c["cached"], c["reason"], c["wheel"]) for c in cells(run)] == [
        ("cu12", "3.11", "linux/amd64", False, "never built", None),
        ("cu12", "3.12", "linux/amd64", False, "never built", None),
        ("cu13", "3.12", "linux/amd64", False, "never built", None),
    ]
    assert len({cell["key"] for cell in cells(run)}) == 3
    assert set(run.codes) == LOCKED


def test_wheels_are_built_labelled_and_kept(world: World) -> None:
    run = world.build()
    assert (run.code, states(run)) == (0, ["built"] * 3), run.err
    names = sorted(path.name for path in (world.root / "dist").glob("*.whl"))
    assert names == [
        "tinyk-1.0+cu129-cp311-none-any.whl",
        "tinyk-1.0+cu129-cp312-none-any.whl",
        "tinyk-1.0-cp312-none-any.whl",
    ]
    with zipfile.ZipFile(world.root / "dist" / names[0]) as wheel:
        built = json.loads(wheel.read("tinyk-1.0+cu129.dist-info/pinctl-provenance.json"))
    assert (built["pin"], built["commit"], built["image"]) == ("tinyk", world.commit, DIGEST["cu12"])
    assert built["key"] in {cell["key"] for cell in cells(run)}
    world.stub.forget()
    again = world.build()
    assert (states(again), world.stub.calls) == (["cached"] * 3, [])
    assert run.told.count(("PIN660", "info")) == 3


def test_only_what_changed_is_built(world: World) -> None:
    world.build()
    world.stub.forget()
    world.exchange('cuda = "13.0"', 'cuda = "13.0"\narch_list = ["9.0a"]')
    why = "architectures: +9.0a; environment: TORCH_CUDA_ARCH_LIST"
    assert [c["reason"] for c in cells(world.build("--plan"))] == ["built already", "built already", why]
    assert (states(world.build()), world.stub.builds) == (["cached", "cached", "built"], [ALL[2]])


def test_a_commit_that_moved_builds_its_cells(world: World) -> None:
    world.build()
    world.stub.forget()
    old, world.commit = world.commit, world.upstream.commit("next", {"value.txt": "2"})
    world.write()
    plan = cells(world.build("--plan"))
    assert {c["reason"] for c in plan} == {f"commit {old[:10]} -> {world.commit[:10]}"}
    assert (states(world.build()), world.stub.builds) == (["built"] * 3, ALL)


def test_a_cell_that_fails_stops_no_other_and_a_rerun_resumes(world: World) -> None:
    world.stub.behave(fail={ALL[1]: "k.cpp:1:1: error: \x1b[31mno\x1b[0m"})
    run = world.build()
    assert (run.code, states(run)) == (1, ["built", "failed", "built"])
    failed = found(run, "PIN652")
    assert failed["message"].startswith(f"{ALL[1]}: it failed while it compiles\n  k.cpp:1:1: error:")
    assert failed["hint"] == f"the whole log: dist/logs/{ALL[1]}.log"
    assert "error: " in (world.root / f"dist/logs/{ALL[1]}.log").read_text()
    world.stub.behave()
    world.stub.forget()
    again = world.build()
    assert (again.code, states(again), world.stub.builds) == (0, ["cached", "built", "cached"], [ALL[1]])


def test_a_missing_header_is_told_with_the_package_of_the_images_manager(world: World) -> None:
    world.stub.behave(fail={ALL[0]: "k.cpp:3:10: fatal error: elfutils/libdwfl.h: No such file or directory"})
    run = world.build("--python", "3.11")
    told = found(run, "PIN653")
    assert "<elfutils/libdwfl.h> is not in the image; it comes with elfutils-devel under dnf" in told["message"]
    assert told["hint"].startswith('declare it: system_packages.libdw = { dnf = "elfutils-devel", apt = "libdw-dev"')


def test_memory_that_runs_out_is_tried_once_more_with_half(world: World) -> None:
    world.stub.behave(hungry={ALL[0]: 1})
    run = world.build("--python", "3.11")
    assert (run.code, states(run), world.stub.builds) == (0, ["built"], [ALL[0], ALL[0]])
    assert found(run, "PIN654")["severity"] == "warning"
    shares = [word for call in world.stub.calls for word in call if "SHARE" in word]
    assert shares == ["--build-arg=SHARE=1", "--build-arg=SHARE=2"]


def test_memory_that_runs_out_twice_is_a_failure(world: World) -> None:
    world.stub.behave(hungry={ALL[0]: 50})
    run = world.build("--python", "3.11")
    assert (run.code, states(run), len(world.stub.builds)) == (1, ["failed"], 2)
    assert "memory ran out twice while it compiles" in found(run, "PIN652")["message"]


def test_a_corrupt_entry_is_built_again_with_a_warning(world: World) -> None:
    world.build("--variant", "cu13")
    (entry,) = (world.tmp / "cache/v1/wheels/finished").glob("*/*/*.whl")
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-1])
    world.stub.forget()
    run = world.build("--variant", "cu13")
    assert (run.code, states(run), world.stub.builds) == (0, ["built"], []), "compiled it is still"
    assert found(run, "PIN658")["severity"] == "warning"
    assert entry.read_bytes() == whole
    for path in (world.tmp / "cache/v1/wheels").glob("*/*/*/*.whl"):
        path.write_bytes(b"")
    assert (states(world.build("--variant", "cu13")), world.stub.builds) == (["built"], [ALL[2]])
    assert entry.read_bytes() == whole, "the same cell gives the same bytes"


def test_variants_that_differ_in_the_label_alone_are_compiled_once(world: World) -> None:
    world.exchange(DIGEST["cu12"], DIGEST["cu13"])
    world.exchange('cuda = "12.9"', 'cuda = "13.0"')
    run = world.build("--python", "3.12")
    assert (states(run), len(world.stub.builds)) == (["built", "built"], 1)
    names = {cell["wheel"] for cell in cells(run)}
    assert names == {"tinyk-1.0+cu129-cp312-none-any.whl", "tinyk-1.0-cp312-none-any.whl"}


def test_wheels_for_several_pythons_are_built_once(world: World) -> None:
    world.stub.behave(tag="py3-none-any")
    run = world.build("--variant", "cu12")
    assert run.code == 1
    told = found(run, "PIN663")["message"]
    assert told == f"{ALL[0]}, {ALL[1]} gave wheels of one name: tinyk-1.0+cu129-py3-none-any.whl"


def test_offline_delivers_what_is_there_and_builds_nothing(world: World) -> None:
    world.build("--variant", "cu13")
    world.stub.forget()
    assert states(pinctl("--offline", "--format", "json", "build", "--variant", "cu13", cwd=world.root)) == ["cached"]
    run = pinctl("--offline", "build", cwd=world.root)
    assert (run.code, world.stub.calls) == (2, [])
    assert "a build reaches package servers" in run.err


def test_a_policy_says_which_indexes_may_be_asked(world: World) -> None:
    policy = world.tmp / "policy.toml"
    policy.write_text('schema = 1\nhosts = ["git.example"]\n')
    world.exchange('cuda = "13.0"', 'cuda = "13.0"\nindex_url = "https://i.example/cu130"')
    run = pinctl("--policy", str(policy), "build", "--variant", "cu13", cwd=world.root)
    assert (run.code, world.stub.builds) == (2, [])
    assert "https://i.example/cu130: the policy does not allow the host i.example" in run.err


def test_what_fails_outside_one_pin_is_told_beside_what_was_built(world: World) -> None:
    more = f"""
[pins.gone]
repo   = "{PUBLIC}gone.git"
commit = "{"d4" * 20}"
unused = true
wheel  = {{ recipe = "wheel", variants = ["cu13"] }}
"""
    (world.root / "pins.toml").write_text((world.root / "pins.toml").read_text() + more)
    run = world.build("--variant", "cu13")
    assert (run.code, states(run)) == (4, ["built", "failed"])
    assert {told["code"] for told in run.document["findings"] if told["severity"] == "error"} <= {
        "PIN301",
        "PIN320",
        "PIN802",
    }


def test_a_wheel_that_cannot_be_imported_is_not_delivered(world: World) -> None:
    world.stub.behave(unusable={"x": "tinyk-1.0-cp312*"})
    run = world.build("--variant", "cu13")
    assert (run.code, states(run)) == (1, ["failed"])
    told = found(run, "PIN659")
    assert told["message"].startswith(f"{ALL[2]}: it failed while it imports the wheel\n  ImportError: libcudart.so.12")
    assert not list((world.root / "dist").glob("*.whl"))


def test_built_twice(world: World) -> None:
    run = world.build("--compare", "--variant", "cu13")
    assert (run.code, states(run)) == (0, ["the same"])
    world.stub.behave(drifts=True)
    run = world.build("--compare", "--variant", "cu13")
    assert (run.code, states(run)) == (1, ["differs"])
    assert "tinyk/__init__.py: its content differs" in found(run, "PIN661")["message"]


def test_a_cell_of_another_platform_is_left_out_and_told(world: World) -> None:
    world.exchange('python = ["3.12"]\nplatforms = ["linux/amd64"]', 'python = ["3.12"]\nplatforms = ["linux/arm64"]')
    run = world.build()
    assert (run.code, states(run)) == (0, ["built", "built"])
    assert found(run, "PIN662")["message"] == "1 cell of linux/arm64 left out: this machine is linux/amd64"
    asked = world.build("--platform", "linux/arm64")
    assert [cell["platform"] for cell in cells(asked)] == ["linux/arm64"]
    assert "--platform=linux/arm64" in world.stub.calls[-1]


def test_a_stranger_builds_nothing(world: World) -> None:
    run = pinctl("--untrusted", "build", cwd=world.root)
    assert (run.code, world.stub.calls) == (2, [])
    assert "a build runs code of the checkout" in run.err
    assert pinctl("--untrusted", "build", "--plan", cwd=world.root).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing"], "there is no pin 'nothing'"),
        (["--variant", "cu11"], "there is no variant 'cu11'"),
        (["--python", "312"], "the matrix has no cell for 312"),
        (["--plan", "--platform", "linux/foo"], "the matrix has no cell for linux/foo"),
    ],
)
def test_what_there_is_not(world: World, words: list[str], told: str) -> None:
    run = pinctl("build", *words, cwd=world.root)
    assert (run.code, told in run.err) == (2, True)


def test_a_cache_that_cannot_be_written_is_told_before_anything_is_built(world: World) -> None:
    (world.root / "file").touch()
    run = pinctl("build", "--cache", "file", cwd=world.root)
    assert (run.code, world.stub.builds) == (4, [])
    assert "the cache of wheels: " in run.err


def test_files_that_a_wheel_must_have_are_looked_for_in_what_is_cached(world: World) -> None:
    assert world.build("--variant", "cu13").code == 0
    world.exchange('./pins/tinyk.toml"', './pins/tinyk.toml", options.requires_files = ["nope/*"]')
    run = world.build("--variant", "cu13")
    assert (run.code, set(run.codes) - LOCKED) == (1, {"PIN622"})
    assert world.stub.builds == [ALL[2]], "it was compiled once"


def test_a_recipe_that_builds_nothing(world: World) -> None:
    world.exchange("./pins/tinyk.toml", "fetchcontent")
    run = pinctl("build", "--plan", cwd=world.root)
    assert (run.code, "the recipe fetchcontent builds no wheels" in run.err) == (2, True)


def test_two_variants_of_one_name_build_nothing_of_the_pin(world: World) -> None:
    world.exchange('label = "cu129"\n', "")
    run = world.build()
    assert (run.code, cells(run), world.stub.calls) == (1, [], [])
    assert set(run.codes) == {"PIN651"}


def test_an_image_without_a_digest_is_known_by_its_id_and_that_is_told(world: World) -> None:
    world.exchange(f'digest = "{DIGEST["cu13"]}"\n', "")
    world.stub.behave(images={"example/builder:cu13": "sha256:" + "9" * 64})
    first = world.build("--plan", "--explain-key", "--variant", "cu13")
    assert first.document["result"]["inputs"][ALL[2]]["image"] == "sha256:" + "9" * 64
    assert found(first, "PIN655")["severity"] == "warning"
    world.stub.behave(images={"example/builder:cu13": "sha256:" + "8" * 64})
    assert cells(world.build("--plan", "--variant", "cu13"))[0]["key"] != cells(first)[0]["key"]
    assert states(world.build("--variant", "cu13")) == ["built"]
    assert "--build-arg=IMAGE=example/builder:cu13" in next(c for c in world.stub.calls if "build" in c[:1])


def test_an_image_with_a_digest_is_named_by_it(world: World) -> None:
    world.build("--variant", "cu13")
    call = next(call for call in world.stub.calls if call[0] == "build")
    assert f"--build-arg=IMAGE=example/builder:cu13@{DIGEST['cu13']}" in call
    assert f"--build-arg=COMMIT={world.commit}" in call, "H18: a commit, never a branch"


def test_no_secret_is_an_argument(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """H19, row 57."""
    conf = world.tmp / "pip.conf"
    conf.write_text("[global]\nindex-url = https://u:SENTINEL@i.example/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    run = world.build("--variant", "cu13")
    assert run.code == 0
    words = [word for call in world.stub.calls for word in call]
    assert [word for word in words if word.startswith("--secret=id=pip,src=")]
    left = [path.read_bytes() for path in world.tmp.rglob("*") if path.is_file() and path != conf]
    assert not [word for word in [*words, run.out, run.err] if "SENTINEL" in word]
    assert not [text for text in left if b"SENTINEL" in text]


def test_a_lock_is_part_of_the_key(world: World) -> None:
    (world.root / "pins/cu13.txt").write_text("setuptools==80.9.0 --hash=sha256:0\n")
    world.exchange('"./pins/tinyk.toml"', '"./pins/tinyk.toml", lock = "pins/{variant}.txt", variants = ["cu13"]')
    first = world.build("--plan")
    assert first.codes == []
    (world.root / "pins/cu13.txt").write_text("setuptools==80.9.1 --hash=sha256:0\n")
    assert cells(world.build("--plan"))[0]["key"] != cells(first)[0]["key"]
    (world.root / "pins/cu13.txt").unlink()
    run = pinctl("build", "--plan", cwd=world.root)
    assert (run.code, "the lock pins/cu13.txt of tinyk does not exist" in run.err) == (2, True)


def test_a_patch_is_applied_and_is_part_of_the_key(world: World) -> None:
    end = "\\ No newline at end of file"
    (world.root / "p.patch").write_text(f"--- a/value.txt\n+++ b/value.txt\n@@ -1 +1 @@\n-1\n{end}\n+7\n{end}\n")
    world.exchange("unused = true", 'unused = true\npatches = [{ file = "p.patch", variants = ["cu13"] }]')
    run = world.build("--python", "3.12")
    assert states(run) == ["built", "built"], run.out
    values = {}
    for cell in cells(run):
        with zipfile.ZipFile(world.root / "dist" / cell["wheel"]) as wheel:
            values[cell["variant"]] = wheel.read("tinyk/__init__.py")
    assert values == {"cu12": b"value = 1", "cu13": b"value = 7"}


def test_no_engine_and_no_client(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.stub.behave(engine=False)
    run = pinctl("build", cwd=world.root)
    assert (run.code, "no Docker engine answers: Cannot connect" in run.err) == (4, True)
    world.stub.behave(version="28.2.2")
    run = pinctl("build", cwd=world.root)
    assert run.code == 4
    assert "no docker client that can do BuildKit" in run.err
    assert "docker-buildx-plugin" in run.err


def test_a_builder_needs_buildx(world: World) -> None:
    run = pinctl("build", "--builder", "far", cwd=world.root)
    assert (run.code, "--builder needs docker's buildx component" in run.err) == (2, True)
    world.stub.behave(buildx=True)
    assert world.build("--builder", "far").code == 0
    assert "--builder=far" in next(call for call in world.stub.calls if call[:2] == ["buildx", "build"])


def test_a_bake_file_holds_the_matrix(world: World) -> None:
    run = world.build("--bake", "wheels.json")
    assert (run.code, world.stub.builds) == (0, [])
    made = json.loads((world.root / "wheels.json").read_text())
    assert list(made["target"]) == ALL
    context = world.root / made["target"][ALL[0]]["context"]
    assert (context / "source/value.txt").read_text() == "1"
    assert (context / "wheel.Dockerfile").is_file()
    assert (context / "cells" / ALL[2] / "env").is_file()
    assert world.build("--bake", "wheels.json").code == 0, "again"


def test_ctrl_c_ends_what_runs_and_leaves_nothing(world: World) -> None:
    world.stub.behave(sleep=[ALL[0]])
    process = subprocess.Popen(command("build", "--python", "3.11"), cwd=world.root, env=environment(),
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    log = world.root / f"dist/logs/{ALL[0]}.log"
    end = time.monotonic() + 30
    while not (log.exists() and "sleeping" in log.read_text()):
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, "interrupted" in said) == (130, True)
    assert (
        str(world.stub.path)
        not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    )
    assert list((world.tmp / "cache/v1/contexts").iterdir()) == []


def test_in_ci_a_line_tells_each_step(world: World) -> None:
    run = pinctl("build", "--variant", "cu13", cwd=world.root)
    assert run.code == 0
    told = [line.partition("] ")[2] for line in run.err.splitlines()]
    assert told == [f"{ALL[2]}: {what}" for what in
                    ("fetches the source", "compiles", "finishes the wheel", "imports the wheel", "built")]  # fmt: skip


def test_a_cached_wheel_has_the_usual_mode(world: World) -> None:
    world.build("--variant", "cu13")
    assert stat.S_IMODE((world.root / "dist/tinyk-1.0-cp312-none-any.whl").stat().st_mode) == 0o644
