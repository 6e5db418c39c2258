"""Package indexes and other web servers on loopback: pypiserver as it is, and one that says what a test wants."""

from __future__ import annotations

import ssl
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, NamedTuple
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from integration.servers import HOST

HTML = "text/html"


class Reply(NamedTuple):
    """What a server says."""

    body: bytes = b""
    kind: str = HTML
    status: int = 200
    headers: Mapping[str, str] = {}


class Request(NamedTuple):
    """What a server was asked."""

    method: str
    path: str
    authorization: str


class Site(ThreadingHTTPServer):
    """Says what `pages` has for a path, or what the function there makes of the request; else 404. `seen`: all that was
    asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.pages: dict[str, Reply | Callable[[Request], Reply]] = {}
        self.seen: list[Request] = []

    @property
    def host(self) -> str:
        return f"{HOST}:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        request = Request(self.command, self.path, self.headers.get("Authorization", ""))
        self.server.seen.append(request)
        page = self.server.pages.get(self.path.partition("?")[0], Reply(status=404))
        reply = page if isinstance(page, Reply) else page(request)
        self.send_response(reply.status)
        usual = {"Content-Type": reply.kind, "Content-Length": str(len(reply.body))}
        for name, value in (usual | dict(reply.headers)).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_HEAD = do_GET  # noqa: N815


@contextmanager
def site(certificate: tuple[Path, Path] | None = None) -> Iterator[tuple[Site, str]]:
    """A `Site` and its address, which is https with a certificate and its key."""
    server = Site()
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with _running(server):
        yield server, f"{'https' if certificate else 'http'}://{server.host}/"


class _Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""


@contextmanager
def pypi(folder: Path, login: tuple[str, str] | None = None) -> Iterator[str]:
    """pypiserver over the files in `folder`, with a `login` to ask for: the URL of its index."""
    with warnings.catch_warnings():  # what it ships uses cgi
        warnings.simplefilter("ignore")
        import pypiserver
    asking = {"authenticate": ["list", "download", "update"], "auther": lambda *pair: pair == login} if login else {}
    quiet = {"authenticate": [], "password_file": "."}
    app = pypiserver.app(roots=[folder], disable_fallback=True, **(asking or quiet))
    server = make_server(HOST, 0, app, server_class=_Threaded, handler_class=_Quiet)
    with _running(server):
        yield f"http://{HOST}:{server.server_address[1]}/simple/"


@contextmanager
def _running(server: Any) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def wheel(folder: Path, name: str, version: str, tag: str = "py3-none-any") -> Path:
    """A wheel without a module in it."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return path
