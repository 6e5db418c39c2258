"""A Docker engine, and an image to build in. Where there is none of either, these tests are skipped with the reason."""

import subprocess
from pathlib import Path

import pytest

from docker.kernel import Kernel
from pinctl.errors import ExternalError
from pinctl.external import docker

BASE = "pinctl-test-base:1"
"""Debian with git, g++ and Python, imported from mmdebstrap (see .ci/run): tests pull nothing."""


@pytest.fixture(scope="session")
def client() -> docker.Client:
    """A client that can build, and an engine that answers."""
    try:
        found = docker.find()
        docker.demand_engine(found)
    except ExternalError as error:
        pytest.skip(str(error))
    return found


@pytest.fixture(scope="session")
def image(client: docker.Client) -> str:
    """The id of the base image."""
    found = docker.image_id(client, BASE)
    if found is None:
        pytest.skip(f"there is no image {BASE}: mmdebstrap --variant=minbase ... | docker import - {BASE}")
    return found[0]


@pytest.fixture
def kernel(tmp_path: Path, image: str, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """The kernel's consumer, whose pinctl has a cache of its own and finds the repositories on this disk."""
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return Kernel.make(tmp_path, BASE, image, docker.native())


@pytest.fixture
def litter(client: docker.Client) -> object:
    """Containers and images must be those of before when the test has ended."""

    def seen() -> set[str]:
        words = (["ps", "-aq", "--no-trunc"], ["images", "-q", "--no-trunc"])
        return {line for w in words for line in subprocess.run([client.path, *w], capture_output=True, text=True,
                                                               check=True).stdout.split()}  # fmt: skip

    before = seen()
    yield
    assert seen() == before
