"""A git daemon on loopback, and the wire to it: bytes are counted, and each message may take its time."""

import os
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HOST = "127.0.0.1"
_PIECE = 65536


@contextmanager
def daemon(base: Path) -> Iterator[int]:
    """`git daemon` over the folder `base`, with filters and any id allowed: its port."""
    settings = {"uploadpack.allowFilter": "true", "uploadpack.allowAnySHA1InWant": "true", "safe.directory": "*"}
    env = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CONFIG_COUNT": str(len(settings))}  # fmt: skip
    for n, (key, value) in enumerate(settings.items()):
        env |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    with socket.create_server((_HOST, 0)) as probe:
        port = int(probe.getsockname()[1])
    folder = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip()
    argv = [f"{folder}/git-daemon", "--export-all", "--reuseaddr", f"--base-path={base}", f"--listen={_HOST}",
            f"--port={port}", "--max-connections=0"]  # fmt: skip
    with subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            _wait_for(port)
            yield port
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _wait_for(port: int) -> None:
    for _ in range(500):
        with suppress(ConnectionRefusedError), socket.create_connection((_HOST, port)):
            return
        time.sleep(0.01)
    raise RuntimeError("git daemon does not listen")


class Wire:
    """A relay to `port`. What comes back is counted in `received`; with `latency`, in seconds, a connection takes that
    long, and so does every message of the client: a round trip each."""

    def __init__(self, port: int, latency: float = 0.0) -> None:
        self.port, self.latency, self.received, self.connections = port, latency, 0, 0
        self._listener = socket.create_server((_HOST, 0), backlog=128)
        self.own_port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        time.sleep(self.latency)
        with client, socket.create_connection((_HOST, self.port)) as server:
            up = threading.Thread(target=self._send, args=(client, server), daemon=True)
            up.start()
            with suppress(OSError):
                while data := server.recv(_PIECE):
                    self.received += len(data)
                    client.sendall(data)
            _end(client)
            up.join()

    def _send(self, client: socket.socket, server: socket.socket) -> None:
        """What the client says, each piece `latency` later, however many are on their way."""
        pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

        def read() -> None:
            with suppress(OSError):
                while data := client.recv(_PIECE):
                    pieces.put((time.monotonic() + self.latency, data))
            pieces.put((0.0, b""))

        threading.Thread(target=read, daemon=True).start()
        with suppress(OSError):
            while True:
                due, data = pieces.get()
                if not data:
                    break
                time.sleep(max(due - time.monotonic(), 0))
                server.sendall(data)
        _end(server)


def _end(sink: socket.socket) -> None:
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
