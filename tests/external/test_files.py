import os
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.external import files
from pinctl.external.files import LIMIT, Missing, Unreadable, components, open_folder, probe, read_site

CANARY = b"canary: nobody may read or change this"


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A checkout with a secret beside it."""
    (tmp_path / "secret").write_bytes(CANARY)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(CANARY)
    (tmp_path / "root/docker").mkdir(parents=True)
    (tmp_path / "root/docker/Dockerfile").write_bytes(b"ARG X=1\r\n")
    return str(tmp_path / "root")


def reason(root: str, path: str, limit: int = LIMIT) -> str:
    with pytest.raises(Unreadable) as error:
        read_site(root, path, limit)
    assert str(error.value) == error.value.reason
    return error.value.reason


def test_a_file_is_read_as_it_is(root: str) -> None:
    assert read_site(root, "docker/Dockerfile") == b"ARG X=1\r\n"
    assert read_site(root, "./docker//Dockerfile") == b"ARG X=1\r\n"


def test_an_empty_file_and_an_odd_name(root: str) -> None:
    Path(root, "a b\n.txt").write_bytes(b"")
    assert read_site(root, "a b\n.txt") == b""


def test_a_missing_file_is_told_apart(root: str) -> None:
    for path in ("docker/none", "none/Dockerfile"):
        with pytest.raises(Missing):
            read_site(root, path)
    assert reason(root, "docker/Dockerfile/x") == "lies below something that is no directory"


def test_the_root_itself_may_be_a_link(root: str, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(root)
    assert read_site(str(tmp_path / "linked"), "docker/Dockerfile") == b"ARG X=1\r\n"
    with pytest.raises(Unreadable, match="cannot be reached"):
        read_site(str(tmp_path / "none"), "a")


# Security row 29.
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "absolute"),
        ("../secret", "leaves the root"),
        ("docker/../../secret", "leaves the root"),
        ("docker/../docker/Dockerfile", "leaves the root"),
        ("", "no path"),
        (".", "no path"),
        ("a\0b", "NUL"),
        (".git/config", "git's own folder"),
        ("vendor/.git/hooks/pre-commit", "git's own folder"),
        (".GIT/config", "git's own folder"),
        (".git /config", "git's own folder"),
        (".git./config", "git's own folder"),
        (".git::$INDEX_ALLOCATION/config", "git's own folder"),
        ("GIT~1/config", "git's own folder"),
        (".g\u200cit/config", "git's own folder"),
    ],
)
def test_paths_that_leave_the_root_or_enter_git(root: str, path: str, why: str) -> None:
    assert why in reason(root, path)
    assert why in (probe(root, path) or "")


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".gitmodules", ".gitignore", "digit~1", "a/git"])
def test_names_that_only_resemble_git(path: str) -> None:
    assert components(path) == path.split("/")


# Security row 28.
def test_links_inside_the_root_are_read_and_never_written(root: str) -> None:
    Path(root, "Dockerfile").symlink_to("docker/Dockerfile")
    Path(root, "images").symlink_to("./docker")
    Path(root, "docker/again").symlink_to("../images/Dockerfile")
    for path in ("Dockerfile", "images/Dockerfile", "docker/again"):
        assert read_site(root, path) == b"ARG X=1\r\n"
        assert "link" in (probe(root, path) or "")


@pytest.mark.parametrize(
    "target", ["../secret", "../outside/secret", "docker/../../secret", "/etc/passwd", "/proc/self/environ"]
)
def test_links_that_leave_the_root_are_not_read(root: str, target: str) -> None:
    Path(root, "site").symlink_to(target)
    assert reason(root, "site") == "is a symbolic link that leaves the root"
    assert probe(root, "site") == "is a symbolic link"


def test_a_parent_that_is_a_link_out_of_the_root(root: str) -> None:
    Path(root, "out").symlink_to("../outside")
    assert reason(root, "out/secret") == "is a symbolic link that leaves the root"
    assert probe(root, "out/secret") == "is a symbolic link, or lies behind one"
    assert probe(root, "out/new") == "is a symbolic link, or lies behind one"


def test_a_link_into_git_a_loop_and_a_link_to_nothing(root: str) -> None:
    Path(root, ".git").mkdir()
    Path(root, ".git/config").write_bytes(CANARY)
    Path(root, "config").symlink_to(".git/config")
    assert reason(root, "config") == "lies in git's own folder"
    Path(root, "loop").symlink_to("loop")
    assert reason(root, "loop") == "is a loop of links"
    Path(root, "dangling").symlink_to("none")
    with pytest.raises(Missing):
        read_site(root, "dangling")
    Path(root, "here").symlink_to("docker/..")
    assert reason(root, "here") == "is no path of a file"


def test_a_hard_link_is_read_and_not_written(root: str, tmp_path: Path) -> None:
    Path(root, "hard").hardlink_to(tmp_path / "secret")
    assert read_site(root, "hard") == CANARY
    assert "hard links" in (probe(root, "hard") or "")


# Security row 30: each of these hung, ran out of memory or leaked in a naive reader.
def test_fifos_sockets_and_directories_are_refused_at_once(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(Path(root, "fifo"))
    monkeypatch.chdir(root)  # a socket's address has room for 107 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    start = time.monotonic()
    assert reason(root, "fifo") == "is a FIFO"
    assert reason(root, "socket") == "is a socket"
    assert reason(root, "docker") == "is a directory"
    assert time.monotonic() - start < 1
    assert [probe(root, p) for p in ("fifo", "socket", "docker")] == ["is a FIFO", "is a socket", "is a directory"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
def test_a_device_is_refused() -> None:
    assert reason("/dev", "zero") == "is a device"


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc")
def test_a_file_that_lies_about_its_size_is_bounded() -> None:
    with pytest.raises(Unreadable, match="larger than 10 bytes"):
        read_site("/proc/self", "cmdline", 10)


def test_the_limit_is_exact(root: str) -> None:
    Path(root, "site").write_bytes(b"x" * 100)
    assert len(read_site(root, "site", 100)) == 100
    assert reason(root, "site", 99) == "is larger than 99 bytes"
    with Path(root, "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert "larger than" in reason(root, "huge")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(root: str) -> None:
    Path(root, "docker/Dockerfile").chmod(0)
    assert reason(root, "docker/Dockerfile") == "cannot be opened: Permission denied"


# Security row 31: the parent is swapped for a link between any two looks.
def test_a_swapped_parent_never_leads_outside(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(root, "docker/secret").write_bytes(b"inside")
    opened = os.open

    def swap(path: str, *args: object, **kwargs: object) -> int:
        if path == "docker":
            Path(root, "docker").rename(Path(root, "moved"))
            Path(root, "docker").symlink_to("../outside")
        return opened(path, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swap)
    assert reason(root, "docker/secret") == "is a symbolic link that leaves the root"


def test_what_may_be_written(root: str) -> None:
    assert probe(root, "docker/Dockerfile") is None
    assert probe(root, "docker/new") is None
    assert probe(root, "new/folder/file") is None
    assert probe(root, "docker/Dockerfile/x") == "lies below something that is no directory"
    Path(root, "docker/Dockerfile").chmod(0o444)
    assert probe(root, "docker/Dockerfile") == "is read-only"


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".GitHub/x", "sub/.github/workflows/ci.yml"])
def test_workflows_need_leave(root: str, path: str) -> None:
    assert probe(root, path) == "lies under .github/, which decides what CI runs"
    assert probe(root, path, allow_workflows=True) is None


def test_a_tree_outside_git_is_listed(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(root, ".git").mkdir()
    Path(root, ".git/config").write_bytes(CANARY)
    Path(root, "out").symlink_to("..")
    Path(root, "link").symlink_to("docker/Dockerfile")
    os.mkfifo(Path(root, "fifo"))
    Path(root, "a.txt").write_bytes(b"")
    Path(root, "docker/deep/er").mkdir(parents=True)
    Path(root, "docker/deep/er/.env").write_bytes(b"")
    assert files.walk(root) == ["a.txt", "docker/Dockerfile", "docker/deep/er/.env"]
    monkeypatch.setattr(files, "MOST_FILES", 2)
    with pytest.raises(Unreadable, match="more than 2 files"):
        files.walk(root)
    assert files.walk(f"{root}/none") == []


def test_no_descriptor_is_left_open(root: str) -> None:
    Path(root, "link").symlink_to("docker/Dockerfile")
    before = len(list(Path("/dev/fd").iterdir()))
    for path in ("docker/Dockerfile", "docker/none", "none/a", "docker", "link", "docker/Dockerfile/x"):
        for read in (read_site, probe):
            with suppress(Unreadable):
                read(root, path)
    os.close(open_folder(root, ["docker"]))
    assert len(list(Path("/dev/fd").iterdir())) == before


@given(st.text(alphabet="./a\0.gitGIT~1 \u200c:", max_size=12))
def test_no_path_makes_components_leave(path: str) -> None:
    try:
        names = components(path)
    except Unreadable:
        return
    assert names
    assert not {"", ".", "..", ".git"} & {name.casefold() for name in names}
