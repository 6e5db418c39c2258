from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from index.support import wheel
from integration.indexes import Reply, site

from pinctl.errors import ExternalError, UsageError
from pinctl.external.gitcli import TRUSTED
from pinctl.external.index_files import local, read_wheel, remote
from pinctl.external.web import Web
from pinctl.index.judge import Seen
from pinctl.index.reading import Link

WEB = Web(TRUSTED)


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def link(url: str, inside: str | None = None, metadata: str | None = None) -> Link:
    return Link(url, url, url.rpartition("/")[2], "x", inside=inside, metadata=metadata)


def test_a_wheel_is_read(tmp_path: Path) -> None:
    provenance = '{"schema": 1, "pin": "kernels", "commit": "c"}'
    path = wheel(tmp_path, extra={"tinyk-1.0+cu129.dist-info/pinctl-provenance.json": provenance})
    read = read_wheel(str(path))
    metadata = b"Metadata-Version: 2.1\nName: tinyk\nVersion: 1.0+cu129\nRequires-Python: >=3.8\n"
    assert (read.filename, read.identity.size) == (path.name, path.stat().st_size)
    assert (read.identity.sha256, read.identity.requires_python) == (digest(path.read_bytes()), ">=3.8")
    assert (read.identity.metadata, read.metadata_sha256) == (metadata, digest(metadata))
    assert (read.provenance["pin"], read.provenance["commit"]) == ("kernels", "c")
    assert read_wheel(str(wheel(tmp_path, "2.0"))).provenance == {}


def test_what_cannot_be_published(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_wheel(str(tmp_path / "tinyk-1.0-py3-none-any.whl"))
    renamed = wheel(tmp_path).rename(tmp_path / "tinyk-1.0+cu130-py3-none-any.whl")
    with pytest.raises(UsageError, match="METADATA does not say the name"):
        read_wheel(str(renamed))
    (tmp_path / "x-1-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(UsageError, match="cannot be published"):
        read_wheel(str(tmp_path / "x-1-py3-none-any.whl"))
    spoilt = wheel(tmp_path, "3.0", extra={"tinyk-3.0.dist-info/pinctl-provenance.json": "{"})
    with pytest.raises(UsageError, match="no JSON"):
        read_wheel(str(spoilt))
    other = wheel(tmp_path, "1.0").rename(tmp_path / "TinyK-1.0-py3-none-any.whl")
    with pytest.raises(UsageError, match=r"not normalized|cannot be published"):
        read_wheel(str(other))


def test_files_of_a_folder(tmp_path: Path) -> None:
    path = wheel(tmp_path / "files")
    metadata = read_wheel(str(path)).metadata_sha256
    (tmp_path / f"files/{path.name}.metadata").write_bytes(b"other")
    (tmp_path / "files/broken.whl").write_bytes(b"x")
    (tmp_path / "files/link.whl").symlink_to(path)
    names = [path.name, "broken.whl", "link.whl", "gone.whl"]
    found = local(str(tmp_path), [link(f"file:///x/{name}", f"files/{name}") for name in names] + [link("https://h/y")])
    assert [found[f"file:///x/{name}"] for name in names] == [
        Seen(True, digest(path.read_bytes()), path.stat().st_size, digest(b"other"), metadata),
        Seen(True, digest(b"x"), 1, ""),
        Seen(False),
        Seen(False),
    ]
    assert "https://h/y" not in found


def test_files_of_servers() -> None:
    with site() as (server, url):
        server.pages["/x.whl"] = Reply(b"wheel")
        server.pages["/x.whl.metadata"] = Reply(b"meta")
        wanted = [link(f"{url}x.whl", metadata="ab"), link(f"{url}gone.whl"), link(f"{url}x.whl")]
        assert remote(wanted[:2], url, WEB, ()) == {
            f"{url}x.whl": Seen(True, sidecar=digest(b"meta")), f"{url}gone.whl": Seen(False),
        }  # fmt: skip
        assert {request.method for request in server.seen if request.path == "/x.whl"} == {"HEAD"}
        assert remote(wanted[2:], url, WEB, {f"{url}x.whl"}) == {f"{url}x.whl": Seen(True, digest(b"wheel"), 5)}
        del server.pages["/x.whl.metadata"]
        assert remote(wanted[:1], url, WEB, ())[f"{url}x.whl"].sidecar == ""
        server.pages["/x.whl"] = Reply(status=401)
        with pytest.raises(ExternalError, match=r"status 401 for x\.whl"):
            remote(wanted[:1], url, WEB, ())
        found = remote(wanted[:2], url, WEB, (), silent=True)
        assert "status 401 for x.whl" in (found[f"{url}x.whl"].failed or "")
        assert found[f"{url}gone.whl"] == Seen(False)


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/latest/x.whl", "https://localhost/x.whl", "https://metadata.internal/x.whl",
     "http://files.example/x.whl", "ftp://files.example/x.whl"],
)  # fmt: skip
def test_a_page_does_not_send_us_inward(url: str) -> None:
    (seen,) = remote([link(url)], "https://whl.example/", WEB, {url}).values()
    assert seen.there is None
    assert seen.barred
