from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from integration.servers import git_daemon, instead_of, serve
from repositories import GitRepository, MakeRepository

from pinctl.commands import surface
from pinctl.errors import ExternalError, UsageError
from pinctl.options import Options
from pinctl.outcome import Outcome, Table

URL = "https://git.example/up"
API = """
PYBIND11_MODULE(_C, m) {
#if CUDART_VERSION >= 12090
  m.def("f", &f, py::arg("a"), py::arg("b") = std::nullopt);
#endif
}
"""


@dataclass
class World:
    """A repository that is served on loopback, and an engine that pins it as `up`."""

    up: GitRepository
    engine: Path

    def pin(self, commit: str, *lines: str) -> None:
        head = ["schema = 1", "[pins.up]", f'repo = "{URL}"', f'commit = "{commit}"', "unused = true"]
        (self.engine / "pins.toml").write_text("\n".join([*head, *lines]) + "\n")

    def run(self, commit: str | None = None, **options: Any) -> Outcome:
        return surface.run(Options(directory=str(self.engine), **options), "up", commit)


@pytest.fixture
def world(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    up = make_repository("srv/up")
    serve(up.path)
    (tmp_path / "engine").mkdir()
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield World(up, tmp_path / "engine")


def test_what_a_pin_exports(world: World) -> None:
    init = "import os\nfrom ._C import f\ndef _private(): ...\nclass K(Base):\n    def m(self, x): ...\n"
    commit = world.up.commit("start", {"pkg/__init__.py": init, "csrc/api.cpp": API})
    world.pin(commit)
    made = world.run()
    assert made.body == (
        Table(
            ("name", "from", "at", "if"),
            (
                ("f(a, b=None)", "pybind11", "pkg/__init__.py:2", "#if CUDART_VERSION >= 12090"),
                ("K(?)", "python", "pkg/__init__.py:4", ""),
                ("K.m(x)", "python", "pkg/__init__.py:5", ""),
            ),
            "pkg",
        ),
    )
    assert made.summary == "up exports 7 names, 2 of them modules; of 1 not all names can be known"
    assert made.exit_code == 0
    result: Any = made.result
    assert (result["pin"], result["commit"], result["unread"]) == ("up", commit, {})
    assert result["open"] == {"pkg.K": "pkg/__init__.py:4: its base Base is not in the tree"}
    assert {
        "name": "pkg._C.f", "sort": "function", "mechanism": "pybind11", "file": "csrc/api.cpp", "line": 4,
        "signatures": [[
            {"name": "a", "kind": "either", "default": None, "type": None},
            {"name": "b", "kind": "either", "default": "None", "type": None},
        ]],
        "guards": ["#if CUDART_VERSION >= 12090"], "target": None,
    } in result["symbols"]  # fmt: skip
    names = [row[0] for table in world.run(verbose=1).parts if isinstance(table, Table) for row in table.rows]
    assert "_private()" in names


def test_another_commit_and_the_names_that_the_pin_gives(world: World) -> None:
    first = world.up.commit("start", {"pkg/__init__.py": "x = 1\n", "other/__init__.py": "y = 1\n"})
    second = world.up.commit("more", {"pkg/__init__.py": "z = 1\n"})
    world.pin(first, '[pins.up.contract]\nimport_names = ["pkg"]')
    symbols: Any = world.run(second).result["symbols"]
    assert [symbol["name"] for symbol in symbols] == ["pkg", "pkg.z"]
    world.up.git("tag", "v1", first)
    for wish, commit in (("main", second), ("v1", first), (second[:10], second)):
        assert world.run(wish).result == world.run(commit).result


def test_what_was_read_needs_no_server(world: World) -> None:
    commit = world.up.commit("start", {"pkg/__init__.py": "x = 1\n"})
    world.pin(commit)
    with pytest.raises(ExternalError):
        world.run(offline=True)
    first = world.run()
    world.up.git("update-ref", "-d", "refs/heads/main")
    assert world.run(offline=True) == first


def test_what_cannot_be_looked_at(world: World) -> None:
    commit = world.up.commit("start", {"README": "x"})
    world.pin(commit)
    with pytest.raises(UsageError, match="has no tag, branch or commit nowhere"):
        world.run("nowhere")
    with pytest.raises(UsageError, match="no pin 'upp'"):
        surface.run(Options(directory=str(world.engine)), "upp")
    with pytest.raises(ExternalError, match="does not have"):
        world.run("ab" * 20)
    (world.engine / "pins.toml").write_text('schema = 1\n[pins.up]\nversion = "1"\npackages = ["p"]\nunused = true\n')
    with pytest.raises(UsageError, match="no git repository"):
        world.run()
