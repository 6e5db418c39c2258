"""Repositories on loopback for the verbs that ask remotes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.servers import git_daemon, instead_of, serve
from repositories import MakeRepository

from commands.bumping import World
from commands.patched_engine import Engine
from commands.releases import Shop, opened


@pytest.fixture
def world(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    made = World.made(make_repository)
    for repository in (made.up, made.fork, *made.modules.values()):
        serve(repository.path)
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield made


@pytest.fixture
def shop(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Shop]:
    with opened(make_repository, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def patching(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Engine]:
    """An engine that patches a pin, whose repository is served."""
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    engine = Engine.made(make_repository("srv/dg"), tmp_path / "my engine")
    serve(engine.up.path)
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield engine
