from __future__ import annotations

import json
from pathlib import Path

import pytest
from index.support import wheel

from commands.publishing import checkout
from pinctl.cli import main


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = checkout(tmp_path)
    one = wheel(root / "dist")
    words = ["-C", str(root), "--offline", "--format", "json", "publish", "dist", "--target", "index"]
    assert main([*words, "--repository", "site", "--channel", "nightly", "--yes"]) == 0
    (target,) = json.loads(capsys.readouterr().out)["result"]["targets"]
    assert (target["state"], target["place"], target["files"][0]["filename"]) == ("published", "site", one.name)
    assert (root / "site/nightly/cu12/tinyk/index.html").exists()
    assert main([*words[:-2], "--untrusted"]) == 2
    assert "a stranger's" in json.loads(capsys.readouterr().out)["result"]["error"]
    (root / "wheels.jsonl").write_bytes((root / "site/wheels.jsonl").read_bytes())
    assert main(["-C", str(root), "index", "yank", one.name, "--reason", "slow"]) == 0
    assert '"yanked": "slow"' in (root / "wheels.jsonl").read_text()
