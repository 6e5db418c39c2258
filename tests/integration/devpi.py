"""devpi-server on loopback, with an index that files are uploaded to."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from integration.servers import HOST
from pinctl.model import NOTHING


@contextmanager
def devpi(folder: Path, password: str) -> Iterator[str]:
    """devpi-server with its data in `folder`, and an index that keeps what it has (`volatile=False`), to which the user
    `root` uploads: the URL of the index."""
    program = Path(sys.executable)
    made = ["--serverdir", str(folder), "--root-passwd", password, "--no-root-pypi"]
    subprocess.run([program.with_name("devpi-init"), *made], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    argv = [str(program.with_name("devpi-server")), "--serverdir", str(folder), "--host", HOST, "--port", str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            url = f"http://{HOST}:{port}"
            _until_it_answers(url)
            token = _said(url, "POST", "/+login", {"user": "root", "password": password})["result"]["password"]
            login = base64.b64encode(f"root:{token}".encode()).decode()
            index = {"type": "stage", "volatile": False, "bases": []}
            _said(url, "PUT", "/root/dev", index, {"X-Devpi-Auth": login})
            yield f"{url}/root/dev/"
        finally:
            server.terminate()


def _until_it_answers(url: str) -> None:
    for _ in range(600):
        try:
            _said(url, "GET", "/+api")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} does not answer")


def _said(url: str, method: str, path: str, data: object = None, headers: Mapping[str, str] = NOTHING) -> Any:
    sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    server = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    with closing(server):
        server.request(method, path, None if data is None else json.dumps(data), sent)
        return json.loads(server.getresponse().read())
