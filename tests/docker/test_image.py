"""`pinctl image` and `pinctl doctor --image` with a real engine: built, labelled, read, never run."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from consumer import Run, pinctl

from docker.conftest import BASE
from pinctl.external import docker

pytestmark = [pytest.mark.docker, pytest.mark.slow]

COMMIT, OTHER = "a1" * 20, "b2" * 20
TAG = "pinctl-test-engine:1"
SITE = "/opt/venv/lib/python3.11/site-packages"
PINS = f"""\
schema = 1
[pins.tinyk]
repo = "https://github.com/tiny/upstream"
commit = "{COMMIT}"
version = "1.2.0"
contract.import_names = ["tinyk"]
[pins.tilelang]
packages = ["tilelang"]
version = "0.1.11"
[variants.cu12]
cuda = "12.9"
[images.serve]
dockerfile = "Dockerfile"
context = "docker"
tags = ["{TAG}"]
variant = "cu12"
args.TINYK_REF = "{{pins.tinyk.commit}}"
args.TILELANG = "{{pins.tilelang.version}}"
"""
DOCKERFILE = f"""\
FROM {BASE}
ARG TINYK_REF
ARG TILELANG
RUN mkdir -p {SITE}/tilelang-1.dist-info {SITE}/tinyk-1.2.0.dist-info /root/seen && cd {SITE} \\
 && printf 'Metadata-Version: 2.1\\nName: tilelang\\nVersion: %s\\n' "$TILELANG" > tilelang-1.dist-info/METADATA \\
 && printf 'Metadata-Version: 2.1\\nName: tinyk\\nVersion: 1.2.0\\n' > tinyk-1.2.0.dist-info/METADATA \\
 && printf '{{"vcs_info": {{"commit_id": "%s"}}}}' "$TINYK_REF" > tinyk-1.2.0.dist-info/direct_url.json
RUN date +%N > /root/seen/layer && echo "$TINYK_REF" >> /root/seen/layer
COPY x /x
"""


@pytest.fixture
def root(tmp_path: Path, image: str, client: docker.Client) -> Iterator[Path]:
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker/x").write_text("x")
    (tmp_path / "pins.toml").write_text(PINS)
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    yield tmp_path
    subprocess.run([client.path, "image", "rm", "--force", TAG], capture_output=True, check=False)


def run(root: Path, *words: str) -> Run:
    return pinctl("--format", "json", *words, cwd=root)


def layer(client: docker.Client, root: Path) -> str:
    """What the layer that holds the commit wrote."""
    name = f"pinctl-test-{root.name}"[:60]
    subprocess.run([client.path, "create", "--name", name, TAG, "x"], check=True, capture_output=True)
    try:
        subprocess.run(
            [client.path, "cp", f"{name}:/root/seen/layer", str(root / "layer")], check=True, capture_output=True
        )
    finally:
        subprocess.run([client.path, "rm", name], check=True, capture_output=True)
    return (root / "layer").read_text()


def containers(client: docker.Client) -> bytes:
    return subprocess.run([client.path, "ps", "-aq", "--no-trunc"], capture_output=True, check=True).stdout


def test_built_labelled_and_read(root: Path, client: docker.Client) -> None:
    before = containers(client)
    built = run(root, "image", "serve")
    assert (built.code, built.told) == (0, []), built.out
    checked = run(root, "image", "serve", "--check")
    assert (checked.code, checked.told) == (0, []), checked.out
    (found,) = checked.document["result"]["images"]
    assert found["id"] == built.document["result"]["images"][0]["id"]
    assert {one["pin"]: (one["version"], one["commit"]) for one in found["installed"]} == {
        "tinyk": ("1.2.0", COMMIT), "tilelang": ("0.1.11", None)}  # fmt: skip
    assert run(root, "doctor", "--image", TAG).told == []

    first = layer(client, root)
    again = run(root, "image", "serve")
    assert again.code == 0
    assert layer(client, root) == first, "nothing moved, so that the layer is the cached one"
    text = (root / "pins.toml").read_text()
    (root / "pins.toml").write_text(text.replace(COMMIT, OTHER).replace("0.1.11", "0.1.12"))
    moved = run(root, "image", "serve", "--check")
    assert moved.told == [("PIN811", "error"), ("PIN812", "error"), ("PIN831", "error"), ("PIN831", "error")]
    assert run(root, "image", "serve").code == 0
    assert layer(client, root).split()[1] == OTHER, "H18: the layer is another when the commit moves"
    assert run(root, "image", "serve", "--check").told == []
    assert containers(client) == before, "those that were made to be read are gone"


def test_a_step_that_fails(root: Path, client: docker.Client) -> None:
    (root / "Dockerfile").write_text(DOCKERFILE + "RUN echo it is broken >&2; exit 3\n")
    failed = run(root, "image", "serve")
    (found,) = failed.document["findings"]
    assert (failed.code, found["code"]) == (1, "PIN673")
    assert "it is broken" in found["message"]
