"""What wheels are published to, on loopback: a PyPI that refuses as the real one does, and the releases of GitHub."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import policy
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from integration.servers import HOST
from pinctl.upstream.simple import JSON

TOKEN = "not-a-real-token-of-anyone"


class _Server(ThreadingHTTPServer):
    """`cut` is asked before and after each request ("before" | "after", method, path): what it answers True to is cut
    off there. `seen` are the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.cut: Callable[[str, str, str], bool] = lambda *_: False
        self.seen: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}"

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        raise NotImplementedError

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing is printed."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""

    def _do(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        self.server.seen.append((self.command, self.path))
        if len(body) < length:  # whoever sent it broke off
            self.close_connection = True
            return
        if self.server.cut("before", self.command, self.path):
            self.close_connection = True
            return
        with self.server.lock:
            status, kind, said = self.server.answer(self.command, self.path, self.headers, body)
        if self.server.cut("after", self.command, self.path):
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(said)

    do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = _do  # noqa: N815


class FakePyPI(_Server):
    """The upload interface at `/legacy/`, and the index that it fills at `/simple/`, which JSON clients read."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.uploaded = "2026-07-01T12:00:00Z"
        self.logins: list[str] = []

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        if method == "POST" and path == "/legacy/":
            self.logins.append(headers.get("Authorization", ""))
            status, said = self._take(headers["Content-Type"], body)
            return status, "text/plain", said.encode()
        if found := re.fullmatch(r"/simple/([a-z0-9-]+)/", path):
            return self._page(found[1])
        name = unquote(path.rpartition("/")[2])
        return (200, "application/octet-stream", self.files[name]) if name in self.files else (404, "text/plain", b"")

    def _take(self, kind: str, body: bytes) -> tuple[int, str]:
        form = BytesParser(policy=policy.HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        said = {part.get_param("name", header="Content-Disposition"): part for part in form.iter_parts()}
        content = said["content"].get_payload(decode=True)
        name = said["content"].get_filename()
        version = said["version"].get_payload(decode=True).decode()
        if "+" in version:
            return 400, f"The use of local versions in <Version({version!r})> is not allowed."
        if self.files.setdefault(name, content) != content:
            return 400, f"File already exists ({name!r}, with other bytes)."
        return 200, ""

    def _page(self, project: str) -> tuple[int, str, bytes]:
        files = [
            {
                "filename": name,
                "url": f"/files/{quote(name)}",
                "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
                "size": len(content),
                "upload-time": self.uploaded,
            }
            for name, content in sorted(self.files.items())
            if name.split("-")[0].replace("_", "-") == project
        ]
        page = {"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": files}
        return (200, JSON, json.dumps(page).encode()) if files else (404, "text/plain", b"")


class FakeGitHub(_Server):
    """The releases of `example/whl`. A name of an asset keeps its `+` only where the query escapes it; a taken name is
    422; a draft is in no download, and is found in the list alone."""

    def __init__(self) -> None:
        super().__init__()
        self.releases: list[dict[str, Any]] = []
        self.content: dict[int, bytes] = {}
        self.starting = False
        self.spoiled = False
        self._next = 1

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        parts = urlsplit(path)
        if found := re.fullmatch(r"/example/whl/releases/download/([^/]+)/([^/]+)", parts.path):
            return self._download(unquote(found[1]), unquote(found[2]))
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, "application/json", b'{"message": "Bad credentials"}'
        status, said = self._api(method, parts.path.removeprefix("/repos/example/whl"), parts.query, body)
        return status, "application/json", b"" if status == 204 else json.dumps(said).encode()

    def _download(self, tag: str, name: str) -> tuple[int, str, bytes]:
        for release in self.releases:
            for asset in release["assets"]:
                if (release["tag_name"], release["draft"], asset["name"]) == (tag, False, name):
                    return 200, "application/octet-stream", self.content[asset["id"]]
        return 404, "text/plain", b""

    def _api(self, method: str, path: str, query: str, body: bytes) -> tuple[int, Any]:
        said = parse_qs(query)
        page = int(said.get("page", ["1"])[0]) - 1
        if (method, path) == ("GET", "/releases"):
            return 200, [{**one, "assets": one["assets"][:30]} for one in self.releases[100 * page : 100 * page + 100]]
        if (method, path) == ("POST", "/releases"):
            return self._made(json.loads(body))
        if found := re.fullmatch(r"/releases/assets/(\d+)", path):
            return self._deleted(int(found[1]))
        found = re.fullmatch(r"/releases/(\d+)(/assets)?", path)
        release = next((one for one in self.releases if found and one["id"] == int(found[1])), None)
        if release is None:
            return 404, {"message": "Not Found"}
        if method == "GET":
            return 200, release["assets"][100 * page : 100 * page + 100]
        if method == "PATCH":
            release.update(json.loads(body))
            return 200, release
        if method == "DELETE":
            self.releases.remove(release)
            return 204, None
        return self._asset(release, said["name"][0], body)

    def _made(self, said: dict[str, Any]) -> tuple[int, Any]:
        number, self._next = self._next, self._next + 1
        release = {**said, "id": number, "assets": [],
                   "upload_url": f"{self.url}/repos/example/whl/releases/{number}/assets{{?name,label}}"}  # fmt: skip
        self.releases.append(release)
        return 201, release

    def _asset(self, release: dict[str, Any], name: str, body: bytes) -> tuple[int, Any]:
        name = re.sub(r"[^A-Za-z0-9._+@-]", ".", name)
        if any(asset["name"] == name for asset in release["assets"]):
            return 422, {"message": "Validation Failed", "errors": [{"code": "already_exists", "field": "name"}]}
        number, self._next = self._next, self._next + 1
        body = body + b"!" if self.spoiled else body
        asset = {"id": number, "name": name, "size": len(body), "state": "starter" if self.starting else "uploaded",
                 "digest": f"sha256:{hashlib.sha256(body).hexdigest()}"}  # fmt: skip
        self.content[number] = body
        release["assets"].append(asset)
        return 201, asset

    def _deleted(self, number: int) -> tuple[int, Any]:
        for release in self.releases:
            release["assets"] = [asset for asset in release["assets"] if asset["id"] != number]
        return 204, None


@contextmanager
def running(server: Any) -> Iterator[Any]:
    """The server, while it serves."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Cuts:
    """Cuts the connection at the Nth request that fits, before or after it has been served."""

    def __init__(self, number: int, when: str, method: str = ".*", path: str = ".*") -> None:
        self.left, self.when, self.pattern = number, when, re.compile(f"{method} {path}")
        self.done = False

    def __call__(self, when: str, method: str, path: str) -> bool:
        if self.done or when != self.when or not self.pattern.match(f"{method} {path}"):
            return False
        self.left -= 1
        self.done = self.left < 0
        return self.done


def policy_file(folder: Path, text: str) -> str:
    """A policy file with this `[publish]`, beside a checkout."""
    path = folder / "policy.toml"
    path.write_text(f"schema = 1\n{text}")
    return str(path)
