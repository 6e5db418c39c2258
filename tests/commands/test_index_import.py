from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from index.support import anchor, sha, wheel
from integration.indexes import Reply, site

from commands.test_index_build import build, read
from pinctl.commands import index_decide, index_import, index_verify
from pinctl.errors import UsageError
from pinctl.finding import Severity
from pinctl.index import names
from pinctl.options import Options
from pinctl.outcome import Outcome, Text

KERNEL = "tinyk-1.0+cu129-py3-none-any.whl"
STRAY = "tinyk-0.9+cu128-py3-none-any.whl"
TWICE = "tinyk-1.1+cu129-py3-none-any.whl"
NIGHTLY = "tinyk-1.2.dev20260701+g0a1b2c3-py3-none-any.whl"


def take(root: Path, place: str = "old", **said: Any) -> Outcome:
    return index_import.run(Options(directory=str(root)), place=place, **said)


def decide(root: Path, filename: str, sha256: str, reason: str = "what the URL gives") -> Outcome:
    return index_decide.run(Options(directory=str(root)), filename=filename, sha256=sha256, reason=reason)


def put(root: Path, path: str, *links: str) -> None:
    folder = root / "old" / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text("<!DOCTYPE html>\n" + "<br>\n".join(links).replace("%2B", "+"))


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """An index as a script that appends makes one."""
    put(tmp_path, "cu129/tinyk", anchor(KERNEL), anchor(STRAY), anchor(TWICE, "ab" * 32), anchor(TWICE, "cd" * 32),
        anchor(KERNEL))  # fmt: skip
    put(tmp_path, "cu128/tinyk", anchor("tinyk-0.8+cu128-py3-none-any.whl"))
    put(tmp_path, "nightly/cu129/tinyk", anchor(NIGHTLY))
    return tmp_path


def test_nothing_is_written_unless_asked_for(messy: Path) -> None:
    done = take(messy)
    assert done.closing == ("nothing was written; --write does",)
    assert [path.name for path in messy.iterdir()] == ["old"]


def test_a_messy_index_becomes_records(messy: Path) -> None:
    done = take(messy, write=True)
    assert [(f.code, f.severity) for f in done.findings] == [("PIN702", Severity.ERROR), ("PIN719", Severity.INFO)]
    assert done.exit_code == 1
    assert done.result["records"] == 7
    assert done.result["moved"] == [STRAY]
    assert done.findings[0].hint == f"pinctl index decide {TWICE} --sha256 DIGEST --reason WHY"
    placed = {(one.filename, one.variant, one.sha256): one for one in read(messy)}
    assert placed[STRAY, "cu129", sha(STRAY)].yanked == "misfiled: a build of cu128, which stands on its page"
    assert placed[STRAY, "cu128", sha(STRAY)].yanked is None
    assert {"ab" * 32, "cd" * 32} < {one.sha256 for one in read(messy)}
    assert {one.channel for one in read(messy)} == {"release", "nightly"}
    text = next(part for part in done.parts if isinstance(part, Text))
    assert text.text == '[index]\nlayout = { nightly = "nightly/{variant}/", release = "{variant}/" }\n'
    again = take(messy, write=True)
    assert again.result["added"] == 0


def test_after_the_decision_every_url_and_digest_is_where_it_was(messy: Path) -> None:
    take(messy, write=True)
    assert build(messy).exit_code == 1
    done = decide(messy, TWICE, "cd" * 32)
    assert done.result == {"filename": TWICE, "sha256": "cd" * 32, "withdrawn": ["ab" * 32]}
    layout = next(part.text for part in take(messy).parts if isinstance(part, Text))
    (messy / "pins.toml").write_text(f"schema = 1\n{layout}")
    assert build(messy).exit_code == 0
    verified = index_verify.run(Options(directory=str(messy)), place="site")
    faults = verified.result["faults"]
    assert isinstance(faults, list)
    assert {fault["code"] for fault in faults} == {"PIN714"}
    page = (messy / "site/cu129/tinyk/index.html").read_text()
    for filename in (KERNEL, STRAY):
        assert f'"https://files.example/v1/{names.in_url(filename)}#sha256={sha(filename)}"' in page
    assert f"#sha256={'cd' * 32}" in page
    assert f"#sha256={'ab' * 32}" not in page
    assert 'data-yanked="misfiled' in page
    assert STRAY in (messy / "site/cu128/tinyk/index.html").read_text()
    assert any(one.sha256 == "ab" * 32 and one.withdrawn == "what the URL gives" for one in read(messy))
    assert take(messy, write=True).result["added"] == 0  # the decision stands


def test_a_server_says_which_digest_is_right(tmp_path: Path) -> None:
    with site() as (server, url):
        server.pages["/"] = Reply(b'<a href="cu129/tinyk/">x</a>')
        real = sha("x")
        links = [f'<a href="/f/{KERNEL}#sha256={digest}">{KERNEL}</a>' for digest in ("ab" * 32, real)]
        none = f'<a href="/f/{TWICE}">{TWICE}</a>'
        server.pages["/cu129/tinyk/"] = Reply("".join([*links, none]).encode())
        server.pages[f"/f/{KERNEL}"] = server.pages[f"/f/{TWICE}"] = Reply(b"x")
        done = take(tmp_path, url, write=True, fetch=True)
    assert sorted((f.code, f.hint) for f in done.findings) == [
        ("PIN702", f"pinctl index decide {KERNEL} --sha256 {real} --reason WHY"),
        ("PIN704", f"pinctl index decide {TWICE} --sha256 {real} --reason WHY"),
    ]  # fmt: skip
    assert all(f.message.endswith(f"; its URL gives {real[:12]}") for f in done.findings)
    for filename in (KERNEL, TWICE):
        decide(tmp_path, filename, real)
    assert build(tmp_path).exit_code == 0
    assert {one.url for one in read(tmp_path)} == {f"{url}f/{names.in_url(name)}" for name in (KERNEL, TWICE)}


def test_files_of_the_index_come_with_it(tmp_path: Path) -> None:
    path = wheel(tmp_path / "old/files")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    put(tmp_path, "cu129/tinyk", f'<a href="../../files/{path.name}#sha256={digest}">{path.name}</a>')
    assert take(tmp_path, write=True).exit_code == 0
    build(tmp_path, sources=["old"])
    assert (tmp_path / f"site/files/{path.name}").read_bytes() == path.read_bytes()


def test_a_link_that_no_record_can_hold(tmp_path: Path) -> None:
    put(tmp_path, "cu129/tinyk", anchor("tinyk-latest.whl"))
    done = take(tmp_path)
    assert [(f.code, f.severity) for f in done.findings] == [("PIN718", Severity.ERROR)]
    assert done.result["left"] == ["tinyk-latest.whl"]


@pytest.mark.parametrize(
    ("filename", "sha256", "reason", "message"),
    [
        (TWICE, "AB" * 32, "why", "64 digits"),
        (TWICE, "ef" * 32, "why", "no record of"),
        ("other-1-py3-none-any.whl", "ab" * 32, "why", "no record lists"),
        (TWICE, "ab" * 32, " ", "--reason"),
        (TWICE, "ab" * 32, "a\nb", "--reason"),
    ],
)
def test_a_decision_that_cannot_be(messy: Path, filename: str, sha256: str, reason: str, message: str) -> None:
    take(messy, write=True)
    before = (messy / "wheels.jsonl").read_bytes()
    with pytest.raises(UsageError, match=message):
        decide(messy, filename, sha256, reason)
    assert (messy / "wheels.jsonl").read_bytes() == before
