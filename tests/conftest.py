"""What every test stands on: no network, no state outside its own folder, and small git repositories."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from repositories import GitRepository, MakeRepository

if TYPE_CHECKING:
    from consumer import Consumer

# What is ignored here, as in the background of a shell or under nohup, programs that are started would ignore, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

settings.register_profile("pinctl", max_examples=100, deadline=None, derandomize=True)
settings.load_profile("pinctl")

_LOOPBACK = ("127.", "localhost", "::1")


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Sockets reach this machine alone; anything else raises."""

    def guarded(real: Callable[..., object], address_at: int) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            address = args[address_at]
            host = address[0] if isinstance(address, tuple) else address
            unix = isinstance(args[0], socket.socket) and args[0].family == getattr(socket, "AF_UNIX", None)
            if not unix and not (host is None or str(host).startswith(_LOOPBACK)):
                raise AssertionError(f"a test wants the network: {host!r}")
            return real(*args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(socket.socket.connect, 1))
        patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex, 1))
        patch.setattr(socket, "getaddrinfo", guarded(socket.getaddrinfo, 0))
        yield


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """State and configuration of the person who runs the tests stay out of them."""
    base = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_STATE_HOME", str(base / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(base / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(base / "cache"))
    monkeypatch.delenv("PINCTL_CACHE", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("NETRC", os.devnull)


@pytest.fixture
def make_repository(tmp_path: Path) -> MakeRepository:
    """`make_repository(NAME)` is a new, empty repository NAME below the test's own folder."""

    def make(name: str) -> GitRepository:
        path = tmp_path / name
        path.mkdir(parents=True)
        repository = GitRepository(path)
        repository.git("init", "-q", "-b", "main", ".")
        return repository

    return make


@pytest.fixture
def repository(make_repository: MakeRepository) -> GitRepository:
    """A new, empty repository."""
    return make_repository("repository")


@pytest.fixture(scope="session")
def _engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of `consumer`, made once."""
    from consumer import FILES

    repository = GitRepository(tmp_path_factory.mktemp("engine"))
    repository.git("init", "-q", "-b", "main", ".")
    repository.commit("start", dict(FILES))
    return repository.path


@pytest.fixture
def consumer(tmp_path: Path, _engine: Path) -> "Consumer":
    """An engine in a directory with a space in its name, in which every site agrees with pins.toml."""
    from consumer import Consumer

    path = shutil.copytree(_engine, tmp_path / "my engine", symlinks=True)
    return Consumer(GitRepository(path, clock=GitRepository.CLOCK + 3600))


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    files = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
                   check=True, capture_output=True)  # fmt: skip
    return files
