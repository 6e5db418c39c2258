from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from index.support import anchor, wheel
from integration.indexes import Reply, site

from commands.test_index_build import build
from pinctl.commands import index_verify
from pinctl.errors import ExternalError, UsageError
from pinctl.options import Options
from pinctl.outcome import Outcome

WHEEL = "tinyk-1.0+cu129-py3-none-any.whl"


def verify(root: Path, place: str, **said: Any) -> Outcome:
    return index_verify.run(Options(directory=str(root), verbose=said.pop("verbose", 0)), place=place, **said)


def codes(done: Outcome) -> list[tuple[str, str]]:
    faults = done.result["faults"]
    assert isinstance(faults, list)
    return [(fault["code"], fault["filename"]) for fault in faults]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of two variants that holds its files."""
    build(tmp_path, wheel(tmp_path / "dist"), variant="cu129")
    build(tmp_path, wheel(tmp_path / "dist", "1.0+cu130"), variant="cu130")
    return tmp_path


def test_what_is_built_is_in_order(index: Path) -> None:
    done = verify(index, "site")
    assert done.findings == ()
    assert done.result == {"files": 2, "pages": 5, "faults": []}
    assert done.summary == "2 files on 5 pages verified"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda files: (files / WHEEL).write_bytes(b"x"), "PIN711"),
        (lambda files: (files / WHEEL).unlink(), "PIN707"),
        (lambda files: (files / f"{WHEEL}.metadata").unlink(), "PIN708"),
        (lambda files: (files / f"{WHEEL}.metadata").write_bytes(b"x"), "PIN708"),
    ],
)
def test_files_that_are_not_what_their_page_says(index: Path, change: Any, code: str) -> None:
    change(index / "site/files")
    done = verify(index, "site")
    assert codes(done) == [(code, WHEEL)]
    finding = done.findings[0]
    assert (finding.file, finding.span.line if finding.span else 0) == ("release/cu129/tinyk/index.html", 10)
    assert done.root == str(index / "site")


def test_links_with_the_address_of_the_index_lead_into_the_folder(index: Path) -> None:
    (index / "pins.toml").write_text('schema = 1\n[index]\nurl = "https://whl.example/w"\n')
    page = index / "site/release/cu129/tinyk/index.html"
    page.write_text(page.read_text().replace("../../../files", "https://whl.example/w/files"))
    (index / "site/release/cu129/tinyk/index.v1_json").unlink()
    assert verify(index, "site").findings == ()
    (index / "site/files" / WHEEL).write_bytes(b"x")
    assert codes(verify(index, "site")) == [("PIN711", WHEEL)]


def test_a_server(index: Path) -> None:
    with site() as (server, url):
        for path in (index / "site").rglob("*"):
            if path.is_file():
                at = f"/{path.relative_to(index / 'site').as_posix()}".replace("+", "%2B").removesuffix("index.html")
                server.pages[at] = Reply(path.read_bytes())
        assert verify(index, url).result == {"files": 2, "pages": 3, "faults": []}
        assert verify(index, url, fetch=True).findings == ()
        del server.pages["/files/tinyk-1.0%2Bcu130-py3-none-any.whl"]
        assert codes(verify(index, url)) == []
        assert codes(verify(index, url, links=True)) == [("PIN707", "tinyk-1.0+cu130-py3-none-any.whl")]
        server.pages[f"/files/{WHEEL.replace('+', '%2B')}"] = Reply(b"x")
        done = verify(index, url, fetch=True)
        assert ("PIN711", WHEEL) in codes(done)
        assert all(finding.file is None for finding in done.findings)


def test_which_file_a_url_really_is() -> None:
    with site() as (server, url):
        digests = ["ab" * 32, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"]
        links = "".join(f'<a href="/f/k.whl#sha256={digest}">x</a>' for digest in digests).replace(
            "k.whl", "k-1-py3-none-any.whl"
        )
        server.pages["/"] = Reply(b'<a href="k/">x</a>')
        server.pages["/k/"] = Reply(links.encode())
        server.pages["/f/k-1-py3-none-any.whl"] = Reply(b"x")
        done = verify(Path("/"), url, fetch=True)
    (conflict,) = [finding for finding in done.findings if finding.code == "PIN702"]
    assert conflict.message.endswith("has 2 digests (abababababab, 2d711642b726); its URL gives 2d711642b726")
    assert conflict.hint == f"leave the one of {digests[1]}"


def test_a_server_that_fails_hides_nothing_else() -> None:
    with site() as (server, url):
        names = ("k-1-py3-none-any.whl", "k-2-py3-none-any.whl", "k-3-py3-none-any.whl")
        server.pages["/"] = Reply(b'<a href="k/">x</a>')
        server.pages["/k/"] = Reply("".join(f'<a href="/f/{name}#sha256={"ab" * 32}">x</a>' for name in names).encode())
        server.pages["/f/k-1-py3-none-any.whl"] = Reply(status=403)
        server.pages["/f/k-2-py3-none-any.whl"] = Reply(b"x")
        done = verify(Path("/"), url, links=True)
    assert done.exit_code == ExternalError.exit_code
    dead = [finding.message for finding in done.findings if finding.code == "PIN707"]
    assert len(dead) == 2
    assert "k-1-py3-none-any.whl cannot be had: 127.0.0.1" in dead[0]
    assert "k-3-py3-none-any.whl is not there" in dead[1]


def test_many_faults_of_one_kind_are_told_once_and_counted(tmp_path: Path) -> None:
    page = tmp_path / "w/cu129/tinyk/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("\n".join(anchor(f"tinyk-1.{n}-py3-none-any.whl") for n in range(9)))
    done = verify(tmp_path, "w")
    (finding,) = done.findings
    assert finding.message == (
        "cu129/tinyk: tinyk-1.0-py3-none-any.whl has no metadata beside it and no requires-python; there are 8 more"
        " like this on the page (-v tells them all)"
    )
    assert len(codes(done)) == 9
    assert len(verify(tmp_path, "w", verbose=1).findings) == 9
    assert done.body
    assert done.body.rows == (("PIN714", "no metadata", "9", "1"),)  # type: ignore[union-attr]


def test_what_cannot_be_verified(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        verify(tmp_path, "nowhere")
    with pytest.raises(ExternalError, match="http is not safe"):
        verify(tmp_path, "http://whl.example/")
    with pytest.raises(UsageError, match="--offline"):
        index_verify.run(Options(directory=str(tmp_path), offline=True), place="https://whl.example/")
    with pytest.raises(UsageError, match="stranger"):
        index_verify.run(Options(directory=str(tmp_path), untrusted=True), place="https://whl.example/")
