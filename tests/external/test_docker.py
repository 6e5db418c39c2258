import os
from pathlib import Path

import pytest

from pinctl.errors import ExternalError, UsageError
from pinctl.external import docker
from pinctl.external.docker import Build, Client
from pinctl.external.process import CommandFailed, ToolMissing


def client(folder: Path, *, version: str = "", buildx: bool = False, server: bool = True) -> str:
    """A program `docker` in a new folder; its version "" prints nothing."""
    folder.mkdir()
    path = folder / "docker"
    path.write_text(
        "#!/bin/sh\ncase $1 in\n"
        f"buildx) [ $2 = version ] && exit {0 if buildx else 1};;\n"
        f"--version) echo '{f'Docker version {version}, build x' if version else ''}'; exit 0;;\n"
        f"version) {'exit 0' if server else 'echo Cannot connect to the daemon >&2; exit 1'};;\n"
        "image) [ $6 = known:1 ] && echo sha256:1 known@sha256:2 && exit 0; exit 1;;\n"
        'esac\necho "$@" >&2\nexit 3\n'
    )
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> object:
    def put(*programs: str) -> None:
        folders = [os.path.dirname(program) for program in programs]
        monkeypatch.setenv("PATH", os.pathsep.join([*folders, "relative", "/usr/bin-is-not-there"]))

    monkeypatch.delenv("PINCTL_DOCKER", raising=False)
    return put


def test_a_client_with_buildx_is_taken(tmp_path: Path, on_path) -> None:  # type: ignore[no-untyped-def]
    new = client(tmp_path / "a", version="28.2.2", buildx=True)
    on_path(new)
    assert docker.find() == Client(new, buildx=True)


def test_an_old_client_has_buildkit_inside(tmp_path: Path, on_path) -> None:  # type: ignore[no-untyped-def]
    bare, old = client(tmp_path / "a", version="28.2.2"), client(tmp_path / "b", version="20.10.24+dfsg1")
    on_path(bare, old)
    assert docker.find() == Client(old, buildx=False), "the second of two on PATH, since the first cannot"


def test_a_bare_new_client_is_told_with_what_to_install(tmp_path: Path, on_path) -> None:  # type: ignore[no-untyped-def]
    bare = client(tmp_path / "a", version="28.2.2")
    on_path(bare, client(tmp_path / "b"))
    with pytest.raises(ToolMissing) as caught:
        docker.find()
    assert f"{bare} (28.2)" in str(caught.value)
    assert "which does not run" in str(caught.value)
    assert "docker-buildx-plugin" in (caught.value.hint or "")


def test_no_client_at_all(on_path) -> None:  # type: ignore[no-untyped-def]
    on_path()
    with pytest.raises(ToolMissing, match="docker is not installed"):
        docker.find()


def test_the_user_may_say_which(tmp_path: Path, on_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    first, second = (client(tmp_path / name, version="28.0.0", buildx=True) for name in "ab")
    on_path(first)
    monkeypatch.setenv("PINCTL_DOCKER", second)
    assert docker.find().path == second
    monkeypatch.setenv("PINCTL_DOCKER", str(tmp_path / "gone"))
    with pytest.raises(ToolMissing):
        docker.find()


def test_an_engine_that_does_not_answer(tmp_path: Path) -> None:
    docker.demand_engine(Client(client(tmp_path / "a"), buildx=False))
    with pytest.raises(ExternalError, match="no Docker engine answers: Cannot connect to the daemon"):
        docker.demand_engine(Client(client(tmp_path / "b", server=False), buildx=False))


def test_what_an_image_is(tmp_path: Path) -> None:
    found = Client(client(tmp_path / "a"), buildx=False)
    assert docker.image_id(found, "known:1") == ("sha256:1", ("sha256:2",))
    assert docker.image_id(found, "other:1") is None


def build(path: str, *, buildx: bool, builder: str | None = None) -> str:
    """What the client was called with."""
    job = Build("/c/f", "wheel", "/c", {"A": "b c"}, "/out", "linux/arm64", {"ca": "/ca.pem"}, builder)
    heard: list[bytes] = []
    with pytest.raises(CommandFailed):
        docker.build(Client(path, buildx), job, heard.append)
    return b"".join(heard).decode().strip()


def test_how_a_build_is_asked_for(tmp_path: Path) -> None:
    path = client(tmp_path / "a")
    assert build(path, buildx=False) == (
        "build --progress=plain --file=/c/f --target=wheel --platform=linux/arm64 --output=type=local,dest=/out"
        " --build-arg=A=b c --secret=id=ca,src=/ca.pem -- /c"
    )
    made = build(path, buildx=True, builder="far")
    assert made.startswith("buildx build --progress=plain")
    assert " --builder=far --provenance=false " in made


def test_a_path_may_hold_a_comma(tmp_path: Path) -> None:
    job = Build("/c/f", "t", "/c", {}, '/a,b/"o', "linux/amd64", {"ca": "/a, b/ca"})
    heard: list[bytes] = []
    with pytest.raises(CommandFailed):
        docker.build(Client(client(tmp_path / "a"), buildx=False), job, heard.append)
    said = b"".join(heard).decode()
    assert ' --output=type=local,"dest=/a,b/""o" ' in said
    assert ' --secret=id=ca,"src=/a, b/ca" ' in said


def test_a_builder_without_buildx(tmp_path: Path) -> None:
    job = Build("f", "t", "/c", {}, "/o", "linux/amd64", builder="far")
    with pytest.raises(UsageError, match="--builder needs docker's buildx component"):
        docker.build(Client(client(tmp_path / "a"), buildx=False), job, lambda _: None)


def test_the_platform_of_this_machine() -> None:
    assert docker.native().startswith("linux/")
