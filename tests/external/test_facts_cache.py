from __future__ import annotations

from pathlib import Path

import pytest
from upstream.support import Repository

from pinctl.contract.surface import read
from pinctl.external import cache, facts_cache

URL = "https://git.example/up"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))


def kept(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "cache" / "v1" / "facts").iterdir()
    return file


def test_facts_outlast_a_run(tmp_path: Path) -> None:
    repository = Repository({"pkg/__init__.py": "x = 1\n"})
    memory = facts_cache.recall(URL)
    made = read(repository.tree, ["pkg"], memory=memory)
    facts_cache.keep(URL, memory)
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600
    again = facts_cache.recall(URL)
    repository.asked.clear()
    assert read(repository.tree, ["pkg"], memory=again) == made
    assert (repository.asked, again.learned) == ([], False)
    assert facts_cache.recall("https://git.example/other").known == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', "[" * 100_000])
def test_a_damaged_file_is_nothing(tmp_path: Path, text: str) -> None:
    memory = facts_cache.recall(URL)
    memory.put("k", [1])
    facts_cache.keep(URL, memory)
    kept(tmp_path).write_text(text)
    assert facts_cache.recall(URL).known == {}


def test_a_file_that_others_may_write_is_nothing(tmp_path: Path) -> None:
    memory = facts_cache.recall(URL)
    memory.put("k", [1])
    facts_cache.keep(URL, memory)
    kept(tmp_path).chmod(0o666)
    assert facts_cache.recall(URL).known == {}


def test_new_readers_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = facts_cache.recall(URL)
    memory.put("k", [1])
    facts_cache.keep(URL, memory)
    assert facts_cache.recall(URL).get("k", lambda value: value) == [1]
    monkeypatch.setattr(cache, "stamps", lambda *_: iter(["cpp.py 1 2"]))
    assert facts_cache.recall(URL).get("k", lambda value: value) is None
