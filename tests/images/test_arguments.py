"""The build arguments and labels of an image, and the bake file: from pins.toml as a person writes it."""

import json

from pinctl import manifest
from pinctl.images import arguments, bake, command, labels
from pinctl.model import Pin

COMMIT, SHA = "a1" * 20, "0f" * 32
PINS = f"""\
schema = 1
[index]
url = "https://wheels.example/"
[pins.dg]
repo = "https://github.com/o/dg.git"
commit = "{COMMIT}"
version = "2.8.0"
unused = true
facts.url = "https://h/r"
system_packages.a = {{ dnf = "elfutils-devel", apt = "libdw-dev" }}
system_packages.b = {{ dnf = "numactl", apt = "libnuma1", when = "run" }}
[pins.tl]
packages = ["tilelang"]
version = "0.1.11"
unused = true
[pins.short]
repo = "https://github.com/o/short.git"
unresolved = "abcdef12"
unused = true
[variants.cu12]
cuda = "12.9"
label = "cu129"
publish = "index"
[images.serve]
dockerfile = "docker/Dockerfile"
variant = "cu12"
args.DG_REF = "{{pins.dg.commit}}"
args.PACKAGES = "{{pins.dg.system_packages.dnf}}"
args.RUN = "{{pins.dg.system_packages.apt.run}}"
wheels.TL = "tl"
"""


def parsed(more: str = "") -> manifest.Manifest:
    return manifest.parse(PINS + more)


def test_values_for_a_platform() -> None:
    said = parsed()
    image = said.images["serve"]
    values, told = arguments.values(image, said, "linux/amd64", [])
    assert told == ()
    assert values == {
        "DG_REF": COMMIT,
        "PACKAGES": "elfutils-devel numactl",
        "RUN": "libnuma1",
        "TL": "tilelang==0.1.11",
    }
    assert [pin.name for pin in arguments.pins(image, said)] == ["tl", "dg"]


def test_what_cannot_be_given_stands_at_its_place() -> None:
    said = parsed(
        'args.GIT = "{pins.dg.git}"\nargs.OPEN = "{pins.short.commit}"\nargs.DG_SHA = "{pins.dg.version}"\n'
        'wheels.DG = "dg"\n'
    )
    _, told = arguments.values(said.images["serve"], said, "linux/amd64", [])
    first = PINS.count("\n") + 1
    assert [(f.code, f.span.line if f.span else 0, f.file) for f in told] == [
        ("PIN670", first, "pins.toml"), ("PIN670", first + 1, "pins.toml"), ("PIN223", first + 2, "pins.toml"),
        ("PIN671", first + 3, "pins.toml")]  # fmt: skip
    assert all(f.hint for f in told)


def test_labels_and_what_they_say_otherwise() -> None:
    said = parsed()
    image, pins = said.images["serve"], [said.pins["dg"], said.pins["tl"]]
    made = labels.labels(image, pins, "0.1.0", "c3" * 20)
    assert made == {
        "dev.pinctl.pin.dg": COMMIT, "dev.pinctl.pin.tl": "0.1.11", "dev.pinctl.variant": "cu12",
        "dev.pinctl.version": "0.1.0", "org.opencontainers.image.revision": "c3" * 20,
        "org.opencontainers.image.title": "serve"}  # fmt: skip
    assert list(labels.judge(image, pins, made, "i")) == []
    other = made | {"dev.pinctl.pin.dg": "b2" * 20, "dev.pinctl.variant": "cu13"}
    told = list(labels.judge(image, pins, other, "i"))
    assert [(f.code, f.pin, f.expected, f.found) for f in told] == [
        ("PIN831", None, "cu12", "cu13"), ("PIN831", "dg", COMMIT, "b2" * 20)]  # fmt: skip
    del made["dev.pinctl.pin.tl"]
    assert [f.found for f in labels.judge(image, pins, made, "i")] == ["none"]
    assert [f.code for f in labels.judge(image, pins, {"maintainer": "x"}, "i")] == ["PIN830"]


def test_what_tells_one_state_of_a_pin_from_another() -> None:
    assert labels.identity(Pin(name="a", url="https://h/a", sha256="0" * 64)) == f"sha256:{'0' * 64}"
    assert labels.identity(Pin(name="a", image="a:1", digest="sha256:1")) == "sha256:1"
    assert labels.identity(Pin(name="a", image="a:1@sha256:2")) == "sha256:2"
    assert labels.identity(Pin(name="a", image="a:1")) is None


def test_targets_and_their_bake_file() -> None:
    image = parsed().images["serve"]._replace(platforms=("linux/amd64", "linux/arm64"), tags=("h:5000/a", "b:1"))
    image = image._replace(context="docker/c", target="run")
    made = [bake.target(image, platform, {"A": "x${Y} %{Z}"}, {"l": "1"}) for platform in image.platforms]
    assert [(one.name, one.tags) for one in made] == [
        ("serve-amd64", ("h:5000/a:latest-amd64", "b:1-amd64")),
        ("serve-arm64", ("h:5000/a:latest-arm64", "b:1-arm64")),
    ]
    said = json.loads(json.dumps(bake.bake(made, "..")))
    assert said["group"] == {"default": {"targets": ["serve-amd64", "serve-arm64"]}}
    assert said["target"]["serve-arm64"] == {
        "context": "../docker/c",
        "dockerfile": "../../docker/Dockerfile",
        "target": "run",
        "platforms": ["linux/arm64"],
        "tags": ["h:5000/a:latest-arm64", "b:1-arm64"],
        "args": {"A": "x$${Y} %%{Z}"},
        "labels": {"l": "1"},
    }
    assert list(command.options(made[0], "/r")) == [
        "--file=/r/docker/Dockerfile", "--platform=linux/amd64", "--target=run", "--tag=h:5000/a:latest-amd64",
        "--tag=b:1-amd64", "--build-arg=A=x${Y} %{Z}", "--label=l=1"]  # fmt: skip
    assert command.context(made[0], "/r") == "/r/docker/c"


def test_an_image_for_one_platform_keeps_its_names() -> None:
    image = parsed().images["serve"]._replace(tags=("a",))
    one = bake.target(image, "linux/amd64", {}, {})
    assert (one.name, one.tags, one.context) == ("serve", ("a",), ".")
    assert bake.bake([one], ".")["target"]["serve"] == {
        "context": ".", "dockerfile": "docker/Dockerfile", "platforms": ["linux/amd64"], "tags": ["a"]}  # fmt: skip
