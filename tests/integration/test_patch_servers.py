"""The verbs of patches against servers: that take no filters, that are stopped, that forget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands.patched_engine import FILE, Engine

from integration.servers import Proxy, git_daemon, instead_of, serve
from pinctl.external import remote

if TYPE_CHECKING:
    from repositories import MakeRepository


@pytest.fixture
def engine(make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    monkeypatch.setattr(remote, "PAUSES", ())
    return Engine.made(make_repository("srv/dg"), tmp_path / "my engine")


def lead(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for key, value in instead_of(address).items():
        monkeypatch.setenv(key, value)


@pytest.mark.parametrize("filters", [True, False])
def test_many_commits_cost_few_requests(
    filters: bool, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"// {n}\n" + (engine.up.path / FILE).read_text() for n in range(30)]
    commits = [engine.up.commit(str(n), {FILE: text}) for n, text in enumerate(texts)]
    serve(engine.up.path, filters=filters)
    with git_daemon(tmp_path / "srv") as address:
        proxy = Proxy(int(address.rpartition(":")[2].strip("/")))
        lead(monkeypatch, f"git://127.0.0.1:{proxy.own_port}/")
        words = [word for commit in (*commits, engine.commits["start"]) for word in ("--at", commit)]
        assert engine.states("dg", *words) == ["superseded"] * 30 + ["pristine"]
        assert proxy.connections <= 3
        proxy.close()


def test_a_server_that_is_stopped(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(engine.up.path)
    with git_daemon(tmp_path / "srv") as address:
        lead(monkeypatch, address)
        assert engine.states() == ["pristine"]
    done = engine.json("status", "dg", "--at", engine.commits["moved"])
    assert done.code == 4
    assert engine.states("--offline") == ["pristine"]
    before = engine.text("pins.toml")
    assert engine.json("add", "dg", engine.commits["taken"]).code == 4
    assert engine.json("refresh", "dg", "--to", engine.commits["moved"]).code == 4
    assert engine.text("pins.toml") == before
    folder = engine.checkout()
    assert engine.json("apply", "dg", "--in", str(folder)).code == 0  # which asks no server
