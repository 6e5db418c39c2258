"""Records, pages and wheels that the tests of the index make by hand."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Any

from pinctl.index import names, reading
from pinctl.index.reading import Page
from pinctl.index.records import Record

ROOT = "https://whl.example/"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def record(filename: str = "tinyk-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl", **said: Any) -> Record:
    """A record on the page of cu129 unless `said` has it otherwise; the digest is that of the file's name."""
    usual: dict[str, Any] = {
        "channel": "release",
        "variant": "cu129",
        "sha256": sha(filename),
        "url": f"https://files.example/v1/{names.in_url(filename)}",
    }
    return Record(filename=filename, **usual | said)


def page(body: str, path: str = "cu129/tinyk") -> Page:
    """The HTML page at `path` of the index at ROOT."""
    return reading.read(body.encode(), "text/html; charset=utf-8", path, ROOT)


def anchor(filename: str, digest: str | None = "", **attributes: str) -> str:
    """A link to a file that lies elsewhere; `digest` "" is that of its name, None none."""
    fragment = "" if digest is None else f"#sha256={digest or sha(filename)}"
    said = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<a href="https://files.example/v1/{names.in_url(filename)}{fragment}"{said}>{filename}</a>'


def wheel(
    folder: Path,
    version: str = "1.0+cu129",
    tag: str = "py3-none-any",
    *,
    name: str = "tinyk",
    python: str = ">=3.8",
    body: str = "",
    extra: dict[str, str] | None = None,
) -> Path:
    """A valid wheel with one module, which says its version; `extra` are further files by their path."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    requires = f"Requires-Python: {python}\n" if python else ""
    files = {
        f"{name}.py": body or f"VERSION = {version!r}\n",
        **(extra or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    rows = [f"{path},sha256={_encoded(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "".join(f"{row}\n" for row in (*rows, f"{info}/RECORD,,"))
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in files.items():
            archive.writestr(zipfile.ZipInfo(member), text)
    return path


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
