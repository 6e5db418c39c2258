"""Images read through a program in docker's place: what is asked of it, and that nothing is left behind."""

from pathlib import Path

import pytest
from commands.image_stub import ImageStub

from pinctl.errors import ExternalError
from pinctl.external import docker, images, process
from pinctl.external.docker import Client
from pinctl.external.process import ToolMissing
from pinctl.images.tar import BadTar


@pytest.fixture
def stub(tmp_path: Path) -> ImageStub:
    return ImageStub.make(tmp_path / "bin")


def test_an_image_and_its_files(stub: ImageStub) -> None:
    client = Client(str(stub.path), buildx=False)
    stub.behave(images={"a:1": {"l": "1"}, "b:1": None})
    stub.holds({"x": b"1", "y": b"2" * 200_000})
    assert images.seen(client, "a:1") == images.Seen("sha256:1", {"l": "1"})
    assert images.seen(client, "b:1").labels == {}
    assert [(f.path, f.size) for f in images.files(client, "a:1", lambda _: 10**6)] == [("x", 1), ("y", 200_000)]
    with pytest.raises(ExternalError, match="the engine has no image c:1"):
        images.seen(client, "c:1")


def test_a_container_is_taken_away_whatever_it_holds(stub: ImageStub) -> None:
    (stub.path.parent / "image.tar").write_bytes(b"\1" * 100_000)
    with pytest.raises(BadTar):
        images.files(Client(str(stub.path), buildx=False), "a:1", lambda _: 1)
    assert [call[0] for call in stub.asked] == ["create", "export", "rm"]


def test_to_read_takes_no_client_that_builds(stub: ImageStub, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.behave(version="28.2.2")
    monkeypatch.setenv("PINCTL_DOCKER", str(stub.path))
    assert docker.find(builds=False) == Client(str(stub.path), buildx=False)
    with pytest.raises(ToolMissing):
        docker.find()
    monkeypatch.setenv("PINCTL_DOCKER", "/bin/false")
    with pytest.raises(ToolMissing, match="no docker client that runs: /bin/false"):
        docker.find(builds=False)


def test_output_is_taken_as_it_comes() -> None:
    pieces: list[bytes] = []
    done = process.run(["head", "-c", "300000", "/dev/zero"], limit=10, taken=pieces.append)
    assert (sum(map(len, pieces)), done.stdout) == (300_000, b"")
    assert len(pieces) > 1


def test_who_takes_may_stop_the_program() -> None:
    def enough(_: bytes) -> None:
        raise BadTar("x")

    with pytest.raises(BadTar):
        process.run(["yes"], taken=enough, timeout=60)
