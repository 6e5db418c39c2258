from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "index.py"


def test_the_index_that_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PATH.parent)
    spec = importlib.util.spec_from_file_location("benchmark_of_the_index", PATH)
    assert spec
    assert spec.loader
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    assert len(benchmark.write_wheels(tmp_path / "w", 90)) == 90
    benchmark.prepare(tmp_path, 12)
    assert len((tmp_path / "wheels.jsonl").read_text().splitlines()) == 12
    found = benchmark.commands(tmp_path)
    for command in found:
        command.run(benchmark.environment())
        command.wall = [0.5, 0.5]
    assert benchmark.report(found) is True
    found[0].wall = [9.0, 9.0]
    assert benchmark.report(found) is False
