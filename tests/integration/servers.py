"""Real git servers on loopback, on ports of the kernel's choice. Each ends with its `with` block, by its own pid."""

from __future__ import annotations

import base64
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
PUBLIC = "https://git.example/"
"""What URLs of tests begin with; insteadOf leads from there to a server."""


def serve(path: Path, *, filters: bool = True) -> None:
    """Let the repository at `path` be served, with or without filters, and with any id (git-config(1))."""
    for key, value in (("allowFilter", filters), ("allowAnySHA1InWant", True)):
        subprocess.run(["git", "-C", path, "config", f"uploadpack.{key}", str(value).lower()], check=True)


def instead_of(address: str, prefix: str = PUBLIC, *more: tuple[str, str]) -> dict[str, str]:
    """The environment in which git asks `address` in the place of `prefix`; `more` are other settings."""
    settings = [(f"url.{address}.insteadOf", prefix), *more]
    pairs = [(f"GIT_CONFIG_{part}_{n}", item[i])
             for n, item in enumerate(settings) for i, part in enumerate(("KEY", "VALUE"))]  # fmt: skip
    return {"GIT_CONFIG_COUNT": str(len(settings)), **dict(pairs)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def git_daemon(base: Path, *options: str) -> Iterator[str]:
    """`git daemon` over the folder `base`: its address, `git://127.0.0.1:PORT/`."""
    port = _free_port()
    folder = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip()
    argv = [f"{folder}/git-daemon", "--export-all", f"--base-path={base}", f"--listen={HOST}", f"--port={port}",
            "--reuseaddr", *options, str(base)]  # fmt: skip
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait_for(port)
        yield f"git://{HOST}:{port}/"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(port: int) -> None:
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.01)
    raise AssertionError("the server does not listen")


class GitHttp(ThreadingHTTPServer):
    """`git http-backend` behind HTTP. `login`: a user and password to ask for; `answers`: statuses that the next
    requests get in its place, each with headers; `seen`: every request line with its Authorization."""

    daemon_threads = True

    def __init__(self, base: Path, login: tuple[str, str] | None = None) -> None:
        super().__init__((HOST, 0), _Handler)
        self.base, self.login = base, login
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.seen: list[tuple[str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: GitHttp
    protocol_version = "HTTP/1.0"

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, body: bytes) -> None:
        authorization = self.headers.get("Authorization", "")
        self.server.seen.append((self.path, authorization))
        if self.server.answers:
            status, headers = self.server.answers.pop(0)
            self._head(status, headers)
        elif (
            self.server.login
            and authorization != "Basic " + base64.b64encode(":".join(self.server.login).encode()).decode()
        ):
            self._head(401, {"WWW-Authenticate": 'Basic realm="git"'})
        else:
            self._backend(body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": "0"} | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.base), "GIT_HTTP_EXPORT_ALL": "1",
               "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": HOST,
               "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_CONFIG_GLOBAL": os.devnull, "HOME": os.devnull}  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self._head(int(headers.pop("Status", "200 OK").split()[0]), {**headers, "Content-Length": str(len(content))})
        self.wfile.write(content)


@contextmanager
def git_http(
    base: Path, login: tuple[str, str] | None = None, certificate: tuple[Path, Path] | None = None
) -> Iterator[tuple[GitHttp, str]]:
    """`git http-backend` over `base`, by https with a `certificate` and its key; the server and its address."""
    server = GitHttp(base, login)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server, f"{'https' if certificate else 'http'}://{HOST}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        yield f"git://{HOST}:{listener.getsockname()[1]}/"


class Proxy:
    """A TCP relay to `port` that counts the connections, and the bytes which come back."""

    def __init__(self, port: int) -> None:
        self.port, self.received, self.connections = port, 0, 0
        self._listener = socket.create_server((HOST, 0))
        self.own_port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection((HOST, self.port)) as server:
            up = threading.Thread(target=_pump, args=(client, server, lambda _: None), daemon=True)
            up.start()
            _pump(server, client, self._count)
            up.join()

    def _count(self, number: int) -> None:
        self.received += number


def _pump(source: socket.socket, sink: socket.socket, count: Callable[[int], None]) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            count(len(data))
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
