from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from index.support import record

from commands.test_index_build import build, read, write
from pinctl.commands import index_prune
from pinctl.errors import UsageError
from pinctl.options import Options
from pinctl.outcome import Outcome

OLD, USED, NEW, UNDATED = (f"tinyk-{version}-py3-none-any.whl" for version in ("1.0", "1.1", "1.2", "1.3"))
PINS = """
schema = 1
[index]
retention = { nightly = 30 }
[pins.kernels]
packages = ["tinyk"]
version = "1.1"
unused = true
"""


def prune(root: Path, **said: Any) -> Outcome:
    return index_prune.run(Options(directory=str(root)), **({"at": "2026-08-01"} | said))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pins.toml").write_text(PINS)
    times = {OLD: "2026-06-01", USED: "2026-06-01", NEW: "2026-07-31"}
    found = [record(name, channel="nightly", uploaded=f"{day}T00:00:00Z") for name, day in times.items()]
    write(tmp_path, *found, record(UNDATED, channel="nightly"), record("tinyk-0.1-py3-none-any.whl"))
    return tmp_path


def test_a_dry_run_tells_and_writes_nothing(root: Path) -> None:
    before = (root / "wheels.jsonl").read_bytes()
    done = prune(root)
    assert done.result == {
        "gone": [OLD], "kept": [{"filename": USED, "pin": "kernels"}], "undated": [UNDATED], "written": False,
    }  # fmt: skip
    assert done.summary == "1 file to be withdrawn as of 2026-08-01, 1 kept since pins use them"
    assert (root / "wheels.jsonl").read_bytes() == before


def test_what_is_withdrawn_is_listed_no_more_and_its_name_stays_taken(root: Path) -> None:
    assert prune(root, write=True).result["written"] is True
    assert {one.filename: one.withdrawn for one in read(root)}[OLD] == "pruned on 2026-08-01"
    assert len(read(root)) == 5
    build(root)
    page = (root / "site/nightly/cu129/tinyk/index.html").read_text()
    assert OLD not in page
    assert USED in page
    assert prune(root, write=True).result["gone"] == []


def test_what_makes_no_sense(root: Path) -> None:
    with pytest.raises(UsageError, match="a day as"):
        prune(root, at="yesterday")
    (root / "pins.toml").write_text('schema = 1\n[index]\nurl = "https://whl.example"\n')
    with pytest.raises(UsageError, match="no channel has a time"):
        prune(root)


def test_today_is_the_usual_day(root: Path) -> None:
    done = index_prune.run(Options(directory=str(root)))
    assert done.result["gone"] == [OLD, NEW]
