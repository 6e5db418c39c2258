from __future__ import annotations

import json
from pathlib import Path

import pytest

from index.support import wheel
from pinctl.cli import main


def run(capsys: pytest.CaptureFixture[str], root: Path, *words: str) -> tuple[int, dict[str, object]]:
    status = main(["-C", str(root), "--format", "json", "index", *words])
    return status, json.loads(capsys.readouterr().out)


def test_the_whole_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = wheel(tmp_path / "dist")
    status, done = run(capsys, tmp_path, "build", "--add", "dist", "--variant", "cu129", "--out", "site",
                       "--uploaded", "2026-01-01T00:00:00Z", "--channel", "nightly")  # fmt: skip
    assert (status, done["command"]) == (0, "index")
    status, done = run(capsys, tmp_path, "verify", "site")
    assert (status, done["result"]) == (0, {"files": 1, "pages": 3, "faults": []})
    status, done = run(capsys, tmp_path, "import", "site", "--records", "other.jsonl", "--write")
    assert (status, done["result"]) == (
        0, {"records": 1, "added": 1, "moved": [], "left": [], "faults": []},
    )  # fmt: skip
    (tmp_path / "pins.toml").write_text("schema = 1\n[index]\nretention = { nightly = 30 }\n")
    status, done = run(capsys, tmp_path, "prune", "--at", "2026-06-01")
    assert status == 0
    assert done["result"] == {"gone": [one.name], "kept": [], "undated": [], "written": False}
    (tmp_path / "site/files" / one.name).write_bytes(b"")
    status, done = run(capsys, tmp_path, "verify", "site")
    assert status == 1
    assert [finding["code"] for finding in done["findings"]] == ["PIN711"]  # type: ignore[attr-defined]


def test_an_unreadable_record_and_a_wrong_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wheels.jsonl").write_text("{}\n")
    status, done = run(capsys, tmp_path, "build")
    assert status == 1
    assert done["findings"][0]["code"] == "PIN701"  # type: ignore[index]
    assert done["findings"][0]["line"] == 1  # type: ignore[index]
    status, done = run(capsys, tmp_path, "decide", "x.whl", "--sha256", "ab", "--reason", "why")
    assert status == 2
    assert main(["index", "build", "--nothing"]) == 2


def test_help_names_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", "--help"])
    said = capsys.readouterr().out
    assert all(verb in said for verb in ("build", "verify", "import", "decide", "prune"))
    main(["--help"])
    assert "index" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "github", "markdown", "sarif", "json"])
def test_names_on_a_hostile_page_print_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    page = tmp_path / "w/cu129/tinyk/index.html"
    page.parent.mkdir(parents=True)
    links = ["%1b]8;;https://evil.example%07.whl", "%0a::error::pwned.whl", "a%0a%0a# pwned%0a![](b).whl",
             "x%e2%80%ae.whl", "[/x]<script>.whl"]  # fmt: skip
    page.write_text("".join(f'<a href="https://h.example/{link}">x</a>' for link in links))
    assert main(["-C", str(tmp_path), "--format", form, "index", "verify", "w"]) == 1
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert not any(line.startswith(("::error::pwned", "# pwned")) for line in said.splitlines())
    assert form in ("text", "github", "sarif", "json") or "<script>" not in said
