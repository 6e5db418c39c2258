"""Repositories on loopback for the verbs that ask remotes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.servers import git_daemon, instead_of, serve
from repositories import MakeRepository

from commands.bumping import World


@pytest.fixture
def world(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    made = World.made(make_repository)
    for repository in (made.up, made.fork, *made.modules.values()):
        serve(repository.path)
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield made
