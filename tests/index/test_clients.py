"""pip, uv and a plain HTTP client on what is built, over loopback: H12 of the reports, and the rules that clients
show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from index.support import wheel
from pinctl.commands import index_build, index_verify, index_yank
from pinctl.commands.index_build import Adding
from pinctl.index import reading
from pinctl.options import Options
from pinctl.upstream.simple import JSON

PIP = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check"]
UV = [str(Path(sys.executable).with_name("uv")), "--no-cache", "--no-config"]


class Handler(SimpleHTTPRequestHandler):
    """A static host that reads a bare `+` as a space, as object stores do."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".v1_json": JSON}  # noqa: RUF012

    def do_GET(self) -> None:
        self.path = self.path.replace("+", "%20")
        super().do_GET()

    do_HEAD = SimpleHTTPRequestHandler.do_HEAD  # noqa: N815

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""


@contextmanager
def serving(folder: Path, handler: type[Handler] = Handler) -> Iterator[str]:
    """The address of a server of the files in `folder`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """An index of cu129 and cu130 in two versions, of which the newer one wants a Python that is not there yet."""
    root = tmp_path_factory.mktemp("index")
    for label in ("cu129", "cu130"):
        wheel(root / label, f"1.0+{label}")
        wheel(root / label, f"1.1+{label}")
        wheel(root / label, f"2.0+{label}", python=">=3.99")
        adding = Adding((str(root / label),), variant=label)
        index_build.run(Options(directory=str(root)), out="site", adding=adding)
    with serving(root / "site") as url:
        yield root / "site", url


def run(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    done = subprocess.run(words, capture_output=True, text=True, env=plain, timeout=120)
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


def installed(target: Path) -> str:
    return (target / "tinyk.py").read_text()


@pytest.mark.parametrize("label", ["cu129", "cu130"])
def test_pip_installs_the_variant_that_was_asked_for(index: tuple[Path, str], tmp_path: Path, label: str) -> None:
    run(*PIP, "install", "-q", "--no-cache-dir", "--no-deps", "--target", str(tmp_path), "--index-url",
        f"{index[1]}/release/{label}/", "tinyk")  # fmt: skip
    assert installed(tmp_path) == f"VERSION = '1.1+{label}'\n"


@pytest.mark.skipif(not Path(UV[0]).exists(), reason="uv is not installed")
@pytest.mark.parametrize("label", ["cu129", "cu130"])
def test_uv_installs_the_variant_that_was_asked_for(index: tuple[Path, str], tmp_path: Path, label: str) -> None:
    run(*UV, "pip", "install", "-q", "--python", sys.executable, "--target", str(tmp_path), "--default-index",
        f"{index[1]}/release/{label}/", "tinyk")  # fmt: skip
    assert installed(tmp_path) == f"VERSION = '1.1+{label}'\n"


@pytest.mark.parametrize("client", ["pip", "uv"])
def test_the_wrong_variant_is_refused(index: tuple[Path, str], tmp_path: Path, client: str) -> None:
    if client == "uv" and not Path(UV[0]).exists():
        pytest.skip("uv is not installed")
    where, wanted = f"{index[1]}/release/cu129/", "tinyk==1.1+cu130"
    words = {
        "pip": [*PIP, "install", "--no-cache-dir", "--target", str(tmp_path), "--index-url", where, wanted],
        "uv": [*UV, "pip", "install", "--python", sys.executable, "--target", str(tmp_path), "--default-index", where,
               wanted],
    }  # fmt: skip
    done = run(*words[client], check=False)
    assert done.returncode != 0
    assert "1.1+cu130" in done.stderr + done.stdout


def test_pip_resolves_by_the_metadata_beside_the_wheel(index: tuple[Path, str], tmp_path: Path) -> None:
    site, url = index
    page = (site / "release/cu129/tinyk/index.html").read_text()
    assert 'data-requires-python="&gt;=3.99"' in page
    done = run(
        *PIP, "download", "-v", "--no-cache-dir", "-d", str(tmp_path), "--index-url", f"{url}/release/cu129/", "tinyk"
    )
    assert ".metadata" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["tinyk-1.1+cu129-py3-none-any.whl"]


def test_pip_reads_the_json(index: tuple[Path, str], tmp_path: Path) -> None:
    """The JSON form serves by itself, under its own type."""
    site, _ = index
    body = json.loads((site / "release/cu129/tinyk/index.v1_json").read_bytes())
    assert [file["filename"] for file in body["files"]] == [
        f"tinyk-{v}+cu129-py3-none-any.whl" for v in ("1.0", "1.1", "2.0")
    ]

    class Json(Handler):
        def send_head(self) -> Any:
            if self.path.endswith("/tinyk/"):
                self.path += "index.v1_json"
            return super().send_head()

    with serving(site, Json) as url:
        run(*PIP, "install", "-q", "--no-cache-dir", "--target", str(tmp_path), "--index-url",
            f"{url}/release/cu129/", "tinyk")  # fmt: skip
    assert installed(tmp_path) == "VERSION = '1.1+cu129'\n"


def test_h12_a_plain_client_finds_every_link(index: tuple[Path, str]) -> None:
    """The host reads a bare `+` as a space. pip would hide a bad link by escaping it again; urllib does not."""
    site, url = index
    for label in ("cu129", "cu130"):
        at = f"release/{label}/tinyk"
        page = reading.read((site / at / "index.html").read_bytes(), "text/html", at, f"{url}/")
        assert len(page.links) == 3
        for link in page.links:
            with urllib.request.urlopen(link.url) as answer:  # noqa: S310
                assert answer.status == 200
            with urllib.request.urlopen(f"{link.url}.metadata") as answer:  # noqa: S310
                assert answer.read().startswith(b"Metadata-Version")
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(link.url.replace("%2B", "+"))  # noqa: S310


def test_metadata_that_was_changed_is_refused_by_clients_and_found_by_verify(tmp_path: Path) -> None:
    options = Options(directory=str(tmp_path))
    index_build.run(options, out="site", adding=Adding((str(wheel(tmp_path / "dist")),), variant="cu129"))
    beside = next((tmp_path / "site/files").glob("*.metadata"))
    beside.write_bytes(beside.read_bytes() + b"Summary: other\n")
    with serving(tmp_path / "site") as url:
        done = run(*PIP, "download", "--no-cache-dir", "-d", str(tmp_path / "x"), "--index-url",
                   f"{url}/release/cu129/", "tinyk", check=False)  # fmt: skip
    assert done.returncode != 0
    assert {finding.code for finding in index_verify.run(options, place="site").findings} == {"PIN708"}


@pytest.fixture(scope="module")
def yanked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of an index with one version, which was taken back (PEP 592)."""
    root = tmp_path_factory.mktemp("yanked")
    wheel(root / "dist", "1.0+cu129")
    options = Options(directory=str(root))
    index_build.run(options, out="site", adding=Adding((str(root / "dist"),), variant="cu129"))
    index_yank.run(options, filename="tinyk-1.0+cu129-py3-none-any.whl", reason="broken on sm_100")
    index_build.run(options, out="site")
    with serving(root / "site") as url:
        yield f"{url}/release/cu129/"


def test_pip_takes_a_yanked_version_by_its_number_alone(yanked: str, tmp_path: Path) -> None:
    words = [*PIP, "download", "--no-cache-dir", "-d", str(tmp_path), "--index-url", yanked]
    assert run(*words, "tinyk", check=False).returncode != 0
    done = run(*words, "tinyk==1.0")
    assert "broken on sm_100" in done.stderr + done.stdout


@pytest.mark.skipif(not Path(UV[0]).exists(), reason="uv is not installed")
def test_uv_takes_a_yanked_version_by_its_whole_number_alone(yanked: str, tmp_path: Path) -> None:
    words = [*UV, "pip", "install", "--python", sys.executable, "--target", str(tmp_path), "--default-index", yanked]
    assert run(*words, "tinyk==1.0", check=False).returncode != 0
    run(*words, "tinyk==1.0+cu129")
    assert installed(tmp_path) == "VERSION = '1.0+cu129'\n"
