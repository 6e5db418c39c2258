"""`pinctl image`, with a program in docker's place; tests/docker has the real one."""

import json
from pathlib import Path

import pytest
from consumer import Run, pinctl
from repositories import GitRepository

from commands.image_stub import ImageStub
from pinctl.external import docker

COMMIT, OTHER, SHA = "a1" * 20, "b2" * 20, "0f" * 32
WHEEL = "dg-2.8.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl"
PINS = f"""\
schema = 1
[index]
url = "https://wheels.example/"
[pins.dg]
repo = "https://github.com/o/dg.git"
commit = "{COMMIT}"
version = "2.8.0"
system_packages.dw = {{ apt = "libdw1", when = "run" }}
[pins.tl]
packages = ["tilelang"]
version = "0.1.11"
[variants.cu12]
cuda = "12.9"
label = "cu129"
publish = "index"
[images.serve]
dockerfile = "docker/Dockerfile"
tags = ["engine:cu12"]
variant = "cu12"
python = "3.12"
args.DG_REF = "{{pins.dg.commit}}"
args.PACKAGES = "{{pins.dg.system_packages.apt.run}}"
wheels.DG_WHEEL = "dg"
wheels.TL_WHEEL = "tl"
"""
DOCKERFILE = "FROM base\nARG DG_REF\nARG PACKAGES\nARG DG_WHEEL\nARG TL_WHEEL\nRUN pip install $DG_WHEEL\n"
SITE = "usr/lib/python3.12/site-packages"
LABELS = {"dev.pinctl.pin.dg": COMMIT, "dev.pinctl.pin.tl": "0.1.11", "dev.pinctl.variant": "cu12"}


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ImageStub:
    made = ImageStub.make(tmp_path / "bin")
    made.behave(images={"engine:cu12": LABELS})
    monkeypatch.setenv("PINCTL_DOCKER", str(made.path))
    monkeypatch.setattr(docker, "native", lambda: "linux/amd64")
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    (folder / "docker").mkdir(parents=True)
    (folder / "pins.toml").write_text(PINS)
    (folder / "docker/Dockerfile").write_text(DOCKERFILE)
    record = {"filename": WHEEL, "channel": "release", "variant": "cu129", "sha256": SHA, "url": f"files/{WHEEL}"}
    (folder / "wheels.jsonl").write_text(json.dumps(record) + "\n")
    return folder


def image(root: Path, *words: str) -> Run:
    return pinctl("--format", "json", "image", *words, cwd=root)


def change(root: Path, old: str, new: str, file: str = "pins.toml") -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))


def test_a_build_gets_what_the_pins_say(root: Path, stub: ImageStub) -> None:
    run = image(root, "serve")
    assert (run.code, run.told) == (0, []), run.out
    (built, _) = stub.asked
    url = f"https://wheels.example/files/{WHEEL.replace('+', '%2B')}"
    assert built[0] == "build"
    assert built[-2:] == ["--", str(root)]
    assert f"--file={root}/docker/Dockerfile" in built
    assert {word for word in built if word.startswith(("--build-arg", "--label", "--tag", "--platform"))} == {
        "--platform=linux/amd64", "--tag=engine:cu12", f"--build-arg=DG_REF={COMMIT}", "--build-arg=PACKAGES=libdw1",
        f"--build-arg=DG_WHEEL=dg @ {url}#sha256={SHA}", "--build-arg=TL_WHEEL=tilelang==0.1.11",
        f"--label=dev.pinctl.pin.dg={COMMIT}", "--label=dev.pinctl.pin.tl=0.1.11", "--label=dev.pinctl.variant=cu12",
        "--label=dev.pinctl.version=0.1.0", "--label=org.opencontainers.image.title=serve"}  # fmt: skip
    assert run.document["result"]["images"][0]["id"] == "sha256:1"


def test_the_plan_and_the_bake_file_build_nothing(root: Path, stub: ImageStub) -> None:
    run = image(root, "--plan", "--untrusted")
    assert (run.code, stub.asked) == (0, [])
    (planned,) = run.document["result"]["images"]
    assert planned["command"][:3] == ["docker", "build", "--file=docker/Dockerfile"]
    assert planned["arguments"]["DG_REF"] == COMMIT
    baked = image(root, "--bake", "b.json")
    assert baked.document["result"] == {"bake": "b.json", "targets": ["serve"]}
    assert json.loads((root / "b.json").read_text())["target"]["serve"]["args"]["TL_WHEEL"] == "tilelang==0.1.11"
    assert stub.asked == []


def test_the_consumers_commit_is_a_label(root: Path, stub: ImageStub) -> None:
    repository = GitRepository(root)
    repository.git("init", "-q", "-b", "main", ".")
    head = repository.commit("start", {"x": "1"})
    label = "org.opencontainers.image.revision"

    def planned(*words: str) -> str | None:
        labels: dict[str, str] = image(root, "--plan", *words).document["result"]["images"][0]["labels"]
        return labels.get(label)

    assert planned() == head
    assert planned("--untrusted") is None, "git status is not asked in a stranger's checkout"
    (root / "x").write_text("2")
    assert planned() is None, "it would be built from something else"


def test_a_builder_needs_buildx(root: Path, stub: ImageStub) -> None:
    assert image(root, "--builder", "far").code == 2
    stub.behave(images={"engine:cu12": {}}, buildx=True)
    assert image(root, "--builder", "far").code == 0
    (built,) = [call for call in stub.asked if "build" in call[:2]]
    assert built[:5] == ["buildx", "build", "--provenance=false", "--load", "--builder=far"]


def test_another_platform_is_left_out(root: Path, stub: ImageStub) -> None:
    change(root, 'python = "3.12"', 'python = "3.12"\nplatforms = ["linux/amd64", "linux/arm64"]')
    run = image(root, "--plan")
    assert [f["code"] for f in run.document["findings"]] == ["PIN671"], "there is no wheel for arm64"
    stub.behave(images={"engine:cu12-amd64": {}})
    run = image(root)
    assert (run.code, run.told) == (0, [("PIN662", "info")])
    assert [one["tags"] for one in run.document["result"]["images"]] == [["engine:cu12-amd64"]]


@pytest.mark.parametrize(
    ("old", "new", "file", "code"),
    [
        ("ARG DG_REF\n", "", "docker/Dockerfile", "PIN672"),
        ("ARG DG_REF\n", "ARG DG_REF\nARG FA_REF=main\n", "docker/Dockerfile", "PIN223"),
        ("ARG DG_REF\n", "ARG DG_REF\nENV HF_TOKEN=SENTINEL\n", "docker/Dockerfile", "PIN119"),
        ("2.8.0+cu129", "2.8.0+cu128", "wheels.jsonl", "PIN671"),
        ("docker/Dockerfile", "docker/None", "pins.toml", "PIN205"),
    ],
)
def test_what_is_wrong_stops_the_build(root: Path, stub: ImageStub, old: str, new: str, file: str, code: str) -> None:
    change(root, old, new, file)
    run = image(root)
    assert (run.code, run.told) == (1, [(code, "error")])
    assert run.document["findings"][0]["hint"]
    assert stub.asked == []
    assert "SENTINEL" not in run.out + run.err


def test_a_branch_or_a_secret_is_invalid_in_pins_toml(root: Path, stub: ImageStub) -> None:
    """H18, H19."""
    change(root, '"{pins.dg.commit}"', '"main"\nargs.HF_TOKEN = "SENTINEL"')
    run = image(root)
    assert (run.code, run.codes) == (3, ["PIN223", "PIN119"])
    assert "SENTINEL" not in run.out + run.err


def test_a_build_that_fails(root: Path, stub: ImageStub) -> None:
    stub.behave(fails=True)
    run = image(root)
    (found,) = run.document["findings"]
    assert (run.code, found["code"], found["hint"]) == (1, "PIN673", "the whole log: dist/logs/image-serve.log")
    assert "No matching distribution found for x" in found["message"]
    assert "RUN pip install x" in (root / "dist/logs/image-serve.log").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nope",), "there is no image"), (("--untrusted",), "a stranger's"), (("--check", "--plan"), "exclude"),
        (("serve", "x:1"), "--check alone"),
    ],
)  # fmt: skip
def test_a_command_line_that_makes_no_sense(root: Path, stub: ImageStub, words: tuple[str, ...], message: str) -> None:
    run = image(root, *words)
    assert run.code == 2
    assert message in run.out + run.err


# --- --check ---


def holds(stub: ImageStub, *, version: str = "2.8.0+cu129", commit: str = COMMIT, tilelang: str = "0.1.11") -> None:
    info = f"{SITE}/dg-{version}.dist-info"
    built = {"schema": 1, "pin": "dg", "commit": commit, "variant": "cu12", "cuda": "12.9"}
    stub.holds({
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: dg\nVersion: {version}\n".encode(),
        f"{info}/pinctl-provenance.json": json.dumps(built).encode(),
        f"{SITE}/tilelang-x.dist-info/METADATA":
            f"Metadata-Version: 2.1\nName: tilelang\nVersion: {tilelang}\n".encode(),
        f"{SITE}/dg/__init__.py": b"",
    })  # fmt: skip


def test_an_image_as_the_pins_say(root: Path, stub: ImageStub) -> None:
    holds(stub)
    run = image(root, "serve", "--check")
    assert (run.code, run.told) == (0, []), run.out
    (result,) = run.document["result"]["images"]
    assert (result["image"], result["labels"]) == ("engine:cu12", LABELS)
    assert [(one["pin"], one["commit"]) for one in result["installed"]] == [("dg", COMMIT), ("tl", None)]
    verbs = [call[0] for call in stub.asked]
    assert verbs == ["image", "create", "export", "rm"]
    assert "--network=none" in stub.asked[1]
    assert stub.asked[3] == ["rm", "--force", "--volumes", "ab" * 32]


def test_an_image_of_other_pins(root: Path, stub: ImageStub) -> None:
    stub.behave(images={"other:1": LABELS | {"dev.pinctl.pin.dg": OTHER}})
    holds(stub, commit=OTHER, tilelang="0.1.9")
    run = image(root, "serve", "other:1", "--check")
    assert (run.code, run.codes) == (1, ["PIN811", "PIN812", "PIN831"])
    assert all(found["hint"] for found in run.document["findings"])


def test_an_image_without_labels_or_wheels(root: Path, stub: ImageStub) -> None:
    stub.behave(images={"engine:cu12": None})
    stub.holds({"etc/passwd": b"x"})
    run = image(root, "serve", "--check")
    assert run.told == [("PIN810", "error"), ("PIN810", "error"), ("PIN830", "error")]


def test_an_image_that_cannot_be_read(root: Path, stub: ImageStub) -> None:
    (stub.path.parent / "image.tar").write_bytes(b"x" * 2000)
    run = image(root, "serve", "--check")
    assert (run.code, run.codes) == (1, ["PIN832"])
    assert stub.asked[-1][0] == "rm", "the container is taken away all the same"


def test_an_image_that_is_not_there(root: Path, stub: ImageStub) -> None:
    run = image(root, "serve", "gone:1", "--check")
    assert (run.code, run.document["result"]["hint"]) == (4, "run: docker pull gone:1")


def test_doctor_looks_into_an_image(root: Path, stub: ImageStub) -> None:
    holds(stub, tilelang="0.1.9")
    run = pinctl("--format", "json", "doctor", "--image", "engine:cu12", cwd=root)
    assert (run.code, run.codes) == (1, ["PIN811"])
    assert run.document["result"]["environment"] == "engine:cu12"
